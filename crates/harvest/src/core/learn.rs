//! Learns how a task trains from its reports: its rate by number of nodes, and what a rescale costs it.
//!
//! The rate on n nodes is the work between reports of runs on n nodes, divided by the time between them. Older reports
//! count less: at each report, the sums so far are multiplied by [`FADING`]. A count is used once the reports cover
//! [`ENOUGH_S`] seconds.
//!
//! The cost of a rescale is the time between the last report before it and the first report after it, less the usual
//! time between two reports; work that was done before the rescale and is missing afterwards is added as the time that
//! it took. Example: a task that does 10 units per second reports every 5 s. Its last report before a rescale is 1,000
//! units, the first one after it comes 25 s later and is 950 units. The rescale cost 25 - 5 = 20 s and another
//! 50 / 10 = 5 s, so 25 s.
//!
//! Counts that were never seen keep the shape of the curve in the task's file. The file may be wrong about the speed
//! of the machine as a whole, so its curve is scaled to agree with the nearest count that was seen, and no count is
//! expected to be faster than linear scaling from a smaller count that was seen.

use std::collections::BTreeMap;

use gleaner_solvers::range::RATE;

use super::Millis;
use gleaner_domain::ScalingCurve;

/// Factor by which earlier reports lose weight at each report.
const FADING: f64 = 0.95;
/// Seconds that the reports on a number of nodes must cover before their rate is used.
const ENOUGH_S: f64 = 5.0;
/// Weight of a new cost in the mean of the costs.
const COST_WEIGHT: f64 = 0.3;
/// Upper bound on the cost of a rescale, in seconds. Nonsensical reports could lead to higher costs.
const LONGEST_S: f64 = 86_400.0;
/// Relative change of a rate or cost that is worth a new curve.
const NOTABLE: f64 = 0.05;

/// A report.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Report {
    time: Millis,
    generation: u32,
    nodes: u32,
    done: f64,
}

/// Faded sums of the reports on a number of nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    seconds: f64,
    work: f64,
    reports: f64,
}

/// What is known about a task from its reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Learner {
    last: Option<Report>,
    by_nodes: BTreeMap<u32, Sums>,
    up: Option<f64>,
    down: Option<f64>,
    /// The rates and costs of the last curve that was returned.
    used: Vec<f64>,
}

impl Learner {
    /// Records that a task has done `done` units of work, on `nodes` nodes.
    pub fn report(&mut self, time: Millis, generation: u32, nodes: u32, done: f64) {
        let report = Report {
            time,
            generation,
            nodes,
            done,
        };
        if let Some(last) = self.last {
            let seconds = (time - last.time) as f64 / 1000.0;
            if generation != last.generation || nodes != last.nodes {
                self.cost(&last, &report, seconds);
            } else if seconds > 0.0 && done >= last.done {
                let sums = self.by_nodes.entry(nodes).or_default();
                sums.seconds = sums.seconds * FADING + seconds;
                sums.work = sums.work * FADING + (done - last.done);
                sums.reports = sums.reports * FADING + 1.0;
            } else {
                // A report in the same millisecond, or one whose work has decreased without a restart, gives no
                // measurement.
                return;
            }
        }
        self.last = Some(report);
    }

    /// Updates the cost of growing or shrinking from the reports before and after a rescale.
    fn cost(&mut self, before: &Report, after: &Report, seconds: f64) {
        let Some(sums) = self.by_nodes.get(&before.nodes) else {
            return;
        };
        let usual = sums.seconds / sums.reports;
        let rate = sums.work / sums.seconds;
        let repeated = if rate > 0.0 {
            (before.done - after.done).max(0.0) / rate
        } else {
            0.0
        };
        let cost = ((seconds - usual).max(0.0) + repeated).min(LONGEST_S);
        let known = if after.nodes > before.nodes {
            &mut self.up
        } else {
            &mut self.down
        };
        *known = Some(known.map_or(cost, |mean| mean + COST_WEIGHT * (cost - mean)));
    }

    /// The measured work per second by number of nodes.
    pub fn rates(&self) -> Vec<(u32, f64)> {
        let known = self.by_nodes.iter();
        let known = known.filter(|(_, sums)| sums.seconds >= ENOUGH_S);
        let rates = known.map(|(nodes, sums)| (*nodes, sums.work / sums.seconds));
        rates.filter(|(_, rate)| RATE.contains(rate)).collect()
    }

    /// The measured curve and the costs of growing and shrinking, if they differ notably from those that were returned
    /// last. `given` is the curve of the task's file, and the costs are those of the file.
    pub fn measured(
        &mut self,
        given: &ScalingCurve,
        (up, down): (f64, f64),
    ) -> Option<(ScalingCurve, f64, f64)> {
        if !self.has_news() {
            return None;
        }
        self.used = self.known();
        let (up, down) = (self.up.unwrap_or(up), self.down.unwrap_or(down));
        Some((curve(given, &self.rates()), up, down))
    }

