//! Shortest remaining time first, with preemption.

use std::collections::VecDeque;

use super::{Context, Needs, PolicyEntry};
use crate::policy::{Decision, Policy};
use crate::quota::{Entry, Running, Waiting, select};
use crate::view::View;
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "srtf",
    title: "shortest remaining time first, preemptive, durations known",
    needs: Needs::Jobs,
    durations: Durations::True,
    notice: 1,
    profiled: false,
    published: true,
    make: &make,
};

fn make<'a>(context: &Context<'a>) -> Box<dyn Policy + 'a> {
    Box::new(Srtf {
        running: Running::default(),
        waiting: Waiting::default(),
        keys: vec![Key::default(); context.jobs.len()],
        queued: 0,
        preempted: VecDeque::new(),
        chosen: VecDeque::new(),
        again: None,
    })
}

/// The sort key of a job. The first criterion is the time, in seconds, at which the job would end if it ran without
/// interruption. Ties are broken by status, with waiting jobs first, and then by the rank among the waiting or
/// running jobs.
///
/// For a running job, this end time is fixed. For a waiting job, it moves with the clock, so the key holds the
/// remaining time, and [`Key::at`] adds the current time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Key {
    end: i64,
    runs: bool,
    rank: u64,
}

impl Key {
    /// The key of a waiting job for comparison with running jobs at second `now`.
    fn at(self, now: i64) -> Self {
        Key {
            end: self.end + now,
            ..self
        }
    }
}

/// In every second, goes through the jobs by remaining time and gives each job its GPUs if enough are left. Running
/// jobs that get no GPUs are preempted. Waiting jobs that get GPUs start if the placer can place them.
struct Srtf {
    running: Running<Key>,
    waiting: Waiting<Key>,
    /// The key under which each job is stored.
    keys: Vec<Key>,
    /// Number of times that jobs have joined the queue.
    queued: u64,
    preempted: VecDeque<usize>,
    chosen: VecDeque<usize>,
    again: Option<i64>,
}

impl Srtf {
    fn queue(&mut self, job: usize, view: &View<'_>) {
        self.queued += 1;
        let key = Key {
            end: view.left(job) as i64,
            runs: false,
            rank: self.queued,
        };
        self.keys[job] = key;
        self.waiting.insert(key, job, view.job(job).gpus);
    }
}

impl Policy for Srtf {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.queue(job, view);
    }

    fn started(&mut self, job: usize, view: &View<'_>) {
        let gpus = view.job(job).gpus;
        self.waiting.remove(self.keys[job], job, gpus);
        let key = Key {
            end: view.now() + view.left(job) as i64,
            runs: true,
            rank: view.order(job),
        };
        self.keys[job] = key;
        self.running.insert(Entry { key, job, gpus });
    }

    fn preempted(&mut self, job: usize, view: &View<'_>) {
        self.running.remove(&self.keys[job]);
        self.queue(job, view);
    }

    fn ended(&mut self, job: usize, _: &View<'_>) {
        self.running.remove(&self.keys[job]);
    }

    fn open(&mut self, view: &View<'_>) {
        let (total, now) = (view.nodes().gpus(), view.now());
        let selection = select(total, &self.running, &self.waiting, |key| key.at(now));
        self.preempted = selection.preempted.into();
        self.chosen = selection.chosen.into();
        self.again = None;
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        if let Some(job) = self.preempted.pop_front() {
            self.again = Some(view.now() + 1);
            return Some(Decision::Preempt { job });
        }
        while let Some(job) = self.chosen.pop_front() {
            if let Some(placement) = view.place(view.job(job).gpus) {
                self.again = Some(view.now() + 1);
                return Some(Decision::Start { job, placement });
            }
        }
        None
    }

    /// Wakes in the second after a change, because the choice of jobs may then be different. Without a change, the
    /// choice stays the same. As time passes, running jobs only move ahead of waiting jobs. If two jobs both get GPUs,
    /// their order makes no difference. A waiting job that was refused is refused again when fewer GPUs are left.
    fn wake(&mut self, _: &View<'_>) -> Option<i64> {
        self.again
    }
}
