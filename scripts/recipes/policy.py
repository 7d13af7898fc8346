"""A policy: longest job first."""

from tree import Tree

TITLE = "**A policy**"

POLICY = """\
//! Longest job first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Context, Needs, PolicyEntry};
use crate::policy::{Decision, Policy};
use crate::view::View;
use gleaner_domain::results::simulate::Durations;

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "ljf",
    title: "longest job first, durations known",
    needs: Needs::Jobs,
    durations: Durations::True,
    notice: 0,
    profiled: false,
    published: false,
    make: &make,
};

fn make<'a>(_: &Context<'a>) -> Box<dyn Policy + 'a> {
    Box::new(Ljf::default())
}

/// Starts the longest jobs first. The first job that does not fit blocks the shorter jobs.
#[derive(Debug, Default)]
struct Ljf {
    /// The waiting jobs, the longest first, then by submission.
    queue: BTreeSet<(Reverse<i64>, usize)>,
}

impl Policy for Ljf {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.queue.insert((Reverse(view.job(job).duration), job));
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        let &(_, job) = self.queue.first()?;
        let placement = view.place(view.job(job).gpus)?;
        self.queue.pop_first();
        Some(Decision::Start { job, placement })
    }
}
"""

PLAIN = """\
//! Longest job first.

use std::cmp::Reverse;

use super::Rule;
use super::sim::Sim;

pub struct Ljf;

impl Rule for Ljf {
    fn second(&mut self, sim: &mut Sim) {
        sim.end_due();
        sim.arrive();
        let jobs = &sim.world.jobs;
        sim.waiting.sort_by_key(|&job| Reverse(jobs[job].duration));
        for job in sim.waiting.clone() {
            if !sim.start_until_end(job) {
                break;
            }
        }
    }
}
"""


def follow(tree: Tree) -> None:
    tree.create("crates/simulate/src/policies/ljf.rs", POLICY)
    tree.after("crates/simulate/src/policies/mod.rs", r"^policies! \{$", r"^    easy$", add="    ljf")
    rules = "crates/check/src/simulate/given.rs"
    tree.replace(rules, r"let starts_once = \[", by=r'\g<0>"ljf", ')
    tree.replace(rules, r"durations: match policy", r'(\| "srtf")( => "true")', by=r'\1 | "ljf"\2')
    plain = "crates/simulate/tests/schedules/plain"
    tree.create(f"{plain}/ljf.rs", PLAIN)
    tree.after(f"{plain}/mod.rs", r"^mod known;$", add="mod ljf;")
    tree.after(f"{plain}/mod.rs", r"^pub use easy::Easy;$", add="pub use ljf::Ljf;")
    product = "crates/simulate/tests/schedules/product.rs"
    tree.replace(product, r"^use crate::plain::\{.*Fifo, ", by=r"\g<0>Ljf, ")
    tree.before(product, r"name => panic!", add='        "ljf" => Box::new(Ljf),')
    tree.replace("scripts/bench-simulate.sh", r"^for policy in .*easy", by=r"\g<0> ljf")
