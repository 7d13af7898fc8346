//! Formats the values of a figure in one unit, with enough digits to distinguish them.

use gleaner_document::numbers::grouped;
use gleaner_domain::results::sweep::{Interval, Kind, Spread};

/// The displayed digits divide the range from the lowest to the highest value into at least this number of steps.
const STEPS: f64 = 500.0;

/// A unit and a number of decimals for all values of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Name of the figure with its unit.
    pub title: String,
    divisor: f64,
    decimals: usize,
}

impl Scale {
    /// The scale for these values of a figure.
    pub fn of(name: &'static str, kind: Kind, values: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = values.clone().map(f64::abs).fold(0.0, f64::max);
        let (name, unit, divisor) = unit(name, largest);
        let divided = values.map(|value| value / divisor);
        let (low, high) = divided.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let whole = kind == Kind::Whole && divisor == 1.0;
        Scale {
            title: match unit {
                "" => told(name),
                unit => format!("{} ({unit})", told(name)),
            },
            divisor,
            decimals: if whole { 0 } else { decimals(low, high) },
        }
    }

    /// The value in the scale's unit.
    pub fn scaled(&self, value: f64) -> f64 {
        value / self.divisor
    }

    /// Formats a difference between two values in the scale's unit. A difference that would be rounded to 0 is shown as
    /// less than the smallest step, such as `<0.1`.
    pub fn length(&self, length: f64) -> String {
        let shortest = 10f64.powi(-(self.decimals as i32)) * self.divisor;
        if length > 0.0 && length < 0.5 * shortest {
            format!("<{}", self.tell(shortest))
        } else {
            self.tell(length)
        }
    }

    /// Formats a mean with its 95 % interval, such as `7.0 ± 0.5` or, if the interval is not symmetric, `7.0 (6.2 to
    /// 7.4)`. Only the mean is shown if it has no interval.
    pub fn mean(&self, spread: &Spread) -> String {
        let mean = self.tell(spread.mean);
        match spread.interval {
            None => mean,
            Some(Interval::Student(reach)) => format!("{mean} ± {}", self.length(reach)),
            Some(Interval::Percentile(ends)) => format!("{mean} ({})", self.range(ends)),
        }
    }

    /// Formats the ends of an interval, such as `6.2 to 7.4`.
    pub fn range(&self, [low, high]: [f64; 2]) -> String {
        format!("{} to {}", self.tell(low), self.tell(high))
    }

    /// Formats a value in the scale's unit.
    pub fn tell(&self, value: f64) -> String {
        if !value.is_finite() {
            return "none".to_owned();
        }
        grouped(&format!("{:.*}", self.decimals, self.scaled(value)))
    }
}

/// A figure's name without its unit, the unit to show, and the size of that unit in the figure's own unit. The
/// size is 3,600, for example, if a figure in seconds is shown in hours.
fn unit(name: &str, largest: f64) -> (&str, &'static str, f64) {
    let seconds = |most: f64| match most {
        most if most >= 36_000.0 => ("h", 3_600.0),
        most if most >= 600.0 => ("min", 60.0),
        _ => ("s", 1.0),
    };
    if let Some(stem) = name.strip_suffix("_node_seconds") {
        return (stem, "node-hours", 3_600.0);
    }
    let stem = name.strip_suffix("_s").or(name.strip_suffix("_seconds"));
    if let Some(stem) = stem {
        let (unit, divisor) = seconds(largest);
        return (stem, unit, divisor);
    }
    let words = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
    match words.iter().find(|(size, _)| largest >= *size) {
        Some((size, word)) => (name, word, *size),
        None => (name, "", 1.0),
    }
}

/// The text with a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A figure's name without its unit, as readable words.
pub fn plain(name: &str) -> String {
    told(unit(name, 0.0).0)
}

/// Converts a column's name to readable words.
fn told(name: &str) -> String {
    let word = |word: &str| match word {
        "avg" => "average".to_owned(),
        "jct" => "JCT".to_owned(),
        "gpu" => "GPU".to_owned(),
        "queue" => "queuing".to_owned(),
        "p999" => "99.9 %".to_owned(),
        other => other.to_owned(),
    };
    name.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// The number of decimals needed to show differences of 1/500 of the range from `low` to `high`. For example, values
/// from 0 to 10 need steps of 0.02, and thus 2 decimals. If all values are equal, three significant digits are shown.
fn decimals(low: f64, high: f64) -> usize {
    let resolution = match high - low {
        spread if spread > 0.0 => spread / STEPS,
        _ => high.abs() / 100.0,
    };
    if resolution > 0.0 && resolution.is_finite() {
        (-resolution.log10()).ceil().clamp(0.0, 6.0) as usize
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::results::sweep::Mode;

    fn scale(name: &str, values: &[f64]) -> Scale {
        let mode = match name {
            "avg_jct_s" | "checkpoints" => Mode::Simulate,
            _ => Mode::Replay,
        };
        let metric = mode.metric(name).unwrap();
        Scale::of(metric.name, metric.kind, values.iter().copied())
    }

    #[test]
    fn values_of_a_figure_share_a_unit() {
        let work = scale("total_work", &[2.4312e9, 2.4324e9]);
        assert_eq!(work.title, "total work (billion)");
        assert_eq!(work.tell(2.4312e9), "2.431200");
        let jct = scale("avg_jct_s", &[7_200.0, 36_000.0]);
        assert_eq!(
            (jct.title.as_str(), jct.tell(7_200.0)),
            ("average JCT (h)", "2.00".into())
        );
        let used = scale("used_node_seconds", &[3_600_000.0, 720_000_000.0]);
        assert_eq!(
            (used.title.as_str(), used.tell(3.6e6 * 1.5)),
            ("used (node-hours)", "1,500".into())
        );
        let count = scale("checkpoints", &[0.0, 3.0]);
        assert_eq!(count.tell(3.0), "3");
        let one = scale("efficiency", &[0.625]);
        assert_eq!(
            (one.title.as_str(), one.tell(0.625)),
            ("efficiency", "0.625".into())
        );
        assert_eq!(scale("efficiency", &[]).tell(0.0), "0");
        assert_eq!(one.length(0.02), "0.020");
        assert_eq!(
            (one.length(0.000_1).as_str(), one.length(0.0).as_str()),
            ("<0.001", "0.000")
        );
    }
}
