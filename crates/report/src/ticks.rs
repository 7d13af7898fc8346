//! The marks along axes, and their labels.

use super::figure::Scale;
use super::numbers::number;
use gleaner_domain::Local;

/// The range of an axis and its marks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    /// Lowest value of the range.
    pub low: f64,
    /// Highest value of the range, above [`Ticks::low`].
    pub high: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// The marks: values with their labels.
    pub marks: Vec<(f64, String)>,
}

/// The possible marks on an axis of durations, in seconds.
const DURATIONS: [(f64, &str); 15] = [
    (1e-6, "1 µs"),
    (1e-5, "10 µs"),
    (1e-4, "100 µs"),
    (1e-3, "1 ms"),
    (1e-2, "10 ms"),
    (1e-1, "100 ms"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3_600.0, "1 h"),
    (36_000.0, "10 h"),
    (86_400.0, "1 d"),
    (864_000.0, "10 d"),
    (8_640_000.0, "100 d"),
];

/// The shortest duration that can be placed on an axis, in seconds.
const SHORTEST: f64 = 1e-9;

/// The possible distances between the marks on an axis of dates and times, in minutes.
const MINUTES: [f64; 13] = [
    1.0, 5.0, 15.0, 30.0, 60.0, 180.0, 360.0, 720.0, 1_440.0, 2_880.0, 10_080.0, 43_200.0,
    432_000.0,
];

impl Ticks {
    /// The range and the marks for values from `low` to `high`. `most` is an approximate limit on the number of marks.
    pub fn of(scale: &Scale, low: f64, high: f64, most: usize) -> Self {
        let (low, high) = if low < high {
            (low, high)
        } else {
            (low, low + 1.0)
        };
        match scale {
            Scale::Linear => Ticks::linear(low.min(0.0), high, most),
            Scale::Spread => Ticks::linear(low, high, most),
            Scale::Log | Scale::Hours => Ticks::log(low, high),
            Scale::Duration => Ticks::duration(low, high),
            Scale::Time => Ticks::time(low, high, most),
            Scale::Names(names) => Ticks::names(names, most),
        }
    }

    fn linear(low: f64, high: f64, most: usize) -> Self {
        let step = round_step((high - low) / most as f64);
        let last = (high / step).ceil();
        let first = (low / step).floor();
        let count = (last - first).max(1.0) as usize;
        let value = |place: usize| (first + place as f64) * step;
        Ticks {
            low: first * step,
            high: value(count),
            log: false,
            marks: (0..=count)
                .map(|place| (value(place), brief(value(place))))
                .collect(),
        }
    }

    fn log(low: f64, high: f64) -> Self {
        let (first, last) = (decade(low), decade(high) + 1);
        let marks = (first..=last).map(|power| 10f64.powi(power));
        Ticks {
            low: 10f64.powi(first),
            high: 10f64.powi(last),
            log: true,
            marks: marks.map(|value| (value, brief(value))).collect(),
        }
    }

    fn duration(low: f64, high: f64) -> Self {
        let low = low.max(SHORTEST);
        let high = high.max(low * 10.0);
        let inside = DURATIONS
            .iter()
            .filter(|(value, _)| (low..=high).contains(value));
        Ticks {
            low,
            high,
            log: true,
            marks: inside
                .map(|(value, text)| (*value, (*text).to_owned()))
                .collect(),
        }
    }

