//! The kinds of problems that programs solve: with interchangeable nodes, and with node classes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gleaner_domain::words::printable;
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{Allocation, BigM, Goal, Limits, Problem, Solver, Status, Task, check};

use gleaner_classes::Held;

use crate::protocol::{Plan, RequestedProblem};

/// A problem whose answers can be judged.
pub(crate) trait Judged {
    /// A plan as a program reports it.
    type Plan;
    /// An answer of a solver.
    type Answer: Clone;
    /// The field of a reply that holds the plan.
    const PLAN: &str;

    /// Description of the problem for messages. Problems without an id are described by their size.
    fn told(&self) -> String;

    /// The problem as part of a request.
    fn requested(&self) -> RequestedProblem<'_>;

    /// The plan of a reply; `None` if the reply has no plan.
    ///
    /// # Errors
    /// The plan cannot be read. Returns what was found in its place.
    fn plan_of(reply: Plan) -> Result<Option<Self::Plan>, String>;

    /// Checks a plan, and returns it as an answer.
    ///
    /// # Errors
    /// The plan is not feasible. Returns the reasons.
    fn checked(&self, plan: Self::Plan, big_m: BigM) -> Result<Self::Answer, Vec<String>>;

    /// An answer without a plan.
    fn without_plan(&self, status: Status) -> Self::Answer;

    /// The exact solver's answer; `None` if the solver does not support the problem.
    fn best(&self, big_m: BigM, limits: &Limits, stop: &Arc<AtomicBool>) -> Option<Self::Answer>;

    /// Whether the plan that changes nothing is feasible.
    fn can_stay(&self, big_m: BigM) -> bool;

    /// The status and the objective of an answer.
    fn outcome(answer: &Self::Answer) -> (Status, Option<f64>);

    /// Whether a plan is as good as the best plan; `None` if a comparison of the objectives decides
    /// this.
    fn is_as_good(&self, _found: &Self::Answer, _best: &Self::Answer) -> Option<bool> {
        None
    }

    /// The answer, marked as proven optimal by this bound.
    fn proven(answer: Self::Answer, bound: f64) -> Self::Answer;
}

impl Judged for Problem {
    type Plan = Vec<u32>;
    type Answer = Allocation;
    const PLAN: &str = "counts";

    fn told(&self) -> String {
        told(&self.id, || {
            format!("{} tasks on {} nodes", self.tasks.len(), self.nodes)
        })
    }

    fn requested(&self) -> RequestedProblem<'_> {
        RequestedProblem::OneClass(self)
    }

    fn plan_of(reply: Plan) -> Result<Option<Vec<u32>>, String> {
        Ok(reply.counts)
    }

    fn checked(&self, counts: Vec<u32>, big_m: BigM) -> Result<Allocation, Vec<String>> {
        if counts.len() != self.tasks.len() {
            let (found, tasks) = (counts.len(), self.tasks.len());
            return Err(vec![format!(
                "{found} counts, expected one for each of {tasks} tasks"
            )]);
        }
        let answer = Allocation::with_plan(self, Status::Feasible, counts, None);
        match check(self, &answer, big_m) {
            Ok(()) => Ok(answer),
            Err(violations) => Err(violations.iter().map(ToString::to_string).collect()),
        }
    }

    fn without_plan(&self, status: Status) -> Allocation {
        Allocation::without_plan(status)
    }

    fn best(&self, big_m: BigM, limits: &Limits, _: &Arc<AtomicBool>) -> Option<Allocation> {
        Exact::new(big_m).solve(self, limits).ok()
    }

    fn can_stay(&self, big_m: BigM) -> bool {
        let shut_out = |task: &Task| big_m.shuts_out(self.nodes, task.min_nodes);
        let stay = self.stay_put();
        stay.is_some_and(|plan| {
            !self.tasks.iter().any(shut_out) && self.check(&plan, big_m).is_ok()
        })
    }

    fn outcome(answer: &Allocation) -> (Status, Option<f64>) {
        (answer.status, answer.objective)
    }

    fn is_as_good(&self, found: &Allocation, best: &Allocation) -> Option<bool> {
        match (self.goal, &best.counts, &found.counts) {
            (Goal::MaxMin, Some(best), Some(found)) => Some(self.merit(found) >= self.merit(best)),
            _ => None,
        }
    }

    fn proven(answer: Allocation, bound: f64) -> Allocation {
        Allocation {
            status: Status::Optimal,
            bound: Some(bound),
            ..answer
        }
    }
}

impl Judged for gleaner_classes::Problem {
    type Plan = Vec<Option<Held>>;
    type Answer = gleaner_classes::Answer;
    const PLAN: &str = "plan";

    fn told(&self) -> String {
        told(&self.id, || {
            let (tasks, classes) = (self.tasks.len(), self.classes.len());
            format!("{tasks} tasks on nodes of {classes} classes")
        })
    }

    fn requested(&self) -> RequestedProblem<'_> {
        RequestedProblem::Classes(self)
    }

    fn plan_of(reply: Plan) -> Result<Option<Self::Plan>, String> {
        let Some(plan) = reply.plan else {
            return Ok(None);
        };
        serde_json::from_value(plan).map_err(|error| {
            format!("a plan that is not a list of [class, count] or null: {error}")
        })
    }

    fn checked(&self, plan: Self::Plan, _: BigM) -> Result<Self::Answer, Vec<String>> {
        let answer = gleaner_classes::Answer {
            objective: self.objective(&plan),
            plan: Some(plan),
            ..self.without_plan(Status::Feasible)
        };
        match gleaner_classes::check(self, &answer) {
            Ok(()) => Ok(answer),
            Err(violations) => Err(violations.iter().map(ToString::to_string).collect()),
        }
    }

    fn without_plan(&self, status: Status) -> Self::Answer {
        gleaner_classes::Answer::without_plan(self, status)
    }

    fn best(&self, _: BigM, limits: &Limits, stop: &Arc<AtomicBool>) -> Option<Self::Answer> {
        let mut exact = gleaner_classes::Exact::default();
        exact.stop_when(stop);
        exact.solve(self, limits).ok()
    }

    fn can_stay(&self, _: BigM) -> bool {
        let plan = self.tasks.iter().map(|task| task.current).collect();
        self.checked(plan, BigM::Corrected).is_ok()
    }

    fn outcome(answer: &Self::Answer) -> (Status, Option<f64>) {
        (answer.status, answer.objective)
    }

    fn proven(answer: Self::Answer, bound: f64) -> Self::Answer {
        gleaner_classes::Answer {
            status: Status::Optimal,
            bound: Some(bound),
            ..answer
        }
    }
}

fn told(id: &str, size: impl FnOnce() -> String) -> String {
    if id.is_empty() {
        size()
    } else {
        format!("problem {}", printable(id))
    }
}
