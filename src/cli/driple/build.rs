//! `gleaner driple build`: builds a data set from graphs and training measurements.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use gleaner_driple::dataset::file::{self, LeftOut};
use gleaner_driple::dataset::job::JobName;
use gleaner_driple::dataset::labels::Measurements;
use gleaner_driple::dataset::split;

use super::failed;
use super::grouping::GroupingArgs;
use crate::cli::terminal::Terminal;
use crate::cli::{print, print_json, remark};
use crate::threads;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::words::counted;
use gleaner_inputs::driple::{graph, table};
use gleaner_io::files;
use gleaner_predict::driple::build::{Built, Job, Settings, build};
use gleaner_runs::driple::built::Summary;

/// Build a data set from computational graphs and training measurements.
///
/// Each graph file is named after its job: GPU_DataSet_Model_Sync_HyperParameter_Job.pbtxt. The operations that
/// run on GPUs are merged into groups. The labels of a job are its four rows in the measurements. The jobs are
/// shuffled: 60 % are used for training, 20 % to choose the best epoch, and 20 % for testing. dataset/README.md
/// describes the files.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth graphs -o jobs\n  \
    gleaner driple build --graphs jobs/graphs --measured jobs/measured.csv -o data.safetensors\n  \
    gleaner driple build --graphs a.pbtxt b.onnx.gz --measured m.csv -o d.safetensors")]
pub struct Args {
    /// Graphs, or directories of graphs: TensorFlow GraphDefs (.pbtxt, .pb) or ONNX models (.onnx), also as .gz and
    /// .zst.
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    graphs: Vec<PathBuf>,
    /// Measurements: a CSV file with four rows for each job.
    #[arg(long, value_name = "FILE")]
    measured: PathBuf,
    /// Frequencies of the types of operations: a CSV file with the columns type and share
    /// [default: the frequencies in the training set].
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// Number of jobs to use: the first jobs after shuffling [default: all].
    #[arg(long, value_name = "COUNT")]
    jobs: Option<usize>,
    /// Number of jobs in a batch. The weights are updated after each batch. The original uses 32.
    #[arg(long, value_name = "JOBS", default_value_t = 8)]
    batch: usize,
    /// Leave out the last jobs if they do not fill a batch, as the original does.
    #[arg(long)]
    drop_remainder: bool,
    /// Seed for shuffling the jobs and for grouping the operations.
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    seed: u64,
    /// Leave out jobs with faulty graphs instead of stopping.
    #[arg(long)]
    skip_faulty: bool,
    /// Number of threads [default: the number of cores].
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZeroUsize>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Data set to write, a safetensors file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    grouping: GroupingArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Files are missing or faulty (all of them are reported together), there are too few jobs, or the output cannot be
/// written.
pub fn run(args: &Args) -> Result<()> {
    threads::with(args.threads, || make(args))
}

fn make(args: &Args) -> Result<()> {
    let settings = args.settings()?;
    let measured = table::measurements(&args.measured)?.value;
    let (jobs, unmeasured) = labelled(graph::find(&args.graphs)?, &measured, &args.measured)?;
    let terminal = Terminal::default();
    let built = build(jobs, &settings, graph::read, &terminal);
    terminal.clear();
    let mut built = built?;
    built.manifest.measurements = Some(args.measured.display().to_string());
    built.manifest.left_out.extend(unmeasured);
    let Built { data, manifest, .. } = &built;
    let bytes = file::write(data, manifest).map_err(failed)?;
    files::write_bytes(&args.output, &bytes)?;
    let summary = Summary::of(data, manifest, &args.output);
    if !args.json {
        return print(&summary.text());
    }
    if !summary.left_out.is_empty() {
        remark(&[format!(
            "left out: {}",
            counted(summary.left_out.len(), "job")
        )]);
    }
    let json = serde_json::to_string_pretty(&summary).map_err(failed)?;
    print_json(&format!("{json}\n"))
}

impl Args {
    fn settings(&self) -> Result<Settings> {
        let frequencies = self.frequencies.as_deref().map(table::frequencies);
        Ok(Settings {
            grouping: self.grouping.settings(self.seed),
            split: split::Settings {
                graphs: self.jobs,
                batch: self.batch,
                drop_remainder: self.drop_remainder,
                seed: self.seed,
            },
            frequencies: frequencies.transpose()?.map(|loaded| loaded.value),
            skip_faulty: self.skip_faulty,
        })
    }
}

/// The jobs that have measurements, and the jobs that are left out, each with the reason.
fn labelled(
    files: Vec<PathBuf>,
    measured: &Measurements,
    table: &Path,
) -> Result<(Vec<Job>, Vec<LeftOut>)> {
    let mut jobs = Vec::new();
    let mut left_out = Vec::new();
    for file in files {
        let name = graph::job(&file);
        let job = JobName::parse(&name).map_err(|error| error.to_string());
        match job.and_then(|job| measured.labels(&job).map_err(|error| error.to_string())) {
            Ok(labels) => jobs.push(Job { name, file, labels }),
            Err(reason) => left_out.push(LeftOut { job: name, reason }),
        }
    }
    match left_out.first() {
        Some(LeftOut { job, reason }) if jobs.is_empty() => {
            let found = format!(
                "no measurements for the {} jobs with graphs ({job}: {reason})",
                left_out.len()
            );
            Err(Fault::of(table, found, "four rows for each job to be used").into())
        }
        _ => Ok((jobs, left_out)),
    }
}
