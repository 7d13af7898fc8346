//! The state of a simulated virtual cluster, and the operations that change it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::engine::{Setting, Stuck};
use super::nodes::Nodes;
use super::policy::checkpoint_overhead;
use super::recorder::Recorder;
use super::service::{left_after, steps_to_end};
use super::view::{LiveJob, Status, View};
use gleaner_domain::inputs::Pair;
use gleaner_domain::jobs::Job;
use gleaner_domain::results::schedule::{Correction, Placement, Schedule};

pub(super) struct World<'a> {
    setting: &'a Setting<'a>,
    now: i64,
    live: Vec<LiveJob>,
    /// Running jobs in the order of their starts.
    running: BTreeSet<(u64, usize)>,
    starts: u64,
    arrived: usize,
    done: usize,
    /// Future ends, by second and then by order of start. An entry is stale if the job's start or end has changed
    /// since the entry was added.
    ends: BinaryHeap<Reverse<(i64, u64, usize)>>,
    nodes: Nodes,
    recorder: Recorder,
}

impl<'a> World<'a> {
    pub fn new(setting: &'a Setting<'a>) -> Self {
        let live = setting.work.iter().map(|&work| LiveJob {
            left: work as f64,
            speed: 1.0,
            alone: true,
            ..LiveJob::default()
        });
        World {
            now: setting.start,
            live: live.collect(),
            running: BTreeSet::new(),
            starts: 0,
            arrived: 0,
            done: 0,
            ends: BinaryHeap::new(),
            nodes: Nodes::new(setting.nodes, setting.gpus_per_node, setting.start),
            recorder: Recorder::new(setting.queued, setting.start),
            setting,
        }
    }

