//! Dynamic programming over the counts that the relaxation's bound leaves open.
//!
//! The *loss* of a count is how much less its value, less λ per node, is than that of the task's
//! best count. A plan's objective is U − Σ losses − λ · unused nodes, so the best plan is the one
//! with the least total loss, unused nodes included. One search for plans that lose at most a limit
//! has four steps:
//!
//! 1. [`Search::open`] keeps the counts that lose at most the limit, as pieces on which the loss is
//!    linear; they are the same for tasks that are alike. A task with a single count left is fixed,
//!    and its nodes are set aside. Every other task is a *stage*.
//! 2. [`Search::set_windows`] bounds the *states* after each stage; a state is the number of nodes
//!    that the stages so far use. The later stages must be able to bring every state close enough
//!    to the capacity, as unused nodes cost λ each, and must not exceed it.
//! 3. [`Search::run`] computes layer after layer: the least loss with which each state can be
//!    reached. States at the ends of a layer that lose more than the limit are cut off.
//! 4. The last layer gives the best final state. [`Search::walk_back`] follows it back to the start
//!    to find the counts.
//!
//! A wide piece costs a layer no more than O(states), as a sliding minimum handles all of its
//! counts together ([`SlidingMinimum`]). A small limit leaves few counts and states, so
//! [`Search::improve`] tries small limits first.

use std::time::Instant;

use super::shape::{Shapes, Vertex};

/// Counts `low..=high` of one task, on which the loss is linear in the count.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    low: u32,
    high: u32,
    /// Loss at `low`.
    loss: f64,
    /// Loss per further node.
    slope: f64,
}

impl Piece {
    fn loss_at(&self, count: u32) -> f64 {
        self.loss + self.slope * f64::from(count - self.low)
    }

    /// The part of the piece within `least..=most`; `None` if it is empty.
    fn clipped(&self, least: i64, most: i64) -> Option<Piece> {
        let low = i64::from(self.low).max(least);
        let high = i64::from(self.high).min(most);
        if low > high {
            return None;
        }
        // Both are within the piece's own counts, so the casts lose nothing.
        let (low, high) = (low as u32, high as u32);
        Some(Piece {
            low,
            high,
            loss: self.loss_at(low),
            slope: self.slope,
        })
    }
}

/// The counts that are left for the tasks of a group.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Its pieces are `pieces[first..last]`.
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

/// A task with more than one count left, and the states worth keeping after it.
#[derive(Debug, Clone, Copy)]
struct Stage {
    task: usize,
    open: Open,
    /// The states worth keeping after this stage.
    window: Window,
}

/// The states `low..=high`: numbers of nodes that the stages so far use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    low: i64,
    high: i64,
}

impl Window {
    fn width(self) -> usize {
        usize::try_from(self.high - self.low + 1).unwrap_or(0)
    }
}

/// The input of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// Every task's value by count.
    pub shapes: &'a Shapes,
    /// Idle nodes.
    pub nodes: u32,
    /// Price of a node, λ.
    pub price: f64,
    /// Total loss of the plan known so far.
    pub gap: f64,
    /// When to give up; `None` for no limit.
    pub deadline: Option<Instant>,
}

/// Minimises the total loss; keeps its buffers between problems.
#[derive(Debug, Default)]
pub(super) struct Search {
    pieces: Vec<Piece>,
    /// What is left for every group of tasks.
    open: Vec<Open>,
    stages: Vec<Stage>,
    /// Nodes that the stages may use.
    capacity: i64,
    /// The least loss of each state: one layer for the start, then one for each stage.
    losses: Vec<f64>,
    /// The place of each layer in `losses`, and its states.
    layers: Vec<Layer>,
    sliding: SlidingMinimum,
}

/// A layer of the recursion within [`Search::losses`].
#[derive(Debug, Clone, Copy)]
struct Layer {
    offset: usize,
    window: Window,
}

impl Layer {
    fn slice(self, losses: &[f64]) -> &[f64] {
        &losses[self.offset..self.offset + self.window.width()]
    }
}

/// Pieces with at most this many counts are handled count by count, wider ones by a sliding
/// minimum.
const WALKED: u32 = 24;

/// First limit to try on a large problem, as a share of the known plan's loss; see
/// [`Search::improve`].
const FIRST_GUESS: f64 = 1.0 / 64.0;

/// With fewer (state, count) pairs than this, a smaller limit costs more time than it saves.
const SMALL: u64 = 20_000;

