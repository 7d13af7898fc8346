//! Tiresias: least attained service in two discrete queues (Gu et al., NSDI 2019).

use std::collections::{BTreeSet, VecDeque};

use super::{Context, Needs, PolicyEntry};
use crate::policy::{Decision, Policy};
use crate::quota::{Entry, Running, Waiting, select};
use crate::scaling::next_multiple;
use crate::view::View;
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "tiresias",
    title: "Tiresias: least attained service, preemptive, durations unknown",
    needs: Needs::Jobs,
    durations: Durations::Unknown,
    notice: 1,
    profiled: false,
    published: true,
    make: &make,
};

/// Attained service in GPU-seconds above which a job falls into the low queue.
const THRESHOLD: i64 = 18_000;
/// Seconds between rounds.
const INTERVAL: i64 = 60;

fn make<'a>(context: &Context<'a>) -> Box<dyn Policy + 'a> {
    let jobs = context.jobs.len();
    Box::new(Tiresias {
        running: Running::default(),
        waiting: Waiting::default(),
        keys: vec![Key::default(); jobs],
        service: vec![0; jobs],
        started: vec![0; jobs],
        falls: BTreeSet::new(),
        queued: 0,
        preempted: VecDeque::new(),
        chosen: VecDeque::new(),
        changed: false,
    })
}

/// The sort key of a job. The criteria are, in this order: its queue (high before low), its submission time, its status
/// (running before waiting), and its rank among the running or waiting jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Key {
    low: bool,
    submit: i64,
    waits: bool,
    rank: u64,
}

/// Every minute, goes through the jobs in the order of their keys and gives each job its GPUs if enough are left.
/// Running jobs that get no GPUs are preempted. Waiting jobs that get GPUs start if the placer can place them.
struct Tiresias {
    running: Running<Key>,
    waiting: Waiting<Key>,
    keys: Vec<Key>,
    /// Service in GPU-seconds that each job attained before its latest start.
    service: Vec<i64>,
    /// Second of each job's latest start.
    started: Vec<i64>,
    /// The running jobs of the high queue, by the second at which they will pass the threshold.
    falls: BTreeSet<(i64, usize)>,
    queued: u64,
    preempted: VecDeque<usize>,
    chosen: VecDeque<usize>,
    /// Whether anything has changed since the last round began.
    changed: bool,
}

impl Tiresias {
    fn queue(&mut self, job: usize, view: &View<'_>) {
        self.queued += 1;
        let key = Key {
            low: self.service[job] > THRESHOLD,
            submit: view.job(job).submit,
            waits: true,
            rank: self.queued,
        };
        self.keys[job] = key;
        self.waiting.insert(key, job, view.job(job).gpus);
        self.changed = true;
    }

    /// Second at which a job passes the threshold if it runs from its latest start without interruption.
    fn fall(&self, job: usize, gpus: u32) -> i64 {
        let rest = (THRESHOLD - self.service[job]).max(0);
        self.started[job] + rest / i64::from(gpus) + 1
    }

    /// Removes a job from the running jobs after `seconds` of service since its latest start.
    fn stop(&mut self, job: usize, gpus: u32, seconds: i64) {
        self.running.remove(&self.keys[job]);
        self.falls.remove(&(self.fall(job, gpus), job));
        self.service[job] += i64::from(gpus) * seconds;
        self.changed = true;
    }

    /// Moves the jobs that have passed the threshold to the low queue.
    fn lower(&mut self, view: &View<'_>) {
        while let Some(&(second, job)) = self.falls.first()
            && second <= view.now()
        {
            self.falls.pop_first();
            self.running.remove(&self.keys[job]);
            self.keys[job].low = true;
            self.running.insert(Entry {
                key: self.keys[job],
                job,
                gpus: view.job(job).gpus,
            });
        }
    }
}

impl Policy for Tiresias {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.queue(job, view);
    }

    fn started(&mut self, job: usize, view: &View<'_>) {
        let gpus = view.job(job).gpus;
        self.waiting.remove(self.keys[job], job, gpus);
        self.started[job] = view.now();
        let key = Key {
            waits: false,
            rank: view.order(job),
            ..self.keys[job]
        };
        self.keys[job] = key;
        self.running.insert(Entry { key, job, gpus });
        if !key.low {
            self.falls.insert((self.fall(job, gpus), job));
        }
        self.changed = true;
    }

    fn preempted(&mut self, job: usize, view: &View<'_>) {
        self.stop(job, view.job(job).gpus, view.now() - self.started[job]);
        self.queue(job, view);
    }

    fn ended(&mut self, job: usize, view: &View<'_>) {
        // No service is counted in the second in which the end is noticed.
        self.stop(job, view.job(job).gpus, view.now() - self.started[job] - 1);
    }

    fn open(&mut self, view: &View<'_>) {
        if view.now() % INTERVAL != 0 {
            return;
        }
        self.changed = false;
        self.lower(view);
        let total = view.nodes().gpus();
        let selection = select(total, &self.running, &self.waiting, |key| key);
        self.preempted = selection.preempted.into();
        self.chosen = selection.chosen.into();
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        if let Some(job) = self.preempted.pop_front() {
            return Some(Decision::Preempt { job });
        }
        while let Some(job) = self.chosen.pop_front() {
            if let Some(placement) = view.place(view.job(job).gpus) {
                return Some(Decision::Start { job, placement });
            }
        }
        None
    }

    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        if self.waiting.is_empty() {
            return None;
        }
        if self.changed {
            return Some(next_multiple(view.now(), INTERVAL));
        }
        let (fall, _) = self.falls.first()?;
        Some(next_multiple(fall - 1, INTERVAL))
    }

    fn priority(&self, job: usize) -> Option<f64> {
        Some(self.service[job] as f64)
    }
}
