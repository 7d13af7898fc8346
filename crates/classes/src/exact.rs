//! The exact solver: prices, then a complete search around them, then branching.
//!
//! 1. Fixed tasks keep their nodes, and items that no optimal plan needs are left out (`reduced.rs`). Classes that no
//!    task can choose between are solved apart.
//! 2. The prices with the least upper bound (`prices.rs`), and a plan from them (`round.rs`).
//! 3. All plans that come close enough to the bound (`search.rs`). The allowed total loss starts small and doubles until
//!    a plan is found, or until it excludes every plan that is better than the best one known.
//! 4. If the search would take too long, the problem is split in two by what one task may hold, and both parts start
//!    again with step 2.
//!
//! The work is counted in states and evaluations, not in seconds. So the same problem gets the same answer on any
//! machine, unless the time limit ends it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Atomic};
use std::time::Instant;

use gleaner_solvers::{Limits, SolveError};

use crate::answer::{Answer, Work};
use crate::prices::{self, Prices};
use crate::problem::{Held, Problem};
use crate::reduced::{Item, Reduced, fixed};
use crate::round;
use crate::search::{Core, Effort};

/// Number of states of a beam, which looks for cheap plans before the complete search.
const BEAM: usize = 300;
/// The first limit on the total loss is the second-best loss of this task, in their order.
const FIRST: usize = 11;
/// Maximum number of states of the first search.
const FIRST_STATES: u64 = 200_000;
/// Maximum number of states of the search in a branch.
const BRANCH_STATES: u64 = 20_000;
/// After this number of branches the first search is repeated, with more states. Costs of rescaling make the bound weak,
/// and branching strengthens it. Other problems have many plans close to the bound, which only the search exhausts.
const FEW_BRANCHES: u64 = 40;
/// Maximum number of states of the repeated search.
const SECOND_STATES: u64 = 3_000_000;
/// Maximum number of states of all searches. A search at this limit takes some seconds.
const MOST_WORK: u64 = 400_000_000;

/// The part of a unit by which sums of gains may be off.
const ROUNDING: f64 = 1e-6;

/// Solves problems with node classes exactly, on one thread.
#[derive(Debug, Clone, Default)]
pub struct Exact {
    stop: Arc<AtomicBool>,
}

impl Exact {
    /// Makes the solver end soon after the flag is set, with the best plan so far.
    pub fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// Solves a problem.
    ///
    /// # Errors
    /// [`SolveError::Invalid`]: see [`Problem::validate`].
    pub fn solve(&self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError> {
        let faults = problem.validate();
        if !faults.is_empty() {
            return Err(SolveError::Invalid(faults));
        }
        let Some(reduced) = Reduced::of(problem) else {
            return Ok(Answer::infeasible(problem));
        };
        let clock = Clock {
            deadline: Instant::now().checked_add(limits.time),
            stop: &self.stop,
        };
        let mut plan: Vec<Option<Held>> = problem
            .tasks
            .iter()
            .map(|task| fixed(task).flatten())
            .collect();
        let mut prices = vec![0.0; problem.classes.len()];
        let mut work = Work::default();
        // Upper bound minus objective.
        let mut open = 0.0;
        for part in reduced.parts() {
            let mut search = Search {
                gap: limits.gap.max(0.0),
                unit: unit(&part),
                clock: &clock,
                work: &mut work,
                best: (f64::NEG_INFINITY, Vec::new()),
                first: None,
            };
            let bound = search.run(&part);
            let (gain, items) = search.best;
            open += (bound - gain).max(0.0);
            for (index, item) in part.index.iter().zip(items) {
                plan[*index] = item.held();
            }
            for (price, of_part) in prices.iter_mut().zip(search.first.unwrap_or_default()) {
                *price = f64::max(*price, of_part);
            }
        }
        Ok(Answer::of(problem, plan, open, prices, work, limits.gap))
    }
}

/// When to end.
struct Clock<'a> {
    deadline: Option<Instant>,
    stop: &'a AtomicBool,
}

impl Clock<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Atomic::Relaxed)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The search for the best plan of a part.
struct Search<'a> {
    gap: f64,
    /// All gains are multiples of this, if it is known.
    unit: Option<f64>,
    clock: &'a Clock<'a>,
    work: &'a mut Work,
    /// The best plan so far, and its gain.
    best: (f64, Vec<Item>),
    /// The prices of the whole part.
    first: Option<Vec<f64>>,
}

