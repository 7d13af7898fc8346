//! `gleaner ingest philly`, `pai`, `batsim`, `helios` and `gavel`: job traces of GPU clusters.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::write_events;
use gleaner_core::Observer;
use gleaner_core::domain::cluster::MAX_GPUS_PER_NODE;
use gleaner_core::error::{Error, Result, check_stop};
use gleaner_io::table::Form;
use gleaner_logs::gpu::{Format, Options, Prepared};
use gleaner_logs::{gpu, scheduler};
use gleaner_runs::prepared;

/// Formats of traces.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Read Microsoft's trace of Philly, cluster_job_log: its jobs, or with -o NAME.gev when its
    /// machines were idle.
    Philly(PhillyArgs),
    /// Read Alibaba's PAI trace of 2020: pai_job_table.csv and pai_task_table.csv, in any order.
    Pai(PaiArgs),
    /// Read a workload of Batsim, JSON. Each of its resources counts as a node with one GPU.
    Batsim(TraceArgs),
    /// Read SenseTime's trace of Helios, cluster_log.csv.
    Helios(HeliosArgs),
    /// Read .trace files of Gavel, in which the work of jobs is a number of steps.
    Gavel(GavelArgs),
}

#[derive(Debug, Args)]
pub struct PhillyArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Machines and their GPUs: cluster_machine_list [default: the machines that jobs name].
    #[arg(long, value_name = "FILE")]
    machines: Option<PathBuf>,
    #[command(flatten)]
    zone: ZoneArgs,
    /// Start of the event log [default: the time from which the trace is complete].
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// End of the event log [default: the time until which the trace is complete].
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
}

#[derive(Debug, Args)]
pub struct PaiArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Machines with their types and GPUs: pai_machine_spec.csv. Each type becomes a virtual
    /// cluster with the nodes of that type.
    #[arg(long, value_name = "FILE", conflicts_with = "node_count")]
    machines: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct HeliosArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// GPUs of each virtual cluster by day: cluster_gpu_number.csv. The largest number counts.
    #[arg(long, value_name = "FILE", conflicts_with = "node_count")]
    machines: Option<PathBuf>,
    #[command(flatten)]
    zone: ZoneArgs,
}

#[derive(Debug, Args)]
pub struct GavelArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Steps per second of each kind of job: simulation_throughputs.json.
    #[arg(long, value_name = "FILE")]
    throughputs: Option<PathBuf>,
    /// Type of GPU whose throughputs are used.
    #[arg(long, value_name = "NAME", default_value = "v100")]
    worker_type: String,
    /// Steps per second of all jobs, instead of a file of throughputs.
    #[arg(long, value_name = "NUMBER", conflicts_with = "throughputs", value_parser = speed)]
    steps_per_second: Option<f64>,
}

/// A number above 0.
fn speed(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

#[derive(Debug, Args)]
struct ZoneArgs {
    /// Time zone of the trace, such as America/Los_Angeles or -08:00 [default: local times stay
    /// as they are].
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
}

#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Files of the trace, plain or compressed with gzip or Zstandard; - for stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Put all jobs in one virtual cluster of this many nodes [default: the virtual clusters of
    /// the trace, each with as many nodes as its jobs ever held at once].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    node_count: Option<u32>,
    /// Stop at the first job that cannot be read or that contradicts itself.
    #[arg(long)]
    strict: bool,
    /// Table of jobs to write: a name that ends in .csv or .parquet.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// What is written beside the jobs.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// GPUs of each node that jobs run on [default: 8; 1 for Batsim].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_GPUS_PER_NODE)))]
    gpus_per_node: Option<u32>,
    /// File for the table of virtual clusters and their nodes [default: vc_config.csv beside
    /// jobs.csv, NAME_vc_config.csv beside another NAME.csv].
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
}

impl TraceArgs {
    fn options(&self, format: Format) -> Options {
        Options {
            node_count: self.node_count,
            strict: self.strict,
            ..self.cluster.options(format)
        }
    }
}

impl ClusterArgs {
    /// Whether nothing is asked for.
    pub fn is_default(&self) -> bool {
        self.gpus_per_node.is_none() && self.cluster.is_none()
    }

    /// The options of a format with these.
    pub fn options(&self, format: Format) -> Options {
        let defaults = Options::new(format);
        Options {
            gpus_per_node: self.gpus_per_node.unwrap_or(defaults.gpus_per_node),
            ..defaults
        }
    }

    /// Where the virtual clusters of the jobs in `jobs` go.
    fn file(&self, jobs: &Path) -> Result<PathBuf> {
        let beside = || match jobs.file_stem().unwrap_or_default().to_string_lossy() {
            name if name == "jobs" => jobs.with_file_name("vc_config.csv"),
            name => jobs.with_file_name(format!("{name}_vc_config.csv")),
        };
        let cluster = self.cluster.clone().unwrap_or_else(beside);
        if cluster == jobs {
            return Err(Error::Usage(format!(
                "{} would hold both the jobs and the virtual clusters: name another file",
                cluster.display()
            )));
        }
        Ok(cluster)
    }
}

