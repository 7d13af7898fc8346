//! Finds the changes in a table with a column per node.
//!
//! Nearly all cells of such a table equal the cell above them. States are therefore compared eight at a time: eight
//! bytes form one 64-bit word, and each byte of the XOR of two words is zero if the words agree in this byte. Only the
//! bytes that differ are inspected. For example, the words `00 01 01 00 …` and `00 01 00 00 …` have the XOR `00 00 01
//! 00 …`. If the words come from two successive rows, the state of the third node changed.

use std::path::Path;

use super::Read;
use super::assemble::{EXPECTED_STATE, check_names, time_backwards, too_large, too_many_nodes};
use super::placing::Placing;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::events::{MAX_NODES, MAX_ROWS};
use gleaner_domain::{Change, EventLog, EventLogBuilder, Utc};
use gleaner_io::Gatherer;
use gleaner_io::fault::Place;

/// Collects the changes of state in a table of zeros and ones. Changes may be found in any order, and are sorted by row
/// at the end.
///
/// Rows and nodes are numbered from 0. The time column does not count as a node.
pub(super) struct ColumnScan<'a> {
    path: &'a Path,
    nodes: Vec<String>,
    /// The changes so far, each with its row.
    found: Vec<(u32, Change)>,
    faults: Gatherer,
}

impl<'a> ColumnScan<'a> {
    /// Creates a scan of a table with `rows` rows and a column for each of `nodes`.
    pub fn new(path: &'a Path, nodes: Vec<String>, rows: usize) -> Result<Self> {
        if nodes.len() > MAX_NODES {
            return Err(too_many_nodes(path).into());
        }
        if rows > MAX_ROWS {
            return Err(too_large(path).into());
        }
        let mut faults = Gatherer::default();
        check_names(path, &nodes, &mut faults)?;
        Ok(ColumnScan {
            path,
            nodes,
            found: Vec::new(),
            faults,
        })
    }

    /// Scans the whole column of a node, with one byte per row.
    pub fn column(&mut self, node: usize, states: &[u8]) -> Result<()> {
        self.check(states, |at| (at, node))?;
        self.column_part(node, 0, 0, states);
        Ok(())
    }

    /// Scans the states of a node, starting with row `first`. Each state must be 0 or 1. `before` is the state in the
    /// row above `first`, or 0 if `first` is the top row.
    pub fn column_part(&mut self, node: usize, first: usize, before: u8, states: &[u8]) {
        let Some((&head, below)) = states.split_first() else {
            return;
        };
        let found = &mut self.found;
        let mut push = |at: usize| {
            let change = Change::new(node as u32, states[at] == 1);
            found.push(((first + at) as u32, change));
        };
        if head != before {
            push(0);
        }
        each_difference(states, below, |at| push(at + 1));
    }

    /// Scans a whole table that is stored row by row. Each row contains the states of `nodes`, in this order.
    pub fn rows(&mut self, nodes: &[usize], states: &[u8]) -> Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        self.check(states, |at| (at / nodes.len(), nodes[at % nodes.len()]))?;
        let busy = vec![0; nodes.len()];
        let mut above = busy.as_slice();
        for (row, here) in (0..).zip(states.chunks_exact(nodes.len())) {
            each_difference(above, here, |at| {
                let change = Change::new(nodes[at] as u32, here[at] == 1);
                self.found.push((row, change));
            });
            above = here;
        }
        Ok(())
    }

    /// Records a cell that is neither 0 nor 1 as a fault.
    pub fn bad_cell(&mut self, row: usize, node: usize, found: impl Into<String>) -> Result<()> {
        let fault = Fault::of(self.path, found, EXPECTED_STATE).at(Place::Row(row));
        self.faults.add(fault.field(self.nodes[node].as_str()))
    }

    /// The collected faults, to which the caller can add more.
    pub fn faults(&mut self) -> &mut Gatherer {
        &mut self.faults
    }

    /// Returns the log and notes for the user. `times` contains the time of every row.
    pub fn finish(mut self, times: &[Utc], placing: Placing) -> Result<Read> {
        for (row, pair) in (1..).zip(times.windows(2)) {
            if pair[1] < pair[0] {
                let fault = {
                    let [last, time] = [pair[0], pair[1]].map(|time| placing.shown(time));
                    time_backwards(self.path, time, last, Place::Row(row))
                };
                self.faults.add(fault)?;
            }
        }
        self.faults.finish(())?;
        let (clock, notes) = placing.finish();
        let mut builder = EventLogBuilder::new(self.nodes);
        builder.set_clock(clock);
        Ok((in_row_order(builder, times, &self.found), notes))
    }

    /// Records every byte that is neither 0 nor 1 as a fault. `cell` returns the row and node of the byte at an index.
    fn check(&mut self, states: &[u8], cell: impl Fn(usize) -> (usize, usize)) -> Result<()> {
        // Nearly every file is valid, and this check is fast because the compiler vectorises it. The slower loop below
        // rarely runs.
        if states.iter().fold(0, |all, state| all | state) <= 1 {
            return Ok(());
        }
        for (at, state) in states.iter().enumerate().filter(|(_, state)| **state > 1) {
            let (row, node) = cell(at);
            self.bad_cell(row, node, state.cast_signed().to_string())?;
        }
        Ok(())
    }
}

