//! The exact solver, which finds prices, searches all plans near the bound that these prices give, and branches if the
//! search takes too long.
//!
//! 1. Remove fixed tasks, and items that no optimal plan needs (`reduced.rs`). Solve classes separately if no task can
//!    choose between them.
//! 2. Find the prices with the least upper bound (`prices.rs`), and round them to a plan (`round.rs`).
//! 3. Search all plans close to the bound (`search.rs`). The limit on the total loss starts small. It doubles until a
//!    plan is found, or until it reaches the total loss of the best known plan.
//! 4. If the search takes too long, split the problem in two by the items that one task may hold, and continue both
//!    parts with step 2.
//!
//! The work is counted in states and evaluations, not in seconds. The same problem therefore gets the same answer on
//! any machine, unless the time limit ends the solve.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Atomic};
use std::time::Instant;

use gleaner_solvers::{Limits, SolveError, Status};

use crate::answer::{Answer, Work};
use crate::prices::{self, Prices};
use crate::problem::{Held, Problem};
use crate::reduced::{Item, Reduced, fixed};
use crate::round;
use crate::search::{Core, Effort};
use crate::solver;

/// Maximum number of states of the beam search that looks for plans with small losses before the complete search.
const BEAM: usize = 50;
/// Position in the core's task order. The loss of the second-best item of the task at this position is the initial
/// limit on the total loss, so about eleven tasks can change at first.
const FIRST: usize = 11;
/// Maximum number of states of the first search, per task. [`FIRST_STATES`] limits the total.
const STATES_PER_TASK: u64 = 800;
/// Range of the maximum number of states of the first search.
const FIRST_STATES: RangeInclusive<u64> = 20_000..=200_000;
/// Maximum number of states of the search in a branch.
const BRANCH_STATES: u64 = 3_000;
/// Factor by which the maximum number of states grows with each repeated search of the whole part. See [`Search::run`].
const GROWTH: u64 = 4;
/// The whole part is searched again once the steps of the branches exceed a limit: this factor times the maximum number
/// of states of the last search.
const PATIENCE: u64 = 16;
/// Maximum number of states of a repeated search.
const MOST_STATES: u64 = 3_000_000;
/// Maximum number of steps. A solve that reaches this limit takes a few seconds.
const MOST_STEPS: u64 = 100_000_000;

/// Allowed rounding error in a sum of gains, as a fraction of the gains' unit.
const ROUNDING: f64 = 1e-4;

/// Solves problems with node classes exactly, on one thread.
#[derive(Debug, Clone, Default)]
pub struct Exact {
    stop: Arc<AtomicBool>,
}

impl Exact {
    /// Makes the solver stop soon after the flag is set, and return the best plan so far.
    pub fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// Solves a problem.
    ///
    /// # Errors
    /// [`SolveError::Invalid`] if the problem is invalid (see [`Problem::validate`]), and [`SolveError::Unfit`] if it
    /// has groups of tasks.
    pub fn solve(&self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError> {
        let faults = problem.validate();
        if !faults.is_empty() {
            return Err(SolveError::Invalid(faults));
        }
        if !problem.groups.is_empty() {
            return Err(solver::without_groups("exact"));
        }
        let Some(reduced) = Reduced::of(problem) else {
            return Ok(Answer::without_plan(problem, Status::Infeasible));
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
                unit: unit(&part),
                clock: &clock,
                work: &mut work,
                best: (f64::NEG_INFINITY, Vec::new()),
                prices: Vec::new(),
                unsplit: f64::NEG_INFINITY,
            };
            let bound = search.run(&part);
            let (gain, items) = search.best;
            open += (bound - gain).max(0.0);
            for (index, item) in part.index.iter().zip(items) {
                plan[*index] = part.held(&item);
            }
            for (class, price) in part.classes.iter().zip(search.prices) {
                prices[*class] = price;
            }
        }
        Ok(Answer {
            prices,
            work,
            ..Answer::of(problem, plan, Some(open), limits.gap)
        })
    }
}

/// The conditions for ending the solve: a deadline or a stop flag.
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
    /// A unit of which all gains are multiples; `None` if no such unit is known.
    unit: Option<f64>,
    clock: &'a Clock<'a>,
    work: &'a mut Work,
    /// The best plan so far, and its gain.
    best: (f64, Vec<Item>),
    /// The prices of the whole part.
    prices: Vec<f64>,
    /// The greatest bound among the branches that could be neither searched completely nor split.
    unsplit: f64,
}

/// A subset of the plans that may contain a plan better than the best plan so far.
struct Branch {
    problem: Reduced,
    prices: Prices,
    /// The plan to which the mix of plans at these prices is rounded, with one item for each task; see
    /// [`round::shared`]. Empty if the mix is empty.
    shared: Vec<Item>,
}