impl What {
    fn options(&self) -> (&TraceArgs, Options) {
        match self {
            What::Philly(args) => {
                let options = Options {
                    machines: args.machines.clone(),
                    timezone: args.zone.timezone.clone(),
                    ..args.trace.options(Format::Philly)
                };
                (&args.trace, options)
            }
            What::Pai(args) => {
                let options = Options {
                    machines: args.machines.clone(),
                    ..args.trace.options(Format::Pai)
                };
                (&args.trace, options)
            }
            What::Batsim(args) => (args, args.options(Format::Batsim)),
            What::Helios(args) => {
                let options = Options {
                    machines: args.machines.clone(),
                    timezone: args.zone.timezone.clone(),
                    ..args.trace.options(Format::Helios)
                };
                (&args.trace, options)
            }
            What::Gavel(args) => {
                let options = Options {
                    throughputs: args.throughputs.clone(),
                    worker: args.worker_type.clone(),
                    steps_per_second: args.steps_per_second,
                    ..args.trace.options(Format::Gavel)
                };
                (&args.trace, options)
            }
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Files of another format, or of which nothing is of use; an output that cannot be written.
pub fn run(what: &What, observer: &dyn Observer) -> Result<()> {
    let (args, options) = what.options();
    let is_events = is_event_log(&args.output);
    match what {
        What::Philly(philly) if is_events => philly.idle(observer),
        What::Philly(PhillyArgs { from, to, .. }) if from.is_some() || to.is_some() => {
            Err(Error::Usage(
                "--from and --to cut event logs, as of -o NAME.gev; gleaner simulate has --from \
                 and --to for jobs"
                    .into(),
            ))
        }
        _ if is_events => Err(Error::Usage(format!(
            "{}: only Philly's trace names the machines of its jobs, which event logs need; \
             expected a name ending in .csv or .parquet",
            args.output.display()
        ))),
        _ => {
            let files = &args.files;
            ReadyTrace::of(files, &options, &args.output, &args.cluster, observer)?.write(observer)
        }
    }
}

fn is_event_log(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gev"))
}

impl PhillyArgs {
    /// Writes when machines were idle.
    fn idle(&self, observer: &dyn Observer) -> Result<()> {
        let trace = &self.trace;
        if trace.node_count.is_some() || !trace.cluster.is_default() {
            return Err(Error::Usage(
                "--gpus-per-node, --node-count and --cluster do not apply to an event log: leave \
                 them out, or name a file ending in .csv or .parquet for the jobs"
                    .into(),
            ));
        }
        let options = scheduler::Options {
            nodes: self.machines.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            timezone: self.zone.timezone.clone(),
            strict: trace.strict,
            ..scheduler::Options::new(scheduler::Format::Philly)
        };
        write_events(&trace.files, &options, &trace.output, observer)
    }
}

/// The jobs of a trace and the virtual clusters that they need, not yet written.
pub struct ReadyTrace<'a> {
    prepared: Prepared,
    jobs: &'a Path,
    cluster: PathBuf,
    gpus_per_node: u32,
}

impl<'a> ReadyTrace<'a> {
    /// Reads a trace. `write` later writes its jobs to the file `jobs`.
    ///
    /// # Errors
    /// The files have another format or contain nothing usable, or the format of an output is unknown.
    pub fn of(
        files: &[PathBuf],
        options: &Options,
        jobs: &'a Path,
        args: &ClusterArgs,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let cluster = args.file(jobs)?;
        Form::of(jobs)?;
        Form::of(&cluster)?;
        Ok(ReadyTrace {
            prepared: gpu::read(files, options, observer)?,
            jobs,
            cluster,
            gpus_per_node: options.gpus_per_node,
        })
    }

    /// Writes both tables, and reports on the content of the trace.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, observer: &dyn Observer) -> Result<()> {
        check_stop(observer)?;
        let prepared = &self.prepared;
        prepared::write_jobs(&prepared.trace, &prepared.cluster, self.jobs)?;
        prepared::write_cluster(&prepared.cluster, &self.cluster)?;
        let (jobs, cluster) = (self.jobs.display(), self.cluster.display());
        let gpus = match self.gpus_per_node {
            8 => String::new(),
            other => format!(" --gpus-per-node {other}"),
        };
        observer.remark(&prepared.summary.notes);
        observer.inform(&[
            format!("wrote {jobs} and {cluster}\n{}", prepared.summary),
            format!(
                "gleaner simulate --trace {jobs} --cluster {cluster}{gpus} --policy fifo,srtf --out run"
            ),
        ]);
        Ok(())
    }
}
