//! Which solver decides.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gleaner_external::{Counted, External, TallyHandle};
use gleaner_replay::SolverDecider;
use gleaner_solvers::{
    BigM, Formulation, Limits, Problem, SolveError, Solver, SolverKind, SolverSpec,
};
use serde::Serialize;

use gleaner_core::Observer;
use gleaner_core::error::{Error, Result};

#[cfg(feature = "cli")]
use crate::choices::{ListedOrText, one_of};
#[cfg(feature = "cli")]
use crate::solver_choice::SOLVERS;
use crate::solver_choice::SolverChoice;

/// Which solver decides, and when it must stop.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = "Solver"))]
pub struct SolverArgs {
    /// Solver that decides.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", default_value = "auto", value_parser = ListedOrText::<SolverChoice>::new(&SOLVERS)))]
    pub solver: SolverChoice,
    /// How highs and cbc formulate the problem [default: counts].
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = one_of(&FORMULATIONS)))]
    pub formulation: Option<Formulation>,
    /// Big-M of the bounds on how far a task may grow or shrink; exact obeys it too.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", default_value = "corrected", value_parser = one_of(&BIG_MS)))]
    pub big_m: BigM,
    /// Seconds that highs and cbc may take for one decision (-optTL).
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "SECONDS", default_value_t = SolverArgs::default().time_limit)
    )]
    pub time_limit: f64,
    /// Relative gap at which highs and cbc call a plan optimal.
    #[cfg_attr(feature = "cli", arg(long, value_name = "GAP", default_value = "1e-9"))]
    pub gap: f64,
    /// Exit with 1 if a solver program was wrong, late or died. Faults are always reported.
    #[cfg_attr(feature = "cli", arg(long))]
    pub strict: bool,
}

impl Default for SolverArgs {
    fn default() -> Self {
        SolverArgs {
            solver: SolverChoice::Ours(SolverKind::Auto),
            formulation: None,
            big_m: BigM::default(),
            time_limit: 10.0,
            gap: 1e-9,
            strict: false,
        }
    }
}

/// The formulations, and what the help says of each.
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
const BIG_MS: [(BigM, &str); 2] = [
    (BigM::Corrected, "Large enough for every change"),
    (
        BigM::Paper,
        "N + 1, as in the paper, with N idle nodes: it forbids large changes",
    ),
];

impl SolverArgs {
    /// The solver that the arguments name. A program is started.
    ///
    /// # Errors
    /// A formulation is given for a solver that has none; a solver that this build lacks; a program
    /// that does not start.
    pub fn build(&self) -> Result<Built> {
        if self.formulation.is_some() && !self.solver.is_milp() {
            return Err(Error::Usage(
                "--formulation is for --solver highs or cbc".into(),
            ));
        }
        Built::new(
            &self.solver,
            self.formulation.unwrap_or_default(),
            self.big_m,
        )
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

/// A solver ready for use.
pub enum Built {
    /// One of ours.
    Ours(SolverSpec, Counted),
    /// A program that runs.
    Program(Box<External>),
}

impl Built {
    /// Builds a solver; starts a program.
    ///
    /// # Errors
    /// A solver that this build lacks; a program that does not start.
    pub fn new(choice: &SolverChoice, formulation: Formulation, big_m: BigM) -> Result<Self> {
        match choice {
            SolverChoice::Ours(kind) => {
                let spec = SolverSpec {
                    kind: *kind,
                    formulation,
                    big_m,
                };
                Ok(Built::Ours(spec, Counted::new(spec.build()?, None)))
            }
            SolverChoice::Program(command) => {
                let program = External::start(command.clone(), big_m)?;
                Ok(Built::Program(Box::new(program)))
            }
        }
    }

    /// Checks that the solver takes the problem, without solving it.
    ///
    /// # Errors
    /// The error that [`Solver::solve`] would return for a wrong choice of solver.
    pub fn accepts(&self, problem: &Problem) -> Result<(), SolveError> {
        match self {
            Built::Ours(spec, _) => spec.accepts(problem),
            Built::Program(program) => program.accepts(problem),
        }
    }

    /// The counts of the solver's answers. The handle stays valid after the solver is dropped.
    pub fn tally(&self) -> TallyHandle {
        match self {
            Built::Ours(_, solver) => solver.tally(),
            Built::Program(program) => program.tally(),
        }
    }

    /// If the solver is a program, stops it as soon as `stop` is set, even while it solves a problem.
    pub fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        if let Built::Program(program) = self {
            program.stop_when(Arc::clone(stop));
        }
    }

    /// The solver as one that decides in replays on problems like this one, see
    /// [`gleaner_replay::Options::outline`].
    ///
    /// # Errors
    /// It does not take such problems.
    pub fn decider(self, outline: &Problem, limits: Limits) -> Result<SolverDecider> {
        self.accepts(outline)?;
        match self {
            Built::Ours(spec, solver) => {
                let spec = spec.for_problem(outline);
                let solver = Counted::new(spec.build()?, Some(solver.tally()));
                Ok(SolverDecider::by(spec, Box::new(solver), limits))
            }
            Built::Program(program) => Ok(SolverDecider::of(program, limits)),
        }
    }

    /// The solver itself.
    pub fn solver(&mut self) -> &mut dyn Solver {
        match self {
            Built::Ours(_, solver) => solver,
            Built::Program(program) => program.as_mut(),
        }
    }
}

/// Tells the faults of a program's answers; fails if that is wanted and there are any.
///
/// # Errors
/// [`Error::Run`], if `strict`.
pub fn report_faults(
    tally: Option<&TallyHandle>,
    strict: bool,
    observer: &dyn Observer,
) -> Result<()> {
    let Some(told) = tally.and_then(|tally| tally.get().remark()) else {
        return Ok(());
    };
    match strict {
        true => Err(Error::Run(told)),
        false => {
            observer.remark(&[told]);
            Ok(())
        }
    }
}

#[cfg(test)]
#[cfg(feature = "cli")]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        solver: SolverArgs,
    }

    #[test]
    fn defaults_are_those_of_the_command_line() {
        let line = Line::try_parse_from(["replay"]).unwrap();
        let json = |args: &SolverArgs| serde_json::to_string(args).unwrap();
        assert_eq!(json(&line.solver), json(&SolverArgs::default()));
    }
}
