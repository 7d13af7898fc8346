//! Reads wide CSV: the time, then a column of zeros and ones for every node.

use csv::ByteRecord;

use super::Read;
use super::assemble::{Assembler, EXPECTED_STATE, check_names, is_idle};
use super::placing::Placing;
use gleaner_domain::Change;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::delimited::Records;
use gleaner_io::fault::Place;
use gleaner_io::fault::show;

pub(super) fn read(mut records: Records<'_>, placing: Placing) -> Result<Read> {
    let mut log = Assembler::new(records.source.path(), placing);
    let names = push_nodes(&records, &mut log)?;
    let mut states = vec![false; names.len()];
    let mut record = ByteRecord::new();
    let mut changes = Vec::new();
    while let Some(line) = records.next(&mut record)? {
        let place = Place::Line(line);
        if record.len() != names.len() + 1 {
            let found = counted(record.len(), "field");
            let expected = format!("{}, as in the header", names.len() + 1);
            log.fault(place, "", found, expected)?;
            continue;
        }
        changes.clear();
        for (node, cell) in record.iter().skip(1).enumerate() {
            let Some(idle) = is_idle(cell) else {
                log.fault(place, &names[node], show(cell), EXPECTED_STATE)?;
                continue;
            };
            if std::mem::replace(&mut states[node], idle) != idle {
                changes.push(Change::new(node as u32, idle));
            }
        }
        if let Some(time) = log.parse_time(&record[0], place)? {
            log.check_order(time, place)?;
            log.push_row(time, changes.drain(..))?;
        }
    }
    log.finish()
}

/// Adds the nodes of the header to the log. Returns their names.
fn push_nodes(records: &Records<'_>, log: &mut Assembler<'_>) -> Result<Vec<String>> {
    let columns = records.header.iter().skip(1);
    let names: Vec<_> = columns
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    check_names(records.source.path(), &names, log.faults())?;
    for (name, column) in names.iter().zip(records.header.iter().skip(1)) {
        if name.as_bytes() != column {
            log.fault(
                Place::Line(1),
                name,
                "bytes that are not UTF-8",
                "a node's name",
            )?;
        }
        log.push_node(name)?;
    }
    Ok(names)
}
