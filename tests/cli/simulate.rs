//! Tests `gleaner simulate` on the sample cluster and on the published experiment.

use std::fs;
use std::path::Path;

use gleaner_simulate::policies;
use serde_json::Value;

use crate::support::{cluster, dataset, gleaner, json, stable_files};

/// The names of all policies.
pub fn names_of_policies() -> Vec<&'static str> {
    policies::ALL.iter().map(|policy| policy.name).collect()
}

/// A command that simulates all policies with a small profiler.
fn all() -> String {
    let policies = names_of_policies().join(",");
    format!("simulate --data trace --policy {policies} --profiler 120,1,4")
}

/// The value of the field `name` of a policy in a summary.
fn figure(summary: &Value, policy: &str, name: &str) -> f64 {
    summary["policies"][policy][name].as_f64().unwrap()
}

#[test]
fn every_policy_runs_alone_and_passes_the_checker() {
    let directory = cluster();
    for policy in names_of_policies() {
        let line = format!("simulate --data trace --policy {policy} --profiler off --check");
        let run = gleaner(directory.path(), &line).expect(0);
        let words = [
            "average JCT (h)",
            policy,
            "every schedule passed the checker",
        ];
        for word in words {
            assert!(run.out.contains(word), "no {word:?} in:\n{}", run.out);
        }
    }
}

#[test]
fn every_placer_works_with_every_policy() {
    let directory = cluster();
    for placer in [
        "consolidate",
        "consolidate-first",
        "consolidateFirst",
        "random",
    ] {
        let line = format!("{} --placer {placer} --check --json", all());
        let run = gleaner(directory.path(), &line).expect(0);
        let summary: Value = serde_json::from_str(&run.out).unwrap();
        for policy in names_of_policies() {
            assert_eq!(figure(&summary, policy, "jobs"), 400.0);
        }
    }
}

#[test]
fn a_run_directory_holds_everything() {
    let directory = cluster();
    let at = directory.path();
    gleaner(
        at,
        &format!("{} --elastic vc2 --lend vc1=1 --out run --check", all()),
    )
    .expect(0);
    let mut expected: Vec<String> = names_of_policies()
        .iter()
        .flat_map(|policy| ["jobs", "runs", "seq"].map(|table| format!("{policy}_{table}.parquet")))
        .collect();
    let others = [
        "jct_avg.csv",
        "profiler_jobs.parquet",
        "profiler_scaling.parquet",
        "profiler_seq.parquet",
        "que_avg.csv",
        "que_p999.csv",
        "run.json",
        "summary.json",
    ];
    expected.extend(others.map(str::to_owned));
    expected.sort();
    assert_eq!(names(&at.join("run")), expected);
    let info = json(&at.join("run/run.json"));
    assert_eq!(info["command"], "simulate");
    assert_eq!(info["complete"], true);
    assert_eq!(info["inputs"].as_array().unwrap().len(), 6);
    assert_eq!(info["profiler"]["lent"]["vc1"], 1);
    assert_eq!(info["profiler"]["elastic"], "vc2");
    let summary = json(&at.join("run/summary.json"));
    for name in [
        "avg_jct_s",
        "avg_queue_s",
        "p999_queue_s",
        "makespan_s",
        "in_use_while_arriving",
        "gpu_utilisation",
    ] {
        assert!(figure(&summary, "easy", name) > 0.0, "{name}");
    }
    let averages = fs::read_to_string(at.join("run/jct_avg.csv")).unwrap();
    assert!(averages.starts_with(",fifo_consolidate,sjf_consolidate,srtf_consolidate,"));
    assert_eq!(averages.lines().count(), 1 + 3 + 1);
}

/// Sorted names of the entries of a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn results_do_not_depend_on_threads() {
    let directory = cluster();
    let at = directory.path();
    for jobs in [1, 4] {
        let line = format!(
            "{} --elastic vc2 --corrected=both --csv --jobs {jobs} --out {jobs}",
            all()
        );
        gleaner(at, &line).expect(0);
    }
    let [one, four] = ["1", "4"].map(|out| stable_files(&at.join(out)));
    assert!(one.len() > 30, "{}", one.len());
    assert!(one == four);
}

#[test]
fn lucid_without_parts_and_corrected() {
    let directory = cluster();
    let at = directory.path();
    let lucid = "simulate --data trace --policy lucid --profiler 120,1,4 --check --json";
    let run = |more: &str| {
        let run = gleaner(at, &format!("{lucid} {more}")).expect(0);
        serde_json::from_str::<Value>(&run.out).unwrap()
    };
    let plain = run("--corrected=no");
    for part in ["packing", "throughput", "estimate"] {
        let without = run(&format!("--corrected=no --without {part}"));
        assert_ne!(without, plain, "{part}");
    }
    let both = run("--corrected=both --out both");
    assert_eq!(both["policies"]["lucid"], plain["policies"]["lucid"]);
    let corrected = run("--corrected");
    assert_eq!(run(""), corrected, "corrected by default");
    assert_ne!(corrected["policies"]["lucid"], plain["policies"]["lucid"]);
    assert_eq!(
        both["policies"]["lucid_corrected"],
        corrected["policies"]["lucid"]
    );
    let info = json(&at.join("both/run.json"));
    let corrections = info["corrections"].as_array().unwrap();
    assert!(!corrections.is_empty());
    for correction in corrections {
        assert_eq!(correction["policy"], "lucid_corrected");
        assert_ne!(correction["ended"], correction["survivor"]);
    }
}

