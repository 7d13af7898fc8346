//! Uses a function as the solver, and compares its plans with optimal plans.

use gleaner::{Problem, Replay, Result};

/// Gives each task its minimum, in the order of the tasks, if enough nodes are left. The remaining nodes go to the
/// first of these tasks, up to their maximum.
fn first_come(problem: &Problem) -> Option<Vec<u32>> {
    let mut left = problem.nodes;
    let mut counts = Vec::new();
    for task in &problem.tasks {
        let count = if task.min_nodes <= left {
            task.min_nodes
        } else {
            0
        };
        left -= count;
        counts.push(count);
    }
    for (task, count) in problem.tasks.iter().zip(&mut counts) {
        if *count > 0 {
            let more = left.min(task.max_nodes - *count);
            *count += more;
            left -= more;
        }
    }
    Some(counts)
}

/// Runs the example.
pub fn main() -> Result<()> {
    let replay = || Replay::of_files("dataset/idle.csv", "dataset/tasks.toml").t_fwd(120.0);
    let best = replay().solver("exact")?.run()?;
    let own = replay().solver_fn("first-come", first_come).run()?;
    if let Some(tally) = &own.tally {
        let tally = tally.get();
        println!(
            "{} of {} plans were valid",
            tally.problems - tally.faults(),
            tally.problems
        );
    }
    let share = own.summary().total_work / best.summary().total_work;
    println!("{:.1} % of the work of optimal plans", 100.0 * share);
    Ok(())
}
