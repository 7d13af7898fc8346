//! Searches for the prices that give the lowest bound.
//!
//! The search is a subgradient method (Held, Wolfe and Crowder, 1974): prices rise where tasks want more nodes than are
//! idle, and fall where they want fewer. The target of each step is slightly below the best bound so far. If the bound
//! were linear, the step would reach the target (Polyak's step). The distance to the target is halved when no better
//! bound has been found for some rounds.

use gleaner_domain::Observer;

use super::Course;
use super::best::Best;

/// Maximum number of rounds. Each round changes the prices once. On Summit's log, 600 rounds would lower the bound by
/// another 0.02 %.
const ROUNDS: usize = 60;

/// Share by which the target of the first steps is below the best bound so far.
const FIRST_AIM: f64 = 0.01;
/// The search ends once the distance to the target is at most this share of the best bound.
const LAST_AIM: f64 = 1e-6;

/// The distance to the target is halved after this number of rounds without a better bound.
const PATIENCE: u32 = 5;

/// A bound counts as better if it is lower than the best bound so far by more than this share.
const BETTER: f64 = 1e-5;

/// Weight of the previous direction in the next direction. It damps the oscillation of prices that would otherwise
/// rise and fall in turn.
const INERTIA: f64 = 0.5;

/// The lowest bound found by a search that starts at `prices`; `None` if the search was stopped.
pub(super) fn least(course: &Course, mut prices: Vec<f64>, observer: &dyn Observer) -> Option<f64> {
    let mut best = Best::new(course);
    let mut least = f64::INFINITY;
    let (mut aim, mut stalled) = (FIRST_AIM, 0);
    let mut subgradient = vec![0.0; prices.len()];
    for round in 0..ROUNDS {
        observer.progress(round, ROUNDS);
        let demand = best.demand(&prices, observer)?;
        let found = demand.value + rent(course, &prices);
        stalled = if found < least * (1.0 - BETTER) {
            0
        } else {
            stalled + 1
        };
        least = least.min(found);
        if stalled == PATIENCE {
            (aim, stalled) = (aim / 2.0, 0);
        }
        let Some(nodes) = demand.nodes.filter(|_| aim > LAST_AIM) else {
            break;
        };
        let mut squares = 0.0;
        for (i, interval) in course.intervals.iter().enumerate() {
            let now = f64::from(interval.idle) - nodes[i];
            subgradient[i] = INERTIA * subgradient[i] + (1.0 - INERTIA) * now;
            // A price of 0 cannot fall.
            if prices[i] == 0.0 && subgradient[i] > 0.0 {
                subgradient[i] = 0.0;
            }
            squares += interval.seconds * subgradient[i] * subgradient[i];
        }
        if squares == 0.0 {
            break;
        }
        let step = (found - least * (1.0 - aim)) / squares;
        for (price, subgradient) in prices.iter_mut().zip(&subgradient) {
            *price = (*price - step * subgradient).max(0.0);
        }
    }
    Some(least)
}

/// The total price of all idle nodes over all intervals.
fn rent(course: &Course, prices: &[f64]) -> f64 {
    let priced = course.intervals.iter().zip(prices);
    priced
        .map(|(interval, price)| price * f64::from(interval.idle) * interval.seconds)
        .sum()
}
