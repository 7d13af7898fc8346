//! Reads tasks from TOML or JSON.
//!
//! Each task is a `[[task]]`. It has its own curve, or it refers to a `[curve.NAME]`, which several
//! tasks can share:
//!
//! ```toml
//! [curve.shufflenet]
//! nodes = [0, 1, 2, 4, 8]
//! progress = [0, 2831.0, 5259.0, 9988.0, 20379.2]  # images per second
//!
//! [[task]]
//! name = "trial-1"
//! submit = 2021-02-10 20:21:15
//! min_nodes = 1
//! max_nodes = 8
//! rescale_up = 18    # seconds
//! rescale_down = 12  # seconds
//! work = 1.3e8       # images
//! curve = "shufflenet"
//!
//! [[task]]
//! name = "trial-2"
//! min_nodes = 2
//! max_nodes = 4
//! rescale_up = 20
//! rescale_down = 10
//! work = 1e6
//! priority = 2
//! curve = { nodes = [0, 2, 4], progress = [0, 100, 180], objective = [0, 1, 1.8] }
//! ```
//!
//! If the nodes belong to several classes, the curve and the bounds can be tables with an entry for each class.
//! Alternatively, `speed` multiplies a plain curve by a factor for each class, as in `speed = { v100 = 1, a100 = 2.4
//! }`:
//!
//! ```toml
//! [curve.resnet]
//! v100 = { nodes = [0, 1, 2, 4, 8], progress = [0, 400, 780, 1500, 2800] }
//! a100 = { nodes = [0, 1, 2, 4], progress = [0, 1000, 1950, 3700] }
//!
//! [[task]]
//! name = "trial-3"
//! min_nodes = { v100 = 2, a100 = 1 }  # a number applies to all classes
//! max_nodes = { v100 = 8, a100 = 4 }
//! rescale_up = 20
//! rescale_down = 10
//! move = 45          # seconds; default: rescale_up + rescale_down
//! counts = "points"  # only the node counts of the curve's points; default: all
//! work = 1e8
//! curve = "resnet"
//! ```
//!
//! A `[[group]]` limits the total number of nodes that several tasks hold, as described in docs/OBJECTIVES.md:
//!
//! ```toml
//! [[group]]
//! name = "alice"
//! tasks = ["trial-1", "trial-2"]
//! max_nodes = 6      # min_nodes too, or instead; or a table by class, such as { a100 = 2 }
//! ```
//!
//! If the file has a `[search]`, the trials of that search train the tasks: see docs/SEARCHES.md.
//!
//! JSON uses the same names: `{"curve": {"shufflenet": {…}}, "task": [{…}, {…}]}`. If a curve has no `objective`, its
//! progress is also its objective.

use std::collections::BTreeMap;
use std::path::Path;

use super::curves::{Curves, TaskCurve};
use super::entry::{Entry, Parsed, read_curve_table};
use super::fields::{Fields, Format, Report};
use super::groups;
use super::node::Node;
use super::search;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::fault::Place;
use gleaner_io::source::{Source, TEXT_LIMIT, TOML_LIMIT};
use gleaner_io::toml_text;

/// The curves in a document.
#[derive(Default)]
struct Named {
    /// The named curves. A curve with faults is `None`, so that its faults are reported only once.
    by_name: BTreeMap<String, Option<TaskCurve>>,
    /// All curves. Equal curves share their lists.
    all: Curves,
}

pub(super) fn read_toml(source: &Source) -> Result<Parsed<'_>> {
    let text = text(source, TOML_LIMIT)?;
    let node = toml::from_str(&text).map_err(|error| {
        let line = toml_text::line_of(&text, &error);
        malformed(source, line, error.message(), "TOML")
    })?;
    parse(source, node)
}

pub(super) fn read_json(source: &Source) -> Result<Parsed<'_>> {
    let text = text(source, TEXT_LIMIT)?;
    let node = serde_json::from_str(&text)
        .map_err(|error| malformed(source, error.line(), &error.to_string(), "JSON"))?;
    parse(source, node)
}

