//! Dynamic programming over losses, on what the bound leaves open.

use std::time::Instant;

use super::shape::{Shapes, Vertex};

/// Counts `low..=high` of one task with a loss linear in the count.
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

    /// The piece's counts within `least..=most`, if any.
    fn clipped(&self, least: i64, most: i64) -> Option<Piece> {
        let low = i64::from(self.low).max(least);
        let high = i64::from(self.high).min(most);
        if low > high {
            return None;
        }
        // Within the piece's own counts, so the casts lose nothing.
        let (low, high) = (low as u32, high as u32);
        Some(Piece {
            low,
            high,
            loss: self.loss_at(low),
            slope: self.slope,
        })
    }
}

/// A task with more than one count left, and the states reachable after it.
#[derive(Debug, Clone, Copy)]
struct Stage {
    task: usize,
    /// Its pieces are `pieces[first..last]`.
    first: usize,
    last: usize,
    /// Least and greatest count left.
    low: u32,
    high: u32,
    /// States (nodes used by the stages so far) worth keeping after this stage.
    window: Window,
}

/// States `low..=high`, nodes used by the stages so far.
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

/// What the search starts from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// Every task's value by count.
    pub shapes: &'a Shapes,
    /// Idle nodes.
    pub nodes: u32,
    /// Price of a node, λ.
    pub price: f64,
    /// Loss of the plan known so far.
    pub gap: f64,
    /// When to give up.
    pub deadline: Option<Instant>,
}

/// Minimises the total loss; keeps its buffers.
#[derive(Debug, Default)]
pub(super) struct Search {
    pieces: Vec<Piece>,
    stages: Vec<Stage>,
    /// Tasks with one count left, and that count.
    fixed: Vec<(usize, u32)>,
    /// Nodes left to the stages.
    capacity: i64,
    /// Least loss of each state: a layer for the start, then one per stage.
    losses: Vec<f64>,
    /// Where each layer lies in `losses`, and its states.
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

/// Widest piece that is walked count by count; wider ones by a sliding minimum.
const WALKED: u32 = 24;

/// First guess at the optimum's loss, as a share of the known gap; see [`Search::improve`].
const FIRST_GUESS: f64 = 1.0 / 64.0;

/// Below this many (state, count) pairs guessing costs more than it saves.
const SMALL: u64 = 20_000;

/// Most states kept at once: 512 MiB.
const MOST_STATES: u64 = 1 << 26;

/// How much a search has to do.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// States over all stages.
    states: u64,
    /// Pairs of a state and a count over all stages.
    pairs: u64,
}

/// How a search ended.
enum Ended {
    WithPlan,
    WithoutPlan,
    TooLate,
}

