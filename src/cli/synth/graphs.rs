//! `gleaner synth graphs`: computational graphs for `gleaner driple`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gleaner_driple::synth::{MEASUREMENTS, Sample, Setup, samples};

use crate::cli::remark;
use crate::error::{Error, Result};
use crate::output::whole;

/// Computational graphs of training jobs, and what the jobs consume on a set-up.
///
/// Writes graphs/*.pbtxt (the graph of a training step, as TensorFlow writes it), onnx/*.onnx
/// (the model alone), and measured.csv. Networks are drawn at random from families of
/// convolutional networks and transformers. The figures are computed by a simple model of
/// the set-up, not measured.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    gleaner synth graphs -o jobs\n  \
    gleaner driple build --graphs jobs/graphs --measured jobs/measured.csv -o d.safetensors\n\n  \
    gleaner synth graphs --setup 2080Ti --count 20 -o slower")]
pub struct Args {
    /// Number of jobs.
    #[arg(long, default_value_t = 60)]
    count: usize,
    /// What they are trained on: two V100 at 10 Gbit/s, two 2080Ti at 1 Gbit/s, or four
    /// TitanRTX at 40 Gbit/s.
    #[arg(long, value_name = "GPU", default_value = Setup::V100.gpu, value_parser = setups())]
    setup: Setup,
    /// Seed; the same seed gives the same jobs.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Directory to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Set-ups by the names of their GPUs, listed in the help.
fn setups() -> impl TypedValueParser<Value = Setup> {
    let names = Setup::ALL.map(|setup| setup.gpu);
    let unknown = "a set-up of another GPU";
    PossibleValuesParser::new(names).try_map(move |name| Setup::of_gpu(&name).ok_or(unknown))
}

/// Runs the subcommand.
///
/// # Errors
/// A directory that holds other jobs' graphs, or a file that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let (graphs, onnx) = (args.output.join("graphs"), args.output.join("onnx"));
    for folder in [&graphs, &onnx] {
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        let some = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
        if some {
            return Err(Error::Usage(format!(
                "-o {}: the directory holds graphs already, which would mix; name a new one",
                args.output.display()
            )));
        }
    }
    let mut measured = MEASUREMENTS.to_owned();
    for sample in samples(args.setup, args.seed, args.count) {
        write(&sample, &graphs, &onnx)?;
        measured += &sample.measurements();
    }
    whole::write(&args.output.join("measured.csv"), measured.as_bytes())?;
    let (folder, gpu) = (args.output.display(), args.setup.gpu);
    remark(&[format!("{folder}: {} jobs on {gpu}", args.count)]);
    Ok(())
}

fn write(sample: &Sample, graphs: &Path, onnx: &Path) -> Result<()> {
    let file = |ending: &str| format!("{}.{ending}", sample.name);
    whole::write(&graphs.join(file("pbtxt")), sample.graph_def.as_bytes())?;
    whole::write(&onnx.join(file("onnx")), &sample.onnx)
}
