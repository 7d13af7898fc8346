//! Ranks trials with several losses.
//!
//! A trial *dominates* another if none of its losses is higher and at least one is lower. *Front* 0 contains the trials
//! that no other trial dominates, front 1 the trials that only trials of front 0 dominate, and so on. This is the
//! non-dominated sort of Deb et al., "A Fast and Elitist Multiobjective Genetic Algorithm: NSGA-II", IEEE Transactions
//! on Evolutionary Computation 6(2), 2002.
//!
//! Example with two losses: of the trials a (1, 4), b (2, 2), c (4, 1), d (3, 3) and e (4, 4), front 0 contains a, b and
//! c, front 1 contains d, and front 2 contains e.
//!
//! If only some trials of a front can be promoted, they should cover the whole front. Therefore, a front is ordered by
//! distance, as in multi-objective ASHA with an epsilon-net (Schmucker et al., "Multi-objective Asynchronous Successive
//! Halving", 2021, arXiv:2106.12639). The first trial is the one with the lowest first loss. Each further trial is the
//! one farthest from the trials before it. In the example, front 0 is ordered a, c, b. Unlike in the paper, each loss is
//! divided by its range in the front, so that the order does not depend on the units of the losses.

use std::mem;

/// A trial with its losses.
#[derive(Debug, Clone, PartialEq)]
struct Member {
    trial: u32,
    losses: Vec<f64>,
}

impl Member {
    /// If a loss is not finite, training diverged, and all losses of the trial are set to infinity.
    fn new(trial: u32, losses: &[f64]) -> Self {
        let has_diverged = !losses.iter().all(|loss| loss.is_finite());
        let losses = losses.iter();
        Member {
            trial,
            losses: losses
                .map(|&loss| if has_diverged { f64::INFINITY } else { loss })
                .collect(),
        }
    }

    fn dominates(&self, other: &Member) -> bool {
        let pairs = || self.losses.iter().zip(&other.losses);
        pairs().all(|(own, other)| own <= other) && pairs().any(|(own, other)| own < other)
    }
}

/// Trials with several losses, sorted into fronts.
#[derive(Debug, Clone, Default)]
pub struct Fronts {
    fronts: Vec<Vec<Member>>,
}

impl Fronts {
    /// Adds a trial. All trials must have the same number of losses. If a loss of this trial is not finite, all
    /// its losses count as infinite.
    ///
    /// The trial joins the first front in which no trial dominates it. The trials of that front that it dominates move
    /// to the next front, where they can dominate other trials, and so on. All other trials keep their fronts (Li et
    /// al., "Efficient Non-domination Level Update Approach for Steady-State Evolutionary Multiobjective Optimization",
    /// 2014).
    pub fn insert(&mut self, trial: u32, losses: &[f64]) {
        let new = Member::new(trial, losses);
        // If a trial in some front dominates the new trial, so does a trial in each front before it.
        let is_above = |front: &Vec<Member>| front.iter().any(|other| other.dominates(&new));
        let mut place = self.fronts.partition_point(is_above);
        let mut moving = vec![new];
        while !moving.is_empty() {
            if place == self.fronts.len() {
                self.fronts.push(Vec::new());
            }
            let front = &mut self.fronts[place];
            let is_dominated = |other: &Member| moving.iter().any(|new| new.dominates(other));
            let (dominated, mut kept): (Vec<_>, Vec<_>) =
                mem::take(front).into_iter().partition(is_dominated);
            kept.append(&mut moving);
            *front = kept;
            moving = dominated;
            place += 1;
        }
    }

    /// The trials of each front, in any order.
    pub fn trials(&self) -> impl Iterator<Item = impl Iterator<Item = u32>> {
        let fronts = self.fronts.iter();
        fronts.map(|front| front.iter().map(|member| member.trial))
    }

    /// The trials of all fronts, best first.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = u32> {
        self.fronts.iter().flat_map(|front| spread(front))
    }

    /// The best trial for which `is_open` holds, among the best `count` trials.
    pub(crate) fn best_of(&self, count: usize, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        let mut left = count;
        for front in self.fronts.iter().take_while(|_| count > 0) {
            // A front is only ordered if it contains a candidate, because ordering takes time.
            if left > 0 && front.iter().any(|member| is_open(member.trial)) {
                let mut best = spread(front).into_iter().take(left);
                if let Some(trial) = best.find(|&trial| is_open(trial)) {
                    return Some(trial);
                }
            }
            left = left.saturating_sub(front.len());
        }
        None
    }
}

