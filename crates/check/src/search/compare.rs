//! Compares the recorded tables and figures of a search with a search that is recomputed from the
//! settings.

use std::fmt::Display;

use super::Trials;
use crate::Findings;
use gleaner_domain::Utc;
use gleaner_domain::results::replay::Summary;
use gleaner_domain::results::search::{
    Losses, RungRow, SearchOutcome, SearchRow, TrialEvent, TrialRow, TrialState,
};
use gleaner_domain::results::{Named, Record};

/// The fields of `summary.json` that describe a search.
const FIELDS: [&str; 12] = [
    "search",
    "trials_started",
    "trials_stopped",
    "trials_finished",
    "trials_per_hour",
    "first_rung_s",
    "last_rung_s",
    "best_loss",
    "best_trial_s",
    "regret",
    "front_trials",
    "wasted_work",
];

/// Records that the fields of `summary.json` that describe a search are verified.
pub(crate) fn cover(findings: &mut Findings) {
    findings.covers("summary.json", FIELDS);
}

/// Whether a summary contains no figures of a search.
pub(crate) fn has_no_figure(s: &Summary) -> bool {
    let counts = [
        s.trials_started,
        s.trials_stopped,
        s.trials_finished,
        s.front_trials,
    ];
    let figures = [
        s.trials_per_hour,
        s.first_rung_s,
        s.last_rung_s,
        s.best_loss,
        s.best_trial_s,
        s.regret,
        s.wasted_work,
    ];
    counts.iter().all(Option::is_none) && figures.iter().all(Option::is_none)
}

impl Trials<'_> {
    /// Compares the recorded tables with the recomputed tables. `work_done` lists the work of the replay's tasks in
    /// order.
    pub(crate) fn compare(
        &mut self,
        written: &SearchOutcome,
        start: Utc,
        work_done: impl Iterator<Item = f64>,
        findings: &mut Findings,
    ) {
        for (job, work) in self.jobs.iter().zip(work_done) {
            self.trials[job.trial as usize].work_done += work;
        }
        self.rank();
        let names = |fields: &[gleaner_domain::results::Field]| {
            fields.iter().map(|field| field.name).collect::<Vec<_>>()
        };
        findings.covers("search", names(SearchRow::FIELDS));
        findings.covers("trials", names(TrialRow::FIELDS));
        findings.covers("rungs", names(RungRow::FIELDS));
        if self.losses.are_proposed() {
            let why = "the algorithm's proposals are not recomputed, only their losses";
            findings.not_verified("trials", "parameters", why);
        }
        rows("search", &written.events, &self.events, event, findings);
        rows("trials", &written.trials, &self.trials, trial, findings);
        rows("rungs", &written.rungs, &self.rungs(start), rung, findings);
    }

    /// Compares the figures of the search in `summary.json` with the recomputed figures.
    pub(crate) fn compare_figures(&self, s: &Summary, from: Utc, to: Utc, findings: &mut Findings) {
        cover(findings);
        let algorithm = self.spec.plan.algorithm.as_str();
        let written = s.search.as_deref().unwrap_or("missing");
        findings.equal("summary.json: search", written, algorithm);
        let count = |state| self.trials.iter().filter(|t| t.state == state).count();
        let finished = self
            .trials
            .iter()
            .filter(|t| t.state == TrialState::Finished);
        let since = |time: Utc| time.seconds_since(from);
        let hours = to.seconds_since(from) / 3600.0;
        let reached = self
            .trials
            .iter()
            .filter(|trial| trial.end.is_some())
            .count();
        let firsts = self
            .events
            .iter()
            .filter(|row| row.event == TrialEvent::Reached);
        let loss = |trial: &&TrialRow| trial.loss.unwrap_or(f64::INFINITY);
        let best = finished.clone().min_by(|a, b| loss(a).total_cmp(&loss(b)));
        // If every trial diverged, there is no best trial.
        let best = best.filter(|trial| loss(trial).is_finite());
        let least = self.trials.iter().map(|t| t.final_loss).reduce(f64::min);
        let wasted = self
            .trials
            .iter()
            .filter(|t| t.state != TrialState::Finished);
        let wasted = wasted.map(|trial| trial.work_done).sum();
        let number = |count: Option<usize>| count.map(|count| count as f64);
        let on_front = self.trials.iter().filter(|t| t.front == Some(0)).count();
        let has_several = self.trials.iter().any(|t| !t.losses.0.is_empty());
        for (field, written, expected) in [
            (
                "trials_started",
                number(s.trials_started),
                Some(self.trials.len() as f64),
            ),
            (
                "trials_stopped",
                number(s.trials_stopped),
                Some(count(TrialState::Stopped) as f64),
            ),
            (
                "trials_finished",
                number(s.trials_finished),
                Some(count(TrialState::Finished) as f64),
            ),
            (
                "trials_per_hour",
                s.trials_per_hour,
                (hours > 0.0).then(|| reached as f64 / hours),
            ),
            (
                "first_rung_s",
                s.first_rung_s,
                firsts.map(|row| row.time).min().map(since),
            ),
            (
                "last_rung_s",
                s.last_rung_s,
                finished.filter_map(|t| t.end).min().map(since),
            ),
            ("best_loss", s.best_loss, best.and_then(|trial| trial.loss)),
            (
                "best_trial_s",
                s.best_trial_s,
                best.and_then(|trial| trial.end).map(since),
            ),
            (
                "regret",
                s.regret,
                best.zip(least).map(|(t, least)| t.final_loss - least),
            ),
            (
                "front_trials",
                number(s.front_trials),
                has_several.then_some(on_front as f64),
            ),
            ("wasted_work", s.wasted_work, Some(wasted)),
        ] {
            findings.option(format_args!("summary.json: {field}"), written, expected);
        }
    }
}

