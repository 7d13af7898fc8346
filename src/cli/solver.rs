//! Arguments that choose a solver.

use std::time::Duration;

use clap::{Args, ValueEnum};
use gleaner_solvers as solvers;
use serde::Serialize;

use gleaner_core::error::{Error, Result};

/// Which solver decides, and when it must stop.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// Solver that decides.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Kind::Auto)]
    pub solver: Kind,
    /// How highs and cbc formulate the problem [default: counts].
    #[arg(long, value_enum, value_name = "NAME")]
    pub formulation: Option<Formulation>,
    /// Big-M of the bounds on how far a task may grow or shrink; exact obeys it too.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BigM::Corrected)]
    pub big_m: BigM,
    /// Seconds that highs and cbc may take for one decision (-optTL).
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub time_limit: f64,
    /// Relative gap at which highs and cbc call a plan optimal.
    #[arg(long, value_name = "GAP", default_value = "1e-9")]
    pub gap: f64,
}

/// A backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// exact, or highs if the problem has side constraints.
    Auto,
    /// Relaxation and dynamic programming. Every plan is proven optimal.
    Exact,
    /// The MILP solver HiGHS.
    Highs,
    /// The MILP solver CBC.
    Cbc,
    /// The heuristic of the original (-mip 0): equal shares.
    EqualShare,
}

/// A way of writing the problem down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formulation {
    /// A binary variable for each task and number of nodes: a multiple-choice knapsack.
    Counts,
    /// The model of the BFTrainer paper, over pairs of tasks and nodes.
    Paper,
}

/// A big-M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BigM {
    /// Large enough for every change.
    Corrected,
    /// N + 1, as in the paper, with N idle nodes: it forbids large changes.
    Paper,
}

impl From<Kind> for solvers::SolverKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Auto => solvers::SolverKind::Auto,
            Kind::Exact => solvers::SolverKind::Exact,
            Kind::Highs => solvers::SolverKind::Highs,
            Kind::Cbc => solvers::SolverKind::Cbc,
            Kind::EqualShare => solvers::SolverKind::EqualShare,
        }
    }
}

impl From<Formulation> for solvers::Formulation {
    fn from(formulation: Formulation) -> Self {
        match formulation {
            Formulation::Counts => solvers::Formulation::Counts,
            Formulation::Paper => solvers::Formulation::Paper,
        }
    }
}

impl From<BigM> for solvers::BigM {
    fn from(big_m: BigM) -> Self {
        match big_m {
            BigM::Corrected => solvers::BigM::Corrected,
            BigM::Paper => solvers::BigM::Paper,
        }
    }
}

impl SolverArgs {
    /// The solver the arguments name.
    ///
    /// # Errors
    /// A formulation for a solver that has none.
    pub fn spec(&self) -> Result<solvers::SolverSpec> {
        let kind = solvers::SolverKind::from(self.solver);
        if self.formulation.is_some() && !kind.is_milp() {
            return Err(Error::Usage(
                "--formulation is for --solver highs or cbc".into(),
            ));
        }
        Ok(solvers::SolverSpec {
            kind,
            formulation: self.formulation.map(Into::into).unwrap_or_default(),
            big_m: self.big_m.into(),
        })
    }

    /// The limits the arguments set.
    ///
    /// # Errors
    /// A negative limit, or one that is no number.
    pub fn limits(&self) -> Result<solvers::Limits> {
        limits(self.time_limit, self.gap)
    }
}

/// Limits from seconds and a relative gap.
///
/// # Errors
/// A negative limit, or one that is no number.
pub fn limits(time_limit: f64, gap: f64) -> Result<solvers::Limits> {
    let time = Duration::try_from_secs_f64(time_limit)
        .map_err(|_| Error::Usage(format!("--time-limit is {time_limit}, expected seconds")))?;
    if !(0.0..1.0).contains(&gap) {
        return Err(Error::Usage(format!(
            "--gap is {gap}, expected at least 0 and below 1"
        )));
    }
    Ok(solvers::Limits { time, gap })
}
