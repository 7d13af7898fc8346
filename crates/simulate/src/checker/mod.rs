//! Validates schedules against the jobs that they schedule. The checker does not know the policy: it
//! checks that the schedule is feasible, not that it follows the policy.

mod accounts;
mod claims;
mod placement;
mod samples;
mod sweep;
mod violation;

#[cfg(test)]
mod tests;

pub use violation::{Held, NodePlace, Violation};

use gleaner_domain::jobs::Job;
use gleaner_domain::results::schedule::Schedule;

/// Maximum number of violations that [`check`] reports.
pub const MOST_VIOLATIONS: usize = 1000;

/// The conditions that a schedule of one virtual cluster must meet.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The jobs, in the order of [`Schedule::jobs`].
    pub jobs: &'a [&'a Job],
    /// Number of GPUs per node.
    pub gpus_per_node: u32,
    /// Number of nodes at the start.
    pub nodes: u32,
    /// Second at which the simulation starts. Jobs with an earlier second in `entries` arrive at this second.
    pub start: i64,
    /// Whether two jobs may hold the same GPUs.
    pub sharing: bool,
    /// Whether a job may be spread over more nodes than its GPUs require.
    pub split: bool,
    /// Seconds for which a job holds its GPUs after its work is done.
    pub notice: i64,
    /// Seconds of work that a job must receive if it is never preempted.
    pub due: &'a dyn Fn(&Job) -> i64,
    /// Seconds of work that each checkpoint adds to a job with this number of GPUs.
    pub overhead: &'a dyn Fn(u32) -> i64,
    /// Second at which each job joins the queue; `None` if all jobs join at their submission.
    pub entries: Option<&'a [i64]>,
    /// Seconds that each job waited before it joined this queue, for example for the profiler;
    /// `None` if no job waited.
    pub queued: Option<&'a [i64]>,
}

impl Terms<'_> {
    /// Second at which a job joins the queue.
    fn entry(&self, job: usize) -> i64 {
        let entries = self.entries.and_then(|entries| entries.get(job));
        entries.copied().unwrap_or(self.jobs[job].submit)
    }
}

/// Returns the violations in a schedule, at most [`MOST_VIOLATIONS`]; none if the schedule is valid.
///
/// Runs in O(n log n) time, where n is the total number of jobs, runs, nodes and stretches of
/// samples.
pub fn check(schedule: &Schedule, terms: &Terms) -> Vec<Violation> {
    let mut report = Report::default();
    if schedule.jobs.len() != terms.jobs.len() {
        report.add(Violation::Jobs {
            found: schedule.jobs.len(),
            expected: terms.jobs.len(),
        });
        return report.found;
    }
    let sound = placement::check(schedule, terms, &mut report);
    accounts::check(schedule, terms, &mut report);
    let marks = samples::marks(schedule, terms, &mut report);
    let shared = sweep::check(schedule, terms, &sound, &marks, &mut report);
    placement::check_speeds(schedule, terms, &shared, &mut report);
    report.found
}

/// The violations found so far.
#[derive(Default)]
struct Report {
    found: Vec<Violation>,
}

impl Report {
    fn add(&mut self, violation: Violation) {
        if self.found.len() < MOST_VIOLATIONS {
            self.found.push(violation);
        }
    }

    fn require(&mut self, holds: bool, violation: impl FnOnce() -> Violation) {
        if !holds {
            self.add(violation());
        }
    }
}
