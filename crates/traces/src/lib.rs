//! Converts published job traces of GPU clusters to the inputs of a simulation: a trace, and the virtual clusters (VCs)
//! that it needs.
//!
//! The following list shows the files of each format, and the fields that determine the GPUs, duration
//! and VC of a job:
//!
//! - **Philly**, `cluster_job_log`. GPUs: those of the first attempt. Duration: the sum of all
//!   attempts. VC: `vc`.
//! - **Alibaba PAI, 2020**, `pai_job_table` and `pai_task_table`. GPUs: `inst_num` times `plan_gpu`
//!   percent, added up over tasks and rounded up. Duration: from the first start of a GPU task to
//!   the last end. VC: the tasks' `gpu_type`.
//! - **Batsim**, a workload in JSON. GPUs: `res`; each resource counts as a GPU. Duration: the
//!   profile's `delay`, at most the walltime. VC: a single VC of `nb_res` GPUs.
//! - **Helios**, `cluster_log.csv`. GPUs: `gpu_num`. Duration: from `start_time` to `end_time`. VC:
//!   `vc`.
//! - **Gavel**, `.trace`. GPUs: the scale factor. Duration: the steps divided by a measured or
//!   given throughput. VC: a single VC.
//! - **Slurm**, `sacct`'s table. GPUs: `gres/gpu` of `AllocTRES`. Duration: the sum of all runs.
//!   VC: the partition or account.
//!
//! Files are read once, as streams. The jobs and the times during which they held GPUs are kept in
//! memory; the files are not. Traces of Philly, Helios and Slurm have civil times, which are converted to
//! seconds since the first submission. Unusable jobs and contradictions are counted by reason.
//!
//! Only Batsim's format states the size of its VC. For other formats, the user can pass a list of machines or a number
//! of nodes. By default, a VC gets enough nodes for the maximum number of GPUs that its jobs held at once.
//!
//! ```
//! use std::path::Path;
//!
//! use gleaner_io::input::Input;
//! use gleaner_traces::{Format, Options, read_inputs};
//!
//! // One job on 2 GPUs from second 10 to 70, in the format of Helios.
//! let log = "job_id,user,vc,gpu_num,cpu_num,state,submit_time,start_time,end_time\n\
//!            1,u,a,2,8,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:10,2020-04-01 00:01:10\n";
//! let input = Input::new(Path::new("cluster_log.csv"), log.as_bytes());
//! let prepared = read_inputs([input], &Options::new(Format::Helios))?;
//! assert_eq!(prepared.trace.jobs[0].duration, 60);
//! # Ok::<(), gleaner_domain::Error>(())
//! ```

mod batsim;
mod clusters;
mod gavel;
mod helios;
mod job_table;
mod machines;
mod pai;
mod summary;
mod throughputs;

use std::path::PathBuf;

pub use batsim::WHERE as BATSIM_WORKLOAD;
pub use gavel::WHERE as GAVEL_TRACE;
pub use gleaner_logs::scheduler::{SACCT_JOBS_COMMAND as SLURM_JOBS, VcOf};
pub use helios::WHERE as HELIOS_LOG;
pub use pai::WHERE as PAI_TABLES;
pub use summary::Summary;

use job_table::JobTable;
use machines::Machines;
use throughputs::Speeds;

use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_domain::{Cluster, Trace};
use gleaner_io::input::Input;
use gleaner_logs::scheduler::{
    Collector, Log, LogReader, PHILLY_LOG, PhillyReader, SacctReader, SchedulerClock, read_all,
};

/// The format of a trace.
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
    /// The default number of GPUs per node. It is 1 for Batsim, whose resources are hosts.
    pub fn gpus_per_node(self) -> u32 {
        match self {
            Format::Batsim => 1,
            _ => 8,
        }
    }

    /// The expected files and their source, for messages.
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

    /// The name of the format, which can also name a virtual cluster.
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

    /// Whether the format has civil times.
    fn is_civil(self) -> bool {
        matches!(self, Format::Philly | Format::Helios | Format::Slurm)
    }
}

/// Options for reading a trace.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format of all files.
    pub format: Format,
    /// Number of GPUs per node.
    pub gpus_per_node: u32,
    /// If set, all jobs run in a single VC with this number of nodes. If `None`, the VCs are those of the trace.
    pub node_count: Option<u32>,
    /// The file that lists the machines: Philly's `cluster_machine_list`, PAI's `pai_machine_spec`, or Helios'
    /// `cluster_gpu_number.csv`.
    pub machines: Option<PathBuf>,
    /// The time zone of civil times, such as `America/Los_Angeles`.
    pub timezone: Option<String>,
    /// A file with Gavel's measured throughputs.
    pub throughputs: Option<PathBuf>,
    /// The type of GPU whose throughputs are used. It also names the VC of all jobs.
    pub worker: String,
    /// Steps per second of every job, if there are no measured throughputs.
    pub steps_per_second: Option<f64>,
    /// Delimiter of the cells in `sacct`'s table. Default: inferred from the header.
    pub delimiter: Option<String>,
    /// The column that names the virtual clusters of Slurm jobs.
    pub vc_of: VcOf,
    /// Whether reading fails at the first fault.
    pub strict: bool,
}

impl Options {
    /// The default options for a format.
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

    /// The reader of the format.
    fn reader(&self) -> Result<Box<dyn LogReader>> {
        Ok(match self.format {
            Format::Philly => Box::new(PhillyReader::for_jobs()),
            Format::Pai => Box::<pai::PaiReader>::default(),
            Format::Batsim => Box::new(batsim::BatsimReader),
            Format::Helios => Box::<helios::HeliosReader>::default(),
            Format::Gavel => Box::new(gavel::GavelReader::new(Speeds::of(self)?, &self.worker)),
            Format::Slurm => Box::new(SacctReader::for_jobs(self.delimiter.clone(), self.vc_of)),
        })
    }
}

/// The inputs of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The jobs, in order of submission.
    pub trace: Trace,
    /// The virtual clusters that have jobs.
    pub cluster: Cluster,
    /// A summary of what was read, used and left out.
    pub summary: Summary,
}

/// Reads the files of a trace. The observer receives the progress in each file, in MiB.
///
/// # Errors
/// A file cannot be read or has another format, or no job is usable. With [`Options::strict`], any
/// fault is an error. [`gleaner_domain::Error::Stopped`] if the observer requests a stop.
pub fn read(files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<Prepared> {
    let inputs = files
        .iter()
        .map(|file| Input::open_observed(file, observer));
    read_inputs(inputs, options)
}

/// Reads a trace from streams.
///
/// # Errors
/// Same as for [`read`].
pub fn read_inputs<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    options: &Options,
) -> Result<Prepared> {
    let clock = SchedulerClock::of_flag(options.timezone.as_deref())?;
    let machines = match &options.machines {
        Some(path) => machines::read(path, options.format)?,
        None => Machines::default(),
    };
    let mut table = JobTable::new(machines);
    let mut collector = Collector::new(Log::new(clock, options.strict), &mut table);
    read_all(options.reader()?.as_mut(), inputs, &mut collector)?;
    let log = collector.log;
    table.finish(log, options)
}
