//! Reads the states of a cluster over time, and averages them over each hour. The file has a row for each virtual
//! cluster and step. The values of all virtual clusters are added up.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::super::files::RunFiles;
use gleaner_domain::error::Result;
use gleaner_domain::results::simulate::is_lucid;
use gleaner_domain::results::states::{IDLE_GPUS, PENDING_JOBS, TIME, TOTAL_GPUS};
use gleaner_io::fault::Place;
use gleaner_io::parquet::{Table, Value};
use gleaner_io::source::Source;

/// Valid range of the time between two states, in seconds.
pub(super) const STEPS: RangeInclusive<i64> = 60..=1_000_000_000_000;
/// Seconds in an hour.
const HOUR: i64 = 3600;
/// Maximum number of hours that are kept, about eleven years. In longer runs, several hours are averaged together.
const MOST_HOURS: i64 = 100_000;

/// Averages over an hour, for all virtual clusters together, including the profiler if there is one. In
/// runs of many years, the averages are over several hours.
///
/// After its last job has ended, a virtual cluster has no states and counts as idle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hour {
    /// Start of the hour in seconds, on the trace's clock.
    pub start: i64,
    /// Mean number of GPUs in virtual clusters that still have jobs.
    total: f64,
    /// Mean number of the GPUs in `total` that no job holds.
    idle: f64,
    /// Mean number of waiting jobs.
    pub pending: f64,
}

impl Hour {
    /// Mean number of GPUs that jobs hold.
    pub fn busy(&self) -> f64 {
        self.total - self.idle
    }
}

/// Reads `<policy>_seq.parquet`, and the table of the profiler if the policy uses one. Rows are
/// `step` seconds apart, and the run lasts `span` seconds.
pub(super) fn read(files: &RunFiles<'_>, policy: &str, step: i64, span: i64) -> Result<Vec<Hour>> {
    let mut hours = BTreeMap::new();
    let scale = Scale::new(step, span);
    add(files, &format!("{policy}_seq.parquet"), scale, &mut hours)?;
    if is_lucid(policy) && files.has("profiler_seq.parquet") {
        add(files, "profiler_seq.parquet", scale, &mut hours)?;
    }
    Ok(hours.into_values().collect())
}

/// Seconds between two rows, and seconds per averaging interval: an hour, or longer in very long runs.
#[derive(Clone, Copy)]
struct Scale {
    row: i64,
    hour: i64,
}

impl Scale {
    fn new(step: i64, span: i64) -> Self {
        let least = HOUR.max(step);
        let times = span.max(0) / least / MOST_HOURS + 1;
        Scale {
            row: step,
            hour: least.saturating_mul(times),
        }
    }
}

/// Adds the averages of one table to the hours.
fn add(
    files: &RunFiles<'_>,
    name: &str,
    scale: Scale,
    hours: &mut BTreeMap<i64, Hour>,
) -> Result<()> {
    let source = files.open(name)?;
    let table = Table::open(&source)?;
    let runs = runs_of_hours(&source, &table, scale.hour)?;
    let columns: [Column; 3] = [
        (TOTAL_GPUS.name, |hour| &mut hour.total),
        (IDLE_GPUS.name, |hour| &mut hour.idle),
        (PENDING_JOBS.name, |hour| &mut hour.pending),
    ];
    for (column, of) in columns {
        for ((hour, _), sum) in runs.iter().zip(sums(&source, &table, column, &runs)?) {
            let empty = || Hour {
                start: hour.saturating_mul(scale.hour),
                ..Hour::default()
            };
            let mean = sum * scale.row as f64 / scale.hour as f64;
            *of(hours.entry(*hour).or_insert_with(empty)) += mean;
        }
    }
    Ok(())
}

/// The name of a column, and the field of [`Hour`] that holds the column's average.
type Column = (&'static str, fn(&mut Hour) -> &mut f64);

/// Runs of consecutive rows within the same averaging interval: the index of the interval, which is 0 at second 0, and
/// the number of rows.
type Runs = Vec<(i64, u64)>;

/// Groups the rows of a table into averaging intervals of `seconds` seconds.
fn runs_of_hours(source: &Source, table: &Table<'_>, seconds: i64) -> Result<Runs> {
    let mut runs: Runs = Vec::new();
    visit(source, table, TIME.name, |_, time| {
        let hour = time.div_euclid(seconds);
        match runs.last_mut() {
            Some((last, count)) if *last == hour => *count += 1,
            _ => runs.push((hour, 1)),
        }
    })?;
    Ok(runs)
}

/// The sum of a column over each run of rows.
fn sums(source: &Source, table: &Table<'_>, column: &str, runs: &Runs) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; runs.len()];
    let (mut run, mut left) = (0, runs.first().map_or(0, |run| run.1));
    visit(source, table, column, |_, value| {
        if left == 0 {
            run += 1;
            left = runs.get(run).map_or(u64::MAX, |run| run.1);
        }
        left -= 1;
        if let Some(sum) = sums.get_mut(run) {
            *sum += value as f64;
        }
    })?;
    Ok(sums)
}

/// Calls `each` with the index of every row and the row's integer in the column `name`.
fn visit(
    source: &Source,
    table: &Table<'_>,
    name: &str,
    mut each: impl FnMut(usize, i64),
) -> Result<()> {
    let Some(column) = table.column(name) else {
        let fault = source.fault("no such column", "the columns that gleaner simulate writes");
        return Err(fault.at(Place::Header).field(name).into());
    };
    table.visit(column, |row, value| match value {
        Value::Int(number) => {
            each(row, number);
            Ok(())
        }
        other => {
            let fault = source.fault(other.to_string(), "a whole number");
            Err(fault.at(Place::Row(row)).field(name).into())
        }
    })
}
