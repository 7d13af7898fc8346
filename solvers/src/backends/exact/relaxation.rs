//! The LP relaxation of the multiple-choice knapsack, solved greedily.
//!
//! Every task's value function is replaced with its concave envelope: a chain of steps with decreasing slopes. A slope
//! is the value gained per node. Each task starts at its least count. The steps of all tasks are taken in order of
//! their slopes, steepest first, until a step needs more nodes than remain: the *break step*. Its slope is the price λ
//! of a node. Taking a fraction of the break step gives the upper bound (Sinha and Zoltners 1979). The overview of the
//! exact solver has an example.
//!
//! Tasks that are alike form a group and have the same steps, so the steps are sorted by group, not by task. Only steps
//! with the break step's slope are taken task by task, in task order.

use std::ops::Range;

use super::shape::{Shapes, Vertex};

/// A step along the concave envelope of the tasks of a group.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Value gained per node.
    slope: f64,
    group: u32,
    /// Index of the group's vertex at the end of the step.
    to: u32,
    /// Number of nodes that the step takes for each task.
    width: u32,
}

/// Solves the relaxation and rounds it to a plan.
#[derive(Debug, Default)]
pub(super) struct Relaxation {
    hull: Vec<u32>,
    steps: Vec<Step>,
    /// For each group, the count that all its tasks have reached.
    reached: Vec<u32>,
    /// For each group, the step that is as steep as the break step; `None` if the group has no such step.
    last: Vec<Option<Step>>,
    growths: Growths,
    price: f64,
}

impl Relaxation {
    /// Value of an additional node at the relaxed optimum (λ); 0 if all steps fit.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Writes the best plan that it finds to `counts`, and returns the plan's gap to the upper bound. Returns `None` if
    /// even the tasks' least counts need too many nodes.
    pub fn solve(&mut self, shapes: &Shapes, nodes: u32, counts: &mut Vec<u32>) -> Option<f64> {
        let free = u64::from(nodes).checked_sub(shapes.least())?;
        self.collect_steps(shapes);
        self.price = 0.0;
        let (rest, left) = self.take_whole_slopes(shapes, free);
        let tasks = shapes.group_of_tasks().iter();
        counts.clear();
        counts.extend(tasks.map(|&g| self.reached[g as usize]));
        if rest.is_empty() {
            return Some(0.0);
        }
        Some(self.take_to_break(shapes, rest, left, counts))
    }

    /// Takes the steps, slope by slope, as long as all steps of a slope fit into the `left` nodes. Every
    /// task of a group takes the group's steps. Returns the steps of the first slope that does not fit,
    /// if there is one, and the remaining nodes.
    fn take_whole_slopes(&mut self, shapes: &Shapes, mut left: u64) -> (Range<usize>, u32) {
        self.reached.clear();
        let groups = 0..shapes.groups();
        self.reached.extend(groups.map(|g| shapes.of(g)[0].count));
        let mut rest = 0..0;
        for steps in self
            .steps
            .chunk_by(|a, b| a.slope.total_cmp(&b.slope).is_eq())
        {
            rest = rest.end..rest.end + steps.len();
            let of = |s: &Step| u64::from(s.width) * u64::from(shapes.tasks_in(s.group as usize));
            let Some(after) = left.checked_sub(steps.iter().map(of).sum()) else {
                return (rest, left as u32);
            };
            left = after;
            for step in steps {
                self.reached[step.group as usize] += step.width;
            }
        }
        (0..0, left as u32)
    }

    /// Takes the steps `rest`, which all have the same slope, task by task up to the break step, and rounds the plan.
    /// Returns the plan's gap to the upper bound.
    fn take_to_break(
        &mut self,
        shapes: &Shapes,
        rest: Range<usize>,
        mut left: u32,
        counts: &mut [u32],
    ) -> f64 {
        self.last.clear();
        self.last.resize(shapes.groups(), None);
        for step in &self.steps[rest] {
            self.last[step.group as usize] = Some(*step);
        }
        for (count, &g) in counts.iter_mut().zip(shapes.group_of_tasks()) {
            let Some(step) = self.last[g as usize] else {
                continue;
            };
            if step.width <= left {
                left -= step.width;
                *count += step.width;
                continue;
            }
            self.price = step.slope;
            if left > 0 {
                if !is_edge(shapes.of(g as usize), *count, step.to) {
                    return round(shapes, &mut self.growths, self.price, left, counts);
                }
                *count += left;
            }
            break;
        }
        0.0
    }

