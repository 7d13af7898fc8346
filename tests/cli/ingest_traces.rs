//! Tests that `gleaner ingest` converts traces of GPU clusters, and that `gleaner simulate` accepts the resulting
//! files.

use std::fs;
use std::path::Path;

use crate::support::{dataset, gleaner, json, logs, with_stdin};

/// Runs the simulation command that `gleaner ingest` prints, but with the given policies, and returns the summary.
#[track_caller]
fn simulate(at: &Path, said: &str, policies: &str) -> serde_json::Value {
    let command = said
        .lines()
        .find_map(|line| line.strip_prefix("gleaner: gleaner "));
    let command = command.unwrap().replace("fifo,srtf", policies);
    gleaner(at, &format!("{command} --estimates oracle --check")).expect(0);
    let summary = json(&at.join("run/summary.json"));
    fs::remove_dir_all(at.join("run")).unwrap();
    summary
}

#[test]
fn every_trace_can_be_simulated_with_the_printed_command() {
    let directory = logs();
    let at = directory.path();
    for (what, jobs) in [
        ("philly philly-jobs.json", 4),
        (
            "philly philly-jobs.json --machines philly-machines.csv --gpus-per-node 2",
            4,
        ),
        ("pai pai_task_table.csv pai_job_table.csv", 3),
        (
            "pai pai_job_table.csv pai_task_table.csv --machines pai_machine_spec.csv",
            3,
        ),
        ("batsim batsim.json", 4),
        ("helios helios.csv", 3),
        ("helios helios.csv --machines helios-gpus.csv", 3),
        ("helios helios.csv --node-count 2", 3),
    ] {
        for output in ["-o jobs.csv", "-o jobs.parquet --cluster vcs.parquet"] {
            let run = gleaner(at, &format!("ingest {what} {output}")).expect(0);
            let run = run.says(&[&format!("used      {jobs} jobs"), "GPU time"]);
            let summary = simulate(at, &run.err, "fifo,sjf,srtf,qssf,tiresias,easy");
            for policy in ["fifo", "srtf", "easy"] {
                assert_eq!(summary["policies"][policy]["jobs"], jobs, "{what}");
            }
        }
    }
    // `ingest` writes files with the names that `simulate --data` expects.
    gleaner(
        at,
        "ingest pai pai_job_table.csv pai_task_table.csv -o jobs.csv",
    )
    .expect(0);
    gleaner(at, "simulate --data . --policy fifo").expect(0);
}

/// Worked out by hand: Batsim's sample under FIFO on four nodes. Job 1 holds two nodes until second 21, and job 2 waits
/// for all four nodes.
#[test]
fn a_batsim_workload_runs_as_worked_out_by_hand() {
    let directory = logs();
    let at = directory.path();
    let said = gleaner(at, "ingest batsim batsim.json -o jobs.csv")
        .expect(0)
        .err;
    assert!(
        said.contains("4 resources, each of which counts as a GPU"),
        "{said}"
    );
    assert!(
        said.contains("left out  1 with a profile other than delays"),
        "{said}"
    );
    let summary = simulate(at, &said, "fifo");
    // Job 1 runs from 0 to 21, job 2 from 21 to 31, job 3 from 31 to 36 and job 5 from 31 to 61.
    // These jobs are submitted at 0, 1, 3 and 5, respectively.
    let mean = summary["policies"]["fifo"]["avg_jct_s"].as_f64().unwrap();
    assert_eq!(mean, f64::from(21 + 30 + 33 + 56) / 4.0);
}

#[test]
fn phillys_idle_machines_can_be_replayed() {
    let directory = logs();
    let at = directory.path();
    fs::copy(dataset().join("tasks.toml"), at.join("tasks.toml")).unwrap();
    let line = "ingest philly philly-jobs.json --machines philly-machines.csv -o idle.gev";
    let run = gleaner(at, &format!("{line} --from 2017-10-07T08:00:00")).expect(0);
    run.says(&["nodes     3", "used      7 jobs, 1 of them without an end"]);
    gleaner(at, "replay --events idle.gev --tasks tasks.toml --t-fwd 60").expect(0);
}

#[test]
fn traces_come_from_stdin_and_compressed() {
    let directory = logs();
    let at = directory.path();
    gleaner(at, "ingest philly philly-jobs.json -o jobs.csv").expect(0);
    let expected = fs::read(at.join("jobs.csv")).unwrap();
    let text = fs::read_to_string(at.join("philly-jobs.json")).unwrap();
    with_stdin(at, "ingest philly - -o stdin.csv", &text).expect(0);
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    fs::write(at.join("jobs.json.zst"), packed).unwrap();
    gleaner(at, "ingest philly jobs.json.zst -o zst.csv").expect(0);
    for name in ["stdin", "zst"] {
        let read = |ending| fs::read(at.join(format!("{name}{ending}"))).unwrap();
        assert!(read(".csv") == expected, "{name}");
        assert!(read("_vc_config.csv") == fs::read(at.join("vc_config.csv")).unwrap());
    }
}

#[test]
fn wrong_usage_and_invalid_data_have_their_exit_codes() {
    let directory = logs();
    let at = directory.path();
    for (line, code, words) in [
        (
            "pai pai_job_table.csv -o jobs.csv",
            3,
            "no row of pai_task_table.csv",
        ),
        ("philly helios.csv -o jobs.csv", 3, "line 1, column 1"),
        (
            "helios helios.csv -o idle.gev",
            2,
            "only Philly's trace names the machines",
        ),
        (
            "helios helios.csv -o jobs.txt",
            2,
            "expected a name ending in .csv or .parquet",
        ),
        (
            "helios helios.csv -o a.csv --cluster a.csv",
            2,
            "both the jobs and the virtual clusters",
        ),
        (
            "philly philly-jobs.json -o jobs.csv --from 2017-10-07",
            2,
            "apply only to event logs",
        ),
        (
            "philly philly-jobs.json -o idle.gev --node-count 3",
            2,
            "do not apply to an event log",
        ),
        (
            "batsim batsim.json --strict --node-count 1 -o jobs.csv",
            3,
            "job 1: found 2 GPUs, of 1",
        ),
        ("pai nothing.csv -o jobs.csv", 1, "nothing.csv"),
        (
            "helios helios.csv -o jobs.csv --timezone Mars/Base",
            2,
            "--timezone Mars/Base",
        ),
    ] {
        gleaner(at, &format!("ingest {line}"))
            .expect(code)
            .says(&[words]);
        assert!(!at.join("jobs.csv").exists(), "{line}");
    }
}
