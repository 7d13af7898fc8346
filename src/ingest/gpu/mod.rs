//! Published job traces of GPU clusters, in their own formats, to what a simulation takes
//! in: a trace and the virtual clusters (VCs) that it needs.
//!
//! | format | files | the jobs' GPUs | their durations | virtual clusters |
//! |---|---|---|---|---|
//! | Philly | `cluster_job_log` | those of the first attempt | all attempts, added up | `vc` |
//! | Alibaba PAI, 2020 | `pai_job_table`, `pai_task_table` | `inst_num` times `plan_gpu` percent, added up over tasks and rounded up | from the first start of a GPU task to the last end | the tasks' `gpu_type` |
//! | Batsim | a workload, JSON | `res`: a resource counts as a GPU | the profile's `delay`, at most the walltime | one, of `nb_res` |
//! | Helios | `cluster_log.csv` | `gpu_num` | from `start_time` to `end_time` | `vc` |
//! | Gavel | `.trace` | the scale factor | the steps by a throughput, as measured or given | one |
//! | Slurm | `sacct`'s table | `gres/gpu` of `AllocTRES` | all runs, added up | partition or account |
//!
//! Files are read once, as streams. Memory holds the jobs and the times for which they held
//! GPUs, never the files. Philly, Helios and Slurm tell civil times; the trace then counts
//! seconds from its first submission. What cannot be used or contradicts itself is counted by
//! kind.
//!
//! No format but Batsim's says how many nodes a VC has. It gets as many as held its jobs'
//! GPUs when these were most, unless a list of machines or a number of nodes is given.

mod batsim;
mod clusters;
mod collector;
mod gavel;
mod helios;
mod machines;
mod pai;
mod philly;
mod slurm;
mod summary;
mod throughputs;

use std::path::PathBuf;

pub use batsim::WHERE as BATSIM_WORKLOAD;
pub use gavel::WHERE as GAVEL_TRACE;
pub use helios::WHERE as HELIOS_LOG;
pub use pai::WHERE as PAI_TABLES;
pub use slurm::{COMMAND as SLURM_JOBS, VcOf};
pub use summary::Summary;

use collector::JobCollector;
use throughputs::Speeds;

use crate::domain::{Cluster, Trace};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::scheduler::{PHILLY_LOG, SchedulerClock};

/// Whose trace it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Microsoft's Philly, 2017.
    Philly,
    /// Alibaba's PAI, 2020.
    Pai,
    /// A workload of the simulator Batsim.
    Batsim,
    /// SenseTime's Helios, 2020.
    Helios,
    /// A trace of the scheduler Gavel.
    Gavel,
    /// Slurm: `sacct`'s table of jobs.
    Slurm,
}

impl Format {
    /// GPUs of a node, where they are not given: a resource of Batsim is a host.
    pub fn gpus_per_node(self) -> u32 {
        match self {
            Format::Batsim => 1,
            _ => 8,
        }
    }

    /// Where such traces come from.
    pub fn origin(self) -> &'static str {
        match self {
            Format::Philly => PHILLY_LOG,
            Format::Pai => PAI_TABLES,
            Format::Batsim => BATSIM_WORKLOAD,
            Format::Helios => HELIOS_LOG,
            Format::Gavel => GAVEL_TRACE,
            Format::Slurm => SLURM_JOBS,
        }
    }

    /// Its name, which a virtual cluster may have.
    fn name(self) -> &'static str {
        match self {
            Format::Philly => "philly",
            Format::Pai => "pai",
            Format::Batsim => "batsim",
            Format::Helios => "helios",
            Format::Gavel => "gavel",
            Format::Slurm => "slurm",
        }
    }

    /// Whether times are civil ones.
    fn is_civil(self) -> bool {
        matches!(self, Format::Philly | Format::Helios | Format::Slurm)
    }
}

/// How a trace is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose trace it is.
    pub format: Format,
    /// GPUs of a node.
    pub gpus_per_node: u32,
    /// Nodes of one VC for all jobs.
    pub node_count: Option<u32>,
    /// The machines: Philly's `cluster_machine_list`, PAI's `pai_machine_spec`, or
    /// Helios' `cluster_gpu_number.csv`.
    pub machines: Option<PathBuf>,
    /// The time zone of civil times, such as `America/Los_Angeles`.
    pub timezone: Option<String>,
    /// Gavel's measured throughputs, from a file.
    pub throughputs: Option<PathBuf>,
    /// The type of GPUs of which these throughputs are used.
    pub worker: String,
    /// Steps a second of every job, where there are no measured throughputs.
    pub steps_per_second: Option<f64>,
    /// What parts the cells of `sacct`'s table.
    pub delimiter: Option<String>,
    /// What makes the virtual clusters of Slurm's jobs.
    pub vc_of: VcOf,
    /// Whether the first fault is an error.
    pub strict: bool,
}

impl Options {
    /// The defaults for a format.
    pub fn new(format: Format) -> Self {
        Options {
            format,
            gpus_per_node: format.gpus_per_node(),
            node_count: None,
            machines: None,
            timezone: None,
            throughputs: None,
            worker: "v100".to_owned(),
            steps_per_second: None,
            delimiter: None,
            vc_of: VcOf::Partition,
            strict: false,
        }
    }

    fn reader(&self) -> Result<Box<dyn TraceReader>> {
        Ok(match self.format {
            Format::Philly => Box::new(philly::PhillyReader),
            Format::Pai => Box::<pai::PaiReader>::default(),
            Format::Batsim => Box::new(batsim::BatsimReader),
            Format::Helios => Box::new(helios::HeliosReader),
            Format::Gavel => Box::new(gavel::GavelReader::new(Speeds::of(self)?, &self.worker)),
            Format::Slurm => Box::new(slurm::SlurmReader::new(self.delimiter.clone(), self.vc_of)),
        })
    }
}

/// What a simulation takes in.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The jobs.
    pub trace: Trace,
    /// The virtual clusters that have jobs.
    pub cluster: Cluster,
    /// What became of the files.
    pub summary: Summary,
}

/// Reads the files of a trace.
///
/// # Errors
/// A file cannot be read, or is none of the format; no job is of use; with
/// [`Options::strict`], the first fault.
pub fn read(files: &[PathBuf], options: &Options) -> Result<Prepared> {
    read_inputs(files.iter().map(|file| Input::open(file)), options)
}

/// Reads a trace from streams.
///
/// # Errors
/// As [`read`].
pub fn read_inputs<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    options: &Options,
) -> Result<Prepared> {
    let clock = SchedulerClock::of_flag(options.timezone.as_deref())?;
    let mut collector = JobCollector::new(clock, options.strict);
    if let Some(path) = &options.machines {
        collector.machines = machines::read(path, options.format)?;
    }
    let mut reader = options.reader()?;
    for input in inputs {
        let mut input = input?;
        collector.begin(input.path());
        reader.file(&mut input, &mut collector)?;
    }
    reader.finish(&mut collector)?;
    collector.finish(options)
}

/// Reads the files of a format.
trait TraceReader {
    /// Takes a file.
    ///
    /// # Errors
    /// It cannot be read or is none of the format; a fault, for a strict reader.
    fn file(&mut self, input: &mut Input<'_>, collector: &mut JobCollector) -> Result<()>;

    /// All files are read.
    ///
    /// # Errors
    /// A file is missing; a fault, for a strict reader.
    fn finish(&mut self, _: &mut JobCollector) -> Result<()> {
        Ok(())
    }
}