/// A part of the plans that may contain a better one.
struct Branch {
    problem: Reduced,
    prices: Prices,
}

impl Search<'_> {
    /// Finds the best plan. Returns an upper bound on the gain of any plan.
    fn run(&mut self, part: &Reduced) -> f64 {
        // Holding nothing is always possible.
        self.best = (0.0, vec![Item::NONE; part.tasks.len()]);
        let zero = vec![0.0; part.capacity.len()];
        let first = self.work.branches;
        let root = self.branch(part.clone(), &zero);
        self.first = Some(root.prices.prices.clone());
        if self.prove(&root, FIRST_STATES) {
            return self.best.0;
        }
        let mut open = BinaryHeap::new();
        if !self.split(&root, &mut open) {
            return root.prices.bound;
        }
        let mut is_repeated = false;
        while let Some(branch) = open.pop() {
            if !self.is_open(branch.prices.bound) {
                // The bounds of all other branches are at most this one.
                return self.best.0;
            }
            if self.clock.is_over() || self.work.states > MOST_WORK {
                return branch.prices.bound;
            }
            if !is_repeated && self.work.branches - first > FEW_BRANCHES {
                is_repeated = true;
                if self.prove(&root, SECOND_STATES) {
                    return self.best.0;
                }
            }
            if !self.prove(&branch, BRANCH_STATES) && !self.split(&branch, &mut open) {
                return branch.prices.bound;
            }
        }
        self.best.0
    }

    /// Splits a branch, and keeps the halves that may have a better plan. Returns whether it can be split: if not, the
    /// mix is one plan, so its gain is the bound.
    fn split(&mut self, branch: &Branch, open: &mut BinaryHeap<Branch>) -> bool {
        let Some(halves) = split(branch) else {
            return false;
        };
        for problem in halves {
            let half = self.branch(problem, &branch.prices.prices);
            if !half.prices.is_infeasible && self.is_open(half.prices.bound) {
                open.push(half);
            }
        }
        true
    }

    /// Prices a part of the plans, and rounds them to a plan.
    fn branch(&mut self, problem: Reduced, first: &[f64]) -> Branch {
        let prices = prices::find(&problem, first);
        self.work.branches += 1;
        self.work.evaluations += prices.steps;
        if let Some(items) = round::plan(&problem, &prices.prices) {
            self.consider(items);
        }
        Branch { problem, prices }
    }

    /// Keeps a plan if it is the best one so far.
    fn consider(&mut self, items: Vec<Item>) {
        let gain = items.iter().map(|item| item.gain).sum();
        if gain > self.best.0 {
            self.best = (gain, items);
        }
    }

    /// Whether a bound allows a better plan than the best one.
    fn is_open(&self, bound: f64) -> bool {
        self.allowed(bound) > 0.0
    }

    /// The total loss below which a plan is better than the best one, at prices with this bound.
    fn allowed(&self, bound: f64) -> f64 {
        // Gains within a rounding error of each other are equal. With a unit, the next better gain is a unit higher.
        let least = match self.unit {
            Some(unit) => unit * (1.0 - ROUNDING),
            None => 1e-11 * bound.abs().max(1e-9),
        };
        let within_gap = self.gap * bound.abs();
        bound - self.best.0 - least.max(within_gap.min(bound.abs()))
    }

    /// Searches a branch completely, with at most `states` states. Returns whether no better plan is left in it.
    fn prove(&mut self, branch: &Branch, states: u64) -> bool {
        let bound = branch.prices.bound;
        let Some(core) = Core::new(&branch.problem, &branch.prices.prices) else {
            return false;
        };
        let beam = Effort {
            width: BEAM,
            states: u64::MAX,
        };
        let complete = Effort {
            width: usize::MAX,
            states: (self.work.states + states).min(MOST_WORK),
        };
        let mut limit = core.second(FIRST).max(1e-11 * bound.abs());
        let floor = self.floor(bound);
        while self.is_open(bound) {
            limit = self.rounded(limit, floor);
            let narrow = core.search(
                floor..limit.min(self.allowed(bound)),
                beam,
                &mut self.work.states,
            );
            if let Some(found) = narrow.found {
                self.consider(found);
            }
            let allowed = self.allowed(bound);
            if narrow.is_complete && limit >= allowed {
                return true;
            }
            let outcome = core.search(floor..limit.min(allowed), complete, &mut self.work.states);
            let is_found = outcome.found.is_some();
            if let Some(found) = outcome.found {
                self.consider(found);
            }
            if !outcome.is_complete {
                return !self.is_open(bound);
            }
            if is_found || limit >= allowed {
                return true;
            }
            if self.clock.is_over() {
                return false;
            }
            limit *= 2.0;
        }
        true
    }

    /// The least total loss that a plan can have.
    fn floor(&self, bound: f64) -> f64 {
        let unit = self.unit.unwrap_or(f64::INFINITY);
        let gain = ((bound + ROUNDING * unit) / unit).floor() * unit;
        if self.unit.is_some() {
            (bound - gain).max(0.0)
        } else {
            0.0
        }
    }

    /// The least limit of at least `limit` that is just above the total loss of some gain, if gains are multiples of a
    /// unit.
    fn rounded(&self, limit: f64, floor: f64) -> f64 {
        match self.unit {
            Some(unit) => floor + ((limit - floor) / unit).ceil().max(0.0) * unit + ROUNDING * unit,
            None => limit,
        }
    }
}

