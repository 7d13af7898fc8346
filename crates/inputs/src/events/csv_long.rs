//! Reads long CSV. [`super::long`] describes the meaning of the rows.

use csv::ByteRecord;

use super::Read;
use super::assemble::{EXPECTED_STATE, is_idle};
use super::long::{LongBuilder, STATE_NAMES};
use super::placing::Placing;
use gleaner_domain::Utc;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::delimited::Records;
use gleaner_io::fault::Place;
use gleaner_io::fault::show;

/// The indexes of the three columns.
struct Columns {
    time: usize,
    node: usize,
    state: usize,
}

/// Whether a header is in the long form: it has the columns `node` and `state`, or `node` and `idle`. A wide log is
/// unlikely to have nodes with both names of such a pair.
pub(super) fn is_long(header: &ByteRecord) -> bool {
    let has = |name: &str| header.iter().any(|column| column == name.as_bytes());
    has("node") && STATE_NAMES.iter().any(|name| has(name))
}

pub(super) fn read(mut records: Records<'_>, placing: Placing) -> Result<Read> {
    let columns = columns(&records)?;
    let mut long = LongBuilder::new(records.source.path(), placing);
    let mut record = ByteRecord::new();
    let mut last_time = (Vec::new(), Utc(0));
    while let Some(line) = records.next(&mut record)? {
        let place = Place::Line(line);
        if record.len() != 3 {
            let found = counted(record.len(), "field");
            long.log.fault(place, "", found, "time, node and state")?;
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
        read_row(&mut long, last_time.1, node, state, place)?;
    }
    long.finish()
}

/// Reads the node and state of a row. If both are empty, the row begins an event.
fn read_row(
    long: &mut LongBuilder<'_>,
    time: Utc,
    node: &[u8],
    state: &[u8],
    place: Place,
) -> Result<()> {
    if node.is_empty() && state.is_empty() {
        return long.begin(time, place);
    }
    let Some(idle) = is_idle(state) else {
        return long.log.fault(place, "state", show(state), EXPECTED_STATE);
    };
    match std::str::from_utf8(node) {
        Ok("") | Err(_) => long
            .log
            .fault(place, "node", show(node), "a node's name in UTF-8"),
        Ok(name) => long.mention(time, name, idle, place),
    }
}

/// Finds the three columns. Other columns are not allowed.
fn columns(records: &Records<'_>) -> Result<Columns> {
    let names = records.names();
    let at = |name: &str| names.position(name);
    let state = STATE_NAMES.iter().find_map(|name| at(name));
    match (at("time"), at("node"), state, names.all().len()) {
        (Some(time), Some(node), Some(state), 3) => Ok(Columns { time, node, state }),
        _ => {
            let found = format!("the columns {}", names.all().join(", "));
            let fault = records.source.fault(found, "only time, node and state");
            Err(fault.at(Place::Line(1)).into())
        }
    }
}
