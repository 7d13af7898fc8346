//! Writes a run directory, and reads its settings and two of its tables.

use gleaner::{Error, Open, Replay, Result, Run, RunResult};

/// Runs the example.
pub fn main() -> Result<()> {
    let path = std::env::temp_dir().join("gleaner-example-read");
    Replay::of_files("dataset/idle.csv", "dataset/tasks.toml")
        .t_fwd(120.0)
        .run()?
        .write(&path)?;

    let run = Run::open(&path)?;
    println!(
        "gleaner {} with t_fwd = {}",
        run.info.command, run.info.arguments["t_fwd"]
    );
    let RunResult::Replay(replay) = run.result else {
        return Err(Error::Run("expected a replay".to_owned()));
    };
    println!("{} decisions", replay.steps.len());
    let finished = replay.tasks.iter().filter(|task| task.end.is_some());
    println!(
        "{} of {} tasks finished",
        finished.count(),
        replay.tasks.len()
    );
    Ok(())
}