impl Search {
    /// Replaces `counts`, the plan known so far, by the one with the least loss; false
    /// where it had to give up, and `counts` is left as it was.
    ///
    /// A search that keeps only counts and states of loss ≤ g finds the optimum
    /// whenever that is ≤ g, so small guesses are tried first on large problems.
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
                // Nothing loses less than the plan known so far: that is optimal.
                Ended::WithoutPlan if limit >= case.gap => return true,
                Ended::WithoutPlan => limit = (4.0 * limit).min(case.gap),
            }
            size = self.open(case, limit);
        }
    }

    /// Lists the counts of loss ≤ `limit` and the states to visit; how much there is to
    /// do, or `None` where no plan can lose that little.
    fn open(&mut self, case: &Case<'_>, limit: f64) -> Option<Size> {
        self.pieces.clear();
        self.stages.clear();
        self.fixed.clear();
        self.capacity = i64::from(case.nodes);
        for task in 0..case.shapes.tasks() {
            let first = self.pieces.len();
            surviving_pieces(case.shapes.of(task), case.price, limit, &mut self.pieces);
            let own = &self.pieces[first..];
            let (low, high) = (own[0].low, own[own.len() - 1].high);
            if low == high {
                self.capacity -= i64::from(low);
                self.fixed.push((task, low));
                self.pieces.truncate(first);
                continue;
            }
            self.stages.push(Stage {
                task,
                first,
                last: self.pieces.len(),
                low,
                high,
                window: Window { low: 0, high: 0 },
            });
        }
        self.set_windows((limit / case.price).floor().min(1e15) as i64)
    }

    /// Bounds the states after each stage by what came before and what is to come,
    /// when the plan leaves at most `unused` of the stages' nodes.
    fn set_windows(&mut self, unused: i64) -> Option<Size> {
        let capacity = self.capacity;
        let (mut least_to_come, mut most_to_come) = (0, 0);
        for stage in self.stages.iter_mut().rev() {
            stage.window = Window {
                low: capacity - unused - most_to_come,
                high: capacity - least_to_come,
            };
            least_to_come += i64::from(stage.low);
            most_to_come += i64::from(stage.high);
        }
        if capacity < least_to_come || capacity - unused > most_to_come {
            return None;
        }
        let (mut least, mut most) = (0, 0);
        let mut size = Size::default();
        for stage in &mut self.stages {
            least += i64::from(stage.low);
            most += i64::from(stage.high);
            stage.window.low = stage.window.low.max(least);
            stage.window.high = stage.window.high.min(most);
            let width = stage.window.width() as u64;
            size.states = size.states.saturating_add(width);
            let counts = u64::from(stage.high - stage.low);
            size.pairs = size.pairs.saturating_add(width.saturating_mul(counts));
        }
        Some(size)
    }

    /// Runs the recursion; where a plan loses at most `limit`, writes the best.
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
        self.walk_back(state, counts);
        for &(task, count) in &self.fixed {
            counts[task] = count;
        }
        Ended::WithPlan
    }

    /// Computes the layer after stage `i`, cut to the states that lose at most
    /// `limit`; false where there is none.
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
        let pieces = &self.pieces[stage.first..stage.last];
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

    /// Follows the best counts from `state` after the last stage to the start.
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
            let mut best = (f64::INFINITY, stage.low);
            let pieces = &self.pieces[stage.first..stage.last];
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

/// The state with the least loss once unused nodes are charged at `price`, if that is
/// at most `limit`.
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

/// after[i] = min(after[i], before[i + shift] + loss) wherever both exist.
fn relax(before: &[f64], after: &mut [f64], shift: i64, loss: f64) {
    let (skip_before, skip_after) = (shift.max(0) as usize, (-shift).max(0) as usize);
    let before = before.get(skip_before..).unwrap_or_default();
    let after = after.get_mut(skip_after..).unwrap_or_default();
    for (to, &from) in after.iter_mut().zip(before) {
        let loss = from + loss;
        *to = if loss < *to { loss } else { *to };
    }
}

/// Appends the counts whose loss at `price` is at most `limit`, ascending.
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

/// The part strictly between two (count, loss) points whose loss is at most `limit`.
fn surviving_between(from: (u32, f64), to: (u32, f64), limit: f64) -> Option<Piece> {
    let slope = (to.1 - from.1) / f64::from(to.0 - from.0);
    let at = |count: u32| from.1 + slope * f64::from(count - from.0);
    let (mut low, mut high) = (from.0 + 1, to.0 - 1);
    // Where the loss crosses the limit; one count of slack against rounding.
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

/// Minimum over a sliding window, by block-wise prefix and suffix minima
/// (van Herk 1992, Gil and Werman 1993): a piece costs O(states), however wide.
#[derive(Debug, Default)]
struct SlidingMinimum {
    padded: Vec<f64>,
    prefix: Vec<f64>,
    suffix: Vec<f64>,
}

impl SlidingMinimum {
    /// after[i] = min(after[i], before[i + shift − k] + loss(k)) over the piece's counts k.
    fn relax(&mut self, before: &[f64], after: &mut [f64], shift: i64, piece: Piece) {
        let wide = (piece.high - piece.low + 1) as usize;
        self.tilt(before, wide, piece.slope);
        self.minima(wide);
        // Output o is the best over before[o − wide + 1 ..= o], wherever these exist.
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

    /// Pads both sides and takes the slope out: before[s] − slope · s.
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

    /// Prefix and suffix minima within blocks of `wide`.
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
