//! The state of a simulation, and the operations that all policies share.

use gleaner_domain::cluster::GpuSet;
use gleaner_domain::results::schedule::{
    Correction, JobOutcome, JobRun, Placement, Samples, Schedule, State,
};

use super::World;
use super::nodes::{Node, Nodes};

/// A time, in seconds, that exceeds the length of every test trace. A job that is still waiting
/// after this time never runs.
const STUCK: i64 = 100_000_000;

/// The state of a job in the simulation.
pub struct Live {
    pub remain: f64,
    pub start: i64,
    pub end: i64,
    pub queue: i64,
    pub checkpoints: u32,
    pub preempted: i64,
    /// Slots of the job's nodes, with the GPUs that the job holds on each node.
    pub nodes: Vec<(usize, Vec<usize>)>,
    pub priority: Option<f64>,
    pub exclusive: bool,
    pub speed: f64,
    pub colocated: i64,
    pub delocated: i64,
    /// Names of the job's nodes, with the GPUs that the job held on each node. Set when the job ends.
    named: Vec<(u32, GpuSet)>,
    run: usize,
}

pub struct Sim<'a> {
    pub world: &'a World<'a>,
    pub time: i64,
    pub nodes: Nodes,
    pub jobs: Vec<Live>,
    pub waiting: Vec<usize>,
    pub running: Vec<usize>,
    pub ended: usize,
    pub scaling: Vec<(i64, i32)>,
    pub corrections: Vec<Correction>,
    arrived: usize,
    runs: Vec<JobRun>,
    minutes: Vec<(i64, State)>,
    busy_gpu_seconds: i64,
}

impl<'a> Sim<'a> {
    pub fn new(world: &'a World<'a>) -> Self {
        let live = |(job, &queue): (&&gleaner_domain::Job, &i64)| Live {
            remain: job.duration as f64,
            start: 0,
            end: 0,
            queue,
            checkpoints: 0,
            preempted: 0,
            nodes: Vec::new(),
            priority: None,
            exclusive: true,
            speed: 1.0,
            colocated: 0,
            delocated: 0,
            named: Vec::new(),
            run: 0,
        };
        assert_eq!(world.jobs.len(), world.queued.len());
        Sim {
            world,
            time: world.start,
            nodes: Nodes::new(world.nodes, world.gpus_per_node),
            jobs: world.jobs.iter().zip(&world.queued).map(live).collect(),
            waiting: Vec::new(),
            running: Vec::new(),
            ended: 0,
            scaling: Vec::new(),
            corrections: Vec::new(),
            arrived: 0,
            runs: Vec::new(),
            minutes: Vec::new(),
            busy_gpu_seconds: 0,
        }
    }

    pub fn gpus(&self, job: usize) -> u32 {
        self.world.jobs[job].gpus
    }

    /// Appends the jobs that enter in this second to the queue. In the first second, also appends the
    /// jobs that entered earlier. Returns the number of appended jobs.
    pub fn arrive(&mut self) -> usize {
        let before = self.arrived;
        while let Some(&entry) = self.world.entries.get(self.arrived)
            && entry <= self.time
        {
            self.waiting.push(self.arrived);
            self.arrived += 1;
        }
        self.arrived - before
    }

    /// Ends the jobs whose end was set to this second.
    pub fn end_due(&mut self) {
        for job in self.running.clone() {
            if self.jobs[job].end == self.time {
                self.jobs[job].remain = 0.0;
                self.finish(job);
            }
        }
    }

    /// Ends a running job in this second.
    pub fn finish(&mut self, job: usize) {
        let live = &self.jobs[job];
        let name = |(slot, gpus): &(usize, Vec<usize>)| (self.nodes.node(*slot).name, set(gpus));
        let named = live.nodes.iter().map(name).collect();
        self.runs[live.run].last = true;
        self.jobs[job].named = named;
        self.jobs[job].end = self.time;
        self.ended += 1;
        self.stop(job);
    }

