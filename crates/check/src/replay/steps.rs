//! Compares the rows of `steps` with the recomputed accounts.

use std::collections::BTreeSet;

use super::ledger::{Expected, Ledger};
use super::rates::{cap, may_hold};
use crate::Findings;
use gleaner_domain::results::replay::{EventKind, StepRow, StepStatus};
use gleaner_domain::results::{Named, Record};

/// Name of the solver that applies scripted allocations.
const SCRIPTED: &str = "scripted";

impl Ledger<'_> {
    /// Records which columns are verified.
    pub(super) fn cover_steps(&self, findings: &mut Findings) {
        let claimed = ["status", "gap"];
        let names = StepRow::FIELDS.iter().map(|field| field.name);
        findings.covers("steps", names.filter(|name| !claimed.contains(name)));
        findings.not_verified(
            "steps",
            "status",
            "optimality is the solver's claim; the check verifies only which events had a decision, \
             and that a kept plan changed nothing",
        );
        let why = "the gap is the solver's claim; the check verifies only that it is at least 0, \
                   and that it is missing without a plan";
        findings.not_verified("steps", "gap", why);
    }

    /// Compares the columns that do not depend on the decision at this event.
    pub(super) fn compare_counts(
        &self,
        place: &str,
        row: &StepRow,
        expected: &Expected,
        findings: &mut Findings,
    ) {
        let name = |column: &'static str| format!("{place}: {column}");
        findings.number(name("Thr"), row.progress, expected.progress);
        let cost = expected.preemption_cost;
        findings.number(name("PreCost"), row.preemption_cost, cost);
        for (column, written, expected) in [
            ("Nleft", row.nodes_left, expected.nodes_left),
            ("Njoin", row.nodes_joined, expected.nodes_joined),
            ("Npre", row.tasks_preempted, expected.tasks_preempted),
            ("nJob", row.tasks_active, self.active.len() as u32),
            ("nNd", row.nodes_idle, self.idle_count),
        ] {
            findings.equal(name(column), written, expected);
        }
        let spent = &expected.spent;
        for (column, written, expected) in [
            ("idle_node_seconds", row.idle_node_seconds, expected.idle),
            (
                "unused_node_seconds",
                row.unused_node_seconds,
                expected.idle - spent.used,
            ),
            ("used_node_seconds", row.used_node_seconds, spent.used),
            (
                "before_completion_node_seconds",
                row.before_completion_node_seconds,
                spent.before(),
            ),
            (
                "after_completion_node_seconds",
                row.after_completion_node_seconds,
                spent.after,
            ),
            (
                "below_minimum_node_seconds",
                row.below_minimum_node_seconds,
                spent.below,
            ),
            ("gross_work", row.gross_work, spent.gross),
            ("rescale_loss", row.rescale_loss, spent.rescale),
            (
                "after_completion_work",
                row.after_completion_work,
                spent.after_work,
            ),
        ] {
            findings.number(name(column), written, expected);
        }
    }

    /// Compares the solver of this event, and the status and gap of its decision.
    pub(super) fn compare_status(
        &mut self,
        place: &str,
        row: &StepRow,
        is_last: bool,
        expected: &Expected,
        findings: &mut Findings,
    ) {
        let solver = &self.written.summary.solver;
        findings.equal(
            format_args!("{place}: solver"),
            &*row.solver,
            solver.as_str(),
        );
        let is_decided = !self.is_over && self.idle_count > 0 && !self.active.is_empty();
        let is_scripted = solver == SCRIPTED;
        if is_decided && !is_scripted {
            self.count_short();
        }
        let is_possible = match row.status {
            StepStatus::Trivial => !is_decided,
            StepStatus::Scripted => is_decided && is_scripted,
            StepStatus::Kept => is_decided && !is_scripted && (is_last || !expected.is_changed),
            StepStatus::Optimal | StepStatus::Feasible => is_decided && !is_scripted,
        };
        findings.holds(is_possible, || {
            let status = row.status.name();
            format!("{place}: status is {status}, which contradicts the other results")
        });
        let is_plan = matches!(row.status, StepStatus::Optimal | StepStatus::Feasible);
        let is_gap = row.gap.is_none_or(|gap| is_plan && gap >= 0.0);
        findings.holds(is_gap, || {
            format!(
                "{place}: gap is {:?}, expected a number of at least 0 with a plan, and nothing without one",
                row.gap
            )
        });
    }

    /// Compares the columns of an event without a decision.
    pub(super) fn compare_nothing(&self, place: &str, row: &StepRow, findings: &mut Findings) {
        findings.number(format_args!("{place}: ReScost"), row.rescale_cost, 0.0);
        findings.equal(format_args!("{place}: nNrun"), row.nodes_used, 0);
        findings.equal(format_args!("{place}: nJrun"), row.tasks_running, 0);
    }

    /// Compares the columns that depend on the decision at this event.
    pub(super) fn compare_allocation(
        &self,
        place: &str,
        row: &StepRow,
        expected: &Expected,
        findings: &mut Findings,
    ) {
        let rate: f64 = self.active_accounts().map(|account| account.rate).sum();
        let used: u32 = self.active_accounts().map(|account| account.held).sum();
        let running = self.active_accounts().filter(|account| account.held > 0);
        let running = running.count();
        findings.number(format_args!("{place}: Rate"), row.rate, rate);
        findings.number(
            format_args!("{place}: ReScost"),
            row.rescale_cost,
            expected.rescale_cost,
        );
        findings.equal(format_args!("{place}: nNrun"), row.nodes_used, used);
        findings.equal(
            format_args!("{place}: nJrun"),
            row.tasks_running as usize,
            running,
        );
        findings.holds(used <= self.idle_count, || {
            let idle = self.idle_count;
            format!("{place}: {used} nodes are held, but only {idle} are idle")
        });
        self.compare_groups(place, findings);
        self.compare_bounds(place, row, findings);
    }

    /// Checks that every active task is within its bounds. If the plan was kept after a preemption, a task may hold
    /// fewer nodes than its minimum.
    fn compare_bounds(&self, place: &str, row: &StepRow, findings: &mut Findings) {
        for &task in &self.active {
            let account = &self.accounts[task as usize];
            let held = account.held;
            if held == 0 {
                continue;
            }
            let Some(definition) = self.definition(task).in_class(account.class) else {
                findings.add(|| {
                    let name = &self.tasks[task as usize].name;
                    format!("{place}: task {name:?} holds nodes of a class on which it cannot run")
                });
                continue;
            };
            // After a preemption, a task that keeps its other nodes may hold a number of nodes that no decision could
            // give it.
            let is_kept = row.status == StepStatus::Kept;
            let bounds = definition.min_nodes..=cap(&definition);
            let is_allowed = may_hold(&definition, held) || is_kept && held <= *bounds.end();
            findings.holds(is_allowed, || {
                format!(
                    "{place}: task {:?} holds {held} nodes, but its bounds are {} to {} ({})",
                    self.tasks[task as usize].name,
                    bounds.start(),
                    bounds.end(),
                    row.status.name()
                )
            });
        }
    }

    /// Checks that no group exceeds its maximum number of nodes.
    pub(super) fn compare_groups(&self, place: &str, findings: &mut Findings) {
        for group in self.inputs.groups {
            let members: BTreeSet<&str> = group.tasks.iter().map(String::as_str).collect();
            let is_member = |task: &&u32| members.contains(&*self.definition(**task).name);
            let active = self.active.iter().filter(is_member);
            let held: u32 = active.map(|&task| self.accounts[task as usize].held).sum();
            findings.holds(group.max_nodes.is_none_or(|most| held <= most), || {
                format!(
                    "{place}: group {:?} holds {held} nodes, but at most {} are allowed",
                    group.name,
                    group.max_nodes.unwrap_or(u32::MAX)
                )
            });
            let names = self
                .inputs
                .classes
                .map_or(&[][..], |classes| classes.names());
            for (class, name) in names.iter().enumerate() {
                let Some(most) = group.max_by_class.get(name) else {
                    continue;
                };
                let accounts = self.active.iter().filter(is_member);
                let accounts = accounts.map(|&task| &self.accounts[task as usize]);
                let here = accounts.filter(|account| account.class == class);
                let held: u32 = here.map(|account| account.held).sum();
                findings.holds(held <= *most, || {
                    format!(
                        "{place}: group {:?} holds {held} nodes of class {name:?}, but at most {most} are allowed",
                        group.name
                    )
                });
            }
        }
    }

    /// Checks that the row describes either the next event of the log or a completion before that event. Returns
    /// whether it does.
    pub(super) fn is_next_event(
        &mut self,
        place: &str,
        row: &StepRow,
        findings: &mut Findings,
    ) -> bool {
        let expected = match row.kind {
            EventKind::Nodes => self.event + 1,
            EventKind::Completion => self.event,
        };
        findings.equal(format_args!("{place}: evt"), row.event, expected);
        let time = self.inputs.log.times().get(row.event).copied();
        let is_at_its_time = match row.kind {
            EventKind::Nodes => time == Some(row.time),
            EventKind::Completion => self.completes_at(row),
        };
        findings.holds(is_at_its_time, || {
            let kind = row.kind.name();
            format!("{place}: kind is {kind}, but there is no such event at this time")
        });
        self.event = row.event;
        row.event == expected && is_at_its_time
    }

    /// Whether a task completes at the time of a row, before the next event of the log.
    fn completes_at(&self, row: &StepRow) -> bool {
        let next = self.inputs.log.times().get(row.event + 1);
        let seconds = row.time.seconds_since(self.now);
        let is_done = |&task: &u32| {
            let account = &self.accounts[task as usize];
            let work = self.tasks[task as usize].work;
            let done = account.work_done + seconds * account.rate - account.pending;
            work.is_finite() && done >= work * (1.0 - 1e-9) - 2e-9 * account.rate
        };
        let is_before = next.is_none_or(|next| row.time < *next);
        self.written.summary.completion_events && is_before && self.active.iter().any(is_done)
    }
}
