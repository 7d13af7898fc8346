//! Compares the rows of `tasks` and `allocations` with the recomputed accounts.

use super::ledger::Ledger;
use super::rates::best_rate;
use crate::Findings;
use crate::report::time_text;
use gleaner_domain::results::Record;
use gleaner_domain::results::replay::{AllocationRow, StepStatus, TaskRow};

impl Ledger<'_> {
    /// Compares the rows of `tasks`. The last decision may have rescaled each task once more than
    /// the allocations show.
    pub(super) fn compare_tasks(&self, findings: &mut Findings) {
        findings.covers("tasks", TaskRow::FIELDS.iter().map(|field| field.name));
        let columns = AllocationRow::FIELDS.iter().map(|field| field.name);
        findings.covers("allocations", columns.filter(|name| *name != "node"));
        let why =
            "the choice of node is not recomputed; the check verifies only that the node was free";
        findings.not_verified("allocations", "node", why);
        if self.decides_last() {
            let why =
                "the decision at the last event has no duration, and may have added a rescaling";
            for column in ["rescales_up", "rescales_down", "lost_up_s", "lost_down_s"] {
                findings.not_verified("tasks", column, why);
            }
        }
        for task in 0..self.tasks.len() {
            self.compare_task(task, findings);
            self.compare_rescales(task, findings);
        }
    }

    /// Whether there was a decision at the last event.
    fn decides_last(&self) -> bool {
        let last = self.written.steps.last();
        last.is_some_and(|row| row.status != StepStatus::Trivial)
    }

    fn compare_task(&self, task: usize, findings: &mut Findings) {
        let (row, account) = (&self.written.tasks[task], &self.accounts[task]);
        let known = &self.tasks[task];
        let definition = self.definition(task as u32);
        let name = |field: &str| format!("tasks, {:?}: {field}", row.name);
        findings.holds(row.work == known.work || near(row.work, known.work), || {
            format!(
                "{} is {}, but the inputs give {}",
                name("work"),
                row.work,
                known.work
            )
        });
        let best = best_rate(definition) * account.active_seconds;
        let normalised = (best > 0.0).then(|| account.work_done / best);
        for (field, written, expected) in [
            ("work_done", row.work_done, account.work_done),
            ("node_seconds", row.node_seconds, account.spent.used),
            ("active_s", row.active_seconds, account.active_seconds),
            (
                "lost_preempted_s",
                row.lost_preempted,
                account.lost_preempted,
            ),
            (
                "before_completion_node_seconds",
                row.before_completion_node_seconds,
                account.spent.before(),
            ),
            (
                "after_completion_node_seconds",
                row.after_completion_node_seconds,
                account.spent.after,
            ),
            (
                "below_minimum_node_seconds",
                row.below_minimum_node_seconds,
                account.spent.below,
            ),
            ("gross_work", row.gross_work, account.spent.gross),
            ("rescale_loss", row.rescale_loss, account.spent.rescale),
            (
                "preemption_loss",
                row.preemption_loss,
                account.spent.preemption,
            ),
            (
                "after_completion_work",
                row.after_completion_work,
                account.spent.after_work,
            ),
        ] {
            findings.number(name(field), written, expected);
        }
        findings.option(
            name("normalised_progress"),
            row.normalised_progress,
            normalised,
        );
        findings.equal(name("preemptions"), row.preemptions, account.preemptions);
        findings.time(name("submit"), Some(row.submit), Some(known.submit));
        findings.time(name("end"), row.end, account.end);
        findings.time(name("deadline"), row.deadline, known.deadline);
        let is_start =
            row.start == account.start || (account.start.is_none() && row.start == Some(self.now));
        findings.holds(is_start, || {
            format!(
                "{}: {}, but the allocations give {}",
                name("start"),
                time_text(row.start),
                time_text(account.start)
            )
        });
    }

    /// Compares the number of times that a task was rescaled, and the resulting loss of progress. The
    /// decision at the last event may have rescaled a task that is still active.
    fn compare_rescales(&self, task: usize, findings: &mut Findings) {
        let (row, account) = (&self.written.tasks[task], &self.accounts[task]);
        let definition = self.definition(task as u32);
        let is_active = self.decides_last() && self.active.contains(&(task as u32));
        let name = |field: &str| format!("tasks, {:?}: {field}", row.name);
        for (way, written, found, lost, expected, seconds) in [
            (
                ["rescales_up", "lost_up_s"],
                row.rescales_up,
                account.rescales_up,
                row.lost_up,
                account.lost_up,
                definition.rescale_up,
            ),
            (
                ["rescales_down", "lost_down_s"],
                row.rescales_down,
                account.rescales_down,
                row.lost_down,
                account.lost_down,
                definition.rescale_down,
            ),
        ] {
            let is_once_more = is_active && written == found + 1;
            findings.holds(written == found || is_once_more, || {
                format!(
                    "{} is {written}, but the allocations give {found}, or one more because of the last decision",
                    name(way[0])
                )
            });
            // A task that grows from no nodes loses no progress.
            let more = [seconds, definition.move_seconds()].map(|seconds| expected + seconds);
            let is_lost = near(lost, expected)
                || is_once_more && more.iter().any(|expected| near(lost, *expected));
            findings.holds(is_lost, || {
                format!(
                    "{} is {lost}, but the allocations give {expected}",
                    name(way[1])
                )
            });
        }
    }
}

fn near(written: f64, expected: f64) -> bool {
    (written - expected).abs() <= 1e-7 * expected.abs().max(1.0)
}
