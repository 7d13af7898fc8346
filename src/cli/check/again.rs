//! Repeats the command that wrote a run directory.
//!
//! Run directories are not trusted. Only arguments that match an option of the command are passed on, one by one.
//! Options that write files are dropped; only `--out` is passed on, with a temporary directory as its value. External
//! programs are started only if the user allows it.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use clap::{Arg, ArgAction};
use gleaner_check::again::{Again, again};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_process::{Process, Tail};
use gleaner_runs::read as runs;
use gleaner_runs::read::RunInfo;
use serde_json::Value;

/// Help heading of the options that control where results are written.
const OUTPUT: &str = "Output";

/// Output options that only select files of the run directory.
const KEPT: [&str; 2] = ["csv", "logs"];

/// Other options that write files. They write next to the inputs.
const WRITING: [&str; 1] = ["cache"];

/// Environment variable that identifies the processes of the repeated command.
const MARK: &str = "GLEANER_CHECK";

/// Maximum number of bytes of the command's stderr that are kept.
const MOST_STDERR: usize = 1 << 16;

/// Time between two checks of the stop flag.
const PULSE: Duration = Duration::from_millis(20);

/// Time that the command has to exit on its own before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Prefix of values that name a solver program.
const PROGRAM: &str = "exec:";
/// Prefix of values that name an object in a Python program.
pub(super) const PYTHON: &str = "python:";

/// Repeats the command of a run and compares the results. If `may_run` is true, the programs named in the arguments may
/// be started.
///
/// # Errors
/// The command cannot be repeated, or it fails. [`Error::Stopped`] if the check is stopped; the command is then also
/// ended.
pub(super) fn run(info: &RunInfo, may_run: bool, observer: &dyn Observer) -> Result<Again> {
    refuse_programs(info.arguments.values(), may_run)?;
    let directory = tempfile::tempdir().map_err(|e| Error::io("create", "a directory", e))?;
    let out = directory.path().join("again");
    let arguments = command_line(info, &out)?;
    let program = std::env::current_exe().map_err(|e| Error::io("find", "gleaner", e))?;
    let (status, stderr) = output(&program, &arguments, observer)?;
    if !status.success() {
        let last = stderr.lines().next_back().unwrap_or_default();
        return Err(Error::Run(format!(
            "{}: the command failed when it was repeated: {last}",
            info.path.display()
        )));
    }
    again(info, &runs::info(&out)?)
}

/// Runs a program. Returns its exit status and the end of its stderr.
fn output(
    program: &Path,
    arguments: &[String],
    observer: &dyn Observer,
) -> Result<(ExitStatus, String)> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let process = Process::start(&mut command, MARK, None);
    let mut process = process.map_err(|error| Error::io("start", program, error))?;
    let tail = Tail::new(MOST_STDERR);
    thread::scope(|scope| {
        if let Some(stderr) = process.take_stderr() {
            // Without a reader, the program would block once the pipe is full.
            scope.spawn(|| tail.read(stderr));
        }
        let status = loop {
            if let Some(status) = process.end(PULSE) {
                break Ok(status);
            }
            if observer.is_stopped() {
                break Err(Error::Stopped);
            }
        };
        // Kills the processes that the program has started, so that the pipe is closed.
        process.kill(GRACE);
        status
    })
    .map(|status| (status, tail.text()))
}

/// Rejects arguments that name a Python object or, unless `may_run` is set, a program.
///
/// # Errors
/// [`Error::Usage`] if an argument names a Python object, or if it names a program and `may_run` is not set.
pub(super) fn refuse_programs<'v>(
    values: impl IntoIterator<Item = &'v Value>,
    may_run: bool,
) -> Result<()> {
    for value in values {
        match value {
            Value::String(text) if text.starts_with(PROGRAM) && !may_run => {
                return Err(Error::Usage(format!(
                    "the run used the program {text:?}: add --run-programs to allow gleaner to \
                     start it"
                )));
            }
            Value::String(text) if text.starts_with(PYTHON) => {
                return Err(Error::Usage(format!(
                    "{text:?} is defined in a Python program, and only that program can repeat the \
                     run"
                )));
            }
            Value::Array(list) => refuse_programs(list, may_run)?,
            Value::Object(map) => refuse_programs(map.values(), may_run)?,
            _ => {}
        }
    }
    Ok(())
}

