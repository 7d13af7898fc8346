//! `gleaner synth search`: generates a search for hyperparameters or architectures.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gleaner_search::{Algorithm, Plan};

use crate::cli::remark;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_inputs::write::tasks::SearchTable;
use gleaner_inputs::write::{learning_curves, tasks};
use gleaner_setup::settings::command_line::one_of;
use gleaner_synth::tasks::TaskOptions;

/// Generate a search for hyperparameters or architectures, with the networks to train and the algorithm that starts and
/// stops trials.
///
/// With --losses, the learning curves of all trials are also written. In these curves, slower networks reach lower
/// losses than faster networks.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth search --algorithm asha --trials 81 -o search.toml\n  \
    gleaner synth search --algorithm hyperband --networks 5 --losses losses.csv -o nas.toml")]
pub struct Args {
    /// Algorithm that starts and stops trials.
    #[arg(long, value_name = "NAME", default_value = "asha", value_parser = one_of::<Algorithm>())]
    algorithm: Algorithm,
    /// Number of trials; hyperband derives the number from the resources [default: 81].
    #[arg(long, value_name = "COUNT")]
    trials: Option<u32>,
    /// Promote the best 1/NUMBER of the trials in each rung.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    eta: u32,
    /// Resource of the first rung, such as epochs.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    min_resource: f64,
    /// Resource of the last rung.
    #[arg(long, value_name = "NUMBER", default_value_t = 27.0)]
    max_resource: f64,
    /// Number of networks, each with its own scaling curve.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    networks: u32,
    /// Maximum number of nodes of a trial.
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    max_nodes: u32,
    /// Mean work of a full training run, in hours on one node.
    #[arg(long, value_name = "HOURS", default_value_t = 8.0)]
    hours: f64,
    /// Also write learning curves to this file, which must be in the same folder as the search.
    #[arg(long, value_name = "FILE")]
    losses: Option<PathBuf>,
    /// Seed. The same seed gives the same search.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// File to write: a name that ends in .toml or .json.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// An option is out of range, or an output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let is_derived = args.algorithm.derives_trials();
    let plan = Plan {
        algorithm: args.algorithm,
        trials: args.trials.or((!is_derived).then_some(81)),
        eta: args.eta,
        min_resource: args.min_resource,
        max_resource: args.max_resource,
    };
    let mut networks = gleaner_synth::tasks::generate(&TaskOptions {
        count: args.networks,
        models: args.networks,
        max_nodes: args.max_nodes,
        hours: args.hours,
        start: None,
        submit_every: 0.0,
        seed: args.seed,
    })?;
    for (number, network) in networks.iter_mut().enumerate() {
        network.name = format!("network{number:02}");
    }
    let losses = gleaner_synth::search::losses(&plan, &networks, args.seed)?;
    let mut curves = None;
    if let Some(path) = &args.losses {
        curves = Some(beside(path, &args.output)?);
        learning_curves::write(&losses, &networks, path)?;
    }
    let trials = losses.last().map_or(0, |loss| loss.trial as usize + 1);
    tasks::write_search(&networks, SearchTable { plan, curves }, &args.output)?;
    remark(&[format!(
        "{}: {} of {}",
        args.output.display(),
        counted(trials, "trial"),
        counted(networks.len(), "network")
    )]);
    Ok(())
}

/// The file name of `path`, which must be in the same folder as `other`.
fn beside(path: &std::path::Path, other: &std::path::Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.filter(|_| path.parent() == other.parent()) {
        Some(name) => Ok(name.to_owned()),
        None => Err(Error::Usage(format!(
            "--losses {} must be in the same folder as {}",
            path.display(),
            other.display()
        ))),
    }
}
