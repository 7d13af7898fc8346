//! Reads one task of a file, and checks it.

use super::curves::Curves;
use super::fields::{Fields, Report};
use super::groups::GroupDraft;
use super::search::SearchDraft;
use super::validate::{CurveDraft, Draft};
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::Fault;
use gleaner_domain::{Clock, ScalingCurve, Stamp, TrainingTask, Utc};

/// A task in a file, with all of its faults.
pub(super) struct Entry<'a> {
    /// The task's name; `None` if the task has no name.
    pub name: Option<String>,
    /// The task, with its submission time as written in the file; `None` if the task has faults.
    pub task: Option<TrainingTask>,
    /// The submission time as written in the file; `None` if the file does not state it.
    pub submit: Option<Stamp>,
    /// The deadline as written in the file; `None` if the file does not state it.
    pub deadline: Option<Stamp>,
    /// The faults of the task.
    pub report: Report<'a>,
}

/// The content of a file of tasks.
#[derive(Default)]
pub(super) struct Parsed<'a> {
    /// The tasks in order. Faults of named curves, which tasks can share, are also entries.
    pub entries: Vec<Entry<'a>>,
    /// Groups of tasks.
    pub groups: Vec<GroupDraft<'a>>,
    /// The search whose trials train the tasks.
    pub search: Option<SearchDraft<'a>>,
    /// Faults of the file as a whole. They are errors even if faulty tasks may be skipped.
    pub fatal: Vec<Fault>,
}

impl Parsed<'_> {
    /// The result for a file with faults that concern the file as a whole.
    pub fn of_faults(fatal: Vec<Fault>) -> Self {
        Parsed {
            fatal,
            ..Parsed::default()
        }
    }
}

impl<'a> Entry<'a> {
    /// An entry that has only faults, because it is not a task.
    pub fn of_faults(report: Report<'a>) -> Self {
        Entry {
            name: None,
            task: None,
            submit: None,
            deadline: None,
            report,
        }
    }

    /// Reads a task whose curve is in the task's own fields.
    pub fn read(mut fields: Fields<'a>, curves: &mut Curves) -> Self {
        let curve = read_curve(&mut fields, curves);
        Entry::with_curve(fields, curve)
    }

    /// Reads a task with a given curve. If the curve has a fault, `curve` is `None`, and the fault is already in the
    /// report.
    pub fn with_curve(mut fields: Fields<'a>, curve: Option<ScalingCurve>) -> Self {
        let draft = Draft::read(&mut fields);
        let mut report = fields.finish();
        Entry {
            name: draft.name.clone(),
            submit: draft.submit.flatten(),
            deadline: draft.deadline.flatten(),
            task: draft.check(curve, &mut report),
            report,
        }
    }

    /// Converts the task's times to UTC with the clock of a log. If a local time occurs twice, the
    /// first occurrence is used.
    pub fn place(&mut self, clock: &Clock) {
        let submit = self.instant(self.submit, "submit", clock);
        let deadline = self.instant(self.deadline, "deadline", clock);
        let Some(task) = &mut self.task else { return };
        task.submit = submit.unwrap_or(task.submit);
        task.deadline = deadline.or(task.deadline);
        if let Some(deadline) = deadline.filter(|deadline| *deadline <= task.submit) {
            let expected = format!("a time after the submission, {}", clock.steady(task.submit));
            let deadline = clock.steady(deadline).to_string();
            self.report.add("deadline", deadline, expected);
        }
    }

    /// Converts a time of the task to UTC with the clock of a log. Returns `None` if there is no time, or if the time
    /// has a fault, which is added to the report.
    fn instant(&mut self, stamp: Option<Stamp>, field: &str, clock: &Clock) -> Option<Utc> {
        match clock.instant(stamp?, Occurrence::First) {
            Ok(time) => Some(time),
            Err(error) => {
                let expected = "a time without an offset from UTC, as the log's time zone is \
                                unknown (set the zone with --timezone)";
                self.report.add(field, error.0.to_string(), expected);
                None
            }
        }
    }
}

/// Reads the curve from a task's fields.
pub(super) fn read_curve(fields: &mut Fields<'_>, curves: &mut Curves) -> Option<ScalingCurve> {
    let nodes = fields.numbers("curve.nodes");
    let progress = fields.numbers("curve.progress");
    let draft = CurveDraft {
        objective: fields.maybe("curve.objective", Fields::numbers)?,
        nodes: nodes?,
        progress: progress?,
    };
    curves.check(draft, &mut fields.report)
}
