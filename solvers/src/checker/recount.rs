//! Computes a task's earnings at a given node count from the definition: T_fwd · O(n) minus the rescale cost.

use crate::Task;

/// The two parts of a task's term in the objective.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// Earnings of the task over the window.
    pub gain: f64,
    /// Loss caused by the change of its count.
    pub loss: f64,
}

impl Term {
    pub fn net(self) -> f64 {
        self.gain - self.loss
    }
}

/// The minimum and the maximum number of nodes on which the task runs. If the task cannot run, the
/// minimum exceeds the maximum.
pub(super) fn bounds(task: &Task) -> (u32, u32) {
    let last = task.curve_nodes.last().copied().unwrap_or(0);
    if task.max_nodes < last {
        (task.min_nodes, task.max_nodes)
    } else {
        (task.min_nodes, last)
    }
}

/// The task's term in the objective if its count changes to `count`.
pub(super) fn term(task: &Task, t_fwd: f64, count: u32) -> Term {
    let rate = if task.current < task.min_nodes {
        0.0
    } else {
        rate(task, task.current)
    };
    let seconds_lost = if count > task.current {
        task.rescale_up
    } else if count < task.current {
        task.rescale_down
    } else {
        0.0
    };
    Term {
        gain: t_fwd * self::rate(task, count),
        loss: seconds_lost * rate,
    }
}

/// Objective per second at a point of the task's curve.
fn at_point(task: &Task, point: usize) -> f64 {
    task.curve_objective[point] * task.weight
}

/// Objective per second on `count` nodes. Finds the two curve points around the count by bisection.
pub(super) fn rate(task: &Task, count: u32) -> f64 {
    let points = &task.curve_nodes;
    let Some(last) = points.len().checked_sub(1) else {
        return 0.0;
    };
    if count >= points[last] {
        return at_point(task, last);
    }
    let (mut left, mut right) = (0, last);
    while right > left + 1 {
        let middle = (left + right) / 2;
        if points[middle] <= count {
            left = middle;
        } else {
            right = middle;
        }
    }
    let width = f64::from(points[right] - points[left]);
    let of_left = f64::from(points[right] - count) / width;
    let of_right = f64::from(count - points[left]) / width;
    at_point(task, left) * of_left + at_point(task, right) * of_right
}

/// The greatest objective per second at any allowed count; 0 if no count is allowed.
pub(super) fn best_rate(task: &Task) -> f64 {
    let (min, max) = bounds(task);
    if min > max {
        return 0.0;
    }
    let mut best = rate(task, min).max(rate(task, max));
    for (point, &count) in task.curve_nodes.iter().enumerate() {
        if count > max {
            break;
        }
        if count >= min {
            best = best.max(at_point(task, point));
        }
    }
    best
}

/// The counts from `low` to `high` between which the task's term is linear, in ascending order.
/// They are the curve's points, both ends, and the current count with its neighbours, because the
/// costs jump there.
pub(super) fn corners(task: &Task, low: u32, high: u32) -> impl Iterator<Item = u32> {
    let now = task.current;
    let mut extra = [low, high, now.saturating_sub(1), now, now.saturating_add(1)];
    extra.sort_unstable();
    let within = move |count: &u32| (low..=high).contains(count);
    let mut extra = extra.into_iter().filter(within).peekable();
    let mut first = 0;
    while first < task.curve_nodes.len() && task.curve_nodes[first] < low {
        first += 1;
    }
    let points = task.curve_nodes[first..].iter().copied();
    let mut points = points.take_while(move |&count| count <= high).peekable();
    std::iter::from_fn(move || match (points.peek(), extra.peek()) {
        (Some(point), Some(other)) if other < point => extra.next(),
        (Some(_), _) => points.next(),
        (None, _) => extra.next(),
    })
}