    /// Collects all steps of the envelopes that gain value, steepest first.
    fn collect_steps(&mut self, shapes: &Shapes) {
        self.steps.clear();
        for g in 0..shapes.groups() {
            let vertices = shapes.of(g);
            envelope(vertices, &mut self.hull);
            for pair in self.hull.windows(2) {
                let (from, to) = (vertices[pair[0] as usize], vertices[pair[1] as usize]);
                let slope = slope(from, to);
                if slope <= 0.0 {
                    break;
                }
                self.steps.push(Step {
                    slope,
                    group: g as u32,
                    to: pair[1],
                    width: to.count - from.count,
                });
            }
        }
        // The order of steps of equal slope does not matter here: `take_to_break` takes them in task
        // order. No envelope has two steps of equal slope.
        let falling = |a: &Step, b: &Step| b.slope.total_cmp(&a.slope);
        self.steps.sort_unstable_by(falling);
    }
}

fn slope(from: Vertex, to: Vertex) -> f64 {
    (to.value - from.value) / f64::from(to.count - from.count)
}

/// Writes to `hull` the indices of the vertices on the upper concave envelope. The slopes between these vertices
/// decrease strictly.
fn envelope(vertices: &[Vertex], hull: &mut Vec<u32>) {
    hull.clear();
    for (i, &v) in vertices.iter().enumerate() {
        while let [.., a, b] = hull[..] {
            let (a, b) = (vertices[a as usize], vertices[b as usize]);
            if slope(a, b) > slope(b, v) {
                break;
            }
            hull.pop();
        }
        hull.push(i as u32);
    }
}

/// Whether every count from `from` to the vertex `to` is allowed and lies on the envelope.
fn is_edge(vertices: &[Vertex], from: u32, to: u32) -> bool {
    let to = to as usize;
    vertices[to].joined && vertices[to - 1].count == from
}

/// Distributes the `left` nodes if the break step cannot be taken in part: it repeatedly grows the task that gains
/// most. Among tasks with the same gain, it grows the first. Returns the plan's gap to the upper bound.
fn round(
    shapes: &Shapes,
    growths: &mut Growths,
    price: f64,
    mut left: u32,
    counts: &mut [u32],
) -> f64 {
    let mut gap = price * f64::from(left);
    while left > 0 {
        growths.forget(shapes.groups());
        let mut best: Option<(usize, Growth)> = None;
        for (j, (&g, &count)) in shapes.group_of_tasks().iter().zip(&*counts).enumerate() {
            let growth = growths.of(shapes, g as usize, count, left);
            if let Some(growth) = growth.filter(|g| best.is_none_or(|(_, b)| g.gain > b.gain)) {
                best = Some((j, growth));
            }
        }
        let Some((j, growth)) = best else { break };
        counts[j] += growth.nodes;
        left -= growth.nodes;
        gap -= growth.gain;
    }
    gap.max(0.0)
}

/// Caches, for each group, the best growth of a task from the count that was queried last. This
/// saves time, because most tasks of a group have the same count.
#[derive(Debug, Default)]
struct Growths(Vec<Option<(u32, Option<Growth>)>>);

impl Growths {
    fn forget(&mut self, groups: usize) {
        self.0.clear();
        self.0.resize(groups, None);
    }

    /// Like [`best_growth`], but cached. If `left` has changed, call [`Growths::forget`] first.
    fn of(&mut self, shapes: &Shapes, g: usize, count: u32, left: u32) -> Option<Growth> {
        match self.0[g] {
            Some((known, growth)) if known == count => growth,
            _ => {
                let growth = best_growth(shapes.of(g), count, left);
                self.0[g] = Some((count, growth));
                growth
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Growth {
    nodes: u32,
    gain: f64,
}

/// The most profitable growth of a task from `count` by at most `left` nodes; `None` if no growth increases the value.
fn best_growth(vertices: &[Vertex], count: u32, left: u32) -> Option<Growth> {
    let limit = count.saturating_add(left);
    let now = value_at(vertices, count)?;
    let mut best: Option<Growth> = None;
    for (i, v) in vertices.iter().enumerate() {
        let nodes = if v.count <= limit {
            v.count
        } else if v.joined && vertices[i - 1].count < limit {
            limit
        } else {
            break;
        };
        if nodes <= count {
            continue;
        }
        let gain = value_at(vertices, nodes)? - now;
        if gain > best.as_ref().map_or(0.0, |b| b.gain) {
            best = Some(Growth {
                nodes: nodes - count,
                gain,
            });
        }
    }
    best
}

/// Value of an allowed count; `None` if the count is not allowed.
pub(super) fn value_at(vertices: &[Vertex], count: u32) -> Option<f64> {
    match vertices.binary_search_by_key(&count, |v| v.count) {
        Ok(i) => Some(vertices[i].value),
        Err(0) => None,
        Err(i) => {
            let to = vertices.get(i).filter(|v| v.joined)?;
            let from = vertices[i - 1];
            Some(from.value + slope(from, *to) * f64::from(count - from.count))
        }
    }
}
