//! Tests the commands that docs/OPERATORS.md gives for clusters without a profiler.

use super::support::{gleaner, json, numbers};

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The commands train a model on sample graphs with default options. Its predictions are far better than the mean of
/// the training set.
#[test]
fn the_first_model_of_a_new_user_learns() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let build = "driple build --graphs jobs/graphs --measured jobs/measured.csv";
    gleaner(here, "synth graphs -o jobs").expect(0);
    gleaner(here, &format!("{build} -o data.safetensors")).expect(0);
    let train = "driple train --data data.safetensors -o v100.safetensors --quiet";
    let run = gleaner(here, train).expect(0);
    assert!(!run.err.contains("hardly better"), "{}", run.err);
    assert!(
        run.out.contains("predicting the training mean"),
        "{}",
        run.out
    );
    let evaluate = "driple evaluate --model v100.safetensors --data data.safetensors --json";
    let found = json(&gleaner(here, evaluate).expect(0).out);
    let errors = |at: usize| mean(&numbers(&found["scores"][at]["mse"]));
    assert_eq!(found["scores"][1]["model"], "training mean");
    let (model, training_mean, ridge) = (errors(0), errors(1), errors(2));
    assert!(model < 0.5 * training_mean, "{model} {training_mean}");
    assert!(model < ridge, "{model} {ridge}");
    let explained = mean(&numbers(&found["scores"][0]["r2"]));
    assert!(explained > 0.5, "{explained}");
}

/// If the model has learnt nothing, `gleaner driple train` prints a remark.
#[test]
fn a_model_that_learns_nothing_is_reported() {
    let directory = super::support::built();
    let here = directory.path();
    let train = "driple train --data data.safetensors --hidden 4 --epochs 1 --rate 1e-9 -q -o m";
    let run = gleaner(here, train).expect(0);
    run.says(&["hardly better than the training mean", "--epochs"]);
}
