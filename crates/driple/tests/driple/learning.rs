//! Compares training on the synthetic data set with the original's recorded runs and with ridge
//! regression on graph statistics. Also tests that interrupted training runs continue as if they
//! had not been interrupted.

use std::convert::Infallible;

use crate::support::reference;
use gleaner_driple::dataset::{Dataset, file};
use gleaner_driple::inspector::{Inspector, converted};
use gleaner_driple::model::{Architecture, Convolution, Depth, READOUT_LAYERS, read_weights};
use gleaner_driple::train::{Learns, Plan, Schedule, Stage, Start, Training, checkpoint, start};
use gleaner_observer::Unobserved;
use gleaner_testing::StopAfter;
use serde_json::Value;

/// The test error of ridge regression on statistics of the graphs.
const RIDGE: f64 = 0.0059;

fn synthetic() -> Option<Dataset> {
    Some(
        file::read(&reference("synth_dataset.safetensors")?)
            .unwrap()
            .0,
    )
}

fn weights(name: &str, depth: Depth) -> Option<Inspector> {
    Some(
        converted(read_weights(&reference(name)?).unwrap(), depth)
            .unwrap()
            .0,
    )
}

fn run(training: &mut Training<'_, f32>) {
    training
        .run(&Unobserved, |_, _| Ok::<_, Infallible>(()))
        .unwrap();
}

/// The mean squared error on the test set, with the parameters of the best epoch.
fn test_error(training: &Training<'_, f32>) -> f64 {
    let errors = training
        .errors(Stage::Test, training.state().best_parameters())
        .unwrap();
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// The plan of the original's training.
fn original(epochs: usize) -> Plan {
    Plan {
        epochs,
        schedule: Schedule::Constant,
        ..Plan::default()
    }
}

// Golden values: the first epochs of the original's runs from the same weights.
fn check_early(weights_of: &str, depth: Depth, run_of: &str, validations: impl Fn(&Value) -> f64) {
    let (Some(data), Some(inspector), Some(recorded)) =
        (synthetic(), weights(weights_of, depth), reference(run_of))
    else {
        return;
    };
    let recorded: Value = serde_json::from_slice(&recorded).unwrap();
    let start = start::from(&inspector, &data, original(3)).unwrap();
    let mut training = start.training(&data);
    run(&mut training);
    let history = &training.state().history;
    let losses = recorded["first_epoch_batch_losses"].as_array().unwrap();
    let sizes = data.train.iter().map(Vec::len);
    let sum: f64 = losses
        .iter()
        .zip(sizes)
        .map(|(l, n)| l.as_f64().unwrap() * n as f64)
        .sum();
    let wanted = sum / 240.0;
    assert!(
        (history[0].train - wanted).abs() < 2e-4 * wanted,
        "{} {wanted}",
        history[0].train
    );
    for (epoch, recorded) in history.iter().zip(recorded["history"].as_array().unwrap()) {
        let (found, wanted) = (epoch.val.unwrap(), validations(recorded));
        assert!(
            (found - wanted).abs() < 2e-3 * wanted,
            "{}: {found} {wanted}",
            epoch.epoch
        );
    }
}

#[test]
fn three_layers_begin_as_the_original_does() {
    let start = "synth_gcn_h64_init.safetensors";
    check_early(start, Depth::Fixed(3), "synth_depth3.json", |row| {
        row[2].as_f64().unwrap()
    });
}

#[test]
fn full_depth_begins_as_the_original_does() {
    let start = "synth_gcn_h64_init.safetensors";
    check_early(start, Depth::Half, "synth_gcn_h64_seed42.json", |row| {
        row["val"].as_f64().unwrap()
    });
}

/// A trained network and its test error.
fn trained(architecture: Architecture, data: &Dataset, plan: Plan, seed: u64) -> (Inspector, f64) {
    let start = start::fresh(architecture, data, plan, seed).unwrap();
    let mut training = start.training(data);
    run(&mut training);
    (start.inspector(&training), test_error(&training))
}

#[test]
fn the_default_learns_at_full_depth() {
    let Some(data) = synthetic() else { return };
    let plan = Plan {
        epochs: 30,
        ..Plan::default()
    };
    let architecture = Architecture {
        depth: Depth::Half,
        ..Architecture::new(Convolution::Gcn)
    };
    let (inspector, error) = trained(architecture, &data, plan, 1);
    assert!(error < RIDGE, "{error}");
    // The card records the test error that was measured.
    let test = inspector.card.provenance.unwrap().test.unwrap();
    assert!((test.iter().sum::<f64>() / 12.0 - error).abs() < 1e-12);
}

#[test]
fn every_convolution_learns() {
    let Some(data) = synthetic() else { return };
    // For comparison, predicting the mean of the training set gives an error of 0.046.
    let plan = Plan {
        epochs: 12,
        ..Plan::default()
    };
    for kind in [Convolution::Gin, Convolution::Gat, Convolution::Mpnn] {
        let by_default = Architecture {
            hidden: 16,
            ..Architecture::new(kind)
        };
        let full = Architecture {
            depth: Depth::Half,
            ..by_default
        };
        for (architecture, most) in [(by_default, 0.03), (full, 0.037)] {
            let (_, error) = trained(architecture, &data, plan, 1);
            assert!(error < most, "{architecture:?}: {error}");
        }
    }
}

#[test]
fn an_interrupted_training_gives_the_same_weights() {
    let Some(mut data) = synthetic() else { return };
    data.train.truncate(3);
    let plan = Plan {
        epochs: 4,
        ..Plan::default()
    };
    let architecture = Architecture {
        hidden: 8,
        ..Architecture::new(Convolution::Gcn)
    };
    let start = start::fresh(architecture, &data, plan, 5).unwrap();
    let mut whole = start.training(&data);
    run(&mut whole);
    let mut part = start.training(&data);
    let mut epochs = 0;
    let stopped = part.run(&StopAfter::new(2), |_, epoch| {
        assert_eq!(epoch.epoch, epochs);
        epochs += 1;
        Ok::<_, Infallible>(())
    });
    stopped.unwrap();
    assert_eq!((epochs, part.is_over()), (2, false));
    let bytes = checkpoint::write(&start.card, part.state()).unwrap();
    let resumed: Start = checkpoint::read(&bytes).unwrap();
    assert_eq!(resumed.card, start.card);
    let mut rest = resumed.training(&data);
    run(&mut rest);
    assert_eq!(rest.state(), whole.state());
    let files = [&whole, &rest]
        .map(|training| gleaner_driple::inspector::write(&start.inspector(training)).unwrap());
    assert_eq!(files[0], files[1]);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let Some(mut data) = synthetic() else { return };
    data.train.truncate(2);
    let plan = Plan {
        epochs: 2,
        ..Plan::default()
    };
    let architecture = Architecture {
        hidden: 8,
        ..Architecture::new(Convolution::Gin)
    };
    let weights = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| trained(architecture, &data, plan, 3).0.parameters)
    };
    assert_eq!(weights(1), weights(3));
}

