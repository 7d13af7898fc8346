//! Tests with the output of Slurm itself. `crates/logs/tests/fixtures/slurm` holds the output of Slurm 22.05.8
//! (Debian 12) on four nodes, unchanged except for the kernel's version in `nodes.txt`. `truth.txt` states where and
//! when each job ran, as recorded by the jobs themselves. The jobs include a requeued job, a job whose node failed, and
//! cancelled, timed-out, failed, held and running jobs. The output also contains a job array, and job names with
//! vertical bars.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use gleaner_domain::Local;
use gleaner_logs::scheduler::{Format, Options, Reason, Summary, hostlist};
use proptest::prelude::*;
use tempfile::NamedTempFile;

use super::support::events;

fn fixture(name: &str) -> PathBuf {
    gleaner_testing::workspace()
        .join("crates/logs/tests/fixtures/slurm")
        .join(name)
}

/// Reads the events of a table of jobs, together with Slurm's node events and a file of nodes.
fn read(table: &str, nodes: &str, delimiter: Option<&str>) -> (Vec<String>, Summary) {
    let options = Options {
        nodes: Some(fixture(nodes)),
        events: Some(fixture("events.txt")),
        from: Some("2026-11-20T20:46:30".to_owned()),
        to: Some("2026-11-20T20:52:01".to_owned()),
        delimiter: delimiter.map(str::to_owned),
        ..Options::new(Format::Slurm)
    };
    events(&std::fs::read(fixture(table)).unwrap(), &options).unwrap()
}

fn count(summary: &Summary, reason: Reason) -> u64 {
    summary
        .log_counts
        .found
        .get(&reason)
        .map_or(0, |found| found.count)
}

#[test]
fn every_table_of_sacct_gives_the_same_log() {
    let (expected, summary) = read("sacct.txt", "nodes.txt", None);
    assert_eq!(
        (summary.log_counts.jobs, summary.log_counts.running),
        (12, 2)
    );
    // One job was cancelled before it started, and one job was pending.
    assert_eq!(count(&summary, Reason::NeverStarted), 2);
    assert!(
        summary
            .log_counts
            .found
            .keys()
            .all(|reason| !reason.is_fault()),
        "{summary}"
    );
    for nodes in ["nodes.txt", "sinfo.txt"] {
        assert_eq!(read("sacct-names.txt", nodes, None).0, expected);
    }
    let (rows, summary) = read("sacct-delimiter.txt", "nodes.txt", Some("^^"));
    assert_eq!(rows, expected);
    assert_eq!(count(&summary, Reason::Step), 12);
}

/// The changes of each node: the second of the change, and whether the node is idle after it.
fn idle(rows: &[String]) -> BTreeMap<String, Vec<(i64, bool)>> {
    let mut nodes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows {
        let time: Local = row[..19].parse().unwrap();
        for word in row[19..].split_whitespace() {
            let change = (time.0 / 1_000_000_000, word.starts_with('+'));
            nodes.entry(word[1..].to_owned()).or_default().push(change);
        }
    }
    nodes
}

fn is_idle(changes: &[(i64, bool)], second: i64) -> bool {
    let before = changes.iter().take_while(|(at, _)| *at <= second);
    before.last().is_some_and(|(_, idle)| *idle)
}

/// The times of the jobs, as recorded by the jobs themselves: node, first second, last second.
fn truth() -> Vec<(String, i64, i64)> {
    let text = std::fs::read_to_string(fixture("truth.txt")).unwrap();
    let mut open = BTreeMap::new();
    let mut held = Vec::new();
    let mut now = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [job, list, "start", at] => drop(open.insert(job, (list, at.parse().unwrap()))),
            [job, _, "end", at, ..] => {
                held.push((open.remove(job).unwrap(), at.parse::<i64>().unwrap()));
            }
            ["now", at] => now = at.parse().unwrap(),
            _ => panic!("{line}"),
        }
    }
    held.extend(open.into_values().map(|running| (running, now)));
    let mut nodes = Vec::new();
    for ((list, start), end) in held {
        hostlist::expand(list, |node| nodes.push((node.to_owned(), start, end))).unwrap();
    }
    nodes
}

