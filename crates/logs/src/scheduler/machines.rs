//! Machines whose public data `gleaner ingest` reads, with the sources of the data and the gaps in them. Most of the
//! data are tables of jobs. [`OTHER_DATA`] lists the other data.

use super::table::Role;

/// A machine whose job data are public.
#[derive(Debug)]
pub struct Machine {
    /// The name for `--machine`.
    pub name: &'static str,
    /// The name to display, with the site.
    pub title: &'static str,
    /// The source of the data.
    pub source: &'static str,
    /// The licence of the data.
    pub licence: &'static str,
    /// Number of nodes, if it is public.
    pub nodes: Option<u32>,
    /// Number of cores per node, if jobs that share nodes state their cores.
    pub cores_per_node: Option<u32>,
    /// Zone of times without an offset; `None` if all times have an offset or are epoch times.
    pub zone: Option<&'static str>,
    /// The preferred columns. If a file lacks them, other columns with a known name are used.
    pub columns: &'static [(Role, &'static str)],
    /// Gaps in the data, in one sentence.
    pub gaps: &'static str,
    /// The arguments of an example command, after `gleaner ingest table`.
    pub example: &'static str,
}

impl Machine {
    /// The machine with this name.
    pub fn named(name: &str) -> Option<&'static Machine> {
        MACHINES.iter().find(|machine| machine.name == name)
    }

    /// The complete command of the example, with an output file.
    pub fn command(&self) -> String {
        format!(
            "gleaner ingest table {} --machine {} -o {}.gev",
            self.example, self.name, self.name
        )
    }

    /// The number of nodes, the time zone and the licence, in words.
    pub fn facts(&self) -> String {
        let nodes = match self.nodes {
            Some(nodes) => format!("{nodes} nodes"),
            None => "number of nodes unknown".to_owned(),
        };
        let zone = match self.zone {
            Some(zone) => format!("times of {zone}"),
            None => "times with offsets, or epoch times".to_owned(),
        };
        format!("{nodes}; {zone}; licence: {}", self.licence)
    }
}

/// Public data other than tables of jobs. Other subcommands of `gleaner ingest` read them.
#[derive(Debug)]
pub struct OtherData {
    /// The machine and its site, or the kind of data.
    pub title: &'static str,
    /// The source of the data.
    pub source: &'static str,
    /// The licence of the data.
    pub licence: &'static str,
    /// Gaps in the data, in one sentence.
    pub gaps: &'static str,
    /// A command that reads the data.
    pub command: &'static str,
}

/// Public data other than tables of jobs.
pub const OTHER_DATA: &[OtherData] = &[
    OtherData {
        title: "Frontier, OLCF",
        source: "the SWF log of JSSPP 2026",
        licence: "see the source",
        gaps: "nodes are not named; field 5 contains nodes or cores, so the number of nodes is read from the last field",
        command: "gleaner ingest swf frontier-2024.swf --nodes-field last -o frontier.gev",
    },
    OtherData {
        title: "Blue Waters, NCSA",
        source: "accounting records of Torque, with one folder per day",
        licence: "see the source",
        gaps: "outages are missing; times have no time zone and are treated as Chicago time",
        command: "gleaner ingest pbs 2017????/* --timezone America/Chicago -o blue-waters.gev",
    },
    OtherData {
        title: "Prometheus, Cyfronet (HPC-Whisk)",
        source: "github.com/hpcwhisk/hpcwhisk-artifact (polls of 17 March 2022)",
        licence: "not stated",
        gaps: "polls name only idle nodes and pilots, so nodes that were never idle are missing",
        command: "gleaner ingest sinfo 17_03_2022_idle_nodes.txt --timezone Europe/Warsaw -o prometheus.gev",
    },
    OtherData {
        title: "spot instances (Bamboo, Parcae)",
        source: "github.com/uclasystem/bamboo, github.com/JF-D/Parcae",
        licence: "MIT",
        gaps: "some traces only count instances, so the lengths of fragments are guessed",
        command: "gleaner ingest spot trace.csv -o spot.gev",
    },
];

