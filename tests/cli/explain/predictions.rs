//! Compares explanations of single predictions with the output of `gleaner predict`.

use serde_json::Value;

use super::support::{assert_near, data, explain, json, list, number, predicted, row};

/// Asserts that a prediction is the sum of its parts, and that they are sorted from the largest to the smallest.
/// Returns the sum.
#[track_caller]
fn summed(told: &Value) -> f64 {
    let scores: Vec<f64> = list(told, "contributions")
        .iter()
        .map(|part| number(part, "score"))
        .collect();
    assert!(scores.is_sorted_by(|a, b| a.abs() >= b.abs()));
    let sum = number(told, "intercept") + scores.iter().sum::<f64>();
    assert_near(sum, number(told, "prediction"));
    sum
}

#[test]
fn an_estimate_adds_up() {
    let estimates = predicted("workload", "priority");
    for (place, expected) in estimates.iter().enumerate().step_by(150) {
        let told = row("workload", place + 1, &[]);
        let seconds = summed(&told).exp_m1().max(0.0);
        assert_near(number(&told, "seconds"), seconds);
        assert_near(seconds, expected.parse().unwrap());
        for part in list(&told, "contributions") {
            assert_near(number(part, "factor"), number(part, "score").exp());
        }
    }
}

#[test]
fn a_job_is_found_by_its_name() {
    let by_name = json("workload", &["--job", "1", "--data", &data()]);
    assert_eq!(by_name["prediction"], row("workload", 1, &[]));
    let run = explain("workload", &["--job", "1", "--data", &data()]).expect(0);
    for told in ["job 1,", "u0202", "×", "on average", "sum", "predicted  "] {
        assert!(run.out.contains(told), "{told} in:\n{}", run.out);
    }
}

#[test]
fn forecasts_of_both_machines_add_up() {
    for (label, column) in [("jobs", "pred_gpu_job"), ("gpus", "pred_gpu_num")] {
        let forecast = predicted("throughput", column);
        // The last forecast is for an interval after the end of the series.
        for place in [0, 100, forecast.len() - 1] {
            let told = row("throughput", place + 1, &["--label", label]);
            assert_eq!(told["label"], label);
            assert_near(summed(&told), forecast[place].parse().unwrap());
        }
    }
}

#[test]
fn a_sharing_score_is_explained_by_decisions() {
    let scores = predicted("packing", "label");
    for (place, score) in scores.iter().enumerate().step_by(7) {
        let told = row("packing", place + 1, &[]);
        assert_eq!(told["score"].to_string(), *score);
        assert!(!list(&told, "steps").is_empty());
    }
    let run = explain("packing", &["--row", "1", "--data", &data()]).expect(0);
    let told = row("packing", 1, &[]);
    for step in list(&told, "steps") {
        assert!(run.out.contains(step.as_str().unwrap()));
    }
}
