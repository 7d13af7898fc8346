//! `gleaner driple profiles`: predicts the GPU usage of workloads, for `gleaner simulate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use gleaner_driple::dataset::job::JobName;
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::group::Settings;
use gleaner_driple::inspector::{Card, Inspector};
use rayon::prelude::*;

use super::{grouping, number};
use crate::cli::terminal::Terminal;
use crate::cli::{print, remark};
use gleaner_domain::Observer;
use gleaner_domain::Workload;
use gleaner_domain::cluster::GPU_MEMORY;
use gleaner_domain::error::{Error, Fault, Faults, Result, check_stop};
use gleaner_domain::inputs::{Profile, ProfileSource};
use gleaner_inputs::driple::{graph, model};
use gleaner_inputs::jobs::graphs;
use gleaner_inputs::jobs::graphs::Graphs;
use gleaner_io::table::Form;
use gleaner_io::{Gatherer, Loaded};
use gleaner_predict::expected::{self, Expected, Held};
use gleaner_runs::prediction;

/// Predict the profiles of workloads, for `gleaner simulate`, from their computational graphs.
///
/// No job needs to be profiled: the model's predictions for the graph of a workload replace measured utilisations. A
/// utilisation is an average: the peak times the share of time during which the resource is active. The table has no
/// sharing scores. `gleaner predict packing.json --profiles` adds them, and `gleaner simulate --models` computes them
/// itself.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner driple profiles --model v100.safetensors --jobs workloads.csv -o predicted.csv\n  \
    gleaner driple profiles --model v100.safetensors --graphs graphs -o predicted.csv\n  \
    gleaner train packing --data trace --out models\n  \
    gleaner predict models/packing.json --profiles predicted.csv -o scored.csv\n  \
    gleaner simulate --data trace --policy lucid --profiles scored.csv")]
pub struct Args {
    /// The model, a file written by `gleaner driple train`, trained for the GPUs on which the jobs will run.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Workloads and their graph files: a CSV file with the columns graph, model, dataset,
    /// batchsize and amp.
    #[arg(long, value_name = "FILE", required_unless_present = "graphs")]
    jobs: Option<PathBuf>,
    /// Graphs that are named after their workloads: GPU_DataSet_Model_Sync_HyperParameter_Job. Hyphens divide the
    /// hyperparameter into parts. One part is the batch size, such as 64 or b64. A part named amp marks training with
    /// automatic mixed precision.
    #[arg(
        long,
        value_name = "FILE|DIR",
        num_args = 1..,
        conflicts_with = "jobs"
    )]
    graphs: Vec<PathBuf>,
    /// Memory of a GPU in MB, which limits the memory that a job can hold.
    #[arg(long, value_name = "MB", default_value_t = GPU_MEMORY, value_parser = megabytes)]
    gpu_memory: f64,
    /// Method of computing the memory that a job holds.
    #[arg(long, value_enum, value_name = "WAY", default_value_t = Memory::Tensors)]
    memory: Memory,
    /// Table to write: .csv or .parquet.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Method of computing the memory that a job holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Memory {
    /// From the tensors of the job's graph.
    Tensors,
    /// From the predicted peak of GPU memory utilisation. Use this for models that were trained on the share of memory
    /// held, not on the share of time during which memory is read or written.
    Peak,
}

fn megabytes(text: &str) -> Result<f64, String> {
    number(text, |number| number > 0.0, "a number of MB above 0")
}

/// Runs the subcommand.
///
/// # Errors
/// The model, the table or graphs are faulty (all faults are reported together), or the output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    Form::of(&args.output)?;
    let inspector = take(model::read(&args.model)?);
    let reading = Reading::of(args, &inspector.card)?;
    let graphs = match &args.jobs {
        Some(table) => take(graphs::read(table)?),
        None => named(&graph::find(&args.graphs)?)?,
    };
    let terminal = Terminal::default();
    let read = reading.all(&graphs, &terminal)?;
    let expected = expect(&inspector, &read, args, &terminal)?;
    tell(&graphs, &read, &expected);
    let profiles = profiles(&graphs, &expected);
    let rows = prediction::profiles(&profiles, &args.output)?;
    print(&format!(
        "{}: the profiles of {rows} workloads, predicted from {} graphs\n",
        args.output.display(),
        read.len()
    ))
}

