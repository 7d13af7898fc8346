//! Bounds on the idle time of shared nodes, for logs that state only how many nodes and cores each job used.
//!
//! The machine has M nodes of c cores each. The running jobs use N nodes and C cores in total, where a node that k jobs
//! share counts k times in N. At least max(0, M - N) nodes are idle. This is the exact number if no two jobs share a
//! node. At most M - C / c nodes are idle, with C / c rounded up. This is the exact number if jobs fill one node after
//! another. For example, a machine has 4 nodes with 36 cores each. Two jobs of 2 nodes and 40 cores each leave 0 or 1
//! nodes idle, because 80 cores need at least 3 nodes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::deal::CountedJob;
use super::sweep::Window;

/// The nodes and cores that the running jobs use. Jobs must be added in the order in which they start.
#[derive(Debug, Default)]
pub struct InUse {
    /// The running jobs, each as (end, nodes, cores).
    running: BinaryHeap<Reverse<(i64, u32, u64)>>,
    /// Number of used nodes. A node that several jobs share counts once per job.
    pub nodes: u64,
    /// Number of used cores.
    pub cores: u64,
}

impl InUse {
    /// The earliest end of a running job, if it is not after `second`.
    fn next_end(&self, second: i64) -> Option<i64> {
        let Reverse((end, ..)) = self.running.peek()?;
        Some(*end).filter(|end| *end <= second)
    }

    /// Removes the jobs that end at or before `second`.
    pub fn end_until(&mut self, second: i64) {
        while self.next_end(second).is_some()
            && let Some(Reverse((_, nodes, cores))) = self.running.pop()
        {
            self.nodes -= u64::from(nodes);
            self.cores -= cores;
        }
    }

    /// Adds a job, which uses `cores` cores in total, to the running jobs.
    pub fn start(&mut self, job: &CountedJob, cores: u64) {
        self.nodes += u64::from(job.nodes);
        self.cores += cores;
        self.running.push(Reverse((job.end, job.nodes, cores)));
    }
}

/// Adds up the bounds on the idle time. Jobs must be added in the order in which they start.
#[derive(Debug)]
pub struct CountedIdle {
    nodes: u64,
    cores_per_node: u32,
    window: Window,
    used: InUse,
    /// The second up to which the sums are complete.
    counted: i64,
    lower: u64,
    upper: u64,
}

impl CountedIdle {
    /// Prepares to add up the bounds on the idle time of `nodes` nodes in `window`.
    pub fn new(nodes: u32, cores_per_node: u32, window: Window) -> Self {
        CountedIdle {
            nodes: nodes.into(),
            cores_per_node: cores_per_node.max(1),
            window,
            used: InUse::default(),
            counted: window.from,
            lower: 0,
            upper: 0,
        }
    }

    /// Starts a job. A job with an unknown number of cores is assumed to use all cores of its nodes. A stated number is
    /// capped at that total.
    pub fn start(&mut self, job: &CountedJob) {
        self.advance(job.start);
        let all = u64::from(job.nodes) * u64::from(self.cores_per_node);
        let cores = match job.cores {
            0 => all,
            cores => all.min(cores.into()),
        };
        self.used.start(job, cores);
    }

    /// The lower and the upper bound on the idle time, in node-seconds. Must be called after the last job has been
    /// added.
    pub fn finish(mut self) -> (u64, u64) {
        self.advance(self.window.to);
        (self.lower, self.upper)
    }

    /// Counts the time up to `second`, and removes the jobs that have ended by then.
    fn advance(&mut self, second: i64) {
        while let Some(end) = self.used.next_end(second) {
            self.count(end);
            self.used.end_until(end);
        }
        self.count(second);
    }

    /// Adds the bounds for the time up to `second`, during which the number of used nodes and cores was constant.
    fn count(&mut self, second: i64) {
        let second = second.min(self.window.to);
        let Some(seconds) = second
            .checked_sub(self.counted)
            .and_then(|seconds| u64::try_from(seconds).ok())
        else {
            return;
        };
        self.counted = second;
        let needed = self.used.cores.div_ceil(self.cores_per_node.into());
        let idle = |used: u64| self.nodes.saturating_sub(used).saturating_mul(seconds);
        self.lower = self.lower.saturating_add(idle(self.used.nodes));
        self.upper = self.upper.saturating_add(idle(needed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn the_bounds_are_those_of_every_second(
            nodes in 0u32..8,
            per_node in 1u32..5,
            mut jobs in prop::collection::vec((0i64..20, 1i64..9, 1u32..6, 0u32..12), 0..12),
            (from, length) in (0i64..20, 1i64..20),
        ) {
            jobs.sort_unstable_by_key(|job| job.0);
            let window = Window { from, to: from + length };
            let mut idle = CountedIdle::new(nodes, per_node, window);
            for (serial, &(start, length, nodes, cores)) in (0..).zip(&jobs) {
                idle.start(&CountedJob { start, serial, end: start + length, nodes, cores });
            }
            let (mut lower, mut upper) = (0, 0);
            for second in window.from..window.to {
                let runs = |job: &&(i64, i64, u32, u32)| job.0 <= second && second < job.0 + job.1;
                let running: Vec<_> = jobs.iter().filter(runs).collect();
                let used: u32 = running.iter().map(|job| job.2).sum();
                let cores = |job: &&(i64, i64, u32, u32)| {
                    if job.3 == 0 { job.2 * per_node } else { job.3.min(job.2 * per_node) }
                };
                let cores: u32 = running.iter().map(cores).sum();
                lower += u64::from(nodes.saturating_sub(used));
                upper += u64::from(nodes.saturating_sub(cores.div_ceil(per_node)));
            }
            prop_assert!(lower <= upper);
            prop_assert_eq!(idle.finish(), (lower, upper));
        }
    }
}
