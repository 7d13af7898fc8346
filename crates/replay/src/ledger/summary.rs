//! Closes a ledger: computes efficiency, totals and the summary.

use gleaner_domain::Observer;
use gleaner_domain::results::replay::{DelayRow, Ended, Outcome, StepStatus, Summary, TaskRow};
use gleaner_domain::results::search::SearchOutcome;
use gleaner_domain::{EventLog, TrainingTask, Utc};

use super::Ledger;
use super::class_book::ClassBook;
use super::efficiency::Measured;
use super::fairness::{RunFairness, normalised_progress};
use super::steps::Steps;
use super::trial_figures::{Span, TrialFigures};
use super::yardsticks::Yardsticks;
use crate::allocator::Allocator;
use crate::allocator::decide::Decider;
use crate::bound;
use crate::options::Options;

/// The inputs of the summary, except for the accounts.
pub(crate) struct Closing<'a> {
    pub log: &'a EventLog,
    pub options: &'a Options,
    pub decider: &'a dyn Decider,
    /// The reason why the replay ended.
    pub ended: Ended,
    /// The observer, whose stop flag can end the computation of the bound early.
    pub observer: &'a dyn Observer,
}

impl Ledger {
    /// Closes all intervals and accounts, and summarises the run. Computing the bound can take minutes. If
    /// the computation is stopped, the run counts as interrupted.
    pub fn close(mut self, allocator: Allocator<'_>, mut closing: Closing<'_>) -> Outcome {
        self.release(allocator.holdings());
        let tasks = allocator.tasks();
        for (account, task) in self.accounts.iter_mut().zip(tasks) {
            account.normalised_progress = normalised_progress(task, account);
        }
        let span = Span {
            from: self.start,
            to: self.now,
        };
        let compared = Compared::of(self.yardsticks, tasks, &mut closing);
        let counts = Counts {
            tasks: tasks.len(),
            endless: tasks.iter().filter(|task| task.is_endless()).count(),
            rounds: allocator.rounds().unwrap_or(1),
            has_minimums: allocator.has_minimums(),
            search: allocator.search_name(),
        };
        let accounts = &self.accounts;
        let search = allocator.into_search(|task| accounts[task as usize].work_done);
        let parts = Parts {
            span,
            steps: &self.steps,
            accounts,
            compared,
            counts,
            delays: &self.delays.rows,
            search: search.as_ref(),
        };
        let summary = parts.summary(&closing);
        Outcome {
            steps: self.steps.rows,
            timings: self.steps.timings,
            tasks: self.accounts,
            allocations: self.holds.rows,
            delays: self.delays.finish(),
            search,
            classes: self.book.map(ClassBook::finish),
            summary,
        }
    }
}

/// The reference values that the run is compared with.
struct Compared {
    measured: Measured,
    bound: Option<f64>,
}

impl Compared {
    /// Computes the reference values. Marks the run as interrupted if the computation of the bound was stopped.
    fn of(yardsticks: Yardsticks, tasks: &[TrainingTask], closing: &mut Closing<'_>) -> Self {
        let measured = yardsticks.efficiency.finish(tasks);
        // The best split at every moment also gives an upper bound. If curves are not concave, this bound can
        // be tighter than the computed one.
        let bound = yardsticks.course.and_then(|course| {
            let nodes = closing.log.nodes().len() as u32;
            let found = bound::bound(&course.finish(tasks, nodes), closing.observer);
            if found.is_none() {
                closing.ended = Ended::Interrupted;
            }
            found.map(|found| found.min(measured.fluid_work))
        });
        Compared { measured, bound }
    }
}

/// What the summary takes from the allocator.
struct Counts {
    tasks: usize,
    endless: usize,
    rounds: usize,
    has_minimums: bool,
    /// Name of the search, if there is one.
    search: Option<String>,
}

/// All inputs of the summary.
struct Parts<'a> {
    span: Span,
    steps: &'a Steps,
    accounts: &'a [TaskRow],
    compared: Compared,
    counts: Counts,
    delays: &'a [DelayRow],
    search: Option<&'a SearchOutcome>,
}

