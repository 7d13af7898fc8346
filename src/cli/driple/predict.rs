//! `gleaner driple predict`: what jobs will consume.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::group::{self, Report};
use gleaner_driple::inspector::{Card, Inspector};
use rayon::prelude::*;

use super::grouping::{self, GroupingArgs};
use crate::cli::{print, remark};
use crate::driple::Part;
use crate::error::{Error, Fault, Faults, Result};
use crate::ingest::driple::{data, graph, model, table};
use crate::output::driple::predictions::{self, Row};
use crate::output::table::Form;

/// Predict what jobs will consume, from their computational graphs.
///
/// Times are in the units that the model's measurements had, seconds for the samples; peaks of
/// utilisation in percent.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner driple predict --model model.safetensors resnet50.pbtxt\n  \
    gleaner driple predict --model model.safetensors jobs/graphs -o predicted.csv\n  \
    gleaner driple predict --model model.safetensors --data data.safetensors --part test --json")]
pub struct Args {
    /// The model, from gleaner driple train or convert.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Graphs, or directories of them: .pbtxt, .pb, .onnx, also .gz and .zst.
    #[arg(value_name = "GRAPH", required_unless_present = "data")]
    graphs: Vec<PathBuf>,
    /// A data set instead, whose graphs are grouped already.
    #[arg(long, value_name = "FILE", conflicts_with = "graphs")]
    data: Option<PathBuf>,
    /// Which part of it.
    #[arg(long, value_enum, default_value_t = Part::Test, requires = "data")]
    part: Part,
    /// Frequencies of types of operations, for a model that does not know them: rows
    /// type,share.
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// The table to write: .csv or .parquet [default: print it].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    grouping: GroupingArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Missing or faulty files, all of which are told, a model that lacks what graphs are grouped by,
/// or a table that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    args.output.as_deref().map(Form::of).transpose()?;
    let inspector = model::read(&args.model)?.value;
    if inspector.card.scale.is_none() {
        remark(&[UNSCALED.to_owned()]);
    }
    let graphs = match &args.data {
        Some(path) => of_data(path, args.part)?,
        None => args.grouped(&inspector.card)?,
    };
    let rows = rows(&inspector, &graphs);
    if let Some(path) = &args.output {
        predictions::write(&rows, path)?;
        remark(&[format!("{}: {} jobs", path.display(), rows.len())]);
    }
    if args.json {
        return print(&predictions::json(&rows)?);
    }
    match args.output {
        Some(_) => Ok(()),
        None => print(&predictions::text(&rows)),
    }
}

/// What is said of a model without units.
pub(super) const UNSCALED: &str = "the model does not know the units of its predictions: values \
    are shares of each metric's highest value in the data it was trained on; gleaner driple \
    convert --scale-of DATA sets them";

/// A job and its grouped graph.
type Named = (String, GroupedGraph);

fn rows(inspector: &Inspector, graphs: &[Named]) -> Vec<Row> {
    let grouped: Vec<&GroupedGraph> = graphs.iter().map(|(_, graph)| graph).collect();
    let predicted = inspector.predict(&grouped).into_iter();
    let rows = graphs.iter().zip(predicted);
    rows.filter_map(|((job, _), metrics)| Some((job.clone(), metrics?)))
        .collect()
}

fn of_data(path: &Path, part: Part) -> Result<Vec<Named>> {
    let (data, _) = data::read(path)?.value;
    let examples = part.of(&data);
    if examples.is_empty() {
        return Err(Fault::of(path, "no jobs in this part", "some; name another --part").into());
    }
    let named = examples
        .iter()
        .map(|example| (example.name.clone(), example.graph.clone()));
    Ok(named.collect())
}

impl Args {
    /// The graphs, grouped as the model knows them.
    fn grouped(&self, card: &Card) -> Result<Vec<Named>> {
        let settings = self.settings(card)?;
        let frequencies = self.frequencies(card)?;
        let files = graph::find(&self.graphs)?;
        let one = |path: &PathBuf| {
            let (_, grouping) = grouping::read(path, &settings, &frequencies)?;
            Ok(((graph::job(path), grouping.graph), grouping.report))
        };
        let read: Vec<Result<(Named, Report)>> = files.par_iter().map(one).collect();
        let told = read.into_iter().map(|result| {
            let (named, report) = result?;
            remark(&unknown(&named.0, &report));
            Ok(named)
        });
        Faults::gather(told)
    }

    fn settings(&self, card: &Card) -> Result<group::Settings> {
        let asked = self.grouping.groups();
        match (&card.grouping, asked) {
            (Some(known), Some(groups)) if known.groups != groups => Err(Error::Usage(format!(
                "--groups {groups}: the model was trained on graphs of {} groups; leave it out",
                known.groups
            ))),
            (Some(known), _) => Ok(self.grouping.over(known.clone())),
            (None, None) => {
                let defaults = self.grouping.over(group::Settings::default());
                remark(&[format!(
                    "the model does not know how graphs were grouped for it: {} groups are made, \
                     name another number with --groups",
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
                "--frequencies {}: the model has those it was trained with; leave the option out",
                path.display()
            ))),
            (Some(known), None) => Ok(known.clone()),
            (None, Some(path)) => Ok(table::frequencies(path)?.value),
            (None, None) => Err(Error::Usage(
                "the model does not know the frequencies of operations that it was trained with: \
                 name them with --frequencies FILE, rows type,share, or put them into the model \
                 with gleaner driple convert --scale-of DATA"
                    .to_owned(),
            )),
        }
    }
}

/// What the model cannot know of a graph.
fn unknown(job: &str, report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let types: Vec<&str> = report
        .without_frequency
        .keys()
        .map(String::as_str)
        .collect();
    if !types.is_empty() {
        notes.push(format!(
            "{job}: {} of {} operations are of types that the model has not seen: {}",
            report.without_frequency.values().sum::<usize>(),
            report.grouped,
            types.join(", ")
        ));
    }
    if report.unknown_shapes > 0 {
        notes.push(format!(
            "{job}: {} of {} operations have no known shape and count as empty",
            report.unknown_shapes, report.grouped
        ));
    }
    notes
}
