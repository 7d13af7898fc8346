//! Reports what the daemon would do, without doing it.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;

use super::clock::Clock;
use super::decider::Robust;
use super::log::Log;
use super::restored;
use crate::backend;
use crate::config::Config;
use crate::core::{Command, Core, CoreError, Event, Heard, PilotId};
use crate::journal::Journal;

/// Describes the pilots that the daemon would request now, the command that would start a pilot, and the daemon's first
/// decision. Nothing is started or written, and an existing journal is replayed from a copy.
///
/// # Errors
/// The journal cannot be read, or a setting that must not change has changed.
pub fn dry_run(config: &Config, state: &Path, log: &Log) -> Result<String> {
    let now = Clock::start(0).now();
    let state = &std::path::absolute(state).map_err(|e| Error::io("find", state, e))?;
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|e| Error::io("create a directory in", std::env::temp_dir(), e))?;
    let copy = folder.path().join("journal.redb");
    let journal = state.join("journal.redb");
    if journal.exists() {
        std::fs::copy(&journal, &copy).map_err(|e| Error::io("copy", &journal, e))?;
    }
    let journal = Journal::open(&copy, &config.core, now)?;
    let mut core = restored(&journal, config)?;
    let last = core.now();
    let mut text = ladder(config, state);
    let commands = imagined(&mut core, config, now.max(last), log, !journal.is_empty())?;
    describe(&mut text, &core, &commands, now);
    Ok(text)
}

/// Lists the wall times of pilots, and the command that would start the first pilot.
fn ladder(config: &Config, state: &Path) -> String {
    let most = counted(config.core.max_pilots, "pilot");
    let mut text = format!(
        "While a task waits or runs, there are at most {most} at once. The queue then contains:\n"
    );
    for (wall_s, count) in &config.core.ladder {
        let minutes = *wall_s as f64 / 60.0;
        // Writing to a string never fails.
        let _ = writeln!(text, "  {} of {minutes} min", counted(*count, "pilot"));
    }
    if let Some((wall_s, _)) = config.core.ladder.first() {
        let command = backend::describe(&config.backend, state, PilotId(1), *wall_s);
        let _ = writeln!(text, "The first pilot would be started by:\n  {command}");
    }
    if !config.core.classes.is_empty() {
        let classes = config.core.classes.join(", ");
        let _ = writeln!(text, "Classes of nodes: {classes}");
    }
    text
}

/// Returns the commands that the daemon would carry out immediately.
fn imagined(
    core: &mut Core,
    config: &Config,
    now: i64,
    log: &Log,
    was_started: bool,
) -> Result<Vec<Command>> {
    let mut decider = Robust::new(config, Arc::clone(log))?;
    let heard = Heard {
        since: now,
        ..Heard::default()
    };
    let mut events = Vec::new();
    if was_started {
        events.push(Event::Restarted);
    }
    if config.core != *core.settings() {
        let settings = Box::new(config.core.clone());
        events.push(Event::Settings { settings });
    }
    events.extend(core.due(&heard, now));
    let mut commands = Vec::new();
    for event in &events {
        match core.handle(now, event, &mut decider) {
            Ok(more) => commands.extend(more),
            Err(CoreError::Refused(_)) => {}
            Err(CoreError::Failed(error)) => return Err(error),
        }
    }
    Ok(commands)
}

fn describe(text: &mut String, core: &Core, commands: &[Command], now: i64) {
    let status = core.status(now);
    let open = status.tasks.iter();
    let open = open.filter(|task| task.state == "waiting" || task.state == "active");
    let _ = writeln!(text, "Tasks that wait or run: {}", open.count());
    let starts = commands
        .iter()
        .filter(|command| matches!(command, Command::Start { .. }));
    let _ = writeln!(
        text,
        "Pilots that would be requested now: {}",
        starts.count()
    );
    for command in commands {
        match command {
            Command::Cancel { pilot } => {
                let _ = writeln!(text, "  {pilot} would be cancelled");
            }
            Command::Say(line) => {
                let _ = writeln!(text, "  {line}");
            }
            Command::Start { .. } | Command::Order { .. } => {}
        }
    }
    if let Some(decision) = status.decisions.first() {
        let changes = decision.changes.join("; ");
        let _ = writeln!(text, "First decision: {}: {changes}", decision.why);
    }
}
