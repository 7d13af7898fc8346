//! Tests the samples of public machines. All samples contain the same schedule, each with the columns and types of one
//! public data set, so all must give the same idle nodes.

use std::path::PathBuf;

use gleaner_domain::{Stamp, UnknownNodes, Unobserved};
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{
    Format, MACHINES, Machine, OTHER_DATA, Options, OtherData, Role, TableOptions,
};

/// For each time, in seconds since 1970: whether each of the nodes n0 to n7 is idle after that time.
type States = Vec<(i64, Vec<bool>)>;

fn sample(name: &str) -> Option<PathBuf> {
    gleaner_testing::shared(&format!("machines/samples/{name}"))
}

fn second(text: &str) -> i64 {
    match text.parse().unwrap() {
        Stamp::Zoned { utc, .. } => utc.second(),
        other => panic!("{other}"),
    }
}

/// The states listed in `truth.csv`.
fn truth() -> Option<States> {
    let text = std::fs::read_to_string(sample("truth.csv")?).unwrap();
    let mut states: States = Vec::new();
    let mut idle = vec![false; 8];
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let time = second(cells[0]);
        let node: usize = cells[1][1..].parse().unwrap();
        idle[node] = cells[2] == "1";
        states.push((time, idle.clone()));
    }
    Some(settled(states))
}

/// Keeps the last state of each second.
fn settled(states: States) -> States {
    let mut kept: States = Vec::new();
    for state in states {
        match kept.last_mut() {
            Some(last) if last.0 == state.0 => last.1 = state.1,
            _ => kept.push(state),
        }
    }
    kept.dedup_by(|later, earlier| later.1 == earlier.1);
    kept
}

/// The states of a log between the first and the last time in `truth.csv`.
fn read(name: &str, options: Options) -> Option<States> {
    read_until("03:03:00", name, options)
}

/// The states of a log on 21 May 2021, from 00:00 to the time `to`, in UTC.
fn read_until(to: &str, name: &str, options: Options) -> Option<States> {
    let options = Options {
        from: Some("2021-05-21T00:00:00Z".to_owned()),
        to: Some(format!("2021-05-21T{to}Z")),
        ..options
    };
    let holds = scheduler::read(&[sample(name)?], &options, &Unobserved).unwrap();
    let mut idle = vec![false; holds.nodes().len()];
    let mut states = Vec::new();
    let summary = holds.sweep(UnknownNodes::Deal, |event| {
        for change in event.changes {
            idle[change.node() as usize] = change.idle();
        }
        states.push((event.time.second(), idle.clone()));
        Ok(())
    });
    let counts = summary.unwrap().log_counts;
    assert!(
        counts.found.keys().all(|reason| !reason.is_fault()),
        "{name}: {counts}"
    );
    Some(settled(states))
}

/// A sample: its file, its format, its time zone (`None` if the values state it), its table of members, and its
/// machine.
struct Sample(
    &'static str,
    Format,
    Option<&'static str>,
    Option<&'static str>,
    &'static str,
);

const NAMED: [Sample; 11] = [
    Sample(
        "kestrel_jobs_202105_0.parquet",
        Format::Table,
        None,
        None,
        "kestrel",
    ),
    Sample("djc-small.csv", Format::Table, None, None, "polaris"),
    Sample("djc-small.csv", Format::Djc, None, None, ""),
    Sample(
        "lassen-final_csm_allocation_history_hashed.csv",
        Format::Table,
        Some("America/Los_Angeles"),
        Some("lassen-final_csm_allocation_node_history.csv"),
        "lassen",
    ),
    Sample(
        "supercloud-slurm-log.csv",
        Format::Table,
        None,
        None,
        "supercloud",
    ),
    Sample(
        "pm100-job_table.parquet",
        Format::Table,
        None,
        None,
        "marconi100",
    ),
    Sample(
        "adastra-jobs.parquet",
        Format::Table,
        Some("UTC"),
        None,
        "adastra",
    ),
    Sample(
        "surf-slurm_table.parquet",
        Format::Table,
        Some("Europe/Amsterdam"),
        None,
        "lisa",
    ),
    Sample(
        "tacc-jobs.csv",
        Format::Table,
        Some("America/Chicago"),
        None,
        "tacc",
    ),
    Sample(
        "princeton-traverse.txt",
        Format::Table,
        None,
        None,
        "princeton",
    ),
    Sample(
        "bluewaters-20170328",
        Format::Pbs,
        Some("America/Chicago"),
        None,
        "",
    ),
];

