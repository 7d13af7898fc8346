//! Suggests a forward window for the replay, from the lengths of idle fragments and the costs of
//! rescaling.
//!
//! # Derivation
//!
//! Let ℓ be the lengths of the idle fragments, L their mean, and F(τ) = Σ min(ℓ, τ) ÷ Σ ℓ. F(τ) is the probability that
//! a node that is idle now became idle within the last τ seconds. By symmetry, F(τ) is also the probability that the
//! node is taken away within the next τ seconds. Suppose that a task grew to all idle nodes τ seconds ago. Of the nodes
//! that are idle now, it holds the share 1 − F(τ), and the share F(τ) is unused. Growing to these nodes costs `up`
//! seconds of the task's progress. With a window T and a speed proportional to the number of nodes, growing pays if T·F
//! ≥ up·(1 − F). A task with a window T therefore grows every τ seconds, where T = up·(1 − F(τ)) ÷ F(τ). For example,
//! with up = 18 s and F(τ) = 0.2 the window is T = 18 · 0.8 ÷ 0.2 = 72 s.
//!
//! Over such a period, the share of idle node-time that becomes work is
//!
//! p(τ) = H·(1 − down·η) − up·(1 − F(τ)) ÷ τ,  H = (1/τ)·∫₀^τ (1 − F),
//!
//! where η is the rate, per second, of events at which the task loses nodes. Of the nodes that an event takes away,
//! tasks hold the share s = L·F(τ) ÷ τ, and each of J tasks is equally likely to hold such a node. An event that takes
//! d nodes away therefore hits a given task with probability 1 − (1 − s/J)^d. η is the sum of these probabilities over
//! the log's events, divided by the log's span. The suggested window is T at the τ with the largest p. For long
//! fragments and rare losses, this T is near √(up·L/2).
//!
//! The model has no fitted parameters. It ignores the curvature of scaling curves and the maximum
//! sizes of tasks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::idle_lengths::IdleLengths;
use super::ratio;
use gleaner_domain::TrainingTask;

/// Rescale costs of the tasks to be trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RescaleCosts {
    /// Seconds of progress lost when a task grows.
    pub up_s: f64,
    /// Seconds of progress lost when a task loses a node.
    pub down_s: f64,
    /// Number of tasks that share the idle nodes.
    pub tasks: usize,
}

impl RescaleCosts {
    /// Costs of the published ImageNet tasks of BFTrainer: 18 s to grow, 12 s to lose nodes.
    pub fn typical(tasks: usize) -> Self {
        RescaleCosts {
            up_s: 18.0,
            down_s: 12.0,
            tasks,
        }
    }

    /// Mean costs of `tasks`, of which `at_once` run concurrently.
    pub fn of(tasks: &[TrainingTask], at_once: usize) -> Self {
        let count = tasks.len() as f64;
        RescaleCosts {
            up_s: ratio(tasks.iter().map(|t| t.rescale_up).sum(), count),
            down_s: ratio(tasks.iter().map(|t| t.rescale_down).sum(), count),
            tasks: at_once,
        }
    }
}

/// A window for the replay, with the costs from which it is derived.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// The rescale costs from which the window is derived.
    pub costs: RescaleCosts,
    /// The window; `None` if no window can be suggested.
    pub window: Option<Window>,
    /// The reason why no window is suggested; `None` if a window is suggested.
    pub reason: Option<&'static str>,
    /// Windows other than the suggested window, from the shortest to the longest, each with the share of idle node-time
    /// that would become work. Empty if there is no idle time, if there are no tasks, or if growing costs nothing.
    pub others: Vec<OtherWindow>,
}

/// A window, and the share of idle node-time that would become work with this window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OtherWindow {
    /// The window in seconds.
    pub t_fwd_s: f64,
    /// Share of idle node-time that becomes work; negative if more work is lost than gained.
    pub useful_share: f64,
}

/// A suggested window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Window {
    /// The window in seconds. It is rounded to two significant digits, because windows near the optimum are almost as
    /// good.
    pub t_fwd_s: f64,
    /// Seconds from one growth of a task to its next growth, with this window.
    pub growth_every_s: f64,
    /// Probability that an idle node is taken away within [`Window::growth_every_s`].
    pub taken_within: f64,
    /// Mean seconds between two events at which a task loses nodes; `None` if a task never loses nodes.
    pub loss_every_s: Option<f64>,
    /// Share of idle node-time that becomes work, for a task that scales linearly.
    pub useful_share: f64,
}

