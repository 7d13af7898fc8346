//! Converts logs of batch schedulers to event logs of idle nodes, and traces of GPU clusters to tables of jobs.

mod format;
mod sinfo;
mod slurm;
mod spot;
mod table;
mod trace;
mod unknown;

use std::path::{Path, PathBuf};

use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::{Clock, Observer};
use gleaner_inputs::write::events;
use gleaner_inputs::write::events::EventWriter;
use gleaner_logs::scheduler;
use gleaner_setup::settings::Spec;
use gleaner_setup::{ClassArgs, named_values, settings};
use serde::Serialize;

#[cfg(feature = "cli")]
pub use format::Arguments;
pub use format::{FORMATS, IngestFormat, Made, ReadSettings};
pub use gleaner_logs::scheduler::{Format, Options, Selection, Summary, read};
pub use sinfo::{ChangeTimes, IdleOrBusy, SinfoSettings};
pub use slurm::{SlurmSettings, VcColumn};
pub use spot::SpotSettings;
pub use table::{TableSettings, machines};
pub use trace::{
    BatsimSettings, ClusterSettings, GavelSettings, HeliosSettings, PaiSettings, PhillySettings,
    TraceSettings,
};
pub use unknown::{MaxUnknown, Shown, UnknownSettings};

/// Converts logs of one format to an event log or a table of jobs, as its settings specify.
pub trait Ingest: Sync {
    /// Reads `files` and writes the outputs.
    ///
    /// # Errors
    /// A file cannot be read, the files contain nothing usable, or an output cannot be written.
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()>;

    /// The list of supported data sets, if the settings request it. In this case, no file is read.
    fn listing(&self) -> Option<String> {
        None
    }
}

settings! {
    /// Settings for reading the logs of a scheduler.
    #[derive(Debug, Clone)]
    pub struct InputSettings {
        /// Nodes of the machine: a list such as n[001-128], or a file. The file contains such lists, or the
        /// output of `scontrol show nodes` or `sinfo -N` [default: the nodes that the logs name].
        pub nodes: Option<PathBuf> = None => Spec::of("LIST|FILE");
        /// Periods during which nodes were down, drained or reserved: the output of `sacctmgr -P list events`.
        pub events: Option<PathBuf> = None => Spec::of("FILE");
        /// Start of the event log, such as 2026-01-01T00:00:00 [default: the time from which the log
        /// is complete].
        pub from: Option<String> = None => Spec::of("TIME");
        /// End of the event log [default: the time up to which the log is complete].
        pub to: Option<String> = None => Spec::of("TIME");
        /// Time zone of the log, such as America/Chicago or -06:00 [default: the zone that the log
        /// states or implies; otherwise local times stay as they are, and seconds since 1970 are shown in UTC].
        pub timezone: Option<String> = None => Spec::of("ZONE");
        /// Stop at the first line that cannot be read or that contradicts itself.
        pub strict: bool = false => Spec::flag();
        /// Settings for nodes that the log does not name.
        pub unknown_nodes: UnknownSettings;
        /// The classes of the nodes.
        pub classes: ClassArgs;
    }
}

settings! {
    /// Settings for converting logs to an event log.
    #[derive(Debug, Clone)]
    pub struct LogSettings {
        /// Settings for reading the logs.
        pub input: InputSettings;
        /// Event log to write: a name that ends in .gev, .parquet or .csv.
        pub output: PathBuf = PathBuf::new() => Spec::of("FILE").short('o').required();
    }
}

settings! {
    /// Accounting records of PBS Professional, OpenPBS or Torque.
    #[derive(Debug, Clone)]
    pub struct PbsSettings {
        /// Settings for converting the records to an event log.
        pub log: LogSettings;
        /// The queues whose jobs are used.
        pub queues: PartitionSettings;
    }
}

settings! {
    /// Accounting records of Cobalt.
    #[derive(Debug, Clone)]
    pub struct CobaltSettings {
        /// Settings for converting the records to an event log.
        pub log: LogSettings;
        /// The queues whose jobs are used.
        pub queues: PartitionSettings;
    }
}

settings! {
    /// The partitions or queues whose jobs are used.
    #[derive(Debug, Clone)]
    pub struct PartitionSettings {
        /// Use only jobs in these partitions or queues, separated by commas. Nodes that run other jobs count as idle,
        /// so limit --nodes to the nodes of the partitions. In SWF logs, partitions have numbers. If such a log does
        /// not state the partition of a job, the number of its queue is used.
        pub partition: Vec<String> = Vec::new() => Spec::of("NAME").separated_by(',');
    }
}

