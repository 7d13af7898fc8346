//! The repetitions of a sweep, over which its means and intervals are computed.

use serde::{Deserialize, Serialize};

use super::bootstrap::Bootstrap;
use super::spread::{Interval, Spread, mean};
use crate::student::t95;
use crate::words::counted;

/// The meaning of the number after `±`.
const HALF: &str = "half the width of the 95 % interval (Student's t)";

/// Name of the setting that seeds the random choices of a run.
pub const SEED: &str = "seed";

/// Name of the setting that numbers the part of the log that a run replays, from 1.
pub const WINDOW: &str = "window";

/// Minimum number of windows for an interval. With two windows, the 97.5th percentile of Student's t is 12.7, so the
/// width of the interval often exceeds the mean itself. With five windows, the percentile is 2.8.
pub const MIN_WINDOWS: usize = 5;

/// Whether runs that differ only in this setting count as repetitions. Sweeps do not choose a best value for such a
/// setting.
pub fn only_repeats(setting: &str) -> bool {
    [SEED, WINDOW].contains(&setting)
}

/// The repetitions over which a sweep computes means, and the method for their 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "over", rename_all = "lowercase")]
pub enum Replication {
    /// Seeds: repetitions of the same run with different random choices. Intervals are based on Student's t.
    #[default]
    Seeds,
    /// Windows: parts of the log of equal length. Intervals are based on Student's t, and need at least [`MIN_WINDOWS`]
    /// windows.
    Windows,
    /// Blocks: weeks or days of the log. Intervals are bootstrap intervals.
    Blocks(Bootstrap),
}

impl Replication {
    /// Whether the log is cut into parts. If so, every run has a window.
    pub fn cuts_log(self) -> bool {
        self != Replication::Seeds
    }

    /// The word for one repetition, such as "seed".
    pub fn noun(self) -> &'static str {
        match self {
            Replication::Seeds => "seed",
            Replication::Windows => "window",
            Replication::Blocks(bootstrap) => bootstrap.block.noun(),
        }
    }

    /// The plural of [`Self::noun`].
    pub fn nouns(self) -> String {
        self.noun().to_owned() + "s"
    }

    /// A sentence, without a full stop, that explains the displayed means and intervals.
    pub fn describe(self) -> String {
        let nouns = self.nouns();
        match self {
            Replication::Seeds => {
                format!("Figures are means over {nouns}, ± {HALF}")
            }
            Replication::Windows => format!(
                "Figures are means over {nouns}, which are equal parts of the log, ± {HALF}"
            ),
            Replication::Blocks(bootstrap) => format!(
                "Figures are means over the {nouns} of the log, each with the 95 % percentile interval from {} \
                 bootstrap resamples of the {nouns}",
                bootstrap.resamples
            ),
        }
    }

    /// The additional data that could distinguish settings with similar figures.
    pub fn more(self) -> &'static str {
        match self {
            Replication::Seeds => "more seeds",
            Replication::Windows | Replication::Blocks(_) => "a longer log",
        }
    }

    /// The reason why a mean over `repetitions` windows has no interval. `None` if there are enough windows, and always
    /// for seeds and blocks.
    pub fn why_no_interval(self, repetitions: usize) -> Option<String> {
        let is_missing = self == Replication::Windows && repetitions < MIN_WINDOWS;
        is_missing.then(|| {
            format!(
                "no 95 % interval, because {} are too few: an interval needs at least {MIN_WINDOWS}",
                counted(repetitions, self.noun())
            )
        })
    }

    /// Mean, deviation and interval of a figure over repetitions. `None` if a repetition has no value, or if there are
    /// no repetitions.
    pub fn spread(self, values: impl IntoIterator<Item = Option<f64>>) -> Option<Spread> {
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let mut spread = Spread::of(&values)?;
        spread.interval = match self {
            Replication::Windows if values.len() < MIN_WINDOWS => None,
            Replication::Seeds | Replication::Windows => spread
                .standard_error()
                .map(|error| Interval::Student(t95(values.len() - 1) * error)),
            Replication::Blocks(bootstrap) => bootstrap.interval(&values).map(Interval::Percentile),
        };
        Some(spread)
    }

    /// The runs of a group, divided into the repetitions over which means and intervals are computed. `window` returns
    /// the window of a run.
    ///
    /// If the log is not cut, each seed is a repetition. Otherwise, each window is a repetition, and the values of its
    /// seeds are averaged first. Runs of the same window replay the same events, so they are not independent. Counting
    /// them separately would make intervals too narrow (pseudoreplication, Hurlbert 1984). For example, 5 windows with
    /// 4 seeds each would count as 20 repetitions. If seeds hardly matter, the standard error would be half of its true
    /// value.
    pub(super) fn repetitions<'a>(
        self,
        runs: &[usize],
        window: impl Fn(usize) -> &'a str,
    ) -> Vec<Vec<usize>> {
        if !self.cuts_log() {
            return runs.iter().map(|&run| vec![run]).collect();
        }
        let mut windows: Vec<(&str, Vec<usize>)> = Vec::new();
        for &run in runs {
            match windows.iter_mut().find(|(name, _)| *name == window(run)) {
                Some((_, runs)) => runs.push(run),
                None => windows.push((window(run), vec![run])),
            }
        }
        windows.into_iter().map(|(_, runs)| runs).collect()
    }
}

