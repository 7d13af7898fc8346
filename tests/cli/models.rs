//! Tests `gleaner train`, `gleaner predict`, `gleaner evaluate` and `gleaner simulate --models` from the command line.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::runs::{Run, gleaner};

fn run(directory: &Path, line: &str, code: i32) -> (String, String) {
    let Run { out, err, .. } = gleaner(directory, line).expect(code);
    (out, err)
}

fn dataset() -> String {
    gleaner_testing::workspace()
        .join("dataset/cluster")
        .display()
        .to_string()
}

#[test]
fn predictions_of_trained_models_are_read_by_simulate() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let (out, err) = run(
        here,
        &format!("train all --data {data} --epoch 2024-01-01"),
        0,
    );
    for words in [
        "throughput  283 rows",
        "packing      40 rows",
        "workload        400 rows",
        "saved as      models/workload.json",
    ] {
        assert!(out.contains(words), "{out}");
    }
    assert!(err.contains("there is no cluster_throughput.csv"), "{err}");
    let model: Value =
        serde_json::from_slice(&fs::read(here.join("models/workload.json")).unwrap()).unwrap();
    assert_eq!(model["features"][0], "user");
    assert_eq!(
        model["inputs"][1]["sha256"].as_str().map(str::len),
        Some(64)
    );
    assert!(
        model["trained"]["from"]
            .as_str()
            .unwrap()
            .starts_with("2024-01-0")
    );
    // The same seed gives the same bytes.
    run(
        here,
        &format!("train workload --data {data} --epoch 2024-01-01 -o again"),
        0,
    );
    assert_eq!(
        fs::read(here.join("models/workload.json")).unwrap(),
        fs::read(here.join("again/workload.json")).unwrap()
    );
    let predict = |kind: &str, file: &str| {
        let line = format!("predict models/{kind}.json --data {data} --epoch 2024-01-01 -o {file}");
        run(here, &line, 0);
    };
    predict("workload", "estimates.parquet");
    predict("throughput", "forecast.csv");
    predict("packing", "profiles.csv");
    let line = format!(
        "simulate --data {data} --policy qssf,lucid --estimates estimates.parquet --profiles profiles.csv \
         --forecast forecast.csv --quiet --check --profiler off"
    );
    let (by_files, _) = run(here, &line, 0);
    let line = format!(
        "simulate --data {data} --policy qssf,lucid --models models --epoch 2024-01-01 --quiet \
         --check --profiler off"
    );
    let (by_models, err) = run(here, &line, 0);
    assert!(
        err.contains("the model has seen data that it must predict"),
        "{err}"
    );
    let qssf = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("qssf"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(qssf(&by_files), qssf(&by_models));
}

#[test]
fn simulate_trains_its_own_models() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let line = format!(
        "simulate --data {data} --policy fifo,qssf,lucid --models train --profiler off --quiet \
         --out"
    );
    let (_, err) = run(here, &format!("{line} a -j 1"), 0);
    assert_eq!(err.matches("the trace has no calendar").count(), 1, "{err}");
    run(here, &format!("{line} b -j 3"), 0);
    let table = |out: &str| fs::read_to_string(here.join(out).join("estimates.csv")).unwrap();
    let rows = table("a");
    assert_eq!(rows, table("b"));
    assert!(rows.starts_with("policy,job_id,priority\n"));
    assert!(rows.contains("\nqssf,") || rows.contains("\nlucid,"));
    assert!(!rows.contains("fifo,"));
}

#[test]
fn evaluations_come_as_text_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let (out, _) = run(
        here,
        &format!("evaluate --data {data} --epoch 2024-01-01"),
        0,
    );
    for words in [
        "Throughput, GPU jobs",
        "EBM on logarithms",
        "training median",
        "leave-one-out",
        "user's history, updated as jobs end",
        "Best by rank correlation",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (out, _) = run(
        here,
        &format!("evaluate workload --json --data {data} --epoch 2024-01-01"),
        0,
    );
    let found: Value = serde_json::from_str(&out).unwrap();
    assert!(found["packing"].is_null());
    assert_eq!(
        found["workload"]["with_profile"][0]["model"],
        "EBM on logarithms"
    );
}

