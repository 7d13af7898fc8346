//! Judges the answers of external solvers. No answer is trusted.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gleaner_domain::results::programs::Identity;
use gleaner_solvers::range::NOTHING;
use gleaner_solvers::{BigM, Limits, Status};

use crate::judged::Judged;
use crate::tally::TallyHandle;

/// Default for the largest relative gap to the exact optimum at which a plan is still confirmed as optimal. A manifest
/// can override it. A solver that computes with tolerances or integers may be unable to reach a smaller gap.
pub(crate) const CONFIRM_GAP: f64 = 1e-6;

/// Checks plans, compares plans that are reported as optimal with the exact solver's plans, and counts
/// faults.
pub(crate) struct Judge {
    /// Name of the solver in tables.
    pub name: String,
    pub tally: TallyHandle,
    big_m: BigM,
    /// Largest relative gap to the exact optimum at which a plan is still confirmed as optimal (default:
    /// [`CONFIRM_GAP`]). If the gap in the limits is larger, that gap applies instead.
    confirm_gap: f64,
    /// When set, stops the exact solver for node classes.
    pub stop: Arc<AtomicBool>,
}

impl Judge {
    pub fn new(name: String, identity: Identity, big_m: BigM, confirm_gap: f64) -> Self {
        let tally = TallyHandle::default();
        tally.with(|tally| tally.identity = identity);
        Judge {
            name,
            tally,
            big_m,
            confirm_gap,
            stop: Arc::default(),
        }
    }

    /// Counts a wrong answer.
    pub fn wrong(&self, problem: &impl Judged, what: &str) {
        self.tally.fault(
            |tally| &mut tally.wrong,
            || format!("{}: {what}", problem.told()),
        );
    }

    /// Counts an answer that did not arrive within the time limit.
    pub fn late(&self, problem: &impl Judged, limits: &Limits) {
        let seconds = limits.time.as_secs_f64();
        self.tally.fault(
            |tally| &mut tally.late,
            || format!("{}: no answer in {seconds} s", problem.told()),
        );
    }

    /// Returns an answer with this plan if the plan is valid. Otherwise, counts a fault.
    pub fn plan<P: Judged>(&self, problem: &P, plan: P::Plan) -> Option<P::Answer> {
        match problem.checked(plan, self.big_m) {
            Ok(answer) => Some(answer),
            Err(violations) => {
                let first = violations.first().cloned();
                let others = match violations.len() {
                    0 | 1 => String::new(),
                    count => format!(", and {} more", count - 1),
                };
                self.wrong(problem, &(first.unwrap_or_default() + &others));
                None
            }
        }
    }

    /// Judges a valid plan. If `claims` is set, the program reported the plan as optimal, so the plan is compared with
    /// the exact solver's plan. Without a plan, returns the fallback, or an answer without a plan if there is no
    /// fallback.
    pub fn worth<P: Judged>(
        &self,
        problem: &P,
        limits: &Limits,
        plan: Option<P::Answer>,
        claims: bool,
        fallback: Option<P::Answer>,
    ) -> P::Answer {
        match plan {
            Some(plan) if claims => self.confirm(problem, limits, plan),
            plan => plan
                .or(fallback)
                .unwrap_or_else(|| problem.without_plan(Status::Unknown)),
        }
    }

    /// Judges the claim that a problem has no plan. The claim is wrong if a plan exists: one that the
    /// program sent earlier, one that the exact solver finds, or the plan that changes nothing.
    pub fn infeasible<P: Judged>(
        &self,
        problem: &P,
        limits: &Limits,
        fallback: Option<P::Answer>,
    ) -> P::Answer {
        let best = problem.best(self.big_m, limits, &self.stop);
        let (status, objective) = best.as_ref().map_or((Status::Unknown, None), P::outcome);
        if status == Status::Infeasible && fallback.is_none() {
            return problem.without_plan(status);
        }
        if objective.is_some() || fallback.is_some() || problem.can_stay(self.big_m) {
            self.wrong(problem, "reported as infeasible, but a plan exists");
        }
        fallback.unwrap_or_else(|| problem.without_plan(Status::Unknown))
    }

    /// Compares a plan that was reported as optimal with the exact solver's plan.
    fn confirm<P: Judged>(&self, problem: &P, limits: &Limits, plan: P::Answer) -> P::Answer {
        let best = problem.best(self.big_m, limits, &self.stop);
        let best = best.filter(|best| P::outcome(best).0 == Status::Optimal);
        let (Some(best), Some(found)) = (best, P::outcome(&plan).1) else {
            self.tally.with(|tally| tally.claimed += 1);
            return plan;
        };
        let objective = P::outcome(&best).1.unwrap_or(f64::NEG_INFINITY);
        let is_near =
            objective - found <= limits.gap.max(self.confirm_gap) * objective.abs().max(NOTHING);
        if problem.is_as_good(&plan, &best).unwrap_or(is_near) {
            self.tally.with(|tally| tally.confirmed += 1);
            return P::proven(plan, objective.max(found));
        }
        let what = format!("{found} is reported as optimal, but {objective} is possible");
        self.wrong(problem, &what);
        plan
    }
}

#[cfg(test)]
mod tests {
    use gleaner_solvers::backends::Exact;
    use gleaner_solvers::{Solver, synthetic};

    use super::*;

    // Judges a plan whose relative gap to the optimum is `gap`. A plan is confirmed as optimal if its gap is at most
    // `confirm_gap`, and counted as wrong otherwise.
    #[test]
    fn how_near_a_confirmed_optimum_is_can_be_set() {
        let problem = synthetic::problem(3, 6, 1);
        let limits = Limits::default();
        let best = Exact::new(BigM::default())
            .solve(&problem, &limits)
            .unwrap();
        let (best, mut counts) = (best.objective.unwrap(), best.counts.unwrap());
        let last = counts.iter().rposition(|&count| count > 0).unwrap();
        counts[last] = 0;
        let gap = (best - problem.objective(&counts)) / best;
        assert!(gap > 1e-3);
        for (confirm_gap, confirmed) in [(1.01 * gap, 1), (0.99 * gap, 0), (CONFIRM_GAP, 0)] {
            let identity = Identity::default();
            let judge = Judge::new("it".into(), identity, BigM::default(), confirm_gap);
            let plan = judge.plan(&problem, counts.clone());
            judge.worth(&problem, &limits, plan, true, None);
            let tally = judge.tally.get();
            assert_eq!((tally.confirmed, tally.wrong), (confirmed, 1 - confirmed));
        }
    }
}
