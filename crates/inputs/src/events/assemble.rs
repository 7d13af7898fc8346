//! Assembles event logs row by row, and creates the faults that the readers of several formats report.

use std::collections::BTreeMap;
use std::path::Path;

use super::Read;
use super::placing::Placing;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::events::{MAX_CHANGES, MAX_NODES, MAX_ROWS};
use gleaner_domain::{Change, EventLogBuilder, Local, NodeClasses, Stamp, Utc};
use gleaner_io::Gatherer;
use gleaner_io::fault::{Place, show};

/// Builds a log row by row, checks the order of times, and collects faults.
pub(super) struct Assembler<'a> {
    path: &'a Path,
    builder: EventLogBuilder,
    /// Converts times to UTC.
    placing: Placing,
    /// Time of the previous row.
    last: Option<Utc>,
    faults: Gatherer,
}

impl<'a> Assembler<'a> {
    pub fn new(path: &'a Path, placing: Placing) -> Self {
        Assembler {
            path,
            builder: EventLogBuilder::new(Vec::new()),
            placing,
            last: None,
            faults: Gatherer::default(),
        }
    }

    /// The file from which the log is read.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The names of the nodes added so far.
    pub fn nodes(&self) -> &[String] {
        self.builder.nodes()
    }

    /// Adds a node, which is busy until its first change. Returns the node's index.
    pub fn push_node(&mut self, name: &str) -> Result<u32> {
        match self.builder.push_node(name) {
            Some(index) => Ok(index),
            None => Err(too_many_nodes(self.path).into()),
        }
    }

    /// Parses the time of the next row. If the time is invalid, records a fault and returns `None`.
    pub fn parse_time(&mut self, text: &[u8], place: Place) -> Result<Option<Utc>> {
        let stamp = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
        let placed = match stamp {
            Some(stamp) => self.placing.place(stamp),
            None => Err(EXPECTED_TIME.to_owned()),
        };
        match placed {
            Ok(time) => Ok(Some(time)),
            Err(expected) => {
                self.fault(place, "time", show(text), expected)?;
                Ok(None)
            }
        }
    }

    /// Records a fault if the time is earlier than the time of the previous row.
    pub fn check_order(&mut self, time: Utc, place: Place) -> Result<()> {
        if let Some(last) = self.last.filter(|last| time < *last) {
            let fault = time_backwards(self.path, self.shown(time), self.shown(last), place);
            self.faults.add(fault)?;
        }
        self.last = Some(time);
        Ok(())
    }

    /// The time of a row, as shown in messages.
    pub fn shown(&self, time: Utc) -> Local {
        self.placing.shown(time)
    }

    /// Adds a row of changes. The changes must be sorted by node, and each must flip the state of its node.
    pub fn push_row(&mut self, time: Utc, changes: impl IntoIterator<Item = Change>) -> Result<()> {
        self.builder.push_row(time, changes);
        if self.builder.is_too_large() {
            Err(too_large(self.path).into())
        } else {
            Ok(())
        }
    }

    /// Sets the classes of the nodes.
    pub fn set_classes(&mut self, classes: Option<NodeClasses>) {
        self.builder.set_classes(classes);
    }

    /// Records a fault at `place`.
    pub fn fault(
        &mut self,
        place: Place,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<()> {
        let fault = Fault::of(self.path, found, expected);
        self.faults.add(fault.at(place).field(field))
    }

    /// The collected faults, to which the caller can add more.
    pub fn faults(&mut self) -> &mut Gatherer {
        &mut self.faults
    }

    /// Returns the log and notes for the user, or the faults if there are any.
    pub fn finish(mut self) -> Result<Read> {
        let (clock, notes) = self.placing.finish();
        self.builder.set_clock(clock);
        self.faults.finish((self.builder.finish_trusted(), notes))
    }
}

/// The expected format of a time, as stated in messages.
pub(super) const EXPECTED_TIME: &str = "a time such as 2021-02-10 20:21:15 or seconds since 1970";

/// The expected values of a state, as stated in messages.
pub(super) const EXPECTED_STATE: &str = "0 (busy) or 1 (idle)";

/// Parses the state in a cell of a CSV file. Returns `true` for idle, `false` for busy, and `None` if the state is
/// invalid. `0.0` and `1.0` are valid because pandas writes them for columns with missing values.
pub(super) fn is_idle(cell: &[u8]) -> Option<bool> {
    match cell {
        b"0" | b"0.0" => Some(false),
        b"1" | b"1.0" => Some(true),
        text if text.eq_ignore_ascii_case(b"false") => Some(false),
        text if text.eq_ignore_ascii_case(b"true") => Some(true),
        _ => None,
    }
}

/// The fault of a log with too many nodes.
pub(super) fn too_many_nodes(path: &Path) -> Fault {
    Fault::of(path, "too many nodes", format!("at most {MAX_NODES}"))
}

/// The fault of a log with too many rows or changes.
pub(super) fn too_large(path: &Path) -> Fault {
    let expected = format!("at most {MAX_ROWS} rows and {MAX_CHANGES} changes of nodes");
    Fault::of(path, "a log that is too long", expected).remedy("split the log into parts")
}

/// The fault of a row whose time is earlier than `last`, the time of the previous row.
pub(super) fn time_backwards(path: &Path, time: Local, last: Local, place: Place) -> Fault {
    Fault::of(
        path,
        time.to_string(),
        format!("{last} (the previous row) or later"),
    )
    .at(place)
    .field("time")
    .remedy(if last.seconds_since(time) <= 3600.0 {
        "sort the rows by time, or, if the clock was put back, see --timezone"
    } else {
        "sort the rows by time"
    })
}

/// Converts the time of a row to UTC. If the conversion fails, records a fault and returns the time in the file as if
/// it were in UTC.
pub(super) fn place_or_fault(
    placing: &mut Placing,
    faults: &mut Gatherer,
    path: &Path,
    stamp: Stamp,
    place: Place,
) -> Result<Utc> {
    match placing.place(stamp) {
        Ok(time) => Ok(time),
        Err(expected) => {
            let fault = Fault::of(path, stamp.to_string(), expected);
            faults.add(fault.at(place).field("time"))?;
            Ok(stamp.as_written().from_offset(0))
        }
    }
}

/// Records a fault for every node column that has no name or the same name as an earlier column.
pub(super) fn check_names(path: &Path, nodes: &[String], faults: &mut Gatherer) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (column, node) in nodes.iter().enumerate() {
        let place = Place::NodeColumn(column);
        if node.is_empty() {
            faults.add(Fault::of(path, "no name", "a node's name").at(place))?;
        } else if let Some(first) = seen.insert(node, column) {
            let found = format!("{node:?}, also the name of node column {first}");
            faults.add(
                Fault::of(path, found, "a different name for every node")
                    .at(place)
                    .remedy("drop or rename one of the two columns"),
            )?;
        }
    }
    Ok(())
}
