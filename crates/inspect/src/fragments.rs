//! Idle fragments: the spans during which a node stays idle.

use serde::Serialize;

use super::distribution::bins;
use super::{Bin, Distribution, idle_since};
use gleaner_domain::EventLog;

/// Bounds of the bins, in seconds: 1 and 10 minutes, 1, 6 and 24 hours.
const BOUNDS: [f64; 5] = [60.0, 600.0, 3_600.0, 21_600.0, 86_400.0];

/// The idle fragments of a log.
///
/// A fragment lasts from the row at which a node becomes idle to the row at which the node becomes busy.
/// If a fragment extends beyond the log's first or last row, only its length within the log counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fragments {
    /// The fragments' lengths. The sum of a bin is the idle node-time of its fragments.
    #[serde(flatten)]
    pub lengths: Distribution,
    /// Number of nodes that are idle at the first row. The fragments of these nodes began before the log.
    pub cut_at_start: usize,
    /// Number of nodes that are idle at the last row. The fragments of these nodes end after the log.
    pub cut_at_end: usize,
}

impl Fragments {
    /// Describes the fragments with these `sorted` lengths in nanoseconds.
    pub(super) fn new(sorted: &[u64], cut_at_start: usize, cut_at_end: usize) -> Self {
        Fragments {
            lengths: Distribution::new(sorted, &BOUNDS),
            cut_at_start,
            cut_at_end,
        }
    }

    /// The fragments shorter than 10 minutes, as a share of the number of fragments and as a share of idle
    /// node-time.
    pub fn under_ten_minutes(&self) -> (f64, f64) {
        let short = self
            .lengths
            .bins
            .iter()
            .filter(|b| b.to_s.is_some_and(|to| to <= 600.0));
        short.fold((0.0, 0.0), |sum, b| {
            (sum.0 + b.count_share, sum.1 + b.sum_share)
        })
    }
}

/// Returns only the bins of [`Fragments`] for a log, which is faster than computing all figures of [`Fragments`].
pub fn fragment_bins(log: &EventLog) -> Vec<Bin> {
    bins(&idle_since::lengths(log), &BOUNDS)
}