/// In the original, Lucid runs some jobs in the profiler and in their virtual cluster at the same time. A remark and
/// the summary report the number of these jobs. This test counts them in the tables.
#[test]
fn jobs_that_start_before_their_profiling_ends_are_counted() {
    let directory = cluster();
    let at = directory.path();
    let line = "simulate --data trace --policy fifo,lucid --profiler 120,1,4 --corrected=both \
                --csv --out run";
    let run = gleaner(at, line).expect(0);
    let columns = |table: &str, names: [&str; 2]| -> Vec<[Option<i64>; 2]> {
        let mut reader = csv::Reader::from_path(at.join(format!("run/{table}.csv"))).unwrap();
        let header = reader.headers().unwrap().clone();
        let places = names.map(|name| header.iter().position(|column| column == name).unwrap());
        let rows = reader.records().map(Result::unwrap);
        rows.map(|row| places.map(|place| row[place].parse().ok()))
            .collect()
    };
    let profiler = columns("profiler_jobs", ["end_time", "toskip"]);
    let early = |policy: &str| {
        let jobs = columns(&format!("{policy}_jobs"), ["start_time", "queue"]);
        let jobs = jobs.iter().zip(&profiler);
        let early = jobs.filter(|(job, profiled)| profiled[1] == Some(0) && job[0] < profiled[0]);
        early.count()
    };
    let profiled = profiler.iter().filter(|row| row[0].is_some()).count();
    let summary = json(&at.join("run/summary.json"));
    let found = early("lucid");
    assert!(found > 0);
    assert_eq!(early("lucid_corrected"), 0);
    for (policy, corrected, early) in [
        ("lucid", Some(false), Some(found)),
        ("lucid_corrected", Some(true), Some(0)),
        ("fifo", None, None),
    ] {
        let figures = &summary["policies"][policy];
        assert_eq!(figures["corrected"].as_bool(), corrected, "{policy}");
        let count = figures["early_starts"].as_u64();
        assert_eq!(count, early.map(|jobs| jobs as u64), "{policy}");
    }
    assert_eq!(figure(&summary, "lucid", "profiled_jobs"), profiled as f64);
    let told =
        format!("Under lucid, {found} of {profiled} profiled jobs start in their virtual cluster");
    let out = run.out.replace('\n', " ");
    assert!(out.contains(&told), "{out}");
    assert!(!out.contains("Under lucid_corrected"), "{out}");
}

#[test]
fn results_say_what_policies_know_of_durations() {
    let directory = cluster();
    let at = directory.path();
    let line = "simulate --data trace --policy all,easy --profiler off --out run";
    let run = gleaner(at, line).expect(0);
    for words in [
        "The true durations are known to sjf, srtf",
        "The rank correlation is between estimates",
        "Placement affects only which jobs fit, not how fast they run",
    ] {
        let out = run.out.replace('\n', " ");
        assert!(out.contains(words), "no {words:?} in:\n{out}");
    }
    let summary = json(&at.join("run/summary.json"));
    assert_eq!(summary["placement_affects_speed"], false);
    for (policy, durations) in [
        ("fifo", "unknown"),
        ("sjf", "true"),
        ("srtf", "true"),
        ("qssf", "estimated"),
        ("tiresias", "unknown"),
        ("lucid", "estimated"),
        ("easy", "estimated"),
    ] {
        let figures = &summary["policies"][policy];
        assert_eq!(figures["durations"], durations, "{policy}");
        let source = figures["estimates"].as_str().unwrap_or_default();
        let is_named = source.ends_with("duration_estimate.csv");
        assert_eq!(is_named, durations == "estimated", "{policy}");
    }
    // The true durations rank the jobs perfectly. A constant estimate does not rank them, so it has no rank
    // correlation.
    for (estimates, expected) in [("oracle", Some(1.0)), ("600", None)] {
        let line = format!("simulate --data trace --policy easy --estimates {estimates} --json");
        let summary: Value = serde_json::from_str(&gleaner(at, &line).expect(0).out).unwrap();
        let found = summary["policies"]["easy"]["estimate_rank_correlation"].as_f64();
        assert_eq!(found.map(|found| (found * 1e9).round() / 1e9), expected);
    }
    let line = "simulate --data trace --policy lucid --without estimate --profiler off --json";
    let summary: Value = serde_json::from_str(&gleaner(at, line).expect(0).out).unwrap();
    assert_eq!(summary["policies"]["lucid"]["durations"], "unknown");
    assert_eq!(summary["policies"]["lucid"]["estimates"], Value::Null);
}