/// Slurm and the jobs may record the same start or end in adjacent seconds.
#[test]
fn nodes_are_busy_when_the_jobs_say_so() {
    let (rows, _) = read("sacct.txt", "nodes.txt", None);
    let idle = idle(&rows);
    let truth = truth();
    // The outages in events.txt: node, start and end.
    let at = |text: &str| text.parse::<Local>().unwrap().0 / 1_000_000_000;
    let outages = [
        ("n01", at("2026-11-20 20:47:48"), at("2026-11-20 20:48:00")),
        ("n02", at("2026-11-20 20:47:48"), at("2026-11-20 20:47:55")),
        ("n04", at("2026-11-20 20:51:56"), i64::MAX),
    ];
    let mut checked = (0, 0);
    for node in ["n01", "n02", "n03", "n04"] {
        for second in at("2026-11-20 20:46:30")..at("2026-11-20 20:52:01") {
            let of = |held: &&(String, i64, i64)| held.0 == node;
            let inside = |held: &(String, i64, i64)| held.1 < second && second < held.2 - 1;
            let near = |held: &(String, i64, i64)| held.1 - 2 <= second && second <= held.2 + 1;
            let out = |o: &(&str, i64, i64)| o.0 == node && (o.1 - 1..=o.2).contains(&second);
            let found = is_idle(&idle[node], second);
            if truth.iter().filter(of).any(inside) {
                assert!(!found, "{node} at {second}");
                checked.0 += 1;
            } else if !truth.iter().filter(of).any(near) && !outages.iter().any(out) {
                assert!(found, "{node} at {second}");
                checked.1 += 1;
            }
        }
    }
    assert!(checked.0 > 300 && checked.1 > 500, "{checked:?}");
}

/// A configuration file, without which `scontrol` does not start.
static CONFIGURATION: LazyLock<NamedTempFile> = LazyLock::new(|| {
    let file = NamedTempFile::new().unwrap();
    let text = "ClusterName=x\nSlurmctldHost=localhost\nNodeName=n1\nPartitionName=p Nodes=n1\n";
    std::fs::write(file.path(), text).unwrap();
    file
});

/// The hosts of a list, as Slurm's own parser expands it. If Slurm is not installed, prints a message on stderr and
/// returns `None`.
fn hostnames(list: &str) -> Option<Vec<String>> {
    let mut command = Command::new("scontrol");
    command.env("SLURM_CONF", CONFIGURATION.path());
    let Ok(output) = command.args(["show", "hostnames", list]).output() else {
        eprintln!("skipped: cannot run scontrol");
        return None;
    };
    assert!(output.status.success(), "{list}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

/// Lists of hosts with brackets, ranges and leading zeros.
fn lists() -> impl Strategy<Value = String> {
    let range =
        (0u32..120, 0u32..12, 1usize..5, any::<bool>()).prop_map(|(low, more, width, one)| {
            if one || more == 0 {
                format!("{low:0width$}")
            } else {
                format!("{low:0width$}-{:0width$}", low + more)
            }
        });
    let bracket =
        prop::collection::vec(range, 1..4).prop_map(|ranges| format!("[{}]", ranges.join(",")));
    // Slurm does not accept a name that continues after its last bracket.
    let part = ("[a-z]{1,4}", bracket).prop_map(|(name, bracket)| name + &bracket);
    let parts = prop::collection::vec(part, 1..3).prop_map(|parts| parts.join("-"));
    let host = prop_oneof!["[a-z]{1,4}[0-9]{0,4}", parts];
    prop::collection::vec(host, 1..4).prop_map(|hosts| hosts.join(","))
}

proptest! {
    #![proptest_config(gleaner_testing::cases(100))]
    #[test]
    fn hostlists_are_expanded_as_by_scontrol(list in lists()) {
        let mut found = Vec::new();
        hostlist::expand(&list, |host| found.push(host.to_owned())).unwrap();
        // Slurm must expand the compressed list to the same hosts.
        let short = hostlist::compress(found.iter().map(String::as_str));
        let (Some(expected), Some(again)) = (hostnames(&list), hostnames(&short)) else {
            return Ok(());
        };
        let sorted = |mut hosts: Vec<String>| { hosts.sort(); hosts.dedup(); hosts };
        prop_assert_eq!(&found, &expected, "{}", list);
        prop_assert_eq!(sorted(again), sorted(found), "{}", short);
    }
}
