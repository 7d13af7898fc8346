//! `gleaner ingest slurm`: an event log of idle nodes, jobs for a simulation, or both.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args as ClapArgs, ValueEnum};

use super::trace::{ClusterArgs, ReadyTrace};
use super::{InputArgs, ReadyLog};
use gleaner_core::Observer;
use gleaner_core::error::{Error, Result};
use gleaner_io::source::STDIN;
use gleaner_logs::gpu;
use gleaner_logs::gpu::VcOf;
use gleaner_logs::scheduler::{Format, Options};

#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("outputs").required(true).multiple(true))]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Event log to write: a name that ends in .gev, .parquet or .csv.
    #[arg(short, long, value_name = "FILE", group = "outputs")]
    output: Option<PathBuf>,
    /// Table to write of the jobs that held GPUs, for `gleaner simulate`: a name that ends in
    /// .csv or .parquet. The output of sacct must have the column AllocTRES, and Partition or
    /// Account.
    #[arg(long, value_name = "FILE", group = "outputs")]
    jobs: Option<PathBuf>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Column whose values are the virtual clusters of the jobs.
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t = VcColumn::Partition)]
    vc: VcColumn,
    /// Delimiter of the cells, as given to sacct with --delimiter [default: a vertical bar].
    #[arg(long, value_name = "TEXT")]
    delimiter: Option<String>,
}

/// Columns that can make virtual clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VcColumn {
    /// The partition, or the account if there is no partition.
    Partition,
    /// The account.
    Account,
}

impl Args {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Unreadable logs, logs of which nothing is of use, or an output that cannot be written.
    pub fn run(&self, observer: &dyn Observer) -> Result<()> {
        self.check()?;
        let files = &self.input.files;
        let options = Options {
            delimiter: self.delimiter.clone(),
            ..self.input.options(Format::Slurm)
        };
        let trace = self.trace_options();
        // Both outputs are prepared before either is put in place, so a fault in one leaves no output.
        let log = self.output.as_deref();
        let log = log.map(|output| ReadyLog::of(files, &options, output, observer));
        let log = log.transpose()?;
        let jobs = self.jobs.as_deref();
        let jobs = jobs.map(|jobs| ReadyTrace::of(files, &trace, jobs, &self.cluster, observer));
        let jobs = jobs.transpose()?;
        log.map_or(Ok(()), |log| log.place(observer))?;
        jobs.map_or(Ok(()), |jobs| jobs.write(observer))
    }

    fn check(&self) -> Result<()> {
        let input = &self.input;
        let stdin = input.files.iter().any(|file| file == Path::new(STDIN));
        if stdin && self.output.is_some() && self.jobs.is_some() {
            return Err(Error::Usage(
                "stdin can be read only once: use either -o or --jobs, or name a file".into(),
            ));
        }
        let of_events = input.from.is_some() || input.to.is_some();
        if self.output.is_none() && (of_events || input.nodes.is_some() || input.events.is_some()) {
            return Err(Error::Usage(
                "--from, --to, --nodes and --events apply only to an event log: name one with -o, \
                 or leave them out"
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

    fn trace_options(&self) -> gpu::Options {
        gpu::Options {
            timezone: self.input.timezone.clone(),
            delimiter: self.delimiter.clone(),
            vc_of: match self.vc {
                VcColumn::Partition => VcOf::Partition,
                VcColumn::Account => VcOf::Account,
            },
            strict: self.input.strict,
            ..self.cluster.options(gpu::Format::Slurm)
        }
    }
}
