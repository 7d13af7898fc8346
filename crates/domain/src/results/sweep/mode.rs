//! Modes of sweeps: the kinds of runs, with their settings and figures.

use super::field::{Field, REPLAY_SETTINGS, SIMULATE_SETTINGS};
use super::metrics::{self, Metric};

/// The kind of runs in a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Replays of a log.
    Replay,
    /// Simulations of a trace.
    Simulate,
}

impl Mode {
    /// The settings of every run.
    pub fn settings(self) -> &'static [Field] {
        match self {
            Mode::Replay => &REPLAY_SETTINGS,
            Mode::Simulate => &SIMULATE_SETTINGS,
        }
    }

    /// The figures of every run.
    pub fn metrics(self) -> &'static [Metric] {
        match self {
            Mode::Replay => &metrics::REPLAY,
            Mode::Simulate => &metrics::SIMULATE,
        }
    }

    /// The figure with this name; `None` if there is no such figure.
    pub fn metric(self, name: &str) -> Option<Metric> {
        let mut all = self.metrics().iter();
        all.find(|metric| metric.name == name).copied()
    }

    /// Name of the figure by which the best run is chosen by default.
    pub fn default_metric(self) -> &'static str {
        self.order()[0]
    }

    /// The figures that break ties between runs with equal values of `metric`, most important first.
    pub fn ties(self, metric: &Metric) -> Vec<Metric> {
        let others = self.order().into_iter().filter(|name| *name != metric.name);
        others.filter_map(|name| self.metric(name)).collect()
    }

    /// Names of the most important figures, in descending order of importance. All replays in which all tasks finish do
    /// the same work, so only the figures after the total work can distinguish them.
    fn order(self) -> [&'static str; 3] {
        match self {
            Mode::Replay => ["total_work", "completion_mean_s", "rescale_loss"],
            Mode::Simulate => ["avg_jct_s", "avg_queue_s", "checkpoints"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_that_rank_settings_have_a_best_value() {
        for mode in [Mode::Replay, Mode::Simulate] {
            for name in mode.order() {
                let metric = mode.metric(name).unwrap();
                assert!(metric.best.is_some());
                assert_eq!(mode.ties(&metric).len(), 2);
            }
        }
    }
}
