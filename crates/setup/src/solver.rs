//! Which solver decides.

use std::time::Duration;

use clap::Args;
use gleaner_solvers::{BigM, Formulation, Limits, SolverKind, SolverSpec};
use serde::Serialize;

use gleaner_core::error::{Error, Result};

use crate::one_of;

/// Which solver decides, and when it must stop.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// Solver that decides.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = one_of(&SOLVERS))]
    pub solver: SolverKind,
    /// How highs and cbc formulate the problem [default: counts].
    #[arg(long, value_name = "NAME", value_parser = one_of(&FORMULATIONS))]
    pub formulation: Option<Formulation>,
    /// Big-M of the bounds on how far a task may grow or shrink; exact obeys it too.
    #[arg(long, value_name = "NAME", default_value = "corrected", value_parser = one_of(&BIG_MS))]
    pub big_m: BigM,
    /// Seconds that highs and cbc may take for one decision (-optTL).
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub time_limit: f64,
    /// Relative gap at which highs and cbc call a plan optimal.
    #[arg(long, value_name = "GAP", default_value = "1e-9")]
    pub gap: f64,
}

/// The solvers, and what the help says of each.
const SOLVERS: [(SolverKind, &str); 5] = [
    (
        SolverKind::Auto,
        "exact, or highs if the problem has side constraints",
    ),
    (
        SolverKind::Exact,
        "Relaxation and dynamic programming. Every plan is proven optimal",
    ),
    (SolverKind::Highs, "The MILP solver HiGHS"),
    (SolverKind::Cbc, "The MILP solver CBC"),
    (
        SolverKind::EqualShare,
        "The heuristic of the original (-mip 0): equal shares",
    ),
];

/// The formulations, and what the help says of each.
const FORMULATIONS: [(Formulation, &str); 2] = [
    (
        Formulation::Counts,
        "A binary variable for each task and number of nodes: a multiple-choice knapsack",
    ),
    (
        Formulation::Paper,
        "The model of the BFTrainer paper, over pairs of tasks and nodes",
    ),
];

/// The values of big-M, and what the help says of each.
const BIG_MS: [(BigM, &str); 2] = [
    (BigM::Corrected, "Large enough for every change"),
    (
        BigM::Paper,
        "N + 1, as in the paper, with N idle nodes: it forbids large changes",
    ),
];

impl SolverArgs {
    /// The solver that the arguments name.
    ///
    /// # Errors
    /// A formulation is given for a solver that has none.
    pub fn spec(&self) -> Result<SolverSpec> {
        if self.formulation.is_some() && !self.solver.is_milp() {
            return Err(Error::Usage(
                "--formulation is for --solver highs or cbc".into(),
            ));
        }
        Ok(SolverSpec {
            kind: self.solver,
            formulation: self.formulation.unwrap_or_default(),
            big_m: self.big_m,
        })
    }

    /// The limits the arguments set.
    ///
    /// # Errors
    /// A limit is negative or not a number.
    pub fn limits(&self) -> Result<Limits> {
        limits(self.time_limit, self.gap)
    }
}

/// Limits from seconds and a relative gap.
///
/// # Errors
/// A limit is negative or not a number.
pub fn limits(time_limit: f64, gap: f64) -> Result<Limits> {
    let time = Duration::try_from_secs_f64(time_limit)
        .map_err(|_| Error::Usage(format!("--time-limit is {time_limit}, expected seconds")))?;
    if !(0.0..1.0).contains(&gap) {
        return Err(Error::Usage(format!(
            "--gap is {gap}, expected at least 0 and below 1"
        )));
    }
    Ok(Limits { time, gap })
}
