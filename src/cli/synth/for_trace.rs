//! Generates graphs for the workloads of a trace.

use std::path::Path;

use gleaner_driple::synth::{Sample, Setup, Workload as Wanted, workload};
use rayon::prelude::*;

use gleaner_domain::cluster::MAX_GPUS_PER_NODE;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Trace, Workload};
use gleaner_inputs::jobs::{cluster, profiles, trace};
use gleaner_runs::graphs;

/// The result of [`make`]: the workload of each graph, and the measurements of all graphs.
pub struct Made {
    /// Each workload, with the name of its graph file without the extension.
    rows: Vec<(Workload, String)>,
    /// The measurements as CSV rows, without the header.
    pub measurements: String,
}

/// Generates a graph for each workload of a trace that `gleaner synth jobs` wrote, and passes each graph to `write`.
/// Each graph belongs to the network family of its workload's model. When the graph is trained on the set-up, the GPU
/// utilisation is approximately that in the trace.
///
/// # Errors
/// The trace is faulty, no job states its workload, or `write` fails.
pub fn make(
    data: &Path,
    setup: &Setup,
    seed: u64,
    write: impl Fn(&Sample) -> Result<()> + Sync,
) -> Result<Made> {
    let trace = read(data)?;
    if trace.workloads.is_empty() {
        return Err(Error::Usage(format!(
            "--for {}: no job states its workload; jobs.csv needs model, dataset, batchsize and \
             amp",
            data.display()
        )));
    }
    let utilisations = utilisations(&trace);
    let places = trace.workloads.par_iter().zip(utilisations).enumerate();
    let made = places.map(|(index, (of, utilisation))| {
        let wanted = Wanted {
            model: &of.model,
            data: &of.dataset,
            batch: of.batch_size,
            utilisation,
        };
        let sample = workload(setup, seed, index, &wanted);
        write(&sample)?;
        let measured = sample.measurements();
        Ok(((of.clone(), sample.name), measured))
    });
    let made: Result<Vec<_>> = made.collect();
    let (rows, measured): (Vec<_>, Vec<String>) = made?.into_iter().unzip();
    Ok(Made {
        rows,
        measurements: measured.concat(),
    })
}

impl Made {
    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Writes the table of workloads to `path`. The table names the graph file of each workload; these files are in the
    /// subfolder `folder` next to the table.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_table(&self, folder: &str, path: &Path) -> Result<()> {
        let file = |name: &String| format!("{folder}/{name}.pbtxt");
        let files: Vec<String> = self.rows.iter().map(|(_, name)| file(name)).collect();
        let rows = self.rows.iter().zip(&files);
        let rows: Vec<_> = rows
            .map(|((workload, _), file)| (workload, file.as_str()))
            .collect();
        graphs::write(&rows, path)
    }
}

fn read(data: &Path) -> Result<Trace> {
    let cluster = cluster::read(&data.join("vc_config.csv"), MAX_GPUS_PER_NODE)?.value;
    let measured = data.join("single_data.csv");
    let measured = if measured.is_file() {
        profiles::read(&measured)?.value
    } else {
        Default::default()
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

/// GPU utilisation of each workload's first job, in percent; `None` if the trace does not state it.
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
