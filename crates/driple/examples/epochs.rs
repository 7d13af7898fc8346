//! Trains a GCN inspector and prints the seconds per epoch and the test error as a line of JSON,
//! for `bench-driple.sh`:
//!
//! ```text
//! epochs DATA original|deep half|LAYERS EPOCHS SEED [WEIGHTS to start with]
//! ```

use std::convert::Infallible;
use std::error::Error;
use std::time::Instant;

use gleaner_driple::dataset::file;
use gleaner_driple::inspector::converted;
use gleaner_driple::model::{Architecture, Convolution, Depth, read_weights};
use gleaner_driple::train::{Plan, Schedule, Stage, start};
use gleaner_observer::Unobserved;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, design, depth, epochs, seed, weights @ ..] = &arguments[..] else {
        return Err("expected DATA original|deep half|LAYERS EPOCHS SEED [WEIGHTS]".into());
    };
    let (data, _) = file::read(&std::fs::read(data)?)?;
    let (mut architecture, schedule) = match design.as_str() {
        "original" => (Architecture::original(Convolution::Gcn), Schedule::Constant),
        _ => (Architecture::new(Convolution::Gcn), Schedule::Cosine),
    };
    architecture.depth = match depth.as_str() {
        "half" => Depth::Half,
        layers => Depth::Fixed(layers.parse()?),
    };
    let plan = Plan {
        epochs: epochs.parse()?,
        schedule,
        ..Plan::default()
    };
    let start = match weights {
        [] => start::fresh(architecture, &data, plan, seed.parse()?)?,
        [path, ..] => {
            let weights = read_weights(&std::fs::read(path)?)?;
            start::from(&converted(weights, architecture.depth)?.0, &data, plan)?
        }
    };
    let mut training = start.training(&data);
    let begun = Instant::now();
    training.run(&Unobserved, |_, _| Ok::<_, Infallible>(()))?;
    let seconds = begun.elapsed().as_secs_f64() / plan.epochs as f64;
    let state = training.state();
    let errors = training.errors(Stage::Test, state.best_parameters());
    let test = errors.map_or(f64::NAN, |errors| errors.iter().sum::<f64>() / 12.0);
    println!("{{\"seconds\": {seconds:.4}, \"test\": {test:.5}}}");
    Ok(())
}
