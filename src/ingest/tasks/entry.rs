//! One task of a file, read and validated.

use super::curves::Curves;
use super::fields::{Fields, Report};
use super::validate::{CurveDraft, Draft};
use crate::domain::clock::Occurrence;
use crate::domain::{Clock, ScalingCurve, Stamp, TrainingTask};
use crate::error::Fault;

/// A task of a file, with everything that is wrong with it.
pub(super) struct Entry<'a> {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The task, submitted at the time as it is written; `None` where it has faults.
    pub task: Option<TrainingTask>,
    /// When it is submitted, where its file says so.
    pub submit: Option<Stamp>,
    /// Its faults.
    pub report: Report<'a>,
}

/// What a file holds.
#[derive(Default)]
pub(super) struct Parsed<'a> {
    /// Its tasks in order, and faults of what they share.
    pub entries: Vec<Entry<'a>>,
    /// Faults of the file as a whole, which no skipping mends.
    pub fatal: Vec<Fault>,
}

impl<'a> Entry<'a> {
    /// Faults of something else than a task; `None` where there are none.
    pub fn of_faults(report: Report<'a>) -> Option<Self> {
        let faulty = !report.faults.is_empty();
        faulty.then_some(Entry {
            name: None,
            task: None,
            submit: None,
            report,
        })
    }

    /// Reads a task whose curve is among its fields.
    pub fn read(mut fields: Fields<'a>, curves: &mut Curves) -> Self {
        let curve = read_curve(&mut fields, curves);
        Entry::with_curve(fields, curve)
    }

    /// Reads a task with a curve from elsewhere; `None` where that is a fault already.
    pub fn with_curve(mut fields: Fields<'a>, curve: Option<ScalingCurve>) -> Self {
        let labels = fields.report.labels;
        let draft = Draft {
            name: fields.text(labels.name),
            submit: fields.time(labels.submit),
            min_nodes: fields.number(labels.min_nodes),
            max_nodes: fields.number(labels.max_nodes),
            rescale_up: fields.number(labels.rescale_up),
            rescale_down: fields.number(labels.rescale_down),
            work: fields.work(labels.work),
            priority: fields.number_or(labels.priority, 1.0),
            curve,
        };
        let mut report = fields.finish();
        Entry {
            name: draft.name.clone(),
            submit: draft.submit.flatten(),
            task: draft.check(&mut report),
            report,
        }
    }

    /// Places the task's submission on the clock of a log. Of a local time that occurs twice,
    /// the first is meant.
    pub fn place(&mut self, clock: &Clock) {
        let (Some(task), Some(stamp)) = (&mut self.task, self.submit) else {
            return;
        };
        match clock.time(stamp, Occurrence::First) {
            Ok(time) => task.submit = time,
            Err(error) => {
                let label = self.report.labels.submit;
                let expected = "a time without an offset from UTC, as the log's time zone is \
                                unknown (--timezone ZONE names it)";
                self.report.add(label, error.0.to_string(), expected);
            }
        }
    }
}

/// Reads the curve among a task's fields.
pub(super) fn read_curve(fields: &mut Fields<'_>, curves: &mut Curves) -> Option<ScalingCurve> {
    let labels = fields.report.labels;
    let nodes = fields.list(labels.nodes);
    let progress = fields.list(labels.progress);
    let objective = if fields.has(labels.objective) {
        Some(fields.list(labels.objective)?)
    } else {
        None
    };
    let draft = CurveDraft {
        nodes: nodes?,
        progress: progress?,
        objective,
    };
    curves.check(draft, &mut fields.report)
}
