//! Reads job traces of GPU clusters.
//!
//! `JobRow` declares the columns. Other columns are ignored, so the artifact's `cluster_full_log.csv`, Helios'
//! `cluster_log.csv` and Philly's logs can be read without changes. Philly's states `Pass`, `Failed` and `Killed`
//! become `COMPLETED`, `FAILED` and `CANCELLED`.
//!
//! # Times
//!
//! **Whole seconds** are times on the trace's own clock, and are used unchanged. It is a fault if the cluster does not
//! have the VC of a job. The simulation starts at the beginning of the day of the first submission. If the first
//! submission is so late that no other origin is plausible, the seconds are interpreted as seconds since 1970.
//!
//! **Civil times** indicate that the trace is a raw log. If they have offsets from UTC, all times are converted to the
//! first offset. Jobs of VCs that the cluster does not have are left out, and so are jobs submitted before
//! [`Options::epoch`]. Second 0 is the time at which the first remaining job was submitted. The window from
//! [`Options::from`] to [`Options::to`] then selects jobs. As in the original, the ends of the window are counted in
//! seconds from the epoch, but submissions are counted from second 0. The simulation starts at the beginning of the
//! window, or at second 0 if there is no window.

use std::collections::BTreeMap;
use std::path::Path;

use super::clock::Form;
use crate::rows::Rows;
use gleaner_domain::error::{Error, Faults, Result};
use gleaner_domain::inputs::Profile;
use gleaner_domain::{Cluster, Local, Stamp, Trace, Workload};
use gleaner_io::Loaded;
use gleaner_io::source::Source;

mod job;
mod left_out;
mod reader;
mod survey;
#[cfg(test)]
mod tests;
mod window;

pub(super) use job::JobRow;
use reader::Reader;
use survey::Survey;
use window::Window;

/// Options for reading a trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Start of the window of submissions; only for traces with civil times.
    pub from: Option<Stamp>,
    /// End of the window of submissions, inclusive; only for traces with civil times.
    pub to: Option<Stamp>,
    /// The time from which the start and end of the window are counted. Earlier jobs are left out. Default: the
    /// submission of the first job.
    pub epoch: Option<Local>,
    /// Whether jobs with faults are left out instead of being reported as errors.
    pub skip_invalid: bool,
    /// Profiles of workloads. If profiles are given, every workload of the trace must have a profile.
    pub profiles: Option<&'a BTreeMap<Workload, Profile>>,
    /// Whether workloads may lack a profile even if profiles are given.
    pub unprofiled: bool,
}

/// A trace, and the faults of jobs that were left out.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceInput {
    /// The jobs without faults, and their workloads.
    pub trace: Trace,
    /// Faults of the jobs that were left out; empty unless [`Options::skip_invalid`] is set.
    pub skipped: Faults,
    /// The second at which a simulation starts, on the trace's clock.
    pub start: i64,
}

/// Reads a trace of the jobs submitted to `cluster`.
///
/// # Errors
/// The file cannot be read, columns are missing, or no job remains. A job with faults is also an error, unless
/// [`Options::skip_invalid`] is set. Faults are reported together. [`Error::Usage`] if the window is empty or does not
/// suit the format of the trace's times.
pub fn read(path: &Path, cluster: &Cluster, options: Options<'_>) -> Result<Loaded<TraceInput>> {
    let source = Source::open(path)?;
    let rows = Rows::<JobRow>::open(&source)?;
    let vcs = cluster.vcs.iter().map(|vc| vc.name.as_str());
    let vcs = (0..).zip(vcs).map(|(index, name)| (name, index)).collect();
    let survey = Survey::of(&rows, &vcs, options.epoch)?;
    let window = window(path, &survey, &options)?;
    let mut reader = Reader::new(cluster, vcs, window, options);
    rows.visit(|line| reader.line(line))?;
    reader.drop_repeated(&rows)?;
    let (value, notes) = reader.finish(&source)?;
    Ok(Loaded {
        value,
        sources: vec![source.id().clone()],
        notes,
    })
}

/// The window of submissions that the options specify. It is an error if the window is empty, or if an option specifies
/// a time although the trace's times are whole seconds.
fn window(path: &Path, survey: &Survey, options: &Options<'_>) -> Result<Window> {
    let epoch = options.epoch.map(Stamp::Local);
    let dated = options.from.or(options.to).or(epoch);
    if let (Some(time), Form::Seconds) = (dated, survey.form) {
        return Err(Error::Usage(format!(
            "{} has times in seconds, so {time} does not apply to it: cut the file instead",
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
