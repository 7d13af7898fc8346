//! Shared code of the MILP backends. It finds the *floor*: a feasible plan that is known before the search and serves
//! as its start solution. It also tracks the remaining time, scales the objective, builds the good_lp model, and
//! derives the status of the answer from the library's result.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use good_lp::solvers::ObjectiveDirection;
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, variable};

use super::ModelAnswer;
use super::equal_share::equal_share;
use super::precision;
use crate::formulations::{self, fair};
use crate::model::{Model, Row};
use crate::range::{self, NOTHING};
use crate::{Allocation, Formulation, Goal, Limits, Problem, SolveError, SolverSpec, Status};

/// Number of matrix entries that a library loads per second. A library does not check the time limit
/// while it loads. If loading a model would take longer than the time limit, the model is therefore not built, and the
/// floor is the answer.
const ENTRIES_PER_SECOND: f64 = 1e6;

/// A model with more matrix entries is not built: it would take some gigabytes of memory.
const MOST_ENTRIES: f64 = 3e6;

/// The largest objective coefficient after scaling. The libraries' tolerances are absolute, about
/// 1e-7 to 1e-5. Relative to a coefficient of this size they are at most [`RESOLUTION`].
const LARGEST_COEFFICIENT: f64 = 1e6;

/// Relative error that the libraries' tolerances may leave in a proven optimum.
const TOLERANCE: f64 = 1e-7;

/// Differences in the objective that the libraries may not detect, relative to the largest objective
/// coefficient.
const RESOLUTION: f64 = 1e-11;

/// A model to solve, with the limits of the search.
pub(super) struct Job<'a> {
    /// The model, in the problem's units.
    pub model: Model,
    /// Power of two by which the objective coefficients are multiplied before the model is loaded.
    pub scale: f64,
    /// Column values of a feasible plan that the library can start from.
    pub start: Option<Vec<f64>>,
    /// Time at which the search must end.
    pub deadline: Instant,
    /// Stops the search as soon as it is set.
    pub stop: &'a AtomicBool,
    /// Relative gap at which the search ends.
    pub gap: f64,
}

/// The answer of a library.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Whether the library claims that the values are optimal.
    pub optimal: bool,
    /// Whether the library claims that the model has no solution.
    pub infeasible: bool,
    /// Column values, if the library found any. They may be wrong, so the plan is checked.
    pub values: Option<Vec<f64>>,
    /// Upper bound on the objective. It is scaled when the library returns it, and [`Job::solve`] converts it to the
    /// problem's units.
    pub bound: Option<f64>,
    /// Largest absolute value of an objective coefficient, before scaling.
    pub largest: f64,
}

#[cfg(feature = "cbc")]
impl Outcome {
    /// Encodes the outcome as bytes, for another process of this program.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = [
            self.optimal,
            self.infeasible,
            self.values.is_some(),
            self.bound.is_some(),
        ];
        let values = self.values.as_deref().unwrap_or_default();
        let numbers = [self.bound.unwrap_or_default(), self.largest];
        let numbers = numbers.iter().chain(values);
        let bytes = numbers.flat_map(|number| number.to_ne_bytes());
        flags.into_iter().map(u8::from).chain(bytes).collect()
    }

    /// Decodes an outcome; `None` if bytes are missing.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (flags, rest) = bytes.split_first_chunk::<4>()?;
        let (numbers, []) = rest.as_chunks::<8>() else {
            return None;
        };
        let mut numbers = numbers.iter().copied().map(f64::from_ne_bytes);
        let [optimal, infeasible, has_values, has_bound] = flags.map(|flag| flag == 1);
        let (bound, largest) = (numbers.next()?, numbers.next()?);
        Some(Outcome {
            optimal,
            infeasible,
            values: has_values.then(|| numbers.collect()),
            bound: has_bound.then_some(bound),
            largest,
        })
    }
}