    /// Whether [`Learner::measured`] returns a curve.
    pub fn has_news(&self) -> bool {
        let known = self.known();
        let is_notable =
            |(old, new): (&f64, &f64)| (new - old).abs() > NOTABLE * old.abs().max(1e-9);
        known.len() != self.used.len() || self.used.iter().zip(&known).any(is_notable)
    }

    /// The measured rates and costs.
    fn known(&self) -> Vec<f64> {
        let rates = self.rates().into_iter().map(|(_, rate)| rate);
        rates.chain(self.up).chain(self.down).collect()
    }
}

/// The curve of the task's file, corrected by the measured rates.
fn curve(given: &ScalingCurve, rates: &[(u32, f64)]) -> ScalingCurve {
    if rates.is_empty() {
        return given.clone();
    }
    let last = given.nodes.last().copied().unwrap_or(0);
    let seen = rates
        .iter()
        .map(|(nodes, _)| *nodes)
        .filter(|nodes| *nodes <= last);
    let mut nodes: Vec<u32> = given.nodes.iter().copied().chain(seen).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let progress: Vec<f64> = nodes
        .iter()
        .map(|&count| rate(given, rates, count))
        .collect();
    let objective: Vec<f64> = if given.progress == given.objective {
        progress.clone()
    } else {
        // The ratio of the objective to the progress is preserved.
        let objective_at = |count: u32| {
            gleaner_solvers::problem::interpolate(&given.nodes, |i| given.objective[i], count)
        };
        let pairs = nodes.iter().zip(&progress);
        let scaled = pairs.map(|(&count, rate)| match given.progress_at(count) {
            expected if expected > 0.0 => objective_at(count) * rate / expected,
            _ => objective_at(count),
        });
        scaled.collect()
    };
    let progress: gleaner_solvers::Rates = progress.into();
    ScalingCurve {
        nodes: nodes.into(),
        objective: if given.progress == given.objective {
            progress.clone()
        } else {
            objective.into()
        },
        progress,
    }
}

/// The expected rate on `count` nodes: measured, or from the file's curve.
fn rate(given: &ScalingCurve, rates: &[(u32, f64)], count: u32) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let distance = |(nodes, _): &&(u32, f64)| nodes.abs_diff(count);
    let Some(&(nearest, measured)) = rates.iter().min_by_key(distance) else {
        return given.progress_at(count);
    };
    if nearest == count {
        return measured;
    }
    let expected = given.progress_at(nearest);
    let factor = if expected > 0.0 {
        measured / expected
    } else {
        1.0
    };
    let linear = |(nodes, rate): &(u32, f64)| rate * f64::from(count) / f64::from(*nodes);
    let smaller = rates.iter().filter(|(nodes, _)| *nodes < count).map(linear);
    smaller.fold(given.progress_at(count) * factor, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> ScalingCurve {
        let progress: gleaner_solvers::Rates = [0.0, 10.0, 18.0, 30.0].as_slice().into();
        ScalingCurve {
            nodes: [0, 1, 2, 4].into(),
            objective: progress.clone(),
            progress,
        }
    }

    /// Reports every 5 s from `start`, beginning with `done`, at `rate` units per second.
    fn reports(
        learner: &mut Learner,
        generation: u32,
        nodes: u32,
        start: Millis,
        (done, rate): (f64, f64),
    ) {
        for step in 0..6 {
            let passed = f64::from(step) * 5.0;
            learner.report(
                start + i64::from(step) * 5000,
                generation,
                nodes,
                done + passed * rate,
            );
        }
    }

    // The example of the module's overview, with a task that runs on 2 nodes and then on 1.
    #[test]
    fn costs_and_rates_are_those_of_the_example() {
        let mut learner = Learner::default();
        reports(&mut learner, 1, 2, 0, (750.0, 10.0));
        reports(&mut learner, 2, 1, 50_000, (950.0, 4.0));
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        let rates = learner.rates();
        assert_eq!(
            rates.iter().map(|(nodes, _)| *nodes).collect::<Vec<_>>(),
            [1, 2]
        );
        near(rates[0].1, 4.0);
        near(rates[1].1, 10.0);
        let (curve, up, down) = learner.measured(&given(), (7.0, 3.0)).unwrap();
        near(up, 7.0);
        near(down, 25.0);
        // 4 nodes: the scaled curve gives 10 * 30 / 18 = 16.7, and linear scaling from 1 node gives 16.
        near(curve.progress_at(4), 16.0);
        assert_eq!(learner.measured(&given(), (7.0, 3.0)), None);
    }

    #[test]
    fn unseen_counts_are_at_most_linear() {
        let expected = |rates: &[(u32, f64)], count| rate(&given(), rates, count);
        assert_eq!(expected(&[(2, 9.0)], 4), 15.0);
        assert_eq!(expected(&[(1, 1.0), (2, 9.0)], 4), 4.0);
        assert_eq!(expected(&[(4, 15.0)], 1), 5.0);
        assert_eq!(expected(&[], 2), 18.0);
    }
}