/// The trials of a front, ordered so that the first few cover the whole front. At equal distances, the trial with the
/// lower number comes first.
fn spread(front: &[Member]) -> Vec<u32> {
    let scales = scales(front);
    let mut left: Vec<&Member> = front.iter().collect();
    left.sort_by_key(|member| member.trial);
    let first = |member: &Member| member.losses.first().copied().unwrap_or(0.0);
    let lowest = (0..left.len()).min_by(|&a, &b| first(left[a]).total_cmp(&first(left[b])));
    let Some(mut next) = lowest else {
        return Vec::new();
    };
    // The squared distance of each trial in `left` to the nearest trial in `order`.
    let mut nearest = vec![f64::INFINITY; left.len()];
    let mut order = Vec::with_capacity(left.len());
    loop {
        nearest.remove(next);
        let chosen = left.remove(next);
        order.push(chosen.trial);
        for (distance, member) in nearest.iter_mut().zip(&left) {
            *distance = distance.min(squared_distance(chosen, member, &scales));
        }
        // Of several maxima, `max_by` returns the last, so the trials are visited in reverse.
        let farthest = (0..left.len()).rev();
        match farthest.max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])) {
            Some(farthest) => next = farthest,
            None => return order,
        }
    }
}

/// The range of each loss in a front.
fn scales(front: &[Member]) -> Vec<f64> {
    let losses = front.first().map_or(0, |member| member.losses.len());
    let range = |place: usize| {
        let values = || front.iter().filter_map(|member| member.losses.get(place));
        let highest = values().copied().fold(f64::NEG_INFINITY, f64::max);
        highest - values().copied().fold(f64::INFINITY, f64::min)
    };
    (0..losses).map(range).collect()
}

/// The squared Euclidean distance between two trials of a front. Losses whose range is 0 or not finite do not count.
fn squared_distance(a: &Member, b: &Member, scales: &[f64]) -> f64 {
    let pairs = a.losses.iter().zip(&b.losses).zip(scales);
    let pairs = pairs.filter(|(_, scale)| scale.is_finite() && **scale > 0.0);
    pairs.map(|((a, b), scale)| ((a - b) / scale).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fronts(losses: &[Vec<f64>]) -> Fronts {
        let mut fronts = Fronts::default();
        for (trial, losses) in (0..).zip(losses) {
            fronts.insert(trial, losses);
        }
        fronts
    }

    // The example in the documentation of the module.
    #[test]
    fn a_front_is_ordered_so_that_its_first_trials_cover_it() {
        let points = [[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [3.0, 3.0], [4.0, 4.0]];
        let fronts = fronts(&points.map(Vec::from));
        let trials: Vec<Vec<u32>> = fronts.trials().map(Iterator::collect).collect();
        assert_eq!(trials, [vec![0, 1, 2], vec![3], vec![4]]);
        let ranked: Vec<u32> = fronts.ranked().collect();
        assert_eq!(ranked, [0, 2, 1, 3, 4]);
        assert_eq!(fronts.best_of(2, |trial| trial != 0), Some(2));
        assert_eq!(fronts.best_of(1, |trial| trial != 0), None);
    }

    #[test]
    fn diverged_trials_come_last_in_the_order_of_their_numbers() {
        let points = [[f64::NAN, 0.0], [f64::INFINITY, 1.0], [5.0, 5.0]];
        let ranked: Vec<u32> = fronts(&points.map(Vec::from)).ranked().collect();
        assert_eq!(ranked, [2, 0, 1]);
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        /// Inserting trials one by one gives the fronts of the definition, which repeatedly removes the trials that no
        /// other trial dominates.
        #[test]
        fn fronts_follow_their_definition(
            points in proptest::collection::vec(proptest::collection::vec(0u8..6, 3), 0..40),
        ) {
            let points: Vec<Vec<f64>> =
                points.into_iter().map(|p| p.into_iter().map(f64::from).collect()).collect();
            let mut left: Vec<usize> = (0..points.len()).collect();
            let dominates = |a: &Vec<f64>, b: &Vec<f64>| a != b && (0..3).all(|k| a[k] <= b[k]);
            for front in fronts(&points).trials() {
                let mut found: Vec<usize> = front.map(|trial| trial as usize).collect();
                found.sort_unstable();
                let is_best = |&place: &usize| !left.iter().any(|&o| dominates(&points[o], &points[place]));
                let best: Vec<usize> = left.iter().copied().filter(is_best).collect();
                prop_assert_eq!(&found, &best);
                left.retain(|place| !best.contains(place));
            }
            prop_assert!(left.is_empty());
        }

        /// With one loss, the ranking is the order of the losses.
        #[test]
        fn one_loss_is_ranked_by_its_value(losses in proptest::collection::vec(0u8..9, 0..40)) {
            let points: Vec<Vec<f64>> = losses.iter().map(|&loss| vec![f64::from(loss)]).collect();
            let ranked: Vec<u32> = fronts(&points).ranked().collect();
            let mut expected: Vec<u32> = (0..losses.len() as u32).collect();
            expected.sort_by_key(|&trial| losses[trial as usize]);
            prop_assert_eq!(ranked, expected);
        }
    }
}
