//! Tests that random intervals, written in each format, are read back correctly. The oracle is a table with a cell for
//! every minute: a node must be idle in exactly the minutes that the table marks as idle. The code that fills this
//! table is independent of the readers.

use gleaner_domain::Local;
use gleaner_logs::scheduler::{Format, Options, hostlist};
use proptest::prelude::*;

use super::support::{events, month_first};

/// 2026-01-01 in seconds since 1970.
pub const DAY: i64 = 1_767_225_600;
pub const NODES: usize = 6;
pub const MINUTES: i64 = 40;

/// A job: its nodes, and the minutes of its start and end; `None` if it has no end.
#[derive(Debug, Clone)]
pub struct Job {
    pub nodes: Vec<usize>,
    pub from: i64,
    pub to: Option<i64>,
}

pub fn at(minute: i64) -> i64 {
    DAY + minute * 60
}

pub fn iso(minute: i64) -> String {
    Local::from_seconds(at(minute))
        .to_string()
        .replace(' ', "T")
}

fn american(minute: i64) -> String {
    month_first(&iso(minute))
}

pub fn name(node: usize) -> String {
    format!("n{:02}", node + 8)
}

/// For each minute, whether each node is idle.
pub fn dense(jobs: &[Job]) -> Vec<[bool; NODES]> {
    let idle = |minute: i64| {
        std::array::from_fn(|node| {
            let over = |job: &&Job| job.from <= minute && job.to.is_none_or(|to| minute < to);
            !jobs
                .iter()
                .filter(over)
                .any(|job| job.nodes.contains(&node))
        })
    };
    (0..=MINUTES).map(idle).collect()
}

/// Reads a log. Returns, for each minute, whether each node is idle.
fn read(log: &str, format: Format) -> Vec<[bool; NODES]> {
    states(log.as_bytes(), &Options::new(format))
}

/// Like `read`, but with `options` and a list of all nodes of the machine.
pub fn states(log: &[u8], options: &Options) -> Vec<[bool; NODES]> {
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes");
    std::fs::write(
        &nodes,
        hostlist::compress(
            (0..NODES)
                .map(name)
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str),
        ),
    )
    .unwrap();
    let options = Options {
        nodes: Some(nodes),
        from: Some(at(0).to_string()),
        to: Some(at(MINUTES).to_string()),
        // A segment so small that most jobs are sorted on disk.
        segment: 3,
        ..options.clone()
    };
    let (rows, summary) = events(log, &options).unwrap();
    assert!(
        summary
            .log_counts
            .found
            .keys()
            .all(|reason| !reason.is_fault()
                || *reason == gleaner_logs::scheduler::Reason::Overlap),
        "{summary}"
    );
    let mut idle = [false; NODES];
    let mut states = Vec::new();
    let mut rows = rows.iter().peekable();
    for minute in 0..=MINUTES {
        let time = iso(minute).replace('T', " ");
        while let Some(row) = rows.next_if(|row| row.starts_with(&time)) {
            for word in row[time.len()..].split_whitespace() {
                let node = (0..NODES).find(|node| name(*node) == word[1..]).unwrap();
                idle[node] = word.starts_with('+');
            }
        }
        states.push(idle);
    }
    assert_eq!(rows.next(), None, "a row between the minutes");
    states
}

fn slurm(jobs: &[Job]) -> String {
    let mut log = "JobIDRaw|Start|NodeList|State|End\n".to_owned();
    for (id, job) in jobs.iter().enumerate() {
        let names: Vec<_> = job.nodes.iter().map(|node| name(*node)).collect();
        let list = hostlist::compress(names.iter().map(String::as_str));
        let (state, end) = match job.to {
            Some(to) => ("COMPLETED", iso(to)),
            None => ("RUNNING", "Unknown".to_owned()),
        };
        log += &format!("{id}|{}|{list}|{state}|{end}\n", iso(job.from));
    }
    log
}

/// Writes the starts and ends of the jobs as records in chronological order.
fn records(jobs: &[Job], hosts: fn(&[String]) -> String) -> String {
    let mut lines = Vec::new();
    for (id, job) in jobs.iter().enumerate() {
        let names: Vec<_> = job.nodes.iter().map(|node| name(*node)).collect();
        let (hosts, start) = (hosts(&names), at(job.from));
        let stamp = american(job.from);
        lines.push((
            job.from,
            1,
            format!("{stamp};S;{id};user=a start={start} {hosts}"),
        ));
        if let Some(to) = job.to {
            let (stamp, end) = (american(to), at(to));
            let line = format!("{stamp};E;{id};x=\"end=1 b\" start={start} end={end}.5 {hosts}");
            lines.push((to, if to == job.from { 2 } else { 0 }, line));
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, _, line)| line + "\n").collect()
}

