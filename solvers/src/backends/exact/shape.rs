//! Every task's value as a function of its next count.

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
    bonus: f64,
}

impl Shapes {
    /// Fills the shapes from `problem`; false where some task has no allowed count.
    pub fn build(&mut self, problem: &Problem, big_m: BigM) -> bool {
        self.vertices.clear();
        self.starts.clear();
        self.starts.push(0);
        let cap = big_m.change_cap(problem.nodes);
        for task in &problem.tasks {
            if big_m == BigM::Paper && task.min_nodes > problem.nodes.saturating_add(1) {
                return false;
            }
            self.push_task(problem, task, cap);
            if self.vertices.len() == self.starts[self.starts.len() - 1] {
                return false;
            }
            self.starts.push(self.vertices.len());
        }
        self.add_bonus(problem);
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

    fn push_task(&mut self, problem: &Problem, task: &Task, change_cap: u32) {
        let current = task.current;
        let t_fwd = problem.t_fwd;
        let rate = task.current_rate();
        let (up, down) = (task.rescale_up * rate, task.rescale_down * rate);
        let value = |count: u32, objective: f64| {
            let cost = match count.cmp(&current) {
                std::cmp::Ordering::Less => down,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => up,
            };
            t_fwd * objective - cost
        };
        if current <= change_cap {
            self.push(0, value(0, task.curve_objective[0]), false);
        }
        let low = task.min_nodes.max(current.saturating_sub(change_cap));
        let high = task
            .cap()
            .min(problem.nodes)
            .min(current.saturating_add(change_cap));
        if low > high {
            return;
        }
        let first = self.vertices.len();
        for i in 1..task.curve_nodes.len() {
            let (x0, x1) = (task.curve_nodes[i - 1], task.curve_nodes[i]);
            let (y0, y1) = (task.curve_objective[i - 1], task.curve_objective[i]);
            let slope = (y1 - y0) / f64::from(x1 - x0);
            let (from, to) = (x0.max(low), x1.min(high));
            if from > to {
                continue;
            }
            let at = |x: u32| {
                let objective = if x == x1 {
                    y1
                } else {
                    y0 + slope * f64::from(x - x0)
                };
                value(x, objective)
            };
            // The neighbours of the current count are vertices: the costs jump there.
            let around = current.saturating_sub(1)..=current.saturating_add(1);
            self.push_once(first, from, at(from));
            for x in around.filter(|&x| from < x && x < to) {
                self.push_once(first, x, at(x));
            }
            self.push_once(first, to, at(to));
        }
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

    fn add_bonus(&mut self, problem: &Problem) {
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