/// Calls `found` with every index at which the two slices differ, up to the length of the shorter
/// slice.
fn each_difference(above: &[u8], here: &[u8], mut found: impl FnMut(usize)) {
    let length = above.len().min(here.len());
    let (above_words, above_rest) = above[..length].as_chunks::<8>();
    let (here_words, here_rest) = here[..length].as_chunks::<8>();
    for (word, (a, h)) in above_words.iter().zip(here_words).enumerate() {
        let mut differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*h);
        // The words are little-endian, so the first byte has the lowest bits. The trailing zeros
        // locate the first byte that differs, and clearing that byte exposes the next differing
        // byte.
        while differ != 0 {
            let byte = differ.trailing_zeros() / 8;
            found(8 * word + byte as usize);
            differ &= !(0xff << (8 * byte));
        }
    }
    for (at, (a, h)) in (8 * here_words.len()..).zip(above_rest.iter().zip(here_rest)) {
        if a != h {
            found(at);
        }
    }
}

/// Builds the log from changes in any order. Changes are put into row order by a counting sort.
/// `ends` first holds the index at which the changes of each row begin, and later the index at
/// which they end. For example, three changes in the rows 2, 0 and 2 give the counts 1, 0 and 2, so
/// the changes of row 2 begin at index 1. Within a row, changes are sorted by node.
fn in_row_order(mut builder: EventLogBuilder, times: &[Utc], found: &[(u32, Change)]) -> EventLog {
    let mut ends = vec![0usize; times.len() + 1];
    for (row, _) in found {
        ends[*row as usize + 1] += 1;
    }
    for row in 1..ends.len() {
        ends[row] += ends[row - 1];
    }
    let mut changes = vec![Change::new(0, false); found.len()];
    for (row, change) in found {
        let next = &mut ends[*row as usize];
        changes[*next] = *change;
        *next += 1;
    }
    let mut start = 0;
    for (time, &end) in times.iter().zip(&ends) {
        let row = &mut changes[start..end];
        if !row.is_sorted() {
            row.sort_unstable();
        }
        builder.push_row(*time, row.iter().copied());
        start = end;
    }
    builder.finish_trusted()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n}")).collect()
    }

    fn seconds(count: usize) -> Vec<Utc> {
        (0..count as i64).map(Utc::from_seconds).collect()
    }

    /// The log of a table, built cell by cell.
    fn slow(matrix: &[Vec<u8>]) -> EventLog {
        let width = matrix[0].len();
        let mut builder = EventLogBuilder::new(names(width));
        let mut above = vec![0; width];
        for (time, row) in seconds(matrix.len()).into_iter().zip(matrix) {
            let changed = (0..width).filter(|&n| row[n] != above[n]);
            let changes: Vec<_> = changed
                .map(|n| Change::new(n as u32, row[n] == 1))
                .collect();
            builder.push_row(time, changes);
            above.clone_from(row);
        }
        builder.finish().unwrap()
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn scans_by_column_and_by_row_find_every_change(
            matrix in (1usize..30).prop_flat_map(|w| {
                prop::collection::vec(prop::collection::vec(0u8..2, w), 1..40)
            }),
        ) {
            let (path, width, height) = (Path::new("x"), matrix[0].len(), matrix.len());
            let mut by_column = ColumnScan::new(path, names(width), height).unwrap();
            // The columns are scanned in reverse order, because the blocks of a pickled table may come in any order.
            for node in (0..width).rev() {
                let column: Vec<u8> = matrix.iter().map(|row| row[node]).collect();
                by_column.column(node, &column).unwrap();
            }
            let mut by_row = ColumnScan::new(path, names(width), height).unwrap();
            let all: Vec<usize> = (0..width).collect();
            by_row.rows(&all, &matrix.concat()).unwrap();

            let expected = slow(&matrix);
            let times = seconds(height);
            let log = |scan: ColumnScan<'_>| scan.finish(&times, Placing::default()).unwrap().0;
            prop_assert_eq!(log(by_column), expected.clone());
            prop_assert_eq!(log(by_row), expected);
        }
    }

    #[test]
    fn every_kind_of_fault_is_gathered() {
        let nodes = vec!["a".to_owned(), "b".to_owned(), "a".to_owned()];
        let mut scan = ColumnScan::new(Path::new("log"), nodes, 3).unwrap();
        scan.column(1, &[0, 0xff, 7]).unwrap();
        let times = [3, 2, 5].map(Utc::from_seconds);
        let message = scan
            .finish(&times, Placing::default())
            .unwrap_err()
            .to_string();
        for part in [
            "4 faults",
            "node column 2 (counting from 0): found \"a\", also the name of node column 0",
            "row 1 (counting from 0), b: found -1, expected 0 (busy) or 1 (idle)",
            "row 2 (counting from 0), b: found 7",
            "row 1 (counting from 0), time: found 1970-01-01 00:00:02, expected 1970-01-01 00:00:03",
        ] {
            assert!(message.contains(part), "{part} not in {message}");
        }
    }
}
