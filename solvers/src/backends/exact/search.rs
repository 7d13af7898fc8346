//! Dynamic programming over the counts that the relaxation's bound does not rule out.
//!
//! The net value of a count is its value minus λ per node. The *loss* of a count is the best net value of the task
//! minus the net value of the count. A plan's objective is U − Σ losses − λ · unused nodes, so the best plan has the
//! least total loss, including the cost of its unused nodes. A search for plans whose total loss is at most a given
//! limit has four steps:
//!
//! 1. [`Search::open`] keeps the counts that lose at most the limit, as pieces on which the loss is linear. Tasks that
//!    are alike have the same pieces. A task with a single remaining count is fixed, and its nodes are set aside. Every
//!    other task is a *stage*.
//! 2. [`Search::set_windows`] bounds the *states* after each stage. A state is the number of nodes that the stages so
//!    far use. From every state, the later stages must be able to stay within the capacity, and to come close enough to
//!    it, because each unused node costs λ.
//! 3. [`Search::run`] computes one layer after each stage: the least loss with which each state can be reached. States
//!    that lose more than the limit are cut off at both ends of a layer.
//! 4. The last layer gives the best final state. [`Search::walk_back`] follows it back to the start
//!    to find the counts.
//!
//! A wide piece takes only O(states) per layer, because a sliding minimum handles all of its counts
//! together ([`SlidingMinimum`]). A small limit leaves few counts and states, so [`Search::improve`]
//! tries small limits first. The algorithm of Pisinger (1995) is similar: it starts with a small core, which grows in
//! order of loss.

use std::time::Instant;

use super::layers::{Layer, SlidingMinimum, Window, best_count};
use super::pieces::{Piece, surviving_pieces};
use super::shape::Shapes;

/// The counts that remain for the tasks of a group.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// The pieces of the group are `pieces[first..last]`.
    first: usize,
    last: usize,
    /// The least and the greatest count.
    low: u32,
    high: u32,
}

impl Open {
    fn is_fixed(&self) -> bool {
        self.low == self.high
    }
}

/// A task with more than one remaining count.
#[derive(Debug, Clone, Copy)]
struct Stage {
    task: usize,
    open: Open,
    /// The states worth keeping after this stage.
    window: Window,
}

/// The input of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// The value of every task at every count.
    pub shapes: &'a Shapes,
    /// Idle nodes.
    pub nodes: u32,
    /// Price of a node, λ.
    pub price: f64,
    /// Total loss of the plan known so far.
    pub gap: f64,
    /// Time at which to give up; `None` for no limit.
    pub deadline: Option<Instant>,
}

/// Minimises the total loss; keeps its buffers between problems.
#[derive(Debug, Default)]
pub(super) struct Search {
    pieces: Vec<Piece>,
    /// The remaining counts of every group of tasks.
    open: Vec<Open>,
    stages: Vec<Stage>,
    /// Number of nodes that all stages together may use.
    capacity: i64,
    /// The least loss of each state: one layer for the start, then one for each stage.
    losses: Vec<f64>,
    /// The position of each layer in `losses`, and its states.
    layers: Vec<Layer>,
    sliding: SlidingMinimum,
}

/// First limit to try on a large problem, as a share of the known plan's loss; see
/// [`Search::improve`].
const FIRST_GUESS: f64 = 1.0 / 64.0;

/// With fewer (state, count) pairs than this, a smaller limit costs more time than it saves.
const SMALL: u64 = 20_000;

/// The maximum number of states kept at a time. This many states take 512 MiB.
const MOST_STATES: u64 = 1 << 26;

/// The size of a search.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// Number of states of all stages.
    states: u64,
    /// Number of (state, count) pairs of all stages.
    pairs: u64,
}

/// The outcome of a search.
enum Ended {
    WithPlan,
    WithoutPlan,
    TooLate,
}

impl Search {
    /// Replaces the plan known so far, `counts`, with the plan that has the least loss. Returns `false`, and leaves
    /// `counts` unchanged, if the time limit ends the search or the search would take too much memory.
    ///
    /// A search that keeps only counts and states of loss ≤ g finds the optimum if the optimum's loss is ≤ g. On large
    /// problems, the first limit is therefore small; it is quadrupled until a plan is found. If no plan is found even
    /// when the limit equals the loss of the known plan, the known plan is optimal.
    pub fn improve(&mut self, case: &Case<'_>, counts: &mut [u32]) -> bool {
        let mut limit = case.gap;
        let mut size = self.open(case, limit);
        if size.is_some_and(|s| s.pairs >= SMALL) {
            limit *= FIRST_GUESS;
            size = self.open(case, limit);
        }
        loop {
            let ended = match size {
                None => Ended::WithoutPlan,
                Some(size) if size.states > MOST_STATES => return false,
                Some(_) => self.run(case, limit, counts),
            };
            match ended {
                Ended::WithPlan => return true,
                Ended::TooLate => return false,
                // No plan loses less than the known plan, so the known plan is optimal.
                Ended::WithoutPlan if limit >= case.gap => return true,
                Ended::WithoutPlan => limit = (4.0 * limit).min(case.gap),
            }
            size = self.open(case, limit);
        }
    }

