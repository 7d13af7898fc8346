//! `gleaner driple`: what training jobs consume, told from their computational graphs.

mod build;
mod profiles;

use clap::{Args as ClapArgs, Subcommand};

use crate::error::Result;

/// Tell from a computational graph what its training will consume.
///
/// Of GPU memory, GPU, network reception and transmission: how long each is idle and active on
/// average, and its peak. Yang et al., SIGMETRICS 2022.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Build(build::Args),
    Profiles(profiles::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// Those of the subcommand.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Build(args) => build::run(args),
        What::Profiles(args) => profiles::run(args),
    }
}
