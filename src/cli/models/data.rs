//! Reads the data with which models are trained, evaluated and used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use gleaner_learn::lucid::throughput::{MINUTES, Series};

use crate::cli::remark;
use crate::cli::terminal::Terminal;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::inputs::Profile;
use gleaner_domain::{Cluster, Local, Trace, Workload};
use gleaner_inputs::jobs;
use gleaner_inputs::jobs::colocate::Pairs;
use gleaner_inputs::jobs::trace;
use gleaner_io::{Loaded, SourceId};
use gleaner_predict::{Calendar, submissions};

/// The input files of models.
#[derive(Debug, Clone, Args, serde::Serialize)]
#[command(next_help_heading = "Input")]
pub struct DataArgs {
    /// Directory that contains all files under their usual names: cluster_throughput.csv,
    /// single_data.csv, colocate_info.csv, jobs.csv, vc_config.csv. Options that name a single file
    /// take precedence.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// For throughput: submissions in ten-minute intervals, with the columns time, submit_gpu_job
    /// and submit_gpu_num.
    #[arg(long, value_name = "FILE")]
    series: Option<PathBuf>,
    /// For packing: workloads measured alone, with their sharing scores.
    #[arg(long, value_name = "FILE")]
    profiles: Option<PathBuf>,
    /// For the evaluation of packing: workloads measured in pairs.
    #[arg(long, value_name = "FILE")]
    colocate: Option<PathBuf>,
    /// For workload: jobs, as `gleaner simulate` reads them.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// For workload: nodes of each virtual cluster, as `gleaner simulate` reads them.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Date of second 0 of the trace [default: the date of the trace, or 1970-01-01].
    #[arg(long, value_name = "TIME")]
    #[serde(serialize_with = "gleaner_domain::stamp::as_text")]
    epoch: Option<Local>,
}

/// The jobs of a trace, with its cluster and its calendar.
pub struct Jobs {
    pub trace: Trace,
    pub cluster: Cluster,
    pub calendar: Calendar,
}

/// Default name of the file with the numbers of submissions.
const SERIES: &str = "cluster_throughput.csv";

/// Number of GPUs per node. Models do not use this number, so its value is arbitrary.
const ANY_GPUS_PER_NODE: u32 = 8;

impl DataArgs {
    /// Whether no file and no directory are given.
    pub fn is_nothing(&self) -> bool {
        let files = [
            &self.data,
            &self.series,
            &self.profiles,
            &self.colocate,
            &self.trace,
            &self.cluster,
        ];
        files.into_iter().all(Option::is_none)
    }

    /// Reads the series of submissions. If there is no file, counts the jobs of the trace instead.
    ///
    /// # Errors
    /// No file is named, or the file is faulty.
    pub fn series(&self, sources: &mut Vec<SourceId>) -> Result<Series> {
        let path = self.find(&self.series, SERIES, "--series")?;
        let counted = self.trace.is_some() || self.data.is_some();
        if path.exists() || self.series.is_some() || !counted {
            return Ok(take(jobs::throughput::read(&path)?, sources));
        }
        remark(&[format!(
            "there is no {SERIES}: the trace's jobs are counted instead"
        )]);
        let jobs = self.jobs(sources)?;
        let first = jobs.trace.jobs.first().map_or(0, |job| job.submit);
        let start = first - first.rem_euclid(MINUTES * 60);
        submissions(&jobs.trace, start, jobs.calendar).map_err(|e| Error::Run(e.to_string()))
    }

    /// Reads the profiles of workloads.
    ///
    /// # Errors
    /// No file is named, or the file is faulty.
    pub fn profiles(&self, sources: &mut Vec<SourceId>) -> Result<BTreeMap<Workload, Profile>> {
        let path = self.find(&self.profiles, "single_data.csv", "--profiles")?;
        Ok(take(jobs::profiles::read(&path)?, sources))
    }

    /// Reads the profiles from which a model can learn: the profiles that have a sharing score.
    ///
    /// # Errors
    /// No file is named, the file is faulty, or no profile has a score.
    pub fn scored(&self, sources: &mut Vec<SourceId>) -> Result<BTreeMap<Workload, Profile>> {
        let mut profiles = self.profiles(sources)?;
        profiles.retain(|_, profile| profile.score.is_some());
        if profiles.is_empty() {
            let fault = "no profile has a sharing score to learn from: fill in the column label \
                         (0, 1 or 2) for some profiles, or name another file with --profiles";
            return Err(Error::Usage(fault.into()));
        }
        Ok(profiles)
    }

    /// Reads the pairs of workloads that were measured together.
    ///
    /// # Errors
    /// No file is named, or the file is faulty.
    pub fn pairs(&self, sources: &mut Vec<SourceId>) -> Result<Pairs> {
        let path = self.find(&self.colocate, "colocate_info.csv", "--colocate")?;
        Ok(take(jobs::colocate::read(&path)?, sources))
    }

    /// Reads the jobs of a trace, with its cluster and its calendar.
    ///
    /// # Errors
    /// A file is not named or is faulty.
    pub fn jobs(&self, sources: &mut Vec<SourceId>) -> Result<Jobs> {
        let cluster = self.find(&self.cluster, "vc_config.csv", "--cluster")?;
        let trace = self.find(&self.trace, "jobs.csv", "--trace")?;
        let cluster = take(jobs::cluster::read(&cluster, ANY_GPUS_PER_NODE)?, sources);
        let input = trace::read(&trace, &cluster, trace::Options::default())?;
        let trace = take(input, sources).trace;
        let calendar = Calendar::of(self.epoch, &trace, &Terminal::default());
        Ok(Jobs {
            trace,
            cluster,
            calendar,
        })
    }

    fn find(&self, given: &Option<PathBuf>, name: &str, option: &str) -> Result<PathBuf> {
        let inside = || self.data.as_deref().map(|data| inside(data, name));
        given.clone().or_else(inside).ok_or_else(|| {
            Error::Usage(format!(
                "{option} FILE is required, or --data DIR with {name} in it; gleaner synth jobs \
                 generates such a directory"
            ))
        })
    }
}

/// The path of a CSV file in a directory, or of the Parquet file of the same name if only the latter exists.
fn inside(directory: &Path, name: &str) -> PathBuf {
    let csv = directory.join(name);
    let parquet = csv.with_extension("parquet");
    if !csv.exists() && parquet.exists() {
        parquet
    } else {
        csv
    }
}

fn take<T>(loaded: Loaded<T>, sources: &mut Vec<SourceId>) -> T {
    remark(&loaded.notes);
    sources.extend(loaded.sources);
    loaded.value
}
