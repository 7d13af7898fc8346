//! Problems with numbers at the edges of the accepted ranges.

use gleaner_solvers::{Goal, Problem, Task, range};
use proptest::prelude::*;

use super::curve;

/// 0, or 10 to the power of a number between `low` and `high`.
fn power(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 9 => (low..high).prop_map(|e| 10f64.powf(e))]
}

/// A task whose rates and costs span most of the accepted range, or only a small part of it.
fn task(t_fwd: f64) -> impl Strategy<Value = Task> {
    let spread = prop_oneof![Just(1.0), Just(20.0), Just(90.0)];
    let counts = (1u32..4, 0u32..12, 0u32..9);
    let losses = (power(-3.0, 6.0), power(-3.0, 6.0));
    (curve(), spread, -1.0..1.0, counts, losses).prop_flat_map(
        move |((nodes, _), spread, middle, counts, (up, down))| {
            let exponents =
                prop::collection::vec(middle - 0.1 * spread..middle + spread, nodes.len());
            let zeros = prop::collection::vec(0u8..5, nodes.len());
            (exponents, zeros).prop_map(move |(exponents, zeros)| {
                let rates = exponents.iter().zip(&zeros);
                let rate = |(&e, &zero): (&f64, &u8)| if zero == 0 { 0.0 } else { 10f64.powf(e) };
                let (min_nodes, span, current) = counts;
                let mut task = Task {
                    name: String::new(),
                    min_nodes,
                    max_nodes: min_nodes + span,
                    rescale_up: 0.0,
                    rescale_down: 0.0,
                    curve_objective: rates.map(rate).collect(),
                    curve_nodes: nodes.clone().into(),
                    weight: 1.0,
                    current: current.min(nodes[nodes.len() - 1]),
                };
                // The cost is `loss` times the most that the task can earn in the window, limited to
                // the accepted range.
                let (best, now) = (task.best_rate(), task.current_rate());
                let cost = |loss: f64| {
                    if best > 0.0 && now > 0.0 {
                        (0.999 * loss * t_fwd * (best / now)).min(*range::RESCALE.end())
                    } else {
                        loss
                    }
                };
                (task.rescale_up, task.rescale_down) = (cost(up), cost(down));
                task
            })
        },
    )
}

/// Small problems with any numbers in range.
pub fn problem() -> impl Strategy<Value = Problem> {
    let t_fwd = (-6.0..12.0).prop_map(|e: f64| 10f64.powf(e).clamp(1e-6, 1e12));
    let goal = prop_oneof![Just(Goal::Total), Just(Goal::MaxMin)];
    (t_fwd, goal, 0u32..14).prop_flat_map(|(t_fwd, goal, nodes)| {
        prop::collection::vec(task(t_fwd), 0..5).prop_map(move |mut tasks| {
            for (i, task) in tasks.iter_mut().enumerate() {
                task.name = format!("t{i}");
            }
            Problem {
                id: "extreme".into(),
                nodes,
                t_fwd,
                tasks,
                groups: vec![],
                goal,
            }
        })
    })
}

/// The sum of the plan's earnings and losses, to which rounding errors are proportional.
pub fn turnover(problem: &Problem, counts: &[u32]) -> f64 {
    let terms = problem.tasks.iter().zip(counts);
    let of =
        |(task, &n): (&Task, &u32)| problem.t_fwd * task.objective_rate(n) + task.rescale_cost(n);
    terms.map(of).sum()
}

/// Ratio of the largest rate to the smallest nonzero rate; NaN if all rates are 0.
pub fn spread(problem: &Problem) -> f64 {
    let tasks = problem.tasks.iter();
    let rates = tasks.flat_map(|t| (0..t.curve_nodes.len()).map(|i| t.rate_at_point(i)));
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for rate in rates.filter(|&rate| rate > 0.0) {
        (least, most) = (least.min(rate), most.max(rate));
    }
    (most / least).abs()
}
