//! Problems taken from states of replays, each with the optimum of the paper's formulation.

use gleaner_domain::error::{Fault, Result};
use gleaner_inputs::problems;
use gleaner_solvers::{BigM, Limits, Problem, SolverKind, SolverSpec};
use serde::Deserialize;

use crate::Part;
use crate::files::{Data, json_lines};
use crate::filled::Values;

/// The optima of a state.
#[derive(Debug, Deserialize)]
struct Optima {
    /// The optimum with a big-M that allows every change.
    optimum: f64,
    /// The optimum with the big-M of the original.
    paper_optimum_dp: f64,
}

impl Optima {
    fn of(&self, big_m: BigM) -> f64 {
        match big_m {
            BigM::Corrected => self.optimum,
            BigM::Paper => self.paper_optimum_dp,
        }
    }
}

/// Maximum relative difference at which an objective counts as equal to an optimum.
const ROUNDING: f64 = 1e-6;

/// Solves every state with both values of big-M.
pub fn add(part: &mut Part<'_>, data: Data<'_>) -> Result<()> {
    let path = data.file("bftrainer/problems.jsonl");
    let states = part.take(problems::read_one_class(&path)?);
    let expected = "the fields optimum and paper_optimum_dp on each line";
    let optima: Vec<Optima> = json_lines(&path, expected)?;
    if optima.len() != states.len() {
        let found = format!("optima for {} of {} states", optima.len(), states.len());
        return Err(Fault::of(&path, found, "an optimum for each state").into());
    }
    let mut ours = Values::default();
    for (row, big_m) in [
        ("any change allowed", BigM::Corrected),
        ("the paper's big-M", BigM::Paper),
    ] {
        let mut reached = 0;
        for (state, optima) in states.iter().zip(&optima) {
            let optimum = optima.of(big_m);
            let least = ROUNDING * optimum.abs().max(1.0);
            reached += usize::from((solve(state, big_m)? - optimum).abs() <= least);
        }
        ours.set(row, "states solved to the optimum", reached as f64);
    }
    part.add("bftrainer-problems", &ours)?;
    Ok(())
}

/// Solves a state with the exact solver, and returns the objective of the plan; NaN if there is no plan.
fn solve(state: &Problem, big_m: BigM) -> Result<f64> {
    let spec = SolverSpec {
        big_m,
        ..SolverSpec::new(SolverKind::Exact)
    };
    let answer = spec.build()?.solve(state, &Limits::default())?;
    Ok(answer.objective.unwrap_or(f64::NAN))
}
