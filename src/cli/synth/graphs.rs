//! `gleaner synth graphs`: generates computational graphs for `gleaner driple`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gleaner_driple::synth::{MEASUREMENTS, Sample, Setup, samples};

use super::for_trace;
use crate::cli::remark;
use gleaner_domain::error::{Error, Result};
use gleaner_io::files;

/// Generate computational graphs of training jobs, and the resource consumption of the jobs on a set-up.
///
/// Writes graphs/*.pbtxt (the graph of a training step, as TensorFlow writes it), onnx/*.onnx (only the model), and
/// measured.csv. Networks are drawn at random from families of convolutional networks and transformers. The figures in
/// measured.csv are computed from a simple model of the set-up; nothing is measured.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth graphs -o jobs\n  \
    gleaner driple build --graphs jobs/graphs --measured jobs/measured.csv -o d.safetensors\n\n  \
    gleaner synth graphs --setup 2080Ti --count 20 -o slower\n  \
    gleaner synth graphs --for trace -o workloads")]
pub struct Args {
    /// Number of jobs. A model needs about 200 jobs to learn well.
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Generate one job for each workload of this trace, a directory written by `gleaner synth jobs`. The job's network
    /// belongs to the family of the workload's model, and the job's GPU utilisation is approximately the same as in the
    /// trace. Also writes workloads.csv, a table of these jobs.
    #[arg(long = "for", value_name = "DIR", conflicts_with = "count")]
    trace: Option<PathBuf>,
    /// Machines on which the jobs are trained: two V100 with 10 Gbit/s between them, two 2080Ti with 1 Gbit/s, or four
    /// TitanRTX with 40 Gbit/s.
    #[arg(long, value_name = "GPU", default_value = Setup::V100.gpu, value_parser = setups())]
    setup: Setup,
    /// Seed. The same seed gives the same jobs.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Directory to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// A parser for the names of the set-ups. Each set-up is named after its GPU.
fn setups() -> impl TypedValueParser<Value = Setup> {
    let names = Setup::ALL.map(|setup| setup.gpu);
    let unknown = "unknown set-up";
    PossibleValuesParser::new(names).try_map(move |name| Setup::of_gpu(&name).ok_or(unknown))
}

/// Runs the subcommand.
///
/// # Errors
/// The directory already contains graphs, or a file cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let (graphs, onnx) = (args.output.join("graphs"), args.output.join("onnx"));
    for folder in [&graphs, &onnx] {
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        let some = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
        if some {
            return Err(Error::Usage(format!(
                "-o {}: the directory already contains graphs, which would be mixed with the new \
                 ones; name another directory",
                args.output.display()
            )));
        }
    }
    let each = |sample: &Sample| write(sample, &graphs, &onnx);
    let (count, rows) = match &args.trace {
        None => (args.count as usize, args.draw(each)?),
        Some(trace) => args.draw_for(trace, each)?,
    };
    let measured = MEASUREMENTS.to_owned() + &rows;
    files::write_bytes(&args.output.join("measured.csv"), measured.as_bytes())?;
    let (folder, gpu) = (args.output.display(), args.setup.gpu);
    remark(&[format!("{folder}: {count} jobs on {gpu}")]);
    Ok(())
}

impl Args {
    /// Generates random jobs, and passes them to `write`. Returns their measurements.
    fn draw(&self, write: impl Fn(&Sample) -> Result<()>) -> Result<String> {
        let mut rows = String::new();
        for sample in samples(self.setup, self.seed, self.count as usize) {
            write(&sample)?;
            rows += &sample.measurements();
        }
        Ok(rows)
    }

    /// Generates a job for each workload of a trace, and passes it to `write`. Also writes the table of these
    /// workloads. Returns the number of jobs and their measurements.
    fn draw_for(
        &self,
        trace: &Path,
        write: impl Fn(&Sample) -> Result<()> + Sync,
    ) -> Result<(usize, String)> {
        let made = for_trace::make(trace, &self.setup, self.seed, write)?;
        made.write_table("graphs", &self.output.join("workloads.csv"))?;
        Ok((made.len(), made.measurements))
    }
}

fn write(sample: &Sample, graphs: &Path, onnx: &Path) -> Result<()> {
    let file = |ending: &str| format!("{}.{ending}", sample.name);
    files::write_bytes(&graphs.join(file("pbtxt")), sample.graph_def.as_bytes())?;
    files::write_bytes(&onnx.join(file("onnx")), &sample.onnx)
}
