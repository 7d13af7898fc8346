//! Divides the counts of a task into pieces on which the loss is linear in the count.
//!
//! The net value of a count is its value minus a price per node. The loss of a count is the best
//! net value of the task minus the net value of the count.
//!
//! Example: at a price of 9, a task that earns 30 on 3 nodes has a net value of 30 − 9 · 3 = 3 on 3 nodes, and of 0
//! without nodes. Its loss is 0 on 3 nodes, and 3 without nodes.

use super::shape::Vertex;

/// Pieces with at most this many counts are handled count by count; wider pieces, with a sliding minimum.
const WALKED: u32 = 24;

/// Range `low..=high` of counts of one task, within which the loss is linear in the count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub low: u32,
    pub high: u32,
    /// Loss at `low`.
    pub loss: f64,
    /// Loss per additional node.
    pub slope: f64,
}

impl Piece {
    pub fn loss_at(&self, count: u32) -> f64 {
        self.loss + self.slope * f64::from(count - self.low)
    }

    /// Whether the piece has at most [`WALKED`] counts.
    pub fn is_narrow(&self) -> bool {
        self.high - self.low < WALKED
    }

    /// The part of the piece within `least..=most`; `None` if it is empty.
    pub fn clipped(&self, least: i64, most: i64) -> Option<Piece> {
        let low = i64::from(self.low).max(least);
        let high = i64::from(self.high).min(most);
        if low > high {
            return None;
        }
        // Both ends are counts of the piece, so the casts are lossless.
        let (low, high) = (low as u32, high as u32);
        Some(Piece {
            low,
            high,
            loss: self.loss_at(low),
            slope: self.slope,
        })
    }
}

/// Appends to `out` the pieces of the counts whose loss at `price` is at most `limit`, in ascending order of counts.
pub(super) fn surviving_pieces(vertices: &[Vertex], price: f64, limit: f64, out: &mut Vec<Piece>) {
    let net = |v: &Vertex| v.value - price * f64::from(v.count);
    let top = vertices.iter().map(net).fold(f64::NEG_INFINITY, f64::max);
    push_pieces(vertices, |v| top - net(v), limit, out);
}

/// Appends to `out` the pieces of all counts, in ascending order of counts. The loss of a count is its negated value.
pub(super) fn all_pieces(vertices: &[Vertex], out: &mut Vec<Piece>) {
    push_pieces(vertices, |v| -v.value, f64::INFINITY, out);
}

fn push_pieces(
    vertices: &[Vertex],
    loss: impl Fn(&Vertex) -> f64,
    limit: f64,
    out: &mut Vec<Piece>,
) {
    let mut before: Option<(u32, f64)> = None;
    for v in vertices {
        let loss = loss(v);
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

/// Finds the counts that lie strictly between two (count, loss) points and lose at most `limit`. Between the points,
/// the loss is linear.
fn surviving_between(from: (u32, f64), to: (u32, f64), limit: f64) -> Option<Piece> {
    let slope = (to.1 - from.1) / f64::from(to.0 - from.0);
    let at = |count: u32| from.1 + slope * f64::from(count - from.0);
    let (mut low, mut high) = (from.0 + 1, to.0 - 1);
    // The count at which the loss crosses the limit, rounded outwards. The loops below drop counts
    // whose loss is above the limit.
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
