//! Compares a custom objective with a built-in objective.

use gleaner::{Replay, Result, TrainingTask};

/// Favours short tasks: the less total work a task has, the more each unit of its work is worth.
fn finish_first(task: &TrainingTask, nodes: u32) -> f64 {
    task.rate(nodes) / task.work.min(1e9)
}

/// Runs the example.
pub fn main() -> Result<()> {
    let replay = || Replay::of_files("dataset/idle.csv", "dataset/tasks.toml").t_fwd(120.0);
    let throughput = replay().objective("throughput")?.run()?;
    let own = replay().objective_fn("finish-first", finish_first).run()?;
    for replayed in [throughput, own] {
        let summary = replayed.summary();
        println!(
            "{}: {:.3e} work, {} tasks finished",
            summary.objective, summary.total_work, summary.tasks_finished
        );
    }
    Ok(())
}