#[test]
fn curves_can_be_made_monotone() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let line =
        format!("train workload --data {data} --epoch 2024-01-01 --monotone hour=decreasing");
    run(here, &format!("{line} -o smooth"), 0);
    let model: Value =
        serde_json::from_slice(&fs::read(here.join("smooth/workload.json")).unwrap()).unwrap();
    let features = model["features"].as_array().unwrap();
    let hour = features.iter().position(|name| name == "hour").unwrap();
    let machine = &model["model"]["estimators"]["ebm"]["ebm"]["machine"];
    let scores = machine["terms"][hour]["scores"].as_array().unwrap();
    let scores: Vec<f64> = scores[1..]
        .iter()
        .map(|score| score.as_f64().unwrap())
        .collect();
    assert!(
        scores.len() > 2 && scores.is_sorted_by(|a, b| a >= b),
        "{scores:?}"
    );
    assert!(scores.first() > scores.last(), "{scores:?}");
    let (_, err) = run(here, &format!("{line} --monotone user=increasing"), 2);
    assert!(
        err.contains("no numeric feature of that name, expected one of gpu_num, cpu_num"),
        "{err}"
    );
    run(here, &format!("{line} --monotone hour=up"), 2);
}

/// Writes a trace for one node, with a burst of 30 jobs every 70,000 s, 30 times in all. Each job needs the whole node.
/// The duration of a job depends only on its user and its name. Returns the arguments that name the files.
fn trace_with_durations_by_name(here: &Path) -> &'static str {
    let mut jobs = "job_id,user,vc,jobname,gpu_num,submit_time,duration\n".to_owned();
    for k in 0..900i64 {
        let (user, name) = (k * 7 % 5, k * 11 % 17);
        let submit = k / 30 * 70_000 + k % 30;
        jobs += &format!("{k},u{user},a,n{name},8,{submit},{}\n", duration(k));
    }
    fs::write(here.join("jobs.csv"), jobs).unwrap();
    fs::write(here.join("vc.csv"), "vc,num\na,1\n").unwrap();
    "--trace jobs.csv --cluster vc.csv"
}

fn duration(k: i64) -> i64 {
    60 + (k * 7 % 5 * 31 + k * 11 % 17 * 57) % 101 * 20
}

fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn training_names_the_best_estimator_and_models_use_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let files = trace_with_durations_by_name(here);
    let (out, _) = run(here, &format!("train workload {files}"), 0);
    for words in [
        "Best by rank correlation, because schedulers use ranks: history",
        "median (training median)",
        "ebm-seconds (EBM on seconds)",
        "mean error (s)",
        // The held-out jobs are those of the last week: the nine bursts that begin at second 1,470,000 or later.
        "Estimators on the 270 jobs from 1970-01-18 00:20:00 to 1970-01-24 11:53:49",
        "trained on 630 that had\nended before",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let model = &json(here.join("models/workload.json"))["model"];
    assert_eq!(model["chosen"], "history");
    let scores = model["trial"]["scores"].as_array().unwrap();
    let of = |name: &str| {
        scores
            .iter()
            .find(|score| score["estimator"] == name)
            .unwrap()
    };
    assert!(of("history")["rank_correlation"].as_f64().unwrap() > 0.99);
    assert!(of("ebm")["rank_correlation"].as_f64().unwrap() < 0.9);
    assert!(of("median")["rank_correlation"].is_null());
    assert!(of("median")["mae"].as_f64().unwrap() > of("history")["mae"].as_f64().unwrap());

    // `predict` uses the best estimator by default, or the estimator that `--estimator` names.
    let predict = |more: &str| {
        let line = format!("predict models/workload.json {files} -o estimates.csv {more}");
        let (_, err) = run(here, &line, 0);
        assert!(err.contains("estimates.csv: 900 predictions"), "{err}");
        fs::read_to_string(here.join("estimates.csv")).unwrap()
    };
    let best = predict("");
    assert_eq!(best, predict("--estimator history"));
    assert_ne!(best, predict("--estimator ebm"));
    let median = predict("--estimator median");
    let seconds = |row: &str| row.split_once(',').unwrap().1.to_owned();
    let first = seconds(median.lines().nth(1).unwrap());
    assert!(median.lines().skip(1).all(|row| seconds(row) == first));

    // A simulation with `--models` uses the estimates that `predict` writes, and reports their source.
    let simulate = |more: &str| {
        let line = format!("simulate {files} --policy qssf --quiet {more}");
        run(here, &line, 0).0
    };
    let figures = |out: &str| out.lines().nth(2).unwrap().to_owned();
    fs::write(here.join("estimates.csv"), &best).unwrap();
    let by_file = simulate("--estimates estimates.csv");
    let by_model = simulate("--models models --out by_model");
    assert_eq!(figures(&by_file), figures(&by_model));
    assert!(
        by_model.contains("estimates   by the model's history"),
        "{by_model}"
    );
    let used = &json(here.join("by_model/run.json"))["estimates"];
    assert_eq!(
        *used,
        serde_json::json!({"source": "model", "estimator": "history"})
    );
    fs::write(here.join("estimates.csv"), median).unwrap();
    assert_eq!(
        figures(&simulate("--estimates estimates.csv")),
        figures(&simulate("--models models --estimates median"))
    );

    // Users can choose another estimator for the saved model.
    let (out, _) = run(
        here,
        &format!("train workload {files} --estimator mean -o mean"),
        0,
    );
    assert!(
        out.contains("use ranks: history; mean is used, as requested"),
        "{out}"
    );
    assert_eq!(
        json(here.join("mean/workload.json"))["model"]["chosen"],
        "mean"
    );
    run(here, &format!("train workload {files} --estimator moon"), 2);
}

