//! The results of `gleaner replay`: its tables' rows and its summary.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use gleaner_search::Algorithm;

use super::search::SearchOutcome;
use super::{Column, Field, Named, Table};
use crate::tasks::{ENDLESS, MAX_TASKS};
use crate::{NodeRule, Objective, Utc};

/// What happened at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Nodes joined or left: a row of the log.
    Nodes,
    /// A task finished between two rows of the log (never with `--no-completion-events`).
    Completion,
}

impl Named for EventKind {
    const ALL: &'static [Self] = &[EventKind::Nodes, EventKind::Completion];

    fn name(self) -> &'static str {
        match self {
            EventKind::Nodes => "nodes",
            EventKind::Completion => "completion",
        }
    }
}

/// The outcome of the decision at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStatus {
    /// A plan proven optimal was applied.
    Optimal,
    /// A feasible plan better than keeping the allocation was applied.
    Feasible,
    /// No better plan was found in time: the allocation stays, and nothing is charged.
    Kept,
    /// The script's allocation was applied.
    Scripted,
    /// No idle node or no active task: nothing to decide.
    Trivial,
}

impl Named for StepStatus {
    const ALL: &'static [Self] = &[
        StepStatus::Optimal,
        StepStatus::Feasible,
        StepStatus::Kept,
        StepStatus::Scripted,
        StepStatus::Trivial,
    ];

    fn name(self) -> &'static str {
        match self {
            StepStatus::Optimal => "optimal",
            StepStatus::Feasible => "feasible",
            StepStatus::Kept => "kept",
            StepStatus::Scripted => "scripted",
            StepStatus::Trivial => "trivial",
        }
    }
}

record! {
    /// One event after the first: a row of `steps`. The first 13 columns are those of BFTrainer's
    /// replayer, in its order and number format.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StepRow {
        /// when
        time: Utc = "evtTime" ["time"],
        /// done since the previous event, less the costs charged at this event
        progress: f64 as Fixed = "Thr" ["work"],
        /// of all tasks from now on; if no task remains in the last row, of the tasks before that
        rate: f64 as Fixed = "Rate" ["work/s"],
        /// cost of the rescaling just decided, charged at the next event
        rescale_cost: f64 as Fixed = "ReScost" ["work"],
        /// index of the log's event; a completion has the index of the event before it
        event: usize = "evt" [""],
        /// that left (became busy)
        nodes_left: u32 = "Nleft" ["nodes"],
        /// that a leaving node cost progress
        tasks_preempted: u32 = "Npre" ["tasks"],
        /// that joined (became idle)
        nodes_joined: u32 = "Njoin" ["nodes"],
        /// active
        tasks_active: u32 = "nJob" ["tasks"],
        /// idle
        nodes_idle: u32 = "nNd" ["nodes"],
        /// holding nodes
        tasks_running: u32 = "nJrun" ["tasks"],
        /// that tasks hold
        nodes_used: u32 = "nNrun" ["nodes"],
        /// lost to preemption at this event
        preemption_cost: f64 as Fixed = "PreCost" ["work"],
        /// `nodes`: a row of the log; `completion`: a task finished between two rows (never with
        /// `--no-completion-events`)
        kind: EventKind = "kind" [""],
        /// which solver decided
        solver: Arc<str> = "solver" [""],
        /// `optimal`: proven; `feasible`: better than keeping the allocation, not proven optimal;
        /// `kept`: no better plan found in time, so nothing changed and nothing was charged;
        /// `scripted`; `trivial`: no idle node or no task
        status: StepStatus = "status" [""],
        /// of the plan, if known
        gap: Option<f64> = "gap" ["relative"],
        /// idle time since the previous row
        idle_node_seconds: f64 = "idle_node_seconds" ["node·s"],
        /// the part of this idle time in which no task held the node
        unused_node_seconds: f64 = "unused_node_seconds" ["node·s"],
        /// the part of this idle time in which a task held the node: the sum of the next three columns
        used_node_seconds: f64 = "used_node_seconds" ["node·s"],
        /// held by running tasks before their completion
        before_completion_node_seconds: f64 = "before_completion_node_seconds" ["node·s"],
        /// held until this event by tasks that had already finished; with completion events, only
        /// rounding errors
        after_completion_node_seconds: f64 = "after_completion_node_seconds" ["node·s"],
        /// held by tasks that had fewer nodes than they need to run
        below_minimum_node_seconds: f64 = "below_minimum_node_seconds" ["node·s"],
        /// rate × time of all tasks since the previous row: the sum of `Thr`, `PreCost` and the next
        /// two columns
        gross_work: f64 = "gross_work" ["work"],
        /// work lost to the rescaling decided at the previous row
        rescale_loss: f64 = "rescale_loss" ["work"],
        /// rate × time of tasks that had already finished
        after_completion_work: f64 = "after_completion_work" ["work"],
    }
}

