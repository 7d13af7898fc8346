//! The LP relaxation of the multiple-choice knapsack, solved greedily.
//!
//! Every task's value is replaced by its concave envelope: a chain of steps whose slopes, the
//! values per node, fall. Each task starts at its least count. The steps of all tasks are taken in
//! order of their slopes, steepest first, until one does not fit into the nodes that are left: the
//! *break step*. Its slope is the price λ of a node. Taking the break step in part gives the upper
//! bound.

use super::shape::{Shapes, Vertex};

/// A step along a task's concave envelope.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Value gained per node.
    slope: f64,
    task: u32,
    /// Index of the task's vertex at the end of the step.
    to: u32,
    /// Number of nodes that the step takes.
    width: u32,
}

/// Solves the relaxation and rounds it to a plan.
#[derive(Debug, Default)]
pub(super) struct Relaxation {
    hull: Vec<u32>,
    steps: Vec<Step>,
    price: f64,
}

impl Relaxation {
    /// Value of one more node at the relaxed optimum (λ); 0 if all steps fit.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Writes the best plan it finds to `counts` and returns how far its value is from the upper
    /// bound; `None` if even the tasks' least counts need too many nodes.
    pub fn solve(&mut self, shapes: &Shapes, nodes: u32, counts: &mut Vec<u32>) -> Option<f64> {
        counts.clear();
        counts.extend((0..shapes.tasks()).map(|j| shapes.of(j)[0].count));
        let least: u64 = counts.iter().map(|&c| u64::from(c)).sum();
        let mut left = u32::try_from(u64::from(nodes).checked_sub(least)?).ok()?;
        self.collect_steps(shapes);
        self.price = 0.0;
        for i in 0..self.steps.len() {
            let step = self.steps[i];
            let count = &mut counts[step.task as usize];
            if step.width <= left {
                left -= step.width;
                *count += step.width;
                continue;
            }
            self.price = step.slope;
            if left > 0 {
                if !is_edge(shapes.of(step.task as usize), *count, step.to) {
                    return Some(round(shapes, self.price, left, counts));
                }
                *count += left;
            }
            return Some(0.0);
        }
        Some(0.0)
    }

    /// Collects the steps of all envelopes that gain anything, steepest first.
    fn collect_steps(&mut self, shapes: &Shapes) {
        self.steps.clear();
        for j in 0..shapes.tasks() {
            let vertices = shapes.of(j);
            envelope(vertices, &mut self.hull);
            for pair in self.hull.windows(2) {
                let (from, to) = (vertices[pair[0] as usize], vertices[pair[1] as usize]);
                let slope = slope(from, to);
                if slope <= 0.0 {
                    break;
                }
                self.steps.push(Step {
                    slope,
                    task: j as u32,
                    to: pair[1],
                    width: to.count - from.count,
                });
            }
        }
        // Equal slopes are ordered by task and then by count, so that the order is reproducible.
        self.steps.sort_unstable_by(|a, b| {
            b.slope
                .total_cmp(&a.slope)
                .then((a.task, a.to).cmp(&(b.task, b.to)))
        });
    }
}

fn slope(from: Vertex, to: Vertex) -> f64 {
    (to.value - from.value) / f64::from(to.count - from.count)
}

/// Writes the indices of the vertices on the upper concave envelope to `hull`. The slopes between
/// them fall strictly.
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

/// Spends the `left` nodes if the break step cannot be taken in part: again and again, the task
/// that gains most from them grows. Returns the plan's gap to the upper bound.
fn round(shapes: &Shapes, price: f64, mut left: u32, counts: &mut [u32]) -> f64 {
    let mut gap = price * f64::from(left);
    while left > 0 {
        let best = (0..shapes.tasks())
            .filter_map(|j| best_growth(shapes.of(j), counts[j], left).map(|g| (j, g)))
            .reduce(|a, b| if b.1.gain > a.1.gain { b } else { a });
        let Some((j, growth)) = best else { break };
        counts[j] += growth.nodes;
        left -= growth.nodes;
        gap -= growth.gain;
    }
    gap.max(0.0)
}

struct Growth {
    nodes: u32,
    gain: f64,
}

/// The growth of a task from `count` by at most `left` nodes that gains most; `None` if none gains
/// anything.
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
fn value_at(vertices: &[Vertex], count: u32) -> Option<f64> {
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