    fn time(low: f64, high: f64, most: usize) -> Self {
        const MINUTE: f64 = 60_000.0;
        let fits = |step: &&f64| (high - low) / (**step * MINUTE) <= most as f64;
        let minutes = MINUTES.iter().find(fits).copied();
        let step = MINUTE * minutes.unwrap_or((high - low) / MINUTE / most as f64);
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first + 1.0).max(0.0) as usize;
        let marks = (0..count).map(|place| (first + place as f64) * step);
        let characters = if step >= 1_440.0 * MINUTE { 10 } else { 16 };
        let text = |value: f64| {
            let text = Local((value * 1e6) as i64).to_string();
            // The year is left out, because it is usually the same in the whole figure.
            text.chars().take(characters).skip("2021-".len()).collect()
        };
        Ticks {
            low,
            high,
            log: false,
            marks: marks.map(|value| (value, text(value))).collect(),
        }
    }

    fn names(names: &[String], most: usize) -> Self {
        let every = names.len().div_ceil(most.max(1)).max(1);
        let shown = names.iter().enumerate().step_by(every);
        Ticks {
            low: -0.5,
            high: names.len() as f64 - 0.5,
            log: false,
            marks: shown
                .map(|(place, name)| (place as f64, name.clone()))
                .collect(),
        }
    }

    /// The position of a value along the axis: 0 at the lowest value, 1 at the highest.
    pub fn share(&self, value: f64) -> f64 {
        let along = |value: f64| {
            if self.log {
                value.max(f64::MIN_POSITIVE).ln()
            } else {
                value
            }
        };
        (along(value) - along(self.low)) / (along(self.high) - along(self.low))
    }

    /// The label of the mark at `value`; empty if there is no mark.
    pub fn text(&self, value: f64) -> String {
        let mark = self.marks.iter().find(|mark| mark.0 == value);
        mark.map_or(String::new(), |mark| mark.1.clone())
    }
}

/// The smallest number that is at least `step` and is 1, 2 or 5 times a power of ten; 1 if `step` is not a positive
/// number.
fn round_step(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|times| times * power >= step);
    times.unwrap_or(10.0) * power
}

fn decade(value: f64) -> i32 {
    value.max(1e-300).log10().floor() as i32
}

/// A mark's number with as few digits as possible. Large numbers are abbreviated with a letter: `500k`.
fn brief(value: f64) -> String {
    let letters = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")];
    match letters.iter().find(|(size, _)| value.abs() >= *size) {
        Some((1e4, _)) => format!("{}k", trimmed(value / 1e3)),
        Some((size, letter)) => format!("{}{letter}", trimmed(value / size)),
        None if value.fract() == 0.0 => number(value)
            .trim_end_matches(".00")
            .trim_end_matches(".0")
            .to_owned(),
        None => trimmed(value),
    }
}

fn trimmed(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &Ticks) -> Vec<&str> {
        ticks.marks.iter().map(|mark| mark.1.as_str()).collect()
    }

    // Small fixed examples of the marks on each kind of axis.
    #[test]
    fn tick_marks_are_round_numbers() {
        let ticks = Ticks::of(&Scale::Linear, 3.0, 97.0, 5);
        assert_eq!(texts(&ticks), ["0", "20", "40", "60", "80", "100"]);
        let ticks = Ticks::of(&Scale::Linear, 0.0, 2.4e6, 5);
        assert_eq!(texts(&ticks), ["0", "500k", "1M", "1.5M", "2M", "2.5M"]);
        let ticks = Ticks::of(&Scale::Linear, 5.0, 5.0, 5);
        assert!(ticks.high > ticks.low);
        let ticks = Ticks::of(&Scale::Log, 20.0, 300.0, 5);
        assert_eq!(texts(&ticks), ["10", "100", "1,000"]);
        let ticks = Ticks::of(&Scale::Duration, 1.0, 4_000.0, 5);
        assert_eq!(texts(&ticks), ["1 s", "10 s", "1 min", "10 min", "1 h"]);
        let ticks = Ticks::of(&Scale::Duration, 2e-5, 0.5, 5);
        assert_eq!(texts(&ticks), ["100 µs", "1 ms", "10 ms", "100 ms"]);
        let day = 86_400_000.0;
        let ticks = Ticks::of(&Scale::Time, 0.5 * day, 3.5 * day, 4);
        assert_eq!(texts(&ticks), ["01-02", "01-03", "01-04"]);
        let ticks = Ticks::of(&Scale::Time, 0.0, day / 24.0, 4);
        assert_eq!(ticks.marks[1].1, "01-01 00:15");
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let ticks = Ticks::of(&Scale::Names(names), 0.0, 0.0, 2);
        assert_eq!(texts(&ticks), ["a", "c"]);
        assert_eq!(ticks.share(1.0), 0.5);
    }
}