record! {
    /// Wall time of the solver, a row of `timings`: a separate table, because it differs from run to run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TimingRow {
        /// as in `steps`
        event: usize = "evt" [""],
        /// of the decision
        micros: u64 = "solve_us" ["µs"],
    }
}

record! {
    /// A task and its outcome: a row of `tasks`, in file order.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TaskRow {
        /// name
        name: String = "task" [""],
        /// submitted; at the earliest, the first event
        submit: Utc = "submit" ["time"],
        /// first held nodes
        start: Option<Utc> = "start" ["time"],
        /// found finished
        end: Option<Utc> = "end" ["time"],
        /// to do; empty if the task is endless
        work: f64 as Finite = "work" ["work"],
        /// done
        work_done: f64 = "work_done" ["work"],
        /// held
        node_seconds: f64 = "node_seconds" ["node·s"],
        /// how often it grew
        rescales_up: u32 = "rescales_up" [""],
        /// how often it shrank
        rescales_down: u32 = "rescales_down" [""],
        /// how often it lost nodes to the batch scheduler
        preemptions: u32 = "preemptions" [""],
        /// of progress lost to growing, the start included
        lost_up: f64 = "lost_up_s" ["s"],
        /// of progress lost to shrinking
        lost_down: f64 = "lost_down_s" ["s"],
        /// of progress lost to preemption
        lost_preempted: f64 = "lost_preempted_s" ["s"],
        /// for which it was active, with nodes or without
        active_seconds: f64 = "active_s" ["s"],
        /// `work_done` as a share of the work at its best rate over `active_s`; empty if it was
        /// never active or can do no work
        normalised_progress: Option<f64> = "normalised_progress" [""],
        /// by which it should be done; empty if it has none
        deadline: Option<Utc> = "deadline" ["time"],
        /// held while it ran before its completion; `node_seconds` is the sum of this and the next two
        /// columns
        before_completion_node_seconds: f64 = "before_completion_node_seconds" ["node·s"],
        /// held from its completion until the next event
        after_completion_node_seconds: f64 = "after_completion_node_seconds" ["node·s"],
        /// held while it had fewer nodes than it needs to run
        below_minimum_node_seconds: f64 = "below_minimum_node_seconds" ["node·s"],
        /// rate × time: the sum of `work_done` and the next three columns
        gross_work: f64 = "gross_work" ["work"],
        /// work lost to rescaling, including the start
        rescale_loss: f64 = "rescale_loss" ["work"],
        /// work lost to preemption
        preemption_loss: f64 = "preemption_loss" ["work"],
        /// rate × time from its completion until the next event
        after_completion_work: f64 = "after_completion_work" ["work"],
    }
}

impl TaskRow {
    /// Whether the task has a deadline and was done by then.
    pub fn met_its_deadline(&self) -> bool {
        let both = self.deadline.zip(self.end);
        both.is_some_and(|(deadline, end)| end <= deadline)
    }
}