fn take<T>(loaded: Loaded<T>) -> T {
    remark(&loaded.notes);
    loaded.value
}

/// Derives the workloads from the names of the graph files.
fn named(files: &[PathBuf]) -> Result<Graphs> {
    let mut graphs = Graphs::new();
    let mut faults = Gatherer::default();
    for file in files {
        match workload(&graph::job(file)) {
            Err(fault) => {
                faults.add(Fault::of(file, fault, "the name of a workload").remedy(NAMES))?
            }
            Ok(workload) => {
                if let Some(other) = graphs.insert(workload.clone(), file.clone()) {
                    let found = format!(
                        "{workload}, which is also the workload of {}",
                        other.display()
                    );
                    faults.add(Fault::of(file, found, "every workload once").remedy(NAMES))?;
                }
            }
        }
    }
    faults.finish(graphs)
}

const NAMES: &str = "assign workloads to graphs in a table, with --jobs";

/// Derives a workload from a job's name.
fn workload(name: &str) -> Result<Workload, String> {
    let name = JobName::parse(name).map_err(|error| error.to_string())?;
    let [_, dataset, model, _, hyper, _] = name.fields();
    let batch_size = hyper.split('-').find_map(samples).ok_or_else(|| {
        format!("the hyperparameter {hyper:?}, which has no batch size, such as 64 or b64")
    })?;
    Ok(Workload {
        model: model.clone(),
        dataset: dataset.clone(),
        batch_size,
        amp: hyper
            .split('-')
            .any(|part| part.eq_ignore_ascii_case("amp")),
    })
}

/// Parses the batch size encoded in one part of a hyperparameter.
fn samples(part: &str) -> Option<u32> {
    let digits = part.trim_start_matches("bs").trim_start_matches("batch");
    let digits = digits.strip_prefix(['b', 'B']).unwrap_or(digits);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    number.filter(|&samples: &u32| samples > 0)
}

/// The settings with which graphs are converted to the form that the model requires.
struct Reading<'a> {
    settings: &'a Settings,
    frequencies: &'a Frequencies,
}

/// A graph in the form that the model requires.
struct ReadGraph {
    graph: GroupedGraph,
    /// Size of the graph's tensors in MB.
    tensors: f64,
    /// Number of operations whose sizes are not all known.
    unknown: usize,
}

impl<'a> Reading<'a> {
    fn of(args: &Args, card: &'a Card) -> Result<Self> {
        let lacks = |what: &str| {
            let found = format!("a model that does not contain {what}");
            let fault = Fault::of(&args.model, found, "a model from gleaner driple train");
            Error::from(fault.remedy("add it with gleaner driple convert --scale-of DATA"))
        };
        if card.scale.is_none() {
            return Err(lacks("the units of its predictions"));
        }
        Ok(Reading {
            settings: card
                .grouping
                .as_ref()
                .ok_or_else(|| lacks("the settings for grouping operations"))?,
            frequencies: card
                .frequencies
                .as_ref()
                .ok_or_else(|| lacks("the frequencies of operation types"))?,
        })
    }

    /// Reads every graph once, even if several workloads share it.
    fn all<'g>(
        &self,
        graphs: &'g Graphs,
        observer: &dyn Observer,
    ) -> Result<BTreeMap<&'g PathBuf, ReadGraph>> {
        let files: BTreeMap<&PathBuf, ()> = graphs.values().map(|file| (file, ())).collect();
        let files: Vec<&PathBuf> = files.into_keys().collect();
        let one = |file: &&PathBuf| {
            check_stop(observer)?;
            self.one(file)
        };
        let read: Vec<Result<ReadGraph>> = files.par_iter().map(one).collect();
        check_stop(observer)?;
        let read = Faults::gather(read)?;
        Ok(files.into_iter().zip(read).collect())
    }

    fn one(&self, file: &Path) -> Result<ReadGraph> {
        let (graph, grouped) = grouping::read(file, self.settings, self.frequencies)?;
        let report = &grouped.report;
        Ok(ReadGraph {
            tensors: expected::tensors(&graph, &grouped.graph),
            unknown: report.unknown_shapes + report.unknown_dimensions,
            graph: grouped.graph,
        })
    }
}