impl Search<'_> {
    /// Finds the best plan. Returns an upper bound on the gain of any plan.
    ///
    /// Branching helps where the costs of rescaling make the bound weak. Where many plans are close to the bound, only
    /// a longer search helps. Which case applies is not known in advance, so the solver alternates between searching
    /// and branching, with more steps in each round. For example, a part of 100 tasks is first searched with 80,000
    /// states. If this is not enough, the part is branched until the branches have taken 1.28 million steps, and then
    /// searched with 320,000 states.
    fn run(&mut self, part: &Reduced) -> f64 {
        // Holding nothing is always possible.
        self.best = (0.0, vec![Item::NONE; part.len()]);
        let zero = vec![0.0; part.capacity.len()];
        let mut root = self.branch(part.clone(), &zero);
        self.prices = root.prices.prices.clone();
        let tasks = part.len() as u64;
        let mut states =
            (STATES_PER_TASK * tasks).clamp(*FIRST_STATES.start(), *FIRST_STATES.end());
        if self.prove(&mut root, states) {
            return self.best.0;
        }
        let mut open = BinaryHeap::new();
        self.split(&mut root, &mut open);
        let mut since = self.steps(tasks);
        while let Some(mut branch) = open.pop() {
            if !self.is_open(branch.prices.bound) {
                // No other branch has a greater bound.
                break;
            }
            if self.clock.is_over() || self.steps(tasks) > MOST_STEPS {
                return branch.prices.bound.max(self.unsplit);
            }
            if states < MOST_STATES && self.steps(tasks) - since > PATIENCE * states {
                states = (GROWTH * states).min(MOST_STATES);
                if self.prove(&mut root, states) {
                    return self.best.0;
                }
                since = self.steps(tasks);
            }
            if !self.prove(&mut branch, BRANCH_STATES) {
                self.split(&mut branch, &mut open);
            }
        }
        self.unsplit.max(self.best.0)
    }

    /// Number of steps so far: the states of all searches, and one step for each task in each evaluation of the bound.
    fn steps(&self, tasks: u64) -> u64 {
        self.work.states + self.work.evaluations * tasks
    }

    /// Splits a branch, and keeps the halves that may contain a plan better than the best so far.
    fn split(&mut self, branch: &mut Branch, open: &mut BinaryHeap<Branch>) {
        self.narrow(branch);
        let Some(halves) = split(branch) else {
            self.unsplit = self.unsplit.max(branch.prices.bound);
            return;
        };
        for problem in halves {
            let half = self.branch(problem, &branch.prices.prices);
            if !half.prices.is_infeasible && self.is_open(half.prices.bound) {
                open.push(half);
            }
        }
    }

    /// Removes from a branch the items that lose so much that no better plan holds them. For example, if the bound is
    /// 100 and the best plan gains 97, the total loss of a better plan is below 3. The loss of each item of a better
    /// plan is then also below 3. The halves of the branch then have fewer items, and often smaller bounds.
    fn narrow(&self, branch: &mut Branch) {
        let allowed = self.allowed(branch.prices.bound);
        let prices = &branch.prices.prices;
        for items in &mut branch.problem.kinds {
            let (_, most) = items.best(prices);
            let is_kept = |item: &Item| most - item.profit(prices) < allowed;
            if !items.all.iter().all(is_kept) {
                *items = Rc::new(items.only(is_kept));
            }
        }
    }

    /// Creates the branch for a subset of the plans, and finds the prices that give the lowest bound. Keeps each plan
    /// found on the way that is better than the best plan so far.
    fn branch(&mut self, problem: Reduced, first: &[f64]) -> Branch {
        let prices = prices::find(&problem, first);
        self.work.branches += 1;
        self.work.evaluations += prices.steps;
        let shared = round::shared(&problem, &prices.mix);
        for wish in [None, shared.as_deref()] {
            if let Some(items) = round::plan(&problem, &prices.prices, wish) {
                self.consider(items);
            }
        }
        // If the mix consists of a single plan, that plan's gain equals the bound, so it is the best plan of the
        // branch.
        if let [(share, items)] = prices.mix.as_slice()
            && *share > 1.0 - 1e-9
            && round::fits_all(items, &problem.capacity)
        {
            self.consider(items.clone());
        }
        Branch {
            shared: shared.unwrap_or_default(),
            problem,
            prices,
        }
    }

    /// Keeps a plan if it is the best one so far.
    fn consider(&mut self, items: Vec<Item>) {
        let gain = items.iter().map(|item| item.gain).sum();
        if gain > self.best.0 {
            self.best = (gain, items);
        }
    }

    /// Whether a bound allows a better plan than the best plan so far.
    fn is_open(&self, bound: f64) -> bool {
        self.allowed(bound) > 0.0
    }

    /// The total loss below which a plan is better than the best plan so far, at prices with this bound.
    fn allowed(&self, bound: f64) -> f64 {
        // Gains within a rounding error of each other are equal. With a unit, the next better gain is a unit higher.
        // For example, suppose that the bound is 15.4, the best gain is 12, and the unit is 1. A better plan gains at
        // least 13, so its total loss is at most 2.4.
        let least = match self.unit {
            Some(unit) => unit * (1.0 - ROUNDING),
            None => 1e-11 * bound.abs(),
        };
        bound - self.best.0 - least
    }

    /// Searches a branch completely, with at most `states` states. Returns true if this proves that the branch contains
    /// no plan better than the best plan so far.
    fn prove(&mut self, branch: &mut Branch, states: u64) -> bool {
        let bound = branch.prices.bound;
        if !self.is_open(bound) {
            return true;
        }
        self.narrow(branch);
        let Some(core) = Core::new(&branch.problem, &branch.prices.prices, &branch.shared) else {
            return false;
        };
        let clock = self.clock;
        let is_over = || clock.is_over();
        let beam = Effort {
            width: BEAM,
            states: u64::MAX,
            is_over: &is_over,
        };
        let complete = Effort {
            width: usize::MAX,
            states: (self.work.states + states).min(MOST_STEPS),
            is_over: &is_over,
        };
        let mut limit = core.second(FIRST).max(1e-11 * bound.abs());
        let floor = self.floor(bound);
        while self.is_open(bound) {
            limit = self.rounded(limit, floor);
            let narrow = core.search(
                floor..limit.min(self.allowed(bound)),
                &beam,
                &mut self.work.states,
            );
            if let Some(found) = narrow.found {
                self.consider(found);
            }
            let allowed = self.allowed(bound);
            if narrow.is_complete && limit >= allowed {
                return true;
            }
            let outcome = core.search(floor..limit.min(allowed), &complete, &mut self.work.states);
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
        let of_unit = |unit: f64| bound - (bound / unit + ROUNDING).floor() * unit;
        self.unit.map_or(0.0, of_unit).max(0.0)
    }

    /// Raises `limit` to just above the next total loss that a plan can have, if gains are multiples of a unit. For
    /// example, with a unit of 1 and a floor of 0.4, total losses are 0.4, 1.4, 2.4 and so on, so 1.7 becomes 2.4001.
    fn rounded(&self, limit: f64, floor: f64) -> f64 {
        match self.unit {
            Some(unit) => floor + ((limit - floor) / unit).ceil().max(0.0) * unit + ROUNDING * unit,
            None => limit,
        }
    }
}