const COUNTED: [Sample; 4] = [
    Sample(
        "fdata-21_05.parquet",
        Format::Table,
        Some("Asia/Tokyo"),
        None,
        "fugaku",
    ),
    Sample(
        "eagle_data.parquet",
        Format::Table,
        Some("America/Denver"),
        None,
        "eagle",
    ),
    Sample(
        "cirrus-sacct-subset.csv",
        Format::Table,
        None,
        None,
        "cirrus",
    ),
    Sample("acme-trace_seren.csv", Format::Table, None, None, "acme"),
];

impl Sample {
    /// Options that state the time zone. If the sample has a machine, also options that name this machine, because its
    /// description states the zone.
    fn options(&self) -> Option<Vec<Options>> {
        let Sample(_, format, zone, members, machine) = self;
        let members = match members {
            Some(name) => Some(sample(name)?),
            None => None,
        };
        let alone = Options {
            timezone: zone.map(str::to_owned),
            table: TableOptions {
                members,
                ..TableOptions::default()
            },
            ..Options::new(*format)
        };
        let described = Options {
            timezone: None,
            node_count: Some(8),
            table: TableOptions {
                machine: Machine::named(machine),
                ..alone.table.clone()
            },
            ..alone.clone()
        };
        let both = Some(described).filter(|_| !machine.is_empty());
        Some([alone].into_iter().chain(both).collect())
    }
}

#[test]
fn every_format_with_names_gives_the_same_idle_nodes() {
    let Some(truth) = truth() else { return };
    for sample in &NAMED {
        for options in sample.options().unwrap() {
            let found = read(sample.0, options).unwrap();
            assert_eq!(found, truth, "{}", sample.0);
        }
    }
}

#[test]
fn every_format_with_counts_gives_as_many_idle_nodes() {
    let Some(truth) = truth() else { return };
    let counts = |states: States| {
        let counted = states.into_iter().map(|(time, idle)| {
            let count = idle.iter().filter(|idle| **idle).count();
            (time, count)
        });
        let mut counted: Vec<(i64, usize)> = counted.collect();
        counted.dedup_by_key(|(_, count)| *count);
        counted
    };
    let expected = counts(truth);
    for sample in &COUNTED {
        for options in sample.options().unwrap() {
            let found = read(sample.0, options).unwrap();
            assert_eq!(counts(found), expected, "{}", sample.0);
        }
    }
}

/// Lingjun's times are whole minutes, rounded down.
#[test]
fn lingjun_gives_the_idle_nodes_by_the_minute() {
    let Some(truth) = truth() else { return };
    let lingjun = Sample(
        "lingjun-job.csv",
        Format::Table,
        Some("Asia/Shanghai"),
        Some("lingjun-worker.csv"),
        "lingjun",
    );
    let rounded = truth
        .into_iter()
        .map(|(time, idle)| (time - time % 60, idle));
    let rounded = settled(rounded.collect());
    for options in lingjun.options().unwrap() {
        assert_eq!(read(lingjun.0, options).unwrap(), rounded);
    }
}

/// In the sample of ALCF's outages, one outage of the whole machine follows the jobs, and another has no end. An outage
/// of only part of the machine is ignored.
#[test]
fn outages_of_the_whole_machine_are_read() {
    let (Some(truth), Some(outages)) = (truth(), sample("alcf-machinestatus.csv")) else {
        return;
    };
    for format in [Format::Djc, Format::Table] {
        let options = Options {
            outages: Some(outages.clone()),
            ..Options::new(format)
        };
        let found = read_until("06:00:00", "djc-small.csv", options).unwrap();
        let begin = second("2021-05-21T03:03:00Z");
        let before: States = truth
            .iter()
            .filter(|state| state.0 < begin)
            .cloned()
            .collect();
        let (until, after) = found.split_at(before.len());
        assert_eq!(until, before);
        let expected = [("03:03:00", false), ("04:03:00", true), ("05:33:20", false)];
        let expected =
            expected.map(|(time, idle)| (second(&format!("2021-05-21T{time}Z")), vec![idle; 8]));
        assert_eq!(after, expected);
    }
}

