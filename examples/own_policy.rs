//! Compares a custom scheduling policy with built-in policies.

use std::collections::BTreeSet;

use gleaner::engines::domain::results::simulate::Durations;
use gleaner::engines::simulate::policies::{Needs, PolicyEntry};
use gleaner::engines::simulate::policy::{Decision, Policy};
use gleaner::engines::simulate::view::View;
use gleaner::{Result, Simulation};

/// Starts the smallest jobs first. Jobs of equal size start in the order of submission.
#[derive(Default)]
struct SmallestFirst {
    /// The waiting jobs, sorted by number of GPUs, then by submission.
    queue: BTreeSet<(u32, usize)>,
}

impl Policy for SmallestFirst {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.queue.insert((view.job(job).gpus, job));
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        let &(gpus, job) = self.queue.first()?;
        let placement = view.place(gpus)?;
        self.queue.pop_first();
        Some(Decision::Start { job, placement })
    }
}

/// Runs the example.
pub fn main() -> Result<()> {
    let smallest_first = PolicyEntry {
        name: "smallest-first",
        title: "smallest job first",
        needs: Needs::Jobs,
        durations: Durations::Unknown,
        notice: 0,
        profiled: false,
        published: false,
        make: &|_| Box::new(SmallestFirst::default()),
    };
    let simulated = Simulation::of_directory("dataset/cluster")
        .own_policies([smallest_first])
        .policies(["fifo", "sjf", "smallest-first"])
        .setting(|settings| settings.check = true)
        .run()?;
    for (name, figures) in simulated.entries() {
        println!(
            "{name:15} {:>8.0} s to completion on average",
            figures.all.avg_jct_s
        );
    }
    Ok(())
}
