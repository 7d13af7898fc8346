//! Job traces of GPU clusters: Philly, PAI, Batsim, Helios and Gavel.

use std::path::{Path, PathBuf};

use super::{Ingest, LogNodes, UnknownSettings};
use gleaner_domain::Observer;
use gleaner_domain::cluster::MAX_GPUS_PER_NODE;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_io::table::Form;
use gleaner_logs::scheduler;
use gleaner_runs::prepared;
use gleaner_setup::ClassArgs;
use gleaner_setup::settings;
use gleaner_setup::settings::Spec;
use gleaner_traces::{Format, Options, Prepared};

settings! {
    /// The nodes of the virtual clusters, and the file that lists them.
    #[derive(Debug, Clone)]
    pub struct ClusterSettings {
        /// Number of GPUs per node [default: 8; 1 for Batsim].
        pub gpus_per_node: Option<u32> = None => Spec::of("COUNT")
            .within(format!("1 to {MAX_GPUS_PER_NODE}"), |gpus| (1..=MAX_GPUS_PER_NODE).contains(gpus));
        /// File for the table of virtual clusters and their nodes [default: vc_config.csv next to
        /// jobs.csv, or NAME_vc_config.csv next to another NAME.csv].
        pub cluster: Option<PathBuf> = None => Spec::of("FILE");
    }
}

settings! {
    /// Settings for converting a trace to tables.
    #[derive(Debug, Clone)]
    pub struct TraceSettings {
        /// The nodes that jobs run on.
        pub cluster: ClusterSettings;
        /// Put all jobs in one virtual cluster of this many nodes [default: the virtual clusters of
        /// the trace, each with the most nodes that its jobs ever held at once].
        pub node_count: Option<u32> = None => Spec::of("COUNT")
            .within("1 to 1000000", |count| (1..=1_000_000).contains(count));
        /// Stop at the first job that cannot be read or that contradicts itself.
        pub strict: bool = false => Spec::flag();
        /// Output file for the table of jobs: .csv or .parquet.
        pub output: PathBuf = PathBuf::new() => Spec::of("FILE").short('o').required();
    }
}

settings! {
    /// Microsoft's trace of Philly.
    #[derive(Debug, Clone)]
    pub struct PhillySettings {
        /// Settings for converting the trace to tables.
        pub trace: TraceSettings;
        /// Machines and their GPUs: cluster_machine_list [default: the machines that jobs name].
        pub machines: Option<PathBuf> = None => Spec::of("FILE");
        /// Time zone of the trace, such as America/Los_Angeles or -08:00 [default: local times stay
        /// as they are].
        pub timezone: Option<String> = None => Spec::of("ZONE");
        /// Start of the event log [default: the time from which the trace is complete].
        pub from: Option<String> = None => Spec::of("TIME");
        /// End of the event log [default: the time up to which the trace is complete].
        pub to: Option<String> = None => Spec::of("TIME");
        /// Settings for attempts of jobs for which the trace does not name machines.
        pub unknown_nodes: UnknownSettings;
        /// The classes of the nodes.
        pub classes: ClassArgs;
    }
}

settings! {
    /// Alibaba's PAI trace of 2020.
    #[derive(Debug, Clone)]
    pub struct PaiSettings {
        /// Settings for converting the trace to tables.
        pub trace: TraceSettings;
        /// Machines with their types and GPUs: pai_machine_spec.csv. Each type becomes a virtual
        /// cluster with the nodes of that type.
        pub machines: Option<PathBuf> = None => Spec::of("FILE").conflicts(&["node_count"]);
    }
}

settings! {
    /// A workload of Batsim.
    #[derive(Debug, Clone)]
    pub struct BatsimSettings {
        /// Settings for converting the trace to tables.
        pub trace: TraceSettings;
    }
}

settings! {
    /// SenseTime's trace of Helios.
    #[derive(Debug, Clone)]
    pub struct HeliosSettings {
        /// Settings for converting the trace to tables.
        pub trace: TraceSettings;
        /// GPUs of each virtual cluster by day: cluster_gpu_number.csv. The largest number is used.
        pub machines: Option<PathBuf> = None => Spec::of("FILE").conflicts(&["node_count"]);
        /// Time zone of the trace, such as America/Los_Angeles or -08:00 [default: local times stay
        /// as they are].
        pub timezone: Option<String> = None => Spec::of("ZONE");
    }
}

