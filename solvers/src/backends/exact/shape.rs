//! The value of every task as a piecewise linear function of its next count. Tasks that are alike share one function.

use std::cmp::Ordering;

use super::alike::Alike;
use super::fair::{Floor, first_count};
use super::layers::Window;
use crate::solver::BigM;
use crate::{Problem, Task};

/// The bonus of an unchanged task, as a share of the greatest value of any task.
const STAY_BONUS: f64 = 1e-11;

/// A count and its value. Between two neighbouring vertices of a group, the value is linear. The counts strictly
/// between them are allowed only if the second vertex is `joined`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Vertex {
    pub count: u32,
    pub value: f64,
    /// Whether all counts between this vertex and the previous vertex are allowed.
    pub joined: bool,
}

/// The vertices of all groups of tasks that are alike, group after group. Within a group, counts ascend.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    alike: Alike,
    vertices: Vec<Vertex>,
    /// Group g's vertices are `starts[g]..starts[g + 1]`.
    starts: Vec<usize>,
    /// Buffer of [`Shapes::retain`]: the vertices before the call.
    unrestricted: Vec<Vertex>,
    /// Buffer of [`Shapes::cut`]: the least count of every group.
    least: Vec<u32>,
    /// Buffer of [`Shapes::reward_running`]: the greatest absolute value of every group.
    largest_of: Vec<f64>,
    /// The greatest value of a vertex; if no value is positive, the greatest absolute value.
    best: f64,
    /// The greatest absolute value of a vertex, plus the reward of [`Shapes::reward_running`].
    largest: f64,
    bonus: f64,
}

/// Computes a task's value from a count and the curve's objective rate at this count.
struct Valuation {
    t_fwd: f64,
    current: u32,
    /// Objective lost if the task grows.
    up: f64,
    /// Objective lost if the task shrinks.
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
    /// Computes the shapes of all tasks in `problem`. Returns `false` if a task has no allowed count. Call
    /// [`Shapes::favour_staying`] afterwards.
    pub fn build(&mut self, problem: &Problem, big_m: BigM) -> bool {
        self.vertices.clear();
        self.starts.clear();
        self.starts.push(0);
        self.alike.find(problem);
        let cap = big_m.change_cap(problem.nodes);
        for g in 0..self.groups() {
            let task = self.alike.sample(problem, g);
            if big_m.shuts_out(problem.nodes, task.min_nodes) {
                return false;
            }
            self.push_task(problem, task, cap);
            if self.vertices.len() == self.starts[self.starts.len() - 1] {
                return false;
            }
            self.starts.push(self.vertices.len());
        }
        self.cut(problem);
        true
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.group_of_tasks().len()
    }

    /// Number of groups of tasks that are alike.
    pub fn groups(&self) -> usize {
        self.alike.groups()
    }

    /// The group of each task, in task order.
    pub fn group_of_tasks(&self) -> &[u32] {
        self.alike.group_of_tasks()
    }

    /// Number of tasks in group `g`, at least 1.
    pub fn tasks_in(&self, g: usize) -> u32 {
        self.alike.tasks_in(g)
    }

