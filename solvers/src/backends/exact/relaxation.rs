//! The LP relaxation of the multiple-choice knapsack, solved by slopes.

use super::shape::{Shapes, Vertex};

/// A step along a task's concave envelope.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Value per node.
    slope: f64,
    task: u32,
    /// Vertex of the task at the step's end.
    to: u32,
    /// Nodes the step takes.
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
    /// Value of one more node at the relaxed optimum (λ).
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Writes the best plan it finds to `counts` and returns how far that is from
    /// the upper bound; `None` where even the least counts need too many nodes.
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

    /// Steps of all envelopes that gain anything, steepest first.
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
        // Tasks and, within a task, steps were pushed in order: a stable order of equals.
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

/// Indices of the vertices on the upper concave envelope, slopes strictly falling.
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

/// Whether every count from `from` to vertex `to` is allowed and on the envelope.
fn is_edge(vertices: &[Vertex], from: u32, to: u32) -> bool {
    let to = to as usize;
    vertices[to].joined && vertices[to - 1].count == from
}

/// Spends `left` nodes at relaxed price `price` where the break step cannot be cut:
/// the best single growth, again and again. Returns the plan's gap.
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

/// The growth of a task from `count` by at most `left` nodes that gains most.
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

/// Value of an allowed count; `None` for any other.
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