settings! {
    /// Traces of Gavel.
    #[derive(Debug, Clone)]
    pub struct GavelSettings {
        /// Settings for converting the trace to tables.
        pub trace: TraceSettings;
        /// Steps per second of each kind of job: simulation_throughputs.json.
        pub throughputs: Option<PathBuf> = None => Spec::of("FILE");
        /// Type of GPU whose throughputs are used.
        pub worker_type: String = "v100".to_owned() => Spec::of("NAME");
        /// Number of steps per second for every job. Replaces --throughputs.
        pub steps_per_second: Option<f64> = None => Spec::of("NUMBER")
            .within("a number above 0", |speed: &f64| speed.is_finite() && *speed > 0.0)
            .conflicts(&["throughputs"]);
    }
}

impl TraceSettings {
    fn options(&self, format: Format) -> Options {
        Options {
            node_count: self.node_count,
            strict: self.strict,
            ..self.cluster.options(format)
        }
    }

    /// Converts a trace and writes its jobs.
    fn write(&self, files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<()> {
        if is_event_log(&self.output) {
            return Err(Error::Usage(format!(
                "{}: only Philly's trace names the machines of its jobs, which event logs need; \
                 expected a name ending in .csv or .parquet",
                self.output.display()
            )));
        }
        ReadyTrace::of(files, options, &self.output, &self.cluster, observer)?.write(observer)
    }
}

impl ClusterSettings {
    /// Whether all settings have their defaults.
    pub fn is_default(&self) -> bool {
        self.gpus_per_node.is_none() && self.cluster.is_none()
    }

    /// The default options of a format, with these settings applied.
    pub fn options(&self, format: Format) -> Options {
        let defaults = Options::new(format);
        Options {
            gpus_per_node: self.gpus_per_node.unwrap_or(defaults.gpus_per_node),
            ..defaults
        }
    }

    /// The path of the table of virtual clusters, for the jobs in the file `jobs`.
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

impl Ingest for PhillySettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        if is_event_log(&self.trace.output) {
            return self.idle(files, observer);
        }
        if self.from.is_some() || self.to.is_some() {
            return Err(Error::Usage(
                "--from and --to apply only to event logs (-o NAME.gev); for jobs, use --from and \
                 --to of gleaner simulate"
                    .into(),
            ));
        }
        if self.classes.classes.is_some() {
            return Err(Error::Usage(
                "--classes applies only to event logs (-o NAME.gev)".into(),
            ));
        }
        let options = Options {
            machines: self.machines.clone(),
            timezone: self.timezone.clone(),
            ..self.trace.options(Format::Philly)
        };
        self.trace.write(files, &options, observer)
    }
}

impl Ingest for PaiSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            machines: self.machines.clone(),
            ..self.trace.options(Format::Pai)
        };
        self.trace.write(files, &options, observer)
    }
}

impl Ingest for BatsimSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = self.trace.options(Format::Batsim);
        self.trace.write(files, &options, observer)
    }
}

impl Ingest for HeliosSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            machines: self.machines.clone(),
            timezone: self.timezone.clone(),
            ..self.trace.options(Format::Helios)
        };
        self.trace.write(files, &options, observer)
    }
}

impl Ingest for GavelSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            throughputs: self.throughputs.clone(),
            worker: self.worker_type.clone(),
            steps_per_second: self.steps_per_second,
            ..self.trace.options(Format::Gavel)
        };
        self.trace.write(files, &options, observer)
    }
}

fn is_event_log(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gev"))
}

impl PhillySettings {
    /// Writes an event log of the times at which machines were idle.
    fn idle(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
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
            timezone: self.timezone.clone(),
            strict: trace.strict,
            ..scheduler::Options::new(scheduler::Format::Philly)
        };
        let nodes = LogNodes {
            unknown: &self.unknown_nodes,
            classes: &self.classes,
        };
        nodes.write(files, &options, &trace.output, observer)
    }
}

/// The jobs of a trace, and the virtual clusters that they need, before they are written.
pub struct ReadyTrace<'a> {
    prepared: Prepared,
    jobs: &'a Path,
    cluster: PathBuf,
    gpus_per_node: u32,
}

impl<'a> ReadyTrace<'a> {
    /// Reads a trace. [`ReadyTrace::write`] then writes its jobs to the file `jobs`.
    ///
    /// # Errors
    /// The files have another format, they contain nothing usable, or the format of an output is unknown.
    pub fn of(
        files: &[PathBuf],
        options: &Options,
        jobs: &'a Path,
        settings: &ClusterSettings,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let cluster = settings.file(jobs)?;
        Form::of(jobs)?;
        Form::of(&cluster)?;
        Ok(ReadyTrace {
            prepared: gleaner_traces::read(files, options, observer)?,
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
