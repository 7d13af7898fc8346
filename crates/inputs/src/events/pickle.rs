//! Reads event logs in the original's format: a pickled pandas DataFrame with one `int8` column per node.

use super::Read;
use super::assemble::{EXPECTED_TIME, place_or_fault};
use super::columns::ColumnScan;
use super::placing::Placing;
use crate::pickled::{of_column, of_pickle};
use gleaner_domain::error::Result;
use gleaner_domain::{Local, Stamp, Utc};
use gleaner_io::Gatherer;
use gleaner_io::fault::Place;
use gleaner_io::source::Source;
use gleaner_pandas::{Block, BlockData, Frame, ItemType, Matrix, NAT, Order};

pub(super) fn read(source: &Source, mut placing: Placing) -> Result<Read> {
    let bytes = source.read_all()?;
    let frame = gleaner_pandas::read_frame(&bytes).map_err(|e| of_pickle(source.path(), &e))?;
    let names = frame
        .columns()
        .iter()
        .map(|name| name.clone().into_owned())
        .collect();
    let mut scan = ColumnScan::new(source.path(), names, frame.rows())?;
    for block in frame.blocks() {
        match block.data() {
            BlockData::Numbers(matrix) if is_bytes(matrix) => scan_bytes(&mut scan, block, matrix)?,
            _ => scan_cells(&mut scan, &frame, block)?,
        }
    }
    let times = times(source, &frame, &mut placing, scan.faults())?;
    scan.finish(&times, placing)
}

/// Whether a block has one byte per cell. Such a block can be scanned without conversion.
fn is_bytes(matrix: &Matrix<'_>) -> bool {
    matches!(matrix.item(), ItemType::Bool | ItemType::I8 | ItemType::U8)
}

/// Scans a block with one byte per cell.
fn scan_bytes(scan: &mut ColumnScan<'_>, block: &Block<'_>, matrix: &Matrix<'_>) -> Result<()> {
    if matrix.order() == Order::Rows {
        return scan.rows(block.columns(), matrix.bytes());
    }
    for (column, node) in block.columns().iter().enumerate() {
        scan.column(*node, matrix.column_bytes(column).unwrap_or_default())?;
    }
    Ok(())
}

/// Scans a block with wider cells, one cell at a time.
fn scan_cells(scan: &mut ColumnScan<'_>, frame: &Frame<'_>, block: &Block<'_>) -> Result<()> {
    let mut states = Vec::with_capacity(frame.rows());
    for &node in block.columns() {
        states.clear();
        for row in 0..frame.rows() {
            let cell = frame.cell(node, row);
            let state = match cell.as_ref().and_then(|cell| cell.as_f64()) {
                Some(0.0) => 0,
                Some(1.0) => 1,
                _ => {
                    let found = cell.map_or_else(|| "nothing".to_owned(), |cell| cell.describe());
                    scan.bad_cell(row, node, found)?;
                    0
                }
            };
            states.push(state);
        }
        scan.column(node, &states)?;
    }
    Ok(())
}

/// The times of all rows, from the index. A missing time is a fault, and the row gets the time of
/// the previous row.
fn times(
    source: &Source,
    frame: &Frame<'_>,
    placing: &mut Placing,
    faults: &mut Gatherer,
) -> Result<Vec<Utc>> {
    let index = frame
        .index_datetimes_ns()
        .map_err(|e| of_column(source.path(), &e))?;
    let mut times = Vec::with_capacity(index.len());
    let mut last = Utc(NAT);
    for (row, nanos) in index.iter().enumerate() {
        if *nanos == NAT {
            let fault = source.fault("a missing time (NaT)", EXPECTED_TIME);
            faults.add(fault.at(Place::Row(row)).field("index"))?;
        } else {
            let stamp = Stamp::Local(Local(*nanos));
            last = place_or_fault(placing, faults, source.path(), stamp, Place::Row(row))?;
        }
        times.push(last);
    }
    Ok(times)
}
