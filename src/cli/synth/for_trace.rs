//! Graphs for the workloads of a trace.

use std::fs;
use std::path::Path;

use gleaner_driple::synth::{MEASUREMENTS, Setup, Workload as Wanted, workload};
use rayon::prelude::*;

use crate::domain::cluster::MAX_GPUS_PER_NODE;
use crate::domain::{Trace, Workload};
use crate::error::{Error, Result};
use crate::ingest::jobs::{cluster, profiles, trace};
use crate::output::graphs;

/// Writes a graph for each workload of the trace in a directory, as `gleaner synth jobs` makes it,
/// with what was measured of its training, and a table of them, `workloads.csv`. A graph is of its
/// model's family, and its training keeps a GPU of the set-up about as busy as the trace says.
/// Returns how many graphs there are.
///
/// # Errors
/// Faults of the trace, one that names no workload, a file that cannot be written.
pub fn write(data: &Path, setup: &Setup, seed: u64, output: &Path) -> Result<usize> {
    let trace = read(data)?;
    if trace.workloads.is_empty() {
        return Err(Error::Usage(format!(
            "--for {}: no job says what it trains; jobs.csv needs model, dataset, batchsize and amp",
            data.display()
        )));
    }
    fs::create_dir_all(output).map_err(|error| Error::io("create", output, error))?;
    let utilisations = utilisations(&trace);
    let places = trace.workloads.par_iter().zip(utilisations).enumerate();
    let names = places.map(|(index, (of, utilisation))| {
        let wanted = Wanted {
            model: &of.model,
            data: &of.dataset,
            batch: of.batch_size,
            utilisation,
        };
        let sample = workload(setup, seed, index, &wanted);
        let name = format!("{}.pbtxt", sample.name);
        let path = output.join(&name);
        fs::write(&path, &sample.graph_def).map_err(|error| Error::io("write", &path, error))?;
        Ok((name, sample.measurements()))
    });
    let made: Result<Vec<(String, String)>> = names.collect();
    let (names, measured): (Vec<String>, Vec<String>) = made?.into_iter().unzip();
    let path = output.join("measurements.csv");
    let text = MEASUREMENTS.to_owned() + &measured.concat();
    fs::write(&path, text).map_err(|error| Error::io("write", &path, error))?;
    let rows: Vec<(&Workload, &str)> = trace
        .workloads
        .iter()
        .zip(names.iter().map(String::as_str))
        .collect();
    graphs::write(&rows, &output.join("workloads.csv"))?;
    Ok(names.len())
}

fn read(data: &Path) -> Result<Trace> {
    let cluster = cluster::read(&data.join("vc_config.csv"), MAX_GPUS_PER_NODE)?.value;
    let measured = data.join("single_data.csv");
    let measured = match measured.is_file() {
        true => profiles::read(&measured)?.value,
        false => Default::default(),
    };
    let options = trace::Options {
        profiles: Some(&measured),
        unprofiled: true,
        ..trace::Options::default()
    };
    Ok(trace::read(&data.join("jobs.csv"), &cluster, options)?
        .value
        .trace)
}

/// By workload, the GPU utilisation of its first job in percent; `None` where the trace has none.
fn utilisations(trace: &Trace) -> Vec<Option<f64>> {
    let mut utilisations = vec![None; trace.workloads.len()];
    for job in &trace.jobs {
        if let Some(workload) = job.workload {
            let utilisation = job.usage.gpu_util;
            utilisations[workload] =
                utilisations[workload].or((utilisation > 0.0).then_some(utilisation));
        }
    }
    utilisations
}