/// Divides the plans in two by what one task holds: the task whose share in the mix is the most divided. `None` if each
/// task holds one item in the whole mix.
fn split(branch: &Branch) -> Option<[Reduced; 2]> {
    let mix = &branch.prices.mix;
    let (task, class) = (0..branch.problem.tasks.len())
        .filter_map(|task| {
            let (class, share) = greatest_share(mix, task);
            (share < 1.0 - 1e-6).then_some((share, task, class))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, task, class)| (task, class))
        .or_else(|| divided_count(mix, branch.problem.tasks.len()))?;
    let shares = mix.iter().filter(|(_, items)| items[task].class == class);
    let total: f64 = shares.clone().map(|(share, _)| share).sum();
    let mean = shares
        .map(|(share, items)| share * f64::from(items[task].count))
        .sum::<f64>()
        / total;
    let is_divided_by_class = mix.iter().any(|(_, items)| items[task].class != class);
    let most = mean.floor() as u32;
    let half = |is_first: bool| {
        let mut problem = branch.problem.clone();
        let keep = |item: &Item| {
            let is_in = if is_divided_by_class {
                item.class == class
            } else {
                item.count <= most
            };
            is_in == is_first
        };
        problem.tasks[task] = Rc::new(problem.tasks[task].only(keep));
        problem
    };
    Some([half(true), half(false)])
}

/// The class that a task holds in the greatest share of the mix, and the share.
fn greatest_share(mix: &[(f64, Vec<Item>)], task: usize) -> (u32, f64) {
    let total: f64 = mix.iter().map(|(share, _)| share).sum();
    let shares = mix.iter().map(|(_, items)| {
        let class = items[task].class;
        let same = mix.iter().filter(|(_, items)| items[task].class == class);
        (class, same.map(|(share, _)| share).sum::<f64>() / total)
    });
    shares
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((0, 1.0))
}

/// The first task that holds different counts of one class in the mix, and the class.
fn divided_count(mix: &[(f64, Vec<Item>)], tasks: usize) -> Option<(usize, u32)> {
    let (_, first) = mix.first()?;
    let differs = |task: &usize| {
        mix.iter()
            .any(|(_, items)| items[*task].count != first[*task].count)
    };
    (0..tasks)
        .find(differs)
        .map(|task| (task, first[task].class))
}

impl PartialEq for Branch {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Branch {}

impl PartialOrd for Branch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By bound.
impl Ord for Branch {
    fn cmp(&self, other: &Self) -> Ordering {
        self.prices.bound.total_cmp(&other.prices.bound)
    }
}

/// The largest power of ten, from 1e-6 to 1, of which all gains are multiples, if there is one.
fn unit(part: &Reduced) -> Option<f64> {
    let is_unit = |scale: &f64| {
        let items = part.tasks.iter().flat_map(|task| &task.all);
        let mut gains = items.map(|item| item.gain * scale);
        // Beyond this, all numbers are close to whole ones.
        gains.all(|gain| gain.abs() < 1e9 && (gain - gain.round()).abs() < 1e-5)
    };
    [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6]
        .into_iter()
        .find(is_unit)
        .map(|scale| 1.0 / scale)
}