/// Splits the set of plans in two by the item of the task whose items differ the most across the mix. If the task holds
/// nodes of several classes in the mix, it must hold nodes of the most frequent class in one half, and must not hold
/// them in the other. Otherwise, the halves differ in the task's number of nodes. For example, if the task holds 2
/// nodes in 0.6 of the mix and 5 nodes in 0.4 of it, the mean is 3.2. In one half the task holds at most 3 nodes, in
/// the other at least 4, and neither half contains the mix. `None` if each task holds the same item in the whole mix.
fn split(branch: &Branch) -> Option<[Reduced; 2]> {
    let mix = &branch.prices.mix;
    let (task, class) = (0..branch.problem.len())
        .filter_map(|task| {
            let (class, share) = greatest_share(mix, task);
            (share < 1.0 - 1e-6).then_some((share, task, class))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, task, class)| (task, class))
        .or_else(|| divided(mix, branch.problem.len()))?;
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
        let items = problem.items(task).only(keep);
        problem.set_items(task, items);
        problem
    };
    Some([half(true), half(false)])
}

/// The class whose nodes a task holds most often in the mix, weighted by share, and the total share of that class.
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

/// The first task that holds different items in the mix, and the class of its nodes in the first plan.
fn divided(mix: &[(f64, Vec<Item>)], tasks: usize) -> Option<(usize, u32)> {
    let (_, first) = mix.first()?;
    let differs = |task: &usize| mix.iter().any(|(_, items)| items[*task] != first[*task]);
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

/// Branches are ordered by their bounds.
impl Ord for Branch {
    fn cmp(&self, other: &Self) -> Ordering {
        self.prices.bound.total_cmp(&other.prices.bound)
    }
}

/// The largest power of ten, from 1e-6 to 1, of which all gains are multiples, if there is one.
fn unit(part: &Reduced) -> Option<f64> {
    let gains = || {
        let items = part.kinds.iter().flat_map(|kind| &kind.all);
        items.map(|item| item.gain)
    };
    let is_unit = |scale: &f64| {
        // Due to rounding, 100 times a multiple of 0.01 may differ slightly from a whole number.
        let is_whole = |gain: f64| (gain - gain.round()).abs() <= 1e-14 * gain.abs().max(1.0);
        let mut scaled = gains().map(|gain| gain * scale);
        // Sums of larger numbers could be off by more than ROUNDING.
        scaled.all(|gain| gain.abs() < 1e6 && is_whole(gain))
    };
    let scales = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    let found = scales.into_iter().find(is_unit).map(|scale| 1.0 / scale);
    // If all gains round to 0, there is no unit.
    found.filter(|unit| gains().any(|gain| gain.abs() > 0.5 * unit))
}
