//! Compares the fields of `summary.json` with the recomputed accounts.

use super::ledger::{Account, Ledger};
use super::supply::Supply;
use crate::Findings;
use crate::search;
use gleaner_domain::Utc;
use gleaner_domain::results::replay::{Ended, StepStatus};

const FILE: &str = "summary.json";

impl Ledger<'_> {
    /// Compares the fields that can be computed from the tables.
    pub(super) fn compare_summary(&self, findings: &mut Findings) {
        self.compare_log(findings);
        self.compare_end(findings);
        self.compare_counts_of_summary(findings);
        self.compare_totals(findings);
        self.compare_efficiency(findings);
        self.compare_bound(findings);
        self.compare_deadlines(findings);
        self.compare_completions(findings);
        self.compare_fairness(findings);
    }

    /// Compares the tables of the search, and the search's figures in the summary.
    pub(super) fn compare_search(&mut self, findings: &mut Findings) {
        let (start, now, summary) = (self.start, self.now, self.written.summary);
        match (&mut self.supply, self.written.search) {
            (Supply::Search(trials), Some(written)) => {
                let work = self.accounts.iter().map(|account| account.work_done);
                trials.compare(written, start, work, findings);
                trials.compare_figures(summary, start, now, findings);
            }
            (Supply::Listed(_), None) => {
                search::cover(findings);
                let is_none = summary.search.is_none() && search::has_no_figure(summary);
                findings.holds(is_none, || {
                    format!("{FILE}: found figures of a search, but no search trained the tasks")
                });
            }
            (_, written) => findings.add(|| match written {
                None => "search.parquet is missing, but a search trained the tasks".into(),
                Some(_) => "search.parquet exists, but no search trained the tasks".into(),
            }),
        }
    }

    /// Compares the fields that describe the log.
    fn compare_log(&self, findings: &mut Findings) {
        let (s, log) = (self.written.summary, self.inputs.log);
        let end = log.times().last().copied().unwrap_or(self.start);
        for (field, written, expected) in [
            ("log_from", &s.log_from, self.start),
            ("log_to", &s.log_to, end),
            ("from", &s.from, self.start),
            ("to", &s.to, self.now),
        ] {
            findings.equal(
                format_args!("{FILE}: {field}"),
                written,
                &expected.at_offset(0).to_string(),
            );
        }
        let (mut idle, mut idle_seconds, mut last) = (0i64, 0.0, self.start);
        for (time, changes) in log.rows() {
            idle_seconds += idle as f64 * time.seconds_since(last);
            let joined = changes.iter().filter(|change| change.idle()).count() as i64;
            idle += 2 * joined - changes.len() as i64;
            last = time;
        }
        for (field, written, expected) in [
            (
                "log_span_seconds",
                s.log_span_seconds,
                end.seconds_since(self.start),
            ),
            (
                "log_idle_node_seconds",
                s.log_idle_node_seconds,
                idle_seconds,
            ),
            (
                "span_seconds",
                s.span_seconds,
                self.now.seconds_since(self.start),
            ),
        ] {
            findings.number(format_args!("{FILE}: {field}"), written, expected);
        }
        findings.equal(format_args!("{FILE}: nodes"), s.nodes, log.nodes().len());
        let is_same = s.log_quality.as_ref() == log.quality();
        findings.holds(is_same, || {
            format!("{FILE}: log_quality differs from the quality of the log")
        });
        self.compare_queue(findings);
        findings.option(
            format_args!("{FILE}: min_fragment_seconds"),
            s.min_fragment_seconds,
            self.inputs.min_fragment,
        );
        findings.covers(
            FILE,
            [
                "log_from",
                "log_to",
                "from",
                "to",
                "log_span_seconds",
                "log_idle_node_seconds",
                "log_quality",
                "log_queued_share",
                "min_fragment_seconds",
            ],
        );
        findings.covers(FILE, ["span_seconds", "nodes"]);
    }

    /// Recomputes, node by node, the share of idle node-time during which jobs waited, and compares
    /// it with the recorded share.
    fn compare_queue(&self, findings: &mut Findings) {
        let log = self.inputs.log;
        let mut since = vec![None; log.nodes().len()];
        let (mut all, mut queued) = (0.0, 0.0);
        let mut is_known = true;
        for (row, (time, changes)) in log.rows().enumerate() {
            let jobs = row
                .checked_sub(1)
                .map(|row| log.queue(row).and_then(|q| q.pending));
            let jobs = jobs.map(|pending| pending.map(|pending| pending.jobs));
            is_known &= jobs != Some(None);
            let last = row.checked_sub(1).map_or(time, |row| log.times()[row]);
            let idle = since.iter().flatten().count() as f64;
            all += idle * time.seconds_since(last);
            if jobs.flatten().is_some_and(|jobs| jobs > 0) {
                queued += idle * time.seconds_since(last);
            }
            for change in changes {
                since[change.node() as usize] = change.idle().then_some(time);
            }
        }
        findings.option(
            format_args!("{FILE}: log_queued_share"),
            self.written.summary.log_queued_share,
            (is_known && all > 0.0).then(|| queued / all),
        );
    }

    /// Compares the reason why the replay ended.
    fn compare_end(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let is_at_end = self.event + 1 == self.inputs.log.len();
        let is_scripted = s.solver == "scripted";
        let is_so = match s.ended {
            Ended::TasksFinished => self.is_over && !self.inputs.repeat,
            Ended::TaskLimit => self.is_over && self.inputs.repeat,
            Ended::LogEnded => is_at_end && !self.is_over,
            Ended::ScriptEnded => !is_at_end && !self.is_over && is_scripted,
            Ended::Interrupted => !is_at_end && !self.is_over,
        };
        findings.holds(is_so, || {
            format!(
                "{FILE}: ended is {:?}, which contradicts the tables",
                s.ended
            )
        });
        let is_complete = s.ended != Ended::Interrupted;
        findings.equal(format_args!("{FILE}: complete"), s.complete, is_complete);
        findings.covers(FILE, ["ended", "complete"]);
    }

    fn compare_counts_of_summary(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let steps = self.written.steps;
        let with = |status: StepStatus| steps.iter().filter(|row| row.status == status).count();
        let accounts = |is: fn(&Account) -> bool| self.accounts.iter().filter(|a| is(a)).count();
        // The allocations do not show which tasks got their first nodes from the last decision.
        let started = self.written.tasks.iter().filter(|row| row.start.is_some());
        let endless = self.tasks.iter().filter(|task| task.work == f64::INFINITY);
        let rounds = match &self.supply {
            Supply::Listed(listed) => listed.rounds,
            Supply::Search(_) => 1,
        };
        for (field, written, expected) in [
            ("events", s.events, steps.len()),
            (
                "events_optimal",
                s.events_optimal,
                with(StepStatus::Optimal) + with(StepStatus::Trivial),
            ),
            ("events_kept", s.events_kept, with(StepStatus::Kept)),
            ("tasks", s.tasks, self.tasks.len()),
            ("rounds", s.rounds, rounds),
            ("tasks_endless", s.tasks_endless, endless.count()),
            ("tasks_started", s.tasks_started, started.count()),
            (
                "tasks_finished",
                s.tasks_finished,
                accounts(|a| a.end.is_some()),
            ),
        ] {
            findings.equal(format_args!("{FILE}: {field}"), written, expected);
            findings.covers(FILE, [field]);
        }
        self.compare_short(findings);
    }

    /// Compares the number of events at which the groups' minimum numbers of nodes could not be
    /// met. The check counts only events at which no plan exists; a solver may also fail to find a
    /// plan that exists.
    fn compare_short(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let has_minimum = self
            .inputs
            .groups
            .iter()
            .any(|group| group.min_nodes.is_some());
        let place = format!("{FILE}: events_short");
        findings.equal(&place, s.events_short.is_some(), has_minimum);
        match (s.events_short, self.short) {
            (Some(written), Some(short)) if s.solver == "exact" => {
                findings.equal(&place, written, short);
            }
            (Some(_), _) => {
                let why = match self.short {
                    None if self.inputs.classes.is_some() => {
                        "the check does not search for plans on nodes of several classes"
                    }
                    None => "a task is in two groups",
                    Some(_) => "only the solver knows whether it found a plan",
                };
                findings.not_verified(FILE, "events_short", why);
                return;
            }
            (None, _) => {}
        }
        findings.covers(FILE, ["events_short"]);
    }

    fn compare_totals(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let done: f64 = self.accounts.iter().map(|account| account.work_done).sum();
        for (field, written, expected) in [
            ("total_work", s.total_work, done),
            ("used_node_seconds", s.used_node_seconds, self.spent.used),
            (
                "idle_node_seconds",
                s.idle_node_seconds,
                self.idle_node_seconds,
            ),
            ("active_seconds", s.active_seconds, self.active_seconds),
            ("rescale_loss", s.rescale_loss, self.spent.rescale),
            ("preemption_loss", s.preemption_loss, self.spent.preemption),
            (
                "unused_node_seconds",
                s.unused_node_seconds,
                self.idle_node_seconds - self.spent.used,
            ),
            (
                "before_completion_node_seconds",
                s.before_completion_node_seconds,
                self.spent.before(),
            ),
            (
                "after_completion_node_seconds",
                s.after_completion_node_seconds,
                self.spent.after,
            ),
            (
                "below_minimum_node_seconds",
                s.below_minimum_node_seconds,
                self.spent.below,
            ),
            ("gross_work", s.gross_work, self.spent.gross),
            (
                "after_completion_work",
                s.after_completion_work,
                self.spent.after_work,
            ),
        ] {
            findings.number(format_args!("{FILE}: {field}"), written, expected);
            findings.covers(FILE, [field]);
        }
        let share = |part: f64, of: f64| (of > 0.0).then(|| part / of);
        for (field, written, expected) in [
            (
                "used_share",
                s.used_share,
                share(self.spent.used, self.idle_node_seconds),
            ),
            (
                "useful_share",
                s.useful_share,
                share(done, self.spent.gross),
            ),
        ] {
            findings.option(format_args!("{FILE}: {field}"), written, expected);
            findings.covers(FILE, [field]);
        }
        let (events, tasks) = self.hits;
        findings.option(
            format_args!("{FILE}: tasks_hit_mean"),
            s.tasks_hit_mean,
            (events > 0).then(|| tasks as f64 / events as f64),
        );
        findings.covers(FILE, ["tasks_hit_mean"]);
    }

    /// Compares the work that dedicated nodes would have done. Also compares the work that the best
    /// plan at every event would have done if rescaling were free.
    fn compare_efficiency(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let share = |of: f64| (of > 0.0).then(|| s.total_work / of);
        let mean = |node_seconds: &f64| {
            if self.active_seconds > 0.0 {
                node_seconds / self.active_seconds
            } else {
                0.0
            }
        };
        let equivalent: Vec<f64> = self.active_idle.iter().map(mean).collect();
        findings.number(
            format_args!("{FILE}: equivalent_nodes"),
            s.equivalent_nodes,
            equivalent.iter().sum(),
        );
        let why = "too many different sets of tasks were active to find the best split of the nodes for each set";
        let dedicated = self.spans.iter().map(|(members, seconds)| {
            let rates = self.rates.known(members)?;
            Some(rates.between(&equivalent) * seconds)
        });
        let dedicated: Option<f64> = dedicated.sum();
        for (field, written, expected) in [
            ("dedicated_work", s.dedicated_work, dedicated),
            ("fluid_work", s.fluid_work, self.fluid_work),
        ] {
            match expected {
                None => findings.not_verified(FILE, field, why),
                Some(expected) => {
                    findings.number(format_args!("{FILE}: {field}"), written, expected);
                    findings.covers(FILE, [field]);
                }
            }
        }
        for (field, written, of) in [
            ("efficiency", s.efficiency, s.dedicated_work),
            ("fluid_efficiency", s.fluid_efficiency, s.fluid_work),
        ] {
            findings.option(format_args!("{FILE}: {field}"), written, share(of));
            findings.covers(FILE, [field]);
        }
        findings.covers(FILE, ["equivalent_nodes"]);
        findings.holds(s.total_work <= s.fluid_work * (1.0 + 1e-9), || {
            format!(
                "{FILE}: total_work is {}, more than fluid_work ({})",
                s.total_work, s.fluid_work
            )
        });
    }

    fn compare_bound(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let share = |of: f64| (of > 0.0).then(|| s.total_work / of);
        findings.option(
            format_args!("{FILE}: bound_efficiency"),
            s.bound_efficiency,
            s.bound_work.and_then(share),
        );
        findings.covers(FILE, ["bound_efficiency"]);
        match s.bound_work {
            None => findings.covers(FILE, ["bound_work"]),
            Some(bound) => {
                let why = "no second method computes the bound; the check verifies only that \
                           it is at least total_work";
                findings.not_verified(FILE, "bound_work", why);
                findings.holds(s.total_work <= bound * (1.0 + 1e-9), || {
                    format!(
                        "{FILE}: total_work is {}, more than the upper bound ({bound})",
                        s.total_work
                    )
                });
            }
        }
    }

    fn compare_deadlines(&self, findings: &mut Findings) {
        let tasks = self.tasks.iter().zip(&self.accounts);
        let due = tasks.filter_map(|(task, account)| Some((task.deadline?, account.end)));
        let due: Vec<(Utc, Option<Utc>)> = due.collect();
        let is_met = |(deadline, end): &&(Utc, Option<Utc>)| end.is_some_and(|e| e <= *deadline);
        let met = due.iter().filter(is_met).count();
        let expected = |count: usize| (!due.is_empty()).then_some(count as f64);
        let written = |count: Option<usize>| count.map(|count| count as f64);
        let s = self.written.summary;
        for (field, count, follows) in [
            ("deadlines", s.deadlines, due.len()),
            ("deadlines_met", s.deadlines_met, met),
        ] {
            findings.option(
                format_args!("{FILE}: {field}"),
                written(count),
                expected(follows),
            );
            findings.covers(FILE, [field]);
        }
    }

    fn compare_completions(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let tasks = self.tasks.iter().zip(&self.accounts);
        let ended = tasks.filter_map(|(task, account)| Some((task.submit, account.end?)));
        let ended: Vec<(Utc, Utc)> = ended.collect();
        let seconds = ended.iter().map(|(submit, end)| end.seconds_since(*submit));
        let mut seconds: Vec<f64> = seconds.collect();
        seconds.sort_by(f64::total_cmp);
        let count = seconds.len();
        let mean = (count > 0).then(|| seconds.iter().sum::<f64>() / count as f64);
        let median = (count > 0).then(|| (seconds[(count - 1) / 2] + seconds[count / 2]) / 2.0);
        let last = ended.iter().map(|(_, end)| end.seconds_since(self.start));
        for (field, written, expected) in [
            ("completion_mean_s", s.completion_mean_s, mean),
            ("completion_median_s", s.completion_median_s, median),
            (
                "completion_last_s",
                s.completion_last_s,
                last.reduce(f64::max),
            ),
        ] {
            findings.option(format_args!("{FILE}: {field}"), written, expected);
            findings.covers(FILE, [field]);
        }
    }

    /// Compares the measures of fairness between tasks: the minimum normalised progress, and Jain's
    /// index.
    fn compare_fairness(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let shares = self
            .written
            .tasks
            .iter()
            .filter_map(|row| row.normalised_progress);
        let shares: Vec<f64> = shares.collect();
        let sum: f64 = shares.iter().sum();
        let squares: f64 = shares.iter().map(|share| share * share).sum();
        let jain = (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares));
        for (field, written, expected) in [
            (
                "fairness_min",
                s.fairness_min,
                shares.iter().copied().reduce(f64::min),
            ),
            ("fairness_jain", s.fairness_jain, jain),
        ] {
            findings.option(format_args!("{FILE}: {field}"), written, expected);
            findings.covers(FILE, [field]);
        }
    }
}
