//! `gleaner driple build`: a data set of graphs and what was measured of them.

use clap::Args as ClapArgs;

use crate::error::{Error, Result};

/// Build a data set of grouped graphs from computational graphs and measurements.
#[derive(Debug, ClapArgs)]
pub struct Args {}

/// Runs the subcommand.
///
/// # Errors
/// Always, as yet.
pub fn run(_: &Args) -> Result<()> {
    Err(Error::Run("not there yet".to_owned()))
}
