//! The named values of one task. They are taken out one by one, and faults are recorded on the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::node::Node;
use gleaner_core::domain::tasks::ENDLESS;
use gleaner_core::domain::{Stamp, Time};
use gleaner_core::error::{Fault, Faults, Result};

/// The names of the fields in a format.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Labels {
    pub name: &'static str,
    pub submit: &'static str,
    pub min_nodes: &'static str,
    pub max_nodes: &'static str,
    pub rescale_up: &'static str,
    pub rescale_down: &'static str,
    pub work: &'static str,
    pub priority: &'static str,
    pub deadline: &'static str,
    pub nodes: &'static str,
    pub progress: &'static str,
    pub objective: &'static str,
}

impl Labels {
    /// The names in this program's own formats.
    pub const OURS: Labels = Labels {
        name: "name",
        submit: "submit",
        min_nodes: "min_nodes",
        max_nodes: "max_nodes",
        rescale_up: "rescale_up",
        rescale_down: "rescale_down",
        work: "work",
        priority: "priority",
        deadline: "deadline",
        nodes: "curve_nodes",
        progress: "curve_progress",
        objective: "curve_objective",
    };
}

/// Records the faults of one task, or of one shared curve.
#[derive(Debug, Clone)]
pub(super) struct Report<'a> {
    pub path: &'a Path,
    /// The place for messages, such as `line 3` or `task 2 ("J1")`.
    pub place: String,
    pub labels: &'static Labels,
    pub faults: Vec<Fault>,
}

impl<'a> Report<'a> {
    pub fn new(path: &'a Path, place: String, labels: &'static Labels) -> Self {
        Report {
            path,
            place,
            labels,
            faults: Vec::new(),
        }
    }

    /// Adds a fault of a field.
    pub fn add(&mut self, field: &str, found: impl Into<String>, expected: impl Into<String>) {
        let fault = Fault::of(self.path, found, expected).field(field);
        self.faults.push(fault.at(self.place.as_str()));
    }

    /// Returns the value if there was no fault.
    pub fn into_result<T>(self, value: T) -> Result<T> {
        Faults(self.faults).into_result(value)
    }
}

/// The values of a task by name. A method returns `None` if it added a fault.
pub(super) struct Fields<'a> {
    values: BTreeMap<String, Node>,
    pub report: Report<'a>,
}

impl<'a> Fields<'a> {
    /// Takes values over. A name that occurs twice is a fault; missing values are dropped.
    pub fn new(values: impl IntoIterator<Item = (String, Node)>, report: Report<'a>) -> Self {
        let mut fields = Fields {
            values: BTreeMap::new(),
            report,
        };
        fields.extend(values);
        fields
    }

    /// Takes more values over, in the same way.
    pub fn extend(&mut self, values: impl IntoIterator<Item = (String, Node)>) {
        for (name, value) in values {
            if value != Node::Null && self.values.insert(name.clone(), value).is_some() {
                self.report
                    .add(&name, "the field a second time", "every field once");
            }
        }
    }

    /// Takes a value out. Returns `None` if it is missing, which is not a fault.
    pub fn take(&mut self, name: &str) -> Option<Node> {
        self.values.remove(name)
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name) {
            Some(Node::Text(text)) => Some(text),
            other => self.wrong(name, other, "a text"),
        }
    }

    pub fn number(&mut self, name: &str) -> Option<f64> {
        match self.take(name) {
            Some(Node::Number(number)) => Some(number),
            other => self.wrong(name, other, "a number"),
        }
    }

    /// A number, or `default` if it is missing.
    pub fn number_or(&mut self, name: &str, default: f64) -> Option<f64> {
        if self.has(name) {
            self.number(name)
        } else {
            Some(default)
        }
    }

    /// An amount of work: a number above 0, or `endless`, which becomes infinity.
    pub fn work(&mut self, name: &str) -> Option<f64> {
        const EXPECTED: &str = "a number above 0, or \"endless\"";
        match self.take(name) {
            Some(Node::Text(text)) if text == ENDLESS => Some(f64::INFINITY),
            Some(Node::Number(work)) if work.is_finite() && work > 0.0 => Some(work),
            other => self.wrong(name, other, EXPECTED),
        }
    }

    /// A time. The inner `None` means that it is missing, which is not a fault.
    pub fn time(&mut self, name: &str) -> Option<Option<Stamp>> {
        const EXPECTED: &str = "a time such as 2021-02-10 20:21:15 or seconds since 1970";
        let value = self.take(name);
        let stamp = match &value {
            None => return Some(None),
            Some(Node::Time(stamp)) => Some(*stamp),
            Some(Node::Number(seconds)) => {
                Time::from_fractional_seconds(*seconds).map(Stamp::Epoch)
            }
            Some(Node::Text(text)) => text.parse().ok(),
            Some(_) => None,
        };
        stamp
            .or_else(|| self.wrong(name, value, EXPECTED))
            .map(Some)
    }

    /// A list of numbers, which several tasks may share.
    pub fn list(&mut self, name: &str) -> Option<Arc<[f64]>> {
        match self.take(name) {
            Some(Node::Numbers(numbers)) => Some(numbers),
            other => self.wrong(name, other, "a list of numbers"),
        }
    }

    /// An empty list in place of a value that is missing or of another type. Another type is a
    /// fault.
    pub fn absent_or_wrong<T>(
        &mut self,
        name: &str,
        found: Option<Node>,
        expected: &str,
    ) -> Vec<T> {
        if let Some(found) = found {
            self.report.add(name, found.to_string(), expected);
        }
        Vec::new()
    }

    /// Whether a value with this name was not taken out yet.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Adds a fault for every value that was not taken out, because no field has its name. Returns
    /// the report.
    pub fn finish(mut self) -> Report<'a> {
        let names: Vec<String> = self.values.into_keys().collect();
        for name in names {
            let fault = Fault::of(
                self.report.path,
                "a field that no task has",
                "a known field",
            )
            .at(self.report.place.as_str())
            .field(name)
            .remedy("correct or remove it");
            self.report.faults.push(fault);
        }
        self.report
    }

    /// Adds a fault of a value that is missing or of another type.
    fn wrong<T>(&mut self, name: &str, found: Option<Node>, expected: &str) -> Option<T> {
        let found = found.unwrap_or(Node::Null).to_string();
        self.report.add(name, found, expected);
        None
    }
}
