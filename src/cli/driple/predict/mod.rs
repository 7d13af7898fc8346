//! `gleaner driple predict`: predicts the resource consumption of jobs.

mod graphs;

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::{GroupedGraph, METRICS};
use gleaner_driple::group;
use gleaner_driple::inspector::{Card, Inspector};

use self::graphs::Named;
use super::grouping::GroupingArgs;
use crate::cli::terminal::Terminal;
use crate::cli::{print, print_json, remark};
use gleaner_document::{Block, text};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::words::counted;
use gleaner_inputs::driple::{model, table};
use gleaner_io::table::Form;
use gleaner_predict::driple::Part;
use gleaner_runs::driple::predictions;
use gleaner_runs::driple::predictions::Row;

/// Predict the resource consumption of jobs from their computational graphs.
///
/// Times have the unit of the measurements on which the model was trained (seconds for data from
/// `gleaner synth graphs`); peaks of utilisation are in percent. Negative predictions are set to zero, except the
/// predictions of models trained with --compat.
///
/// If no predictions can be made for a graph in a directory, the graph is left out, and stderr gives the reason. If all
/// graphs are left out, the exit code is 3. If a graph that is named directly is faulty, the command ends with exit
/// code 3.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner driple predict --model model.safetensors resnet50.pbtxt\n  \
    gleaner driple predict --model model.safetensors jobs/graphs -o predicted.csv\n  \
    gleaner driple predict --model model.safetensors --data data.safetensors --part test --json")]
pub struct Args {
    /// The model, a file written by `gleaner driple train` or `gleaner driple convert`.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Graphs, or directories of graphs: .pbtxt, .pb, .onnx, also as .gz and .zst. Other files in a directory are
    /// ignored, and so are its subdirectories.
    #[arg(value_name = "GRAPH", required_unless_present = "data")]
    graphs: Vec<PathBuf>,
    /// Predict for the graphs of this data set, which are already grouped.
    #[arg(long, value_name = "FILE", conflicts_with = "graphs")]
    data: Option<PathBuf>,
    /// Part of the data set to make predictions for.
    #[arg(long, value_enum, value_name = "PART", default_value_t = Part::Test, requires = "data")]
    part: Part,
    /// Frequencies of the types of operations, for a model that does not contain them: a CSV file with the columns type
    /// and share.
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// Table to write: .csv or .parquet [default: print it].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    grouping: GroupingArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Files are missing or faulty (all of them are reported together), the frequencies of operations
/// are missing, an option contradicts the model,
/// no prediction can be made for any graph, the table cannot be written, or the command is interrupted.
pub fn run(args: &Args) -> Result<()> {
    args.output.as_deref().map(Form::of).transpose()?;
    let inspector = model::read(&args.model)?.value;
    if inspector.card.scale.is_none() {
        remark(&[UNSCALED.to_owned()]);
    }
    let terminal = Terminal::default();
    let (graphs, mut faults) = args.graphs(&inspector.card, &terminal)?;
    let rows = rows(&inspector, &graphs, &mut faults, &terminal)?;
    if rows.is_empty() {
        return Err(Error::Data(faults));
    }
    if !faults.0.is_empty() {
        let left_out = faults.0.len();
        let all = rows.len() + left_out;
        remark(&[format!("left out: {left_out} of {all} graphs: {faults}")]);
    }
    args.give(&rows)
}

/// Warning about a model without units.
pub(super) const UNSCALED: &str = "the model does not contain the units of its predictions: values \
    are shares of each metric's highest value in the training data; gleaner driple convert \
    --scale-of DATA sets the units";

/// Predicts a row for each graph. Adds graphs whose predictions are not finite to `faults`.
fn rows(
    inspector: &Inspector,
    graphs: &[Named],
    faults: &mut Faults,
    observer: &dyn Observer,
) -> Result<Vec<Row>> {
    let grouped: Vec<&GroupedGraph> = graphs.iter().map(|named| &named.graph).collect();
    let outputs = inspector.outputs(&grouped, observer);
    let outputs = outputs.map_err(|_| Error::Stopped)?;
    let mut rows = Vec::new();
    let mut cut = 0;
    for (Named { job, file, .. }, output) in graphs.iter().zip(outputs) {
        match output.filter(|metrics| metrics.iter().all(|metric| metric.is_finite())) {
            Some(output) => {
                let metrics = inspector.possible(output);
                cut += (0..METRICS).filter(|&at| output[at] < metrics[at]).count();
                rows.push((job.clone(), metrics));
            }
            None => {
                let found = "a graph for which the model predicts values that are not finite";
                let expected = "a graph similar to those in the training data";
                faults.push(Fault::of(file, found, expected).at(format!("job {job}")));
            }
        }
    }
    if cut > 0 {
        let all = rows.len() * METRICS;
        remark(&[format!(
            "{cut} of {all} predictions are negative and set to 0: there may be no similar graphs \
             in the training data of the model"
        )]);
    }
    Ok(rows)
}

impl Args {
    /// Writes and prints the predictions as requested.
    fn give(&self, rows: &[Row]) -> Result<()> {
        if let Some(path) = &self.output {
            predictions::write(rows, path)?;
            remark(&[format!(
                "{}: {}",
                path.display(),
                counted(rows.len(), "job")
            )]);
        }
        match (self.json, &self.output) {
            (true, _) => print_json(&predictions::json(rows)?),
            (false, Some(_)) => Ok(()),
            (false, None) => print(&text(&[Block::Grid(predictions::grid(rows))])),
        }
    }

    /// The graphs, grouped as the model requires, and the faults of skipped graphs.
    fn graphs(&self, card: &Card, observer: &dyn Observer) -> Result<(Vec<Named>, Faults)> {
        if let Some(path) = &self.data {
            return Ok((graphs::of_data(path, self.part)?, Faults::default()));
        }
        let (settings, frequencies) = (self.settings(card)?, self.frequencies(card)?);
        graphs::of_files(&self.graphs, &settings, &frequencies, observer)
    }

    fn settings(&self, card: &Card) -> Result<group::Settings> {
        let asked = self.grouping.groups();
        match (&card.grouping, asked) {
            (Some(known), Some(groups)) if known.groups != groups => Err(Error::Usage(format!(
                "--groups {groups}: the model was trained on graphs of {} groups; leave the option \
                 out",
                known.groups
            ))),
            (Some(known), _) => Ok(self.grouping.over(known.clone())),
            (None, None) => {
                let defaults = self.grouping.over(group::Settings::default());
                remark(&[format!(
                    "the model does not state the grouping of its graphs: {} groups are used; set \
                     another number with --groups",
                    defaults.groups
                )]);
                Ok(defaults)
            }
            (None, Some(_)) => Ok(self.grouping.over(group::Settings::default())),
        }
    }

    fn frequencies(&self, card: &Card) -> Result<Frequencies> {
        match (&card.frequencies, &self.frequencies) {
            (Some(_), Some(path)) => Err(Error::Usage(format!(
                "--frequencies {}: the model contains the frequencies from its training; leave the \
                 option out",
                path.display()
            ))),
            (Some(known), None) => Ok(known.clone()),
            (None, Some(path)) => Ok(table::frequencies(path)?.value),
            (None, None) => Err(Error::Usage(
                "the model does not contain the frequencies of operations from its training: \
                 provide them with --frequencies FILE (columns type,share), or add them to the \
                 model with gleaner driple convert --scale-of DATA"
                    .to_owned(),
            )),
        }
    }
}