    pub fn view(&self) -> View<'_> {
        View {
            now: self.now,
            jobs: self.setting.jobs,
            live: &self.live,
            running: &self.running,
            pending: self.recorder.pending_jobs(),
            nodes: &self.nodes,
            placer: self.setting.placer,
        }
    }

    /// Whether all jobs have ended.
    pub fn is_done(&self) -> bool {
        self.done == self.live.len()
    }

    /// Whether no job is waiting or running.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty() && self.recorder.pending_jobs() == 0
    }

    /// Second of the next arrival.
    pub fn next_arrival(&self) -> Option<i64> {
        let entry = self.setting.entries.get(self.arrived)?;
        Some((*entry).max(self.setting.start))
    }

    /// Second at which the next job ends, unless an earlier event changes it.
    pub fn next_end(&mut self) -> Option<i64> {
        while let Some(&Reverse((end, order, job))) = self.ends.peek() {
            if self.ends_then(job, end, order) {
                return Some(end);
            }
            self.ends.pop();
        }
        None
    }

    /// Advances to a later second. The caller must ensure that no event occurs before that second.
    pub fn advance_to(&mut self, second: i64) {
        self.recorder
            .sample_until(second, self.running.len(), &self.nodes);
        self.now = second;
    }

    /// Takes the next job that ends in this second. If several jobs end, the job that started first is
    /// taken.
    pub fn due_end(&mut self) -> Option<usize> {
        self.next_end().filter(|&end| end <= self.now)?;
        self.ends.pop().map(|Reverse((.., job))| job)
    }

    fn ends_then(&self, job: usize, end: i64, order: u64) -> bool {
        let live = &self.live[job];
        live.status == Status::Running && live.end == end && live.order == order
    }

    /// Takes the next job that has arrived by this second and puts it in the queue.
    pub fn take_arrival(&mut self) -> Option<usize> {
        self.next_arrival().filter(|&second| second <= self.now)?;
        let job = self.arrived;
        self.arrived += 1;
        self.live[job].status = Status::Waiting;
        self.recorder.submit(self.setting.jobs[job].gpus);
        Some(job)
    }

    /// Ends a job. Returns the job's partner if the partner counts as alone again.
    pub fn end(&mut self, job: usize) -> Option<usize> {
        let live = &mut self.live[job];
        live.status = Status::Done;
        live.left = steps_to_end(live.left, live.speed).1;
        self.running.remove(&(live.order, job));
        self.done += 1;
        let partner = live.partner.filter(|_| !live.alone);
        let survivor = partner.filter(|&other| self.live[other].status == Status::Running);
        self.restore_after(job, survivor);
        self.release(job, survivor);
        self.recorder
            .end(job, self.now, &self.live[job], &self.nodes);
        survivor.filter(|&survivor| self.live[survivor].alone)
    }

    /// Called when `job` ends. If the job shares its GPUs, restores one job of the pair to full speed.
    fn restore_after(&mut self, job: usize, survivor: Option<usize>) {
        if self.live[job].alone {
            return;
        }
        match survivor.map(|survivor| (survivor, &self.live[survivor])) {
            Some((survivor, live)) if live.order < self.live[job].order => {
                self.restore(survivor);
            }
            // A partner that also ends in this second does not return to full speed.
            Some((survivor, live)) if self.setting.corrected && live.end > self.now => {
                self.restore(survivor);
                self.recorder.correct(Correction {
                    time: self.now,
                    ended: job,
                    survivor,
                });
            }
            // The original simulator gives full speed to the job that was placed first, or to the only job of the pair
            // that is still placed. In this branch, that job is the one that ends.
            _ => {
                self.live[job].alone = true;
                self.live[job].speed = 1.0;
                self.recorder.delocate(job, self.now);
            }
        }
    }

    /// Marks a job as alone on its GPUs and restores its full speed from the current second.
    fn restore(&mut self, job: usize) {
        self.live[job].alone = true;
        self.recorder.delocate(job, self.now);
        // A job that also ends in this second has no work left to do at any speed.
        if self.live[job].end > self.now {
            self.change_speed(job, 1.0);
        }
    }

    /// Changes the speed of a job from the current second.
    fn change_speed(&mut self, job: usize, speed: f64) {
        let live = &mut self.live[job];
        live.left = left_after(live.left, live.speed, self.now - live.since);
        live.since = self.now;
        live.speed = speed;
        self.recorder.change_speed(job, self.now, speed);
        self.foresee_end(job);
    }

    fn foresee_end(&mut self, job: usize) {
        let live = &mut self.live[job];
        let (steps, _) = steps_to_end(live.left, live.speed);
        live.end = live
            .since
            .saturating_add(steps)
            .saturating_add(self.setting.notice);
        self.ends.push(Reverse((live.end, live.order, job)));
    }

    /// Starts a waiting job on free GPUs.
    pub fn start(&mut self, job: usize, placement: Placement) {
        let load = load(self.setting.jobs[job]);
        self.nodes.occupy(job, &placement, load, self.now);
        self.live[job].alone = true;
        self.launch(job, placement, 1.0);
    }

    /// Starts a waiting job on the GPUs of a running job.
    pub fn share(&mut self, job: usize, with: usize, pair: Pair) {
        let placement = self.live[with].placement.clone();
        let load = [pair.gpu_util, pair.gmem];
        self.nodes.join(job, &placement, load);
        self.live[with].alone = false;
        self.live[with].partner = Some(job);
        self.live[job].alone = false;
        self.live[job].partner = Some(with);
        self.change_speed(with, pair.speeds.1);
        self.launch(job, placement, pair.speeds.0);
        self.recorder.colocate(job, self.now);
    }

    fn launch(&mut self, job: usize, placement: Placement, speed: f64) {
        let live = &mut self.live[job];
        live.status = Status::Running;
        live.since = self.now;
        live.started = self.now;
        live.speed = speed;
        live.order = self.starts;
        live.placement = placement;
        self.starts += 1;
        self.running.insert((live.order, job));
        let (gpus, entry) = (self.setting.jobs[job].gpus, self.setting.entries[job]);
        self.recorder
            .start(job, gpus, entry, self.now, &self.live[job]);
        self.foresee_end(job);
    }

    /// Checkpoints a running job and sends it back to the queue.
    pub fn preempt(&mut self, job: usize) {
        let gpus = self.setting.jobs[job].gpus;
        let live = &mut self.live[job];
        let left = left_after(live.left, live.speed, self.now - live.since);
        live.left = left + checkpoint_overhead(gpus) as f64;
        live.status = Status::Waiting;
        self.running.remove(&(live.order, job));
        self.release(job, None);
        self.recorder.preempt(job, self.now, gpus);
    }

    fn release(&mut self, job: usize, survivor: Option<usize>) {
        let placement = &self.live[job].placement;
        match survivor {
            None => self.nodes.vacate(job, placement, self.now),
            Some(survivor) => {
                let load = load(self.setting.jobs[survivor]);
                self.nodes.part(job, placement, load);
            }
        }
    }

    /// Adds or removes a node. Returns whether a node was added or removed.
    pub fn scale(&mut self, step: i32) -> bool {
        let changed = match step {
            1.. => self.nodes.grow(self.now),
            _ => self.shrink(),
        };
        if changed {
            self.recorder.scale(self.now, step);
        }
        changed
    }

    fn shrink(&mut self) -> bool {
        let Some(shrunk) = self.nodes.shrink(self.now) else {
            return false;
        };
        if let Some(slot) = shrunk.renamed {
            // The original simulator lists a renamed node last.
            for &job in self.nodes.jobs_on(slot) {
                let placement = &mut self.live[job].placement;
                placement.sort_by_key(|&(other, _)| other == slot);
            }
        }
        true
    }

    /// Describes the jobs that wait forever. Called when no event is left.
    pub fn stuck(&self) -> Stuck {
        let mut waiting = self.setting.jobs.iter().zip(&self.live);
        let is_waiting = |(_, live): &(&&Job, &LiveJob)| live.status == Status::Waiting;
        let first = waiting.find(is_waiting).map(|(job, _)| *job);
        Stuck {
            second: self.now,
            waiting: self.recorder.pending_jobs(),
            job: first.map_or_else(String::new, |job| job.id.clone()),
            gpus: first.map_or(0, |job| job.gpus),
            nodes: self.nodes.count(),
        }
    }

    /// Returns the schedule, with the priorities that the policy assigned to the jobs.
    pub fn finish(mut self, priorities: Vec<Option<f64>>) -> Schedule {
        self.recorder
            .sample_until(self.now + 1, self.running.len(), &self.nodes);
        self.recorder.finish(self.nodes, self.now, priorities)
    }
}

/// Load of a job that runs alone on its GPUs: utilisation in percent, memory in MB.
fn load(job: &Job) -> [f64; 2] {
    [job.usage.gpu_util, job.usage.gmem]
}