/// A span in which a task held a node: a row of `allocations`, in the order of `to`. Rows of one
/// node never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocationRow {
    /// Index of the task in file order.
    pub task: u32,
    /// Index of the node in the log slice.
    pub node: u32,
    /// Time at which the task got the node.
    pub from: Utc,
    /// Time at which the task lost or released the node.
    pub to: Utc,
}

impl AllocationRow {
    /// The columns of `allocations`.
    pub const FIELDS: [Field; 4] = [
        Field::new("task", "", "name"),
        Field::new("node", "", "name"),
        Field::new("from", "time", "got the node"),
        Field::new("to", "time", "lost or gave back the node"),
    ];

    /// The table of these rows, with names of tasks and nodes instead of indices.
    pub fn table<'a>(rows: &[Self], tasks: &'a [TaskRow], nodes: &'a [String]) -> Table<'a> {
        let names = |names: Vec<&'a str>, of: fn(&Self) -> u32| Column::Names {
            names,
            indices: rows.iter().map(of).collect(),
        };
        let times = |of: fn(&Self) -> Utc| {
            Column::EveryTime(rows.iter().map(|row| of(row).at_offset(0)).collect())
        };
        let columns = [
            names(tasks.iter().map(|task| task.name.as_str()).collect(), |r| {
                r.task
            }),
            names(nodes.iter().map(String::as_str).collect(), |r| r.node),
            times(|r| r.from),
            times(|r| r.to),
        ];
        Table::named("allocations", &Self::FIELDS, columns)
    }
}

record! {
    /// A class of the log's idle fragments by length: a row of `fragments`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct FragmentRow {
        /// shortest length in the class
        from_s: f64 = "from_s" ["s"],
        /// length at which the next class begins; empty for the last class
        to_s: Option<f64> = "to_s" ["s"],
        /// number of fragments in the class
        fragments: u64 = "fragments" [""],
        /// their idle node-time
        node_seconds: f64 = "node_seconds" ["node·s"],
    }
}

/// Why a replay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All tasks had finished.
    TasksFinished,
    /// The log's last event was replayed.
    LogEnded,
    /// The script has no decisions for the events that follow.
    ScriptEnded,
    /// Another round would make more than [`MAX_TASKS`] tasks.
    TaskLimit,
    /// It was interrupted.
    Interrupted,
}

