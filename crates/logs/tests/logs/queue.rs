//! Tests the number of jobs waiting in the queue, and the number of nodes that they request, at every event of a log.

use std::fmt::Write;
use std::path::Path;

use gleaner_domain::{Pending, UnknownNodes};
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Input, Options};
use proptest::prelude::*;

/// The fate of a submitted job.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// The job ran for this number of seconds.
    Ran(i64),
    /// The job left the queue without running.
    Cancelled,
    /// The job was still waiting when the log was written.
    Waiting,
    /// The job was waiting when the first file was written. According to the second file, it ran for this number of
    /// seconds.
    RanLater(i64),
}

#[derive(Debug, Clone)]
struct Job {
    submit: i64,
    wait: i64,
    nodes: u64,
    fate: Fate,
}

impl Job {
    /// Time at which the job left the queue; `None` if it never did.
    fn left(&self) -> Option<i64> {
        (self.fate != Fate::Waiting).then_some(self.submit + self.wait)
    }
}

fn job() -> impl Strategy<Value = Job> {
    let fate = prop_oneof![
        (1i64..9).prop_map(Fate::Ran),
        Just(Fate::Cancelled),
        Just(Fate::Waiting),
        (1i64..9).prop_map(Fate::RanLater),
    ];
    (0i64..30, 0i64..15, 1u64..4, fate).prop_map(|(submit, wait, nodes, fate)| Job {
        submit,
        wait,
        nodes,
        fate,
    })
}

/// Two files of `sacct`. The first file was written before the jobs with [`Fate::RanLater`]
/// started.
fn sacct(jobs: &[Job]) -> [String; 2] {
    let header = "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n";
    // These jobs change the log every second, so that every second has an event.
    let mut first = header.to_owned();
    for second in (0..50).step_by(2) {
        let (start, end) = (time(second), time(second + 1));
        writeln!(first, "tick{second}|COMPLETED|{start}|{start}|{end}|1|tick").unwrap();
    }
    let mut second = header.to_owned();
    for (id, job) in jobs.iter().enumerate() {
        let (submit, left, nodes) = (time(job.submit), time(job.submit + job.wait), job.nodes);
        let list = format!("j{id}n[1-{nodes}]");
        let ran = |length: i64| {
            let end = time(job.submit + job.wait + length);
            format!("{id}|COMPLETED|{submit}|{left}|{end}|{nodes}|{list}")
        };
        let waiting = format!("{id}|PENDING|{submit}|Unknown|Unknown|{nodes}|None assigned");
        match job.fate {
            Fate::Ran(length) => writeln!(first, "{}", ran(length)).unwrap(),
            Fate::Cancelled => writeln!(
                first,
                "{id}|CANCELLED by 0|{submit}|None|{left}|{nodes}|None assigned"
            )
            .unwrap(),
            Fate::Waiting => writeln!(first, "{waiting}").unwrap(),
            Fate::RanLater(length) => {
                writeln!(first, "{waiting}").unwrap();
                writeln!(second, "{}", ran(length)).unwrap();
            }
        }
    }
    [first, second]
}

fn time(second: i64) -> String {
    format!("1970-01-01T00:{:02}:{:02}", second / 60, second % 60)
}

/// The second of each event of the log, and the waiting jobs at that second.
fn read(files: &[String], options: Options) -> Vec<(i64, Option<Pending>)> {
    let inputs = files
        .iter()
        .map(|text| Input::new(Path::new("log"), text.as_bytes()));
    let holds = scheduler::read_inputs(inputs, &options).unwrap();
    let mut found = Vec::new();
    holds
        .sweep(UnknownNodes::Deal, |event| {
            found.push((event.time.second(), event.queue.pending));
            Ok(())
        })
        .unwrap();
    found
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn jobs_wait_until_they_start_or_are_cancelled(jobs in prop::collection::vec(job(), 0..12)) {
        let options = Options {
            from: Some(time(0)),
            to: Some(time(50)),
            timezone: Some("UTC".to_owned()),
            ..Options::new(Format::Slurm)
        };
        let found = read(&sacct(&jobs), options);
        prop_assert!(found.len() >= 50);
        for (second, pending) in found {
            let waits = |job: &&Job| job.submit <= second && job.left().is_none_or(|left| second < left);
            let waiting: Vec<&Job> = jobs.iter().filter(waits).collect();
            let expected = Pending {
                jobs: waiting.len() as u64,
                nodes: waiting.iter().map(|job| job.nodes).sum(),
            };
            prop_assert_eq!(pending, Some(expected), "second {}", second);
        }
    }
}

// Each log has a job that was cancelled after 20 seconds in the queue.
#[test]
fn tables_and_swf_logs_state_cancelled_jobs_too() {
    let table = "submit,start,end,numnodes\n1600000000,1600000010,1600000040,1\n\
                 1600000005,,1600000025,3\n1600000020,1600000020,1600000030,1\n";
    let options = Options {
        node_count: Some(4),
        ..Options::new(Format::Table)
    };
    let swf = "; MaxNodes: 4\n; MaxProcs: 4\n; UnixStartTime: 1600000000\n\
               1 0 10 30 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n\
               2 5 20 -1 -1 -1 -1 3 -1 -1 5 1 1 1 1 1 -1 -1\n\
               3 20 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    for (log, options) in [(table, options), (swf, Options::new(Format::Swf))] {
        let options = Options {
            from: Some("1600000000".to_owned()),
            to: Some("1600000040".to_owned()),
            ..options
        };
        let found = read(&[log.to_owned()], options);
        let waiting = |jobs, nodes| Some(Pending { jobs, nodes });
        let expected = [
            (1_600_000_000, waiting(1, 1)),
            (1_600_000_010, waiting(1, 3)),
            (1_600_000_020, waiting(1, 3)),
            (1_600_000_030, waiting(0, 0)),
            (1_600_000_040, waiting(0, 0)),
        ];
        assert_eq!(found, expected, "{log}");
    }
}
