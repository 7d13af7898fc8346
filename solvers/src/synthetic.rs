//! Generated problems for benchmarks and tests.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{GroupLimit, Problem, Task};

/// Maximum number of nodes of any generated task.
const MOST_NODES: u32 = 64;

/// Generates a valid problem with `tasks` tasks on `nodes` idle nodes. The same arguments give the
/// same problem.
///
/// Curves have points at 0, 1, 2, 4, … nodes. They follow Amdahl's law, a power law, or saturating growth, each with 2
/// % noise, and span three orders of magnitude. Minimums are 1 to 4 nodes, maximums 8 to 64 (64 for about half of the
/// tasks). Growing costs 10 to 60 s, and shrinking half as much. The window is 120 s. About three quarters of the tasks
/// already hold nodes, unless the idle nodes run out. A few of these tasks are below their minimum, as after a
/// preemption.
pub fn problem(tasks: usize, nodes: u32, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut left = nodes;
    let tasks = (0..tasks)
        .map(|j| {
            let task = task(j, left, &mut rng);
            left -= task.current;
            task
        })
        .collect();
    Problem {
        id: format!("synthetic-{seed}"),
        nodes,
        t_fwd: 120.0,
        tasks,
        groups: Vec::new(),
        goal: crate::Goal::Total,
    }
}

fn task(j: usize, left: u32, rng: &mut ChaCha8Rng) -> Task {
    let max_nodes = if rng.random_bool(0.5) {
        MOST_NODES
    } else {
        8 * rng.random_range(1..=MOST_NODES / 8)
    };
    let curve_nodes = curve_nodes(max_nodes);
    let curve_objective = curve_objective(&curve_nodes, rng);
    let rescale_up = rng.random_range(10.0..60.0);
    let wanted = if rng.random_bool(0.75) {
        rng.random_range(1..=max_nodes)
    } else {
        0
    };
    Task {
        name: format!("task{j}"),
        min_nodes: rng.random_range(1..=4),
        max_nodes,
        rescale_up,
        rescale_down: rescale_up / 2.0,
        curve_nodes: curve_nodes.into(),
        curve_objective: curve_objective.into(),
        weight: 1.0,
        current: wanted.min(left),
    }
}

/// Generates a problem for which the relaxation's bounds are loose. Every task has a curve with a point at every count
/// from 0 to 64 nodes. The curves have a similar scale and 20 % noise, so no curve is concave.
pub fn noisy(tasks: usize, nodes: u32, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut problem = problem(tasks, nodes, seed);
    for task in &mut problem.tasks {
        task.max_nodes = MOST_NODES;
        task.curve_nodes = (0..=MOST_NODES).collect();
        task.curve_objective = (0..=MOST_NODES)
            .map(|n| 100.0 * f64::from(n).powf(0.9) * rng.random_range(1.0..1.2))
            .collect();
    }
    problem
}

/// Generates a problem full of ties: all tasks have the bounds, curve and costs of the first task,
/// and differ only in their current counts.
pub fn alike(tasks: usize, nodes: u32, seed: u64) -> Problem {
    let mut problem = problem(tasks, nodes, seed);
    let Some(first) = problem.tasks.first().cloned() else {
        return problem;
    };
    for task in &mut problem.tasks {
        *task = Task {
            name: task.name.clone(),
            current: task.current.min(first.cap()),
            ..first.clone()
        };
    }
    problem
}

/// Number of tasks per user in a problem with groups.
const TASKS_OF_USER: usize = 5;

/// Number of users per queue in a problem with groups.
const USERS_OF_QUEUE: usize = 4;

/// Generates a problem like [`problem`], with nested groups. Each user has five tasks, and each queue has four users.
/// The limits are based on a generated plan, so this plan is feasible. The maximum of each user and queue is 1 to 1.5
/// times its nodes in the plan. Every third user and queue also has a minimum, which is 0.3 to 1 times its nodes in the
/// plan.
pub fn grouped(tasks: usize, nodes: u32, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut problem = problem(tasks, nodes, seed);
    let plan = some_plan(&problem, &mut rng);
    for (kind, size) in [
        ("user", TASKS_OF_USER),
        ("queue", TASKS_OF_USER * USERS_OF_QUEUE),
    ] {
        let of = |j: usize| j / size;
        add_groups(&mut problem, kind, &plan, of, &mut rng);
    }
    problem
}

