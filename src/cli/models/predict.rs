//! `gleaner predict`: what a model says of data.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::data::DataArgs;
use crate::cli::remark;
use crate::error::Result;
use crate::ingest::model;
use crate::models::{Model, estimates_by};
use crate::output::{prediction, table::Form};

/// Predict by a trained model.
///
/// What is written is what `gleaner simulate` takes: a throughput model makes the file of
/// --forecast, a workload model that of --estimates, a packing model that of --profiles.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner predict models/workload.json --data trace -o estimates.csv\n  \
    gleaner simulate --data trace --policy qssf --estimates estimates.csv\n  \
    gleaner predict models/throughput.json --data trace -o forecast.parquet")]
pub struct Args {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// The table to write: .csv or .parquet.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// A file that is no model, missing or faulty data, or a table that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    Form::of(&args.output)?;
    let trained = model::read(&args.model)?.value;
    let mut sources = Vec::new();
    let rows = match &trained.model {
        Model::Throughput(model) => {
            let series = args.data.series(&mut sources)?;
            prediction::throughput(model, &series, &args.output)?
        }
        Model::Packing(model) => {
            let profiles = args.data.profiles(&mut sources)?;
            prediction::packing(model, &profiles, &args.output)?
        }
        Model::Workload(model) => {
            let jobs = args.data.jobs(&mut sources)?;
            let estimates = estimates_by(model, &jobs.trace, &jobs.cluster, jobs.calendar);
            prediction::workload(&estimates, &jobs.trace, &args.output)?
        }
    };
    remark(&[format!("{}: {rows} predictions", args.output.display())]);
    Ok(())
}
