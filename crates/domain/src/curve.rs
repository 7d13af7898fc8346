//! Scaling curves. Tasks with equal curves share one copy of the curve.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use gleaner_solvers::Rates;
use gleaner_solvers::problem::interpolate;

/// A task's progress and objective by number of nodes, interpolated linearly between the points.
///
/// A clone shares the lists of the original.
#[derive(Debug, Clone)]
pub struct ScalingCurve {
    /// Node counts, starting with 0 and strictly increasing.
    pub nodes: Arc<[u32]>,
    /// Work per second at each count.
    pub progress: Rates,
    /// Value of the objective per second at each count, such as the progress itself or a normalised speedup.
    pub objective: Rates,
}

impl ScalingCurve {
    /// Work per second on `count` nodes.
    pub fn progress_at(&self, count: u32) -> f64 {
        interpolate(&self.nodes, |i| self.progress[i], count)
    }

    /// The curve with its progress and objective multiplied by `factor`. If progress and objective share one list of
    /// rates, they also share one list in the scaled curve.
    pub fn scaled(&self, factor: f64) -> ScalingCurve {
        let times = |rates: &Rates| rates.iter().map(|rate| rate * factor).collect();
        let progress: Rates = times(&self.progress);
        let is_shared = Arc::ptr_eq(self.progress.list(), self.objective.list());
        ScalingCurve {
            nodes: Arc::clone(&self.nodes),
            objective: if is_shared {
                progress.clone()
            } else {
                times(&self.objective)
            },
            progress,
        }
    }
}

impl Ord for ScalingCurve {
    /// Compares the lists' values. The comparison is fast if the curves share lists or differ in an early value.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.nodes.len().cmp(&other.nodes.len());
        by_length
            .then_with(|| compare(self.progress.list(), other.progress.list(), f64::total_cmp))
            .then_with(|| {
                compare(
                    self.objective.list(),
                    other.objective.list(),
                    f64::total_cmp,
                )
            })
            .then_with(|| compare(&self.nodes, &other.nodes, u32::cmp))
    }
}

fn compare<T>(a: &Arc<[T]>, b: &Arc<[T]>, order: fn(&T, &T) -> Ordering) -> Ordering {
    if Arc::ptr_eq(a, b) {
        return Ordering::Equal;
    }
    let pairs = a.iter().zip(b.iter());
    let differing = pairs.map(|(a, b)| order(a, b)).find(|o| o.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}

impl PartialOrd for ScalingCurve {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScalingCurve {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ScalingCurve {}

/// A set of distinct curves, used to let equal curves share their lists.
#[derive(Debug, Default)]
pub struct CurveSet(BTreeSet<ScalingCurve>);

impl CurveSet {
    /// Returns the curve of the set that equals `curve`. If there is no such curve, `curve` is
    /// added and returned.
    pub fn share(&mut self, curve: ScalingCurve) -> ScalingCurve {
        if let Some(known) = self.0.get(&curve) {
            return known.clone();
        }
        self.0.insert(curve.clone());
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(progress: &[f64]) -> ScalingCurve {
        ScalingCurve {
            nodes: (0..progress.len() as u32).collect(),
            progress: progress.into(),
            objective: progress.into(),
        }
    }

    #[test]
    fn equal_curves_share_their_lists() {
        let mut set = CurveSet::default();
        let first = set.share(curve(&[0.0, 1.0, 1.5]));
        let again = set.share(curve(&[0.0, 1.0, 1.5]));
        let other = set.share(curve(&[0.0, 1.0]));
        assert!(Arc::ptr_eq(first.progress.list(), again.progress.list()));
        assert!(Arc::ptr_eq(&first.nodes, &again.nodes));
        assert_ne!(first, other);
        assert_eq!(other.progress_at(7), 1.0);
    }

    #[test]
    fn a_scaled_curve_has_scaled_rates_on_the_same_nodes() {
        let plain = curve(&[0.0, 1.0, 1.5]);
        let scaled = plain.scaled(2.0);
        assert!(Arc::ptr_eq(&scaled.nodes, &plain.nodes));
        assert_eq!(scaled.progress[..], [0.0, 2.0, 3.0]);
        assert_eq!(scaled.objective, scaled.progress);
        let other = ScalingCurve {
            objective: [0.0, 4.0, 5.0].into(),
            ..plain
        };
        let scaled = other.scaled(0.5);
        assert_eq!(scaled.progress[..], [0.0, 0.5, 0.75]);
        assert_eq!(scaled.objective[..], [0.0, 2.0, 2.5]);
    }

    #[test]
    fn curves_differ_in_any_list() {
        let of = |nodes: u32, progress: f64, objective: f64| ScalingCurve {
            nodes: [0, nodes].into(),
            progress: [0.0, progress].into(),
            objective: [0.0, objective].into(),
        };
        assert_eq!(of(4, 2.0, 1.0), of(4, 2.0, 1.0));
        for other in [of(5, 2.0, 1.0), of(4, 3.0, 1.0), of(4, 2.0, 2.0)] {
            assert_ne!(of(4, 2.0, 1.0), other);
        }
    }
}
