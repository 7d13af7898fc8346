//! EASY backfilling (Lifka, JSSPP 1995) as an extension of first in, first out.

use std::collections::BTreeSet;

use super::{Context, Needs, PolicyEntry};
use crate::free::FreeGpus;
use crate::policy::{Decision, Policy};
use crate::view::View;
use gleaner_domain::results::schedule::Placement;
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "easy",
    title: "EASY backfilling: first in, first out, but later jobs may start if they do not delay the reservation",
    needs: Needs::Estimates,
    durations: Durations::Estimated,
    notice: 0,
    profiled: false,
    published: false,
    make: &make,
};

fn make<'a>(context: &Context<'a>) -> Box<dyn Policy + 'a> {
    let whole = |estimate: &f64| estimate.ceil().max(1.0) as i64;
    Box::new(Easy {
        estimates: context.estimates.iter().map(whole).collect(),
        queue: BTreeSet::new(),
        expected: BTreeSet::new(),
        reservation: None,
        candidate: 0,
        passed: false,
    })
}

/// Starts jobs in the order of submission. The first job that does not fit gets a reservation. The reservation is for
/// the earliest second at which, according to the estimates, enough running jobs have ended to place the job. A later
/// job may start earlier than the job with the reservation if it fits now. It must also either end by the reserved
/// second, according to its own estimate, or leave enough free GPUs for the reservation. For example, on a cluster of 8
/// GPUs, a job of 4 GPUs is expected to run for another 100 s, and a job of 8 GPUs waits. A job of 2 GPUs may start if
/// its estimate is at most 100 s.
struct Easy {
    /// Estimated durations, at least 1 s.
    estimates: Vec<i64>,
    queue: BTreeSet<usize>,
    /// Running jobs by their estimated end, which may be in the past.
    expected: BTreeSet<(i64, usize)>,
    reservation: Option<Reservation>,
    /// The first job that this round has not considered yet.
    candidate: usize,
    /// Whether a job has overtaken the first job of the queue in this round.
    passed: bool,
}

/// A reservation for the first job of the queue.
struct Reservation {
    gpus: u32,
    second: i64,
    /// The GPUs that will be free at the reserved second, according to the estimates.
    free: FreeGpus,
}

impl Easy {
    fn reserve(&self, gpus: u32, view: &View<'_>) -> Option<Reservation> {
        // Free the GPUs of the running jobs in the order of their expected ends, until the waiting job fits.
        let mut free = view.free().clone();
        // A job that runs longer than estimated is expected to end in the next second.
        let soon = view.now() + 1;
        let mut ends = self
            .expected
            .iter()
            .map(|&(end, job)| (end.max(soon), job))
            .peekable();
        while let Some((second, job)) = ends.next() {
            free.give(view.placement(job));
            let later = ends.peek().is_none_or(|&(next, _)| next > second);
            if later && view.placer().place(&free, gpus).is_some() {
                return Some(Reservation { gpus, second, free });
            }
        }
        None
    }

    fn backfill(&mut self, view: &View<'_>) -> Option<Decision> {
        let reservation = self.reservation.as_mut()?;
        for &job in self.queue.range(self.candidate..) {
            self.candidate = job + 1;
            let Some(placement) = view.place(view.job(job).gpus) else {
                continue;
            };
            let end = view.now() + self.estimates[job];
            // A job that ends by the reserved second has returned its GPUs by then, so it takes nothing
            // from the reservation.
            if end <= reservation.second || reservation.outlasts(&placement, view) {
                self.passed = true;
                return Some(Decision::Start { job, placement });
            }
        }
        None
    }
}

impl Reservation {
    /// Removes the GPUs of `placement` from the reservation if the reserved job still fits without them. Returns
    /// whether they were removed.
    fn outlasts(&mut self, placement: &Placement, view: &View<'_>) -> bool {
        self.free.take(placement);
        let holds = view.placer().place(&self.free, self.gpus).is_some();
        if !holds {
            self.free.give(placement);
        }
        holds
    }
}

impl Policy for Easy {
    fn submitted(&mut self, job: usize, _: &View<'_>) {
        self.queue.insert(job);
    }

    fn started(&mut self, job: usize, view: &View<'_>) {
        self.queue.remove(&job);
        self.expected
            .insert((view.now() + self.estimates[job], job));
    }

    fn ended(&mut self, job: usize, view: &View<'_>) {
        self.expected
            .remove(&(view.since(job) + self.estimates[job], job));
    }

    fn open(&mut self, _: &View<'_>) {
        self.reservation = None;
        self.passed = false;
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        if self.reservation.is_none() {
            let &job = self.queue.first()?;
            let gpus = view.job(job).gpus;
            if let Some(placement) = view.place(gpus) {
                return Some(Decision::Start { job, placement });
            }
            self.candidate = job + 1;
            self.reservation = self.reserve(gpus, view);
        }
        self.backfill(view)
    }

    /// Wakes in the next second if a job has overtaken the first job of the queue. The placer may then choose different
    /// GPUs for a previously rejected job, which may then start. Otherwise, while no job ends, a reservation changes
    /// only when a running job exceeds its estimate.
    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        if self.queue.len() < 2 {
            return None;
        }
        let soon = view.now() + 1;
        if self.passed {
            return Some(soon);
        }
        let &(end, _) = self.expected.range((soon, 0)..).next()?;
        Some(if end > soon { end - 1 } else { end })
    }
}