/// One call of [`solve`]: a problem, its limits, and the library that solves its models.
struct Case<'a, L> {
    solver: &'static str,
    spec: SolverSpec,
    problem: &'a Problem,
    limits: &'a Limits,
    deadline: Instant,
    stop: &'a AtomicBool,
    library: L,
    /// A description of the failure, if the library failed.
    failure: RefCell<Option<String>>,
}

/// Solves `problem` with `library`, whose errors are messages for the user. If the library fails, only the plan that it
/// would have found is lost. Once `stop` is set, no further model is solved, and the library ends its search as soon as
/// it can.
pub(super) fn solve(
    solver: &'static str,
    spec: SolverSpec,
    problem: &Problem,
    limits: &Limits,
    stop: &AtomicBool,
    library: impl Fn(&Job<'_>) -> Result<Outcome, String>,
) -> Result<Allocation, SolveError> {
    let case = Case {
        solver,
        spec,
        problem,
        limits,
        deadline: deadline(limits.time),
        stop,
        library,
        failure: RefCell::default(),
    };
    formulations::accepts(problem, spec.formulation)?;
    range::check(problem)?;
    let floor = floor(problem, spec);
    if entries(problem, spec) > most_entries(limits) {
        return Ok(verdict(problem, limits, floor, &Outcome::default()));
    }
    let answer = match problem.goal {
        Goal::Total => case.solve_total(floor),
        Goal::MaxMin => case.solve_max_min(floor),
    };
    answer.map(|answer| Allocation {
        failure: case.failure.take(),
        ..answer
    })
}

impl<L: Fn(&Job<'_>) -> Result<Outcome, String>> Case<'_, L> {
    fn solve_total(&self, floor: Option<Vec<u32>>) -> Result<Allocation, SolveError> {
        let (problem, spec) = (self.problem, self.spec);
        let model = formulations::build(problem, spec.formulation, spec.big_m)?;
        let encode =
            |plan: &Vec<u32>| formulations::encode(problem, spec.formulation, spec.big_m, plan);
        let start = floor.as_ref().map(encode);
        let (outcome, found) = self.attempt(model, start, self.limits.gap)?;
        let best = better(problem, found, floor);
        Ok(verdict(problem, self.limits, best, &outcome))
    }

    /// Solves a problem with a max-min goal through a sequence of models:
    ///
    /// 1. [`fair::most`]: the number of tasks that can run;
    /// 2. [`fair::fairest`]: the greatest least share if that number of tasks run;
    /// 3. [`Case::climb`]: fairer plans, until no fairer plan exists;
    /// 4. [`fair::total`]: the greatest total among the plans that are as fair as the fairest
    ///    found.
    ///
    /// Steps 1 to 3 search for the optimum itself, regardless of the allowed gap.
    fn solve_max_min(&self, floor: Option<Vec<u32>>) -> Result<Allocation, SolveError> {
        let (problem, spec) = (self.problem, self.spec);
        formulations::buildable(problem, spec.formulation, spec.big_m)?;
        let encode =
            |plan: &Vec<u32>| formulations::encode(problem, spec.formulation, spec.big_m, plan);
        let model = fair::most(problem, spec.big_m);
        let (most, found) = self.attempt(model, floor.as_ref().map(encode), 0.0)?;
        let Some(fullest) = better(problem, found, floor) else {
            return Ok(verdict(problem, self.limits, None, &most));
        };
        let Some(fairness) = problem.fairness(&fullest) else {
            return Ok(verdict(problem, self.limits, Some(fullest), &most));
        };
        let model = fair::fairest(problem, spec.big_m, fairness.running);
        let start = fair::encode(problem, spec.big_m, &fullest);
        let (_, found) = self.attempt(model, Some(start), 0.0)?;
        let fairest = better(problem, found, Some(fullest.clone())).unwrap_or(fullest);
        let (fairest, is_fairest) = self.climb(fairest)?;
        let fairness = problem.fairness(&fairest).unwrap_or(fairness);
        let model = fair::total(problem, spec.big_m, fairness);
        let start = Some(encode(&fairest));
        let (outcome, found) = self.attempt(model, start, self.limits.gap)?;
        let best = better(problem, found, Some(fairest));
        let mut answer = verdict(problem, self.limits, best, &outcome);
        let is_proven = most.optimal && is_fairest;
        if !is_proven && answer.status == Status::Optimal {
            (answer.status, answer.bound) = (Status::Feasible, None);
        }
        Ok(answer)
    }

    /// Looks for ever fairer plans that run at least as many tasks, until there is no such plan or the time is up.
    /// Returns the fairest plan and whether it is proven that no plan is fairer.
    fn climb(&self, mut plan: Vec<u32>) -> Result<(Vec<u32>, bool), SolveError> {
        let (problem, spec) = (self.problem, self.spec);
        while let Some(fairness) = problem.fairness(&plan).filter(|f| f.least_share.is_some()) {
            let model = fair::fairer(problem, spec.big_m, fairness);
            let (outcome, found) = self.attempt(model, None, 0.0)?;
            let is_fairer = |other: &Vec<u32>| problem.merit(other) > problem.merit(&plan);
            match found.filter(is_fairer) {
                Some(fairer) => plan = fairer,
                None => return Ok((plan, outcome.infeasible)),
            }
        }
        Ok((plan, true))
    }

    /// Solves a model with the library. Returns the library's answer, and the answer's plan if it is
    /// feasible.
    fn attempt(
        &self,
        model: Model,
        start: Option<Vec<f64>>,
        gap: f64,
    ) -> Result<(Outcome, Option<Vec<u32>>), SolveError> {
        let job = Job::new(model, start, self.deadline, self.stop, gap);
        let outcome = job.solve(&self.library).unwrap_or_else(|what| {
            let told = format!("{} failed: {what}", self.solver);
            self.failure.borrow_mut().get_or_insert(told);
            Outcome::default()
        });
        let (problem, spec) = (self.problem, self.spec);
        let values = outcome.values.as_ref();
        let found = values
            .map(|values| formulations::decode(problem, spec.formulation, spec.big_m, values))
            .filter(|plan| is_feasible(problem, spec, plan));
        Ok((outcome, found))
    }
}

/// Solves a model of another crate with `library`, without a start solution. If the model is too large, the answer
/// has no values.
pub(super) fn solve_model(
    solver: &'static str,
    model: Model,
    limits: &Limits,
    stop: &AtomicBool,
    library: impl Fn(&Job<'_>) -> Result<Outcome, String>,
) -> Result<ModelAnswer, SolveError> {
    let entries: usize = model.rows.iter().map(|row| row.terms.len()).sum();
    let outcome = if entries as f64 > most_entries(limits) {
        Outcome::default()
    } else {
        let job = Job::new(model, None, deadline(limits.time), stop, limits.gap);
        let failed = |message| SolveError::Backend { solver, message };
        job.solve(&library).map_err(failed)?
    };
    Ok(ModelAnswer {
        is_optimal: outcome.optimal,
        is_infeasible: outcome.infeasible,
        values: outcome.values,
        bound: outcome.bound,
    })
}

/// Maximum number of matrix entries of a model that is solved.
fn most_entries(limits: &Limits) -> f64 {
    MOST_ENTRIES.min(ENTRIES_PER_SECOND * limits.time.as_secs_f64())
}

/// Estimates the number of matrix entries of the model.
fn entries(problem: &Problem, spec: SolverSpec) -> f64 {
    let per_column = match spec.formulation {
        Formulation::Counts => 2 + problem.groups.len(),
        Formulation::Paper => 11,
    };
    let columns = formulations::columns(problem, spec.formulation, spec.big_m);
    columns as f64 * per_column as f64
}

fn deadline(limit: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(3_155_760_000);
    let now = Instant::now();
    now.checked_add(limit.min(CENTURY)).unwrap_or(now)
}

/// The better of the plans of [`Problem::stay_put`] and [`equal_share`]; `None` if neither is feasible.
fn floor(problem: &Problem, spec: SolverSpec) -> Option<Vec<u32>> {
    let allowed = |plan: &Vec<u32>| is_feasible(problem, spec, plan);
    let stay = problem.stay_put().filter(allowed);
    let share = Some(equal_share(problem)).filter(allowed);
    better(problem, stay, share)
}

fn better(problem: &Problem, a: Option<Vec<u32>>, b: Option<Vec<u32>>) -> Option<Vec<u32>> {
    match (a, b) {
        (Some(a), Some(b)) if problem.merit(&b) > problem.merit(&a) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}

fn is_feasible(problem: &Problem, spec: SolverSpec, plan: &[u32]) -> bool {
    let change = spec.big_m.change_cap(problem.nodes);
    let tasks = || problem.tasks.iter().zip(plan);
    let within_bounds = tasks().all(|(task, &n)| {
        let may_change = n.abs_diff(task.current) <= change;
        may_change && task.allows(n) && !spec.big_m.shuts_out(problem.nodes, task.min_nodes)
    });
    let used: u64 = plan.iter().map(|&n| u64::from(n)).sum();
    let within_groups = problem.groups.iter().all(|group| {
        let total: u64 = tasks()
            .filter(|(task, _)| group.tasks.contains(&task.name))
            .map(|(_, &n)| u64::from(n))
            .sum();
        group.min_total.is_none_or(|min| total >= u64::from(min))
            && group.max_total.is_none_or(|max| total <= u64::from(max))
    });
    within_bounds && used <= u64::from(problem.nodes) && within_groups
}

/// Answers a model that needs no library; returns `None` for any other model. A model is infeasible if a row without
/// terms cannot hold. The optimum of a model without columns is 0.
fn trivial(model: &Model) -> Option<Outcome> {
    let impossible = |row: &Row| row.terms.is_empty() && !(row.lower <= 0.0 && row.upper >= 0.0);
    let infeasible = model.rows.iter().any(impossible);
    (infeasible || model.columns.is_empty()).then(|| Outcome {
        infeasible,
        optimal: !infeasible,
        bound: (!infeasible).then_some(0.0),
        values: (!infeasible).then(Vec::new),
        largest: 0.0,
    })
}

/// The largest absolute value of an objective coefficient.
fn largest(model: &Model) -> f64 {
    let sizes = model.columns.iter().map(|c| c.objective.abs());
    sizes.fold(0.0, f64::max)
}

/// The greatest power of two by which the largest objective coefficient can be multiplied without exceeding
/// [`LARGEST_COEFFICIENT`]. Scaling by a power of two causes no rounding errors.
fn scale(model: &Model) -> f64 {
    let largest = largest(model);
    if largest == 0.0 {
        return 1.0;
    }
    let exponent = (LARGEST_COEFFICIENT / largest).log2().floor();
    exponent.clamp(-1000.0, 1000.0).exp2()
}

/// The answer for `plan`, the best plan known to be feasible. The status follows from the gap
/// between the plan and the library's bound, not from the library's claim alone.
fn verdict(
    problem: &Problem,
    limits: &Limits,
    plan: Option<Vec<u32>>,
    outcome: &Outcome,
) -> Allocation {
    let Some(counts) = plan else {
        return Allocation::without_plan(if outcome.infeasible {
            Status::Infeasible
        } else {
            Status::Unknown
        });
    };
    let objective = problem.objective(&counts);
    if precision::matters(problem, &counts, objective, RESOLUTION * outcome.largest) {
        return Allocation::with_plan(problem, Status::Feasible, counts, None);
    }
    let slack = TOLERANCE * objective.abs().max(NOTHING);
    // A bound that is below a feasible plan by more than the tolerance is wrong, so it is dropped.
    let bound = outcome
        .bound
        .filter(|b| b.is_finite() && *b >= objective - slack)
        .map(|b| b.max(objective));
    let mut answer = Allocation::with_plan(problem, Status::Feasible, counts, bound);
    let allowed = if outcome.optimal {
        limits.gap.max(TOLERANCE)
    } else {
        limits.gap
    };
    if answer.gap().is_some_and(|gap| gap <= allowed) {
        answer.status = Status::Optimal;
    }
    answer
}

impl<'a> Job<'a> {
    /// A model to solve until the deadline, or until `stop` is set.
    fn new(
        model: Model,
        start: Option<Vec<f64>>,
        deadline: Instant,
        stop: &'a AtomicBool,
        gap: f64,
    ) -> Self {
        Job {
            scale: scale(&model),
            start,
            deadline,
            stop,
            gap: gap.max(0.0),
            model,
        }
    }

    /// Solves the model with the library. The bound of the outcome is in the problem's units.
    fn solve(
        &self,
        library: impl Fn(&Job<'a>) -> Result<Outcome, String>,
    ) -> Result<Outcome, String> {
        if let Some(outcome) = trivial(&self.model) {
            return Ok(outcome);
        }
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Outcome::default());
        }
        let outcome = library(self)?;
        Ok(Outcome {
            bound: outcome.bound.map(|bound| bound / self.scale),
            largest: largest(&self.model),
            ..outcome
        })
    }

    /// Seconds left until the deadline.
    pub fn seconds_left(&self) -> f64 {
        let now = Instant::now();
        self.deadline.saturating_duration_since(now).as_secs_f64()
    }

    /// The scaled objective of column values.
    #[cfg(feature = "cbc")]
    pub fn scaled_objective(&self, values: &[f64]) -> f64 {
        let columns = self.model.columns.iter().zip(values);
        columns.map(|(c, x)| self.scale * c.objective * x).sum()
    }

    /// Loads the model into a good_lp solver. If `direction` is to minimise, the objective is
    /// negated.
    pub fn load<S: good_lp::Solver>(&self, direction: ObjectiveDirection, solver: S) -> S::Model {
        let mut variables = ProblemVariables::new();
        let columns: Vec<Variable> = self
            .model
            .columns
            .iter()
            .map(|c| {
                let column = variable().min(c.lower).max(c.upper);
                variables.add(if c.integer { column.integer() } else { column })
            })
            .collect();
        let sign = match direction {
            ObjectiveDirection::Maximisation => self.scale,
            ObjectiveDirection::Minimisation => -self.scale,
        };
        let terms = columns.iter().zip(&self.model.columns);
        let objective = sum(terms.map(|(&x, c)| (x, sign * c.objective)));
        let mut loaded = variables.optimise(direction, objective).using(solver);
        for row in &self.model.rows {
            add_row(&mut loaded, &columns, row);
        }
        loaded
    }
}

fn sum(terms: impl ExactSizeIterator<Item = (Variable, f64)>) -> Expression {
    let mut out = Expression::with_capacity(terms.len());
    for (variable, coefficient) in terms {
        out.add_mul(coefficient, variable);
    }
    out
}

fn add_row(loaded: &mut impl SolverModel, columns: &[Variable], row: &Row) {
    let terms = || sum(row.terms.iter().map(|&(x, a)| (columns[x], a)));
    if row.lower == row.upper {
        loaded.add_constraint(terms().eq(row.lower));
        return;
    }
    if row.lower.is_finite() {
        loaded.add_constraint(terms().geq(row.lower));
    }
    if row.upper.is_finite() {
        loaded.add_constraint(terms().leq(row.upper));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigM, SolverKind, synthetic};

    fn outcome(optimal: bool, bound: f64) -> Outcome {
        Outcome {
            optimal,
            bound: Some(bound),
            ..Outcome::default()
        }
    }

    fn status(gap: f64, optimal: bool, bound: f64) -> (Status, Option<f64>) {
        let problem = synthetic::problem(3, 20, 1);
        let plan = equal_share(&problem);
        let objective = problem.objective(&plan);
        let limits = Limits {
            gap,
            ..Limits::default()
        };
        let outcome = outcome(optimal, bound * objective);
        let answer = verdict(&problem, &limits, Some(plan), &outcome);
        assert_eq!(answer.objective, Some(objective));
        (answer.status, answer.bound.map(|b| b / objective))
    }

    // The status depends on the gap between the plan and the bound, not on the library's claim alone.
    #[test]
    fn the_gap_decides_the_status_beside_the_solvers_claim() {
        assert_eq!(status(1e-9, true, 1.0), (Status::Optimal, Some(1.0)));
        assert_eq!(status(1e-9, false, 1.0), (Status::Optimal, Some(1.0)));
        assert_eq!(status(1e-9, true, 1.125), (Status::Feasible, Some(1.125)));
        assert_eq!(status(0.2, false, 1.125), (Status::Optimal, Some(1.125)));
        assert_eq!(status(1e-9, false, 1.0 + 1e-8).0, Status::Feasible);
        assert_eq!(status(1e-9, true, 1.0 + 1e-8).0, Status::Optimal);
    }

    // Under each goal, if the library fails, the answer is the plan known before the search.
    #[test]
    fn a_library_that_fails_costs_what_it_would_have_found() {
        let problem = synthetic::problem(3, 20, 1);
        let spec = SolverSpec::new(SolverKind::Highs);
        for goal in [Goal::Total, Goal::MaxMin] {
            let problem = Problem {
                goal,
                ..problem.clone()
            };
            let limits = Limits::default();
            let fails = |_: &Job<'_>| Err("line 7: it does not hold".to_owned());
            let stop = AtomicBool::new(false);
            let answer = solve("broken", spec, &problem, &limits, &stop, fails).unwrap();
            assert_eq!(answer.status, Status::Feasible);
            assert_eq!(answer.counts, floor(&problem, spec));
            let told = "broken failed: line 7: it does not hold";
            assert_eq!(answer.failure.as_deref(), Some(told));
        }
    }

    #[cfg(feature = "cbc")]
    #[test]
    fn outcomes_survive_the_way_as_bytes() {
        let full = Outcome {
            optimal: true,
            values: Some(vec![0.0, -1.5, f64::INFINITY]),
            bound: Some(1e-300),
            largest: 3.0,
            infeasible: false,
        };
        let empty = Outcome {
            values: Some(Vec::new()),
            ..Outcome::default()
        };
        for outcome in [full, empty, Outcome::default()] {
            let bytes = outcome.to_bytes();
            assert_eq!(Outcome::from_bytes(&bytes[..bytes.len() - 1]), None);
            assert_eq!(Outcome::from_bytes(&bytes), Some(outcome));
        }
        assert_eq!(Outcome::from_bytes(&[]), None);
    }

    #[test]
    fn a_bound_below_the_plan_is_dropped() {
        assert_eq!(status(1e-9, true, 0.9), (Status::Feasible, None));
        assert_eq!(status(1e-9, true, f64::INFINITY), (Status::Feasible, None));
        assert_eq!(status(1e-9, true, f64::NAN), (Status::Feasible, None));
        assert_eq!(status(1e-9, true, 1.0 - 1e-9), (Status::Optimal, Some(1.0)));
    }

    #[test]
    fn without_a_plan_the_solvers_claim_decides_the_status() {
        let problem = synthetic::problem(3, 20, 1);
        let of = |outcome| verdict(&problem, &Limits::default(), None, &outcome).status;
        assert_eq!(of(outcome(true, 1.0)), Status::Unknown);
        let infeasible = Outcome {
            infeasible: true,
            ..Outcome::default()
        };
        assert_eq!(of(infeasible), Status::Infeasible);
    }

    #[test]
    fn scaling_is_by_a_power_of_two_near_the_largest_coefficient() {
        let spec = SolverSpec::new(SolverKind::Highs);
        for seed in 0..20 {
            let problem = synthetic::problem(5, 40, seed);
            let model = formulations::build(&problem, spec.formulation, BigM::Corrected).unwrap();
            let scale = scale(&model);
            assert_eq!(scale.log2().fract(), 0.0);
            let largest = model
                .columns
                .iter()
                .map(|c| c.objective.abs())
                .fold(0.0, f64::max);
            let scaled = scale * largest;
            assert!(scaled <= LARGEST_COEFFICIENT && scaled > LARGEST_COEFFICIENT / 2.0);
        }
    }
}
