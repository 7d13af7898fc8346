//! Job traces of GPU clusters.
//!
//! # Columns
//!
//! | column | |
//! |---|---|
//! | `job_id` | unique; where missing, `jobname` is the id |
//! | `vc` | virtual cluster |
//! | `gpu_num` | GPUs; jobs of 0 are left out |
//! | `submit_time` | see below |
//! | `duration` | whole seconds, at least 1 |
//! | `user`, `jobname`, `cpu_num`, `state` | may be missing |
//! | `model`, `dataset`, `batchsize`, `amp` | what it trains: all or none |
//! | `speed`, `gpu_util`, `gmem_util`, `gmem` | its usage; else that of the workload's profile |
//!
//! Other columns are ignored. So the artifact's `cluster_full_log.csv`, Helios'
//! `cluster_log.csv` and Philly's logs are read as they are; Philly's states `Pass`,
//! `Failed` and `Killed` become `COMPLETED`, `FAILED` and `CANCELLED`.
//!
//! # Times
//!
//! **Whole seconds** are those of the trace's own clock, and stay as they are. A VC that
//! the cluster lacks is a fault. The simulation starts with the first job's day. Seconds as
//! late as those since 1970 are today count from 1970.
//!
//! **Civil times** make a raw log; with offsets from UTC, they are told with that of the first. Its jobs of other VCs are left out, and those before
//! [`Options::epoch`]. Second 0 is the submission of the first job that remains. A
//! window from [`Options::from`] to [`Options::to`], both counted from the epoch,
//! then cuts out the jobs submitted at these seconds, which is how the original
//! cuts; the simulation starts with the window, or else at 0.

use std::collections::BTreeMap;
use std::path::Path;

use super::clock::Form;
use crate::domain::{Cluster, Stamp, Time, Trace, Workload};
use crate::error::{Error, Faults, Result};
use crate::ingest::Loaded;
use crate::ingest::rows::{Header, Table};
use crate::ingest::source::Source;
use crate::lucid::inputs::Profile;

mod columns;
mod job;
mod left_out;
mod reader;
mod survey;
#[cfg(test)]
mod tests;
mod window;

use columns::Columns;
use reader::Reader;
use survey::Survey;
use window::Window;

/// How a trace is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// First submission of the window, of a trace with civil times.
    pub from: Option<Stamp>,
    /// Last submission of the window.
    pub to: Option<Stamp>,
    /// Where the calendar of the window starts: the first job's submission, unless given.
    /// Earlier jobs are left out.
    pub epoch: Option<Time>,
    /// Leave out jobs with faults instead of stopping.
    pub skip_invalid: bool,
    /// Profiles that every workload of the trace must have.
    pub profiles: Option<&'a BTreeMap<Workload, Profile>>,
    /// But for this: workloads may lack one.
    pub unprofiled: bool,
}

/// A trace, and what was wrong with jobs that were left out.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceInput {
    /// The sound jobs.
    pub trace: Trace,
    /// Faults of the jobs left out; empty unless such jobs may be skipped.
    pub skipped: Faults,
    /// The second at which a simulation starts.
    pub start: i64,
}

/// Reads a trace of jobs on this cluster.
///
/// # Errors
/// The file cannot be read, or has faults, gathered: missing columns, and, unless they may
/// be skipped, jobs with faults; no job remains. A window that does not fit the trace is
/// [`Error::Usage`].
pub fn read(path: &Path, cluster: &Cluster, options: Options<'_>) -> Result<Loaded<TraceInput>> {
    let source = Source::open(path)?;
    let mut header = Header::open(&source)?;
    let columns = Columns::pick(&mut header)?;
    let table = header.finish()?;
    let vcs = cluster.vcs.iter().map(|vc| vc.name.as_str());
    let vcs = (0..).zip(vcs).map(|(index, name)| (name, index)).collect();
    let survey = Survey::of(&table, &columns, &vcs, options.epoch)?;
    let window = window(path, &survey, &options)?;
    let mut reader = Reader::new(cluster, vcs, columns, window, options);
    read_rows(&table, &mut reader)?;
    let (value, notes) = reader.finish(&table)?;
    Ok(Loaded {
        value,
        sources: vec![source.id().clone()],
        notes,
    })
}

fn read_rows(table: &Table<'_>, reader: &mut Reader<'_>) -> Result<()> {
    table.visit(|row| reader.row(row))?;
    reader.drop_repeated(table)
}

/// The window of a trace, where it has the times for one.
fn window(path: &Path, survey: &Survey, options: &Options<'_>) -> Result<Window> {
    let epoch = options.epoch.map(Stamp::Local);
    let dated = options.from.or(options.to).or(epoch);
    if let (Some(time), Form::Seconds) = (dated, survey.form) {
        return Err(Error::Usage(format!(
            "{} tells times as seconds, so that {time} says nothing of it: cut the file instead",
            path.display()
        )));
    }
    let window = Window::new(survey, options)?;
    if window.is_empty() {
        return Err(Error::Usage(
            "the window of submissions ends before it begins".to_owned(),
        ));
    }
    Ok(window)
}
