//! Simulations of Venus in September 2020, which the tables of both Lucid and its reproduction need.

use std::path::PathBuf;

use rayon::prelude::*;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::simulate::{Delays, PolicyFigures};
use gleaner_io::SourceId;
use gleaner_setup::experiment::{
    Choice, Corrected, FileArgs, Given, Learned, ModelArgs, Part, Preset, ProfilerArgs,
};
use gleaner_setup::{Experiment, ExperimentArgs};
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::{Request, simulate};

use crate::failed;
use crate::files::Data;
use crate::filled::Values;

/// Directory of the experiment's files.
const FOLDER: &str = "lucid/venus_sept";

/// A planned simulation: its name in this crate, its policy, and the part of Lucid that is disabled, if any.
#[derive(Debug, Clone, Copy)]
struct Planned {
    name: &'static str,
    policy: &'static str,
    without: Option<Part>,
}

const fn plain(name: &'static str, policy: &'static str) -> Planned {
    Planned {
        name,
        policy,
        without: None,
    }
}

const fn lucid_without(name: &'static str, part: Part) -> Planned {
    Planned {
        name,
        policy: "lucid",
        without: Some(part),
    }
}

/// Name of the simulation of Lucid without its throughput model.
pub const NO_THROUGHPUT: &str = "Lucid without throughput prediction";

/// The simulations that the tables need.
const PLANNED: [Planned; 9] = [
    plain("FIFO", "fifo"),
    plain("SJF", "sjf"),
    plain("SRTF", "srtf"),
    plain("QSSF", "qssf"),
    plain("Tiresias", "tiresias"),
    plain("Lucid", "lucid"),
    lucid_without("Lucid without packing analysis", Part::Packing),
    lucid_without(NO_THROUGHPUT, Part::Throughput),
    lucid_without("Lucid without workload estimation", Part::Estimate),
];

/// A simulation's results.
pub struct Simulated {
    name: &'static str,
    /// The figures of the simulated policy.
    pub figures: PolicyFigures,
    /// Job completion times in seconds, in ascending order.
    completions: Vec<i64>,
}

/// All simulations of Venus.
pub struct Venus {
    runs: Vec<Simulated>,
    /// All files that were read.
    pub sources: Vec<SourceId>,
}

impl Venus {
    /// Reads the files and runs all simulations.
    ///
    /// # Errors
    /// A file cannot be read or has faults, or a simulation fails. Returns [`Error::Stopped`] if the observer stops the
    /// simulations.
    pub fn simulate(data: Data<'_>, observer: &dyn Observer) -> Result<Self> {
        let choice = policies(&["all"]);
        let experiment = open(&files(data), &choice, &ModelArgs::default(), observer)?;
        let runs = PLANNED.par_iter().map(|planned| {
            let choice = Choice {
                without: planned.without.into_iter().collect(),
                ..policies(&[planned.policy])
            };
            run(&experiment, &choice, planned.name, observer)
        });
        Ok(Venus {
            runs: runs.collect::<Result<_>>()?,
            sources: experiment.inputs.sources.clone(),
        })
    }

    /// The simulation with this name.
    ///
    /// # Errors
    /// There is no such simulation, which is a bug.
    pub fn run(&self, name: &str) -> Result<&Simulated> {
        let found = self.runs.iter().find(|run| run.name == name);
        found.ok_or_else(|| crate::published::faulty(&format!("there is no simulation {name}")))
    }
}

/// Runs a simulation with duration estimates other than Lucid's published estimates.
///
/// # Errors
/// Same as [`Venus::simulate`].
pub fn simulate_with(
    data: Data<'_>,
    policy: &str,
    estimates: Option<PathBuf>,
    models: Option<Learned>,
    observer: &dyn Observer,
) -> Result<(Simulated, Vec<SourceId>)> {
    let choice = policies(&[policy]);
    let files = FileArgs {
        estimates: estimates.map(Given::File),
        ..files(data)
    };
    let models = ModelArgs {
        models,
        ..ModelArgs::default()
    };
    let experiment = open(&files, &choice, &models, observer)?;
    let simulated = run(&experiment, &choice, "", observer)?;
    Ok((simulated, experiment.inputs.sources))
}

