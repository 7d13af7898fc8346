//! Idle nodes over time, in at most a few hundred steps of equal width.

use serde::Serialize;

use gleaner_domain::Utc;

/// Idle nodes over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// Width of a step in seconds. The first step starts at the log's first row.
    pub step_seconds: f64,
    /// Mean number of idle nodes in each step. The last step may be shorter than the other steps.
    pub idle_nodes: Vec<f64>,
}

/// Maximum number of steps of a timeline.
const STEPS: i128 = 500;
/// Customary step widths in minutes. Longer logs use whole multiples of the last width, a day.
const WIDTHS: [i128; 9] = [1, 5, 10, 30, 60, 180, 360, 720, 1440];
const MINUTE: i128 = 60_000_000_000;

/// Collects idle node-time by step.
#[derive(Debug, Clone)]
pub(super) struct TimelineScan {
    start: i128,
    end: i128,
    width: i128,
    /// Idle node-nanoseconds in each step.
    idle: Vec<i128>,
}

impl TimelineScan {
    /// An empty scan of a log from `start` to `end`.
    pub fn new(start: Utc, end: Utc) -> Self {
        let (start, end) = (i128::from(start.0), i128::from(end.0));
        let span = end - start;
        let fits = |&minutes: &i128| minutes * MINUTE * STEPS >= span;
        let width = match WIDTHS.iter().find(|&m| fits(m)) {
            Some(minutes) => minutes * MINUTE,
            None => {
                let day = 1440 * MINUTE;
                (span + day * STEPS - 1) / (day * STEPS) * day
            }
        };
        let steps = (span + width - 1) / width;
        TimelineScan {
            start,
            end,
            width,
            idle: vec![0; steps as usize],
        }
    }

    /// Records that `idle` nodes were idle from `from` to `to`, within the log.
    pub fn add(&mut self, from: Utc, to: Utc, idle: u32) {
        let mut at = i128::from(from.0) - self.start;
        let to = i128::from(to.0) - self.start;
        while at < to {
            let step = at / self.width;
            let until = to.min((step + 1) * self.width);
            self.idle[step as usize] += (until - at) * i128::from(idle);
            at = until;
        }
    }

    pub fn finish(&self) -> Timeline {
        let span = self.end - self.start;
        let mean = |(step, &idle): (usize, &i128)| {
            let covered = self.width.min(span - step as i128 * self.width);
            idle as f64 / covered as f64
        };
        Timeline {
            step_seconds: self.width as f64 / 1e9,
            idle_nodes: self.idle.iter().enumerate().map(mean).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // 4 nodes are idle for half of the first step, and 1 node for the shortened last step.
    #[test]
    fn steps_are_means_and_the_last_is_cut() {
        let at = Utc::from_seconds;
        let mut scan = TimelineScan::new(at(10), at(100));
        scan.add(at(10), at(40), 4);
        scan.add(at(40), at(70), 0);
        scan.add(at(70), at(100), 1);
        let timeline = scan.finish();
        assert_eq!(timeline.step_seconds, 60.0);
        assert_eq!(timeline.idle_nodes, [2.0, 1.0]);
    }

    #[test]
    fn the_longest_log_has_few_steps() {
        let scan = TimelineScan::new(Utc(i64::MIN), Utc(i64::MAX));
        assert!(scan.idle.len() <= 500 && scan.idle.len() > 400);
        assert!(
            TimelineScan::new(Utc(5), Utc(5))
                .finish()
                .idle_nodes
                .is_empty()
        );
    }
}
