//! Choosing the best run.

use serde_json::Value;

use super::metrics::{Direction, Metric};

/// Index of the summary with the best value of `metric`, and that value; of equals the
/// first. `None` where the metric has no best or no summary has it.
pub fn best(summaries: &[Value], metric: &Metric) -> Option<(usize, f64)> {
    let direction = metric.best?;
    let values = summaries
        .iter()
        .enumerate()
        .filter_map(|(i, summary)| Some((i, metric.of(summary)?)));
    values.reduce(|best, next| {
        let better = match direction {
            Direction::Max => next.1 > best.1,
            Direction::Min => next.1 < best.1,
        };
        if better { next } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::metrics::REPLAY;
    use serde_json::json;

    fn metric(name: &str) -> Metric {
        *REPLAY.iter().find(|m| m.field.name == name).unwrap()
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
        assert_eq!(best(&all, &metric("total_work")), Some((2, 3.0)));
        assert_eq!(best(&all, &metric("rescale_loss")), Some((1, 2.0)));
        assert_eq!(best(&all, &metric("events")), None);
        assert_eq!(best(&all[..1], &metric("total_work")), None);
    }
}
