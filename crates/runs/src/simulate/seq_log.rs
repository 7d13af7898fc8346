//! The logs of cluster states in the format of Lucid's simulator (the original), with a row for each interval: a
//! minute, or longer in very long runs.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::interval::Interval;
use super::seq::{AVERAGES, COUNTS, rounded, utilisation};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::{Samples, State};
use gleaner_domain::results::states::SEQ;

/// Writes the states of a virtual cluster.
pub(super) fn write_vc(
    samples: &[Samples],
    interval: Interval,
    out: &mut impl Write,
) -> io::Result<()> {
    write_header(out)?;
    for rows in interval.rows(samples) {
        let state = state_cells(&rows.state);
        for second in interval.times(&rows) {
            writeln!(out, "{second}.0{state}")?;
        }
    }
    Ok(())
}

/// Writes the sums of the states of all virtual clusters, up to the end of the shortest series of
/// states.
///
/// As in the original, the averages are those of the first virtual cluster, truncated to integers.
pub(super) fn write_all(
    run: &PolicyRun,
    interval: Interval,
    out: &mut impl Write,
) -> io::Result<()> {
    if let [only] = run.vcs.as_slice() {
        return write_vc(&only.schedule.samples, interval, out);
    }
    write_header(out)?;
    let rows = run.vcs.iter().map(|vc| interval.rows(&vc.schedule.samples));
    let each = |rows: Samples| interval.times(&rows).zip(std::iter::repeat(rows.state));
    let mut vcs: Vec<_> = rows.map(|rows| rows.flat_map(each)).collect();
    let mut states = Vec::new();
    loop {
        states.clear();
        states.extend(vcs.iter_mut().map_while(Iterator::next));
        match states.first() {
            Some((second, first)) if states.len() == vcs.len() => {
                writeln!(out, "{second}{}", summed_cells(first, &states))?;
            }
            _ => return Ok(()),
        }
    }
}

fn write_header(out: &mut impl Write) -> io::Result<()> {
    // The table's columns, except the virtual cluster's name, which is part of the file's name.
    let names: Vec<_> = SEQ.iter().skip(1).map(|field| field.name).collect();
    writeln!(out, "{}", names.join(","))
}

fn state_cells(state: &State) -> String {
    let mut cells = String::new();
    // Writing to a string cannot fail.
    for of in COUNTS {
        let _ = write!(cells, ",{}", of(state));
    }
    for of in AVERAGES {
        push_float(&mut cells, of(state));
    }
    push_float(&mut cells, utilisation(state));
    cells
}

fn summed_cells(first: &State, states: &[(i64, State)]) -> String {
    let sum = |of: fn(&State) -> u64| states.iter().map(|(_, state)| of(state)).sum::<u64>();
    let mut cells = String::new();
    for of in COUNTS {
        let _ = write!(cells, ",{}", sum(of));
    }
    for of in AVERAGES {
        let _ = write!(cells, ",{}", of(first) as i64);
    }
    let (total, idle) = (sum(|s| s.total_gpus) as f64, sum(|s| s.idle_gpus) as f64);
    push_float(&mut cells, rounded((total - idle) / total));
    cells
}

/// Appends a cell as pandas writes a float: empty if the value is NaN.
fn push_float(cells: &mut String, number: f64) {
    cells.push(',');
    if !number.is_nan() {
        let _ = write!(cells, "{number:?}");
    }
}
