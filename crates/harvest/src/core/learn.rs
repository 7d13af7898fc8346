//! Learns a task's rate for each number of nodes, and the costs of rescaling, from the task's reports.
//!
//! The rate on n nodes is the work done between successive reports of runs on n nodes, divided by the time between
//! these reports. Older reports count less: at each report, the sums so far are multiplied by [`FADING`]. The rate of a
//! node count is used once its reports cover [`ENOUGH_S`] seconds. The node count is then called seen.
//!
//! The cost of a rescale is the time between the last report before it and the first report after it, minus the usual
//! time between two reports. If work that was done before the rescale is missing afterwards, the time that this work
//! took is added. Example: a task that does 10 units per second reports every 5 s. Its last report before a rescale
//! says 1,000 units. The first report after the rescale comes 25 s later and says 950 units. The pause took
//! 25 - 5 = 20 s, and the lost work had taken 50 / 10 = 5 s, so the cost is 25 s.
//!
//! The rates of unseen counts are estimated from the curve in the task's file. The whole curve may be too fast or too
//! slow for this machine, so it is scaled to agree with the nearest seen count. An estimate never exceeds linear
//! scaling from a smaller seen count.
//!
//! The estimate for a count that is never tried is never corrected. Until [`EXPLORED`] counts have been seen, the
//! estimates for unseen counts are therefore multiplied by [`CURIOSITY`], up to the same limit of linear scaling. The
//! allocator weighs these higher rates against the costs of rescaling, so a task tries an unseen count only if
//! rescaling is cheap. The idea of such online profiling is from MalleTrain (Ma et al., arXiv:2404.15668).
//!
//! If there are classes of nodes, rates are measured in each class, and moves between classes have a cost of their own.
//! In a class without measured rates, the file's curve is scaled and then multiplied by [`CURIOSITY`]. The scale is the
//! ratio of a measured rate to the file's rate, for the class and node count whose reports cover the most time.
//! Example: the file says 10 units per second on an a100 node and 4 on a v100 node. If 5 units per second are measured
//! on an a100 node, the estimate for a v100 node is 2 units per second, multiplied by [`CURIOSITY`].

use std::collections::BTreeMap;

use gleaner_classes::Counts;
use gleaner_solvers::range::RATE;

use super::Millis;
use serde::{Deserialize, Serialize};

use gleaner_domain::{ScalingCurve, TrainingTask};

/// Factor by which the weight of earlier reports is multiplied at each report.
const FADING: f64 = 0.95;
/// Seconds that the reports for a node count must cover before the measured rate of this count is used.
const ENOUGH_S: f64 = 5.0;
/// Estimates for unseen counts are raised until this many counts have been seen.
const EXPLORED: usize = 3;
/// Factor by which the estimate for an unseen count is raised.
const CURIOSITY: f64 = 1.1;
/// Weight of a new cost in the mean of the costs.
const COST_WEIGHT: f64 = 0.3;
/// Upper bound on the cost of a rescale, in seconds. Without it, nonsensical reports could lead to arbitrary costs.
pub(super) const LONGEST_S: f64 = 86_400.0;
/// Minimum relative change in a rate or cost after which new curves are returned.
const NOTABLE: f64 = 0.05;

/// The nodes on which a task trains: their class and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    /// Index of the nodes' class; 0 if all nodes are interchangeable.
    pub class: usize,
    /// Number of nodes.
    pub nodes: u32,
}

/// A task's report of its progress.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Report {
    time: Millis,
    generation: u32,
    place: Place,
    done: f64,
}

/// The measured curve and costs of a task in one class of nodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measurement {
    pub class: usize,
    pub curve: ScalingCurve,
    pub rescale_up: f64,
    pub rescale_down: f64,
    /// The cost of a move to another class, if it was measured.
    pub move_cost: Option<f64>,
}

impl Measurement {
    /// The task as it runs in this class, with the measured curve and the measured costs of growing and shrinking. The
    /// cost of a move is not applied.
    pub fn applied(&self, task: &TrainingTask) -> TrainingTask {
        TrainingTask {
            curve: self.curve.clone(),
            rescale_up: self.rescale_up,
            rescale_down: self.rescale_down,
            ..task.in_class(self.class).unwrap_or_else(|| task.clone())
        }
    }
}

