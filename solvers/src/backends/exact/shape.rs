//! Every task's value as a function of its next count.

use std::cmp::Ordering;

use super::fair::{Floor, first_count};
use crate::solver::BigM;
use crate::{Problem, Task};

/// Share of the best single task's value that an unchanged task earns as a bonus.
const STAY_BONUS: f64 = 1e-11;

/// A count and its value. Between two vertices of a task the value is linear;
/// counts strictly between them are allowed only where `joined` says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Vertex {
    pub count: u32,
    pub value: f64,
    /// Whether all counts between the vertex before and this one are allowed.
    pub joined: bool,
}

/// The vertices of all tasks, flat: ascending counts within a task.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    vertices: Vec<Vertex>,
    /// Task j's vertices are `starts[j]..starts[j + 1]`.
    starts: Vec<usize>,
    /// The vertices before [`Shapes::restrict`].
    unrestricted: Vec<Vertex>,
    bonus: f64,
    is_finite: bool,
}

/// A task's value from its count and the curve's value there.
struct Valuation {
    t_fwd: f64,
    current: u32,
    /// Objective lost to growing and to shrinking.
    up: f64,
    down: f64,
}

impl Valuation {
    fn of(task: &Task, t_fwd: f64) -> Self {
        let rate = task.current_rate();
        Valuation {
            t_fwd,
            current: task.current,
            up: task.rescale_up * rate,
            down: task.rescale_down * rate,
        }
    }

    fn at(&self, count: u32, objective: f64) -> f64 {
        let cost = match count.cmp(&self.current) {
            Ordering::Less => self.down,
            Ordering::Equal => 0.0,
            Ordering::Greater => self.up,
        };
        self.t_fwd * objective - cost
    }
}

