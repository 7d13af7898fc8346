//! Tests explanations of whole models, with the scores of their terms.

use serde_json::Value;

use super::support::{assert_near, explain, json, list, model, number};

/// Names of a machine's terms, in descending order of importance.
fn names(kind: &str) -> Vec<String> {
    let found = json(kind, &[]);
    let terms = list(&found["machines"][0], "importances").iter();
    terms
        .map(|term| term["term"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_whole_model_is_described() {
    let run = explain("workload", &[]).expect(0);
    for told in [
        "workload (EBM on logarithms)",
        "training rows",
        "jobs.csv",
        "user",
        "mean |score|",
    ] {
        assert!(run.out.contains(told), "{told} in:\n{}", run.out);
    }
    let run = explain("throughput", &[]).expect(0);
    for told in ["machine for jobs", "machine for gpus", "roll_mean_1h_njob"] {
        assert!(run.out.contains(told), "{told} in:\n{}", run.out);
    }
    let run = explain("packing", &[]).expect(0);
    let tree = json("packing", &[])["tree"]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(run.out.contains(&tree) && tree.starts_with("40 rows ("));
    assert!(run.out.contains("decision tree"));
    let shares = json("packing", &[]);
    let shares = list(&shares["tree"], "importances").iter();
    assert_near(shares.map(|term| number(term, "importance")).sum(), 1.0);
}

#[test]
fn terms_are_sorted_and_match_the_file() {
    for kind in ["workload", "throughput"] {
        let file: Value =
            serde_json::from_str(&std::fs::read_to_string(model(kind)).unwrap()).unwrap();
        let found = json(kind, &[]);
        assert_eq!(found["inputs"], file["inputs"]);
        assert_eq!(found["trained"], file["trained"]);
        for machine in list(&found, "machines") {
            let terms = list(machine, "importances").iter();
            let sizes: Vec<f64> = terms.map(|term| number(term, "importance")).collect();
            assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] > 0.0);
            let features = list(&file, "features").len();
            assert!(sizes.len() >= features);
        }
    }
}

// Over the training rows, the mean of a term's scores is 0, and the mean of their absolute values is the term's
// importance. Each row falls into one of the term's cells.
#[test]
fn scores_and_rows_make_the_importance() {
    let names = names("workload");
    let pair = names.iter().find(|name| name.contains(" & ")).unwrap();
    for name in [&names[0], pair] {
        let found = json("workload", &["--term", name]);
        let term = &list(&found, "terms")[0];
        let cells = list(term, "cells");
        let sum = |of: fn(f64) -> f64| -> f64 {
            let cells = cells.iter();
            cells
                .map(|cell| of(number(cell, "score")) * number(cell, "rows"))
                .sum()
        };
        let rows: f64 = cells.iter().map(|cell| number(cell, "rows")).sum();
        assert_eq!(rows, 400.0);
        assert_near(sum(|score| score), 0.0);
        assert_near(sum(f64::abs) / rows, number(term, "importance"));
        let features = list(term, "features").len();
        assert_eq!(features, 1 + usize::from(name == pair));
        assert!(
            cells
                .iter()
                .all(|cell| list(cell, "bins").len() == features)
        );
    }
}

#[test]
fn terms_are_printed_in_rows() {
    let names = names("workload");
    let pair = names.iter().find(|name| name.contains(" & ")).unwrap();
    let run = explain("workload", &["--term", "user", "--term", pair]).expect(0);
    for told in ["± over bags", "training rows", "u0202", "missing", pair] {
        assert!(run.out.contains(told), "{told} in:\n{}", run.out);
    }
    assert!(!run.out.contains("mean |score|"));
    let rows = |label: &str| {
        let found = json("throughput", &["--term", "hour", "--label", label]);
        found["terms"][0]["unit"].as_str().unwrap().to_owned()
    };
    assert_eq!(rows("gpus"), "GPUs in ten minutes");
    assert_eq!(rows("jobs"), "GPU jobs in ten minutes");
}
