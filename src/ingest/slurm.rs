//! Slurm: an event log of idle nodes, jobs for a simulation, or both.

use std::path::{Path, PathBuf};

use super::trace::{ClusterSettings, ReadyTrace};
use super::{Ingest, InputSettings, ReadyLogs, SelectionSettings};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_io::source::STDIN;
use gleaner_logs::scheduler::{Format, Options};
use gleaner_setup::settings::Spec;
use gleaner_setup::{named_values, settings};
use gleaner_traces::VcOf;
use serde::Serialize;

settings! {
    /// The table of jobs that sacct -a -X -P -D prints.
    #[derive(Debug, Clone)]
    pub struct SlurmSettings {
        /// Settings for reading the logs.
        pub input: InputSettings;
        /// Settings that select the jobs and nodes to use.
        pub selection: SelectionSettings;
        /// Event log to write: a name that ends in .gev, .parquet or .csv.
        pub output: Option<PathBuf> = None => Spec::of("FILE").short('o');
        /// Table of the jobs that held GPUs, to write for `gleaner simulate`: a name that ends in .csv or .parquet. The
        /// output of sacct must have the column AllocTRES, and Partition or Account.
        pub jobs: Option<PathBuf> = None => Spec::of("FILE");
        /// The nodes that jobs run on.
        pub cluster: ClusterSettings;
        /// Column whose values are the virtual clusters of the jobs.
        pub vc: VcColumn = VcColumn::Partition => Spec::of("COLUMN");
        /// Delimiter of the cells, as given to sacct with --delimiter [default: a vertical bar].
        pub delimiter: Option<String> = None => Spec::of("TEXT");
    }
}

/// Columns that can name the virtual cluster of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VcColumn {
    /// The partition, or the account if there is no partition.
    Partition,
    /// The account.
    Account,
}

named_values!(VcColumn:
    VcColumn::Partition => "The partition, or the account if there is no partition",
    VcColumn::Account => "The account",
);

impl Ingest for SlurmSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        self.check_outputs(files)?;
        let options = Options {
            delimiter: self.delimiter.clone(),
            ..self.selection.apply(self.input.options(Format::Slurm))
        };
        let trace = self.trace_options();
        // Both outputs are prepared before either is moved into place, so that a fault in one of them leaves no output.
        let log = self.output.as_deref();
        let nodes = self.input.nodes_of_log();
        let log = log.map(|output| ReadyLogs::of(files, &options, nodes, output, observer));
        let log = log.transpose()?;
        let jobs = self.jobs.as_deref();
        let jobs = jobs.map(|jobs| ReadyTrace::of(files, &trace, jobs, &self.cluster, observer));
        let jobs = jobs.transpose()?;
        log.map_or(Ok(()), |log| log.place(observer))?;
        jobs.map_or(Ok(()), |jobs| jobs.write(observer))
    }
}

impl SlurmSettings {
    fn check_outputs(&self, files: &[PathBuf]) -> Result<()> {
        let input = &self.input;
        if self.output.is_none() && self.jobs.is_none() {
            return Err(Error::Usage(
                "nothing to write: name an event log with -o, or a table of jobs with --jobs"
                    .into(),
            ));
        }
        let stdin = files.iter().any(|file| file == Path::new(STDIN));
        if stdin && self.output.is_some() && self.jobs.is_some() {
            return Err(Error::Usage(
                "stdin can be read only once: use either -o or --jobs, or name a file".into(),
            ));
        }
        let of_events = [&input.nodes, &input.events, &input.classes.classes];
        let of_events = of_events.into_iter().any(Option::is_some);
        if self.output.is_none() && (of_events || input.from.is_some() || input.to.is_some()) {
            return Err(Error::Usage(
                "--from, --to, --nodes, --events and --classes apply only to an event log: name one with -o, \
                 or leave them out"
                    .into(),
            ));
        }
        if self.output.is_none() && !self.selection.is_all() {
            return Err(Error::Usage(
                "--partition, --state and --gpu apply only to an event log: name one with -o, or leave them out"
                    .into(),
            ));
        }
        if self.jobs.is_none() && !self.cluster.is_default() {
            return Err(Error::Usage(
                "--gpus-per-node and --cluster apply only to jobs: name a file for them with \
                 --jobs, or leave them out"
                    .into(),
            ));
        }
        Ok(())
    }

    fn trace_options(&self) -> gleaner_traces::Options {
        gleaner_traces::Options {
            timezone: self.input.timezone.clone(),
            delimiter: self.delimiter.clone(),
            vc_of: match self.vc {
                VcColumn::Partition => VcOf::Partition,
                VcColumn::Account => VcOf::Account,
            },
            strict: self.input.strict,
            ..self.cluster.options(gleaner_traces::Format::Slurm)
        }
    }
}
