//! The inputs that all simulations of one trace share: files, learnt models and the profiler's settings.

mod assumptions;
mod choice;
mod estimated;
mod files;
mod inputs;
mod learned;
mod options;
mod profiler;
mod profiles;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use rayon::prelude::*;
use serde::Serialize;

use gleaner_domain::Trace;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::inputs::{EstimateTable, Estimates, EstimatesByPolicy};
use gleaner_domain::words::printable;
use gleaner_predict::{Simulated, Week};
use gleaner_simulate::policies::Needs;
use gleaner_simulate::profiler::Profiler;
use gleaner_simulate::{Request, Simulation};

pub use assumptions::figures;
pub use choice::{Choice, Corrected, Part};
pub use estimated::EstimatesUsed;
pub use inputs::{FileArgs, Given, Inputs, Preset};
pub use learned::{Learned, ModelArgs};
pub use profiler::{Lend, ProfilerArgs, Setting};

use crate::settings;
use crate::settings::Spec;
use gleaner_domain::Observer;
pub use options::Use;
use options::without_effect;

/// The reason why estimates cannot be learnt: an error of the simulation or of the estimator.
type Failed = Box<dyn std::error::Error + Send + Sync>;

settings! {
    /// All settings of a simulation.
    #[derive(Debug, Clone, Serialize)]
    pub struct SimulationSettings {
        /// Policies and placer.
        #[serde(flatten)]
        pub choice: Choice;
        /// Check every schedule with a checker that shares no code with the policies.
        pub check: bool = false => Spec::flag();
        /// Number of threads [default: the number of cores]. The results do not depend on this number.
        pub jobs: Option<NonZeroUsize> = None => Spec::of("COUNT").short('j').hidden_alias("processes");
        /// The trace and the other files.
        #[serde(flatten)]
        pub files: FileArgs;
        /// Models that take the place of files.
        #[serde(flatten)]
        pub models: ModelArgs;
        /// Lucid's profiler.
        #[serde(flatten)]
        pub profiler: ProfilerArgs;
    }
}

impl SimulationSettings {
    /// The settings of the experiment. `dated` states whether the results contain dates.
    pub fn experiment(&self, dated: bool) -> ExperimentArgs<'_> {
        ExperimentArgs {
            choice: &self.choice,
            files: &self.files,
            models: &self.models,
            profiler: &self.profiler,
            dated,
        }
    }
}

/// The settings of an experiment.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentArgs<'a> {
    /// Policies and placer.
    pub choice: &'a Choice,
    /// Files.
    pub files: &'a FileArgs,
    /// Models that take the place of files.
    pub models: &'a ModelArgs,
    /// Lucid's profiler.
    pub profiler: &'a ProfilerArgs,
    /// Whether the results contain dates, as a log of idle nodes does.
    pub dated: bool,
}

/// The inputs that all simulations of one trace share.
pub struct Experiment {
    /// The inputs that were read.
    pub inputs: Inputs,
    profiler: Option<Profiler>,
}

impl Experiment {
    /// Reads the inputs that `requests` need, configures the profiler, and reports options without effect.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a required file is not named, or if settings are invalid or do not fit the cluster.
    /// Other errors: a file cannot be read or has faults, a model cannot be learnt, or the observer stops the learning.
    pub fn open(
        args: ExperimentArgs<'_>,
        requests: &[Request],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut inputs = Inputs::read(args, requests, observer)?;
        let profiler = args.profiler.settings(&mut inputs, requests, observer)?;
        observer.remark(&without_effect(args, requests, profiler.is_some()));
        Ok(Experiment { inputs, profiler })
    }

    /// The simulation that `choice` describes.
    pub fn simulation(&self, choice: &Choice, check: bool) -> Simulation<'_> {
        let inputs = &self.inputs;
        Simulation {
            trace: &inputs.trace,
            cluster: &inputs.cluster,
            start: inputs.start,
            placer: choice.placer(),
            estimates: inputs.estimates.as_deref(),
            forecast: inputs.forecast.as_deref(),
            packing: inputs.packing.as_deref(),
            profiler: self.profiler.as_ref(),
            without: choice.without(),
            check,
        }
    }

    /// Learns estimates for each policy that uses them, if the settings request estimates that are learnt during the
    /// simulation.
    ///
    /// # Errors
    /// A simulation fails.
    pub fn learn(
        &self,
        simulation: Simulation<'_>,
        requests: &[Request],
        observer: &dyn Observer,
    ) -> Result<Learnt> {
        let Some(weekly) = &self.inputs.weekly else {
            return Ok(Learnt::default());
        };
        let going_by = requests
            .par_iter()
            .filter(|r| r.policy.needs >= Needs::Estimates);
        let estimates = going_by.map(|request| {
            let estimates = weekly.estimates(&Simulated {
                trace: simulation.trace,
                cluster: simulation.cluster,
                start: simulation.start,
                observer,
                simulate: |first: &Trace, estimates: &EstimateTable| {
                    Ok(simulation.ends(first, estimates, request, observer)?)
                },
            });
            let estimates = estimates
                .map_err(|error: Failed| Error::Run(printable(&error.to_string()).into_owned()))?;
            Ok((request.name, estimates))
        });
        let estimates: Result<Vec<_>> = estimates.collect();
        let (mut tables, mut weeks) = (EstimatesByPolicy::default(), BTreeMap::new());
        for (policy, estimates) in estimates? {
            tables.0.insert(policy, estimates.table);
            weeks.insert(policy, estimates.weeks);
        }
        Ok(Learnt {
            estimates: Some(tables),
            weeks,
        })
    }

    /// The profiler's settings, with `auto` resolved; `None` if the profiler is off.
    pub fn profiler(&self) -> Option<&Profiler> {
        self.profiler.as_ref()
    }
}

/// Estimates that were learnt during simulations.
#[derive(Default)]
pub struct Learnt {
    estimates: Option<EstimatesByPolicy>,
    /// The weeks for which estimates were learnt, by policy.
    pub weeks: BTreeMap<&'static str, Vec<Week>>,
}

impl Learnt {
    /// Returns `simulation`, with the learnt estimates if there are any.
    pub fn simulation<'a>(&'a self, simulation: Simulation<'a>) -> Simulation<'a> {
        let learnt = self
            .estimates
            .as_ref()
            .map(|learnt| learnt as &dyn Estimates);
        Simulation {
            estimates: learnt.or(simulation.estimates),
            ..simulation
        }
    }

    /// The learnt estimates by policy; `None` if no estimates were learnt.
    pub fn by_policy(&self) -> Option<&EstimatesByPolicy> {
        self.estimates.as_ref()
    }
}
