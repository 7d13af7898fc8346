//! The results of `gleaner replay`: the rows of its tables, and its summary.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::classes::ClassOutcome;
use super::search::SearchOutcome;
use super::{Column, Field, Named, Table};
use crate::tasks::{ENDLESS, MAX_TASKS};
use crate::{NodeRule, Objective, Quality, Utc};

/// The kind of event at a step.
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
    /// No plan better than no change was found in time: the allocation is kept, and nothing is charged.
    Kept,
    /// The script's allocation was applied.
    Scripted,
    /// There was no idle node or no active task, so there was nothing to decide.
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
    /// One event after the first: a row of `steps`. The first 13 columns are the columns of BFTrainer's replayer, in
    /// its order and number format.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StepRow {
        /// time of the event
        time: Utc = "evtTime" ["time"],
        /// work done since the previous event, less the costs charged at this event
        progress: f64 as Fixed = "Thr" ["work"],
        /// total rate at which tasks progress after this event; in the last row, if no task remains, the rate before
        /// this event
        rate: f64 as Fixed = "Rate" ["work/s"],
        /// cost of the rescaling decided at this event, charged at the next event
        rescale_cost: f64 as Fixed = "ReScost" ["work"],
        /// index of the event in the log; a completion has the index of the previous event
        event: usize = "evt" [""],
        /// number of nodes that left (became busy)
        nodes_left: u32 = "Nleft" ["nodes"],
        /// number of tasks that lost progress because a node left
        tasks_preempted: u32 = "Npre" ["tasks"],
        /// number of nodes that joined (became idle)
        nodes_joined: u32 = "Njoin" ["nodes"],
        /// number of active tasks
        tasks_active: u32 = "nJob" ["tasks"],
        /// number of idle nodes
        nodes_idle: u32 = "nNd" ["nodes"],
        /// number of tasks that hold nodes
        tasks_running: u32 = "nJrun" ["tasks"],
        /// number of nodes that tasks hold
        nodes_used: u32 = "nNrun" ["nodes"],
        /// work lost to preemption at this event
        preemption_cost: f64 as Fixed = "PreCost" ["work"],
        /// `nodes`: a row of the log; `completion`: a task finished between two rows (never with
        /// `--no-completion-events`)
        kind: EventKind = "kind" [""],
        /// solver that made the decision
        solver: Arc<str> = "solver" [""],
        /// `optimal`: proven; `feasible`: better than no change, but not proven optimal; `kept`: no
        /// plan better than no change was found in time, so nothing changes and nothing is charged;
        /// `scripted`: taken from the script; `trivial`: there is no idle node or no active task
        status: StepStatus = "status" [""],
        /// optimality gap of the plan; empty if unknown
        gap: Option<f64> = "gap" ["relative"],
        /// idle node-time since the previous row
        idle_node_seconds: f64 = "idle_node_seconds" ["node·s"],
        /// part of `idle_node_seconds` on nodes that no task held
        unused_node_seconds: f64 = "unused_node_seconds" ["node·s"],
        /// part of `idle_node_seconds` on nodes that tasks held: the sum of the next three columns
        used_node_seconds: f64 = "used_node_seconds" ["node·s"],
        /// node-time held by running tasks before their completion
        before_completion_node_seconds: f64 = "before_completion_node_seconds" ["node·s"],
        /// node-time held until this event by tasks that had already finished; with completion events, 0 except
        /// for rounding errors
        after_completion_node_seconds: f64 = "after_completion_node_seconds" ["node·s"],
        /// node-time held by tasks with fewer nodes than they need to run
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
    /// Wall time of the solver: a row of `timings`. This table is separate because the times differ from run to run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TimingRow {
        /// index of the event; the same as `evt` in `steps`
        event: usize = "evt" [""],
        /// duration of the decision
        micros: u64 = "solve_us" ["µs"],
    }
}