/// The model described at the top of this file, as functions of the period τ between growths.
struct Model<'a> {
    idle_lengths: &'a IdleLengths<'a>,
    /// For each number of nodes, the number of events that took this many nodes away.
    departures: &'a BTreeMap<u32, u32>,
    span: f64,
    costs: RescaleCosts,
}

impl Model<'_> {
    /// η: the rate, per second, of events at which a task loses nodes.
    fn loss_rate(&self, tau: f64) -> f64 {
        let held = (self.idle_lengths.mean() * self.idle_lengths.taken(tau) / tau).min(1.0);
        let spared = 1.0 - held / self.costs.tasks as f64;
        let hits = self
            .departures
            .iter()
            .map(|(&left, &events)| f64::from(events) * (1.0 - spared.powf(f64::from(left))));
        hits.sum::<f64>() / self.span
    }

    /// p: the share of idle node-time that becomes work.
    fn useful(&self, tau: f64) -> f64 {
        let growth = self.costs.up_s * (1.0 - self.idle_lengths.taken(tau)) / tau;
        self.idle_lengths.held(tau) * (1.0 - self.costs.down_s * self.loss_rate(tau)) - growth
    }

    /// T: the window with which a task grows every `tau` seconds.
    fn window(&self, tau: f64) -> f64 {
        let taken = self.idle_lengths.taken(tau);
        self.costs.up_s * (1.0 - taken) / taken
    }

    /// The period with the largest p among [`STEPS`] periods in geometric progression.
    fn best(&self, longest: f64) -> f64 {
        let mut best = (f64::NEG_INFINITY, self.idle_lengths.mean() / 1000.0);
        for tau in self.periods(longest, STEPS) {
            let useful = self.useful(tau);
            if useful > best.0 {
                best = (useful, tau);
            }
        }
        best.1
    }

    /// `steps` periods in geometric progression, from a thousandth of the mean length of idle
    /// fragments to just below `longest`.
    fn periods(&self, longest: f64, steps: f64) -> impl Iterator<Item = f64> + use<> {
        let first = self.idle_lengths.mean() / 1000.0;
        let last = longest * (1.0 - 1e-9);
        let step = (last / first).powf(1.0 / steps);
        let next = move |tau: &f64| Some(tau * step);
        let periods = std::iter::successors(Some(first), next);
        periods
            .take_while(move |tau| *tau <= last * step.sqrt())
            .map(move |tau| tau.min(last))
    }

    /// Windows other than the suggested window, from the shortest to the longest, each with the share of idle node-time
    /// that would become work.
    fn others(&self, longest: f64) -> Vec<OtherWindow> {
        let other = |tau| OtherWindow {
            t_fwd_s: self.window(tau),
            useful_share: self.useful(tau),
        };
        // A longer period corresponds to a shorter window.
        let mut others: Vec<OtherWindow> = self.periods(longest, OTHERS).map(other).collect();
        others.retain(|other| other.t_fwd_s >= SHORTEST);
        others.reverse();
        others
    }
}

const STEPS: f64 = 400.0;
/// Number of reported windows in addition to the suggested window.
const OTHERS: f64 = 60.0;
/// Minimum length of the windows in [`Suggestion::others`], in seconds.
const SHORTEST: f64 = 1.0;

/// Suggests a window for tasks with these `costs`, for a log that spans `span` seconds. `departures` counts the log's
/// events by the number of nodes that an event took away.
pub(super) fn suggest(
    idle_lengths: &IdleLengths<'_>,
    departures: &BTreeMap<u32, u32>,
    span: f64,
    costs: RescaleCosts,
) -> Suggestion {
    let none = |reason| Suggestion {
        costs,
        window: None,
        reason: Some(reason),
        others: Vec::new(),
    };
    if idle_lengths.total() <= 0.0 {
        return none("no node is ever idle");
    }
    if costs.tasks == 0 {
        return none("there are no tasks");
    }
    if costs.up_s <= 0.0 {
        return none("growing costs nothing, so every window pays");
    }
    let model = Model {
        idle_lengths,
        departures,
        span,
        costs,
    };
    let tau = model.best(idle_lengths.longest());
    let useful_share = model.useful(tau);
    if useful_share <= 0.0 {
        return Suggestion {
            others: model.others(idle_lengths.longest()),
            ..none("the idle fragments are so short that rescaling costs more than it earns")
        };
    }
    let loss_rate = model.loss_rate(tau);
    Suggestion {
        costs,
        window: Some(Window {
            t_fwd_s: two_digits(model.window(tau)),
            growth_every_s: tau,
            taken_within: idle_lengths.taken(tau),
            loss_every_s: (loss_rate > 0.0).then(|| loss_rate.recip()),
            useful_share,
        }),
        reason: None,
        others: model.others(idle_lengths.longest()),
    }
}

