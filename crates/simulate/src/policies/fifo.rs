//! First in, first out.

use std::collections::VecDeque;

use super::{Context, Needs, PolicyEntry};
use crate::policy::{Decision, Policy};
use crate::view::View;
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "fifo",
    title: "first in, first out",
    needs: Needs::Jobs,
    durations: Durations::Unknown,
    notice: 0,
    profiled: false,
    published: true,
    make: &make,
};

fn make<'a>(_: &Context<'a>) -> Box<dyn Policy + 'a> {
    Box::new(Fifo::default())
}

/// Starts jobs in the order of submission. The first job that does not fit blocks all later jobs.
#[derive(Debug, Default)]
struct Fifo {
    queue: VecDeque<usize>,
}

impl Policy for Fifo {
    fn submitted(&mut self, job: usize, _: &View<'_>) {
        self.queue.push_back(job);
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        let job = *self.queue.front()?;
        let placement = view.place(view.job(job).gpus)?;
        self.queue.pop_front();
        Some(Decision::Start { job, placement })
    }
}