/// The command line that repeats a run and writes to `out`.
fn command_line(info: &RunInfo, out: &Path) -> Result<Vec<String>> {
    let command = crate::cli::command();
    let Some(command) = command.find_subcommand(&info.command) else {
        return Err(unknown(info, "command", &info.command));
    };
    let (mut options, mut positional) = (vec![info.command.clone()], Vec::new());
    for (name, value) in &info.arguments {
        let find = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id);
        if value.is_null() || *value == Value::Array(Vec::new()) {
            continue;
        }
        // A switch that is on by default is turned off with a separate option, `--no-NAME`.
        let off = find(&format!("no_{name}")).filter(|_| *value == Value::Bool(false));
        if let Some(long) = off.and_then(Arg::get_long) {
            options.push(format!("--{long}"));
            continue;
        }
        let Some(arg) = find(name) else {
            return Err(unknown(info, "argument", name));
        };
        if writes(arg) {
            continue;
        }
        for text in texts(info, name, value)? {
            match (arg.get_long(), is_switch(arg)) {
                (Some(long), true) if text == "true" => options.push(format!("--{long}")),
                (Some(_), true) => {}
                (Some(long), false) => options.push(format!("--{long}={text}")),
                (None, _) => positional.push(text),
            }
        }
    }
    options.push(format!("--out={}", out.display()));
    if !positional.is_empty() {
        options.push("--".to_owned());
        options.extend(positional);
    }
    Ok(options)
}

/// Whether an option is dropped: all output options except [`KEPT`], and the options [`WRITING`].
fn writes(arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    let is_output = arg.get_help_heading() == Some(OUTPUT) || id == "out";
    (is_output && !KEPT.contains(&id)) || WRITING.contains(&id)
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// The value as strings, one for each occurrence of the option.
fn texts(info: &RunInfo, name: &str, value: &Value) -> Result<Vec<String>> {
    Ok(match value {
        Value::String(text) => vec![text.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(list) => {
            let all = list.iter().map(|value| texts(info, name, value));
            all.collect::<Result<Vec<_>>>()?.concat()
        }
        Value::Object(map) => {
            vec![object(map).ok_or_else(|| unknown(info, "value of argument", name))?]
        }
        Value::Null => return Err(unknown(info, "value of argument", name)),
    })
}

/// Formats a value that has several parts as the options of `simulate` expect it. For example,
/// `{"vc": "a", "nodes": 2}` becomes `a=2`, `{"manual": {"time": 200, "nodes": 2, "factor": 4.0}}` becomes
/// `200,2,4.0`, and `{"file": "x"}` becomes `x`.
fn object(map: &serde_json::Map<String, Value>) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let names: Vec<&str> = map.keys().map(String::as_str).collect();
    match (names.as_slice(), map.values().next()?) {
        (["vc", "nodes"], vc) => Some(format!("{}={}", text(vc)?, text(map.get("nodes")?)?)),
        ([_], Value::Object(parts)) => {
            let parts: Option<Vec<String>> = parts.values().map(text).collect();
            Some(parts?.join(","))
        }
        ([_], value) => text(value),
        _ => None,
    }
}

fn unknown(info: &RunInfo, what: &str, name: &str) -> Error {
    Error::Run(format!(
        "{}: run.json has the {what} {name:?}, which this version cannot repeat",
        info.path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn info(arguments: &Value) -> RunInfo {
        let none = Default::default();
        RunInfo {
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            ..RunInfo::of_this("replay", Path::new("run"), &json!({}), none).unwrap()
        }
    }

    /// Tests that the command writes only to the given directory, whatever the run directory contains.
    #[test]
    fn options_that_write_are_left_out() {
        let given = info(&json!({
            "out": "/etc/gleaner", "cache": true, "json": true, "quiet": true, "bound": true,
            "events": "--out=/etc/x", "tasks": "t.toml", "completion_events": false, "nodes": null,
            "t_fwd": 30.0,
        }));
        let line = command_line(&given, Path::new("/tmp/a")).unwrap();
        let mut sorted = line[1..].to_vec();
        sorted.sort();
        assert_eq!(
            sorted,
            [
                "--bound",
                "--events=--out=/etc/x",
                "--no-completion-events",
                "--out=/tmp/a",
                "--t-fwd=30.0",
                "--tasks=t.toml",
            ]
        );
        assert_eq!(line[0], "replay");
        command_line(&info(&json!({"nothing": 1})), Path::new("a")).unwrap_err();
        let program = info(&json!({"solver": "exec:sh -c x"}));
        refuse_programs(program.arguments.values(), true).unwrap();
        refuse_programs(program.arguments.values(), false).unwrap_err();
    }

    /// Tests that every output option is dropped, for all commands that can be repeated.
    #[test]
    fn every_option_that_writes_is_known() {
        let command = crate::cli::command();
        for name in ["replay", "simulate"] {
            let command = command.find_subcommand(name).unwrap();
            for arg in command.get_arguments().filter(|arg| !writes(arg)) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let is_writing = help.starts_with("Write ") || help.starts_with("Directory for");
                let id = arg.get_id().as_str();
                assert!(!is_writing || KEPT.contains(&id), "{name} --{id}: {help}");
            }
        }
    }
}