settings! {
    /// Settings that select the jobs and nodes to use.
    #[derive(Debug, Clone)]
    pub struct SelectionSettings {
        /// The partitions whose jobs are used.
        pub partitions: PartitionSettings;
        /// Use only jobs in these states, such as COMPLETED, separated by commas. Nodes that run other jobs count as
        /// idle.
        pub state: Vec<String> = Vec::new() => Spec::of("STATE").separated_by(',');
        /// Use only the nodes with GPUs. --nodes must name the output of `scontrol show nodes`, in which Gres shows
        /// the GPUs.
        pub gpu: bool = false => Spec::flag().requires("nodes");
    }
}

settings! {
    /// Outages of the whole machine.
    #[derive(Debug, Clone)]
    pub struct OutageSettings {
        /// Outages of the whole machine: a MACHINESTATUS file of ALCF. Only rows with IS_ALL_MACHINE_DOWN = 1 are used.
        /// An outage without an end lasts until the next job starts.
        pub outages: Option<PathBuf> = None => Spec::of("FILE");
    }
}

settings! {
    /// Job records that ALCF publishes, as `gleaner ingest djc` reads them.
    #[derive(Debug, Clone)]
    pub struct DjcLogSettings {
        /// Settings for converting the records to an event log.
        pub records: DjcSettings;
        /// Outages of the whole machine.
        pub outages: OutageSettings;
    }
}

settings! {
    /// Job records that ALCF publishes.
    #[derive(Debug, Clone)]
    pub struct DjcSettings {
        /// Settings for converting the records to an event log.
        pub log: LogSettings;
        /// The queues or partitions whose jobs are used.
        pub queues: PartitionSettings;
        /// Number of nodes of the machine, if jobs state only how many nodes they used [default: the
        /// number in the header, or the peak number of nodes in use].
        pub node_count: Option<u32> = None => Spec::of("COUNT")
            .within("1 to 1048576", |count| (1..=1_048_576).contains(count));
    }
}

settings! {
    /// Logs in the Standard Workload Format.
    #[derive(Debug, Clone)]
    pub struct SwfSettings {
        /// Settings for converting the logs to an event log, which are the same as for job records.
        pub records: DjcSettings;
        /// Processors per node [default: MaxProcs divided by MaxNodes, both from the header].
        pub cores_per_node: Option<u32> = None => Spec::of("COUNT").within("at least 1", |count| *count >= 1);
        /// Field that states a job's number of nodes. By default, the number of nodes is the number of processors
        /// divided by --cores-per-node.
        pub nodes_field: Option<NodesField> = None => Spec::of("FIELD").conflicts(&["cores_per_node"]);
    }
}

/// Fields of SWF logs that can state a job's number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodesField {
    /// An additional last field, after the fields of the format.
    Last,
}

named_values!(NodesField:
    NodesField::Last => "An additional last field, after the fields of the format; if it ends in NxM, the job has N nodes",
);

impl InputSettings {
    fn options(&self, format: Format) -> Options {
        Options {
            nodes: self.nodes.clone(),
            events: self.events.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            timezone: self.timezone.clone(),
            strict: self.strict,
            ..Options::new(format)
        }
    }
}

impl DjcSettings {
    fn options(&self, format: Format) -> Options {
        Options {
            node_count: self.node_count,
            ..self.queues.apply(self.log.input.options(format))
        }
    }
}

impl Ingest for PbsSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = self.queues.apply(self.log.input.options(Format::Pbs));
        self.log.write(files, &options, observer)
    }
}

impl Ingest for CobaltSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = self.queues.apply(self.log.input.options(Format::Cobalt));
        self.log.write(files, &options, observer)
    }
}

impl Ingest for DjcLogSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            outages: self.outages.outages.clone(),
            ..self.records.options(Format::Djc)
        };
        self.records.log.write(files, &options, observer)
    }
}

impl PartitionSettings {
    /// Adds this selection to the options.
    fn apply(&self, options: Options) -> Options {
        Options {
            selection: Selection {
                partitions: self.partition.clone(),
                ..options.selection
            },
            ..options
        }
    }
}

