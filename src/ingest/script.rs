//! Scripted allocations (`alloc.jsonl`): which task holds which nodes after each event.
//!
//! One JSON object a line: `event` (index in the log slice; 0 is the initial deal),
//! `allocation` (task name to a list of node names). Other fields are ignored.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::source::Source;
use super::{Gatherer, Loaded};
use crate::domain::EventLog;
use crate::error::{Fault, Result};
use crate::replay::Scripted;

#[derive(Deserialize)]
struct Line {
    event: usize,
    allocation: BTreeMap<String, Vec<String>>,
}

/// Reads a script for `log`, the slice that will be replayed.
///
/// # Errors
/// The file cannot be read, a line is no such object, an event occurs twice, or a
/// node is not in the log; gathered.
pub fn read(path: &Path, log: &EventLog) -> Result<Loaded<Scripted>> {
    let source = Source::open(path)?;
    let bytes = source.read_all()?;
    let index: BTreeMap<&str, u32> = log.nodes().iter().map(String::as_str).zip(0..).collect();
    let mut events = BTreeMap::new();
    let mut faults = Gatherer::default();
    for (number, line) in (1..).zip(bytes.split(|&b| b == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let place = format!("line {number}");
        let fault =
            |found: String, expected: &str| Fault::of(path, found, expected).at(place.as_str());
        let parsed = serde_json::from_slice(line).map_err(|e| {
            fault(
                e.to_string(),
                r#"an object such as {"event": 1, "allocation": {"task": ["node"]}}"#,
            )
        });
        let result = parsed.and_then(|line: Line| {
            let event = line.event;
            let nodes = resolve(line, &index)
                .map_err(|node| fault(format!("node {node}"), "nodes of the log slice"))?;
            if events.insert(event, nodes).is_some() {
                return Err(fault(format!("event {event} again"), "one line an event"));
            }
            Ok(())
        });
        if let Err(fault) = result {
            faults.add(fault)?;
        }
    }
    let script = Scripted {
        events,
        file: path.display().to_string(),
    };
    Ok(Loaded {
        value: faults.finish(script)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Node names to indices; the first unknown name where there is one.
fn resolve(line: Line, index: &BTreeMap<&str, u32>) -> Result<BTreeMap<String, Vec<u32>>, String> {
    let own = |nodes: Vec<String>| {
        nodes
            .into_iter()
            .map(|node| index.get(node.as_str()).copied().ok_or(node))
            .collect::<Result<Vec<u32>, String>>()
    };
    line.allocation
        .into_iter()
        .map(|(task, nodes)| Ok((task, own(nodes)?)))
        .collect()
}