/// The most states kept at a time: 512 MiB.
const MOST_STATES: u64 = 1 << 26;

/// The work of a search.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// Number of states of all stages.
    states: u64,
    /// Number of pairs of a state and a count of all stages.
    pairs: u64,
}

/// How a search ended.
enum Ended {
    WithPlan,
    WithoutPlan,
    TooLate,
}

impl Search {
    /// Replaces `counts`, the plan known so far, by the plan with the least loss. Returns `false`
    /// if it had to give up; `counts` is then unchanged.
    ///
    /// A search that keeps only counts and states of loss ≤ g finds the optimum if the optimum's
    /// loss is ≤ g. So on large problems the first limit is small, and it grows fourfold until a
    /// plan is found. If no plan is found at the loss of the known plan, that plan is optimal.
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
                // No plan loses less than the one known so far, so that one is optimal.
                Ended::WithoutPlan if limit >= case.gap => return true,
                Ended::WithoutPlan => limit = (4.0 * limit).min(case.gap),
            }
            size = self.open(case, limit);
        }
    }

    /// Lists the counts of loss ≤ `limit`, and the states to visit. Returns how much work the
    /// search is, or `None` if no plan can lose that little.
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
    /// stages' nodes unused. Returns how much work the search is, or `None` if there is no such
    /// plan.
    ///
    /// A state must be reachable: at least the least counts of the stages so far, at most their
    /// greatest counts. And it must lead to a plan: with the least counts of the later stages it
    /// must not exceed the capacity, and with their greatest counts it must use enough nodes.
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

    /// Computes the layer after stage `i`, cut to the range of states that lose at most `limit`;
    /// `false` if there is no such state.
    fn advance(&mut self, i: usize, limit: f64) -> bool {
        let stage = self.stages[i];
        let from = self.layers[i];
        let offset = self.losses.len();
        let width = stage.window.width();
        self.losses.resize(offset + width, f64::INFINITY);
        let (before, after) = self.losses.split_at_mut(offset);
        let before = from.slice(before);
        let least = stage.window.low - from.window.high;
        let most = stage.window.high - from.window.low;
        let pieces = &self.pieces[stage.open.first..stage.open.last];
        for piece in pieces.iter().filter_map(|p| p.clipped(least, most)) {
            if piece.high - piece.low < WALKED {
                for count in piece.low..=piece.high {
                    let to = stage.window.low - i64::from(count) - from.window.low;
                    relax(before, after, to, piece.loss_at(count));
                }
            } else {
                let shift = stage.window.low - from.window.low;
                self.sliding.relax(before, after, shift, piece);
            }
        }
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
    /// stores losses only, so the best count of each stage is found again from the layer before it.
    fn walk_back(&self, mut state: i64, counts: &mut [u32]) {
        for (i, stage) in self.stages.iter().enumerate().rev() {
            let from = self.layers[i];
            let losses = from.slice(&self.losses);
            let loss_before = |count: u32| {
                usize::try_from(state - i64::from(count) - from.window.low)
                    .ok()
                    .and_then(|s| losses.get(s))
                    .copied()
                    .unwrap_or(f64::INFINITY)
            };
            let least = state - from.window.high;
            let most = state - from.window.low;
            let mut best = (f64::INFINITY, stage.open.low);
            let pieces = &self.pieces[stage.open.first..stage.open.last];
            for piece in pieces.iter().filter_map(|p| p.clipped(least, most)) {
                for count in piece.low..=piece.high {
                    let loss = loss_before(count) + piece.loss_at(count);
                    if loss < best.0 {
                        best = (loss, count);
                    }
                }
            }
            counts[stage.task] = best.1;
            state -= i64::from(best.1);
        }
    }
}

/// The state with the least total loss, with each unused node charged at `price`; `None` if that
/// loss is above `limit`.
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

/// after[i] = min(after[i], before[i + shift] + loss), for every i for which both exist.
fn relax(before: &[f64], after: &mut [f64], shift: i64, loss: f64) {
    let (skip_before, skip_after) = (shift.max(0) as usize, (-shift).max(0) as usize);
    let before = before.get(skip_before..).unwrap_or_default();
    let after = after.get_mut(skip_after..).unwrap_or_default();
    for (to, &from) in after.iter_mut().zip(before) {
        let loss = from + loss;
        *to = if loss < *to { loss } else { *to };
    }
}

