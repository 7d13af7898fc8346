//! Training on generated graphs, with the initial weights and the plan of the original's training runs. Training uses
//! double precision, because in single precision the errors depend on the type of processor.

use rayon::prelude::*;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_driple::dataset::Dataset;
use gleaner_driple::inspector::{Inspector, converted};
use gleaner_driple::model::Depth;
use gleaner_driple::train::{Learns, Plan, Scale, Schedule, Stage, State, Training, start};
use gleaner_inputs::driple::data as data_sets;
use gleaner_predict::driple::Part as DataPart;
use gleaner_predict::driple::scores::{baselines, mean};

use super::weights;
use crate::files::Data;
use crate::filled::Values;
use crate::{Part, failed};

/// A training run of the original.
struct Planned {
    row: &'static str,
    weights: &'static str,
    depth: Depth,
    learns: Learns,
    epochs: usize,
}

/// The file with the initial weights for training from scratch.
const FRESH: &str = "synth_gcn_h64_init.safetensors";
/// The file with the published weights, from which training with transfer starts.
const PRETRAINED: &str = "pretrained_gcn.safetensors";

/// The epochs whose errors are compared. The first epoch is epoch 1.
const SHOWN: [usize; 6] = [1, 2, 3, 5, 10, 20];

/// Number of epochs in the original's training runs.
const ALL_EPOCHS: usize = 150;
/// Number of epochs for a network with half as many layers as the graph has nodes, if all of the network's weights are
/// trained. Few epochs are compared because each takes almost a second, and because later errors depend on rounding in
/// the last bits.
const FEW_EPOCHS: usize = 20;

/// The original's training runs that are repeated here.
const PLANNED: [Planned; 4] = [
    Planned {
        row: "without transfer, 3 layers",
        weights: FRESH,
        depth: Depth::Fixed(3),
        learns: Learns::All,
        epochs: ALL_EPOCHS,
    },
    Planned {
        row: "without transfer, half as many layers as nodes",
        weights: FRESH,
        depth: Depth::Half,
        learns: Learns::All,
        epochs: FEW_EPOCHS,
    },
    Planned {
        row: "with transfer, all weights trained",
        weights: PRETRAINED,
        depth: Depth::Half,
        learns: Learns::All,
        epochs: FEW_EPOCHS,
    },
    Planned {
        row: "with transfer, only the readout trained",
        weights: PRETRAINED,
        depth: Depth::Half,
        learns: Learns::Readout,
        epochs: ALL_EPOCHS,
    },
];

/// A finished training run.
struct Trained {
    /// Validation errors by epoch.
    errors: Vec<f64>,
    /// Test error of the epoch with the lowest validation error.
    test: Option<f64>,
}

/// Performs the training runs, and adds their validation errors by epoch and their test errors.
pub fn add(part: &mut Part<'_>, data: Data<'_>) -> Result<()> {
    let (set, _) = part.take(data_sets::read(
        &data.file("driple/synth_dataset.safetensors"),
    )?);
    let inspectors = PLANNED.iter().map(|planned| {
        let weights = weights(part, data, planned.weights)?;
        Ok(converted(weights, planned.depth).map_err(failed)?.0)
    });
    let inspectors = inspectors.collect::<Result<Vec<_>>>()?;
    let observer = part.observer;
    let runs = PLANNED.par_iter().zip(&inspectors);
    let runs = runs.map(|(planned, inspector)| train(planned, inspector, &set, observer));
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let (mut early, mut last) = (Values::default(), Values::default());
    if let Some(error) = mean_error(&set) {
        last.set("the mean of the training set", "test error", error);
    }
    for (planned, run) in PLANNED.iter().zip(&runs) {
        for epoch in SHOWN {
            if let Some(error) = run.errors.get(epoch - 1) {
                early.set(planned.row, &epoch.to_string(), *error);
            }
        }
        if let (Some(test), ALL_EPOCHS) = (run.test, planned.epochs) {
            last.set(planned.row, "test error", test);
        }
    }
    part.add("driple-epochs", &early)?;
    part.add("driple-trained", &last)?;
    Ok(())
}

fn train(
    planned: &Planned,
    inspector: &Inspector,
    data: &Dataset,
    observer: &dyn Observer,
) -> Result<Trained> {
    let plan = Plan {
        epochs: planned.epochs,
        schedule: Schedule::Constant,
        learns: planned.learns,
        ..Plan::default()
    };
    let start = start::from(inspector, data, plan).map_err(failed)?;
    let mut training: Training<'_, f64> = Training::new(
        &start.network,
        &start.card.inputs,
        &start.card.scale.unwrap_or(Scale::NONE),
        plan,
        data,
        State::new(start.state.parameters.cast()),
    );
    training.run(observer.stop(), |_, _| Ok::<_, Error>(()))?;
    check_stop(observer)?;
    let state = training.state();
    let test = training.errors(Stage::Test, state.best_parameters());
    let errors = state
        .history
        .iter()
        .map(|epoch| epoch.val.unwrap_or(f64::NAN));
    Ok(Trained {
        errors: errors.collect(),
        test: test.map(|errors| mean(&errors)),
    })
}

/// The test error of a predictor that returns the mean of the training set for every graph.
fn mean_error(data: &Dataset) -> Option<f64> {
    let train = DataPart::Train.of(data);
    let scale = Scale::of(train);
    let all = baselines(data, &DataPart::Test.of(data), &scale);
    all.first().map(|of_the_mean| mean(&of_the_mean.mse))
}