/// The mean of a figure over the runs of a repetition; `None` if a run has no value.
pub(super) fn averaged(runs: &[usize], value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(|&run| value(run)).collect();
    mean(&values?)
}

#[cfg(test)]
mod tests {
    use super::super::bootstrap::Block;
    use super::*;

    // The values 2, 4, 9, 3 and 7 have the mean 5 and the variance (9 + 1 + 16 + 4 + 4) ÷ 4 = 8.5. The published
    // percentile of t with 4 degrees of freedom is 2.776445.
    #[test]
    fn five_windows_have_an_interval_and_four_have_none() {
        let values = [2.0, 4.0, 9.0, 3.0, 7.0].map(Some);
        let five = Replication::Windows.spread(values).unwrap();
        let half = 2.776_445 * (8.5_f64 / 5.0).sqrt();
        assert_eq!((five.repetitions, five.mean), (5, 5.0));
        assert!((five.reach().unwrap() - half).abs() < 1e-5);
        assert!((five.low().unwrap() - (5.0 - half)).abs() < 1e-5);
        assert!((five.high().unwrap() - (5.0 + half)).abs() < 1e-5);
        let four = Replication::Windows
            .spread(values[..4].iter().copied())
            .unwrap();
        assert_eq!((four.mean, four.interval, four.low()), (4.5, None, None));
        assert!(four.deviation.is_some());
        let why = Replication::Windows.why_no_interval(4).unwrap();
        assert!(
            why.contains("4 windows are too few") && why.contains("at least 5"),
            "{why}"
        );
        assert_eq!(Replication::Windows.why_no_interval(5), None);
        assert_eq!(Replication::Seeds.why_no_interval(2), None);
    }

    #[test]
    fn blocks_have_percentile_intervals() {
        let block = Block::Day;
        let over = Replication::Blocks(Bootstrap {
            block,
            resamples: 1_000,
            seed: 0,
        });
        let spread = over.spread([1.0, 2.0, 9.0].map(Some)).unwrap();
        // The means of the 27 equally likely resamples range from 1 to 9. Each end has a share of 1 ÷ 27 = 3.7 %, which
        // is more than 2.5 %.
        assert_eq!((spread.low(), spread.high()), (Some(1.0), Some(9.0)));
        assert_eq!((spread.mean, spread.reach()), (4.0, None));
        assert_eq!(over.spread([Some(1.0), None]), None);
        assert_eq!(over.nouns(), "days");
    }

    #[test]
    fn replications_are_read_as_they_are_written() {
        let bootstrap = Bootstrap {
            block: Block::Week,
            resamples: 200,
            seed: 7,
        };
        for (over, text) in [
            (Replication::Seeds, r#"{"over":"seeds"}"#),
            (Replication::Windows, r#"{"over":"windows"}"#),
            (
                Replication::Blocks(bootstrap),
                r#"{"over":"blocks","block":"week","resamples":200,"seed":7}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&over).unwrap(), text);
            assert_eq!(serde_json::from_str::<Replication>(text).unwrap(), over);
        }
    }
}