#[test]
fn estimators_are_learnt_in_simulations() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let files = trace_with_durations_by_name(here);
    let simulate = |more: &str| {
        let line = format!("simulate {files} --policy fifo,qssf,easy --quiet {more}");
        run(here, &line, 0).0
    };
    let table = |out: &str| fs::read_to_string(here.join(out).join("estimates.csv")).unwrap();
    let printed = simulate("--estimates history --out history --first-estimate 77");
    let line = "estimates   learnt each week from the jobs that had ended by then; easy by history, \
                history, history; qssf by history, history, history";
    assert!(printed.contains(line), "{printed}");
    let used = &json(here.join("history/run.json"))["estimates"];
    assert_eq!(used["source"], "learnt");
    assert_eq!(used["estimator"], "history");
    let week = &used["weeks"]["qssf"][1];
    assert_eq!(week["from"], 2 * 7 * 24 * 3600);
    assert_eq!(week["estimator"], "history");
    // After the first week, the estimate is the mean over the user's earlier jobs of the same name, all of which have
    // the same duration.
    let rows = table("history");
    assert!(rows.contains("\nqssf,0,77\n") && rows.contains("\neasy,0,77\n"));
    for k in 270..900 {
        let row = format!("\nqssf,{k},{}\n", duration(k));
        assert!(rows.contains(&row), "no{row}");
    }
    // With either `--estimates best` or `--models train`, the best estimator is chosen each week based on the jobs that
    // have ended by then.
    simulate("--estimates best --out best");
    simulate("--models train --out train");
    let weeks = |out: &str| json(here.join(out).join("run.json"))["estimates"]["weeks"].clone();
    assert_eq!(weeks("best")["qssf"][1]["estimator"], "history");
    assert_eq!(weeks("best"), weeks("train"));
    assert_eq!(table("best"), table("train"));
    // If no policy uses estimates, `run.json` lists none.
    run(
        here,
        &format!("simulate {files} --policy fifo --estimates history --out fifo"),
        0,
    );
    assert!(json(here.join("fifo/run.json"))["estimates"].is_null());
    // Nothing can be learnt from a trace of one week. The output says so.
    let line = format!(
        "simulate --data {} --policy qssf --estimates median",
        dataset()
    );
    let (out, _) = run(here, &line, 0);
    assert!(
        out.contains("qssf 3600 s for every job, because the trace ends in its first week"),
        "{out}"
    );
}

