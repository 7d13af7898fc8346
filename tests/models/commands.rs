//! `gleaner train`, `predict`, `evaluate` and `simulate --models` as a user runs them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::runs::{Run, gleaner};

fn run(directory: &Path, line: &str, code: i32) -> (String, String) {
    let Run { out, err, .. } = gleaner(directory, line).expect(code);
    (out, err)
}

fn dataset() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("dataset/cluster")
        .display()
        .to_string()
}

#[test]
fn trained_models_predict_what_simulate_takes() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let (out, err) = run(
        here,
        &format!("train all --data {data} --epoch 2024-01-01"),
        0,
    );
    for words in [
        "throughput: ",
        "packing: ",
        "workload: ",
        "saved as models/workload.json",
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
        "simulate --data {data} --policy qssf,lucid --models models --epoch 2024-01-01 --quiet --check --profiler off"
    );
    let (by_models, err) = run(here, &line, 0);
    assert!(err.contains("it has seen what it is to predict"), "{err}");
    let qssf = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("qssf"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(qssf(&by_files), qssf(&by_models));
}

#[test]
fn simulate_trains_models_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let line = format!(
        "simulate --data {data} --policy fifo,qssf,lucid --models train --profiler off --quiet --out"
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
        "EBM of logarithms",
        "training median",
        "left out",
        "user's history",
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
        "EBM of logarithms"
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
    let scores = model["model"]["machine"]["terms"][hour]["scores"]
        .as_array()
        .unwrap();
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
        err.contains("no number of that name; its features are user, vc, gpu_num"),
        "{err}"
    );
    run(here, &format!("{line} --monotone hour=up"), 2);
}

#[test]
fn a_job_of_the_far_future_is_no_reason_to_wait() {
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
fn wrong_use_and_wrong_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (here, data) = (folder.path(), dataset());
    let (_, err) = run(here, "train throughput", 2);
    assert!(
        err.contains("--series FILE is needed") && err.contains("gleaner synth jobs"),
        "{err}"
    );
    let (_, err) = run(
        here,
        &format!("train workload --data {data} --until 1960-01-01"),
        2,
    );
    assert!(
        err.contains("nothing was submitted before --until"),
        "{err}"
    );
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
    assert!(
        err.contains("a model that gleaner train has written"),
        "{err}"
    );
    run(
        here,
        &format!("train packing workload --data {data} -o m"),
        0,
    );
    // A model under another's name, one of another feature, and one cut short.
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
    assert!(err.contains("is moon, where hour is needed"), "{err}");
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
    assert!(err.contains("name a time within the data"), "{err}");
}
