//! The answers and times of a solver on a set of problems.

use serde::Serialize;

/// The accuracy and the speed of a solver on a set of problems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolverTimes {
    /// Name of the set.
    pub set: String,
    /// Name of the solver.
    pub solver: String,
    /// Number of problems.
    pub problems: usize,
    /// Number of problems whose answer is proven optimal and passes the check.
    pub proven: usize,
    /// Greatest relative difference between an objective and the optimum. If no optima are recorded, the objectives of
    /// the first of the other solvers serve as optima; `None` if there are no other solvers.
    pub deviation: Option<f64>,
    /// Median time per problem, in seconds.
    pub median_seconds: f64,
    /// 90th percentile of the times, in seconds.
    pub p90_seconds: f64,
    /// Longest time for a problem, in seconds.
    pub max_seconds: f64,
    /// Total time for all problems, in seconds.
    pub total_seconds: f64,
    /// Geometric mean, over the problems, of the solver's time divided by the exact solver's time; `None` for the exact
    /// solver.
    pub mean_ratio: Option<f64>,
    /// The solver's total time divided by the exact solver's total time; `None` for the exact solver.
    pub total_ratio: Option<f64>,
    /// Minimum, over the problems, of the solver's time divided by the exact solver's time; `None` for the exact
    /// solver.
    pub least_ratio: Option<f64>,
}

/// A solver's answers to a set of problems, in order.
#[derive(Debug)]
pub(super) struct Solved {
    solver: String,
    seconds: Vec<f64>,
    objectives: Vec<f64>,
    proven: usize,
    deviation: Option<f64>,
}

impl Solved {
    /// Creates an empty list for the answers of `solver`.
    pub fn by(solver: &str) -> Self {
        Solved {
            solver: solver.to_owned(),
            seconds: Vec::new(),
            objectives: Vec::new(),
            proven: 0,
            deviation: None,
        }
    }

    /// Adds an answer.
    pub fn add(&mut self, seconds: f64, is_proven: bool, objective: f64) {
        self.seconds.push(seconds);
        self.objectives.push(objective);
        self.proven += usize::from(is_proven);
    }

    /// Compares the objectives with the optima.
    pub fn compare(&mut self, optima: &[f64]) {
        let pairs = self.objectives.iter().zip(optima);
        let deviations = pairs.map(|(found, optimum)| {
            let deviation = (found - optimum).abs() / optimum.abs().max(1e-9);
            // An answer without a plan has no objective. Its deviation counts as 1.
            if deviation.is_nan() { 1.0 } else { deviation }
        });
        self.deviation = Some(deviations.fold(0.0, f64::max));
    }

    /// The objectives; NaN for an answer without a plan.
    pub fn objectives(&self) -> Vec<f64> {
        self.objectives.clone()
    }

    /// Number of answers that are proven optimal.
    pub fn proven(&self) -> usize {
        self.proven
    }

    /// Greatest relative difference between an objective and its optimum; `None` before [`Solved::compare`].
    pub fn deviation(&self) -> Option<f64> {
        self.deviation
    }

    /// Summarises the times, and compares them with those of the exact solver.
    pub fn times(&self, set: &str, exact: Option<&Solved>) -> SolverTimes {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let total = |seconds: &[f64]| seconds.iter().sum::<f64>();
        let ratios = exact.map(|exact| -> Vec<f64> {
            let pairs = self.seconds.iter().zip(&exact.seconds);
            pairs.map(|(own, exact)| own / exact.max(1e-9)).collect()
        });
        let mean = |ratios: &Vec<f64>| {
            let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
            (logarithms / ratios.len() as f64).exp()
        };
        let least = |ratios: &Vec<f64>| ratios.iter().copied().fold(f64::INFINITY, f64::min);
        SolverTimes {
            set: set.to_owned(),
            solver: self.solver.clone(),
            problems: self.seconds.len(),
            proven: self.proven,
            deviation: self.deviation,
            median_seconds: quantile(&sorted, 0.5),
            p90_seconds: quantile(&sorted, 0.9),
            max_seconds: quantile(&sorted, 1.0),
            total_seconds: total(&sorted),
            mean_ratio: ratios.as_ref().map(mean),
            total_ratio: exact.map(|exact| total(&sorted) / total(&exact.seconds).max(1e-9)),
            least_ratio: ratios.as_ref().map(least),
        }
    }
}

/// The quantile `share` (0 to 1) of sorted values, without interpolation; 0 if there are no values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (last as f64 * share) as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_problem_by_problem() {
        let [mut exact, mut other] = ["exact", "other"].map(Solved::by);
        for (seconds, objective) in [(1.0, 10.0), (2.0, 20.0), (4.0, 30.0)] {
            exact.add(seconds, true, objective);
        }
        for (seconds, objective) in [(8.0, 10.0), (4.0, 19.0), (4.0, f64::NAN)] {
            other.add(seconds, objective > 19.5, objective);
        }
        exact.compare(&[10.0, 20.0, 30.0]);
        other.compare(&[10.0, 20.0, 20.0]);
        assert_eq!((exact.deviation(), exact.proven()), (Some(0.0), 3));
        let found = other.times("a set", Some(&exact));
        assert_eq!((found.deviation, found.proven), (Some(1.0), 0));
        let times = [found.median_seconds, found.p90_seconds, found.max_seconds];
        assert_eq!((times, found.total_seconds), ([4.0, 4.0, 8.0], 16.0));
        assert_eq!(found.least_ratio, Some(1.0));
        assert_eq!(found.total_ratio, Some(16.0 / 7.0));
        assert!((found.mean_ratio.unwrap() - 16f64.cbrt()).abs() < 1e-12);
        assert_eq!(exact.times("a set", None).mean_ratio, None);
    }
}