summary! {
    /// The summary of a run: `summary.json`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Summary {
        /// false after an interrupt
        complete: bool [""],
        /// why the replay ended: `tasks_finished`, `log_ended`, `script_ended`, `task_limit`
        /// (another round would make more than a million tasks), `interrupted`
        ended: Ended [""],
        /// the forward window
        t_fwd: f64 ["s"],
        /// maximum number of tasks active at once
        max_tasks: usize ["tasks"],
        /// objective that every decision maximised, as the user gave it: see below
        objective: Objective [""],
        /// the expression of this objective (docs/OBJECTIVES.md)
        objective_expression: String [""],
        /// SHA-256 of its source if it is a Python function; null otherwise
        objective_sha256: Option<String> [""],
        /// whether the nodes of a task were reallocated as soon as it finished (`--completion-events`)
        completion_events: bool [""],
        /// which free nodes a growing task got: `arrival`, `blocks`, `learned`
        node_choice: NodeRule [""],
        /// which solver decided
        solver: String [""],
        /// how it formulated problems; null if it uses no formulation
        formulation: Option<String> [""],
        /// SHA-256 of the solver's source if it is a Python function; null otherwise
        solver_sha256: Option<String> [""],
        /// first time of the log or its slice, replayed or not
        log_from: String ["time"],
        /// last time of the log or its slice
        log_to: String ["time"],
        /// between them
        log_span_seconds: f64 ["s"],
        /// idle in the log or its slice
        log_idle_node_seconds: f64 ["node·s"],
        /// first event that was replayed
        from: String ["time"],
        /// last event that was replayed
        to: String ["time"],
        /// between them
        span_seconds: f64 ["s"] shown,
        /// part of this time in which tasks were active: submitted, among the first `max_tasks`,
        /// and not finished
        active_seconds: f64 ["s"],
        /// in the slice of the log
        nodes: usize ["nodes"] shown,
        /// after the first
        events: usize [""] shown,
        /// whose plan is proven optimal, including those with nothing to decide
        events_optimal: usize [""] shown,
        /// without a better plan in time
        events_kept: usize [""] shown,
        /// at which a group of tasks could not get its minimum number of nodes; null if no group has a minimum
        events_short: Option<usize> [""] least,
        /// idle time in the replayed part of the log: the sum of the unused and the used time
        idle_node_seconds: f64 ["node·s"] shown,
        /// the part of this idle time in which no task held the node
        unused_node_seconds: f64 ["node·s"] shown,
        /// the part of this idle time in which a task held the node: the sum of the next three fields
        used_node_seconds: f64 ["node·s"] shown,
        /// held by running tasks before their completion
        before_completion_node_seconds: f64 ["node·s"] shown,
        /// held by finished tasks until the next event; with completion events, only rounding errors
        after_completion_node_seconds: f64 ["node·s"] shown,
        /// held by tasks that had fewer nodes than they need to run
        below_minimum_node_seconds: f64 ["node·s"] shown,
        /// `used_node_seconds` as a share of `idle_node_seconds`; null if there was no idle time
        used_share: Option<f64> [""] most,
        /// rate × time of all tasks: the sum of the next four fields
        gross_work: f64 ["work"] shown,
        /// useful work done, A
        total_work: f64 ["work"] most,
        /// work lost to rescaling, including starts
        rescale_loss: f64 ["work"] least,
        /// work lost to preemption
        preemption_loss: f64 ["work"] least,
        /// rate × time of finished tasks until the next event
        after_completion_work: f64 ["work"] shown,
        /// `total_work` as a share of `gross_work`; null if `gross_work` is 0
        useful_share: Option<f64> [""] most,
        /// that lost progress, on average per event at which nodes left while tasks were active;
        /// null if there was no such event
        tasks_hit_mean: Option<f64> ["tasks"] least,
        /// idle nodes on average over `active_seconds`
        equivalent_nodes: f64 ["nodes"] shown,
        /// A_s: work that the tasks active at each moment would do on `equivalent_nodes` dedicated
        /// nodes, with the best split and without interruption
        dedicated_work: f64 ["work"] shown,
        /// U = A ÷ A_s, see below; null if A_s is 0
        efficiency: Option<f64> [""] most,
        /// work if every event's optimum were reached at once and at no cost
        fluid_work: f64 ["work"] shown,
        /// A as a share of `fluid_work`; null if that is 0
        fluid_efficiency: Option<f64> [""] most,
        /// upper bound on the work of any allocator, even one that knew the whole log, after the
        /// costs of rescaling and preemption (`--bound`); null if not computed
        bound_work: Option<f64> ["work"] shown,
        /// A as a share of `bound_work`; null if that is 0 or was not computed
        bound_efficiency: Option<f64> [""] most,
        /// of all rounds, whether submitted or not
        tasks: usize [""] shown as "task_count",
        /// how often the set of tasks was submitted (`--repeat-tasks`)
        rounds: usize [""],
        /// that are endless
        tasks_endless: usize [""],
        /// that became active
        tasks_started: usize [""] shown,
        /// that finished
        tasks_finished: usize [""] most,
        /// with a deadline; null if there are none
        deadlines: Option<usize> ["tasks"],
        /// that were done by their deadlines; null if there are none
        deadlines_met: Option<usize> ["tasks"] most,
        /// mean time of finished tasks from submission, or from the first event if that is later,
        /// to the end
        completion_mean_s: Option<f64> ["s"] least,
        /// median of the same time
        completion_median_s: Option<f64> ["s"] least,
        /// from the first event to the last end
        completion_last_s: Option<f64> ["s"] least,
        /// algorithm of the search; if the tasks do not belong to a search, null, as are the fields up to `wasted_work`
        search: Option<Algorithm> [""],
        /// that were started
        trials_started: Option<usize> ["trials"] shown,
        /// that were stopped before the last rung
        trials_stopped: Option<usize> ["trials"] shown,
        /// that reached the last rung
        trials_finished: Option<usize> ["trials"] most,
        /// that reached a rung, per hour of the time replayed
        trials_per_hour: Option<f64> ["trials/h"] most,
        /// from the first event until a trial reached its first rung
        first_rung_s: Option<f64> ["s"] least,
        /// from the first event until a trial reached the last rung
        last_rung_s: Option<f64> ["s"] least,
        /// lowest loss of the trials that reached the last rung; null if all of them diverged
        best_loss: Option<f64> ["loss"] least,
        /// from the first event until the trial of that loss reached it
        best_trial_s: Option<f64> ["s"] least,
        /// final loss of that trial minus that of the best started trial, both at the last rung and without noise
        regret: Option<f64> ["loss"] least,
        /// done for trials that did not reach the last rung
        wasted_work: Option<f64> ["work"] least,
        /// least `normalised_progress` of the tasks that were active
        fairness_min: Option<f64> [""] most,
        /// Jain's index of `normalised_progress`, (Σx)² ÷ (n·Σx²): 1 if all tasks have the same,
        /// 1/n if one task has everything (Jain, Chiu and Hawe, 1984)
        fairness_jain: Option<f64> [""] most,
    }
}

