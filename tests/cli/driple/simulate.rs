//! Tests Lucid with predicted profiles: its decisions use the predictions, but jobs that share GPUs run as measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::runs::{Run, gleaner};

/// A directory with the generated trace of a busy cluster in the folder `trace`.
fn busy() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let line = "synth jobs --vcs 2 --nodes 6 --days 4 --load 1.3 --seed 5 -o trace";
    gleaner(directory.path(), line).expect(0);
    directory
}

/// The columns of a table of profiles.
const NAMES: [&str; 9] = [
    "dataset",
    "model",
    "batchsize",
    "amp",
    "speed",
    "gpu_util",
    "gmem_util",
    "gmem",
    "label",
];

/// A row of a table of profiles: its cells by column.
type Row = BTreeMap<String, String>;

/// Applies `change` to each row of the measured profiles, and writes the rows as predicted profiles. Rows for which
/// `change` returns false are left out.
fn predict(at: &Path, name: &str, change: impl Fn(&mut Row) -> bool) {
    let text = fs::read_to_string(at.join("trace/single_data.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<String> = lines
        .next()
        .unwrap()
        .split(',')
        .map(str::to_owned)
        .collect();
    assert_eq!(header, NAMES);
    let mut table = format!("{},source\n", NAMES.join(","));
    for line in lines {
        let cells = line.split(',').map(str::to_owned);
        let mut row: Row = header.iter().cloned().zip(cells).collect();
        if change(&mut row) {
            let cells: Vec<&str> = NAMES.iter().map(|name| row[*name].as_str()).collect();
            table += &format!("{},predicted\n", cells.join(","));
        }
    }
    fs::write(at.join(name), table).unwrap();
}

fn set(row: &mut Row, name: &str, value: &str) -> bool {
    row.insert(name.to_owned(), value.to_owned());
    true
}

/// Simulates Lucid, and writes the results to the folder `out`.
fn lucid(at: &Path, more: &str, out: &str) -> Run {
    let line = format!(
        "simulate --data trace --policy lucid --profiler off --check --csv --logs --out {out} {more}"
    );
    gleaner(at, &line)
}

/// The content of the table `lucid_NAME.csv` in the folder `out`.
fn table(at: &Path, out: &str, name: &str) -> String {
    fs::read_to_string(at.join(out).join(format!("lucid_{name}.csv"))).unwrap()
}

/// The sharing scores, by model, that a simulation used for jobs with full precision and a batch size of 64.
fn scores(at: &Path, out: &str) -> BTreeMap<String, String> {
    let log = at.join(out).join("logs/all/lucid_consolidate_all_log.csv");
    let mut reader = csv::Reader::from_path(log).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let [model, batch, amp] = ["model", "batchsize", "amp"].map(place);
    let score = header
        .iter()
        .position(|column| column.contains("score"))
        .unwrap();
    let rows = reader.records().map(Result::unwrap);
    let rows = rows.filter(|row| &row[batch] == "64" && &row[amp] == "0");
    rows.map(|row| (row[model].to_owned(), row[score].to_owned()))
        .collect()
}

// If the predictions equal the measured profiles, they do not change the schedule.
#[test]
fn correct_predictions_give_the_schedule_of_measurements() {
    let directory = busy();
    let at = directory.path();
    lucid(at, "", "measured").expect(0);
    predict(at, "predicted.csv", |_| true);
    let run = lucid(at, "--profiles predicted.csv", "predicted").expect(0);
    assert!(!run.err.contains("share"), "{}", run.err);
    assert_eq!(
        table(at, "measured", "jobs"),
        table(at, "predicted", "jobs")
    );
    let info: Value =
        serde_json::from_slice(&fs::read(at.join("predicted/run.json")).unwrap()).unwrap();
    let inputs = info["inputs"].as_array().unwrap();
    let named = |name: &str| {
        inputs
            .iter()
            .any(|input| input["path"].as_str().unwrap().ends_with(name))
    };
    assert!(
        named("predicted.csv") && named("colocate_info.csv"),
        "{info}"
    );
}

// The utilisation of the cluster follows from the measured profiles, whatever the model predicts.
#[test]
fn running_jobs_use_gpus_as_measured() {
    let directory = busy();
    let at = directory.path();
    lucid(at, "", "measured").expect(0);
    predict(at, "predicted.csv", |row| {
        set(row, "gpu_util", "1") && set(row, "gmem_util", "1") && set(row, "gmem", "1")
    });
    lucid(at, "--profiles predicted.csv", "predicted").expect(0);
    // Jobs that do not fit together are not started together, even if they are predicted to fit. The schedule is
    // therefore the same as with the measured profiles.
    for name in ["jobs", "seq"] {
        assert_eq!(table(at, "measured", name), table(at, "predicted", name));
    }
}

#[test]
fn a_job_predicted_to_fill_a_gpu_does_not_share() {
    let directory = busy();
    let at = directory.path();
    lucid(at, "", "measured").expect(0);
    predict(at, "large.csv", |row| set(row, "gmem", "20000"));
    predict(at, "bad.csv", |row| set(row, "label", "2"));
    predict(at, "other.csv", |row| set(row, "dataset", "Unknown"));
    for name in ["large", "bad", "other"] {
        lucid(at, &format!("--profiles {name}.csv"), name).expect(0);
        assert_eq!(
            table(at, "large", "jobs"),
            table(at, name, "jobs"),
            "{name}"
        );
    }
    assert_ne!(table(at, "measured", "jobs"), table(at, "large", "jobs"));
}

#[test]
fn a_workload_without_a_prediction_is_named_and_does_not_share() {
    let directory = busy();
    let at = directory.path();
    predict(at, "some.csv", |row| row["model"] != "GlyphNet");
    lucid(at, "--profiles some.csv", "some").expect(0).says(&[
        "no profile of GlyphNet on Tiles-10",
        "1 more",
        "share no GPUs",
    ]);
    assert_eq!(scores(at, "some")["GlyphNet"], "");
    assert_eq!(scores(at, "some")["SparrowNet"], "0.0");
    // Measured profiles must be complete, with or without predictions.
    let text = fs::read_to_string(at.join("some.csv")).unwrap();
    fs::write(at.join("gaps.csv"), text.replace("predicted", "measured")).unwrap();
    lucid(at, "--profiles gaps.csv", "gaps")
        .expect(3)
        .says(&["a workload with a profile"]);
}

/// If the table has no scores, the packing model computes them from the profiles.
#[test]
fn sharing_scores_are_given_to_predictions_by_the_packing_model() {
    let directory = busy();
    let at = directory.path();
    gleaner(at, "train packing --data trace --out models").expect(0);
    let known = "--estimates trace/duration_estimate.csv --forecast trace/throughput_pred.csv";
    predict(at, "right.csv", |row| set(row, "label", ""));
    predict(at, "busier.csv", |row| {
        set(row, "label", "") && set(row, "gpu_util", "100")
    });
    let none = lucid(at, "--profiles right.csv", "unscored").expect(0);
    assert!(
        none.err.contains("no sharing score of")
            && none.err.contains("gleaner predict packing.json"),
        "{}",
        none.err
    );
    let by = |table: &str, models: &str, out: &str| {
        lucid(
            at,
            &format!("--profiles {table} --models {models} {known}"),
            out,
        )
        .expect(0);
        scores(at, out)
    };
    let measured = by("trace/single_data.csv", "models", "measured");
    let right = by("right.csv", "models", "right");
    let busier = by("busier.csv", "models", "busier");
    assert_eq!(measured, right);
    assert_eq!(
        [&right["SparrowNet"], &right["GlyphNet"], &right["BERT"]],
        ["0", "1", "2"]
    );
    assert!(busier.values().all(|score| score == "2"), "{busier:?}");
    assert_eq!(table(at, "measured", "jobs"), table(at, "right", "jobs"));
    assert_eq!(table(at, "unscored", "jobs"), table(at, "busier", "jobs"));
    assert_ne!(table(at, "right", "jobs"), table(at, "busier", "jobs"));
    // A model trained in the simulation learns from the measured profiles, because the predicted
    // profiles have no scores.
    assert_eq!(right, by("right.csv", "train", "learnt"));
    let alone = "--trace trace/jobs.csv --cluster trace/vc_config.csv --colocate \
                 trace/colocate_info.csv --policy lucid --profiler off";
    let line = format!("simulate {alone} {known} --profiles right.csv --models train");
    gleaner(at, &line)
        .expect(2)
        .says(&["no profile has a sharing score to learn from"]);
    gleaner(at, "train packing --profiles right.csv --out m")
        .expect(2)
        .says(&["label"]);
    // If `gleaner predict` has already added the scores to a table, the simulation needs no model.
    gleaner(
        at,
        "predict models/packing.json --profiles right.csv -o scored.csv",
    )
    .expect(0);
    assert!(
        fs::read_to_string(at.join("scored.csv"))
            .unwrap()
            .contains(",predicted\n")
    );
    lucid(at, &format!("--profiles scored.csv {known}"), "scored").expect(0);
    assert_eq!(right, scores(at, "scored"));
}

/// If a trace does not state how jobs use their GPUs, the measured profiles apply, even if there are predicted
/// profiles.
#[test]
fn measured_profiles_apply_where_the_trace_has_no_usage() {
    let directory = busy();
    let at = directory.path();
    lucid(at, "", "told").expect(0);
    let jobs = at.join("trace/jobs.csv");
    let text = fs::read_to_string(&jobs).unwrap();
    let silent = |line: &str| line.split(',').take(13).collect::<Vec<_>>().join(",") + "\n";
    fs::write(&jobs, text.lines().map(silent).collect::<String>()).unwrap();
    predict(at, "low.csv", |row| {
        set(row, "gpu_util", "1") && set(row, "gmem", "1")
    });
    lucid(at, "--profiles low.csv", "silent").expect(0);
    assert_eq!(table(at, "told", "seq"), table(at, "silent", "seq"));
}

#[test]
fn unmeasured_pairs_do_not_share_because_of_a_prediction() {
    let directory = busy();
    let at = directory.path();
    let pairs = at.join("trace/colocate_info.csv");
    let text = fs::read_to_string(&pairs).unwrap();
    let kept = text.lines().filter(|line| !line.contains("GlyphNet"));
    fs::write(
        &pairs,
        kept.map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    lucid(at, "", "measured").expect(3).says(&["no speeds for"]);
    predict(at, "predicted.csv", |_| true);
    let run = lucid(at, "--profiles predicted.csv", "predicted").expect(0);
    run.says(&["never measured on the same GPUs", "GlyphNet"]);
}
