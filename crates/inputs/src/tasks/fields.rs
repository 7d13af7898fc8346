//! Declares the fields of tasks, and collects a task's values so that readers can take them one at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::node::Node;
use crate::rows::Number;
use gleaner_domain::error::{Fault, Faults, Result};
use gleaner_domain::tasks::ENDLESS;
use gleaner_domain::{Stamp, Utc};

/// A declared field of a task or its curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskField {
    /// The field's name in documents. A dot separates the table's name from the field's name, as in `curve.nodes`.
    pub name: &'static str,
    /// The field's column in the original's pickles; empty if there is no such column.
    pub original: &'static str,
    /// The unit of the field's values; empty if they have no unit.
    pub unit: &'static str,
    /// The field's meaning and range, for the documentation.
    pub meaning: &'static str,
    /// Whether the field may be missing.
    pub is_optional: bool,
    /// The form of the field's values in text cells.
    pub(super) shape: Shape,
}

/// The way in which the text of a cell is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Number,
    Numbers,
    /// Factors by class, such as `v100=1;a100=2.4`.
    Factors,
}

/// The fields of a task and its curve, in the order in which they are documented.
#[rustfmt::skip]
pub static FIELDS: [TaskField; 15] = [
    field("name", "index", Shape::Text, "", "unique name of the task"),
    field("submit", "Tsub", Shape::Text, "",
        "earliest start: a time as in event logs, in the log's local time; default: the start of the log").optional(),
    field("min_nodes", "Jmin", Shape::Number, "nodes", "minimum number of nodes, at least 1"),
    field("max_nodes", "Jmax", Shape::Number, "nodes", "maximum number of nodes: at least 1, at most the curve's last point"),
    field("rescale_up", "Tcup", Shape::Number, "s",
        "seconds of progress lost when the task grows, or starts at the first event of the log; later starts are free. At most 1e12, and at most a million times the window `--t-fwd`"),
    field("rescale_down", "Tcdw", Shape::Number, "s",
        "seconds of progress lost when the task shrinks, stops or is preempted, including the time to start again. Same range as `rescale_up`"),
    field("move", "", Shape::Number, "s",
        "seconds of progress lost when the task moves to nodes of another class; same range as `rescale_up`; default: \
         the sum of `rescale_up` and `rescale_down`").optional(),
    field("work", "Pmax", Shape::Number, "work",
        "total work in the curve's units: above 0, or `endless` for a task that never finishes"),
    field("priority", "", Shape::Number, "",
        "weight under the objective `priority-weighted`, from 1e-30 to 1e30; default: 1").optional(),
    field("deadline", "", Shape::Text, "",
        "time by which the task should finish; must be after the task's submission; default: no deadline. Only some \
         [objectives](../docs/OBJECTIVES.md#deadlines) use it").optional(),
    field("curve.nodes", "Ns", Shape::Numbers, "nodes",
        "node counts of the scaling curve's points: increasing, starting with 0"),
    field("curve.progress", "Ps", Shape::Numbers, "work/s",
        "work per second at each point: 0 at 0 nodes; linear between points"),
    field("curve.objective", "Os", Shape::Numbers, "",
        "objective per second at each point: 0 at 0 nodes; default: the progress at that point").optional(),
    field("counts", "", Shape::Text, "",
        "node counts that the task may hold: `all` between the task's bounds, or only the `points` of the task's \
         curve; default: `all`").optional(),
    field("speed", "", Shape::Factors, "",
        "for each class of nodes that the task can use, a factor for the curve's progress and objective, from 1e-30 to \
         1e30; default: the curve applies to all classes").optional(),
];

const fn field(
    name: &'static str,
    original: &'static str,
    shape: Shape,
    unit: &'static str,
    meaning: &'static str,
) -> TaskField {
    TaskField {
        name,
        original,
        unit,
        meaning,
        is_optional: false,
        shape,
    }
}

impl TaskField {
    const fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// The name of the field's column in tables.
    pub fn column(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// The source of tasks, which determines the names of fields in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Document,
    Table,
    Pickle,
    Program,
}

impl Format {
    /// The name of a field in this format.
    pub fn label(self, name: &str) -> Cow<'_, str> {
        let original = || {
            let field = FIELDS.iter().find(|field| field.name == name);
            let original = field.map_or("", |field| field.original);
            if original.is_empty() { name } else { original }
        };
        match (self, name) {
            (Format::Document, _) => name.into(),
            (Format::Table, _) if FIELDS.iter().any(|field| field.name == name) => {
                name.replace('.', "_").into()
            }
            (Format::Table, _) => name.into(),
            (Format::Pickle, _) => original().into(),
            (Format::Program, _) => keyword(name),
        }
    }
}