/// Sums over the reports at one [`Place`], in which older reports count less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    seconds: f64,
    work: f64,
    reports: f64,
}

/// Estimates rates and costs from the reports of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Learner {
    last: Option<Report>,
    #[serde(with = "pairs")]
    by_place: BTreeMap<Place, Sums>,
    up: Option<f64>,
    down: Option<f64>,
    /// The cost of a move to another class.
    moved: Option<f64>,
    /// The rates and costs at the last call of [`Learner::measured`] that returned curves.
    used: Vec<f64>,
}

/// Serialises the sums as a list, because the keys of JSON objects must be strings.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Place, Sums};

    pub fn serialize<S: Serializer>(
        sums: &BTreeMap<Place, Sums>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(sums)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Place, Sums>, D::Error> {
        let pairs = Vec::<(Place, Sums)>::deserialize(from)?;
        Ok(pairs.into_iter().collect())
    }
}

impl Learner {
    /// Records a report: run number `generation` of the task trains at `place`, and the task has done `done` units of
    /// work.
    pub fn report(&mut self, time: Millis, generation: u32, place: Place, done: f64) {
        let report = Report {
            time,
            generation,
            place,
            done,
        };
        if let Some(last) = self.last {
            let seconds = (time - last.time) as f64 / 1000.0;
            if generation != last.generation || place != last.place {
                self.cost(&last, &report, seconds);
            } else if seconds > 0.0 && done >= last.done {
                let sums = self.by_place.entry(place).or_default();
                sums.seconds = sums.seconds * FADING + seconds;
                // Nonsensical reports could make the sum infinite, which JSON cannot represent.
                sums.work = (sums.work * FADING + (done - last.done)).min(f64::MAX);
                sums.reports = sums.reports * FADING + 1.0;
            } else {
                // Nothing can be measured from a report in the same millisecond as the previous one, or from one whose
                // work has decreased without a restart.
                return;
            }
        }
        self.last = Some(report);
    }