impl Summary {
    /// Mean number of idle nodes over the time replayed; 0 if no time was replayed.
    pub fn idle_nodes_mean(&self) -> f64 {
        if self.span_seconds > 0.0 {
            self.idle_node_seconds / self.span_seconds
        } else {
            0.0
        }
    }

    /// Remarks on results that a reader could take for errors or overlook, with their reasons.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.efficiency.is_some_and(|share| share > 1.0 + 1e-9) {
            remarks.push(
                "the efficiency is above 100 %: training did more work than on the same number of \
                 nodes that are always there, because scaling curves are not concave or because \
                 more tasks were active while more nodes were idle (docs/OUTPUTS.md)"
                    .to_owned(),
            );
        }
        let is_early = self.span_seconds < 0.5 * self.log_span_seconds;
        if self.ended == Ended::TasksFinished && is_early && self.search.is_none() {
            remarks.push(format!(
                "all tasks were finished long before the log's end: give them more work, make \
                 them endless (work = {ENDLESS:?}), or see --repeat-tasks"
            ));
        }
        if self.trials_finished == Some(0) {
            let why = match self.ended {
                Ended::TasksFinished => "there are too few of them for so many rungs",
                _ => "let the search run longer, or give it more nodes or fewer trials",
            };
            remarks.push(format!("no trial reached the last rung: {why}"));
        }
        if self.ended == Ended::TaskLimit {
            remarks.push(format!(
                "the replay ended after {} rounds of the tasks: another one would make more than \
                 {MAX_TASKS} tasks; give them more work",
                self.rounds
            ));
        }
        remarks
    }
}

/// All results of a replay.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One row per event after the first.
    pub steps: Vec<StepRow>,
    /// Wall time of the solver at each of these events.
    pub timings: Vec<TimingRow>,
    /// One row per task, in file order.
    pub tasks: Vec<TaskRow>,
    /// Intervals in which a task held a node, in the order of their ends.
    pub allocations: Vec<AllocationRow>,
    /// The results of the search; `None` if the tasks do not belong to one.
    pub search: Option<SearchOutcome>,
    /// Totals of the run.
    pub summary: Summary,
}