impl Shapes {
    /// Fills the shapes from `problem`; false where some task has no allowed count.
    /// [`Shapes::favour_staying`] is to follow.
    pub fn build(&mut self, problem: &Problem, big_m: BigM) -> bool {
        self.vertices.clear();
        self.starts.clear();
        self.starts.push(0);
        self.is_finite = true;
        let cap = big_m.change_cap(problem.nodes);
        for task in &problem.tasks {
            if big_m.shuts_out(problem.nodes, task.min_nodes) {
                return false;
            }
            self.push_task(problem, task, cap);
            if self.vertices.len() == self.starts[self.starts.len() - 1] {
                return false;
            }
            self.starts.push(self.vertices.len());
        }
        self.is_finite = self.vertices.iter().all(|v| v.value.is_finite());
        true
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Vertices of task `j`; never empty.
    pub fn of(&self, j: usize) -> &[Vertex] {
        &self.vertices[self.starts[j]..self.starts[j + 1]]
    }

    /// Differences in objective below this count as none.
    pub fn resolution(&self) -> f64 {
        self.bonus / 4.0
    }

    /// Whether all values are within the range of a 64-bit float.
    pub fn is_finite(&self) -> bool {
        self.is_finite
    }

    fn push_task(&mut self, problem: &Problem, task: &Task, change_cap: u32) {
        let (nodes, current) = (problem.nodes, task.current);
        let value = Valuation::of(task, problem.t_fwd);
        if current <= change_cap {
            self.push(0, value.at(0, task.curve_objective[0]), false);
        }
        let low = task.min_nodes.max(current.saturating_sub(change_cap));
        let most = current.saturating_add(change_cap).min(nodes);
        let high = most.min(task.cap());
        let first = self.vertices.len();
        for segment in 0..task.curve_nodes.len().saturating_sub(1) {
            self.push_segment(first, task, segment, low, high, &value);
        }
    }

    /// Adds the counts `low..=high` of one linear segment of a task's curve.
    fn push_segment(
        &mut self,
        first: usize,
        task: &Task,
        segment: usize,
        low: u32,
        high: u32,
        value: &Valuation,
    ) {
        let (x0, x1) = (task.curve_nodes[segment], task.curve_nodes[segment + 1]);
        let (y0, y1) = (
            task.curve_objective[segment],
            task.curve_objective[segment + 1],
        );
        let (from, to) = (x0.max(low), x1.min(high));
        if from > to {
            return;
        }
        let slope = (y1 - y0) / f64::from(x1 - x0);
        let at = |x: u32| match x == x1 {
            true => value.at(x, y1),
            false => value.at(x, y0 + slope * f64::from(x - x0)),
        };
        // The neighbours of the current count are vertices: the costs jump there.
        let current = task.current;
        let around = current.saturating_sub(1)..=current.saturating_add(1);
        self.push_once(first, from, at(from));
        for x in around.filter(|&x| from < x && x < to) {
            self.push_once(first, x, at(x));
        }
        self.push_once(first, to, at(to));
    }

    /// Adds a vertex joined to the one before, unless its count is there already.
    fn push_once(&mut self, first: usize, count: u32, value: f64) {
        let joined = self.vertices.len() > first;
        if !joined || self.vertices[self.vertices.len() - 1].count < count {
            self.push(count, value, joined);
        }
    }

    fn push(&mut self, count: u32, value: f64, joined: bool) {
        self.vertices.push(Vertex {
            count,
            value,
            joined,
        });
    }

    /// Strikes out what no max-min fair plan holds: counts whose share is below the
    /// floor's, and no nodes at all where every task can run. Where some cannot, those
    /// that do earn more than all values together, so that as many as possible do.
    pub fn restrict(&mut self, problem: &Problem, best_rates: &[f64], floor: Floor) {
        let reward = match floor.some_rest {
            true => self.more_than_all(),
            false => 0.0,
        };
        std::mem::swap(&mut self.vertices, &mut self.unrestricted);
        self.vertices.clear();
        for (j, (task, &best)) in problem.tasks.iter().zip(best_rates).enumerate() {
            let keeps = |count| match count {
                0 => floor.some_rest,
                count => task.share_of(problem.t_fwd, best, count) >= floor.level,
            };
            let (from, to) = (self.starts[j], self.starts[j + 1]);
            self.starts[j] = self.vertices.len();
            for i in from..to {
                self.keep(task, problem.t_fwd, (i > from).then(|| i - 1), i, &keeps);
            }
            let own = &mut self.vertices[self.starts[j]..];
            let running = own.iter_mut().filter(|v| v.count > 0);
            running.for_each(|v| v.value += reward);
        }
        if let Some(end) = self.starts.last_mut() {
            *end = self.vertices.len();
        }
    }

    /// More than the totals of any two plans differ by.
    fn more_than_all(&self) -> f64 {
        let largest = |range: &[usize]| {
            let own = self.vertices[range[0]..range[1]].iter();
            own.map(|v| v.value.abs()).fold(0.0, f64::max)
        };
        let sum: f64 = self.starts.windows(2).map(largest).sum();
        if sum > 0.0 { 3.0 * sum } else { 1.0 }
    }

    /// Adds what `keeps` leaves of vertex `i` and the counts between it and the one before.
    fn keep(
        &mut self,
        task: &Task,
        t_fwd: f64,
        before: Option<usize>,
        i: usize,
        keeps: &impl Fn(u32) -> bool,
    ) {
        let vertex = self.unrestricted[i];
        let before = before.map(|b| self.unrestricted[b].count);
        let before = before.filter(|_| vertex.joined);
        let joined_to = before.filter(|&count| keeps(count));
        match (before, joined_to, keeps(vertex.count)) {
            (_, Some(_), true) => self.push(vertex.count, vertex.value, true),
            (Some(low), None, true) => {
                let first = first_count(low, vertex.count, keeps);
                if first < vertex.count {
                    self.push(first, task.value(t_fwd, first), false);
                }
                self.push(vertex.count, vertex.value, first < vertex.count);
            }
            (None, None, true) => self.push(vertex.count, vertex.value, false),
            (_, Some(low), false) => {
                let last = first_count(low, vertex.count, |count| !keeps(count)) - 1;
                if last > low {
                    self.push(last, task.value(t_fwd, last), true);
                }
            }
            (_, None, false) => {}
        }
    }

    /// Adds the bonus of an unchanged task, which settles ties.
    pub fn favour_staying(&mut self, problem: &Problem) {
        self.is_finite = self.vertices.iter().all(|v| v.value.is_finite());
        let best = self
            .vertices
            .iter()
            .fold(0.0f64, |m, v| m.max(v.value.abs()));
        self.bonus = STAY_BONUS * best;
        for (task, range) in problem.tasks.iter().zip(self.starts.windows(2)) {
            let own = &mut self.vertices[range[0]..range[1]];
            if let Ok(i) = own.binary_search_by_key(&task.current, |v| v.count) {
                own[i].value += self.bonus;
            }
        }
    }
}
