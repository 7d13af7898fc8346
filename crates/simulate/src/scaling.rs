//! The rules by which virtual clusters gain and lose nodes during a simulation.

use std::collections::VecDeque;

use super::view::View;
use gleaner_domain::inputs::Forecast;

/// Decides, at the end of a second, whether a node is added or removed.
pub trait Scaling: Send {
    /// Returns 1 to add a node, -1 to remove a node, or 0 to do neither.
    fn step(&mut self, view: &View<'_>) -> i32;

    /// The next second, after the view's current second, in which a node may be added or removed; `None`
    /// if there is no such second.
    fn wake(&mut self, view: &View<'_>) -> Option<i64>;
}

/// Never adds or removes a node.
#[derive(Debug, Clone, Copy)]
pub struct Fixed;

impl Scaling for Fixed {
    fn step(&mut self, _: &View<'_>) -> i32 {
        0
    }

    fn wake(&mut self, _: &View<'_>) -> Option<i64> {
        None
    }
}

/// Lends nodes to another cluster: for each node that the other cluster adds, this cluster removes one,
/// and vice versa.
#[derive(Debug, Clone)]
pub struct Lender {
    steps: VecDeque<(i64, i32)>,
}

impl Lender {
    /// Creates a lender from the other cluster's `steps`: pairs of a second and a number of nodes, in chronological
    /// order. Steps before the start of the simulation are ignored.
    pub fn new(steps: &[(i64, i32)]) -> Self {
        Lender {
            steps: steps.iter().copied().collect(),
        }
    }
}

impl Scaling for Lender {
    fn step(&mut self, view: &View<'_>) -> i32 {
        while let Some(&(time, nodes)) = self.steps.front()
            && time <= view.now()
        {
            self.steps.pop_front();
            if time == view.now() {
                return -nodes;
            }
        }
        0
    }

    fn wake(&mut self, _: &View<'_>) -> Option<i64> {
        self.steps.front().map(|&(time, _)| time)
    }
}

/// Lucid's time-aware scaling of the profiler. The profiler borrows one node while its queue is long, and returns the
/// node once the queue is short and the forecast is low.
pub struct TimeAware<'a> {
    /// Forecast of submissions.
    pub forecast: &'a dyn Forecast,
    /// Number of nodes without the borrowed node.
    pub base: u32,
    /// The node is returned only if submitted jobs are expected to request at most this number of GPUs per interval.
    pub quiet_gpus: f64,
}

/// Seconds between two decisions about borrowing a node.
const BORROW_EVERY: i64 = 10;
/// A node is borrowed if more than this number of jobs are waiting.
const LONG_QUEUE: usize = 10;
/// Seconds between two decisions about returning the node.
const RETURN_EVERY: i64 = 100;
/// The node is returned if fewer than this number of jobs are waiting.
const SHORT_QUEUE: usize = 5;

impl TimeAware<'_> {
    fn would_borrow(&self, view: &View<'_>) -> bool {
        view.pending() > LONG_QUEUE && view.nodes().count() == self.base
    }

    fn would_return(&self, view: &View<'_>) -> bool {
        view.pending() < SHORT_QUEUE
            && view.nodes().count() == self.base + 1
            && view.nodes().added_node_is_idle()
    }

    fn is_quiet(&self, now: i64) -> bool {
        let gpus = self.forecast.gpus(now);
        gpus.is_none_or(|gpus| gpus <= self.quiet_gpus)
    }
}

impl Scaling for TimeAware<'_> {
    fn step(&mut self, view: &View<'_>) -> i32 {
        let now = view.now();
        if now % BORROW_EVERY == 0 && self.would_borrow(view) {
            1
        } else if now % RETURN_EVERY == 0 && self.would_return(view) && self.is_quiet(now) {
            -1
        } else {
            0
        }
    }

    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        if self.would_borrow(view) {
            Some(next_multiple(view.now(), BORROW_EVERY))
        } else if self.would_return(view) {
            next_tick(self.forecast, view.now(), RETURN_EVERY, |t| {
                self.is_quiet(t)
            })
        } else {
            None
        }
    }
}

/// The first multiple of `period` after `now`.
pub(super) fn next_multiple(now: i64, period: i64) -> i64 {
    (now.div_euclid(period) + 1) * period
}

/// The first multiple of `period` after `now` at which the forecast passes the test `holds`; `None` if
/// it never passes the test.
pub(super) fn next_tick(
    forecast: &dyn Forecast,
    now: i64,
    period: i64,
    holds: impl Fn(i64) -> bool,
) -> Option<i64> {
    let mut tick = next_multiple(now, period);
    while !holds(tick) {
        // The result of the test is the same until the forecast changes.
        tick = next_multiple(forecast.next_change(tick)? - 1, period);
    }
    Some(tick)
}
