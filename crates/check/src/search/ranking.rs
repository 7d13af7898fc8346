//! Ranks trials by one or several losses.
//!
//! With several losses, consider all chains of trials in which each trial dominates the next. The front of a trial is
//! the number of trials before it in the longest chain that ends with this trial. Within a front, trials are ordered by
//! their distances to the trials before them, as in Schmucker et al. 2021 (arXiv:2106.12639), with each loss divided by
//! its range in the front.

use std::cmp::Ordering;

/// A trial with its losses.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub losses: Vec<f64>,
    pub trial: u32,
}

impl Measured {
    /// Creates a trial with its losses. If a loss is not finite, training has diverged, and all losses of the trial are
    /// set to infinity. Adding 0 turns negative zero into positive zero.
    pub fn new(trial: u32, losses: &[f64]) -> Self {
        let is_sound = losses.iter().all(|loss| loss.is_finite());
        let worst = |loss: &f64| if is_sound { loss + 0.0 } else { f64::INFINITY };
        Measured {
            losses: losses.iter().map(worst).collect(),
            trial,
        }
    }

    /// The first loss.
    pub fn first(&self) -> f64 {
        self.losses.first().copied().unwrap_or(f64::INFINITY)
    }

    /// Compares two trials by the first loss in which they differ, or by their numbers if all losses are equal.
    fn by_losses(&self, other: &Self) -> Ordering {
        let mut pairs = self.losses.iter().zip(&other.losses);
        let first = pairs.find_map(|(a, b)| Some(a.total_cmp(b)).filter(|order| order.is_ne()));
        first.unwrap_or(self.trial.cmp(&other.trial))
    }
}

/// The trials, best first.
pub(super) fn ranked(measured: &[Measured]) -> Vec<u32> {
    let mut sorted: Vec<&Measured> = measured.iter().collect();
    sorted.sort_by(|a, b| a.by_losses(b));
    if sorted.iter().all(|row| row.losses.len() < 2) {
        return sorted.iter().map(|row| row.trial).collect();
    }
    let fronts = fronts(&sorted);
    let last = fronts.iter().max().map_or(0, |last| last + 1);
    let members = |front: usize| {
        let rows = sorted.iter().zip(&fronts);
        rows.filter(move |(_, of)| **of == front)
            .map(|(row, _)| *row)
    };
    let fronts = (0..last).map(|front| members(front).collect());
    fronts.flat_map(by_distance).collect()
}

/// The front of each finished trial, as it appears in the table; `None` for trials that are not listed.
pub(super) fn fronts_of(measured: &[Measured], trials: usize) -> Vec<Option<u32>> {
    let mut sorted: Vec<&Measured> = measured.iter().collect();
    sorted.sort_by(|a, b| a.by_losses(b));
    let mut found = vec![None; trials];
    for (row, front) in sorted.iter().zip(fronts(&sorted)) {
        found[row.trial as usize] = Some(front as u32);
    }
    found
}

/// The front of each trial. The trials must be sorted by their losses, so that each trial comes after all trials that
/// dominate it.
fn fronts(sorted: &[&Measured]) -> Vec<usize> {
    let mut fronts: Vec<usize> = Vec::with_capacity(sorted.len());
    for (place, row) in sorted.iter().enumerate() {
        let dominates = |other: &Measured| {
            let pairs = other.losses.iter().zip(&row.losses);
            other.losses != row.losses && pairs.into_iter().all(|(other, own)| other <= own)
        };
        let earlier = sorted[..place].iter().zip(&fronts);
        let above = earlier.filter(|(other, _)| dominates(other));
        let front = above.map(|(_, front)| front + 1).max().unwrap_or(0);
        fronts.push(front);
    }
    fronts
}

/// Orders the trials of a front, which must be sorted by their losses. The trial with the lowest first loss comes
/// first. Each further trial is the one farthest from the trials before it.
fn by_distance(mut front: Vec<&Measured>) -> Vec<u32> {
    let lowest = front.first().map_or(0.0, |row| row.first());
    front.sort_by_key(|row| row.trial);
    let losses = front.first().map_or(0, |row| row.losses.len());
    let range = |loss: usize| {
        let values = || front.iter().map(|row| row.losses[loss]);
        let (low, high) = (values().reduce(f64::min), values().reduce(f64::max));
        let range = low.zip(high).map(|(low, high)| high - low);
        range.filter(|range| range.is_finite() && *range > 0.0)
    };
    let ranges: Vec<Option<f64>> = (0..losses).map(range).collect();
    let distance = |a: &Measured, b: &Measured| {
        let part = |loss: usize| {
            ranges[loss].map_or(0.0, |range| {
                ((a.losses[loss] - b.losses[loss]) / range).powi(2)
            })
        };
        (0..losses).map(part).sum::<f64>()
    };
    // At the start, the trial with the lowest first loss counts as the farthest.
    let start = |row: &&Measured| {
        if row.first() == lowest {
            f64::INFINITY
        } else {
            -1.0
        }
    };
    let mut open: Vec<(f64, &Measured)> = front.iter().map(|row| (start(row), *row)).collect();
    let mut order: Vec<&Measured> = Vec::new();
    while !open.is_empty() {
        let most = open
            .iter()
            .map(|(far, _)| *far)
            .fold(f64::NEG_INFINITY, f64::max);
        let place = open.iter().position(|(far, _)| *far == most).unwrap_or(0);
        let (_, next) = open.remove(place);
        for (far, row) in &mut open {
            let before = if order.is_empty() {
                f64::INFINITY
            } else {
                *far
            };
            *far = before.min(distance(next, row));
        }
        order.push(next);
    }
    order.iter().map(|row| row.trial).collect()
}
