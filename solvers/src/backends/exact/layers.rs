//! The layers of dynamic programming over numbers of nodes.
//!
//! A *state* is the number of nodes that some tasks use together. A *layer* holds, for each state
//! of a window, the least loss with which these tasks can use that many nodes, or infinity if they cannot. Each
//! additional task turns the previous layer into a new layer.

use super::pieces::Piece;

/// The states `low..=high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub low: i64,
    pub high: i64,
}

impl Window {
    pub fn width(self) -> usize {
        usize::try_from(self.high - self.low + 1).unwrap_or(0)
    }
}

/// A layer: its window of states, and the offset of its losses in the vector that stores the losses of all layers one
/// after another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer {
    pub offset: usize,
    pub window: Window,
}

impl Layer {
    pub fn slice(self, losses: &[f64]) -> &[f64] {
        &losses[self.offset..self.offset + self.window.width()]
    }
}

/// Finds the count of a task, among the counts of `pieces`, that leads to `state` at the least loss. Returns this
/// loss and the count. The layer before the task is `from`, whose least losses are `before`. Among equally good
/// counts, the first wins. If no count leads to `state`, the loss is infinite and the count is `least`.
pub(super) fn best_count(
    pieces: &[Piece],
    least: u32,
    (from, before): (Window, &[f64]),
    state: i64,
) -> (f64, u32) {
    let loss_before = |count: u32| {
        usize::try_from(state - i64::from(count) - from.low)
            .ok()
            .and_then(|s| before.get(s))
            .copied()
            .unwrap_or(f64::INFINITY)
    };
    let mut best = (f64::INFINITY, least);
    let (fewest, most) = (state - from.high, state - from.low);
    for piece in pieces.iter().filter_map(|p| p.clipped(fewest, most)) {
        for count in piece.low..=piece.high {
            let loss = loss_before(count) + piece.loss_at(count);
            if loss < best.0 {
                best = (loss, count);
            }
        }
    }
    best
}

/// after[i] = min(after[i], before[i + shift] + loss), for every i at which both exist.
pub(super) fn relax(before: &[f64], after: &mut [f64], shift: i64, loss: f64) {
    let (skip_before, skip_after) = (shift.max(0) as usize, (-shift).max(0) as usize);
    let before = before.get(skip_before..).unwrap_or_default();
    let after = after.get_mut(skip_after..).unwrap_or_default();
    for (to, &from) in after.iter_mut().zip(before) {
        let loss = from + loss;
        *to = if loss < *to { loss } else { *to };
    }
}

/// Minimum over a sliding window, by block-wise prefix and suffix minima (van Herk 1992, Gil and
/// Werman 1993). A piece takes O(states) time, however many counts it has.
///
/// The losses are cut into blocks of the window's width. A window then covers the end of one block
/// and the beginning of the next. Its minimum is the lesser of a suffix minimum of the first block
/// and a prefix minimum of the second.
///
/// Example: losses 5 1 4 | 2 6 3 in blocks of 3. The window 1 4 2 has the suffix minimum 1 of its
/// part 1 4 and the prefix minimum 2 of its part 2, so its minimum is 1.
#[derive(Debug, Default)]
pub(super) struct SlidingMinimum {
    padded: Vec<f64>,
    prefix: Vec<f64>,
    suffix: Vec<f64>,
}

impl SlidingMinimum {
    /// Adds a task with these pieces to the layer `from`, whose least losses are `before`. `after`
    /// holds the least losses of the states in `window`. The loss of a state is lowered if the task leads to that state
    /// at a smaller loss.
    pub fn add_task(
        &mut self,
        pieces: &[Piece],
        (from, before): (Window, &[f64]),
        (window, after): (Window, &mut [f64]),
    ) {
        let least = window.low - from.high;
        let most = window.high - from.low;
        for piece in pieces.iter().filter_map(|p| p.clipped(least, most)) {
            if piece.is_narrow() {
                for count in piece.low..=piece.high {
                    let to = window.low - i64::from(count) - from.low;
                    relax(before, after, to, piece.loss_at(count));
                }
            } else {
                self.relax(before, after, window.low - from.low, piece);
            }
        }
    }

    /// after[i] = min(after[i], before[i + shift − k] + loss(k)) over the piece's counts k.
    ///
    /// The loss is linear in k, so it is enough to minimise before[s] − slope · s over a window of states s. For
    /// output o, slope · o is then added back.
    fn relax(&mut self, before: &[f64], after: &mut [f64], shift: i64, piece: Piece) {
        let wide = (piece.high - piece.low + 1) as usize;
        self.tilt(before, wide, piece.slope);
        self.minima(wide);
        // Output o is the minimum over those states of before[o − wide + 1 ..= o] that exist.
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