#[test]
fn sweeps_learn_estimates_too() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let files = trace_with_durations_by_name(here);
    let plan = "[simulate]\ntrace = \"jobs.csv\"\ncluster = \"vc.csv\"\n\
                estimates = \"history\"\npolicy = [\"qssf\", \"fifo\"]\n";
    fs::write(here.join("plan.toml"), plan).unwrap();
    run(here, "sweep plan.toml --out swept --quiet", 0);
    run(
        here,
        &format!("simulate {files} --policy qssf --estimates history --out run"),
        0,
    );
    let jct = &json(here.join("run/summary.json"))["policies"]["qssf"]["avg_jct_s"];
    let jct = jct.as_f64().unwrap();
    assert_eq!(swept_jct(&here.join("swept")), jct);
    // The true durations, which would be used without estimates, give a different schedule.
    let oracle = plan.replace("history", "oracle");
    fs::write(here.join("plan.toml"), oracle).unwrap();
    run(here, "sweep plan.toml --out other --quiet", 0);
    assert_ne!(swept_jct(&here.join("other")), jct);
}

/// The average JCT of QSSF in a sweep.
fn swept_jct(directory: &Path) -> f64 {
    let table = fs::read_to_string(directory.join("sweep.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    let place = rows[0]
        .iter()
        .position(|name| *name == "avg_jct_s")
        .unwrap();
    let qssf = rows.iter().find(|row| row.contains(&"qssf")).unwrap();
    qssf[place].parse().unwrap()
}

#[test]
fn a_job_in_the_far_future_does_not_slow_models_down() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("vc.csv"), "vc,num\na,1\n").unwrap();
    let jobs = "job_id,user,vc,gpu_num,submit_time,duration\n\
                1,u,a,1,0,60\n2,u,a,1,700000,60\n3,u,a,1,900000000,60\n";
    fs::write(here.join("jobs.csv"), jobs).unwrap();
    let files = "--trace jobs.csv --cluster vc.csv";
    run(
        here,
        &format!("simulate {files} --policy qssf --models train --quiet"),
        0,
    );
    run(here, &format!("evaluate workload {files}"), 0);
}

#[test]
fn wrong_usage_and_wrong_files_have_their_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let (_, err) = run(here, "train throughput", 2);
    assert!(
        err.contains("--series FILE is required") && err.contains("gleaner synth jobs"),
        "{err}"
    );
    let (_, err) = run(
        here,
        &format!("train workload --data {data} --until 1960-01-01"),
        2,
    );
    assert!(err.contains("no job was submitted before --until"), "{err}");
    let (_, err) = run(
        here,
        &format!("simulate --data {data} --policy qssf --models none"),
        2,
    );
    assert!(
        err.contains("there is no workload.json; gleaner train workload --out none"),
        "{err}"
    );
    run(
        here,
        &format!("predict {data}/jobs.csv --data {data} -o a.txt"),
        2,
    );
    let (_, err) = run(
        here,
        &format!("predict {data}/jobs.csv --data {data} -o a.csv"),
        3,
    );
    assert!(err.contains("a model written by gleaner train"), "{err}");
    run(
        here,
        &format!("train packing workload --data {data} -o m"),
        0,
    );
    // Three kinds of invalid files are rejected: a model under the name of another model, a model with an unknown
    // feature, and a truncated model.
    fs::copy(here.join("m/packing.json"), here.join("m/throughput.json")).unwrap();
    let (_, err) = run(
        here,
        &format!("simulate --data {data} --policy lucid --models m --profiler off --quiet"),
        3,
    );
    assert!(
        err.contains("a packing model") && err.contains("a throughput model"),
        "{err}"
    );
    let text = fs::read_to_string(here.join("m/workload.json")).unwrap();
    let other = text.replace("\"name\":\"hour\"", "\"name\":\"moon\"");
    fs::write(here.join("other.json"), other).unwrap();
    let (_, err) = run(
        here,
        &format!("predict other.json --data {data} -o a.csv"),
        3,
    );
    assert!(err.contains("is moon, expected hour"), "{err}");
    fs::write(here.join("short.json"), &text[..text.len() / 2]).unwrap();
    run(
        here,
        &format!("predict short.json --data {data} -o a.csv"),
        3,
    );
    let (_, err) = run(
        here,
        &format!("evaluate workload --data {data} --until 2090-01-01"),
        2,
    );
    assert!(err.contains("choose a time within the data"), "{err}");
}
