//! `gleaner driple evaluate`: measures the accuracy of models.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use gleaner_driple::train::Scale;

use super::predict::UNSCALED;
use crate::cli::terminal::Terminal;
use crate::cli::{print, print_json, remark};
use gleaner_document::text;
use gleaner_domain::error::{Fault, Result, check_stop};
use gleaner_inputs::driple::{data, model};
use gleaner_io::table::{Form, WriteTable};
use gleaner_predict::driple::Part;
use gleaner_predict::driple::scores::{baselines, predicted, scores};
use gleaner_runs::driple::scores::Evaluation;

/// Measure the accuracy of models on a data set, and compare them with the training mean and with ridge regression.
///
/// The measures for each metric are squared error, absolute error (in the unit of the metric and as a share of the
/// mean), R² and rank correlation. Negative predictions are set to zero, except the predictions of models trained with
/// --compat.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner driple evaluate --model model.safetensors --data data.safetensors\n  \
    gleaner driple evaluate --data d.safetensors --model a.safetensors --against b.safetensors")]
pub struct Args {
    /// The model to measure.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// The data set. Its training part determines the baselines and the scale of squared errors.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Part of the data set on which the models are measured.
    #[arg(long, value_enum, value_name = "PART", default_value_t = Part::Test)]
    part: Part,
    /// More models to measure.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    against: Vec<PathBuf>,
    /// File to write all scores to, as a table (.csv or .parquet).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// A file is missing or faulty, the part contains no jobs, the table cannot be written, or the command is interrupted.
pub fn run(args: &Args) -> Result<()> {
    args.output.as_deref().map(Form::of).transpose()?;
    let (data, _) = data::read(&args.data)?.value;
    let examples = args.part.of(&data);
    if examples.is_empty() {
        let fault = Fault::of(
            &args.data,
            "no jobs in this part",
            "at least one job; name another --part",
        );
        return Err(fault.into());
    }
    let scale = Scale::of(if data.train.is_empty() {
        examples.clone()
    } else {
        Part::Train.of(&data)
    });
    let mut all = Vec::new();
    let terminal = Terminal::default();
    for path in std::iter::once(&args.model).chain(&args.against) {
        check_stop(&terminal)?;
        let inspector = model::read(path)?.value;
        if inspector.card.scale.is_none() {
            remark(&[format!(
                "{}: {UNSCALED}; the units of {} are used",
                path.display(),
                args.data.display()
            )]);
        }
        let told = predicted(&inspector, &examples, &scale, &terminal)?;
        all.push(scores(&name(path), &examples, &told, &scale));
    }
    let models = all.len();
    all.extend(baselines(&data, &examples, &scale));
    check_stop(&terminal)?;
    let evaluation = Evaluation::new(args.part, examples.len(), models, all);
    if let Some(path) = &args.output {
        evaluation.table().write_file(path)?;
        remark(&[format!("{}: the table", path.display())]);
    }
    if args.json {
        print_json(&evaluation.json()?)
    } else {
        print(&text(&evaluation.printed()))
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