/// Rounds `value`, above 0, to two significant digits.
fn two_digits(value: f64) -> f64 {
    let exponent = value.log10().floor() as i32 - 1;
    // Powers of ten below 1 are not exact, so only powers of at least 1 are used: 110 stays 110, and 0.25 stays 0.25.
    let unit = 10f64.powi(exponent.abs());
    if exponent >= 0 {
        (value / unit).round() * unit
    } else {
        (value * unit).round() / unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Quantiles of an exponential distribution with a mean of `mean` seconds, as lengths in nanoseconds.
    fn exponential(mean: f64, count: usize) -> Vec<u64> {
        (0..count)
            .map(|i| -mean * (1.0 - (i as f64 + 0.5) / count as f64).ln())
            .map(|seconds| (seconds * 1e9) as u64)
            .collect()
    }

    fn costs(up_s: f64, down_s: f64, tasks: usize) -> RescaleCosts {
        RescaleCosts {
            up_s,
            down_s,
            tasks,
        }
    }

    // For exponentially distributed lengths, F = 1 − e^(−τ/L). If losses are rare, T ≈ √(up·L/2).
    #[test]
    fn long_idle_lengths_give_the_square_root_rule() {
        let sorted = exponential(200_000.0, 20_000);
        let suggestion = suggest(
            &IdleLengths::new(&sorted),
            &BTreeMap::new(),
            1e6,
            costs(20.0, 0.0, 1),
        );
        let window = suggestion.window.unwrap();
        let expected = (20.0 * 200_000.0 / 2.0f64).sqrt();
        assert!(
            (window.t_fwd_s / expected - 1.0).abs() < 0.05,
            "{window:?} {expected}"
        );
        assert_eq!(window.loss_every_s, None);
    }

    // If a task holds 1/4 of the nodes, an event that takes 2 nodes away takes none of the task's nodes with
    // probability (3/4)².
    #[test]
    fn an_event_hits_a_task_at_most_once() {
        let sorted = [1000 * S];
        let idle_lengths = IdleLengths::new(&sorted);
        let model = Model {
            idle_lengths: &idle_lengths,
            departures: &BTreeMap::from([(2, 3)]),
            span: 100.0,
            costs: costs(1.0, 1.0, 4),
        };
        // The only fragment is longer than τ, so the tasks hold every node that is taken away.
        assert_eq!(model.loss_rate(10.0), 3.0 * (1.0 - 0.75 * 0.75) / 100.0);
    }

    #[test]
    fn costlier_losses_shorten_the_window() {
        let sorted = exponential(1000.0, 10_000);
        let idle_lengths = IdleLengths::new(&sorted);
        let departures = BTreeMap::from([(1, 10_000)]);
        let at = |down| {
            let suggestion = suggest(&idle_lengths, &departures, 1e6, costs(20.0, down, 1));
            suggestion.window.unwrap().t_fwd_s
        };
        assert!(at(0.0) > at(20.0) && at(20.0) > at(40.0));
    }

    #[test]
    fn a_missing_window_has_a_reason() {
        let sorted = exponential(60.0, 100);
        let idle_lengths = IdleLengths::new(&sorted);
        let none = BTreeMap::new();
        let reason =
            |idle_lengths: &IdleLengths<'_>, costs| suggest(idle_lengths, &none, 1e4, costs).reason;
        assert!(
            reason(&IdleLengths::new(&[]), costs(1.0, 1.0, 1))
                .unwrap()
                .contains("idle")
        );
        assert!(
            reason(&idle_lengths, costs(0.0, 1.0, 1))
                .unwrap()
                .contains("nothing")
        );
        assert!(
            reason(&idle_lengths, costs(1.0, 1.0, 0))
                .unwrap()
                .contains("no task")
        );
        let fixed = [60 * S; 5];
        let often = BTreeMap::from([(1, 1_000)]);
        let suggestion = suggest(
            &IdleLengths::new(&fixed),
            &often,
            1e3,
            costs(500.0, 500.0, 1),
        );
        assert!(
            suggestion.reason.unwrap().contains("costs more"),
            "{suggestion:?}"
        );
    }

    #[test]
    fn windows_are_rounded_to_two_digits() {
        let of = [87.4, 113.0, 0.2549, 6.04, 9.96].map(two_digits);
        assert_eq!(of, [87.0, 110.0, 0.25, 6.0, 10.0]);
    }
}