/// The name that a program uses for a field. For example, `curve.nodes` becomes `curve`, `curve.v100.nodes` becomes
/// `curve.v100`, and `curve.v100.objective` becomes `objective.v100`.
fn keyword(name: &str) -> Cow<'_, str> {
    let Some(of_curve) = name.strip_prefix("curve.") else {
        return name.into();
    };
    match of_curve.rsplit_once('.') {
        None if ["nodes", "progress"].contains(&of_curve) => "curve".into(),
        None if of_curve == "objective" => of_curve.into(),
        Some((class, "nodes" | "progress")) => format!("curve.{class}").into(),
        Some((class, "objective")) => format!("objective.{class}").into(),
        _ => name.into(),
    }
}

/// Collects the faults of a task, or of another table, such as a group.
#[derive(Debug, Clone)]
pub(super) struct Report<'a> {
    pub path: &'a Path,
    /// The place to show in messages, such as `line 3` or `task 2 ("J1")`.
    pub place: String,
    pub format: Format,
    pub faults: Vec<Fault>,
}

impl<'a> Report<'a> {
    pub fn new(path: &'a Path, place: impl Into<String>, format: Format) -> Self {
        Report {
            path,
            place: place.into(),
            format,
            faults: Vec::new(),
        }
    }

    /// The name of a field as it appears in the file's format.
    pub fn label<'f>(&self, field: &'f str) -> Cow<'f, str> {
        self.format.label(field)
    }

    /// Adds a fault in a field.
    pub fn add(&mut self, field: &str, found: impl Into<String>, expected: impl Into<String>) {
        let label = self.label(field);
        let fault = Fault::of(self.path, found, expected).field(label);
        self.faults.push(fault.at(self.place.as_str()));
    }

    /// Returns the value if there are no faults.
    pub fn into_result<T>(self, value: T) -> Result<T> {
        Faults(self.faults).into_result(value)
    }
}

/// The values of a task by name. Readers take one value at a time, and faults are recorded in the report.
pub(super) struct Fields<'a> {
    values: BTreeMap<String, Node>,
    pub report: Report<'a>,
}

impl<'a> Fields<'a> {
    /// Stores the values. Null values are dropped. It is a fault if a name occurs twice.
    pub fn new<N: Into<String>>(
        values: impl IntoIterator<Item = (N, Node)>,
        report: Report<'a>,
    ) -> Self {
        let mut fields = Fields {
            values: BTreeMap::new(),
            report,
        };
        fields.extend(values);
        fields
    }