record! {
    /// A task and its outcome: a row of `tasks`, in file order.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TaskRow {
        /// name of the task
        name: String = "task" [""],
        /// time of submission, or the time of the first event if that is later
        submit: Utc = "submit" ["time"],
        /// time at which the task first held nodes; empty if it never held nodes
        start: Option<Utc> = "start" ["time"],
        /// time at which the task's completion was detected; empty if the task did not finish
        end: Option<Utc> = "end" ["time"],
        /// total work of the task; empty for an endless task
        work: f64 as Finite = "work" ["work"],
        /// work done
        work_done: f64 = "work_done" ["work"],
        /// node-time that the task held
        node_seconds: f64 = "node_seconds" ["node·s"],
        /// number of times the task started (except at the first event of the log), grew or moved to another class
        rescales_up: u32 = "rescales_up" [""],
        /// number of times the task shrank or stopped
        rescales_down: u32 = "rescales_down" [""],
        /// number of times the task lost nodes to the batch scheduler
        preemptions: u32 = "preemptions" [""],
        /// seconds of progress lost to growing, to a start at the first event of the log, and to moving to another
        /// class
        lost_up: f64 = "lost_up_s" ["s"],
        /// seconds of progress lost to shrinking
        lost_down: f64 = "lost_down_s" ["s"],
        /// seconds of progress lost to preemption
        lost_preempted: f64 = "lost_preempted_s" ["s"],
        /// time for which the task was active, with or without nodes
        active_seconds: f64 = "active_s" ["s"],
        /// `work_done` as a share of the work that the task would do in `active_s` at its best rate; empty if the task
        /// was never active or its best rate is 0
        normalised_progress: Option<f64> = "normalised_progress" [""],
        /// time by which the task should finish; empty if the task has no deadline
        deadline: Option<Utc> = "deadline" ["time"],
        /// node-time held while the task ran before its completion; `node_seconds` is the sum of this column and the
        /// next two
        before_completion_node_seconds: f64 = "before_completion_node_seconds" ["node·s"],
        /// node-time held from the task's completion until the next event
        after_completion_node_seconds: f64 = "after_completion_node_seconds" ["node·s"],
        /// node-time held while the task had fewer nodes than it needs to run
        below_minimum_node_seconds: f64 = "below_minimum_node_seconds" ["node·s"],
        /// rate × time: the sum of `work_done` and the next three columns
        gross_work: f64 = "gross_work" ["work"],
        /// work lost to rescaling, including a start at the first event of the log
        rescale_loss: f64 = "rescale_loss" ["work"],
        /// work lost to preemption
        preemption_loss: f64 = "preemption_loss" ["work"],
        /// rate × time from the task's completion until the next event
        after_completion_work: f64 = "after_completion_work" ["work"],
    }
}

impl TaskRow {
    /// Whether the task has a deadline and met it.
    pub fn met_its_deadline(&self) -> bool {
        let both = self.deadline.zip(self.end);
        both.is_some_and(|(deadline, end)| end <= deadline)
    }
}

