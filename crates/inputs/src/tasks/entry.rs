//! Reads one task of a file, and checks it.

use std::sync::Arc;

use super::curves::{Curves, TaskCurve};
use super::fields::{Fields, Report};
use super::groups::GroupDraft;
use super::node::Node;
use super::search::SearchDraft;
use super::validate::{CurveDraft, Draft};
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::Fault;
use gleaner_domain::{Clock, ScalingCurve, Stamp, TrainingTask, Utc};

/// A task in a file, with all of its faults.
pub(super) struct Entry<'a> {
    /// The task's name; `None` if the task has no name.
    pub name: Option<String>,
    /// The task, with its times as written in the file; `None` if the task has faults.
    pub task: Option<TrainingTask>,
    /// The submission time as written in the file; `None` if the file does not state it.
    pub submit: Option<Stamp>,
    /// The deadline as written in the file; `None` if the file does not state it.
    pub deadline: Option<Stamp>,
    /// The faults of the task.
    pub report: Report<'a>,
}

/// The content of a task file.
#[derive(Default)]
pub(super) struct Parsed<'a> {
    /// The tasks, in file order. A named curve with faults, which several tasks can share, also has an entry.
    pub entries: Vec<Entry<'a>>,
    /// The groups of tasks in the file.
    pub groups: Vec<GroupDraft<'a>>,
    /// The search whose trials train the tasks.
    pub search: Option<SearchDraft<'a>>,
    /// Faults of the file as a whole. They are errors even if faulty tasks may be skipped.
    pub fatal: Vec<Fault>,
}

impl Parsed<'_> {
    /// Creates the content of a file that is invalid as a whole and therefore has no tasks.
    pub fn of_faults(fatal: Vec<Fault>) -> Self {
        Parsed {
            fatal,
            ..Parsed::default()
        }
    }
}

impl<'a> Entry<'a> {
    /// Creates an entry without a task, with the faults in `report`.
    pub fn of_faults(report: Report<'a>) -> Self {
        Entry {
            name: None,
            task: None,
            submit: None,
            deadline: None,
            report,
        }
    }

    /// Reads a task whose own fields contain its curve.
    pub fn read(mut fields: Fields<'a>, curves: &mut Curves) -> Self {
        let curve = match fields.take("curve") {
            Some(Node::Table(table)) => read_curve_table(&mut fields, table, curves),
            _ => read_curve(&mut fields, "curve", curves).map(TaskCurve::Plain),
        };
        Entry::with_curve(fields, curve, curves)
    }

    /// Reads a task with a given curve. If the curve has a fault, `curve` is `None`, and the fault is already in the
    /// report.
    pub fn with_curve(
        mut fields: Fields<'a>,
        curve: Option<TaskCurve>,
        curves: &mut Curves,
    ) -> Self {
        let draft = Draft::read(&mut fields);
        let mut report = fields.finish();
        Entry {
            name: draft.name.clone(),
            submit: draft.submit.flatten(),
            deadline: draft.deadline.flatten(),
            task: draft.check(curve, curves, &mut report),
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
                let expected = "a time without an offset from UTC, because the log's time zone is \
                                unknown (set the zone with --timezone)";
                self.report.add(field, error.0.to_string(), expected);
                None
            }
        }
    }
}

/// Reads a curve from the fields whose names begin with `field`, such as `curve.nodes`.
fn read_curve(fields: &mut Fields<'_>, field: &str, curves: &mut Curves) -> Option<ScalingCurve> {
    let nodes = fields.numbers(&format!("{field}.nodes"));
    let progress = fields.numbers(&format!("{field}.progress"));
    let draft = CurveDraft {
        objective: fields.maybe(&format!("{field}.objective"), Fields::numbers)?,
        nodes: nodes?,
        progress: progress?,
    };
    curves.check(draft, field, &mut fields.report)
}

/// Reads a curve from a table with the curve's lists. If the table contains a table for each class, reads a curve for
/// each class.
pub(super) fn read_curve_table(
    fields: &mut Fields<'_>,
    table: Vec<(String, Node)>,
    curves: &mut Curves,
) -> Option<TaskCurve> {
    if !is_by_class(&table) {
        extend_within(fields, "curve", table);
        return read_curve(fields, "curve", curves).map(TaskCurve::Plain);
    }
    let by_class = fields.classes("curve", table, |fields, name| match fields.take(name) {
        Some(Node::Table(table)) => {
            extend_within(fields, name, table);
            read_curve(fields, name, curves)
        }
        other => {
            let found = other.unwrap_or(Node::Null).to_string();
            fields
                .report
                .add(name, found, "a curve (nodes, progress, objective)");
            None
        }
    });
    by_class.map(|by_class| TaskCurve::ByClass(Arc::new(by_class)))
}

/// Whether a table contains a table for each class. In a plain curve, the value of `nodes` is a list. A table under
/// that name is the curve of a class, for which `nodes` is an invalid name.
fn is_by_class(table: &[(String, Node)]) -> bool {
    let is_table = |(_, value): &(String, Node)| matches!(value, Node::Table(_));
    let nodes = table.iter().find(|(key, _)| key == "nodes");
    nodes.is_none_or(is_table) && table.iter().any(is_table)
}

/// Stores the values of a table under names that begin with the name of the table and a dot.
fn extend_within(fields: &mut Fields<'_>, name: &str, table: Vec<(String, Node)>) {
    fields.extend(
        table
            .into_iter()
            .map(|(key, value)| (format!("{name}.{key}"), value)),
    );
}