    /// Reads the fields of a table in a document. `what` is the kind of table and `place` its
    /// position. If the table has a field `name`, the name becomes part of the place.
    ///
    /// # Errors
    /// The node is not a table. The error is a report that contains this fault.
    pub fn of_table(
        path: &'a Path,
        what: &str,
        place: String,
        node: Node,
    ) -> Result<Self, Report<'a>> {
        let mut report = Report::new(path, place, Format::Document);
        let Node::Table(values) = node else {
            report.add(what, node.to_string(), "a table of fields");
            return Err(report);
        };
        if let Some((_, Node::Text(name))) = values.iter().find(|(key, _)| key == "name") {
            report.place = format!("{} ({name:?})", report.place);
        }
        Ok(Fields::new(values, report))
    }

    /// Stores further values, like [`Fields::new`].
    pub fn extend<N: Into<String>>(&mut self, values: impl IntoIterator<Item = (N, Node)>) {
        for (name, value) in values {
            let name = name.into();
            if value != Node::Null && self.values.insert(name.clone(), value).is_some() {
                self.report
                    .add(&name, "the field a second time", "each field only once");
            }
        }
    }

    /// Removes and returns a value. Returns `None` if the value is missing, which is not a fault.
    pub fn take(&mut self, name: &str) -> Option<Node> {
        self.values.remove(name)
    }

    /// Removes a value and converts it with `of`. Adds a fault and returns `None` if the value is missing or `of`
    /// rejects it.
    pub fn read<T>(
        &mut self,
        name: &str,
        expected: impl Into<String>,
        of: impl FnOnce(Node) -> Result<T, Node>,
    ) -> Option<T> {
        let value = self.take(name).unwrap_or(Node::Null);
        of(value)
            .map_err(|found| self.report.add(name, found.to_string(), expected))
            .ok()
    }

    /// Reads an optional value. If the value is missing, the inner value is `None`.
    pub fn maybe<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self, &str) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.has(name) {
            read(self, name).map(Some)
        } else {
            Some(None)
        }
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "a string", |node| match node {
            Node::Text(text) => Ok(text),
            other => Err(other),
        })
    }

    /// Reads a number in a range.
    pub fn number(&mut self, name: &str, kind: &Number) -> Option<f64> {
        self.read(name, kind.words(), |node| match node {
            Node::Number(number) if kind.range.contains(&number) => Ok(number),
            other => Err(other),
        })
    }

    /// Reads one of several words and returns its meaning.
    pub fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let names: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        self.read(name, names.join(" or "), |node| {
            let meaning = words
                .iter()
                .find(|(word, _)| matches!(&node, Node::Text(text) if text == word));
            meaning.map(|(_, meaning)| *meaning).ok_or(node)
        })
    }

    /// Reads a whole number that is at least `least`.
    pub fn whole(&mut self, name: &str, least: u32, expected: &str) -> Option<u32> {
        self.read(name, expected, |node| {
            let Node::Number(number) = node else {
                return Err(node);
            };
            let count = whole(number).filter(|count| *count >= least);
            count.ok_or(node)
        })
    }

    /// Reads an amount of work: a number above 0, or `endless`, which becomes infinity.
    pub fn work(&mut self, name: &str) -> Option<f64> {
        let expected = format!("a number above 0, or {ENDLESS:?}");
        self.read(name, expected, |node| match node {
            Node::Text(text) if text == ENDLESS => Ok(f64::INFINITY),
            Node::Number(work) if work.is_finite() && work > 0.0 => Ok(work),
            other => Err(other),
        })
    }

    /// Reads an optional time. The inner `None` means that the value is missing, which is not a fault.
    pub fn time(&mut self, name: &str) -> Option<Option<Stamp>> {
        const EXPECTED: &str = "a time such as 2021-02-10 20:21:15 or seconds since 1970";
        self.maybe(name, |fields, name| {
            fields.read(name, EXPECTED, |node| {
                let stamp = match &node {
                    Node::Time(stamp) => Some(*stamp),
                    Node::Number(seconds) => {
                        Utc::from_fractional_seconds(*seconds).map(Stamp::Epoch)
                    }
                    Node::Text(text) => text.parse().ok(),
                    _ => None,
                };
                stamp.ok_or(node)
            })
        })
    }

    /// Reads a list of numbers. Several tasks may share the list.
    pub fn numbers(&mut self, name: &str) -> Option<Arc<[f64]>> {
        self.read(name, "a list of numbers", |node| match node {
            Node::Numbers(numbers) => Ok(numbers),
            other => Err(other),
        })
    }

    /// Reads an optional list of any values. Returns an empty list if the list is missing or has a fault.
    pub fn list(&mut self, name: &str, expected: &str) -> Vec<Node> {
        let list = self.maybe(name, |fields, name| {
            fields.read(name, expected, |node| match node {
                Node::List(nodes) => Ok(nodes),
                Node::Numbers(numbers) => Ok(numbers.iter().copied().map(Node::Number).collect()),
                other => Err(other),
            })
        });
        list.flatten().unwrap_or_default()
    }

    /// Whether a value with this name exists and has not been removed yet.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Adds a fault for every remaining value, because no field has its name. Returns the report.
    pub fn finish(mut self) -> Report<'a> {
        for name in std::mem::take(&mut self.values).into_keys() {
            self.report.add(&name, "an unknown field", "a known field");
            if let Some(fault) = self.report.faults.last_mut() {
                fault.remedy = "correct or remove it".to_owned();
            }
        }
        self.report
    }
}

/// Converts a number to an integer; `None` if it is fractional, negative or too large.
pub(super) fn whole(value: f64) -> Option<u32> {
    let is_whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    is_whole.then_some(value as u32)
}