/// Selects these policies, simulated as in the original, without corrections.
fn policies(names: &[&str]) -> Choice {
    Choice {
        policy: names.iter().map(|name| (*name).to_owned()).collect(),
        corrected: Some(Corrected::No),
        ..Choice::default()
    }
}

fn files(data: Data<'_>) -> FileArgs {
    FileArgs {
        data: Some(data.file(FOLDER)),
        preset: Some(Preset::VenusSept),
        ..FileArgs::default()
    }
}

fn open(
    files: &FileArgs,
    choice: &Choice,
    models: &ModelArgs,
    observer: &dyn Observer,
) -> Result<Experiment> {
    let args = ExperimentArgs {
        choice,
        files,
        models,
        profiler: &ProfilerArgs::default(),
        dated: false,
    };
    Experiment::open(args, &choice.requests(files)?, observer.stop())
}

fn run(
    experiment: &Experiment,
    choice: &Choice,
    name: &'static str,
    observer: &dyn Observer,
) -> Result<Simulated> {
    let requests: Vec<Request> = choice.requests(&FileArgs::default())?;
    let simulation = experiment.simulation(choice, false);
    let learnt = experiment.learn(simulation, &requests, observer)?;
    let simulation = learnt.simulation(simulation);
    let runs = simulate(&simulation, &requests, observer.stop());
    let runs = runs.map_err(failed)?;
    let run: &PolicyRun = runs.first().ok_or(Error::Stopped)?;
    let jobs = &simulation.trace.jobs;
    let ends = run.finished();
    let mut completions: Vec<i64> = ends
        .iter()
        .map(|job| job.outcome.end - jobs[job.job].submit)
        .collect();
    completions.sort_unstable();
    Ok(Simulated {
        name,
        figures: summarise(simulation.trace, simulation.cluster, run),
        completions,
    })
}

/// Names of the columns of delays.
const DELAYS: [&str; 3] = ["average JCT", "average queuing time", "99.9 % queuing time"];

/// Names of the columns of delays by job size: JCT and queuing time, each for large and small jobs.
const BY_SIZE: [&str; 4] = [
    "JCT of large jobs",
    "JCT of small jobs",
    "queuing time of large jobs",
    "queuing time of small jobs",
];

impl Simulated {
    /// Sets the delays over all jobs, whatever their size.
    pub fn set_delays(&self, ours: &mut Values, row: &str) {
        let Delays {
            avg_jct_s,
            avg_queue_s,
            p999_queue_s,
            ..
        } = self.figures.all;
        let values = [avg_jct_s, avg_queue_s, p999_queue_s];
        ours.row(row, DELAYS.into_iter().zip(values));
    }

    /// Sets the delays by job size, but only in the columns that `wanted` accepts.
    pub fn set_by_size(&self, ours: &mut Values, row: &str, wanted: impl Fn(&str) -> bool) {
        let large = self.figures.large.unwrap_or_default();
        let small = self.figures.small.unwrap_or_default();
        let values = [
            large.avg_jct_s,
            small.avg_jct_s,
            large.avg_queue_s,
            small.avg_queue_s,
        ];
        let values = BY_SIZE.into_iter().zip(values);
        ours.row(row, values.filter(|(column, _)| wanted(column)));
    }

    /// Sets the percentages of jobs that ended within 1, 2, 4, … seconds of submission, up to 2²¹ seconds.
    pub fn set_completions(&self, ours: &mut Values, row: &str) {
        for power in 0..22 {
            let within = 1i64 << power;
            let done = self.completions.partition_point(|&jct| jct <= within);
            let percent = 100.0 * done as f64 / self.completions.len() as f64;
            ours.set(row, &within.to_string(), percent);
        }
    }

    /// Sets a figure for each virtual cluster, in one row per virtual cluster.
    pub fn set_by_vc(&self, ours: &mut Values, column: &str, of: fn(&Delays) -> f64) {
        for (vc, delays) in &self.figures.vcs.0 {
            if let Some(delays) = delays {
                ours.set(vc, column, of(delays));
            }
        }
    }
}