/// A function that returns the name of a column as it appears in messages.
type Name<'n> = &'n dyn Fn(&str) -> String;

/// Compares the number of rows of a table, then the rows.
fn rows<R>(
    table: &str,
    written: &[R],
    expected: &[R],
    compare: fn(Name<'_>, &R, &R, &mut Findings),
    findings: &mut Findings,
) {
    findings.equal(format_args!("{table}: rows"), written.len(), expected.len());
    for (place, (written, expected)) in written.iter().zip(expected).enumerate() {
        let name = |column: &str| format!("{table}, row {place}: {column}");
        compare(&name, written, expected, findings);
    }
}

fn event(name: Name<'_>, row: &SearchRow, expected: &SearchRow, findings: &mut Findings) {
    findings.time(name("time"), Some(row.time), Some(expected.time));
    findings.equal(name("event"), row.event.name(), expected.event.name());
    findings.equal(name("trial"), row.trial, expected.trial);
    findings.equal(name("rung"), row.rung, expected.rung);
    findings.number(name("resource"), row.resource, expected.resource);
    loss(name("loss"), row.loss, expected.loss, findings);
    losses(name("losses"), &row.losses, &expected.losses, findings);
}

fn trial(name: Name<'_>, row: &TrialRow, expected: &TrialRow, findings: &mut Findings) {
    findings.equal(name("trial"), row.trial, expected.trial);
    findings.equal(name("task"), &row.task, &expected.task);
    findings.equal(name("bracket"), row.bracket, expected.bracket);
    findings.equal(name("state"), row.state.name(), expected.state.name());
    findings.time(name("start"), Some(row.start), Some(expected.start));
    findings.time(name("end"), row.end, expected.end);
    findings.number(name("resource"), row.resource, expected.resource);
    loss(name("loss"), row.loss, expected.loss, findings);
    let final_loss = (Some(row.final_loss), Some(expected.final_loss));
    loss(name("final_loss"), final_loss.0, final_loss.1, findings);
    findings.number(name("work_done"), row.work_done, expected.work_done);
    findings.equal(name("parameters"), &row.parameters, &expected.parameters);
    let parent = |row: &TrialRow| {
        row.parent
            .map_or("none".to_owned(), |parent| parent.to_string())
    };
    findings.equal(name("parent"), parent(row), parent(expected));
    losses(name("losses"), &row.losses, &expected.losses, findings);
    let front = |row: &TrialRow| row.front.map(f64::from);
    findings.option(name("front"), front(row), front(expected));
}

fn rung(name: Name<'_>, row: &RungRow, expected: &RungRow, findings: &mut Findings) {
    findings.number(name("resource"), row.resource, expected.resource);
    findings.equal(name("trials"), row.trials, expected.trials);
    findings.number(name("first_s"), row.first_s, expected.first_s);
    findings.number(name("median_s"), row.median_s, expected.median_s);
    let best = (Some(row.best_loss), Some(expected.best_loss));
    loss(name("best_loss"), best.0, best.1, findings);
}

/// Compares the losses of a trial, and their names.
fn losses(place: String, written: &Losses, expected: &Losses, findings: &mut Findings) {
    let names = |losses: &Losses| {
        let names: Vec<&str> = losses.0.iter().map(|(name, _)| name.as_str()).collect();
        format!("{names:?}")
    };
    findings.equal(&place, names(written), names(expected));
    for ((name, written), (_, expected)) in written.0.iter().zip(&expected.0) {
        let place = format_args!("{place}, {name}");
        loss(place, Some(*written), Some(*expected), findings);
    }
}

/// Compares losses, which may be infinite or NaN.
fn loss(place: impl Display, written: Option<f64>, expected: Option<f64>, findings: &mut Findings) {
    let finite = |loss: Option<f64>| loss.filter(|loss| loss.is_finite());
    findings.option(place, finite(written), finite(expected));
}
