//! Choosing the best run.

use serde_json::Value;

use super::metrics::{Direction, Metric};

/// Values that differ by no more than this share of theirs are equal: sums of the same work
/// in another order differ in their last digits.
const EQUAL: f64 = 1e-9;

/// The best run by a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// Its place among all runs.
    pub run: usize,
    /// Its value.
    pub value: f64,
    /// How many runs are as good.
    pub as_good: usize,
}

/// The run with the best value of `metric`; of equals the best by the first of `ties` that
/// tells them apart, else the first. `None` where the metric has no best or no summary
/// has it.
pub fn best(summaries: &[Value], metric: &Metric, ties: &[Metric]) -> Option<Best> {
    let mut runs: Vec<usize> = (0..summaries.len()).collect();
    runs = leading(summaries, &runs, metric);
    let as_good = runs.len();
    for tie in ties {
        let fewer = leading(summaries, &runs, tie);
        if !fewer.is_empty() {
            runs = fewer;
        }
    }
    let run = *runs.first()?;
    Some(Best {
        run,
        value: metric.of(&summaries[run])?,
        as_good,
    })
}

/// Those of `runs` that have the best value of `metric`.
fn leading(summaries: &[Value], runs: &[usize], metric: &Metric) -> Vec<usize> {
    let value = |run: &usize| metric.of(&summaries[*run]);
    let values = runs.iter().filter_map(value);
    let best = match metric.best {
        None => None,
        Some(Direction::Max) => values.reduce(f64::max),
        Some(Direction::Min) => values.reduce(f64::min),
    };
    let Some(best) = best else {
        return Vec::new();
    };
    let reaches = |value: f64| (value - best).abs() <= EQUAL * best.abs();
    let leads = |run: &usize| value(run).is_some_and(reaches);
    runs.iter().copied().filter(leads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Mode;
    use serde_json::json;

    fn metric(name: &str) -> Metric {
        Mode::Replay.metric(name).unwrap()
    }

    fn best_of(all: &[Value], by: &str, ties: &[&str]) -> Option<(usize, f64, usize)> {
        let ties: Vec<Metric> = ties.iter().map(|name| metric(name)).collect();
        best(all, &metric(by), &ties).map(|best| (best.run, best.value, best.as_good))
    }

    // Small fixed example.
    #[test]
    fn the_first_of_equals_is_best() {
        let work = |work: Value| json!({"total_work": work, "rescale_loss": work});
        let all = [
            work(Value::Null),
            work(2.into()),
            work(3.into()),
            work(3.into()),
            work(2.into()),
        ];
        assert_eq!(best_of(&all, "total_work", &[]), Some((2, 3.0, 2)));
        assert_eq!(best_of(&all, "rescale_loss", &[]), Some((1, 2.0, 2)));
        assert_eq!(best_of(&all, "events", &[]), None);
        assert_eq!(best_of(&all[..1], "total_work", &[]), None);
    }

    // Small fixed example: the first two have the same work but for rounding.
    #[test]
    fn equals_are_told_apart_by_the_next_figure() {
        let run = |work: f64, mean: Option<f64>, loss: f64| json!({"total_work": work, "completion_mean_s": mean, "rescale_loss": loss});
        let all = [
            run(0.1 + 0.2, Some(9.0), 1.0),
            run(0.3, Some(8.0), 3.0),
            run(0.3, Some(8.0), 2.0),
            run(0.3, None, 0.0),
            run(0.2, Some(1.0), 0.0),
        ];
        let ties = ["completion_mean_s", "rescale_loss"];
        assert_eq!(best_of(&all, "total_work", &ties), Some((2, 0.3, 4)));
        // A figure that none has tells nobody apart.
        assert_eq!(best_of(&all, "total_work", &["fairness_min"]).unwrap().0, 0);
    }
}
