//! Tests that tables of jobs give the same events no matter how columns and values are written. The expected states of
//! random schedules come from a table with a cell for every minute. The code that fills this table is independent of
//! the readers.

use std::io::Write;
use std::path::Path;

use gleaner_domain::{Local, UnknownNodes};
use gleaner_logs::scheduler::{Format, Options, Selection, TableOptions, hostlist, parse_columns};
use proptest::prelude::*;

use super::parquet_tables::{Cells, file};
use super::round_trips::{DAY, Job, MINUTES, NODES, at, dense, iso, job, name, states};
use super::support::{between, events, events_of, sample};

/// The format of the times in a table.
#[derive(Debug, Clone, Copy)]
enum Times {
    Seconds,
    Floats,
    Millis,
    Iso,
    Space,
    Zulu,
    Tokyo,
    Slashes,
    /// Parquet timestamps: the unit, the number of units in a second, and whether they are in UTC.
    Stamps(&'static str, i64, bool),
}

/// The format of the nodes of a job.
#[derive(Debug, Clone, Copy)]
enum Hosts {
    Brackets,
    Commas,
    Spaces,
    Python,
    Json,
    /// A list in Parquet, or the format of `Brackets` in text.
    List,
    /// A table of members.
    Members,
    /// Only the number of nodes.
    Count,
}

/// The format of a table, and the names of its columns.
#[derive(Debug, Clone)]
struct Spelling {
    parquet: bool,
    delimiter: char,
    quote_all: bool,
    times: Times,
    hosts: Hosts,
    /// The text for a missing value.
    none: &'static str,
    with_count: bool,
    /// For each column, the index of its name among the known names of its role.
    alias: usize,
    upper: bool,
    /// Whether the columns have names that the reader does not know, so that the options must name them.
    named: bool,
    /// Number of rows in a row group.
    group: usize,
    gzip: bool,
}

fn spelling() -> impl Strategy<Value = Spelling> {
    let times = prop::sample::select(vec![
        Times::Seconds,
        Times::Floats,
        Times::Millis,
        Times::Iso,
        Times::Space,
        Times::Zulu,
        Times::Tokyo,
        Times::Slashes,
        Times::Stamps("MILLIS", 1_000, true),
        Times::Stamps("MICROS", 1_000_000, false),
        Times::Stamps("NANOS", 1_000_000_000, true),
    ]);
    let hosts = prop::sample::select(vec![
        Hosts::Brackets,
        Hosts::Commas,
        Hosts::Spaces,
        Hosts::Python,
        Hosts::Json,
        Hosts::List,
        Hosts::Members,
        Hosts::Count,
    ]);
    let none = prop::sample::select(vec!["", "0", "None", "NaT"]);
    let flags = prop::array::uniform6(any::<bool>());
    let delimiter = prop::sample::select(vec![',', ';', '|', '\t']);
    (times, hosts, none, flags, delimiter, 0usize..4, 1usize..9).prop_map(
        |(times, hosts, none, flags, delimiter, alias, group)| {
            let [parquet, quote_all, with_count, upper, named, gzip] = flags;
            Spelling {
                parquet,
                delimiter,
                quote_all,
                times,
                hosts,
                none,
                with_count,
                alias,
                upper,
                named,
                group,
                gzip: gzip && !parquet,
            }
        },
    )
}

impl Spelling {
    fn time(&self, minute: i64) -> String {
        let second = at(minute);
        let local = |ahead: i64| Local::from_seconds(second + ahead).to_string();
        match self.times {
            Times::Seconds => second.to_string(),
            Times::Floats => format!("{second}.0"),
            Times::Millis => format!("{second}250"),
            Times::Iso | Times::Stamps(..) => iso(minute),
            Times::Space => format!("{}.5", local(0)),
            Times::Zulu => format!("{}Z", iso(minute)),
            Times::Tokyo => format!("{}+09:00", local(9 * 3600)),
            Times::Slashes => {
                let text = local(0);
                let (date, time) = text.split_once(' ').unwrap();
                let [year, month, day] = [0, 1, 2].map(|at| date.split('-').nth(at).unwrap());
                let short = |part: &str| part.trim_start_matches('0').to_owned();
                format!("{year}/{}/{} {}", short(month), short(day), &time[..5])
            }
        }
    }