/// A row of `allocations`: a period during which a task held a node. The rows are sorted by `to`.
/// Periods of the same node never overlap.
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
    /// The column with the node's class. The table has this column only if the log has several classes of nodes.
    pub const CLASS: Field = Field::new(
        "class",
        "",
        "class of the node; only if the log has several classes",
    );

    /// The columns of `allocations`.
    pub const FIELDS: [Field; 4] = [
        Field::new("task", "", "name of the task"),
        Field::new("node", "", "name of the node"),
        Field::new("from", "time", "time at which the task got the node"),
        Field::new(
            "to",
            "time",
            "time at which the task lost or released the node",
        ),
    ];

    /// The table of these rows, with names of tasks and nodes instead of indices. If the nodes are of several classes,
    /// `class_of_node` is the class of each node.
    pub fn table<'a>(
        rows: &[Self],
        tasks: &'a [TaskRow],
        nodes: &'a [String],
        class_of_node: Option<Vec<&'a str>>,
    ) -> Table<'a> {
        let names = |names: Vec<&'a str>, of: fn(&Self) -> u32| Column::Names {
            names,
            indices: rows.iter().map(of).collect(),
        };
        let times = |of: fn(&Self) -> Utc| {
            Column::EveryTime(rows.iter().map(|row| of(row).at_offset(0)).collect())
        };
        let mut columns = vec![
            names(tasks.iter().map(|task| task.name.as_str()).collect(), |r| {
                r.task
            }),
            names(nodes.iter().map(String::as_str).collect(), |r| r.node),
            times(|r| r.from),
            times(|r| r.to),
        ];
        let mut fields = Self::FIELDS.to_vec();
        if let Some(class_of_node) = class_of_node {
            fields.push(Self::CLASS);
            columns.push(names(class_of_node, |r| r.node));
        }
        Table::named("allocations", &fields, columns)
    }
}

record! {
    /// The idle fragments of the log whose lengths are within a range: a row of `fragments`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct FragmentRow {
        /// lower bound of the fragments' lengths, inclusive
        from_s: f64 = "from_s" ["s"],
        /// upper bound of the fragments' lengths, exclusive; empty in the last row
        to_s: Option<f64> = "to_s" ["s"],
        /// number of fragments whose length is within the bounds
        fragments: u64 = "fragments" [""],
        /// idle node-time of the fragments whose length is within the bounds
        node_seconds: f64 = "node_seconds" ["node·s"],
    }
}

record! {
    /// A batch job that started later because a task held its nodes: a row of `delays`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct DelayRow {
        /// time of the event at which the job takes nodes
        time: Utc = "time" ["time"],
        /// index of the event in the log
        event: usize = "evt" [""],
        /// position of the job among the jobs that take nodes at the event, from 1; 0 if the event counts as one job,
        /// because the log does not state which job takes which node
        job: u32 = "job" [""],
        /// number of nodes of the job, idle or not
        nodes: u32 = "nodes" ["nodes"],
        /// number of nodes of the job that tasks held
        nodes_in_use: u32 = "nodes_in_use" ["nodes"],
        /// delay of the job's start
        delay: f64 = "delay_s" ["s"],
        /// `delay_s` × `nodes`
        delayed_node_seconds: f64 = "delayed_node_seconds" ["node·s"],
    }
}

/// The reason why a replay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All tasks had finished.
    TasksFinished,
    /// The log's last event was replayed.
    LogEnded,
    /// The script has no decisions for the events that follow.
    ScriptEnded,
    /// Another round of the tasks would exceed [`MAX_TASKS`].
    TaskLimit,
    /// The replay was interrupted.
    Interrupted,
}