    /// Updates the cost of growing, shrinking or moving, based on the reports before and after a rescale.
    fn cost(&mut self, before: &Report, after: &Report, seconds: f64) {
        let Some(sums) = self.by_place.get(&before.place) else {
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
        let known = if after.place.class != before.place.class {
            &mut self.moved
        } else if after.place.nodes > before.place.nodes {
            &mut self.up
        } else {
            &mut self.down
        };
        *known = Some(known.map_or(cost, |mean| mean + COST_WEIGHT * (cost - mean)));
    }

    /// The measured work per second by class and number of nodes.
    pub fn rates(&self) -> Vec<(Place, f64)> {
        let known = self.by_place.iter();
        let known = known.filter(|(_, sums)| sums.seconds >= ENOUGH_S);
        let rates = known.map(|(place, sums)| (*place, sums.work / sums.seconds));
        rates.filter(|(_, rate)| RATE.contains(rate)).collect()
    }

    /// The measured curve and costs in each class that the task can use. The list is empty unless a rate or a cost has
    /// changed notably since the last call that returned curves. `task` is the task as its file describes it.
    pub fn measured(&mut self, task: &TrainingTask) -> Vec<Measurement> {
        if !self.has_news() {
            return Vec::new();
        }
        self.used = self.known();
        let rates = self.rates();
        let factor = self.factor(task);
        let classes = 0..task.classes.by_index.len().max(1);
        let used = classes.filter_map(|class| Some((class, task.curve_in(class)?.1)));
        let measured = used.map(|(class, given)| {
            let is_allowed =
                |nodes: u32| task.classes.counts == Counts::All || given.nodes.contains(&nodes);
            let own = rates.iter().filter(|(place, _)| place.class == class);
            let own = own.map(|(place, rate)| (place.nodes, *rate));
            let own: Vec<(u32, f64)> = own.filter(|(nodes, _)| is_allowed(*nodes)).collect();
            let curve = match &own[..] {
                [] => given.scaled(factor),
                own => curve(given, own),
            };
            Measurement {
                class,
                curve,
                rescale_up: self.up.unwrap_or(task.rescale_up),
                rescale_down: self.down.unwrap_or(task.rescale_down),
                move_cost: self.moved,
            }
        });
        measured.collect()
    }

    /// The factor by which the file's curve is multiplied in a class without measured rates. It is derived from the
    /// rate whose reports cover the most time.
    fn factor(&self, task: &TrainingTask) -> f64 {
        let seconds = |place: &Place| self.by_place.get(place).map_or(0.0, |sums| sums.seconds);
        let rates = self.rates().into_iter();
        let best = rates.max_by(|(a, _), (b, _)| seconds(a).total_cmp(&seconds(b)));
        let factor = best.and_then(|(place, rate)| {
            let expected = task.progress_in(place.class, place.nodes);
            (expected > 0.0).then_some(CURIOSITY * rate / expected)
        });
        factor.unwrap_or(1.0)
    }

    /// Whether [`Learner::measured`] would return curves.
    pub fn has_news(&self) -> bool {
        let known = self.known();
        let is_notable =
            |(old, new): (&f64, &f64)| (new - old).abs() > NOTABLE * old.abs().max(1e-9);
        known.len() != self.used.len() || self.used.iter().zip(&known).any(is_notable)
    }

    /// The measured rates, and the measured costs of growing, shrinking and moving.
    fn known(&self) -> Vec<f64> {
        let rates = self.rates().into_iter().map(|(_, rate)| rate);
        let costs = [self.up, self.down, self.moved];
        rates.chain(costs.into_iter().flatten()).collect()
    }
}

/// The curve in the task's file, corrected with the measured rates.
fn curve(given: &ScalingCurve, rates: &[(u32, f64)]) -> ScalingCurve {
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
        // The scaled curve keeps the ratio of objective to progress at each count.
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

/// The measured rate on `count` nodes, or else an estimate from the file's curve.
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
    let curiosity = if rates.len() < EXPLORED {
        CURIOSITY
    } else {
        1.0
    };
    let smaller = rates.iter().filter(|(nodes, _)| *nodes < count).map(linear);
    smaller.fold(given.progress_at(count) * factor * curiosity, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::{ClassTerms, Terms};
    use std::sync::Arc;

    fn given() -> ScalingCurve {
        let progress: gleaner_solvers::Rates = [0.0, 10.0, 18.0, 30.0].as_slice().into();
        ScalingCurve {
            nodes: [0, 1, 2, 4].into(),
            objective: progress.clone(),
            progress,
        }
    }

    /// A task that loses 7 s when it grows and 3 s when it shrinks.
    fn task() -> TrainingTask {
        TrainingTask {
            name: "a".to_owned(),
            submit: TrainingTask::FROM_START,
            min_nodes: 1,
            max_nodes: 4,
            rescale_up: 7.0,
            rescale_down: 3.0,
            work: f64::INFINITY,
            priority: 1.0,
            deadline: None,
            rung: 0,
            classes: ClassTerms::default(),
            curve: given(),
        }
    }

    fn place(class: usize, nodes: u32) -> Place {
        Place { class, nodes }
    }

    /// Adds six reports at intervals of 5 s. The first report is at `start` with `done` units of work, and `rate` units
    /// are done per second.
    fn reports(
        learner: &mut Learner,
        generation: u32,
        place: Place,
        start: Millis,
        (done, rate): (f64, f64),
    ) {
        for step in 0..6 {
            let passed = f64::from(step) * 5.0;
            learner.report(
                start + i64::from(step) * 5000,
                generation,
                place,
                done + passed * rate,
            );
        }
    }

    // The example in the module's documentation: the task runs on 2 nodes, and then on 1.
    #[test]
    fn costs_and_rates_are_those_of_the_example() {
        let mut learner = Learner::default();
        reports(&mut learner, 1, place(0, 2), 0, (750.0, 10.0));
        reports(&mut learner, 2, place(0, 1), 50_000, (950.0, 4.0));
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        let rates = learner.rates();
        let places = rates.iter().map(|(place, _)| *place);
        assert_eq!(places.collect::<Vec<_>>(), [place(0, 1), place(0, 2)]);
        near(rates[0].1, 4.0);
        near(rates[1].1, 10.0);
        let [measured] = &learner.measured(&task())[..] else {
            panic!("there is one class");
        };
        near(measured.rescale_up, 7.0);
        near(measured.rescale_down, 25.0);
        assert_eq!(measured.move_cost, None);
        // 4 nodes: the scaled curve gives 10 * 30 / 18 = 16.7, and linear scaling from 1 node gives 16.
        near(measured.curve.progress_at(4), 16.0);
        assert_eq!(learner.measured(&task()), []);
    }

    /// A task that, according to its file, is half as fast in class 0 as in class 1 and cannot use class 2.
    fn task_in_classes() -> TrainingTask {
        let terms = |factor| Terms {
            min_nodes: 1,
            max_nodes: 4,
            curve: given().scaled(factor),
        };
        let by_name =
            [("a", 0.5), ("b", 1.0)].map(|(name, factor)| (name.to_owned(), terms(factor)));
        let task = task().with_terms(Arc::new(by_name.into()));
        task.in_classes(&["a", "b", "c"].map(str::to_owned))
    }

    #[test]
    fn rates_and_moves_are_measured_by_class() {
        let mut learner = Learner::default();
        reports(&mut learner, 1, place(0, 1), 0, (0.0, 10.0));
        let rates = |learner: &mut Learner, count| {
            let measured = learner.measured(&task_in_classes());
            let classes: Vec<usize> = measured.iter().map(|measured| measured.class).collect();
            assert_eq!(classes, [0, 1]);
            // The measured rates are sums of fading terms, so they are not exact.
            [0, 1].map(|class| (measured[class].curve.progress_at(count) * 1e6).round() / 1e6)
        };
        // Class 0 is twice as fast as in the file, so the estimate for class 1 is also twice the file's rate: 20,
        // raised by a tenth to 22.
        assert_eq!(rates(&mut learner, 1), [10.0, 22.0]);
        // The last report in class 0 is at 25 s. The first report after the move is at 55 s. The cost of the move is
        // this gap of 30 s minus the usual 5 s, which is 25 s.
        reports(&mut learner, 2, place(1, 2), 55_000, (250.0, 9.0));
        assert_eq!(rates(&mut learner, 2)[1], 9.0);
        assert_eq!((learner.up, learner.down), (None, None));
        assert!((learner.moved.unwrap() - 25.0).abs() < 1e-9);
        // Curves are returned even if only the cost of moves has changed.
        assert!(!learner.has_news());
        learner.moved = Some(50.0);
        assert_eq!(
            learner.measured(&task_in_classes())[0].move_cost,
            Some(50.0)
        );
    }

    #[test]
    fn a_task_that_may_hold_only_points_gets_no_new_points() {
        let mut learner = Learner::default();
        reports(&mut learner, 1, place(0, 3), 0, (0.0, 10.0));
        let mut task = task();
        task.classes.counts = Counts::Points;
        assert_eq!(learner.measured(&task)[0].curve.nodes, given().nodes);
    }

    #[test]
    fn unseen_counts_are_at_most_linear() {
        let expected = |rates: &[(u32, f64)], count| rate(&given(), rates, count);
        // The scaled curve gives 15, which is raised by a tenth to 16.5. Linear scaling would allow 18.
        assert_eq!(expected(&[(2, 9.0)], 4), 16.5);
        assert_eq!(expected(&[(1, 1.0), (2, 9.0)], 4), 4.0);
    }

    #[test]
    fn unseen_counts_are_favoured_until_enough_were_seen() {
        let expected = |rates: &[(u32, f64)], count| rate(&given(), rates, count);
        // The scaled curve gives 5, which is raised to 5.5. With three seen counts, it gives 2.5, which is not raised.
        assert_eq!(expected(&[(4, 15.0)], 1), 5.5);
        assert_eq!(expected(&[(2, 4.5), (3, 9.0), (4, 15.0)], 1), 2.5);
    }
}