const ALCF: Machine = Machine {
    name: "",
    title: "",
    source: "reports.alcf.anl.gov/data (DIM_JOB_COMPOSITE)",
    licence: "not stated",
    nodes: None,
    cores_per_node: None,
    zone: Some("UTC"),
    columns: &[
        (Role::Start, "START_TIMESTAMP"),
        (Role::End, "END_TIMESTAMP"),
        (Role::Submit, "QUEUED_TIMESTAMP"),
        (Role::Count, "NODES_USED"),
        (Role::Nodes, "LOCATION"),
    ],
    gaps: "outages of single nodes are missing; outages of the whole machine are in MACHINESTATUS (read with \
           --outages); times are treated as UTC, as inferred from the hours at which maintenance begins",
    example: "",
};

const PM100_COLUMNS: &[(Role, &str)] = &[
    (Role::Start, "start_time"),
    (Role::End, "end_time"),
    (Role::Submit, "submit_time"),
    (Role::Nodes, "nodes"),
    (Role::Count, "num_nodes_alloc"),
];

/// The machines, in the order of the tables in docs/MACHINES.md.
pub const MACHINES: &[Machine] = &[
    Machine {
        name: "kestrel",
        title: "Kestrel, NLR",
        source: "doi.org/10.7799/3023270 (10.6 million jobs, August 2023 to December 2025)",
        licence: "nlr-data-1.0",
        nodes: None,
        cores_per_node: None,
        zone: None,
        columns: &[
            (Role::Start, "start_time"),
            (Role::End, "end_time"),
            (Role::Submit, "submit_time"),
            (Role::Count, "nodes_used"),
            (Role::Nodes, "nodelist"),
        ],
        gaps: "outages are missing; the licence and the column nodes_shared were inferred from other programs that \
               read the files; jobs may share nodes",
        example: "kestrel_jobs_*.parquet",
    },
    Machine {
        name: "polaris",
        title: "Polaris, ALCF",
        nodes: Some(560),
        gaps: "LOCATION is truncated to 2,048 characters (about 139 of 560 nodes); outages of single nodes are \
               missing, and outages of the whole machine are in MACHINESTATUS; times are treated as UTC, as inferred \
               from the hours at which maintenance begins",
        example: "ANL-ALCF-DJC-POLARIS_20250101_20251231.csv.gz --nodes nodes.txt \\\n    --outages \
                  ANL-ALCF-MACHINESTATUS-POLARIS_20250101_20251231.csv \\\n   ",
        ..ALCF
    },
    Machine {
        name: "aurora",
        title: "Aurora, ALCF",
        nodes: Some(10_624),
        example: "ANL-ALCF-DJC-AURORA_20250101_20251231.csv.gz",
        ..ALCF
    },
    Machine {
        name: "theta",
        title: "Theta, ALCF",
        nodes: Some(4_392),
        example: "ANL-ALCF-DJC-THETA_20200101_20201231.csv.gz",
        ..ALCF
    },
    Machine {
        name: "mira",
        title: "Mira, ALCF",
        nodes: Some(49_152),
        example: "ANL-ALCF-DJC-MIRA_20190101_20191231.csv.gz",
        ..ALCF
    },
    Machine {
        name: "lassen",
        title: "Lassen, LLNL",
        source: "github.com/LLNL/LAST, via Git LFS (1.4 million jobs)",
        licence: "CC-BY-4.0",
        nodes: Some(795),
        cores_per_node: None,
        zone: Some("America/Los_Angeles"),
        columns: &[
            (Role::Id, "allocation_id"),
            (Role::Start, "begin_time"),
            (Role::End, "end_time"),
            (Role::Submit, "job_submit_time"),
            (Role::Count, "num_nodes"),
        ],
        gaps: "outages are missing; times are treated as local times, as in other programs that read the files",
        example: "final_csm_allocation_history_hashed.csv \\\n    --members final_csm_allocation_node_history.csv",
    },
    Machine {
        name: "supercloud",
        title: "MIT Supercloud",
        source: "registry.opendata.aws/dcc (slurm-log.csv)",
        licence: "see the source",
        nodes: None,
        cores_per_node: None,
        zone: None,
        columns: &[
            (Role::Start, "time_start"),
            (Role::End, "time_end"),
            (Role::Submit, "time_submit"),
            (Role::Count, "nodes_alloc"),
            (Role::Nodes, "nodelist"),
        ],
        gaps: "jobs share nodes; nodes that never ran a job and the size of the machine are missing",
        example: "slurm-log.csv",
    },
    Machine {
        name: "marconi100",
        title: "Marconi100, CINECA (PM100)",
        source: "doi.org/10.5281/zenodo.8129257 (231 thousand jobs)",
        licence: "CC-BY-4.0",
        nodes: Some(980),
        cores_per_node: None,
        zone: Some("UTC"),
        columns: PM100_COLUMNS,
        gaps: "the data contain only exclusive jobs with power data, so the idle time is too high; M100 ExaData \
               (zenodo.7588814) contains all jobs",
        example: "job_table.parquet",
    },
    Machine {
        name: "adastra",
        title: "Adastra MI250, CINES",
        source: "zenodo.org/records/14007065 (30,570 jobs of 15 days)",
        licence: "CC-BY-4.0",
        nodes: None,
        cores_per_node: None,
        zone: Some("UTC"),
        columns: PM100_COLUMNS,
        gaps: "times have no time zone and are treated as UTC; the licence and the period of the data were inferred \
               from other programs that read the files",
        example: "jobs.parquet",
    },
    Machine {
        name: "lisa",
        title: "Lisa, SURF",
        source: "zenodo.org/records/11028933 (slurm_table.parquet)",
        licence: "see the source",
        nodes: Some(338),
        cores_per_node: None,
        zone: Some("Europe/Amsterdam"),
        columns: &[
            (Role::Start, "start_date"),
            (Role::End, "end_date"),
            (Role::Submit, "submit_date"),
            (Role::Nodes, "node"),
            (Role::Count, "numnodes"),
        ],
        gaps: "jobs share nodes; times have no time zone and are treated as Amsterdam time; some jobs have a node \
               count of 0",
        example: "slurm_table.parquet",
    },
    Machine {
        name: "fugaku",
        title: "Fugaku, R-CCS (F-DATA)",
        source: "doi.org/10.5281/zenodo.11467483",
        licence: "CC-BY-4.0",
        nodes: Some(158_976),
        cores_per_node: None,
        zone: Some("Asia/Tokyo"),
        columns: &[
            (Role::Start, "sdt"),
            (Role::End, "edt"),
            (Role::Submit, "adt"),
            (Role::Count, "nnuma"),
        ],
        gaps: "nodes are not named; jobs without counters were dropped, so the idle time is too high",
        example: "21_*.parquet",
    },
    Machine {
        name: "eagle",
        title: "Eagle, NREL",
        source: "data.openei.org/submissions/5860",
        licence: "CC-BY-4.0",
        nodes: None,
        cores_per_node: None,
        zone: Some("America/Denver"),
        columns: &[
            (Role::Start, "start_time"),
            (Role::End, "end_time"),
            (Role::Submit, "submit_time"),
            (Role::Count, "nodes_req"),
        ],
        gaps: "nodes are not named; only requested node counts are known; columns were inferred from other programs \
               that read the files; times are treated as Denver time",
        example: "eagle_data.parquet --node-count NODES",
    },
    Machine {
        name: "cirrus",
        title: "Cirrus, EPCC (CPU partition)",
        source: "github.com/EPCCed/mira-cirrus-elastisim (2024_Q1_CPU-sacct-subset.csv)",
        licence: "GPL-3.0",
        nodes: Some(368),
        cores_per_node: Some(36),
        zone: None,
        columns: &[
            (Role::Start, "Start"),
            (Role::End, "End"),
            (Role::Submit, "Submit"),
            (Role::Count, "NNodes"),
            (Role::Cores, "NCPUS"),
        ],
        gaps: "nodes are not named; 93 % of the jobs share nodes, so the number of idle nodes is only known within \
               bounds; the file covers one week, not a whole quarter",
        example: "2024_Q1_CPU-sacct-subset.csv",
    },
    Machine {
        name: "lingjun",
        title: "Lingjun, Alibaba",
        source: "github.com/alibaba/alibaba-lingjun-dataset-2023 (job.csv, worker.csv)",
        licence: "Apache-2.0",
        nodes: None,
        cores_per_node: None,
        zone: Some("Asia/Shanghai"),
        columns: &[
            (Role::Id, "job_name"),
            (Role::Start, "gmt_job_running"),
            (Role::End, "gmt_job_finished"),
            (Role::Submit, "gmt_job_submitted"),
        ],
        gaps: "times are whole minutes; columns were inferred from other programs that read the files; times are \
               treated as Shanghai time",
        example: "job.csv --members worker.csv",
    },
    Machine {
        name: "acme",
        title: "Acme, Shanghai AI Laboratory",
        source: "github.com/InternLM/AcmeTrace (trace_seren.csv, trace_kalos.csv)",
        licence: "CC-BY-4.0",
        nodes: None,
        cores_per_node: None,
        zone: None,
        columns: &[
            (Role::Start, "start_time"),
            (Role::End, "end_time"),
            (Role::Submit, "submit_time"),
            (Role::Count, "node_num"),
        ],
        gaps: "nodes are not named; jobs that use only some GPUs of a node share nodes",
        example: "trace_seren.csv --node-count NODES",
    },
    Machine {
        name: "tacc",
        title: "TACC's sample of sacct",
        source: "the output of sacct as CSV with quoted fields",
        licence: "see the source",
        nodes: None,
        cores_per_node: None,
        zone: Some("America/Chicago"),
        columns: &[
            (Role::Start, "start"),
            (Role::End, "end"),
            (Role::Submit, "submit"),
            (Role::Count, "nnodes"),
            (Role::Nodes, "nodelist"),
        ],
        gaps: "outages are missing; times have no time zone and are treated as Chicago time",
        example: "jobs.csv",
    },
    Machine {
        name: "princeton",
        title: "Traverse, Princeton",
        source: "the output of sacct without JobIDRaw and State",
        licence: "see the source",
        nodes: None,
        cores_per_node: None,
        zone: None,
        columns: &[
            (Role::Start, "Start"),
            (Role::End, "End"),
            (Role::Count, "NNodes"),
            (Role::Nodes, "NodeList"),
        ],
        gaps: "outages, times of submission and job states are missing",
        example: "traverse.txt",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::Zone;

    #[test]
    fn rows_are_complete() {
        for machine in MACHINES {
            assert_eq!(Machine::named(machine.name).unwrap().title, machine.title);
            assert!(
                !machine.gaps.is_empty() && !machine.gaps.ends_with('.'),
                "{}",
                machine.name
            );
            assert!(
                !machine.example.is_empty() && !machine.source.is_empty(),
                "{}",
                machine.name
            );
            for role in [Role::Start, Role::End] {
                assert!(
                    machine.columns.iter().any(|(named, _)| *named == role),
                    "{}",
                    machine.name
                );
            }
            if let Some(zone) = machine.zone {
                assert!(zone.parse::<Zone>().is_ok(), "{zone}");
            }
        }
        assert!(Machine::named("summit").is_none());
    }

    #[test]
    fn other_data_are_complete() {
        for data in OTHER_DATA {
            let texts = [data.title, data.source, data.licence, data.gaps];
            assert!(texts.iter().all(|text| !text.is_empty()), "{}", data.title);
            assert!(!data.gaps.ends_with('.'), "{}", data.title);
            let is_table = data.command.starts_with("gleaner ingest table");
            assert!(data.command.starts_with("gleaner ingest ") && !is_table);
        }
    }
}