summary! {
    /// The summary of a replay: `summary.json`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Summary {
        /// whether the replay was complete; false after an interrupt
        complete: bool [""],
        /// reason why the replay ended: `tasks_finished`, `log_ended`, `script_ended`, `task_limit` (another round
        /// would exceed the limit of a million tasks), `interrupted`
        ended: Ended [""],
        /// length of the forward window
        t_fwd: f64 ["s"],
        /// maximum number of concurrently active tasks
        max_tasks: usize ["tasks"],
        /// requested objective: a name or an expression
        objective: Objective [""],
        /// expression of the objective (docs/OBJECTIVES.md)
        objective_expression: String [""],
        /// SHA-256 of the objective's source if it is a Python function; null otherwise
        objective_sha256: Option<String> [""],
        /// whether the nodes of a task were reallocated as soon as it finished (`--completion-events`)
        completion_events: bool [""],
        /// rule that chose free nodes for growing tasks: `arrival`, `blocks`, `learned`
        node_choice: NodeRule [""],
        /// solver that made the decisions
        solver: String [""],
        /// formulation of the problems for the solver; null if the solver uses no formulation
        formulation: Option<String> [""],
        /// SHA-256 of the solver's source if it is a Python function; null otherwise
        solver_sha256: Option<String> [""],
        /// first time of the log or its slice, replayed or not
        log_from: String ["time"],
        /// last time of the log or its slice
        log_to: String ["time"],
        /// time between `log_from` and `log_to`
        log_span_seconds: f64 ["s"],
        /// idle node-time in the log or its slice
        log_idle_node_seconds: f64 ["node·s"],
        /// information that the source of the log did not record (docs/OUTPUTS.md); null if nothing is known about the
        /// source
        log_quality: Option<Quality> [""],
        /// share of the log's idle node-time during which jobs waited for nodes, according to the queue at each event;
        /// null if the log has no queue
        log_queued_share: Option<f64> [""],
        /// minimum length of the fragments that tasks could use (`--min-fragment`; such a limit requires hindsight);
        /// null if tasks could use all fragments
        min_fragment_seconds: Option<f64> ["s"],
        /// time of the first event that was replayed
        from: String ["time"],
        /// time of the last event that was replayed
        to: String ["time"],
        /// time between `from` and `to`
        span_seconds: f64 ["s"] shown,
        /// part of `span_seconds` during which tasks were active: submitted, admitted (at most `max_tasks`
        /// concurrently), and not finished
        active_seconds: f64 ["s"],
        /// number of nodes in the log or its slice
        nodes: usize ["nodes"] shown,
        /// number of events after the first
        events: usize [""] shown,
        /// number of events with a proven optimal plan, including those with nothing to decide
        events_optimal: usize [""] shown,
        /// number of events at which no plan better than no change was found in time
        events_kept: usize [""] shown,
        /// number of events at which a group of tasks did not get its minimum number of nodes; null
        /// if no group has a minimum
        events_short: Option<usize> [""] least,
        /// idle node-time in the replayed part of the log: the sum of `unused_node_seconds` and `used_node_seconds`
        idle_node_seconds: f64 ["node·s"] shown,
        /// part of `idle_node_seconds` on nodes that no task held
        unused_node_seconds: f64 ["node·s"] shown,
        /// part of `idle_node_seconds` on nodes that tasks held: the sum of the next three fields
        used_node_seconds: f64 ["node·s"] shown,
        /// node-time held by running tasks before their completion
        before_completion_node_seconds: f64 ["node·s"] shown,
        /// node-time held by finished tasks until the next event; with completion events, 0 except for rounding errors
        after_completion_node_seconds: f64 ["node·s"] shown,
        /// node-time held by tasks with fewer nodes than they need to run
        below_minimum_node_seconds: f64 ["node·s"] shown,
        /// `used_node_seconds` as a share of `idle_node_seconds`; null if there was no idle time
        used_share: Option<f64> [""] most,
        /// `used_node_seconds` in GPU-hours (`--gpus-per-node`); null without this option; likewise, each of the next
        /// three fields is null without its option
        gpu_hours: Option<f64> ["GPU·h"] shown,
        /// energy of the used nodes: `used_node_seconds` × the power of a node (`--node-power`)
        energy_kwh: Option<f64> ["kWh"] shown,
        /// cost of `energy_kwh` (`--price`), in `currency`
        energy_cost: Option<f64> ["currency"] shown,
        /// currency of the price (`--currency`)
        currency: Option<String> [""],
        /// rate × time of all tasks: the sum of the next four fields
        gross_work: f64 ["work"] shown,
        /// useful work done (A)
        total_work: f64 ["work"] most,
        /// work lost to rescaling, including starts at the first event of the log
        rescale_loss: f64 ["work"] least,
        /// work lost to preemption
        preemption_loss: f64 ["work"] least,
        /// rate × time of finished tasks until the next event
        after_completion_work: f64 ["work"] shown,
        /// `total_work` as a share of `gross_work`; null if `gross_work` is 0
        useful_share: Option<f64> [""] most,
        /// mean number of tasks that lost progress at an event, over the events at which nodes left
        /// and tasks were active; null if there was no such event
        tasks_hit_mean: Option<f64> ["tasks"] least,
        /// mean number of idle nodes over `active_seconds`
        equivalent_nodes: f64 ["nodes"] shown,
        /// A_s: work that the tasks active at each moment would do on `equivalent_nodes` dedicated
        /// nodes, with the best split and no interruptions
        dedicated_work: f64 ["work"] shown,
        /// efficiency U = A ÷ A_s; null if A_s is 0
        efficiency: Option<f64> [""] most,
        /// work that the tasks would have done if the best plan of each event had taken effect immediately, and if
        /// rescaling and preemption had cost nothing
        fluid_work: f64 ["work"] shown,
        /// A as a share of `fluid_work`; null if `fluid_work` is 0
        fluid_efficiency: Option<f64> [""] most,
        /// upper bound on the useful work of any allocator, even one that knew the whole log, after the costs of
        /// rescaling and preemption (`--bound`); null if it was not computed
        bound_work: Option<f64> ["work"] shown,
        /// A as a share of `bound_work`; null if `bound_work` is 0 or was not computed
        bound_efficiency: Option<f64> [""] most,
        /// time until a batch job can use a node that a task held (`--hand-back`); null, like the next three fields, if
        /// the option was not given
        hand_back_seconds: Option<f64> ["s"],
        /// number of batch jobs that started later because a task held some of their nodes
        delayed_jobs: Option<usize> ["jobs"] least,
        /// whether each event at which tasks lost nodes counts as one delayed job, because the log does not record
        /// which job took which node
        delayed_jobs_are_events: Option<bool> [""],
        /// sum of delay × nodes over the delayed jobs
        delayed_node_seconds: Option<f64> ["node·s"] least,
        /// number of tasks in all rounds, submitted or not
        tasks: usize [""] shown as "task_count",
        /// number of times the set of tasks was submitted (`--repeat-tasks`)
        rounds: usize [""],
        /// number of endless tasks
        tasks_endless: usize [""],
        /// number of tasks that held nodes at least once
        tasks_started: usize [""] shown,
        /// number of tasks that finished
        tasks_finished: usize [""] most,
        /// number of tasks with a deadline; null if there are no deadlines
        deadlines: Option<usize> ["tasks"],
        /// number of tasks that finished by their deadlines; null if there are no deadlines
        deadlines_met: Option<usize> ["tasks"] most,
        /// mean time from the submission to the end of a task, over finished tasks; for tasks submitted before the
        /// first event, from the first event
        completion_mean_s: Option<f64> ["s"] least,
        /// median of the times whose mean is `completion_mean_s`
        completion_median_s: Option<f64> ["s"] least,
        /// time from the first event until the last completion; null if no task finished
        completion_last_s: Option<f64> ["s"] least,
        /// algorithm of the search, or `python:` and the name of a class; this field and the fields up to `wasted_work`
        /// are null without a search
        search: Option<String> [""],
        /// SHA-256 of the search's source if it is a Python class; null otherwise
        search_sha256: Option<String> [""],
        /// number of trials that were started
        trials_started: Option<usize> ["trials"] shown,
        /// number of trials that were stopped before the last rung
        trials_stopped: Option<usize> ["trials"] shown,
        /// number of trials that reached the last rung
        trials_finished: Option<usize> ["trials"] most,
        /// number of trials that reached at least one rung, per hour of replayed time
        trials_per_hour: Option<f64> ["trials/h"] most,
        /// time from the first event until a trial first reached a rung
        first_rung_s: Option<f64> ["s"] least,
        /// time from the first event until a trial first reached the last rung
        last_rung_s: Option<f64> ["s"] least,
        /// lowest loss of the trials that reached the last rung; null if all of these trials diverged. With several
        /// losses, `best_loss` and `regret` refer to the first loss
        best_loss: Option<f64> ["loss"] least,
        /// time from the first event until the trial with `best_loss` reached the last rung
        best_trial_s: Option<f64> ["s"] least,
        /// final loss of the trial with `best_loss` minus the lowest final loss of all started trials, both without
        /// noise
        regret: Option<f64> ["loss"] least,
        /// number of trials on the non-dominated front; null if the search has one loss, or if no loss was measured. A
        /// trial is on the front if no other trial that reached the last rung is at least as good in all losses and
        /// better in at least one
        front_trials: Option<usize> ["trials"] shown,
        /// work done for trials that did not reach the last rung
        wasted_work: Option<f64> ["work"] least,
        /// lowest `normalised_progress` of the tasks that were active
        fairness_min: Option<f64> [""] most,
        /// Jain's index of `normalised_progress`, (Σx)² ÷ (n·Σx²): 1 if all tasks have the same value, 1/n if only one
        /// of n tasks made progress (Jain, Chiu and Hawe, 1984)
        fairness_jain: Option<f64> [""] most,
    }
}

