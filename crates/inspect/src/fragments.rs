//! Idle fragments: the spans over which a node stays idle.

use serde::Serialize;

use super::distribution::bins;
use super::{Bin, Distribution, idle_since};
use gleaner_domain::EventLog;

/// Bounds of the bins, in seconds: 1 and 10 minutes, 1, 6 and 24 hours.
const BOUNDS: [f64; 5] = [60.0, 600.0, 3_600.0, 21_600.0, 86_400.0];

/// The idle fragments of a log.
///
/// A fragment runs from the row at which a node becomes idle to the one at which it becomes busy.
/// If the log's first or last row cuts off a fragment, only its length within the log counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fragments {
    /// Their lengths; a bin's sum is idle node-time.
    #[serde(flatten)]
    pub lengths: Distribution,
    /// Number of fragments idle at the first row: they began before the log.
    pub cut_at_start: usize,
    /// Number of fragments idle at the last row: they end after the log.
    pub cut_at_end: usize,
}

impl Fragments {
    /// Builds them from `sorted` lengths in nanoseconds.
    pub(super) fn new(sorted: &[u64], cut_at_start: usize, cut_at_end: usize) -> Self {
        Fragments {
            lengths: Distribution::new(sorted, &BOUNDS),
            cut_at_start,
            cut_at_end,
        }
    }

    /// The fragments shorter than 10 minutes: their share of all, and of idle node-time.
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

/// The idle fragments of `log` by length: the bins of [`Fragments`], without the figures that
/// take longer to compute.
pub fn fragment_bins(log: &EventLog) -> Vec<Bin> {
    bins(&idle_since::lengths(log), &BOUNDS)
}