impl Parts<'_> {
    /// Sums a column over all tasks.
    fn total(&self, of: fn(&TaskRow) -> f64) -> f64 {
        self.accounts.iter().map(of).sum()
    }

    /// Number of tasks for which the predicate `of` holds.
    fn count(&self, of: fn(&TaskRow) -> bool) -> usize {
        self.accounts.iter().filter(|account| of(account)).count()
    }

    /// Number of steps with this status.
    fn steps_with(&self, status: StepStatus) -> usize {
        let steps = self.steps.rows.iter();
        steps.filter(|step| step.status == status).count()
    }

    /// Mean number of preempted tasks per event at which nodes left while tasks were active.
    fn tasks_hit_mean(&self) -> Option<f64> {
        let hits = self.steps.rows.iter().map(|s| u64::from(s.tasks_preempted));
        let (hits, losses): (u64, u64) = (hits.sum(), self.steps.losses);
        (losses > 0).then(|| hits as f64 / losses as f64)
    }

    fn summary(&self, closing: &Closing<'_>) -> Summary {
        let (log, options) = (closing.log, closing.options);
        let Compared { measured, bound } = &self.compared;
        let Span { from: start, to } = self.span;
        let log_end = log.times().last().copied().unwrap_or(start);
        let shown = |time| log.clock().steady(time).to_string();
        let total_work = self.total(|a| a.work_done);
        let share = |of: f64| (of > 0.0).then(|| total_work / of);
        let (used, gross_work) = (self.total(|a| a.node_seconds), self.total(|a| a.gross_work));
        let idle = measured.idle_node_seconds;
        let fairness = RunFairness::of(self.accounts);
        let completions = Completions::of(self.accounts, start);
        let deadlines = Some(self.count(|a| a.deadline.is_some())).filter(|count| *count > 0);
        let trials = self
            .search
            .map(|search| TrialFigures::of(search, &self.span));
        let of_trials = |of: fn(&TrialFigures) -> Option<f64>| trials.as_ref().and_then(of);
        let count_trials = |of: fn(&TrialFigures) -> usize| trials.as_ref().map(of);
        Summary {
            complete: closing.ended != Ended::Interrupted,
            ended: closing.ended,
            t_fwd: options.t_fwd,
            max_tasks: options.max_tasks,
            solver: closing.decider.name().to_owned(),
            formulation: closing.decider.formulation().map(str::to_owned),
            log_from: shown(start),
            log_to: shown(log_end),
            log_span_seconds: log_end.seconds_since(start),
            log_idle_node_seconds: log.idle_node_seconds(),
            log_quality: log.quality().cloned(),
            log_queued_share: log.idle_share_while_queued(),
            min_fragment_seconds: options.min_fragment,
            active_seconds: measured.active_seconds,
            objective: options.objective.clone(),
            objective_expression: options.objective.expression(),
            // The Python package sets these fields.
            objective_sha256: None,
            solver_sha256: None,
            completion_events: options.completion_events,
            node_choice: options.node_choice,
            from: shown(start),
            to: shown(to),
            span_seconds: self.span.seconds(),
            nodes: log.nodes().len(),
            events: self.steps.rows.len(),
            events_optimal: self.steps_with(StepStatus::Optimal)
                + self.steps_with(StepStatus::Trivial),
            events_kept: self.steps_with(StepStatus::Kept),
            events_short: self.counts.has_minimums.then_some(self.steps.short),
            idle_node_seconds: idle,
            unused_node_seconds: self.steps.rows.iter().map(|s| s.unused_node_seconds).sum(),
            used_node_seconds: used,
            before_completion_node_seconds: self.total(|a| a.before_completion_node_seconds),
            after_completion_node_seconds: self.total(|a| a.after_completion_node_seconds),
            below_minimum_node_seconds: self.total(|a| a.below_minimum_node_seconds),
            used_share: (idle > 0.0).then(|| used / idle),
            gpu_hours: options.rates.gpu_hours(used),
            energy_kwh: options.rates.energy_kwh(used),
            energy_cost: options.rates.energy_cost(used),
            currency: options.rates.currency.clone(),
            gross_work,
            total_work,
            rescale_loss: self.total(|a| a.rescale_loss),
            preemption_loss: self.total(|a| a.preemption_loss),
            after_completion_work: self.total(|a| a.after_completion_work),
            useful_share: share(gross_work),
            tasks_hit_mean: self.tasks_hit_mean(),
            equivalent_nodes: measured.equivalent_nodes,
            dedicated_work: measured.dedicated_work,
            efficiency: share(measured.dedicated_work),
            fluid_work: measured.fluid_work,
            fluid_efficiency: share(measured.fluid_work),
            bound_work: *bound,
            bound_efficiency: bound.and_then(share),
            hand_back_seconds: options.hand_back,
            delayed_jobs: options.hand_back.map(|_| self.delays.len()),
            delayed_jobs_are_events: options.hand_back.map(|_| !log.has_queue()),
            delayed_node_seconds: options
                .hand_back
                .map(|_| self.delays.iter().map(|row| row.delayed_node_seconds).sum()),
            tasks: self.counts.tasks,
            rounds: self.counts.rounds,
            tasks_endless: self.counts.endless,
            tasks_started: self.count(|a| a.start.is_some()),
            tasks_finished: completions.seconds.len(),
            deadlines,
            deadlines_met: deadlines.map(|_| self.count(TaskRow::met_its_deadline)),
            completion_mean_s: completions.mean(),
            completion_median_s: completions.median(),
            completion_last_s: completions.last,
            search: self.counts.search.clone(),
            search_sha256: None,
            trials_started: count_trials(|t| t.started),
            trials_stopped: count_trials(|t| t.stopped),
            trials_finished: count_trials(|t| t.finished),
            trials_per_hour: of_trials(|t| t.per_hour),
            first_rung_s: of_trials(|t| t.first_rung_s),
            last_rung_s: of_trials(|t| t.last_rung_s),
            best_loss: of_trials(|t| t.best_loss),
            best_trial_s: of_trials(|t| t.best_trial_s),
            regret: of_trials(|t| t.regret),
            front_trials: trials.as_ref().and_then(|t| t.front_trials),
            wasted_work: trials.as_ref().map(|t| t.wasted_work),
            fairness_min: fairness.min,
            fairness_jain: fairness.jain,
        }
    }
}

/// Completion times of the finished tasks.
struct Completions {
    /// Seconds from submission to end for each finished task, ascending.
    seconds: Vec<f64>,
    /// Seconds from event 0 to the last completion; `None` if no task finished.
    last: Option<f64>,
}

impl Completions {
    fn of(accounts: &[TaskRow], start: Utc) -> Self {
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