    /// Stops a running job and frees its GPUs.
    pub fn stop(&mut self, job: usize) {
        let run = &mut self.runs[self.jobs[job].run];
        run.until = self.time;
        run.speeds.retain(|&(time, _)| time < self.time);
        self.nodes.release(job);
        self.running.retain(|&other| other != job);
    }

    /// Gives GPUs to a waiting job if the placer finds enough. Returns whether the job got them.
    pub fn place(&mut self, job: usize) -> bool {
        let Some(chosen) = self.world.placer.select(&self.nodes, self.gpus(job)) else {
            return false;
        };
        let held = chosen.into_iter().map(|(at, number)| {
            let node: &mut Node = &mut self.nodes.list[at];
            (node.slot, node.allocate(job, number))
        });
        self.jobs[job].nodes = held.collect();
        true
    }

    /// Starts a waiting job on the GPUs that it was given.
    pub fn start(&mut self, job: usize) {
        self.waiting.retain(|&other| other != job);
        self.running.push(job);
        let live = &mut self.jobs[job];
        live.run = self.runs.len();
        let held = |(slot, gpus): &(usize, Vec<usize>)| (*slot as u32, set(gpus));
        let placement: Placement = live.nodes.iter().map(held).collect();
        self.runs.push(JobRun {
            job,
            from: self.time,
            until: i64::MAX,
            placement,
            speeds: vec![(self.time, live.speed)],
            last: false,
        });
    }

    /// Places and starts a job, which ends after its duration. Returns whether it was placed.
    pub fn start_until_end(&mut self, job: usize) -> bool {
        let placed = self.place(job);
        if placed {
            let given = self.world.jobs[job];
            let live = &mut self.jobs[job];
            live.start = self.time;
            live.end = self.time + given.duration;
            live.queue = self.time - given.submit;
            self.start(job);
        }
        placed
    }

    /// Changes the speed of a job that is running or about to run.
    pub fn set_speed(&mut self, job: usize, speed: f64) {
        self.jobs[job].speed = speed;
        if !self.running.contains(&job) {
            return;
        }
        let speeds = &mut self.runs[self.jobs[job].run].speeds;
        speeds.retain(|&(time, _)| time < self.time);
        if speeds.last().is_none_or(|&(_, before)| before != speed) {
            speeds.push((self.time, speed));
        }
    }

    /// Samples the state if this second is a whole minute, and moves on to the next second.
    pub fn close_second(&mut self) {
        self.busy_gpu_seconds += i64::from(self.nodes.total() - self.nodes.free());
        if self.time % 60 == 0 {
            self.minutes.push((self.time, self.state()));
        }
        self.time += 1;
        assert!(self.time < self.world.start + STUCK, "a job never runs");
    }

    pub fn into_schedule(self) -> Schedule {
        let outcome = |live: Live| JobOutcome {
            start: live.start,
            end: live.end,
            queue: live.queue,
            checkpoints: live.checkpoints,
            nodes: live.named,
            priority: live.priority,
            remain: live.remain,
            speed: live.speed,
            exclusive: live.exclusive,
            colocated: live.colocated,
            delocated: live.delocated,
        };
        Schedule {
            jobs: self.jobs.into_iter().map(outcome).collect(),
            runs: self.runs,
            nodes: self.nodes.into_lives(),
            samples: stretches(&self.minutes),
            idleness: Vec::new(),
            busy_gpu_seconds: self.busy_gpu_seconds,
            corrections: self.corrections,
            scaling: self.scaling,
        }
    }
}

fn set(gpus: &[usize]) -> GpuSet {
    gpus.iter().fold(0, |set, gpu| set | 1 << gpu)
}

/// Merges consecutive minutes with the same state.
fn stretches(minutes: &[(i64, State)]) -> Vec<Samples> {
    let same = |a: &(i64, State), b: &(i64, State)| a.1 == b.1;
    let stretch = |minutes: &[(i64, State)]| Samples {
        first: minutes[0].0,
        count: minutes.len() as u32,
        state: minutes[0].1,
    };
    minutes.chunk_by(same).map(stretch).collect()
}
