//! The formats of logs and traces, each with its settings.

use std::ffi::OsString;

use super::{
    BatsimSettings, CobaltSettings, DjcLogSettings, GavelSettings, HeliosSettings, Ingest,
    PaiSettings, PbsSettings, PhillySettings, SinfoSettings, SlurmSettings, SpotSettings,
    SwfSettings, TableSettings,
};
use gleaner_domain::error::Result;
use gleaner_setup::settings::{self, About, Settings};

/// A format of logs. The command line and Python derive their formats from [`FORMATS`].
#[derive(Debug, Clone, Copy)]
pub struct IngestFormat {
    /// Name of the format.
    pub name: &'static str,
    /// A sentence that describes the logs that the format's command reads.
    pub about: &'static str,
    /// An example of a command that reads a log of this format.
    pub example: &'static str,
    /// The result of reading a log of this format.
    pub made: Made,
    /// The settings of the format.
    pub settings: fn() -> Vec<About>,
    /// Builds the settings from their names and values. Every value is text.
    pub read: ReadSettings,
    /// The settings as command-line arguments.
    #[cfg(feature = "cli")]
    pub arguments: Arguments,
}

/// The result of reading logs of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// An event log of idle nodes.
    Events,
    /// An event log of idle nodes, a table of jobs, or both.
    EventsAndJobs(gleaner_traces::Format),
    /// A table of jobs. A trace that names its machines can also be converted to an event log of idle nodes; the
    /// extension of the output selects the result.
    Jobs(gleaner_traces::Format),
}

/// The type of [`IngestFormat::read`].
pub type ReadSettings = fn(&[(String, Vec<OsString>)]) -> Result<Box<dyn Ingest>>;

/// The settings of a format as command-line arguments.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    /// Adds the arguments to a command.
    pub augment: fn(clap::Command) -> clap::Command,
    /// Reads the settings from the arguments.
    pub read: fn(&clap::ArgMatches) -> Result<Box<dyn Ingest>, clap::Error>,
}

/// All formats.
pub const FORMATS: &[IngestFormat] = &[
    IngestFormat::of::<SlurmSettings>(
        "slurm",
        "Read Slurm's table of jobs, as printed by sacct -a -X -P -D",
        "gleaner ingest slurm jobs.txt --nodes nodes.txt --events events.txt -o log.gev",
        Made::EventsAndJobs(gleaner_traces::Format::Slurm),
    ),
    IngestFormat::of::<PbsSettings>(
        "pbs",
        "Read accounting records of PBS Professional, OpenPBS or Torque",
        "gleaner ingest pbs $PBS_HOME/server_priv/accounting/202601?? -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<CobaltSettings>(
        "cobalt",
        "Read Cobalt accounting records, including node-down and node-up records (ND, NU)",
        "gleaner ingest cobalt /var/log/pbs/202601?? -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<DjcLogSettings>(
        "djc",
        "Read job records that ALCF publishes, as CSV",
        "gleaner ingest djc ANL-ALCF-DJC-THETA_20200101_20201231.csv.gz -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<SwfSettings>(
        "swf",
        "Read a log in the Standard Workload Format 2.2",
        "gleaner ingest swf SDSC-SP2-1998-4.2-cln.swf.gz --cores-per-node 1 -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<SinfoSettings>(
        "sinfo",
        "Read polls of node states: lines of EPOCH STATE NODES, or blocks in HPC-Whisk's format",
        "gleaner ingest sinfo sinfo.log -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<SpotSettings>(
        "spot",
        "Read a trace of spot instances: MILLISECONDS,add|remove,NODE or MILLISECONDS,COUNT or \
         DATE,TIME,COUNT",
        "gleaner ingest spot p3-trace.csv -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<TableSettings>(
        "table",
        "Read published job tables of public machines, as text or Parquet (--list shows the machines)",
        "gleaner ingest table job_table.parquet --machine marconi100 -o log.gev",
        Made::Events,
    ),
    IngestFormat::of::<PhillySettings>(
        "philly",
        "Read Microsoft's Philly trace, cluster_job_log: its jobs, or with -o NAME.gev the times at \
         which its machines were idle",
        "gleaner ingest philly cluster_job_log -o jobs.csv",
        Made::Jobs(gleaner_traces::Format::Philly),
    ),
    IngestFormat::of::<PaiSettings>(
        "pai",
        "Read Alibaba's PAI trace of 2020: pai_job_table.csv and pai_task_table.csv, in any order",
        "gleaner ingest pai pai_job_table.csv pai_task_table.csv -o jobs.csv",
        Made::Jobs(gleaner_traces::Format::Pai),
    ),
    IngestFormat::of::<BatsimSettings>(
        "batsim",
        "Read a Batsim workload in JSON. Each of its resources counts as a node with one GPU",
        "gleaner ingest batsim workload.json -o jobs.csv",
        Made::Jobs(gleaner_traces::Format::Batsim),
    ),
    IngestFormat::of::<HeliosSettings>(
        "helios",
        "Read SenseTime's trace of Helios, cluster_log.csv",
        "gleaner ingest helios cluster_log.csv -o jobs.csv",
        Made::Jobs(gleaner_traces::Format::Helios),
    ),
    IngestFormat::of::<GavelSettings>(
        "gavel",
        "Read .trace files of Gavel, in which the work of jobs is a number of steps",
        "gleaner ingest gavel max_min_fairness.trace \\\n            --throughputs simulation_throughputs.json -o jobs.csv",
        Made::Jobs(gleaner_traces::Format::Gavel),
    ),
];

impl IngestFormat {
    /// The format with this name, if there is one.
    pub fn named(name: &str) -> Option<&'static IngestFormat> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Default number of GPUs per node for a table of jobs. `None` if the format has no table of jobs.
    pub fn gpus_per_node(&self) -> Option<u32> {
        match self.made {
            Made::Events => None,
            Made::EventsAndJobs(format) | Made::Jobs(format) => {
                Some(gleaner_traces::Options::new(format).gpus_per_node)
            }
        }
    }

    const fn of<S: Settings + Ingest + 'static>(
        name: &'static str,
        about: &'static str,
        example: &'static str,
        made: Made,
    ) -> Self {
        IngestFormat {
            name,
            about,
            example,
            made,
            settings: || S::list().into_iter().map(|setting| setting.about).collect(),
            read: |given| Ok(Box::new(settings::read::<S>(given)?)),
            #[cfg(feature = "cli")]
            arguments: Arguments {
                augment: settings::command_line::augment::<S>,
                read: |matches| {
                    let mut settings = S::default();
                    settings::command_line::update(&mut settings, matches)?;
                    Ok(Box::new(settings))
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_names_of_their_own() {
        for format in FORMATS {
            assert_eq!(
                IngestFormat::named(format.name).unwrap().about,
                format.about
            );
        }
        assert!(IngestFormat::named("nothing").is_none());
    }

    #[test]
    fn a_format_reads_its_own_settings() {
        let read = |name: &str, setting: &str| {
            let given = [("output", "x.gev"), (setting, "4")];
            let given = given.map(|(name, text)| (name.to_owned(), vec![text.into()]));
            (IngestFormat::named(name).unwrap().read)(&given)
        };
        assert!(read("swf", "cores_per_node").is_ok());
        assert!(read("pbs", "cores_per_node").is_err());
        assert_eq!(
            IngestFormat::named("batsim").unwrap().gpus_per_node(),
            Some(1)
        );
        assert_eq!(
            IngestFormat::named("philly").unwrap().gpus_per_node(),
            Some(8)
        );
        assert_eq!(IngestFormat::named("pbs").unwrap().gpus_per_node(), None);
    }
}