/// A run can write more tables than the number of files that a process may have open.
#[cfg(unix)]
#[test]
fn more_tables_than_open_files_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    gleaner(
        at,
        "synth jobs --vcs 60 --nodes 60 --jobs 200 --days 1 -o trace",
    )
    .expect(0);
    let program = env!("CARGO_BIN_EXE_gleaner");
    let line = "simulate --data trace --policy fifo,sjf --logs --jobs 2 --out run";
    let run = std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -n 64; exec {program} {line}")])
        .current_dir(at)
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{err}");
    let info = json(&at.join("run/run.json"));
    let files = info["files"].as_array().unwrap();
    assert!(files.len() > 240, "{}", files.len());
    assert!(files.iter().all(|file| {
        at.join("run")
            .join(file["path"].as_str().unwrap())
            .is_file()
    }));
}

#[test]
fn estimates_and_forecasts_may_be_numbers() {
    let directory = cluster();
    let at = directory.path();
    let run = |more: &str| {
        let line = format!("simulate --data trace --profiler off --json {more}");
        gleaner(at, &line).expect(0).out
    };
    // Exact estimates, a constant estimate and noisy estimates give different schedules.
    let qssf = ["", "--estimates oracle", "--estimates 600"]
        .map(|more| run(&format!("--policy qssf {more}")));
    assert!(qssf[0] != qssf[1] && qssf[1] != qssf[2] && qssf[0] != qssf[2]);
    // If the forecast is 0 jobs, Lucid shares no GPUs, as with --without throughput.
    let quiet = run("--policy lucid --forecast 0");
    assert_eq!(quiet, run("--policy lucid --without throughput"));
    assert_ne!(quiet, run("--policy lucid --forecast 100"));
}

#[test]
fn logs_and_tables_are_written_as_csv_if_requested() {
    let directory = cluster();
    let at = directory.path();
    let line = format!(
        "{} --csv --logs --placer consolidate-first --out run",
        all()
    );
    gleaner(at, &line).expect(0);
    let jobs = fs::read_to_string(at.join("run/srtf_jobs.csv")).unwrap();
    let header = "job_id,vc,gpu_num,submit_time,duration,start_time,end_time,queue,jct,\
                  ckpt_times,nodes\n";
    assert!(
        jobs.starts_with(header) && jobs.lines().count() == 401,
        "{jobs:.200}"
    );
    assert_eq!(names(&at.join("run/logs")), ["all", "vc1", "vc2", "vc3"]);
    let logs = names(&at.join("run/logs/vc2"));
    assert_eq!(logs.len(), 2 * names_of_policies().len());
    assert_eq!(logs[0], "easy_consolidateFirst_vc2_log.csv");
    let log = fs::read_to_string(at.join("run/logs/all/lucid_consolidateFirst_all_log.csv"));
    let log = log.unwrap();
    assert!(
        log.starts_with("job_id,user,vc,jobname,gpu_num,"),
        "{log:.200}"
    );
    assert_eq!(log.lines().count(), 401);
}

#[test]
fn nodes_that_a_policy_leaves_idle_can_be_replayed() {
    let directory = cluster();
    let at = directory.path();
    gleaner(at, "synth tasks --count 5 -o tasks.toml").expect(0);
    for name in ["idle.csv", "idle.parquet", "idle.gev"] {
        let line = format!("simulate --data trace --policy srtf --idle-events {name}");
        gleaner(at, &line).expect(0);
        let line = format!("replay --events {name} --tasks tasks.toml --check --out {name}-run");
        gleaner(at, &line).expect(0);
    }
    let [csv, parquet, gev] = ["csv", "parquet", "gev"]
        .map(|format| json(&at.join(format!("idle.{format}-run/summary.json"))));
    assert_eq!(csv["nodes"], 9);
    assert!(csv["used_node_seconds"].as_f64().unwrap() > 1e5);
    assert!(csv == parquet && parquet == gev);
}

/// The content of the fenced code block `csv KIND` in dataset/README.md.
fn example(kind: &str) -> String {
    let text = fs::read_to_string(dataset().join("README.md")).unwrap();
    let (_, block) = text.split_once(&format!("\n```csv {kind}\n")).unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_documented_examples_are_an_experiment() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (kind, name) in [
        ("jobs", "jobs"),
        ("cluster", "vc_config"),
        ("profiles", "single_data"),
        ("pairs", "colocate_info"),
        ("forecast", "throughput_pred"),
        ("estimates", "duration_estimate"),
    ] {
        fs::write(at.join(format!("{name}.csv")), example(kind)).unwrap();
    }
    let line = "simulate --data . --policy all,easy --profiler 100,1,4 --check --json";
    let run = gleaner(at, line).expect(0);
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    // All three jobs fit at once, so no job waits.
    assert_eq!(
        figure(&summary, "fifo", "avg_jct_s"),
        (5400.0 + 600.0 + 7200.0) / 3.0
    );
}
