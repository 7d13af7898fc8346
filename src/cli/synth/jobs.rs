//! `gleaner synth jobs`: generates experiments for `gleaner simulate`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::generated;
use crate::cli::remark;
use gleaner_domain::error::{Error, Faults, Result};
use gleaner_domain::words::counted;
use gleaner_io::files::AtomicFile;
use gleaner_runs::experiment;
use gleaner_synth::copies::{self, CopyError};
use gleaner_synth::jobs::{Amount, JobOptions, generate};

/// Generate jobs of a GPU cluster, and all other inputs of `gleaner simulate`.
///
/// Writes jobs.csv, vc_config.csv, single_data.csv (profiles), colocate_info.csv (pairs),
/// throughput_pred.csv (forecast) and duration_estimate.csv. Most jobs run for minutes on one
/// GPU, a few for days. More jobs are submitted by day than by night, and fewer at weekends.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth jobs -o trace\n  \
    gleaner simulate --data trace --policy fifo,sjf,srtf,qssf,tiresias --out run\n  \
    gleaner simulate --data trace --policy lucid --profiler 200,2,4 --out run\n\n  \
    gleaner synth jobs --vcs 15 --nodes 135 --days 30 --load 0.9 -o month\n  \
    gleaner synth jobs --from trace/jobs.csv --copies 10 -o tenfold")]
pub struct Args {
    /// Number of virtual clusters.
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    vcs: u32,
    /// Total number of nodes of all virtual clusters.
    #[arg(long, value_name = "COUNT", default_value_t = 24)]
    nodes: u32,
    /// Number of GPUs per node.
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    gpus_per_node: u32,
    /// Number of days. The first day is a Monday.
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    days: u32,
    /// GPU time that the jobs request, as a share of the GPU time of the cluster.
    #[arg(long, value_name = "SHARE", default_value_t = 0.7)]
    load: f64,
    /// Number of jobs. Replaces --load.
    #[arg(long, value_name = "COUNT", conflicts_with = "load")]
    jobs: Option<u32>,
    /// Seed. The same seed gives the same files.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Copy this trace (a CSV file) and the experiment's other files in the same folder. Needs
    /// --copies.
    #[arg(long, value_name = "TRACE", requires = "copies",
        conflicts_with_all = ["vcs", "nodes", "gpus_per_node", "days", "load", "jobs", "seed"])]
    from: Option<PathBuf>,
    /// Submit every job this many times, all in the same second, to a cluster with this many times
    /// the number of nodes. Needs --from.
    #[arg(long, value_name = "COUNT", requires = "from",
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    copies: Option<u32>,
    /// Directory to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// An option is out of range, the trace cannot be copied, or a file cannot be written.
pub fn run(args: &Args) -> Result<()> {
    match (&args.from, args.copies) {
        (Some(trace), Some(copies)) => copy(trace, copies, &args.output),
        _ => synthesise(args),
    }
}

fn synthesise(args: &Args) -> Result<()> {
    let options = JobOptions {
        vcs: args.vcs,
        nodes: args.nodes,
        gpus_per_node: args.gpus_per_node,
        days: args.days,
        amount: args.jobs.map_or(Amount::Load(args.load), Amount::Jobs),
        seed: args.seed,
    };
    let made = generated(|observer| generate(&options, observer))?;
    experiment::write(&made, &args.output)?;
    remark(&[format!(
        "{}: {}, {}, {} of {}, load {:.2}",
        args.output.display(),
        counted(made.len() as u64, "job"),
        counted(args.vcs, "virtual cluster"),
        counted(args.nodes, "node"),
        counted(args.gpus_per_node, "GPU"),
        made.load
    )]);
    Ok(())
}

/// Method of copying a file.
#[derive(Clone, Copy)]
enum Copy {
    /// Every row is repeated with different ids.
    Rows,
    /// The values in these columns are multiplied by the number of copies.
    Numbers(&'static [&'static str]),
    /// The file is unchanged.
    Same,
}

/// Columns that contain the ids of jobs. The second is used if the first is missing.
const IDS: [&str; 2] = ["job_id", "jobname"];
const NODES: [&str; 2] = ["num", "nodes"];
/// Columns with numbers of submissions, measured or forecast. They are multiplied by the number of copies.
const SUBMISSIONS: [&str; 4] = [
    "pred_gpu_job",
    "pred_gpu_num",
    "submit_gpu_job",
    "submit_gpu_num",
];

/// Files in the same folder as a trace. Only the first file is required.
const BESIDE: [(&str, Copy); 7] = [
    ("vc_config.csv", Copy::Numbers(&NODES)),
    ("single_data.csv", Copy::Same),
    ("colocate_info.csv", Copy::Same),
    ("throughput_pred.csv", Copy::Numbers(&SUBMISSIONS)),
    ("duration_estimate.csv", Copy::Rows),
    ("duration_estimate_ebm.csv", Copy::Rows),
    ("duration_estimate_lgb.csv", Copy::Rows),
];

fn copy(trace: &Path, copies: u32, output: &Path) -> Result<()> {
    let directory = trace.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(output).map_err(|e| Error::io("create", output, e))?;
    // An empty path of a parent means the current directory.
    let same = |path: &Path| fs::canonicalize(Path::new(".").join(path)).ok();
    if same(directory) == same(output) {
        return Err(Error::Usage(
            "-o: the copies would overwrite the trace; name another directory".into(),
        ));
    }
    copy_file(trace, &output.join("jobs.csv"), copies, Copy::Rows)?;
    let mut names = vec!["jobs.csv"];
    for (name, what) in BESIDE {
        let from = directory.join(name);
        if name == BESIDE[0].0 || from.is_file() {
            copy_file(&from, &output.join(name), copies, what)?;
            names.push(name);
        }
    }
    let names = names.join(", ");
    remark(&[format!("{}: {copies} copies, {names}", output.display())]);
    Ok(())
}

fn copy_file(from: &Path, to: &Path, copies: u32, what: Copy) -> Result<()> {
    let table = fs::read(from).map_err(|e| Error::io("read", from, e))?;
    let mut out = AtomicFile::create(to)?;
    let copied = match what {
        Copy::Rows => copies::repeat_rows(&table, &IDS, copies, &mut out),
        Copy::Numbers(columns) => copies::multiply(&table, columns, copies, &mut out),
        Copy::Same => out.write_all(&table).map_err(CopyError::from),
    };
    match copied {
        Ok(()) => out.finish(),
        Err(CopyError::Write(error)) => Err(Error::io("write", to, error)),
        Err(CopyError::Data(faults)) => Err(named(faults, from).into()),
    }
}

/// Sets `file` as the file of all faults.
fn named(mut faults: Faults, file: &Path) -> Faults {
    for fault in &mut faults.0 {
        fault.file = file.display().to_string();
    }
    faults
}