/// Appends the counts whose loss at `price` is at most `limit`, in ascending order.
fn surviving_pieces(vertices: &[Vertex], price: f64, limit: f64, out: &mut Vec<Piece>) {
    let net = |v: &Vertex| v.value - price * f64::from(v.count);
    let top = vertices.iter().map(net).fold(f64::NEG_INFINITY, f64::max);
    let mut before: Option<(u32, f64)> = None;
    for v in vertices {
        let loss = top - net(v);
        if let (true, Some(from)) = (v.joined, before) {
            out.extend(surviving_between(from, (v.count, loss), limit));
        }
        if loss <= limit {
            out.push(Piece {
                low: v.count,
                high: v.count,
                loss,
                slope: 0.0,
            });
        }
        before = Some((v.count, loss));
    }
}

/// The counts strictly between two (count, loss) points whose loss is at most `limit`; the loss is
/// linear between the points.
fn surviving_between(from: (u32, f64), to: (u32, f64), limit: f64) -> Option<Piece> {
    let slope = (to.1 - from.1) / f64::from(to.0 - from.0);
    let at = |count: u32| from.1 + slope * f64::from(count - from.0);
    let (mut low, mut high) = (from.0 + 1, to.0 - 1);
    // The count at which the loss crosses the limit, rounded outwards. The loops below correct it.
    let crossing = f64::from(from.0) + (limit - from.1) / slope;
    if slope > 0.0 && crossing < f64::from(high) {
        high = (crossing.ceil().max(0.0)) as u32;
    } else if slope < 0.0 && crossing > f64::from(low) {
        low = (crossing.floor().min(f64::from(high) + 1.0)) as u32;
    }
    while low <= high && at(low) > limit {
        low += 1;
    }
    while high >= low && at(high) > limit {
        high -= 1;
    }
    (low <= high).then(|| Piece {
        low,
        high,
        loss: at(low),
        slope,
    })
}

/// Minimum over a sliding window, by block-wise prefix and suffix minima (van Herk 1992, Gil and
/// Werman 1993). A piece costs O(states), however many counts it has.
///
/// The losses are cut into blocks of the window's width. A window then covers the end of one block
/// and the beginning of the next. Its minimum is the lesser of a suffix minimum of the first block
/// and a prefix minimum of the second.
#[derive(Debug, Default)]
struct SlidingMinimum {
    padded: Vec<f64>,
    prefix: Vec<f64>,
    suffix: Vec<f64>,
}

impl SlidingMinimum {
    /// after[i] = min(after[i], before[i + shift − k] + loss(k)) over the piece's counts k.
    ///
    /// The loss is linear in k, so before[s] − slope · s can be minimised over a window of states s
    /// alone; slope · o is added back for output o.
    fn relax(&mut self, before: &[f64], after: &mut [f64], shift: i64, piece: Piece) {
        let wide = (piece.high - piece.low + 1) as usize;
        self.tilt(before, wide, piece.slope);
        self.minima(wide);
        // Output o is the minimum over before[o − wide + 1 ..= o], as far as these states exist.
        let states = before.len() + wide - 1;
        let first = i64::from(piece.low) - shift;
        for o in 0..states {
            let Ok(i) = usize::try_from(first + o as i64) else {
                continue;
            };
            let Some(to) = after.get_mut(i) else { break };
            let least = self.suffix[o].min(self.prefix[o + wide - 1]);
            let loss = least + piece.loss + piece.slope * o as f64;
            *to = if loss < *to { loss } else { *to };
        }
    }

    /// Pads both sides with infinity and subtracts the slope: before[s] − slope · s.
    fn tilt(&mut self, before: &[f64], wide: usize, slope: f64) {
        self.padded.clear();
        self.padded.resize(wide - 1, f64::INFINITY);
        let tilted = before
            .iter()
            .enumerate()
            .map(|(s, &loss)| loss - slope * s as f64);
        self.padded.extend(tilted);
        self.padded
            .resize(before.len() + 2 * (wide - 1), f64::INFINITY);
    }

    /// Computes the prefix and suffix minima within blocks of `wide` states.
    fn minima(&mut self, wide: usize) {
        self.prefix.clone_from(&self.padded);
        self.suffix.clone_from(&self.padded);
        for block in self.prefix.chunks_mut(wide) {
            for i in 1..block.len() {
                block[i] = block[i].min(block[i - 1]);
            }
        }
        for block in self.suffix.chunks_mut(wide) {
            for i in (1..block.len()).rev() {
                block[i - 1] = block[i - 1].min(block[i]);
            }
        }
    }
}
