//! Generated problems for benchmarks and tests.

use std::collections::BTreeMap;

use gleaner_solvers::synthetic;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::curves::{CurrentNodes, Curve, CurveProblem, CurveTask};
use crate::offer::Counts;
use crate::problem::{Choice, Class, Held, PerClass, Problem, Task};

/// For each class: its name, its share of the nodes, and the range of the factors by which it speeds up tasks.
const CLASSES: [(&str, f64, [f64; 2]); 3] = [
    ("slow", 0.5, [1.0, 1.0]),
    ("medium", 0.3, [1.2, 2.0]),
    ("fast", 0.2, [1.5, 4.0]),
];

/// Generates a valid problem with `tasks` tasks on `nodes` idle nodes of three classes. The same arguments give the same
/// problem.
///
/// The tasks are those of [`gleaner_solvers::synthetic::problem`], including the costs of rescaling and the nodes that
/// the tasks hold. Each class multiplies a task's speed by a random factor, at least 1. A task may hold any number of
/// nodes between its bounds.
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
        groups: Vec::new(),
        classes,
    }
}

/// A type of GPU in generated rounds.
struct GpuType {
    name: &'static str,
    /// Number of GPUs per node.
    per_node: u32,
    /// This type's share of all GPUs.
    share: f64,
    /// Range of a job's speed on one GPU.
    speed: [f64; 2],
}

const GPU_TYPES: [GpuType; 3] = [
    GpuType {
        name: "t4",
        per_node: 4,
        share: 0.375,
        speed: [1.0, 1.0],
    },
    GpuType {
        name: "rtx",
        per_node: 8,
        share: 0.375,
        speed: [0.8, 2.5],
    },
    GpuType {
        name: "a100",
        per_node: 8,
        share: 0.25,
        speed: [2.0, 7.0],
    },
];

/// The power to which a job's goodput is raised.
const POWER: f64 = -0.5;
/// The value of an option before the power of its goodput is subtracted.
const PENALTY: f64 = 1.1;

/// Whether the values of a generated round are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Rounded to multiples of 0.01, as in Sia, so that many plans tie.
    Rounded,
    /// Not rounded.
    Smooth,
}

/// Generates a scheduling round of the same form as those of Sia (Jayaram Subramanya et al., SOSP 2023), with `jobs`
/// jobs on about `gpus` GPUs of three types. The same arguments give the same round. Rounded and smooth rounds have the
/// same jobs if all other arguments are equal.
///
/// A job takes 1, 2, 4, … GPUs of one node, or 2, 3, … whole nodes, all of one type. Its goodput g is a concave
/// function of the number of GPUs, scaled so that a job's least goodput is 1. If an option needs a restart, g is
/// multiplied by a factor below 1. The value of an option is 1.1 − g^−0.5. Some jobs wait, some need a fixed number of
/// GPUs, and some must keep the GPUs that they hold.
pub fn round(jobs: usize, gpus: u32, values: Values, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let classes: Vec<Class> = GPU_TYPES
        .iter()
        .map(|kind| {
            let nodes = (kind.share * f64::from(gpus) / f64::from(kind.per_node)).round() as u32;
            Class {
                name: kind.name.to_owned(),
                capacity: nodes.max(1) * kind.per_node,
            }
        })
        .collect();
    let mut free: Vec<u32> = classes.iter().map(|class| class.capacity).collect();
    let tasks = (0..jobs).map(|job| round_task(job, &classes, &mut free, values, &mut rng));
    let tasks = tasks.collect();
    let form = match values {
        Values::Rounded => "round",
        Values::Smooth => "smooth",
    };
    Problem {
        id: format!("{form}-{jobs}-{gpus}-{seed}"),
        classes,
        tasks,
        groups: Vec::new(),
    }
}

/// Generates a job of a round. The GPUs that it holds are taken from `free`, the number of free GPUs of each type.
fn round_task(
    job: usize,
    classes: &[Class],
    free: &mut [u32],
    values: Values,
    rng: &mut ChaCha8Rng,
) -> Task {
    let speeds = GPU_TYPES.map(|kind| {
        let [least, most] = kind.speed;
        least + (most - least) * rng.random::<f64>()
    });
    // The speed-up of n GPUs is n / (1 + slowdown (n - 1)).
    let slowdown = 10f64.powf(rng.random_range(-3.0..-0.5));
    let most_gpus = 1 << rng.random_range(0..6);
    let is_waiting = rng.random_bool(0.2);
    let is_rigid = rng.random_bool(0.1);
    let is_fixed = rng.random_bool(0.03);
    // Each of the past restarts cost `penalty` seconds, and another restart would cost the same.
    let age = 10f64.powf(rng.random_range(2.0..4.5));
    let penalty = rng.random_range(25.0..250.0);
    let restarts = (age / 2000.0 * rng.random::<f64>()).floor();
    let factor = ((age - restarts * penalty).max(0.0) / (age + penalty)).max(0.1);

    let counts = |class: usize| {
        let kind = &GPU_TYPES[class];
        let capacity = classes[class].capacity;
        let most = if is_waiting { 1 } else { most_gpus };
        let in_node = (0..)
            .map(|power| 1 << power)
            .take_while(move |count| *count <= kind.per_node);
        let whole = (2..).map(move |nodes| nodes * kind.per_node);
        let counts = in_node.chain(whole.take_while(move |count| *count <= capacity));
        counts.take_while(move |count| *count <= most.min(capacity))
    };
    let goodput = |class: usize, count: u32| {
        let count = f64::from(count);
        speeds[class] * count / (1.0 + slowdown * (count - 1.0))
    };
    let mut held: Vec<Held> = (0..classes.len())
        .flat_map(|class| counts(class).map(move |count| Held { class, count }))
        .collect();
    if is_rigid && !is_waiting {
        let counts: Vec<u32> = held.iter().map(|held| held.count).collect();
        let count = counts[rng.random_range(0..counts.len())];
        held.retain(|held| held.count == count);
    }
    let current = Some(held[rng.random_range(0..held.len())])
        .filter(|held| !is_waiting && held.count <= free[held.class]);
    if let Some(current) = current {
        free[current.class] -= current.count;
    }
    let least = held
        .iter()
        .map(|held| goodput(held.class, held.count))
        .fold(f64::INFINITY, f64::min);
    let value = |held: Held| {
        let is_kept = current.is_none() || current == Some(held);
        let factor = if is_kept { 1.0 } else { factor };
        let power = (factor * goodput(held.class, held.count) / least).powf(POWER);
        match values {
            Values::Rounded => ((100.0 * PENALTY).round() - (100.0 * power).round()) / 100.0,
            Values::Smooth => PENALTY - power,
        }
    };
    let fixed = is_fixed && current.is_some();
    let options = held.iter().map(|&held| Choice {
        class: held.class,
        count: held.count,
        value: value(held),
    });
    Task {
        name: format!("job{job}"),
        options: options
            .filter(|option| option.value > 0.0 || (fixed && current == Some(option.held())))
            .collect(),
        none: 0.0,
        current,
        fixed,
    }
}
