//! Shortest job first.

use std::collections::BTreeSet;

use super::{Context, Needs, PolicyEntry};
use crate::policy::{Decision, Policy};
use crate::view::View;
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "sjf",
    title: "shortest job first, durations known",
    needs: Needs::Jobs,
    durations: Durations::True,
    notice: 0,
    profiled: false,
    published: true,
    make: &make,
};

fn make<'a>(_: &Context<'a>) -> Box<dyn Policy + 'a> {
    Box::new(Sjf::default())
}

/// Starts the shortest jobs first. The first job that does not fit blocks all later jobs.
#[derive(Debug, Default)]
struct Sjf {
    /// Waiting jobs by duration, then by submission.
    queue: BTreeSet<(i64, usize)>,
}

impl Policy for Sjf {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.queue.insert((view.job(job).duration, job));
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        let &(_, job) = self.queue.first()?;
        let placement = view.place(view.job(job).gpus)?;
        self.queue.pop_first();
        Some(Decision::Start { job, placement })
    }
}