    /// A task of group `g`.
    pub fn sample<'p>(&self, problem: &'p Problem, g: usize) -> &'p Task {
        self.alike.sample(problem, g)
    }

    /// Vertices of the tasks of group `g`; never empty.
    pub fn of(&self, g: usize) -> &[Vertex] {
        &self.vertices[self.starts[g]..self.starts[g + 1]]
    }

    /// The sum of all tasks' least counts.
    pub fn least(&self) -> u64 {
        let of = |g: usize| u64::from(self.of(g)[0].count) * u64::from(self.tasks_in(g));
        (0..self.groups()).map(of).sum()
    }

    /// Differences in the objective that are smaller than this value are treated as 0.
    pub fn resolution(&self) -> f64 {
        self.bonus / 4.0
    }

    /// The greatest absolute value of any task at any allowed count.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Upper bound on the distance between the value of the best plan and the optimum. Rounding and the bonus of
    /// unchanged tasks cause this distance. `size` is an upper bound on the absolute value of the
    /// term that each task adds to the solver's sums. The rounding error is proportional to it.
    pub fn uncertainty(&self, size: f64) -> f64 {
        if self.largest == 0.0 {
            return 0.0;
        }
        let rounding = 8.0 * f64::EPSILON * size;
        self.tasks() as f64 * (self.bonus + rounding)
    }

    fn push_task(&mut self, problem: &Problem, task: &Task, change_cap: u32) {
        let (nodes, current) = (problem.nodes, task.current);
        let value = Valuation::of(task, problem.t_fwd);
        if current <= change_cap {
            self.push(0, value.at(0, task.rate_at_point(0)), false);
        }
        let low = task.min_nodes.max(current.saturating_sub(change_cap));
        let most = current.saturating_add(change_cap).min(nodes);
        let high = most.min(task.cap());
        let first = self.vertices.len();
        let segments = task.curve_nodes.len().saturating_sub(1);
        // The loop starts with the segment that contains `low` or ends at it, and ends with the last segment that
        // begins at or below `high`.
        let begin = task.curve_nodes.partition_point(|&n| n < low);
        let end = task.curve_nodes.partition_point(|&n| n <= high);
        for segment in begin.saturating_sub(1)..end.min(segments) {
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
        let (y0, y1) = (task.rate_at_point(segment), task.rate_at_point(segment + 1));
        let (from, to) = (x0.max(low), x1.min(high));
        if from > to {
            return;
        }
        let slope = (y1 - y0) / f64::from(x1 - x0);
        let at = |x: u32| {
            if x == x1 {
                value.at(x, y1)
            } else {
                value.at(x, y0 + slope * f64::from(x - x0))
            }
        };
        // The costs jump at the current count, so this count and its neighbours are vertices.
        let current = task.current;
        let around = current.saturating_sub(1)..=current.saturating_add(1);
        self.push_once(first, from, at(from));
        for x in around.filter(|&x| from < x && x < to) {
            self.push_once(first, x, at(x));
        }
        self.push_once(first, to, at(to));
    }

    /// Adds a vertex unless the last vertex already has this count. The vertex is joined to the
    /// previous vertex unless it is the first vertex at or after index `first`.
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

    /// Removes the counts that occur in no max-min fair plan: counts with a share below the level of `floor`, and the
    /// count 0 if all tasks can run. If not all tasks can run, every task that runs gets a reward greater than the sum
    /// of all values. The best plan then runs as many tasks as possible. `best_rates` contains the best rate of each
    /// group.
    pub fn restrict(&mut self, problem: &Problem, best_rates: &[f64], floor: Floor) {
        self.retain(problem, |g, task, count| match count {
            0 => floor.some_rest,
            count => task.share_of(problem.t_fwd, best_rates[g], count) >= floor.level,
        });
        self.cut(problem);
        if floor.some_rest {
            self.reward_running();
        }
    }

    /// For each group of alike tasks, removes the counts outside the group's range. Returns whether the least or the
    /// greatest count of any group changed, or `None` if a group has no count left, so that there is no plan.
    pub fn limit(&mut self, problem: &Problem, ranges: &[Window]) -> Option<bool> {
        let before = self.ends();
        // Trim one end at a time, because [`Shapes::retain`] finds only one change between two joined vertices.
        self.retain(problem, |g, _, count| i64::from(count) <= ranges[g].high);
        self.retain(problem, |g, _, count| i64::from(count) >= ranges[g].low);
        if self.starts.windows(2).any(|range| range[0] == range[1]) {
            return None;
        }
        self.cut(problem);
        Some(self.ends() != before)
    }

    /// The sum of the least counts of all groups, and the sum of their greatest counts.
    fn ends(&self) -> (u64, u64) {
        let own = |g| {
            let vertices = self.of(g);
            let last = vertices.last().map_or(0, |vertex| vertex.count);
            (u64::from(vertices[0].count), u64::from(last))
        };
        let all = (0..self.groups()).map(own);
        all.fold((0, 0), |(low, high), own| (low + own.0, high + own.1))
    }

    /// Removes the counts that leave too few nodes for the least counts of the other tasks, and then updates the
    /// greatest values. No plan contains the removed counts; their values would only increase the allowance for
    /// rounding errors.
    fn cut(&mut self, problem: &Problem) {
        let mut least = std::mem::take(&mut self.least);
        least.clear();
        least.extend((0..self.groups()).map(|g| self.of(g)[0].count));
        let in_all = self.least();
        if let (1.., Some(free)) = (in_all, u64::from(problem.nodes).checked_sub(in_all)) {
            self.retain(problem, |g, _, count| u64::from(count - least[g]) <= free);
        }
        self.least = least;
        (self.best, self.largest) = sizes(&self.vertices);
    }

    /// Keeps the counts for which `keeps` is true. The arguments of `keeps` are a group, a task of the group, and a
    /// count. Between two joined vertices, the result of `keeps` must change at most once.
    fn retain(&mut self, problem: &Problem, keeps: impl Fn(usize, &Task, u32) -> bool) {
        std::mem::swap(&mut self.vertices, &mut self.unrestricted);
        self.vertices.clear();
        for g in 0..self.groups() {
            let task = self.sample(problem, g);
            let keeps = |count| keeps(g, task, count);
            let (from, to) = (self.starts[g], self.starts[g + 1]);
            self.starts[g] = self.vertices.len();
            for i in from..to {
                self.keep(task, problem.t_fwd, (i > from).then(|| i - 1), i, &keeps);
            }
        }
        if let Some(end) = self.starts.last_mut() {
            *end = self.vertices.len();
        }
    }

    /// Adds a reward to the value of every count above 0. The reward exceeds the difference between the totals of any
    /// two plans.
    fn reward_running(&mut self) {
        let largest = |range: &[usize]| sizes(&self.vertices[range[0]..range[1]]).1;
        self.largest_of.clear();
        self.largest_of.extend(self.starts.windows(2).map(largest));
        let tasks = self.alike.group_of_tasks().iter();
        let sum: f64 = tasks.map(|&g| self.largest_of[g as usize]).sum();
        // If all values are 0, any reward is enough, and nothing is rounded.
        let reward = if sum > 0.0 { 3.0 * sum } else { 1.0 };
        self.largest += 3.0 * sum;
        let running = self.vertices.iter_mut().filter(|v| v.count > 0);
        running.for_each(|v| v.value += reward);
    }

    /// Adds vertex `i` and the counts between it and the previous vertex, if `keeps` accepts them. If the result of
    /// `keeps` changes between the two vertices, adds a new vertex at the accepted count next to the change.
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

    /// Adds the bonus of an unchanged task to the value of each task's current count, so that ties are broken in favour
    /// of this count.
    pub fn favour_staying(&mut self, problem: &Problem) {
        self.bonus = STAY_BONUS * self.best;
        for (g, range) in self.starts.windows(2).enumerate() {
            let current = self.alike.sample(problem, g).current;
            let own = &mut self.vertices[range[0]..range[1]];
            if let Ok(i) = own.binary_search_by_key(&current, |v| v.count) {
                own[i].value += self.bonus;
            }
        }
    }
}

/// Returns two numbers. The first is the greatest value or, if no value is positive, the greatest absolute value. The
/// second is always the greatest absolute value.
fn sizes(vertices: &[Vertex]) -> (f64, f64) {
    let (mut gain, mut loss) = (0.0f64, 0.0f64);
    for v in vertices {
        gain = gain.max(v.value);
        loss = loss.max(-v.value);
    }
    (if gain > 0.0 { gain } else { loss }, gain.max(loss))
}