/// Quotes around lists of nodes are not part of the names.
#[test]
fn quoted_tables_of_sacct_are_read_right() {
    let Some(truth) = truth() else { return };
    let options = Options {
        timezone: Some("America/Chicago".to_owned()),
        ..Options::new(Format::Slurm)
    };
    assert_eq!(read("tacc-jobs.csv", options).unwrap(), truth);
}

/// The three tables that docs/MACHINES.md must contain.
fn documented() -> [String; 3] {
    let mut rows = "| `--machine` | machine | data | licence | nodes | time zone | gaps |\n\
                    |---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut commands = "| `--machine` | command |\n|---|---|\n".to_owned();
    for machine in MACHINES {
        let Machine {
            name,
            title,
            source,
            licence,
            gaps,
            ..
        } = machine;
        let nodes = machine
            .nodes
            .map_or("unknown".to_owned(), |nodes| nodes.to_string());
        let zone = machine
            .zone
            .unwrap_or("none needed (times have offsets or are epoch times)");
        rows +=
            &format!("| `{name}` | {title} | {source} | {licence} | {nodes} | {zone} | {gaps} |\n");
        let command = machine.command().replace("\\\n", "");
        let words: Vec<&str> = command.split_whitespace().collect();
        commands += &format!("| `{name}` | `{}` |\n", words.join(" "));
    }
    let mut others =
        "| data | source | licence | gaps | command |\n|---|---|---|---|---|\n".to_owned();
    for data in OTHER_DATA {
        let OtherData {
            title,
            source,
            licence,
            gaps,
            command,
        } = data;
        others += &format!("| {title} | {source} | {licence} | {gaps} | `{command}` |\n");
    }
    [rows, commands, others]
}

#[test]
fn the_documented_machines_are_those_of_the_code() {
    let [rows, commands, others] = documented();
    let tables = [
        ("## The machines", rows),
        ("These commands read the data of the machines:", commands),
        ("Other formats of `gleaner ingest` read these data:", others),
    ];
    let command = "cargo test --release -p gleaner-logs --test logs machines";
    gleaner_testing::check_tables("docs/MACHINES.md", &tables, command);
    let mut names = "| role | names |\n|---|---|\n".to_owned();
    for role in Role::ALL {
        let aliases = role.aliases().iter().map(|name| format!("`{name}`"));
        let aliases: Vec<String> = aliases.collect();
        names += &format!("| {} | {} |\n", role.name(), aliases.join(", "));
    }
    let tables = [("Columns are found by these names", names)];
    gleaner_testing::check_tables("dataset/README.md", &tables, command);
}

/// Jobs share nodes and state their cores, so the idle time is known only within bounds.
#[test]
fn counts_on_shared_nodes_give_bounds() {
    let log = gleaner_testing::shared("machines/cirrus/2024_Q1_CPU-sacct-subset.csv");
    let (Some(log), Some(reference)) = (
        log,
        gleaner_testing::shared("machines/cirrus/reference.json"),
    ) else {
        return;
    };
    let reference: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(reference).unwrap()).unwrap();
    let options = Options {
        from: Some(reference["from"].as_str().unwrap().to_owned()),
        to: Some(reference["to"].as_str().unwrap().to_owned()),
        table: TableOptions {
            machine: Machine::named("cirrus"),
            ..TableOptions::default()
        },
        ..Options::new(Format::Table)
    };
    let holds = scheduler::read(&[log], &options, &Unobserved).unwrap();
    let summary = holds.sweep(UnknownNodes::Deal, |_| Ok(())).unwrap();
    assert_eq!(summary.nodes as u64, reference["nodes"].as_u64().unwrap());
    let quality = &summary.quality;
    assert_eq!(
        quality.idle_lower,
        reference["idle_node_s_lower"].as_u64().unwrap()
    );
    assert_eq!(
        quality.idle_upper,
        reference["idle_node_s_upper"].as_u64().unwrap()
    );
    // In the event log, the idle time equals its lower bound.
    assert_eq!(summary.swept.shares.idle, quality.idle_lower as f64);
}