fn text(source: &Source, limit: u64) -> Result<String> {
    String::from_utf8(source.read_up_to(limit)?.into_owned()).map_err(|error| {
        let place = Place::Byte(error.utf8_error().valid_up_to());
        source
            .fault("bytes that are not UTF-8", "text")
            .at(place)
            .into()
    })
}

/// The fault of a document that is not valid TOML or JSON.
fn malformed(source: &Source, line: usize, message: &str, format: &str) -> Fault {
    let fault = source.fault(
        format!("malformed {format} ({message})"),
        format!("valid {format}"),
    );
    fault.at(Place::Line(line as u64))
}

/// Reads the curves and tasks of a parsed document.
fn parse(source: &Source, document: Node) -> Result<Parsed<'_>> {
    let path = source.path();
    let Node::Table(values) = document else {
        return Err(source
            .fault(document.to_string(), "an object with a list `task`")
            .into());
    };
    let mut fields = Fields::new(values, Report::new(path, "", Format::Document));
    let curves = fields.maybe("curve", |fields, name| {
        fields.read(name, "curves by name", |node| match node {
            Node::Table(curves) => Ok(curves),
            other => Err(other),
        })
    });
    let tasks = fields.list("task", "a list of tasks");
    let groups = fields.list("group", "a list of groups");
    let search = fields.take("search");
    let mut parsed = Parsed {
        groups: groups::read(path, groups, &mut fields.report),
        search: search.map(|table| search::read(path, table)),
        ..Parsed::default()
    };
    let mut named = Named::default();
    for (name, curve) in curves.flatten().unwrap_or_default() {
        let (curve, report) = named.read(path, &name, curve);
        if !report.faults.is_empty() {
            parsed.entries.push(Entry::of_faults(report));
        }
        if named.by_name.insert(name.clone(), curve).is_some() {
            let found = format!("{name:?} a second time");
            fields.report.add("curve", found, "unique names");
        }
    }
    let tasks = (1..).zip(tasks);
    let tasks = tasks.map(|(number, task)| entry(path, number, task, &mut named));
    parsed.entries.extend(tasks);
    parsed.fatal = fields.finish().faults;
    Ok(parsed)
}

impl Named {
    /// Reads a named curve.
    fn read<'a>(
        &mut self,
        path: &'a Path,
        name: &str,
        curve: Node,
    ) -> (Option<TaskCurve>, Report<'a>) {
        let report = Report::new(path, format!("curve {name:?}"), Format::Document);
        let mut fields = Fields::new::<String>([], report);
        let curve = self.inline(&mut fields, curve);
        let report = fields.finish();
        (curve.filter(|_| report.faults.is_empty()), report)
    }

    /// Reads the table of a named or unnamed curve.
    fn inline(&mut self, fields: &mut Fields<'_>, curve: Node) -> Option<TaskCurve> {
        let Node::Table(values) = curve else {
            let expected = "a curve (nodes, progress, objective) or the name of a curve";
            fields.report.add("curve", curve.to_string(), expected);
            return None;
        };
        read_curve_table(fields, values, &mut self.all)
    }

    /// The curve that a task refers to by name.
    fn of_name(&self, fields: &mut Fields<'_>, name: &str) -> Option<TaskCurve> {
        match self.by_name.get(name) {
            Some(Some(curve)) => Some(curve.clone()),
            Some(None) => {
                let found = format!("{name:?}, which has faults");
                fields.report.add("curve", found, "a valid curve");
                None
            }
            None => {
                let expected = format!("the name of a curve in the file, as in [curve.{name}]");
                fields.report.add("curve", format!("{name:?}"), expected);
                None
            }
        }
    }
}

/// Reads a task. `number` is the task's position in the file, counted from 1.
fn entry<'a>(path: &'a Path, number: usize, task: Node, named: &mut Named) -> Entry<'a> {
    let mut fields = match Fields::of_table(path, "task", format!("task {number}"), task) {
        Ok(fields) => fields,
        Err(report) => return Entry::of_faults(report),
    };
    let curve = match fields.take("curve") {
        Some(Node::Text(name)) => named.of_name(&mut fields, &name),
        Some(curve) => named.inline(&mut fields, curve),
        None => named.inline(&mut fields, Node::Null),
    };
    Entry::with_curve(fields, curve, &mut named.all)
}
