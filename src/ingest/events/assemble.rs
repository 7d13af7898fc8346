//! Puts rows together as they are read, and words the faults that formats share.

use std::collections::BTreeMap;
use std::path::Path;

use crate::domain::events::MAX_NODES;
use crate::domain::{Change, EventLog, EventLogBuilder, Time};
use crate::error::{Fault, Result};
use crate::ingest::Gatherer;
use crate::ingest::fault::{Place, show};

/// Builds a log row by row, watches over the order of times, and gathers faults.
pub(super) struct Assembler<'a> {
    path: &'a Path,
    builder: EventLogBuilder,
    last: Option<Time>,
    faults: Gatherer,
}

impl<'a> Assembler<'a> {
    pub fn new(path: &'a Path) -> Self {
        Assembler {
            path,
            builder: EventLogBuilder::new(Vec::new()),
            last: None,
            faults: Gatherer::default(),
        }
    }

    /// Adds a node, busy until it changes; its index.
    pub fn push_node(&mut self, name: &str) -> Result<u32> {
        match self.builder.push_node(name) {
            Some(index) => Ok(index),
            None => Err(too_many_nodes(self.path).into()),
        }
    }

    /// Reads a time; what is none is gathered.
    pub fn parse_time(&mut self, text: &[u8], place: Place) -> Result<Option<Time>> {
        let time = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
        if time.is_none() {
            self.fault(place, "time", show(text), EXPECTED_TIME)?;
        }
        Ok(time)
    }

    /// Checks that a row's time is not before the last row's.
    pub fn check_order(&mut self, time: Time, place: Place) -> Result<()> {
        if let Some(last) = self.last.filter(|last| time < *last) {
            let fault = time_backwards(self.path, time, last, place);
            self.faults.add(fault)?;
        }
        self.last = Some(time);
        Ok(())
    }

    /// Adds a row of changes that are sorted by node and change something.
    pub fn push_row(&mut self, time: Time, changes: impl IntoIterator<Item = Change>) {
        self.builder.push_row(time, changes);
    }

    /// Gathers a fault.
    pub fn fault(
        &mut self,
        place: Place,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<()> {
        let fault = Fault::of(self.path, found, expected);
        self.faults.add(fault.at(place.to_string()).field(field))
    }

    /// The faults, to add some.
    pub fn faults(&mut self) -> &mut Gatherer {
        &mut self.faults
    }

    /// The log, where there was no fault.
    pub fn finish(self) -> Result<EventLog> {
        self.faults.finish(self.builder.finish())
    }
}

/// What is expected of a time in a text.
pub(super) const EXPECTED_TIME: &str = "a time such as 2021-02-10 20:21:15 or seconds since 1970";

/// What is expected of a state.
pub(super) const EXPECTED_STATE: &str = "0 (busy) or 1 (idle)";

/// More nodes than a log can have.
pub(super) fn too_many_nodes(path: &Path) -> Fault {
    Fault::of(path, "more nodes", format!("at most {MAX_NODES}"))
}

/// A row earlier than the row before it.
pub(super) fn time_backwards(path: &Path, time: Time, last: Time, place: Place) -> Fault {
    Fault::of(
        path,
        time.to_string(),
        format!("{last} (the row before) or later"),
    )
    .at(place.to_string())
    .field("time")
    .remedy("sort the rows by time")
}

/// Gathers node columns without a name or with another's.
pub(super) fn check_names(path: &Path, nodes: &[String], faults: &mut Gatherer) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (column, node) in nodes.iter().enumerate() {
        let place = format!("node column {column} (counting from 0)");
        if node.is_empty() {
            faults.add(Fault::of(path, "no name", "a node's name").at(place))?;
        } else if let Some(first) = seen.insert(node, column) {
            let found = format!("{node:?}, also the name of node column {first}");
            faults.add(
                Fault::of(path, found, "every node once")
                    .at(place)
                    .remedy("drop or rename one of the two"),
            )?;
        }
    }
    Ok(())
}
