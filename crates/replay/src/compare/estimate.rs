//! Estimates the duration of a comparison from a few problems.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

use super::Contender;
use gleaner_domain::words::counted;

/// Number of problems in the sample, which is timed first.
const SAMPLE: usize = 3;

/// Once a contender has spent this much time on the sample, it is not timed on further problems.
const ENOUGH: Duration = Duration::from_secs(1);

/// Indices of the problems, out of `count`, that are timed first. These problems are spread evenly, because
/// the size of a log's problems varies with the number of idle nodes.
pub(super) fn sample(count: usize) -> impl Iterator<Item = usize> {
    let wanted = count.min(SAMPLE);
    (0..wanted).map(move |i| match wanted {
        1 => 0,
        _ => i * (count - 1) / (wanted - 1),
    })
}

/// Estimated time of a comparison. Its `Display` implementation writes a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimate {
    /// Number of problems in the comparison.
    problems: usize,
    /// Name and estimated time of each contender, in the order of the contenders.
    contenders: Vec<(Cow<'static, str>, Duration)>,
    /// Estimated total time of all contenders and of the search for the optima.
    all: Duration,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = match rough(self.all) {
            short if short.starts_with("under") => short,
            long => format!("about {long}"),
        };
        let of = |(name, time): &(Cow<'_, str>, Duration)| format!("{name} {}", rough(*time));
        let each: Vec<String> = self.contenders.iter().map(of).collect();
        let problems = counted(self.problems, "problem");
        write!(f, "{problems} take {all}: {}", each.join(", "))
    }
}

/// Formats an estimated time in seconds, minutes or hours, with few digits.
fn rough(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.0095 => "under 0.01 s".to_owned(),
        ..0.095 => format!("{seconds:.2} s"),
        ..9.95 => format!("{seconds:.1} s"),
        ..119.5 => format!("{seconds:.0} s"),
        ..7170.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// Times contenders on the sample.
pub(super) struct Stopwatch {
    /// For each contender: its name, the time that it has spent, and the number of problems that it has
    /// solved.
    contenders: Vec<(Cow<'static, str>, Spent)>,
    reference: Spent,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    time: Duration,
    problems: u32,
}

impl Spent {
    fn add(&mut self, time: Duration) {
        self.time += time;
        self.problems += 1;
    }

    /// Time for `problems` problems if each takes the mean time of the timed problems.
    fn for_all(self, problems: usize) -> Duration {
        let mean = self.time.as_secs_f64() / f64::from(self.problems.max(1));
        Duration::try_from_secs_f64(mean * problems as f64).unwrap_or(Duration::MAX)
    }
}

impl Stopwatch {
    pub fn new(contenders: &[Contender]) -> Self {
        let of = |c: &Contender| (c.name.clone(), Spent::default());
        Stopwatch {
            contenders: contenders.iter().map(of).collect(),
            reference: Spent::default(),
        }
    }

    /// Whether to time the contender on another problem.
    pub fn wants(&self, contender: usize) -> bool {
        self.contenders[contender].1.time < ENOUGH
    }

    /// Times a contender on a problem.
    pub fn time<T>(&mut self, contender: usize, solve: impl FnOnce() -> T) -> T {
        let clock = Instant::now();
        let result = solve();
        self.contenders[contender].1.add(clock.elapsed());
        result
    }

    /// Times the search for a problem's optimum.
    pub fn reference(&mut self, solve: impl FnOnce()) {
        let clock = Instant::now();
        solve();
        self.reference.add(clock.elapsed());
    }

    /// The estimated time of a comparison on `problems` problems.
    pub fn estimate(&self, problems: usize) -> Estimate {
        let of =
            |(name, spent): &(Cow<'static, str>, Spent)| (name.clone(), spent.for_all(problems));
        let contenders: Vec<_> = self.contenders.iter().map(of).collect();
        let together: Duration = contenders.iter().map(|(_, time)| *time).sum();
        Estimate {
            problems,
            contenders,
            all: together + self.reference.for_all(problems),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::pair;

    #[test]
    fn the_sample_is_spread_over_all_problems() {
        let of = |count| sample(count).collect::<Vec<_>>();
        assert!(of(0).is_empty());
        assert_eq!(of(1), [0]);
        assert_eq!(of(2), [0, 1]);
        assert_eq!(of(3), [0, 1, 2]);
        assert_eq!(of(4), [0, 1, 3]);
        assert_eq!(of(101), [0, 50, 100]);
    }

    // The expected times are the mean time in the sample, multiplied by the number of problems.
    #[test]
    fn the_estimate_is_the_mean_times_the_number() {
        let mut stopwatch = Stopwatch::new(&pair());
        let seconds = Duration::from_secs;
        for time in [2, 4] {
            stopwatch.contenders[0].1.add(seconds(time));
        }
        stopwatch.contenders[1].1.add(Duration::from_millis(10));
        stopwatch.reference.add(Duration::from_millis(1));
        assert!(!stopwatch.wants(0) && stopwatch.wants(1));
        let estimate = stopwatch.estimate(100);
        let expected = [
            ("exact".into(), seconds(300)),
            ("equal-share".into(), seconds(1)),
        ];
        assert_eq!(estimate.contenders, expected);
        assert_eq!(estimate.all, Duration::from_millis(301_100));
    }

    #[test]
    fn an_estimate_is_printed_on_one_line() {
        let ms = Duration::from_millis;
        let estimate = Estimate {
            problems: 12,
            contenders: vec![
                ("exact".into(), ms(3)),
                ("highs".into(), ms(61)),
                ("cbc-paper".into(), ms(290_000)),
            ],
            all: ms(292_000),
        };
        assert_eq!(
            estimate.to_string(),
            "12 problems take about 5 min: exact under 0.01 s, highs 0.06 s, cbc-paper 5 min"
        );
        let others = [ms(980), ms(10_400), ms(90_000), ms(36_000_000)].map(rough);
        assert_eq!(others, ["1.0 s", "10 s", "90 s", "10 h"]);
    }
}