    fn hosts(&self, job: &Job) -> String {
        let names: Vec<String> = job.nodes.iter().map(|node| name(*node)).collect();
        let each = |quote: &str| {
            names
                .iter()
                .map(|n| format!("{quote}{n}{quote}"))
                .collect::<Vec<_>>()
        };
        match self.hosts {
            Hosts::Commas => names.join(","),
            Hosts::Spaces => names.join(" "),
            Hosts::Python => format!("[{}]", each("'").join(", ")),
            Hosts::Json => format!("[{}]", each("\"").join(",")),
            _ => hostlist::compress(names.iter().map(String::as_str)),
        }
    }

    /// The name of the column for a role, in the table's spelling.
    fn column(&self, role: &str, aliases: [&str; 4]) -> String {
        let name = if self.named {
            format!("my {role}")
        } else {
            aliases[self.alias].to_owned()
        };
        if self.upper {
            name.to_uppercase()
        } else {
            name
        }
    }

    fn header(&self) -> [String; 5] {
        [
            self.column(
                "start",
                ["start_time", "begin_time", "START_TIMESTAMP", "sdt"],
            ),
            self.column("end", ["end_time", "time_end", "END_TIMESTAMP", "edt"]),
            self.column("nodes", ["nodes", "nodelist", "node", "nodes"]),
            self.column("count", ["nodes_used", "NNodes", "numnodes", "nodes_req"]),
            self.column("id", ["job_id", "allocation_id", "job_name", "id_job"]),
        ]
    }

    fn has_nodes(&self) -> bool {
        !matches!(self.hosts, Hosts::Members | Hosts::Count)
    }

    fn has_count(&self) -> bool {
        self.with_count || matches!(self.hosts, Hosts::Count)
    }

