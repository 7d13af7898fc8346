//! Generated problems for benchmarks and tests.

use std::collections::BTreeMap;

use gleaner_solvers::synthetic;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::curves::{CurrentNodes, Curve, CurveProblem, CurveTask, PerClass};
use crate::offer::Counts;
use crate::problem::Class;

/// Share of the nodes, and range of the speeds of tasks, by class.
const CLASSES: [(&str, f64, [f64; 2]); 3] = [
    ("slow", 0.5, [1.0, 1.0]),
    ("medium", 0.3, [1.2, 2.0]),
    ("fast", 0.2, [1.5, 4.0]),
];

/// Generates a valid problem with `tasks` tasks on `nodes` idle nodes of three classes. The same arguments give the same
/// problem.
///
/// The tasks are those of [`gleaner_solvers::synthetic::problem`], with the costs of rescaling and the nodes that they
/// hold. Each class multiplies a task's speed by a random factor, at least 1. A task may hold any number of nodes between
/// its bounds.
pub fn problem(tasks: usize, nodes: u32, seed: u64) -> CurveProblem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let plain = synthetic::problem(tasks, nodes, seed);
    let mut classes: Vec<Class> = CLASSES
        .iter()
        .map(|(name, share, _)| Class {
            name: (*name).to_owned(),
            capacity: (share * f64::from(nodes)).floor() as u32,
        })
        .collect();
    let used: u32 = classes.iter().map(|class| class.capacity).sum();
    classes[0].capacity += nodes - used;
    let mut free: Vec<u32> = classes.iter().map(|class| class.capacity).collect();
    let tasks = plain.tasks.iter().map(|task| {
        let curves: BTreeMap<String, Curve> = CLASSES
            .iter()
            .map(|(name, _, [least, most])| {
                let speed = if least < most {
                    rng.random_range(*least..*most)
                } else {
                    *least
                };
                let rates = task.curve_objective.iter();
                let curve = Curve {
                    nodes: task.curve_nodes.to_vec(),
                    objective: rates.map(|rate| rate * speed).collect(),
                };
                ((*name).to_owned(), curve)
            })
            .collect();
        let class = rng.random_range(0..CLASSES.len());
        let held = task.current.min(free[class]);
        free[class] -= held;
        CurveTask {
            name: task.name.clone(),
            curves,
            min_nodes: PerClass::All(task.min_nodes),
            max_nodes: PerClass::All(task.max_nodes),
            rescale_up: task.rescale_up,
            rescale_down: task.rescale_down,
            move_cost: None,
            counts: Counts::All,
            current: (held > 0).then(|| CurrentNodes {
                class: classes[class].name.clone(),
                nodes: held,
            }),
        }
    });
    CurveProblem {
        id: format!(
            "synthetic-{tasks}-{nodes}-{seed}",
            tasks = plain.tasks.len()
        ),
        t_fwd: plain.t_fwd,
        tasks: tasks.collect(),
        classes,
    }
}
