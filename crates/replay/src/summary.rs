//! The end of a run: efficiency and totals.

use std::sync::atomic::AtomicBool;

use super::engine::Engine;
use super::fairness::{RunFairness, normalised_progress};
use super::supply::Supply;
use super::trial_figures::{Span, TrialFigures};
use gleaner_core::domain::Time;
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::replay::{Ended, StepStatus, Summary, TaskRow};

impl Engine<'_> {
    /// Closes all intervals and accounts, and summarises the run. If `stop` is set, the bound, which can
    /// take minutes, is skipped, and the run counts as interrupted.
    pub(super) fn finish(mut self, mut ended: Ended, stop: &AtomicBool) -> Outcome {
        for k in 0..self.active.len() {
            let task = self.active[k].task;
            for node in self.active[k].held.iter().collect::<Vec<_>>() {
                self.close(task, node);
            }
        }
        for (account, task) in self.accounts.iter_mut().zip(self.tasks.iter()) {
            account.normalised_progress = normalised_progress(task, account);
        }
        let fairness = RunFairness::of(&self.accounts);
        let measured = self.efficiency.finish(&self.tasks);
        let total_work: f64 = self.accounts.iter().map(|a| a.work_done).sum();
        let share = |of: f64| (of > 0.0).then(|| total_work / of);
        let tasks = |of: fn(&TaskRow) -> f64| self.accounts.iter().map(of).sum::<f64>();
        let (used, gross_work) = (tasks(|a| a.node_seconds), tasks(|a| a.gross_work));
        let idle = measured.idle_node_seconds;
        // The best split of every moment is also a bound, and can be the better one where curves are not
        // concave.
        let bound = self.course.and_then(|course| {
            let nodes = self.log.nodes().len() as u32;
            let found = gleaner_bound::bound(&course.finish(&self.tasks, nodes), stop);
            if found.is_none() {
                ended = Ended::Interrupted;
            }
            found.map(|found| found.min(measured.fluid_work))
        });
        let count = |status| self.steps.iter().filter(|s| s.status == status).count();
        let span = Span {
            from: self.start,
            to: self.now,
        };
        let completions = Completions::of(&self.accounts, self.start);
        let deadlines = self
            .accounts
            .iter()
            .filter(|a| a.deadline.is_some())
            .count();
        let met = self
            .accounts
            .iter()
            .filter(|a| a.met_its_deadline())
            .count();
        let log_end = self.log.times().last().copied().unwrap_or(self.start);
        let hits: u64 = self
            .steps
            .iter()
            .map(|s| u64::from(s.tasks_preempted))
            .sum();
        let search = match self.supply {
            Supply::Search(trials) => Some(trials.outcome(&self.accounts)),
            Supply::Listed { .. } => None,
        };
        let trials = search
            .as_ref()
            .map(|outcome| TrialFigures::of(outcome, &span));
        let of_trials = |of: fn(&TrialFigures) -> Option<f64>| trials.as_ref().and_then(of);
        let count_trials = |of: fn(&TrialFigures) -> usize| trials.as_ref().map(of);
        let summary = Summary {
            complete: ended != Ended::Interrupted,
            ended,
            t_fwd: self.options.t_fwd,
            max_tasks: self.options.max_tasks,
            solver: self.decider.name().to_owned(),
            formulation: self.decider.formulation().map(str::to_owned),
            log_from: self.start.to_string(),
            log_to: log_end.to_string(),
            log_span_seconds: log_end.seconds_since(self.start),
            log_idle_node_seconds: self.log.idle_node_seconds(),
            active_seconds: measured.active_seconds,
            objective: self.options.objective.clone(),
            objective_expression: self.options.objective.expression(),
            // Callers from Python fill these in.
            objective_sha256: None,
            solver_sha256: None,
            completion_events: self.options.completion_events,
            node_choice: self.options.node_choice,
            from: self.start.to_string(),
            to: self.now.to_string(),
            span_seconds: span.seconds(),
            nodes: self.log.nodes().len(),
            events: self.steps.len(),
            events_optimal: count(StepStatus::Optimal) + count(StepStatus::Trivial),
            events_kept: count(StepStatus::Kept),
            events_short: self.groups.any_minimum().then_some(self.events_short),
            idle_node_seconds: idle,
            unused_node_seconds: self.steps.iter().map(|s| s.unused_node_seconds).sum(),
            used_node_seconds: used,
            before_completion_node_seconds: tasks(|a| a.before_completion_node_seconds),
            after_completion_node_seconds: tasks(|a| a.after_completion_node_seconds),
            below_minimum_node_seconds: tasks(|a| a.below_minimum_node_seconds),
            used_share: (idle > 0.0).then(|| used / idle),
            gross_work,
            total_work,
            rescale_loss: tasks(|a| a.rescale_loss),
            preemption_loss: tasks(|a| a.preemption_loss),
            after_completion_work: tasks(|a| a.after_completion_work),
            useful_share: share(gross_work),
            tasks_hit_mean: (self.losses > 0).then(|| hits as f64 / self.losses as f64),
            equivalent_nodes: measured.equivalent_nodes,
            dedicated_work: measured.dedicated_work,
            efficiency: share(measured.dedicated_work),
            fluid_work: measured.fluid_work,
            fluid_efficiency: share(measured.fluid_work),
            bound_work: bound,
            bound_efficiency: bound.and_then(share),
            tasks: self.tasks.len(),
            rounds: self.rounds.as_ref().map_or(1, |rounds| rounds.count),
            tasks_endless: self.tasks.iter().filter(|t| t.is_endless()).count(),
            tasks_started: self.accounts.iter().filter(|a| a.start.is_some()).count(),
            tasks_finished: completions.seconds.len(),
            deadlines: (deadlines > 0).then_some(deadlines),
            deadlines_met: (deadlines > 0).then_some(met),
            completion_mean_s: completions.mean(),
            completion_median_s: completions.median(),
            completion_last_s: completions.last,
            search: self
                .options
                .search
                .as_ref()
                .map(|search| search.plan.algorithm),
            trials_started: count_trials(|t| t.started),
            trials_stopped: count_trials(|t| t.stopped),
            trials_finished: count_trials(|t| t.finished),
            trials_per_hour: of_trials(|t| t.per_hour),
            first_rung_s: of_trials(|t| t.first_rung_s),
            last_rung_s: of_trials(|t| t.last_rung_s),
            best_loss: of_trials(|t| t.best_loss),
            best_trial_s: of_trials(|t| t.best_trial_s),
            regret: of_trials(|t| t.regret),
            wasted_work: trials.as_ref().map(|t| t.wasted_work),
            fairness_min: fairness.min,
            fairness_jain: fairness.jain,
        };
        Outcome {
            steps: self.steps,
            timings: self.timings,
            tasks: self.accounts,
            allocations: self.allocations,
            search,
            summary,
        }
    }
}

/// Completion times of the finished tasks.
struct Completions {
    /// Seconds from submission to end of each, ascending.
    seconds: Vec<f64>,
    /// Seconds from event 0 to the last end; `None` if no task finished.
    last: Option<f64>,
}

impl Completions {
    fn of(accounts: &[TaskRow], start: Time) -> Self {
        let ended = || accounts.iter().filter_map(|a| Some((a, a.end?)));
        let mut seconds: Vec<f64> = ended()
            .map(|(a, end)| end.seconds_since(a.submit))
            .collect();
        seconds.sort_by(f64::total_cmp);
        let last = ended()
            .map(|(_, end)| end.seconds_since(start))
            .reduce(f64::max);
        Completions { seconds, last }
    }

    fn mean(&self) -> Option<f64> {
        let count = self.seconds.len();
        (count > 0).then(|| self.seconds.iter().sum::<f64>() / count as f64)
    }

    fn median(&self) -> Option<f64> {
        let (low, high) = (
            self.seconds.len().checked_sub(1)? / 2,
            self.seconds.len() / 2,
        );
        Some((self.seconds[low] + self.seconds[high]) / 2.0)
    }
}