fn pbs(names: &[String]) -> String {
    let hosts: Vec<_> = names.iter().map(|name| format!("{name}/0*4")).collect();
    format!("exec_host={}", hosts.join("+"))
}

fn vnodes(names: &[String]) -> String {
    let hosts: Vec<_> = names
        .iter()
        .map(|name| format!("({name}:ncpus=4)"))
        .collect();
    format!("exec_vnode={}", hosts.join("+"))
}

fn cobalt(names: &[String]) -> String {
    format!("exec_host={}", names.join(":"))
}

fn djc(jobs: &[Job]) -> String {
    let mut log = "NODES_USED,LOCATION,END_TIMESTAMP,START_TIMESTAMP\n".to_owned();
    for job in jobs {
        let names: Vec<_> = job.nodes.iter().map(|node| name(*node)).collect();
        let end = job
            .to
            .map_or(String::new(), |to| iso(to).replace('T', " ") + ".25");
        let (count, names) = (names.len(), names.join(","));
        let start = iso(job.from).replace('T', " ");
        log += &format!("{count},\"{names}\",{end},{start}.000000\n");
    }
    log
}

/// Writes each job as a Philly job with one attempt. The attempt's end is null if the job has no end.
fn philly(jobs: &[Job]) -> String {
    let jobs = jobs.iter().enumerate().map(|(id, job)| {
        let machines = job
            .nodes
            .iter()
            .map(|node| serde_json::json!({"ip": name(*node), "gpus": []}));
        let machines: Vec<_> = machines.collect();
        let end = job.to.map(|to| iso(to).replace('T', " "));
        let start = iso(job.from).replace('T', " ");
        serde_json::json!({
            "jobid": id, "attempts": [{"start_time": start, "end_time": end, "detail": machines}]
        })
    });
    serde_json::Value::from(jobs.collect::<Vec<_>>()).to_string()
}

fn swf(jobs: &[Job]) -> String {
    let mut log = format!("; UnixStartTime: {DAY}\n; MaxNodes: {NODES}\n; MaxProcs: {NODES}\n");
    for (id, job) in jobs.iter().enumerate() {
        let (from, run) = (job.from * 60, job.to.map_or(0, |to| (to - job.from) * 60));
        let count = job.nodes.len();
        log += &format!("{id} 0 {from} {run} {count} {}\n", "-1 ".repeat(13));
    }
    log
}

prop_compose! {
    pub fn job()(
        nodes in prop::collection::btree_set(0..NODES, 1..4),
        from in 0i64..MINUTES, length in 0i64..15, open in prop::bool::weighted(0.1),
    ) -> Job {
        Job { nodes: nodes.into_iter().collect(), from, to: (!open).then_some(from + length) }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(256, 20))]

    #[test]
    fn named_nodes_are_idle_as_in_the_table(jobs in prop::collection::vec(job(), 1..12)) {
        let expected = dense(&jobs);
        prop_assert_eq!(&read(&slurm(&jobs), Format::Slurm), &expected);
        prop_assert_eq!(&read(&records(&jobs, pbs), Format::Pbs), &expected);
        prop_assert_eq!(&read(&records(&jobs, vnodes), Format::Pbs), &expected);
        prop_assert_eq!(&read(&records(&jobs, cobalt), Format::Cobalt), &expected);
        prop_assert_eq!(&read(&djc(&jobs), Format::Djc), &expected);
        prop_assert_eq!(&read(&philly(&jobs), Format::Philly), &expected);
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    /// The log states only node counts. The jobs never use more nodes than the machine has, so each job gets as many
    /// nodes as it uses.
    #[test]
    fn counted_nodes_are_idle_in_the_right_number(
        sizes in prop::collection::vec((1usize..3, 0i64..MINUTES, 1i64..15), 1..12)
    ) {
        let mut jobs = Vec::new();
        for (count, from, length) in sizes {
            let job = Job { nodes: (0..count).collect(), from, to: Some(from + length) };
            let used = |minute: i64| -> usize {
                let over = jobs.iter().filter(|j: &&Job| j.from <= minute && minute < j.to.unwrap());
                over.map(|j| j.nodes.len()).sum()
            };
            if (from..from + length).all(|minute| used(minute) + count <= NODES) {
                jobs.push(job);
            }
        }
        let used = |minute: i64| -> usize {
            let over = jobs.iter().filter(|j| j.from <= minute && minute < j.to.unwrap());
            over.map(|j| j.nodes.len()).sum()
        };
        for (minute, idle) in (0..).zip(read(&swf(&jobs), Format::Swf)) {
            let count = idle.iter().filter(|idle| **idle).count();
            prop_assert_eq!(count, NODES - used(minute), "minute {}", minute);
        }
    }
}