/// Generates a problem like [`problem`], with tasks that are grouped both by user, as in [`grouped`], and by one of
/// four types of work. The groups cross if there are enough tasks. The limits are chosen as in [`grouped`].
pub fn crossing(tasks: usize, nodes: u32, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut problem = problem(tasks, nodes, seed);
    let plan = some_plan(&problem, &mut rng);
    let user = |j: usize| j / TASKS_OF_USER;
    add_groups(&mut problem, "user", &plan, user, &mut rng);
    add_groups(&mut problem, "kind", &plan, |j| j % 4, &mut rng);
    problem
}

/// Groups the tasks by the number that `of` assigns to each task index. The limits of these groups allow `plan`.
fn add_groups(
    problem: &mut Problem,
    kind: &str,
    plan: &[u32],
    of: impl Fn(usize) -> usize,
    rng: &mut ChaCha8Rng,
) {
    let tasks = problem.tasks.len();
    let groups = (0..tasks).map(|j| of(j) + 1).max().unwrap_or(0);
    for g in 0..groups {
        let own = (0..tasks).filter(|&j| of(j) == g);
        let held = f64::from(own.clone().map(|j| plan[j]).sum::<u32>());
        let most = (held * rng.random_range(1.0..1.5)).ceil() as u32;
        let least = (held * rng.random_range(0.3..1.0)).floor() as u32;
        problem.groups.push(GroupLimit {
            name: format!("{kind}{g}"),
            tasks: own.map(|j| problem.tasks[j].name.clone()).collect(),
            min_total: (g % 3 == 0).then_some(least),
            max_total: Some(most),
        });
    }
}

/// A feasible plan for a problem without groups. Each task gets a random count of up to twice its equal share of the
/// nodes, within its bounds, until the nodes run out.
fn some_plan(problem: &Problem, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut left = problem.nodes;
    let share = problem.nodes / problem.tasks.len().max(1) as u32;
    let mut count = |task: &Task| {
        let wanted = rng.random_range(0..=2 * share);
        let count = wanted.max(task.min_nodes).min(task.cap());
        let count = if count <= left { count } else { 0 };
        left -= count;
        count
    };
    problem.tasks.iter().map(&mut count).collect()
}

/// Returns 0, the powers of two below `max`, and `max`.
fn curve_nodes(max: u32) -> Vec<u32> {
    let powers = (0..).map(|e| 1 << e).take_while(|&n| n < max);
    std::iter::once(0).chain(powers).chain([max]).collect()
}

fn curve_objective(nodes: &[u32], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let single = 10_f64.powf(rng.random_range(2.0..5.0));
    let shape = rng.random_range(0..3);
    let bend = rng.random_range(0.0..1.0);
    nodes
        .iter()
        .map(|&n| {
            let n = f64::from(n);
            let speedup = match shape {
                0 => n / (1.0 + 0.03 * bend * (n - 1.0).max(0.0)),
                1 => n.powf(0.75 + 0.25 * bend),
                _ => (12.0 + 60.0 * bend) * (1.0 - (-n / (12.0 + 60.0 * bend)).exp()),
            };
            single * speedup * rng.random_range(0.98..1.02)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_sound_and_repeatable() {
        for seed in 0..50 {
            let p = problem(30, 200, seed);
            assert_eq!(p.validate(), Vec::<String>::new());
            let held: u32 = p.tasks.iter().map(|t| t.current).sum();
            assert!(held <= p.nodes && held > 0);
            assert_eq!(p, problem(30, 200, seed));
            assert_ne!(p.tasks, problem(30, 200, seed + 1).tasks);
            for hard in [noisy(30, 200, seed), alike(30, 200, seed)] {
                assert_eq!(hard.validate(), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn groups_are_nested_or_cross_as_promised() {
        for seed in 0..50 {
            let (nested, crosses) = (grouped(30, 200, seed), crossing(30, 200, seed));
            for problem in [&nested, &crosses] {
                assert_eq!(problem.validate(), Vec::<String>::new());
                assert!(problem.groups.iter().any(|g| g.min_total > Some(0)));
            }
            assert_eq!(nested.groups.len(), 6 + 2);
            assert_eq!(nested.crossing_groups(), None);
            assert!(crosses.crossing_groups().is_some());
            assert_eq!(nested, grouped(30, 200, seed));
        }
    }
}
