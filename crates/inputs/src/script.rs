//! Reads scripted allocations (`alloc.jsonl`), which state the nodes that each task holds after
//! each event.
//!
//! The file has one JSON object per line, with two fields. `event` is the index of the event in the log slice, or 0 for
//! the initial allocation. `allocation` maps each task name to a list of node names. Other fields are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use gleaner_domain::EventLog;
use gleaner_domain::Script;
use gleaner_domain::error::Result;
use gleaner_io::fault::Place;
use gleaner_io::source::Source;
use gleaner_io::{Gatherer, Loaded};

/// Indices of nodes, by task name.
type Nodes = BTreeMap<String, Vec<u32>>;

#[derive(Deserialize)]
struct Line {
    event: usize,
    allocation: BTreeMap<String, Vec<String>>,
}

/// Reads a script for `log`, the slice of the log that will be replayed.
///
/// # Errors
/// The file cannot be read or has faults, which are reported together. Faults are lines that are not objects with both
/// fields, repeated events, nodes that are not in the log, and nodes that occur twice in a line.
pub fn read(path: &Path, log: &EventLog) -> Result<Loaded<Script>> {
    let source = Source::open(path)?;
    let bytes = source.read_all()?;
    let index = log.nodes().iter().map(String::as_str).zip(0..).collect();
    let mut events = BTreeMap::new();
    let mut faults = Gatherer::default();
    for (number, line) in (1..).zip(bytes.split(|&b| b == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err((found, expected)) = read_line(line, &index, &mut events) {
            faults.add(source.fault(found, expected).at(Place::Line(number)))?;
        }
    }
    let script = Script {
        events,
        file: path.display().to_string(),
    };
    Ok(Loaded {
        value: faults.finish(script)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Reads a line into `events`. The error states the value found and the value expected.
fn read_line(
    line: &[u8],
    index: &BTreeMap<&str, u32>,
    events: &mut BTreeMap<usize, Nodes>,
) -> Result<(), (String, &'static str)> {
    const EXAMPLE: &str = r#"an object such as {"event": 1, "allocation": {"task": ["node"]}}"#;
    let line: Line = serde_json::from_slice(line).map_err(|e| (e.to_string(), EXAMPLE))?;
    let event = line.event;
    let nodes = resolve(line, index)?;
    match events.insert(event, nodes) {
        None => Ok(()),
        Some(_) => Err((format!("event {event} a second time"), "one line per event")),
    }
}

/// Converts node names to indices. A name that is unknown or occurs twice is an error, which states the value found and
/// the value expected.
fn resolve(line: Line, index: &BTreeMap<&str, u32>) -> Result<Nodes, (String, &'static str)> {
    let mut seen = BTreeSet::new();
    let mut node = |name: String| match index.get(name.as_str()) {
        None => Err((format!("node {name}"), "nodes of the log slice")),
        Some(node) if !seen.insert(*node) => Err((
            format!("node {name} a second time"),
            "each node at most once per event",
        )),
        Some(node) => Ok(*node),
    };
    let mut own = |(task, nodes): (String, Vec<String>)| {
        let nodes: Result<Vec<u32>, _> = nodes.into_iter().map(&mut node).collect();
        Ok((task, nodes?))
    };
    line.allocation.into_iter().map(&mut own).collect()
}
