//! Replays a log of idle nodes, prints the work that training tasks did, and writes a run directory.

use gleaner::{EventLog, Open, Replay, Result, Tasks};

/// Runs the example.
pub fn main() -> Result<()> {
    let log = EventLog::open("dataset/idle.csv")?;
    let tasks = Tasks::open("dataset/tasks.toml")?;
    println!("{} nodes, {} events", log.nodes().len(), log.len());

    let mut replayed = Replay::new(log, tasks).t_fwd(120.0).seed(7).run()?;
    let summary = replayed.summary();
    println!(
        "{} tasks finished, {:.3e} work",
        summary.tasks_finished, summary.total_work
    );
    println!(
        "{}",
        replayed.write(std::env::temp_dir().join("gleaner-example"))?
    );
    Ok(())
}
