//! Calls the exact solver, whose failures do not end the daemon.

use gleaner_classes as classes;
use gleaner_domain::error::Result;
use gleaner_domain::results::replay::StepStatus;
use gleaner_replay::{Decider, Decision, Plan, SolverDecider};
use gleaner_solvers::{Limits, Problem, SolverKind, SolverSpec};

use super::log::Log;
use crate::config::Config;
use crate::core::Settings;

/// Decides with the exact solver. If the solver fails, all tasks keep their nodes, and the failure is logged.
pub struct Robust {
    solver: SolverDecider,
    log: Log,
}

impl Robust {
    /// Creates a decider with the settings of a daemon.
    ///
    /// # Errors
    /// This build lacks the solver.
    pub fn new(config: &Config, log: Log) -> Result<Self> {
        let limits = Limits {
            time: config.decision_limit,
            ..Limits::default()
        };
        let solver = exact(&config.core, limits)?;
        Ok(Robust { solver, log })
    }

    fn or_keep(&self, decision: Result<Decision>) -> Decision {
        decision.unwrap_or_else(|error| {
            (self.log)(&format!("no decision, so tasks keep their nodes: {error}"));
            Decision {
                plan: Plan::Keep,
                status: StepStatus::Kept,
                gap: None,
                micros: 0,
                is_short: false,
                prices: Vec::new(),
            }
        })
    }
}

/// Creates the exact solver. If the settings have classes, this is the solver for classes of nodes.
///
/// # Errors
/// This build lacks the solver.
pub fn exact(settings: &Settings, limits: Limits) -> Result<SolverDecider> {
    let spec = SolverSpec::new(SolverKind::Exact);
    if settings.classes.is_empty() {
        SolverDecider::new(spec, limits)
    } else {
        let solver = classes::solver::build(spec)?;
        Ok(SolverDecider::in_classes_by(spec, solver, limits))
    }
}

impl Decider for Robust {
    fn name(&self) -> &str {
        self.solver.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let decision = self.solver.decide(event, problem);
        Ok(self.or_keep(decision))
    }

    fn decide_in_classes(&mut self, event: usize, problem: &classes::Problem) -> Result<Decision> {
        let decision = self.solver.decide_in_classes(event, problem);
        Ok(self.or_keep(decision))
    }
}