    /// Lists the counts whose loss is at most `limit`, and the states to visit. Returns the size of
    /// the search, or `None` if no plan can lose that little.
    fn open(&mut self, case: &Case<'_>, limit: f64) -> Option<Size> {
        self.pieces.clear();
        self.open.clear();
        self.stages.clear();
        self.capacity = i64::from(case.nodes);
        for g in 0..case.shapes.groups() {
            let first = self.pieces.len();
            surviving_pieces(case.shapes.of(g), case.price, limit, &mut self.pieces);
            let own = &self.pieces[first..];
            let open = Open {
                first,
                last: self.pieces.len(),
                low: own[0].low,
                high: own[own.len() - 1].high,
            };
            if open.is_fixed() {
                self.capacity -= i64::from(open.low) * i64::from(case.shapes.tasks_in(g));
            }
            self.open.push(open);
        }
        for (task, &g) in case.shapes.group_of_tasks().iter().enumerate() {
            let open = self.open[g as usize];
            if !open.is_fixed() {
                let window = Window { low: 0, high: 0 };
                self.stages.push(Stage { task, open, window });
            }
        }
        self.set_windows((limit / case.price).floor().min(1e15) as i64)
    }

    /// Sets the window of states after each stage, for plans that leave at most `unused` of the
    /// stages' nodes unused. Returns the size of the search, or `None` if there is no such plan.
    ///
    /// A state must be reachable: it is at least the sum of the least counts of the stages so far, and at most the sum
    /// of their greatest counts. It must also lead to a plan. With the least counts of the later stages, it must not
    /// exceed the capacity; with their greatest counts, it must use enough nodes.
    ///
    /// The example from the overview of the exact solver: one node remains. Task b can have 0 or 1
    /// nodes, and then task c 0 or 2. The limit of 1 is below λ = 9, so no node may stay unused. The window after b is
    /// 0 to 1, and the window after c contains only 1.
    fn set_windows(&mut self, unused: i64) -> Option<Size> {
        let capacity = self.capacity;
        let (mut least_to_come, mut most_to_come) = (0, 0);
        for stage in self.stages.iter_mut().rev() {
            stage.window = Window {
                low: capacity - unused - most_to_come,
                high: capacity - least_to_come,
            };
            least_to_come += i64::from(stage.open.low);
            most_to_come += i64::from(stage.open.high);
        }
        if capacity < least_to_come || capacity - unused > most_to_come {
            return None;
        }
        let (mut least, mut most) = (0, 0);
        let mut size = Size::default();
        for stage in &mut self.stages {
            least += i64::from(stage.open.low);
            most += i64::from(stage.open.high);
            stage.window.low = stage.window.low.max(least);
            stage.window.high = stage.window.high.min(most);
            let width = stage.window.width() as u64;
            size.states = size.states.saturating_add(width);
            let counts = u64::from(stage.open.high - stage.open.low);
            size.pairs = size.pairs.saturating_add(width.saturating_mul(counts));
        }
        Some(size)
    }

    /// Runs the recursion. If a plan loses at most `limit`, writes the best plan to `counts`.
    fn run(&mut self, case: &Case<'_>, limit: f64, counts: &mut [u32]) -> Ended {
        self.losses.clear();
        self.losses.push(0.0);
        self.layers.clear();
        self.layers.push(Layer {
            offset: 0,
            window: Window { low: 0, high: 0 },
        });
        for i in 0..self.stages.len() {
            if case.deadline.is_some_and(|at| Instant::now() >= at) {
                return Ended::TooLate;
            }
            if !self.advance(i, limit) {
                return Ended::WithoutPlan;
            }
        }
        let last = self.layers[self.layers.len() - 1];
        let losses = last.slice(&self.losses);
        let best = best_final_state(last.window, losses, self.capacity, case.price, limit);
        let Some(state) = best else {
            return Ended::WithoutPlan;
        };
        for (count, &g) in counts.iter_mut().zip(case.shapes.group_of_tasks()) {
            *count = self.open[g as usize].low;
        }
        self.walk_back(state, counts);
        Ended::WithPlan
    }

    /// Computes the layer after stage `i`, cut to the range of states that lose at most `limit`. Returns `false` if
    /// there is no such state.
    fn advance(&mut self, i: usize, limit: f64) -> bool {
        let stage = self.stages[i];
        let from = self.layers[i];
        let offset = self.losses.len();
        let width = stage.window.width();
        self.losses.resize(offset + width, f64::INFINITY);
        let (before, after) = self.losses.split_at_mut(offset);
        let before = from.slice(before);
        let pieces = &self.pieces[stage.open.first..stage.open.last];
        let from = (from.window, before);
        self.sliding
            .add_task(pieces, from, (stage.window, &mut *after));
        let Some(first) = after.iter().position(|&l| l <= limit) else {
            return false;
        };
        let dead = after.iter().rev().take_while(|&&l| l > limit).count();
        self.losses.truncate(offset + width - dead);
        self.layers.push(Layer {
            offset: offset + first,
            window: Window {
                low: stage.window.low + first as i64,
                high: stage.window.high - dead as i64,
            },
        });
        true
    }

    /// Follows the best counts back from `state`, after the last stage, to the start. The recursion
    /// stores only losses, so the best count of each stage is recomputed from the layer before it.
    fn walk_back(&self, mut state: i64, counts: &mut [u32]) {
        for (i, stage) in self.stages.iter().enumerate().rev() {
            let from = self.layers[i];
            let from = (from.window, from.slice(&self.losses));
            let pieces = &self.pieces[stage.open.first..stage.open.last];
            let (_, count) = best_count(pieces, stage.open.low, from, state);
            counts[stage.task] = count;
            state -= i64::from(count);
        }
    }
}

/// The state with the least total loss, with each unused node charged at `price`; `None` if the least total loss is
/// above `limit`.
fn best_final_state(
    window: Window,
    losses: &[f64],
    capacity: i64,
    price: f64,
    limit: f64,
) -> Option<i64> {
    (window.low..)
        .zip(losses)
        .map(|(state, &loss)| (loss + price * (capacity - state) as f64, state))
        .filter(|&(loss, _)| loss <= limit)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, state)| state)
}
