//! `gleaner predict`: makes predictions with a model.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gleaner_learn::lucid::workload::EstimatorChoice;

use super::data::DataArgs;
use crate::cli::remark;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_inputs::model;
use gleaner_io::table::Form;
use gleaner_predict::{Model, estimates_by};
use gleaner_runs::prediction;

/// Make predictions with a trained model.
///
/// `gleaner simulate` reads the resulting table: predictions of a throughput model with
/// --forecast, of a workload model with --estimates, and of a packing model with --profiles.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner predict models/workload.json --data trace -o estimates.csv\n  \
    gleaner simulate --data trace --policy qssf --estimates estimates.csv\n  \
    gleaner predict models/throughput.json --data trace -o forecast.parquet")]
pub struct Args {
    /// The model, a file written by `gleaner train`.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// For a workload model: the estimator to use, one of ebm, ebm-seconds, history, median and
    /// mean [default: best, the estimator that training chose].
    #[arg(long, value_name = "NAME")]
    estimator: Option<EstimatorChoice>,
    /// Table to write: .csv or .parquet.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    // This field is last, because its help heading applies to all options after it.
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// The file is not a model, data are missing or faulty, or the table cannot be written.
pub fn run(args: &Args) -> Result<()> {
    Form::of(&args.output)?;
    let trained = model::read(&args.model)?.value;
    check_estimator(args.estimator, &trained.model)?;
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
            let (_, fitted) = model.pick(args.estimator.unwrap_or_default());
            let estimates = estimates_by(fitted, &jobs.trace, &jobs.cluster, jobs.calendar);
            prediction::workload(&estimates, &jobs.trace, &args.output)?
        }
    };
    remark(&[format!(
        "{}: {}",
        args.output.display(),
        counted(rows, "prediction")
    )]);
    Ok(())
}

/// Checks that an estimator is chosen only for a workload model.
///
/// # Errors
/// An estimator is chosen for a model of another kind.
pub(super) fn check_estimator(choice: Option<EstimatorChoice>, model: &Model) -> Result<()> {
    match (choice, model) {
        (None, _) | (_, Model::Workload(_)) => Ok(()),
        (Some(_), model) => Err(Error::Usage(format!(
            "--estimator is for workload models; this is a {} model",
            model.kind()
        ))),
    }
}
