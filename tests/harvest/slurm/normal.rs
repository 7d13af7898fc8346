//! Tests that tasks train on the idle nodes of a cluster while normal jobs start and end.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::cluster::{Cluster, wait_until};
use super::site::{PARTITIONS, Site};
use super::worklog::{self, Expected};

/// The normal jobs: the time of submission in seconds, the number of nodes, and the duration in seconds. Without
/// harvesting, no job waits for another. With `GLEANER_HARVEST_ROUNDS=N`, all jobs are submitted N times.
const JOBS: [(u64, u32, u64); 14] = [
    (6, 1, 8),
    (9, 2, 6),
    (18, 1, 5),
    (19, 3, 7),
    (29, 4, 5),
    (37, 1, 4),
    (38, 1, 6),
    (39, 1, 8),
    (50, 2, 5),
    (51, 1, 9),
    (58, 1, 3),
    (59, 2, 4),
    (66, 1, 2),
    (67, 1, 2),
];

const TASKS: [Expected; 3] = [
    task("small", 1, 2, 1200),
    task("middle", 2, 3, 1700),
    task("large", 1, 4, 2300),
];

/// A task with more work than the test can complete, so that no idle node is unused for lack of work.
const FILLER: Expected = task("filler", 1, 4, 1_000_000_000);

/// Time from the start of one round of normal jobs to the start of the next, in seconds.
const ROUND_S: u64 = 75;

const fn task(name: &'static str, min_nodes: u32, max_nodes: u32, work: u64) -> Expected {
    Expected {
        name,
        min_nodes,
        max_nodes,
        work,
    }
}

/// Submits the normal jobs, and waits until all have ended. Returns the seconds that each job waited before it started.
fn run_jobs(cluster: &Cluster) -> Vec<f64> {
    let begin = Instant::now();
    let mut submitted = Vec::new();
    let rounds = std::env::var("GLEANER_HARVEST_ROUNDS").map_or(1, |text| text.parse().unwrap());
    let jobs = (0..rounds).flat_map(|round| {
        let later = round * ROUND_S;
        JOBS.map(|(at, nodes, duration)| (at + later, nodes, duration))
    });
    for (number, (at, nodes, duration)) in jobs.enumerate() {
        let at = begin + Duration::from_secs(at);
        thread::sleep(at.saturating_duration_since(Instant::now()));
        submitted.push(now());
        let options = format!("--partition=normal --exclusive --nodes={nodes} --output=/dev/null");
        let script =
            format!("date +%s.%N > began.{number}; sleep {duration}; touch ended.{number}");
        cluster.submit(&options, &script);
    }
    let file = |what: &str, number: usize| cluster.work().join(format!("{what}.{number}"));
    wait_until("all normal jobs have ended", || {
        (0..submitted.len()).all(|number| file("ended", number).exists())
    });
    let began = |number| -> f64 {
        let text = fs::read_to_string(file("began", number)).unwrap();
        text.trim().parse().unwrap()
    };
    (0..)
        .zip(submitted)
        .map(|(number, at)| began(number) - at)
        .collect()
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

/// Formats the wait times of normal jobs: the median, the worst, and all wait times.
fn shown(waits: &[f64]) -> String {
    let mut sorted = waits.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (median, worst) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let all: Vec<String> = waits.iter().map(|wait| format!("{wait:.2}")).collect();
    format!(
        "median {median:.2} s, worst {worst:.2} s, all: {}",
        all.join(" ")
    )
}

/// Writes the recording, and checks that its decisions can be repeated. Then replays the recorded log with the same
/// tasks and settings. Returns the idle and the used node-seconds of the replay.
fn replay(site: &Site) -> (f64, f64) {
    let recording = site.path("recording");
    let output = site.run(&["status", "--record", recording.to_str().unwrap()]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("all match the recording"), "{err}");
    let tasks = site.path("replay.toml");
    let text: String = [&TASKS[..], &[FILLER]]
        .concat()
        .iter()
        .map(Expected::replayed)
        .collect();
    fs::write(&tasks, text).unwrap();
    let out = site.path("replay");
    let output = Command::new(env!("CARGO_BIN_EXE_gleaner"))
        .args(["replay", "--t-fwd", "20", "--events"])
        .arg(recording.join("events.csv"))
        .arg("--tasks")
        .arg(&tasks)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    let summary = fs::read(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let seconds = |name: &str| summary[name].as_f64().unwrap();
    (seconds("idle_node_seconds"), seconds("used_node_seconds"))
}

#[test]
fn harvest_on_slurm() {
    let Some(mut site) = Site::start() else {
        return;
    };
    let Some(other) = Cluster::start(&PARTITIONS) else {
        return;
    };
    site.serve();
    site.submit(&TASKS).unwrap();
    site.submit(&[FILLER]).unwrap();
    let (with, without) = thread::scope(|scope| {
        let without = scope.spawn(|| run_jobs(&other));
        (run_jobs(&site.cluster), without.join().unwrap())
    });
    site.wait("end of the tasks", |_| site.have_finished(&TASKS));
    let status = site.status();
    let replayed = replay(&site);
    let config = site.path("harvest.toml");
    let config = config.to_str().unwrap();
    let words = [
        "check",
        "--config",
        config,
        "--normal",
        "normal",
        "--heterogeneous",
    ];
    println!("{}", site.text(&words));
    site.text(&["cancel", FILLER.name]);
    site.stop();
    let summary = worklog::check(&site.worklog(), &TASKS);

    println!("waits of normal jobs with harvest:    {}", shown(&with));
    println!("waits of normal jobs without harvest: {}", shown(&without));
    let number = |name: &str| status[name].as_f64().unwrap();
    let (idle, used) = (number("idle_node_s"), number("used_node_s"));
    let (replay_idle, replay_used) = replayed;
    let preemptions = &status["preemptions"];
    println!(
        "used {used:.0} of {idle:.0} node-seconds that pilots held; {preemptions} pilots were preempted"
    );
    println!("a replay of the recorded log uses {replay_used:.0} of {replay_idle:.0} node-seconds");
    println!(
        "{} runs; {} of {} units of work were repeated",
        summary.runs, summary.lost, summary.work
    );
}
