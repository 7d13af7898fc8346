//! What simulations of one trace share: inputs read, the profiler set.

use super::Args;
use super::choice::Choice;
use super::inputs::Inputs;
use crate::error::Result;
use crate::lucid::profiler::Profiler;
use crate::lucid::{Request, Simulation};

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
        let mut inputs = Inputs::read(&args.files, &args.choice, requests)?;
        let profiler = args.profiler.settings(&mut inputs, requests)?;
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

    /// The profiler's settings, `auto` resolved.
    pub fn profiler(&self) -> Option<&Profiler> {
        self.profiler.as_ref()
    }
}