#[test]
fn transfer_changes_the_readout_alone() {
    let (Some(mut data), Some(inspector)) = (
        synthetic(),
        weights("pretrained_gcn.safetensors", Depth::Half),
    ) else {
        return;
    };
    data.train.truncate(2);
    let plan = Plan {
        epochs: 2,
        learns: Learns::Readout,
        ..Plan::default()
    };
    let start = start::from(&inspector, &data, plan).unwrap();
    let mut training = start.training(&data);
    run(&mut training);
    let (before, after) = (&inspector.parameters, training.state().best_parameters());
    for id in before.ids() {
        let kept = before[id] == after[id];
        assert_eq!(
            kept,
            !before.name(id).starts_with(READOUT_LAYERS),
            "{}",
            before.name(id)
        );
    }
}

/// The data set as if it had been measured on another set-up: every metric is raised to a power and
/// multiplied by a factor.
fn elsewhere(data: &Dataset) -> Dataset {
    let mut other = data.clone();
    let parts = [&mut other.train, &mut other.val, &mut other.test];
    for example in parts.into_iter().flatten().flatten() {
        for (metric, label) in example.labels.iter_mut().enumerate() {
            let power = [0.7, 1.4, 1.0, 1.8][metric % 4];
            *label = (1.0 + metric as f32) * label.max(0.0).powf(power);
        }
    }
    other
}

#[test]
fn transfer_to_a_new_setup_beats_training_from_scratch() {
    let Some(data) = synthetic() else { return };
    let architecture = Architecture {
        hidden: 32,
        ..Architecture::new(Convolution::Gcn)
    };
    let plan = Plan {
        epochs: 40,
        ..Plan::default()
    };
    let (known, _) = trained(architecture, &data, plan, 1);
    let mut other = elsewhere(&data);
    other.train.iter_mut().for_each(|batch| batch.truncate(3));
    assert_eq!(other.train.iter().map(Vec::len).sum::<usize>(), 24);
    let plan = Plan {
        epochs: 100,
        ..Plan::default()
    };
    let (_, scratch) = trained(architecture, &other, plan, 1);
    let plan = Plan {
        learns: Learns::Readout,
        ..plan
    };
    let start = start::from(&known, &other, plan).unwrap();
    let mut training = start.training(&other);
    run(&mut training);
    let transferred = test_error(&training);
    assert!(transferred < 0.5 * scratch, "{transferred} {scratch}");
}
