//! `gleaner driple`: predicts the resource consumption of training jobs from their computational
//! graphs.

mod build;
mod contrary;
mod convert;
mod evaluate;
mod grouping;
mod network;
mod plan;
mod predict;
mod profiles;
mod resume;
mod train;

use clap::{Args as ClapArgs, Subcommand};

use gleaner_domain::error::{Error, Result};

/// Predict the resource use of a training job from its graph.
///
/// The resources are GPU memory, GPU compute, network reception and network transmission. For each resource, the model
/// predicts the average idle time, the average active time, and the peak. The method is Driple, by Yang et al.,
/// SIGMETRICS 2022; "the original" is their program.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth graphs -o jobs\n  \
    gleaner driple build --graphs jobs/graphs --measured jobs/measured.csv -o data.safetensors\n  \
    gleaner driple train --data data.safetensors -o model.safetensors\n  \
    gleaner driple evaluate --model model.safetensors --data data.safetensors\n  \
    gleaner driple predict --model model.safetensors jobs/graphs -o predicted.csv")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Build(build::Args),
    Train(train::Args),
    Predict(predict::Args),
    Evaluate(evaluate::Args),
    Profiles(profiles::Args),
    Convert(convert::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// The subcommand fails.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Build(args) => build::run(args),
        What::Train(args) => train::run(args),
        What::Predict(args) => predict::run(args),
        What::Evaluate(args) => evaluate::run(args),
        What::Profiles(args) => profiles::run(args),
        What::Convert(args) => convert::run(args),
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Run(error.to_string())
}

/// Parses a finite number for which `sound` returns true.
fn number(text: &str, sound: fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|&number: &f64| number.is_finite() && sound(number));
    number.ok_or_else(|| format!("expected {expected}"))
}