impl SelectionSettings {
    /// Adds this selection to the options.
    fn apply(&self, options: Options) -> Options {
        let selection = Selection {
            states: self.state.clone(),
            ..options.selection
        };
        self.partitions.apply(Options {
            selection,
            gpu: self.gpu,
            ..options
        })
    }

    /// Whether the settings select all jobs and nodes.
    fn is_all(&self) -> bool {
        self.partitions.partition.is_empty() && self.state.is_empty() && !self.gpu
    }
}

impl Ingest for SwfSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            cores_per_node: self.cores_per_node,
            are_nodes_last: self.nodes_field == Some(NodesField::Last),
            ..self.records.options(Format::Swf)
        };
        self.records.log.write(files, &options, observer)
    }
}

impl LogSettings {
    /// Writes the event log from a scheduler's logs, and reports on their content.
    fn write(&self, files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<()> {
        self.input
            .nodes_of_log()
            .write(files, options, &self.output, observer)
    }
}

/// Settings that concern the nodes of an event log.
#[derive(Clone, Copy)]
struct LogNodes<'a> {
    unknown: &'a UnknownSettings,
    classes: &'a ClassArgs,
}

impl InputSettings {
    fn nodes_of_log(&self) -> LogNodes<'_> {
        LogNodes {
            unknown: &self.unknown_nodes,
            classes: &self.classes,
        }
    }
}

impl LogNodes<'_> {
    /// Writes the event log from a scheduler's logs, and reports on their content.
    fn write(
        self,
        files: &[PathBuf],
        options: &Options,
        output: &Path,
        observer: &dyn Observer,
    ) -> Result<()> {
        ReadyLogs::of(files, options, self, output, observer)?.place(observer)
    }
}

/// Starts an event log, with the classes of its nodes if they are given. Its events are not yet written.
fn create_log(
    output: &Path,
    nodes: &[String],
    clock: &Clock,
    classes: &ClassArgs,
    observer: &dyn Observer,
) -> Result<EventWriter> {
    let classes = classes.read(nodes, observer)?.map(|read| read.value);
    EventWriter::create_on(output, nodes, clock, classes.as_ref())
}

/// Complete event logs that have not been moved into place: the log itself and, if requested, the logs of the bounds.
struct ReadyLogs(Vec<ReadyLog>);

/// A complete event log that has not been moved into place.
struct ReadyLog {
    writer: EventWriter,
    summary: Summary,
    output: PathBuf,
}

impl ReadyLogs {
    /// Reads the scheduler's logs and writes the event logs.
    fn of(
        files: &[PathBuf],
        options: &Options,
        LogNodes { unknown, classes }: LogNodes<'_>,
        output: &Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        events::Format::of(output)?;
        let holds = scheduler::read(files, options, observer)?;
        let first = files.first().map_or(Path::new(""), PathBuf::as_path);
        unknown.check(holds.quality(), first)?;
        let (shown, outputs): (Vec<_>, Vec<_>) = unknown.outputs(output).into_iter().unzip();
        let (nodes, clock) = (holds.nodes(), holds.clock());
        let classes = classes.read(nodes, observer)?.map(|read| read.value);
        let create = |path: &PathBuf| EventWriter::create_on(path, nodes, clock, classes.as_ref());
        let mut writers: Vec<_> = outputs.iter().map(create).collect::<Result<_>>()?;
        let summaries = holds.sweep_all(&shown, |log, event| {
            check_stop(observer)?;
            writers[log].push(event.time, event.changes, Some(event.queue))
        })?;
        let logs = writers.into_iter().zip(summaries).zip(outputs);
        let ready = logs.map(|((writer, summary), output)| ReadyLog {
            writer,
            summary,
            output,
        });
        Ok(ReadyLogs(ready.collect()))
    }

    /// Moves the event logs into place, and reports on the content of the scheduler's logs.
    fn place(self, observer: &dyn Observer) -> Result<()> {
        check_stop(observer)?;
        for (index, log) in self.0.into_iter().enumerate() {
            let quality = &log.summary.quality;
            log.writer.finish(Some(quality))?;
            let wrote = format!("wrote {}", log.output.display());
            if index == 0 {
                observer.remark(&log.summary.notes);
                observer.remark(&events::Format::of(&log.output)?.losses(Some(quality), true));
                observer.inform(&[format!("{wrote}\n{}", log.summary)]);
            } else {
                observer.inform(&[wrote]);
            }
        }
        Ok(())
    }
}
