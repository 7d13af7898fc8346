//! Quasi-shortest service first (Hu et al., SC 2021).

use std::collections::BTreeSet;

use super::{Context, Needs, PolicyEntry, Priority};
use crate::policy::{Decision, Policy};
use crate::view::{Status, View};
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "qssf",
    title: "quasi-shortest service first: estimated duration times GPUs",
    needs: Needs::Estimates,
    durations: Durations::Estimated,
    notice: 0,
    profiled: false,
    published: true,
    make: &make,
};

fn make<'a>(context: &Context<'a>) -> Box<dyn Policy + 'a> {
    Box::new(Qssf {
        estimates: context.estimates,
        queue: BTreeSet::new(),
        arrived: BTreeSet::new(),
        second: context.start,
        unrated: Vec::new(),
        fresh: false,
        again: None,
        rated: vec![None; context.jobs.len()],
    })
}

/// Starts the jobs with the least estimated service first. The first job that does not fit blocks all
/// later jobs. If all waiting jobs arrived in the current second, they are considered in ascending
/// order of their number of GPUs. Priorities for the result tables are assigned at the start of a
/// round if some waiting job arrived in an earlier second. Every job that has arrived since the last
/// assignment and is still waiting then gets a priority.
struct Qssf<'a> {
    estimates: &'a [f64],
    /// Waiting jobs by priority, then by number of GPUs, then by submission.
    queue: BTreeSet<(Priority, u32, usize)>,
    /// Waiting jobs that arrived in second `second`, by number of GPUs.
    arrived: BTreeSet<(u32, usize)>,
    second: i64,
    /// Jobs that have arrived since priorities were last assigned.
    unrated: Vec<usize>,
    /// Whether all waiting jobs arrived in the second of this round.
    fresh: bool,
    again: Option<i64>,
    /// The priority assigned to each job, if any.
    rated: Vec<Option<f64>>,
}

impl Qssf<'_> {
    fn service(&self, job: usize, gpus: u32) -> f64 {
        self.estimates[job] * f64::from(gpus)
    }

    /// Clears the list of arrivals if its jobs arrived in a second other than `second`.
    fn turn_to(&mut self, second: i64) {
        if self.second != second {
            self.arrived.clear();
            self.second = second;
        }
    }

    fn next_job(&self) -> Option<usize> {
        if self.fresh {
            self.arrived.first().map(|&(_, job)| job)
        } else {
            self.queue.first().map(|&(.., job)| job)
        }
    }
}

impl Policy for Qssf<'_> {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        let gpus = view.job(job).gpus;
        self.turn_to(view.now());
        self.arrived.insert((gpus, job));
        self.unrated.push(job);
        let priority = Priority::new(self.service(job, gpus));
        self.queue.insert((priority, gpus, job));
    }

    fn open(&mut self, view: &View<'_>) {
        self.turn_to(view.now());
        self.fresh = self.queue.len() == self.arrived.len();
        self.again = None;
        if !self.fresh {
            for job in std::mem::take(&mut self.unrated) {
                let waits = view.status(job) == Status::Waiting;
                let service = self.service(job, view.job(job).gpus);
                self.rated[job] = waits.then_some(Priority::new(service).0);
            }
        }
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        let job = self.next_job()?;
        let gpus = view.job(job).gpus;
        let Some(placement) = view.place(gpus) else {
            self.again = self.fresh.then_some(view.now() + 1);
            return None;
        };
        let priority = Priority::new(self.service(job, gpus));
        self.queue.remove(&(priority, gpus, job));
        self.arrived.remove(&(gpus, job));
        Some(Decision::Start { job, placement })
    }

    fn wake(&mut self, _: &View<'_>) -> Option<i64> {
        self.again
    }

    fn priority(&self, job: usize) -> Option<f64> {
        self.rated[job]
    }
}