impl Summary {
    /// Mean number of idle nodes over the replayed time; 0 if no time was replayed.
    pub fn idle_nodes_mean(&self) -> f64 {
        if self.span_seconds > 0.0 {
            self.idle_node_seconds / self.span_seconds
        } else {
            0.0
        }
    }

    /// Notes on results that a reader could overlook or mistake for errors. Each note states the
    /// reason for the result.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.efficiency.is_some_and(|share| share > 1.0 + 1e-9) {
            remarks.push(
                "the efficiency is above 100 %: training did more work than on the same number of \
                 dedicated nodes, because scaling curves are not concave or because \
                 more tasks were active while more nodes were idle (docs/OUTPUTS.md)"
                    .to_owned(),
            );
        }
        if let Some(seconds) = self.min_fragment_seconds {
            remarks.push(format!(
                "fragments shorter than {seconds} s were ignored. No allocator knows how long a node stays idle, so \
                 these results rely on hindsight"
            ));
        }
        if self.delayed_jobs_are_events == Some(true) {
            remarks.push(
                "the log does not state which job took which node, so each event at which tasks lost nodes counts as \
                 one delayed batch job. Each node that left counts as a node of this job. To count the actual jobs, \
                 replay a .gev written by gleaner ingest"
                    .to_owned(),
            );
        }
        let is_early = self.span_seconds < 0.5 * self.log_span_seconds;
        if self.ended == Ended::TasksFinished && is_early && self.search.is_none() {
            remarks.push(format!(
                "all tasks finished long before the end of the log: give them more work, make \
                 them endless (work = {ENDLESS:?}), or repeat them with --repeat-tasks"
            ));
        }
        if self.trials_finished == Some(0) {
            let why = match self.ended {
                Ended::TasksFinished => "there are too few trials for this number of rungs",
                _ => "let the search run longer, or give it more nodes or fewer trials",
            };
            remarks.push(format!("no trial reached the last rung: {why}"));
        }
        if self.ended == Ended::TaskLimit {
            remarks.push(format!(
                "the replay ended after {} rounds of the tasks: another round would exceed the limit of \
                 {MAX_TASKS} tasks; give the tasks more work",
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
    /// Intervals during which a task held a node, in order of their ends.
    pub allocations: Vec<AllocationRow>,
    /// The delayed batch jobs; `None` unless [`Summary::hand_back_seconds`] is set.
    pub delays: Option<Vec<DelayRow>>,
    /// The results of the search; `None` if the tasks are not trained by a search.
    pub search: Option<SearchOutcome>,
    /// The results by class; `None` if the log's nodes are of one class.
    pub classes: Option<ClassOutcome>,
    /// The settings and totals of the replay.
    pub summary: Summary,
}