/// The expected usage of each graph.
fn expect<'g>(
    inspector: &Inspector,
    read: &BTreeMap<&'g PathBuf, ReadGraph>,
    args: &Args,
    observer: &dyn Observer,
) -> Result<BTreeMap<&'g PathBuf, Expected>> {
    let graphs: Vec<&GroupedGraph> = read.values().map(|read| &read.graph).collect();
    let held = match args.memory {
        Memory::Tensors => Held::Tensors,
        Memory::Peak => Held::Peak,
    };
    // `expected::usage` clips values that are out of range, and records this in its result.
    let predicted = inspector.outputs(&graphs, observer);
    let predicted = predicted.map_err(|_| Error::Stopped)?;
    let mut faults = Gatherer::default();
    let mut all = BTreeMap::new();
    for ((file, read), metrics) in read.iter().zip(predicted) {
        let usage = |metrics| expected::usage(&metrics, (held, read.tensors), args.gpu_memory);
        match metrics.and_then(usage) {
            Some(usage) => drop(all.insert(*file, usage)),
            None => {
                let found = "a graph for which the model predicts values that are not finite";
                faults.add(Fault::of(
                    file,
                    found,
                    "a graph similar to those in the training data",
                ))?;
            }
        }
    }
    faults.finish(all)
}

/// Warns on stderr about predictions that are not reliable.
fn tell(
    graphs: &Graphs,
    read: &BTreeMap<&PathBuf, ReadGraph>,
    expected: &BTreeMap<&PathBuf, Expected>,
) {
    let is_clipped = |file: &PathBuf| expected.get(file).is_some_and(|expected| expected.clipped);
    let clipped: Vec<_> = graphs.iter().filter(|(_, file)| is_clipped(file)).collect();
    if let Some((first, _)) = clipped.first() {
        remark(&[format!(
            "predictions for {} of {} workloads, such as {first}, were clipped to the possible range; \
             there may be no similar graphs in the training data of the model",
            clipped.len(),
            graphs.len()
        )]);
    }
    let vague = read.iter().filter(|(_, read)| read.unknown > 0);
    let vague: Vec<_> = vague.collect();
    if let Some((file, read)) = vague.first() {
        remark(&[format!(
            "{} of {} graphs contain operations of unknown size, such as {} in {}: predictions are \
             too low",
            vague.len(),
            expected.len(),
            read.unknown,
            file.display()
        )]);
    }
}

fn profiles(
    graphs: &Graphs,
    expected: &BTreeMap<&PathBuf, Expected>,
) -> BTreeMap<Workload, Profile> {
    let profile = |(workload, file): (&Workload, &PathBuf)| {
        let profile = Profile {
            usage: expected.get(file)?.usage,
            score: None,
            source: ProfileSource::Predicted,
        };
        Some((workload.clone(), profile))
    };
    graphs.iter().filter_map(profile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples: the batch size and mixed precision are parsed from the hyperparameter.
    #[test]
    fn workloads_are_parsed_from_names() {
        let told = |name: &str| workload(name).map(|w| (w.model, w.dataset, w.batch_size, w.amp));
        let expected = |batch, amp| Ok(("VGG-16".to_owned(), "c10".to_owned(), batch, amp));
        assert_eq!(told("V100_c10_VGG-16_Sync_64_w0"), expected(64, false));
        assert_eq!(
            told("V100_c10_VGG-16_Sync_b32-adam_w0"),
            expected(32, false)
        );
        assert_eq!(
            told("V100_c10_VGG-16_Sync_sgd-bs8-AMP_w0"),
            expected(8, true)
        );
        assert_eq!(told("V100_c10_VGG-16_Sync_batch7_w0"), expected(7, false));
        for hyper in ["sgd", "b0", "b", "b-1x", "beta1", "99999999999"] {
            let fault = told(&format!("V100_c10_VGG-16_Sync_{hyper}_w0")).unwrap_err();
            assert!(fault.contains("has no batch size"), "{fault}");
        }
        assert!(told("V100_VGG").unwrap_err().contains("expected 6"));
    }
}
