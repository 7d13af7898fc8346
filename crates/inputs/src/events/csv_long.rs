//! Reads long CSV. [`super::long`] describes the meaning of the rows.

use csv::ByteRecord;

use super::Read;
use super::assemble::{EXPECTED_STATE, is_idle};
use super::classes::COLUMN;
use super::long::{EXPECTED_COLUMNS, LongBuilder, STATE_NAMES};
use super::placing::Placing;
use gleaner_domain::Utc;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::delimited::Records;
use gleaner_io::fault::Place;
use gleaner_io::fault::show;

/// The indices of the columns.
struct Columns {
    time: usize,
    node: usize,
    state: usize,
    class: Option<usize>,
}

impl Columns {
    /// The number of fields that each row must have, and their names for messages.
    fn expected(&self) -> (usize, &'static str) {
        match self.class {
            None => (3, "time, node and state"),
            Some(_) => (4, "time, node, state and class"),
        }
    }
}

/// Whether a header is in the long form: it has the columns `node` and `state`, or `node` and `idle`. A wide log is
/// unlikely to have two nodes with these names.
pub(super) fn is_long(header: &ByteRecord) -> bool {
    let has = |name: &str| header.iter().any(|column| column == name.as_bytes());
    has("node") && STATE_NAMES.iter().any(|name| has(name))
}

pub(super) fn read(mut records: Records<'_>, placing: Placing) -> Result<Read> {
    let columns = columns(&records)?;
    let (width, expected) = columns.expected();
    let mut long = LongBuilder::new(records.source.path(), placing);
    let mut record = ByteRecord::new();
    let mut last_time = (Vec::new(), Utc(0));
    while let Some(line) = records.next(&mut record)? {
        let place = Place::Line(line);
        if record.len() != width {
            let found = counted(record.len(), "field");
            long.log.fault(place, "", found, expected)?;
            continue;
        }
        let text = &record[columns.time];
        if text != last_time.0 {
            match long.log.parse_time(text, place)? {
                Some(time) => last_time = (text.to_vec(), time),
                None => continue,
            }
        }
        let (node, state) = (&record[columns.node], &record[columns.state]);
        let class = columns.class.map(|class| &record[class]);
        let node = read_row(&mut long, last_time.1, [node, state], place)?;
        match (node, class) {
            (Some(node), Some(class)) => long.class(node, class, place)?,
            (None, Some(class)) if record[columns.node].is_empty() && !class.is_empty() => {
                let expected = "an empty cell in a row without a node";
                long.log.fault(place, COLUMN, show(class), expected)?;
            }
            _ => {}
        }
    }
    long.finish()
}

/// Reads the node and state of a row. If both are empty, the row begins an event. Returns the index of the node; `None`
/// if the row has no node or has a fault.
fn read_row(
    long: &mut LongBuilder<'_>,
    time: Utc,
    [node, state]: [&[u8]; 2],
    place: Place,
) -> Result<Option<u32>> {
    if node.is_empty() && state.is_empty() {
        return long.begin(time, place).map(|()| None);
    }
    let Some(idle) = is_idle(state) else {
        let fault = long.log.fault(place, "state", show(state), EXPECTED_STATE);
        return fault.map(|()| None);
    };
    match std::str::from_utf8(node) {
        Ok("") | Err(_) => long
            .log
            .fault(place, "node", show(node), "a node's name in UTF-8")
            .map(|()| None),
        Ok(name) => long.mention(time, name, idle, place).map(Some),
    }
}

/// Finds the columns of a long table, which must have no other columns.
fn columns(records: &Records<'_>) -> Result<Columns> {
    let names = records.names();
    let at = |name: &str| names.position(name);
    let state = STATE_NAMES.iter().find_map(|name| at(name));
    if let (Some(time), Some(node), Some(state)) = (at("time"), at("node"), state) {
        let columns = Columns {
            time,
            node,
            state,
            class: at(COLUMN),
        };
        if names.all().len() == columns.expected().0 {
            return Ok(columns);
        }
    }
    let found = format!("the columns {}", names.all().join(", "));
    let fault = records.source.fault(found, EXPECTED_COLUMNS);
    Err(fault.at(Place::Line(1)).into())
}