    fn quoted(&self, cell: &str) -> String {
        let needs = cell.contains([self.delimiter, '"']);
        if needs || self.quote_all {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    }

    fn line(&self, cells: &[String]) -> String {
        let cells: Vec<_> = cells.iter().map(|cell| self.quoted(cell)).collect();
        cells.join(&self.delimiter.to_string()) + "\n"
    }

    /// The positions, in the header, of the columns that the table contains.
    fn written(&self) -> Vec<usize> {
        let mut written = vec![4, 1, 0];
        written.extend(self.has_nodes().then_some(2));
        written.extend(self.has_count().then_some(3));
        written
    }

    fn text(&self, jobs: &[Job]) -> Vec<u8> {
        let header = self.header();
        let pick = |cells: &[String; 5]| {
            let written = self.written().into_iter();
            written.map(|at| cells[at].clone()).collect::<Vec<_>>()
        };
        let mut text = self.line(&pick(&header));
        for (id, job) in jobs.iter().enumerate() {
            let end = job.to.map_or(self.none.to_owned(), |to| self.time(to));
            let count = job.nodes.len().to_string();
            let cells = [
                self.time(job.from),
                end,
                self.hosts(job),
                count,
                format!("j{id}"),
            ];
            text += &self.line(&pick(&cells));
        }
        // A job that never ran.
        let never = [self.none, self.none, "", "0", "never"].map(str::to_owned);
        text += &self.line(&pick(&never));
        if !self.gzip {
            return text.into_bytes();
        }
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    }

    fn times(&self, minutes: impl Iterator<Item = Option<i64>>) -> Cells {
        let second = |minute: Option<i64>| minute.map(at);
        match self.times {
            Times::Stamps(unit, factor, utc) => Cells::Time(
                unit,
                utc,
                minutes.map(|m| Some(second(m)? * factor)).collect(),
            ),
            Times::Seconds => Cells::Int(minutes.map(|m| Some(second(m).unwrap_or(0))).collect()),
            Times::Millis => Cells::Int(minutes.map(|m| Some(second(m)? * 1000)).collect()),
            Times::Floats => Cells::Float(
                minutes
                    .map(|m| Some(second(m).map_or(f64::NAN, |s| s as f64)))
                    .collect(),
            ),
            _ => Cells::Text(
                minutes
                    .map(|m| Some(m.map_or(self.none.to_owned(), |m| self.time(m))))
                    .collect(),
            ),
        }
    }

    fn parquet(&self, jobs: &[Job]) -> Vec<u8> {
        let header = self.header();
        let never = [None];
        let starts = self.times(jobs.iter().map(|job| Some(job.from)).chain(never));
        let ends = self.times(jobs.iter().map(|job| job.to).chain(never));
        let nodes = if matches!(self.hosts, Hosts::List) {
            let names = |job: &Job| Some(job.nodes.iter().map(|node| name(*node)).collect());
            Cells::Lists(jobs.iter().map(names).chain([Some(Vec::new())]).collect())
        } else {
            let hosts = jobs.iter().map(|job| Some(self.hosts(job)));
            Cells::Text(hosts.chain([None]).collect())
        };
        let counts = jobs
            .iter()
            .map(|job| Some(job.nodes.len() as i64))
            .chain([Some(0)]);
        let ids = (0..=jobs.len()).map(|id| Some(format!("j{id}")));
        let all = [
            starts,
            ends,
            nodes,
            Cells::Int(counts.collect()),
            Cells::Text(ids.collect()),
        ];
        // Names in a schema cannot contain spaces.
        let names = header.map(|name| name.replace(' ', "_"));
        let written = self.written().into_iter();
        let columns: Vec<_> = written
            .map(|at| (names[at].as_str(), all[at].clone()))
            .collect();
        file(&columns, self.group)
    }

    fn options(&self, folder: &Path, jobs: &[Job]) -> Options {
        let header = self.header();
        let roles = ["start", "end", "nodes", "count", "id"];
        let separator = if self.parquet { "_" } else { " " };
        let named = self.written().into_iter().map(|at| {
            let name = header[at].to_lowercase().replace(' ', separator);
            format!("{}={name}", roles[at])
        });
        let named: Vec<String> = named.collect();
        let members = matches!(self.hosts, Hosts::Members).then(|| {
            let path = folder.join("members");
            let id = header[4].replace(' ', separator);
            let mut text = format!("x,{id},host\n");
            for (at, job) in jobs.iter().enumerate().rev() {
                for node in &job.nodes {
                    text += &format!("1,j{at},{}\n", name(*node));
                }
            }
            std::fs::write(&path, text).unwrap();
            path
        });
        Options {
            table: TableOptions {
                columns: if self.named {
                    parse_columns(&named).unwrap()
                } else {
                    Vec::new()
                },
                members,
                ..TableOptions::default()
            },
            timezone: Some("UTC".to_owned()),
            ..Options::new(Format::Table)
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(512, 20))]

    #[test]
    fn a_table_has_the_same_events_in_every_spelling(
        jobs in prop::collection::vec(job(), 1..12),
        spelling in spelling(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = spelling.options(folder.path(), &jobs);
        let table = if spelling.parquet { spelling.parquet(&jobs) } else { spelling.text(&jobs) };
        if matches!(spelling.hosts, Hosts::Count) {
            // Nodes are not named, so only the number of idle nodes is checked. Cases in which the jobs need more nodes
            // than the machine has are rejected.
            let used = |minute: i64| -> usize {
                let over = jobs.iter().filter(|j| j.from <= minute && j.to.is_none_or(|to| minute < to));
                over.map(|j| j.nodes.len()).sum()
            };
            prop_assume!((0..=MINUTES).all(|minute| used(minute) <= NODES));
            for (minute, idle) in (0..).zip(states(&table, &options)) {
                let count = idle.iter().filter(|idle| **idle).count();
                prop_assert_eq!(count, NODES - used(minute), "minute {}", minute);
            }
        } else {
            prop_assert_eq!(states(&table, &options), dense(&jobs));
        }
    }
}

fn options() -> Options {
    Options {
        timezone: Some("UTC".to_owned()),
        ..Options::new(Format::Table)
    }
}

const JOBS: [&str; 5] = [
    "08:00:00 +n1 +n2",
    "09:00:00 -n1",
    "09:30:00 -n2",
    "10:00:00 +n1",
    "10:30:00 +n2",
];

/// Asserts that the first events of a table are those in [`JOBS`].
#[track_caller]
fn assert_jobs(table: &str, options: &Options) {
    let options = Options {
        from: Some("2026-01-01T08:00:00Z".to_owned()),
        to: Some("2026-01-01T11:00:00Z".to_owned()),
        ..options.clone()
    };
    let (rows, summary) = events(table.as_bytes(), &options).unwrap();
    let expected: Vec<_> = JOBS.iter().map(|row| format!("2026-01-01 {row}")).collect();
    assert_eq!(rows[..5], expected, "{summary}");
}

#[test]
fn the_sample() {
    let (rows, summary) = events_of("table.csv", &options());
    let expected = [
        "2026-01-01 08:00:00 +t4",
        "2026-01-01 08:10:00 -t4",
        "2026-01-01 09:00:00 +t1 +t2",
        "2026-01-01 09:10:00 +t4",
        "2026-01-01 09:20:00 -t1 -t2 +t3",
        "2026-01-01 10:00:00 +t1 +t2",
    ];
    assert_eq!(rows, expected, "{summary}");
    assert!(summary.notes[0].starts_with("columns: start start_time, end end_time"));
}

#[test]
fn a_quote_that_is_not_closed_costs_one_cell() {
    let table = "start,end,nodes,note\n\
                 2026-01-01T09:00:00,2026-01-01T10:00:00,n1,\"a\n\
                 2026-01-01T09:00:00,2026-01-01T10:00:00,n1,\"two\nlines, \"\"quoted\"\"\"\n\
                 2026-01-01T09:00:00,2026-01-01T10:00:00,n1,\"three\n\nlong\nlines\"\n\
                 2026-01-01T09:30:00,2026-01-01T10:30:00,n2,5\" disk\n\
                 2026-01-01T09:30:00,2026-01-01T10:30:00,\"n2,\n";
    assert_jobs(table, &options());
    let (_, summary) = events(table.as_bytes(), &options()).unwrap();
    // The quote in `5" disk` is an ordinary character. The quote before `n2` in the last row would become part of a
    // node's name, so the nodes of this job are unknown.
    assert_eq!(summary.log_counts.jobs, 5, "{summary}");
    let text = summary.to_string();
    assert!(
        text.contains("problem   1 with a list of nodes that cannot be read (the nodes missing from it are unknown); first log, line 10: a quote"),
        "{text}"
    );
}

#[test]
fn columns_are_named_or_refused() {
    let named = |columns: &[&str]| {
        let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        parse_columns(&columns)
    };
    let options = Options {
        table: TableOptions {
            columns: named(&["start=Beginn", "nodes=wo"]).unwrap(),
            ..TableOptions::default()
        },
        ..options()
    };
    let table = "start,beginn,END_time,Wo\n\
                 x,2026-01-01T09:00:00,2026-01-01T10:00:00,n1\n\
                 x,2026-01-01T09:30:00,2026-01-01T10:30:00,n2\n";
    assert_jobs(table, &options);
    for (table, part) in [
        (
            "start,end,Wo\n",
            "log, header, Beginn: found no such column among start, end, Wo",
        ),
        (
            "beginn,Wo\n1,n1\n",
            "end: found no such column among beginn, Wo, expected a column such as end_time",
        ),
    ] {
        let message = events(table.as_bytes(), &options).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    for wrong in [
        &["beginning=x"][..],
        &["start"],
        &["start="],
        &["end=a", "end=b"],
    ] {
        assert_eq!(named(wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
    }
    let message = events(b"start,end\n1,2\n", &self::options())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("name it with --columns nodes=NAME"),
        "{message}"
    );
}

#[test]
fn jobs_are_selected_by_partition_and_state() {
    let table = "start,end,nodes,partition,state\n\
                 2026-01-01T09:00:00,2026-01-01T10:00:00,n1,a,COMPLETED\n\
                 2026-01-01T09:00:00,2026-01-01T11:00:00,n3,b,COMPLETED\n\
                 2026-01-01T09:00:00,2026-01-01T11:00:00,n3,a,FAILED\n\
                 2026-01-01T09:30:00,2026-01-01T10:30:00,n2,a,CANCELLED by 7\n";
    let select = |partitions: &[&str], states: &[&str]| Options {
        selection: Selection {
            partitions: partitions.iter().map(|&name| name.to_owned()).collect(),
            states: states.iter().map(|&name| name.to_owned()).collect(),
        },
        ..options()
    };
    assert_jobs(table, &select(&["a"], &["completed", "cancelled"]));
    let slurm = table
        .replace("start,end,nodes", "JobIDRaw,Start,End,NodeList")
        .replace("\n2026", "\n7,2026");
    let slurm = Options {
        format: Format::Slurm,
        ..select(&["a"], &["COMPLETED", "CANCELLED"])
    }
    .pair(slurm);
    assert_jobs(&slurm.1, &slurm.0);
    let message = events(b"start,end,nodes\n1,2,n1\n", &select(&["a"], &[])).unwrap_err();
    assert!(
        message
            .to_string()
            .contains("partition: found no such column"),
        "{message}"
    );
}

// In each log, a job in the queue `a` runs on n1 from 09:00 to 10:00. The jobs in the queue `b` run on n2.
#[test]
fn jobs_of_other_formats_are_selected_by_queue() {
    let pbs = "01/01/2026 09:00:00;S;1;queue=a start=1767258000 exec_host=n1/0\n\
               01/01/2026 09:00:00;S;2;queue=b start=1767258000 exec_host=n2/0\n\
               01/01/2026 10:00:00;E;1;start=1767258000 end=1767261600 exec_host=n1/0\n\
               01/01/2026 10:30:00;E;2;queue=b start=1767258000 end=1767263400 exec_host=n2/0\n";
    let djc = "START_TIMESTAMP,END_TIMESTAMP,NODES_USED,LOCATION,QUEUE_NAME\n\
               2026-01-01 09:00:00,2026-01-01 10:00:00,1,n1,a\n\
               2026-01-01 09:00:00,2026-01-01 10:30:00,1,n2,b\n";
    for (format, log) in [
        (Format::Pbs, pbs),
        (
            Format::Cobalt,
            &pbs.replace("n1/0", "n1").replace("n2/0", "n2"),
        ),
        (Format::Djc, djc),
    ] {
        let all = options_of(format, &[]);
        let (rows, _) = events(log.as_bytes(), &all).unwrap();
        assert!(
            rows.iter().any(|row| row.contains("n2")),
            "{format:?}: {rows:?}"
        );
        let (rows, summary) = events(log.as_bytes(), &options_of(format, &["a"])).unwrap();
        let expected = [
            "2026-01-01 08:30:00 +n1",
            "2026-01-01 09:00:00 -n1",
            "2026-01-01 10:00:00 +n1",
        ];
        assert_eq!(rows[..3], expected, "{format:?}");
        assert!(
            rows.iter().all(|row| !row.contains("n2")),
            "{format:?}: {rows:?}"
        );
        assert!(
            summary
                .to_string()
                .contains("of other partitions or states"),
            "{summary}"
        );
        // Reading fails if no job is selected.
        events(log.as_bytes(), &options_of(format, &["c"])).unwrap_err();
    }
    let without = djc.replace(",QUEUE_NAME", ",QUEUE");
    let message = events(without.as_bytes(), &options_of(Format::Djc, &["a"])).unwrap_err();
    assert!(message.to_string().contains("QUEUE_NAME"), "{message}");
}

// The first two jobs are selected: job 1 is in partition 1, and job 2 is in queue 1 and has no partition number.
#[test]
fn jobs_of_swf_are_selected_by_number() {
    let job = |id: u32, nodes: u32, queue: i32, partition: i32| {
        format!("{id} 0 0 3600 {nodes} -1 -1 {nodes} -1 -1 1 1 1 -1 {queue} {partition} -1 -1\n")
    };
    let log = format!(
        "; UnixStartTime: 1767258000\n; MaxNodes: 8\n; MaxProcs: 8\n{}{}{}{}",
        job(1, 1, 5, 1),
        job(2, 2, 1, -1),
        job(3, 4, 1, 2),
        job(4, 1, -1, -1)
    );
    let options = Options {
        from: Some("1767258000".into()),
        to: Some("1767261600".into()),
        ..options_of(Format::Swf, &["1"])
    };
    let (rows, _) = events(log.as_bytes(), &options).unwrap();
    // Jobs 1 and 2 use three of the eight nodes from the start.
    assert_eq!(rows[0].matches('+').count(), 5, "{rows:?}");
}

/// Options that select the jobs of these partitions from a log in UTC, between 08:30 and 11:00.
fn options_of(format: Format, partitions: &[&str]) -> Options {
    Options {
        timezone: Some("UTC".into()),
        selection: Selection {
            partitions: partitions.iter().map(|&name| name.to_owned()).collect(),
            states: Vec::new(),
        },
        ..between(format, "2026-01-01T08:30:00", "2026-01-01T11:00:00")
    }
}

/// Pairs options with a log.
trait Pair: Sized {
    fn pair(self, log: String) -> (Self, String) {
        (self, log)
    }
}

impl Pair for Options {}

#[test]
fn a_column_of_numbers_counts_nodes() {
    let table = "start_time,end_time,nodes\n1767258000,1767261600,1\n1767259800,1767263400,1\n";
    let (rows, summary) = events(table.as_bytes(), &options()).unwrap();
    assert_eq!(rows[0], "2026-01-01 09:00:00 +n1", "{summary}");
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.contains("used as counts")),
        "{summary}"
    );
    let partitions = "start_time,end_time,nodelist,nodes_used\n1767258000,1767261600,MIR-0-1,512\n";
    let (_, summary) = events(partitions.as_bytes(), &options()).unwrap();
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.contains("only the counts are used")),
        "{summary}"
    );
}

#[test]
fn rows_that_overlap_in_two_files_count_once() {
    use gleaner_logs::scheduler::{Input, Reason, read_inputs};
    let text = "start,end,nodes\n2026-01-01T09:00:00,2026-01-01T10:00:00,n1\n";
    let parquet = file(
        &[
            (
                "end",
                Cells::Time("MILLIS", false, vec![Some(1_767_261_600_000)]),
            ),
            ("nodes", Cells::Lists(vec![Some(vec!["n1".to_owned()])])),
            (
                "start",
                Cells::Text(vec![Some("2026-01-01T09:00:00".to_owned())]),
            ),
        ],
        9,
    );
    let inputs = [text.as_bytes(), &parquet].map(|bytes| Input::new(Path::new("log"), bytes));
    let holds = read_inputs(inputs, &options()).unwrap();
    let summary = holds.sweep(UnknownNodes::Deal, |_| Ok(())).unwrap();
    assert_eq!(summary.log_counts.jobs, 1, "{summary}");
    assert_eq!(summary.log_counts.found[&Reason::Duplicate].count, 1);
}

/// The machine goes down at 10:30 and comes back when the next job starts.
#[test]
fn outages_take_the_whole_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("status.csv");
    let jobs = "START_TIMESTAMP,END_TIMESTAMP,NODES_USED,LOCATION\n\
                2026-01-01 08:00:00,2026-01-01 09:00:00,2,\"x1,x2\"\n\
                2026-01-01 12:00:00,2026-01-01 13:00:00,1,x1\n\
                2026-01-01 12:30:00,2026-01-01 13:30:00,1,x2\n";
    let status = "MACHINE_NAME,START_TIMESTAMP,END_TIMESTAMP,IS_ALL_MACHINE_DOWN\n\
                  m,2026-01-01 10:30:00,,1\nm,2026-01-01 09:30:00,2026-01-01 10:00:00,0\n\
                  m,2026-01-01 09:10:00,2026-01-01 09:20:00,1\n";
    std::fs::write(&path, status).unwrap();
    let expected = [
        "2026-01-01 08:00:00",
        "2026-01-01 09:00:00 +0 +1",
        "2026-01-01 09:10:00 -0 -1",
        "2026-01-01 09:20:00 +0 +1",
        "2026-01-01 10:30:00 -0 -1",
        "2026-01-01 12:00:00 +1",
        "2026-01-01 12:30:00 -1",
        "2026-01-01 13:00:00 +0",
        "2026-01-01 13:30:00 +1",
    ];
    for format in [Format::Djc, Format::Table] {
        let options = Options {
            outages: Some(path.clone()),
            from: Some("2026-01-01T08:00:00Z".to_owned()),
            to: Some("2026-01-01T13:30:00Z".to_owned()),
            ..Options::new(format)
        };
        let named = |row: &str| {
            let row = row.replace(" +0", " +x1").replace(" -0", " -x1");
            row.replace(" +1", " +x2").replace(" -1", " -x2")
        };
        let named = expected.map(named);
        let (rows, summary) = events(jobs.as_bytes(), &options).unwrap();
        assert_eq!(rows, named, "{summary}");
        assert_eq!(summary.log_counts.outages, 2);
        // If a table has only counts, the size of the machine must be known.
        let counted = jobs.replace("LOCATION", "PLACE");
        let message = events(counted.as_bytes(), &options).unwrap_err();
        assert_eq!(message.exit_code(), 2);
        let options = Options {
            node_count: Some(2),
            ..options
        };
        let counted = events(counted.as_bytes(), &options).unwrap().0;
        let counted = counted
            .iter()
            .map(|row| row.matches('+').count() as i64 - row.matches(" -").count() as i64);
        let signs =
            expected.map(|row| row.matches('+').count() as i64 - row.matches(" -").count() as i64);
        assert_eq!(counted.collect::<Vec<_>>(), signs);
    }
    for (status, part) in [
        (
            "START_TIMESTAMP,END_TIMESTAMP\n",
            "IS_ALL_MACHINE_DOWN: found no such column",
        ),
        (
            "START_TIMESTAMP,END_TIMESTAMP,IS_ALL_MACHINE_DOWN\nsoon,,1\n",
            "line 2: found \"soon\" to \"\"",
        ),
        (
            "START_TIMESTAMP,END_TIMESTAMP,IS_ALL_MACHINE_DOWN\n2026-01-02,2026-01-01,1\n",
            "line 2: found an end 86400 s before the start",
        ),
    ] {
        std::fs::write(&path, status).unwrap();
        let options = Options {
            outages: Some(path.clone()),
            ..Options::new(Format::Djc)
        };
        let message = events(jobs.as_bytes(), &options).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn parquet_given_to_another_reader_names_this_one() {
    let bytes = file(&[("Start", Cells::Int(vec![Some(1)]))], 9);
    for format in [Format::Slurm, Format::Pbs, Format::Swf] {
        let message = events(&bytes, &Options::new(format))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("`gleaner ingest table` reads"),
            "{message}"
        );
    }
    let message = events(b"PK\x03\x04rest", &options())
        .unwrap_err()
        .to_string();
    assert!(message.contains("found a zip archive"), "{message}");
    let bytes = zstd::encode_all(bytes.as_slice(), 1).unwrap();
    let message = events(&bytes, &options()).unwrap_err().to_string();
    assert!(message.contains("decompress it first"), "{message}");
}

#[test]
fn hostile_tables_are_faults() {
    let table = |start: Cells, nodes: Cells| {
        let end = Cells::Int(vec![Some(DAY + 60)]);
        file(&[("start", start), ("end", end), ("nodes", nodes)], 9)
    };
    let start = || Cells::Int(vec![Some(DAY)]);
    let nodes = || Cells::Text(vec![Some("n1".to_owned())]);
    assert!(events(&table(start(), nodes()), &options()).is_ok());
    for (bytes, part) in [
        (
            table(Cells::Bool(vec![Some(true)]), nodes()),
            "\"true\" is not a time",
        ),
        (
            table(Cells::Float(vec![Some(f64::INFINITY)]), nodes()),
            "\"inf\" is not a time",
        ),
        (
            table(Cells::Int(vec![Some(i64::MIN)]), nodes()),
            "is not a time",
        ),
        (
            table(Cells::Time("NANOS", true, vec![Some(i64::MAX)]), nodes()),
            "none usable",
        ),
        (
            table(start(), Cells::Lists(vec![None])),
            "states neither its nodes nor their number",
        ),
        (
            table(start(), Cells::Text(vec![Some("['n1".to_owned())])),
            "do not match",
        ),
    ] {
        let message = events(&bytes, &options()).unwrap_err();
        assert_eq!(message.exit_code(), 3);
        assert!(message.to_string().contains(part), "{message}");
    }
    let sound = table(start(), Cells::Lists(vec![Some(vec!["n1".to_owned(); 40])]));
    for length in 0..sound.len() {
        let cut = events(&sound[..length], &options());
        assert!(cut.is_err(), "{length} of {} bytes", sound.len());
    }
}

#[test]
fn a_header_of_a_million_columns_is_read() {
    let mut table = "a,".repeat(1_000_000);
    let message = events(format!("{table}\n").as_bytes(), &options())
        .unwrap_err()
        .to_string();
    assert!(
        message.len() < 10_000 && message.contains("no such column"),
        "{message}"
    );
    table += "start,end,nodes\n";
    table += &",".repeat(1_000_000);
    table += "2026-01-01T09:00:00,2026-01-01T10:00:00,n1\n";
    assert!(events(table.as_bytes(), &options()).is_ok());
    assert!(events(("\"".repeat(1 << 20) + ",start\n").as_bytes(), &options()).is_err());
}

#[test]
fn members_may_be_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("members.csv");
    let jobs = "allocation_id,begin_time,end_time,num_nodes\n\
                901,2026-01-01 09:00:00,2026-01-01 10:00:00,1\n\
                902,2026-01-01 09:30:00,2026-01-01 10:30:00,1\n";
    let options = Options {
        table: TableOptions {
            members: Some(path.clone()),
            ..TableOptions::default()
        },
        ..options()
    };
    std::fs::write(
        &path,
        "node_name,allocation_id\nn2,902\nn1,901.0\nn1,901\n,901\nn3\n",
    )
    .unwrap();
    assert_jobs(jobs, &options);
    let (_, summary) = events(jobs.as_bytes(), &options).unwrap();
    let note = &summary.notes[0];
    assert!(
        note.contains("members.csv: 2 lines that cannot be read; first"),
        "{note}"
    );
    let strict = Options {
        strict: true,
        ..options.clone()
    };
    assert_eq!(events(jobs.as_bytes(), &strict).unwrap_err().exit_code(), 3);
    std::fs::write(&path, "node,job\n").unwrap();
    let message = events(jobs.as_bytes(), &options).unwrap_err().to_string();
    assert!(
        message.contains("id: found no such column among node, job"),
        "{message}"
    );
}

/// Tests that the zone and the number of nodes of a machine are used, and that the gaps in its data are printed.
#[test]
fn a_machine_is_described() {
    use gleaner_logs::scheduler::Machine;
    let table = std::fs::read(sample("table.csv")).unwrap();
    let machine = |name: &str, timezone: Option<&str>| Options {
        table: TableOptions {
            machine: Machine::named(name),
            ..TableOptions::default()
        },
        timezone: timezone.map(str::to_owned),
        ..Options::new(Format::Table)
    };
    let (rows, summary) = events(&table, &machine("lassen", Some("UTC"))).unwrap();
    assert_eq!(rows[0], "2026-01-01 08:00:00 +t4");
    assert!(summary.span.0.ends_with("-08:00"), "{}", summary.span.0);
    let notes = summary.notes.join("\n");
    for part in [
        "Lassen, LLNL: outages are missing",
        "--timezone UTC is ignored",
        "Lassen, LLNL has 795 nodes, but the log names 4",
        "local times of America/Los_Angeles, as set by --machine",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
}
