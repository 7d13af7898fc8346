//! What simulations of one trace share: inputs read, the profiler set.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::Args;
use super::choice::Choice;
use super::inputs::Inputs;
use super::options::without_effect;
use crate::cli::remark;
use gleaner_core::domain::Trace;
use gleaner_core::domain::inputs::{EstimateTable, Estimates, EstimatesByPolicy};
use gleaner_core::error::{Error, Result};
use gleaner_core::words::printable;
use gleaner_predict::{Simulated, Week};
use gleaner_simulate::policies::Needs;
use gleaner_simulate::profiler::Profiler;
use gleaner_simulate::{Request, Simulation};

/// Why estimates cannot be learnt: the simulation failed, or the estimator.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Inputs read once, for any number of simulations.
pub struct Prepared {
    pub inputs: Inputs,
    profiler: Option<Profiler>,
}

impl Prepared {
    /// Reads what `requests` need.
    ///
    /// # Errors
    /// Wrong usage and faults of the files.
    pub fn read(args: &Args, requests: &[Request]) -> Result<Self> {
        let mut inputs = Inputs::read(&args.files, &args.models, &args.choice, requests)?;
        let profiler = args.profiler.settings(&mut inputs, requests)?;
        remark(&without_effect(args, requests, profiler.is_some())?);
        Ok(Prepared { inputs, profiler })
    }

    /// The simulation of what `choice` says.
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

    /// Learns the estimates of each policy that goes by them, where they are learnt in the
    /// simulation.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn learn(
        &self,
        simulation: Simulation<'_>,
        requests: &[Request],
        stop: &AtomicBool,
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
                stop,
                simulate: |first: &Trace, estimates: &EstimateTable| {
                    Ok(simulation.ends(first, estimates, request, stop)?)
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

    /// The profiler's settings, `auto` resolved.
    pub fn profiler(&self) -> Option<&Profiler> {
        self.profiler.as_ref()
    }
}

/// Estimates that were learnt in simulations, where they were.
#[derive(Default)]
pub struct Learnt {
    estimates: Option<EstimatesByPolicy>,
    /// By policy, what was learnt for each week.
    pub weeks: BTreeMap<&'static str, Vec<Week>>,
}

impl Learnt {
    /// The simulation with them.
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

    /// By policy.
    pub fn by_policy(&self) -> Option<&EstimatesByPolicy> {
        self.estimates.as_ref()
    }
}
