//! Event logs of idle nodes from logs of batch schedulers, and tables of jobs from traces of GPU clusters.

mod format;
mod slurm;
mod table;
mod trace;

use std::path::{Path, PathBuf};

use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_inputs::write::events;
use gleaner_inputs::write::events::EventWriter;
use gleaner_logs::scheduler;
use gleaner_setup::settings;
use gleaner_setup::settings::Spec;

#[cfg(feature = "cli")]
pub use format::Arguments;
pub use format::{FORMATS, IngestFormat, Made, ReadSettings};
pub use gleaner_logs::scheduler::{Format, Options, Selection, Summary, read};
pub use slurm::{SlurmSettings, VcColumn};
pub use table::{TableSettings, machines};
pub use trace::{
    BatsimSettings, ClusterSettings, GavelSettings, HeliosSettings, PaiSettings, PhillySettings,
    TraceSettings,
};

/// Settings that convert the logs of one format.
pub trait Ingest: Sync {
    /// Reads `files` and writes the outputs.
    ///
    /// # Errors
    /// A file cannot be read, the files contain nothing usable, or an output cannot be written.
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()>;

    /// What can be read, if the settings ask for this list. Nothing is read then.
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
        /// When nodes were down, drained or reserved: the output of `sacctmgr -P list events`.
        pub events: Option<PathBuf> = None => Spec::of("FILE");
        /// Start of the event log, such as 2026-01-01T00:00:00 [default: the time from which the log
        /// is complete].
        pub from: Option<String> = None => Spec::of("TIME");
        /// End of the event log [default: the time until which the log is complete].
        pub to: Option<String> = None => Spec::of("TIME");
        /// Time zone of the log, such as America/Chicago or -06:00 [default: the zone that the log
        /// states or implies; otherwise local times stay as they are, and seconds since 1970 are shown in UTC].
        pub timezone: Option<String> = None => Spec::of("ZONE");
        /// Stop at the first line that cannot be read or that contradicts itself.
        pub strict: bool = false => Spec::flag();
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
        /// How they become an event log.
        pub log: LogSettings;
    }
}

settings! {
    /// Accounting records of Cobalt.
    #[derive(Debug, Clone)]
    pub struct CobaltSettings {
        /// How they become an event log.
        pub log: LogSettings;
    }
}

settings! {
    /// Which jobs of a log are used.
    #[derive(Debug, Clone)]
    pub struct SelectionSettings {
        /// Use only jobs in these partitions, separated by commas. Nodes on which other jobs ran count as idle
        /// then, so limit --nodes to the nodes of the partitions.
        pub partition: Vec<String> = Vec::new() => Spec::of("NAME").separated_by(',');
        /// Use only jobs in these states, such as COMPLETED, separated by commas. Nodes on which other jobs ran
        /// count as idle then.
        pub state: Vec<String> = Vec::new() => Spec::of("STATE").separated_by(',');
        /// Use only the nodes with GPUs. --nodes must name the output of `scontrol show nodes`, whose Gres shows
        /// them.
        pub gpu: bool = false => Spec::flag().requires("nodes");
    }
}

settings! {
    /// Outages of the whole machine.
    #[derive(Debug, Clone)]
    pub struct OutageSettings {
        /// When the whole machine was down: a MACHINESTATUS file of ALCF, whose rows with IS_ALL_MACHINE_DOWN 1 are
        /// used. An outage without an end lasts until the next start of a job.
        pub outages: Option<PathBuf> = None => Spec::of("FILE");
    }
}

settings! {
    /// Job records that ALCF publishes, as `gleaner ingest djc` reads them.
    #[derive(Debug, Clone)]
    pub struct DjcLogSettings {
        /// How they become an event log.
        pub records: DjcSettings;
        /// When the whole machine was down.
        pub outages: OutageSettings;
    }
}

settings! {
    /// Job records that ALCF publishes.
    #[derive(Debug, Clone)]
    pub struct DjcSettings {
        /// How they become an event log.
        pub log: LogSettings;
        /// Number of nodes of the machine, if jobs state only how many nodes they used [default: the
        /// number in the header, or the most nodes ever used at once].
        pub node_count: Option<u32> = None => Spec::of("COUNT")
            .within("1 to 1048576", |count| (1..=1_048_576).contains(count));
    }
}

settings! {
    /// Logs in the Standard Workload Format.
    #[derive(Debug, Clone)]
    pub struct SwfSettings {
        /// How they become an event log, as job records do.
        pub records: DjcSettings;
        /// Processors per node [default: MaxProcs divided by MaxNodes, both from the header].
        pub cores_per_node: Option<u32> = None => Spec::of("COUNT").within("at least 1", |count| *count >= 1);
    }
}

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
            ..self.log.input.options(format)
        }
    }
}

impl Ingest for PbsSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = self.log.input.options(Format::Pbs);
        write_events(files, &options, &self.log.output, observer)
    }
}

impl Ingest for CobaltSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = self.log.input.options(Format::Cobalt);
        write_events(files, &options, &self.log.output, observer)
    }
}

impl Ingest for DjcLogSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            outages: self.outages.outages.clone(),
            ..self.records.options(Format::Djc)
        };
        write_events(files, &options, &self.records.log.output, observer)
    }
}

impl SelectionSettings {
    /// The options with this selection.
    fn apply(&self, options: Options) -> Options {
        Options {
            selection: Selection {
                partitions: self.partition.clone(),
                states: self.state.clone(),
            },
            gpu: self.gpu,
            ..options
        }
    }

    /// Whether all jobs and nodes are used.
    fn is_all(&self) -> bool {
        self.partition.is_empty() && self.state.is_empty() && !self.gpu
    }
}

impl Ingest for SwfSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = Options {
            cores_per_node: self.cores_per_node,
            ..self.records.options(Format::Swf)
        };
        write_events(files, &options, &self.records.log.output, observer)
    }
}

/// Writes the event log from a scheduler's logs, and reports on their content.
fn write_events(
    files: &[PathBuf],
    options: &Options,
    output: &Path,
    observer: &dyn Observer,
) -> Result<()> {
    ReadyLog::of(files, options, output, observer)?.place(observer)
}

/// A complete event log that is not yet in place.
struct ReadyLog<'a> {
    writer: EventWriter,
    summary: Summary,
    output: &'a Path,
}

impl<'a> ReadyLog<'a> {
    /// Reads the scheduler's logs and writes the event log.
    fn of(
        files: &[PathBuf],
        options: &Options,
        output: &'a Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        events::Format::of(output)?;
        let holds = scheduler::read(files, options, observer)?;
        let mut writer = EventWriter::create_on(output, holds.nodes(), holds.clock())?;
        let summary = holds.sweep(|time, changes| {
            check_stop(observer)?;
            writer.push(time, changes)
        })?;
        Ok(ReadyLog {
            writer,
            summary,
            output,
        })
    }

    /// Puts the event log in place, and reports on the content of the scheduler's logs.
    fn place(self, observer: &dyn Observer) -> Result<()> {
        check_stop(observer)?;
        self.writer.finish()?;
        observer.remark(&self.summary.notes);
        observer.inform(&[format!("wrote {}\n{}", self.output.display(), self.summary)]);
        Ok(())
    }
}
