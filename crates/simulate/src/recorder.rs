//! Records the runs, outcomes and samples of a simulation.

use super::nodes::Nodes;
use super::view::LiveJob;
use gleaner_domain::results::schedule::{Correction, JobOutcome, JobRun, Samples, Schedule, State};

/// Seconds between samples of the state.
const SAMPLE_EVERY: i64 = 60;
/// Waiting jobs with fewer GPUs than this number are also counted separately.
const SMALL_JOB: u32 = 8;

/// The record of the simulation so far.
#[derive(Debug)]
pub(super) struct Recorder {
    schedule: Schedule,
    /// The last run of each job.
    last_run: Vec<Option<usize>>,
    /// Second of each job's last checkpoint.
    checkpoint: Vec<i64>,
    pending_gpus: u64,
    pending_jobs: u32,
    pending_small_jobs: u32,
    next_sample: i64,
}

impl Recorder {
    pub fn new(queued: &[i64], start: i64) -> Self {
        let outcome = |&queue: &i64| JobOutcome {
            start: 0,
            end: 0,
            queue,
            checkpoints: 0,
            nodes: Vec::new(),
            priority: None,
            remain: 0.0,
            speed: 1.0,
            exclusive: true,
            colocated: 0,
            delocated: 0,
        };
        Recorder {
            schedule: Schedule {
                jobs: queued.iter().map(outcome).collect(),
                ..Schedule::default()
            },
            last_run: vec![None; queued.len()],
            checkpoint: vec![0; queued.len()],
            pending_gpus: 0,
            pending_jobs: 0,
            pending_small_jobs: 0,
            next_sample: start + (-start).rem_euclid(SAMPLE_EVERY),
        }
    }

    pub fn pending_jobs(&self) -> usize {
        self.pending_jobs as usize
    }

    pub fn submit(&mut self, gpus: u32) {
        self.pending_gpus += u64::from(gpus);
        self.pending_jobs += 1;
        self.pending_small_jobs += u32::from(gpus < SMALL_JOB);
    }

    fn leave_queue(&mut self, gpus: u32) {
        self.pending_gpus -= u64::from(gpus);
        self.pending_jobs -= 1;
        self.pending_small_jobs -= u32::from(gpus < SMALL_JOB);
    }

    /// Records the start of a job with `gpus` GPUs that first joined the queue at second `entry`.
    pub fn start(&mut self, job: usize, gpus: u32, entry: i64, now: i64, live: &LiveJob) {
        self.leave_queue(gpus);
        let outcome = &mut self.schedule.jobs[job];
        if self.last_run[job].is_none() {
            outcome.start = now;
            outcome.queue += now - entry;
        } else {
            outcome.queue += now - self.checkpoint[job];
        }
        self.last_run[job] = Some(self.schedule.runs.len());
        self.schedule.runs.push(JobRun {
            job,
            from: now,
            until: i64::MAX,
            placement: live.placement.clone(),
            speeds: vec![(now, live.speed)],
            last: false,
        });
    }

    pub fn preempt(&mut self, job: usize, now: i64, gpus: u32) {
        self.submit(gpus);
        self.checkpoint[job] = now;
        self.schedule.jobs[job].checkpoints += 1;
        if let Some(run) = self.last_run(job) {
            run.until = now;
        }
    }

    pub fn end(&mut self, job: usize, now: i64, live: &LiveJob, nodes: &Nodes) {
        let outcome = &mut self.schedule.jobs[job];
        outcome.end = now;
        outcome.nodes = nodes.named(&live.placement);
        outcome.remain = live.left;
        outcome.speed = live.speed;
        outcome.exclusive = live.alone;
        if let Some(run) = self.last_run(job) {
            run.until = now;
            run.last = true;
        }
    }

    pub fn change_speed(&mut self, job: usize, from: i64, speed: f64) {
        let Some(run) = self.last_run(job) else {
            return;
        };
        match run.speeds.last_mut() {
            Some((time, last)) if *time == from => *last = speed,
            _ => run.speeds.push((from, speed)),
        }
    }

    fn last_run(&mut self, job: usize) -> Option<&mut JobRun> {
        self.schedule.runs.get_mut(self.last_run[job]?)
    }

    pub fn colocate(&mut self, job: usize, now: i64) {
        self.schedule.jobs[job].colocated = now;
    }

    pub fn delocate(&mut self, job: usize, now: i64) {
        self.schedule.jobs[job].delocated = now;
    }

    pub fn correct(&mut self, correction: Correction) {
        self.schedule.corrections.push(correction);
    }

    pub fn scale(&mut self, now: i64, step: i32) {
        self.schedule.scaling.push((now, step));
    }

    /// Records the current state as the sample of each minute before `second` that lacks a sample.
    pub fn sample_until(&mut self, second: i64, running_jobs: usize, nodes: &Nodes) {
        if self.next_sample >= second {
            return;
        }
        let mut state = State {
            pending_gpus: self.pending_gpus,
            running_jobs: running_jobs as u32,
            pending_jobs: self.pending_jobs,
            pending_small_jobs: self.pending_small_jobs,
            ..State::default()
        };
        nodes.describe(&mut state);
        let count = (second - 1 - self.next_sample) / SAMPLE_EVERY + 1;
        self.schedule.samples.push(Samples {
            first: self.next_sample,
            count: count as u32,
            state,
        });
        self.next_sample += count * SAMPLE_EVERY;
    }

    pub fn finish(mut self, nodes: Nodes, now: i64, priorities: Vec<Option<f64>>) -> Schedule {
        for (outcome, priority) in self.schedule.jobs.iter_mut().zip(priorities) {
            outcome.priority = priority;
        }
        let (lives, idleness, busy) = nodes.finish(now);
        self.schedule.nodes = lives;
        self.schedule.idleness = idleness;
        self.schedule.busy_gpu_seconds = busy;
        self.schedule
    }
}
