//! Reads the tasks to submit from a task file, which has the format of `gleaner replay` plus a program for each task.
//!
//! ```toml
//! [[task]]
//! name = "resnet"
//! min_nodes = 1
//! max_nodes = 8
//! rescale_up = 30
//! rescale_down = 20
//! command = ["torchrun", "train.py"]
//! launch = "restart"              # or "torchrun", "torchft", "horovod"
//! environment = { EPOCHS = "90" }
//! ```
//!
//! `work` may be missing: the task then ends when its program ends. `curve` may be missing: the task is then assumed to
//! scale linearly until its speed is measured.
//!
//! A `[[group]]` limits the total number of nodes that its tasks hold.
//!
//! If the file has a search, the tasks are trained by the search's trials; see [`SearchSubmission`].

mod search;

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::tasks::ENDLESS;
use gleaner_domain::{Clock, TrainingTask};
use gleaner_inputs::tasks::TaskSet;
use gleaner_io::source::{Kind, Source, TEXT_LIMIT};
use gleaner_io::toml_text;
use serde_json::{Map, Value, json};

use crate::core::{GroupSubmission, LaunchStyle, SearchSubmission, Submission};

/// Maximum length of a task's name, in bytes. The task's directory has the same name.
pub const LONGEST_NAME: usize = 100;

/// The content of a task file, with notes for the user.
#[derive(Debug)]
pub struct TaskFile {
    /// The tasks in the order of the file. Empty if the file has a search.
    pub tasks: Vec<Submission>,
    /// The search, which contains the tasks of the file; `None` if the file has no search.
    pub search: Option<Box<SearchSubmission>>,
    /// The groups of the file's tasks.
    pub groups: Vec<GroupSubmission>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

/// The fields of a task that only `gleaner harvest` supports.
struct Program {
    command: Vec<String>,
    launch: LaunchStyle,
    environment: BTreeMap<String, String>,
}

/// Reads a task file in TOML or JSON.
///
/// # Errors
/// The file cannot be read or has faults. All faults are reported together.
pub fn read(path: &Path) -> Result<TaskFile> {
    let source = Source::open(path)?;
    let mut document = document(&source)?;
    let mut notes = Vec::new();
    let mut faults = Faults::default();
    let programs = take_programs(path, &mut document, &mut faults, &mut notes);
    let own = search::take(path, &mut document, &mut faults, &mut notes);
    let set = read_rest(path, &document);
    let set = match set {
        Ok(set) => set,
        Err(Error::Data(more)) => {
            faults.0.extend(more.0);
            return Err(faults.into());
        }
        Err(error) => return Err(error),
    };
    let groups = groups(path, &set, &mut faults);
    let mut tasks = Vec::new();
    for (task, program) in set.tasks.iter().zip(programs) {
        let submission = submission(task, program);
        if let Err(reason) = check(&submission) {
            faults.push(Fault::told(path, reason).at(format!("task {:?}", task.name)));
        }
        tasks.push(submission);
    }
    let search = search::submission(own, &set, &tasks, &mut faults, path);
    if search.is_some() {
        tasks.clear();
    }
    faults.into_result(TaskFile {
        tasks,
        search,
        groups,
        notes,
    })
}

fn submission(task: &TrainingTask, program: Option<Program>) -> Submission {
    match program {
        Some(program) => Submission {
            launch: program.launch,
            environment: program.environment,
            ..Submission::of(task, program.command)
        },
        None => Submission::of(task, Vec::new()),
    }
}

/// Reads the whole file. TOML is converted to JSON.
fn document(source: &Source) -> Result<Value> {
    match source.kind() {
        Kind::Toml => {
            let text = toml_text::read(source)?;
            let table: toml::Table = toml_text::parse(source, &text, "valid TOML", &[])?;
            Ok(as_json(toml::Value::Table(table)))
        }
        Kind::Json => {
            let bytes = source.read_up_to(TEXT_LIMIT)?;
            serde_json::from_slice(&bytes).map_err(|error| {
                let fault = source.fault(format!("malformed JSON ({error})"), "valid JSON");
                fault.at(format!("line {}", error.line())).into()
            })
        }
        _ => {
            let found = "a file that is neither TOML nor JSON";
            Err(source.fault(found, "a task file in TOML or JSON").into())
        }
    }
}

/// Converts TOML to JSON. Times and numbers that JSON cannot represent, such as `inf`, become strings.
fn as_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) if number.is_finite() => number.into(),
        toml::Value::Float(number) => Value::String(number.to_string()),
        toml::Value::Boolean(is_true) => Value::Bool(is_true),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(as_json).collect(),
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(key, value)| (key, as_json(value)));
            Value::Object(fields.collect())
        }
    }
}

/// Removes the programs from the document and returns them. The remaining document is a task file of `gleaner replay`.
/// Also adds `work` and `curve` with their defaults where they are missing.
fn take_programs(
    path: &Path,
    document: &mut Value,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> Vec<Option<Program>> {
    let tasks = document.get_mut("task").and_then(Value::as_array_mut);
    let mut has_times = false;
    let mut programs = Vec::new();
    for (number, task) in (1..).zip(tasks.into_iter().flatten()) {
        let Some(fields) = task.as_object_mut() else {
            // `read_rest` reports this fault.
            programs.push(None);
            continue;
        };
        has_times |= fields.remove("submit").is_some();
        complete(fields);
        let name = fields.get("name").cloned().unwrap_or_default();
        let program = program(fields).map_err(|fault| {
            let fault = Fault {
                file: path.display().to_string(),
                place: format!("task {number} ({name})"),
                ..*fault
            };
            faults.push(fault);
        });
        programs.push(program.ok());
    }
    if has_times {
        let note = "`submit` is ignored: tasks are submitted now";
        notes.push(format!("{}: {note}", path.display()));
    }
    programs
}

/// Adds `work` and `curve` with their defaults if they are missing.
fn complete(fields: &mut Map<String, Value>) {
    fields.entry("work").or_insert_with(|| json!(ENDLESS));
    if !fields.contains_key("curve") {
        let most = match fields.get("max_nodes") {
            Some(Value::Object(by_class)) => by_class.values().filter_map(Value::as_u64).max(),
            most => most.and_then(Value::as_u64),
        };
        let most = most.filter(|most| *most > 0).unwrap_or(1);
        let curve = json!({"nodes": [0, most], "progress": [0, most]});
        fields.insert("curve".to_owned(), curve);
    }
}

/// Removes the program from a task's fields and returns it.
fn program(fields: &mut Map<String, Value>) -> Result<Program, Box<Fault>> {
    let taken = ["command", "launch", "environment"].map(|name| fields.remove(name));
    let [command, launch, environment] = taken;
    let Some(command) = command else {
        return Err(fault(
            "command",
            "no field",
            "a list of a program and its arguments",
        ));
    };
    let command = field(command, "command", "a list of a program and its arguments")?;
    let launch =
        launch.map(|value| field(value, "launch", "restart, torchrun, torchft or horovod"));
    let environment = environment.map(|value| field(value, "environment", "a table of strings"));
    Ok(Program {
        command,
        launch: launch.transpose()?.unwrap_or_default(),
        environment: environment.transpose()?.unwrap_or_default(),
    })
}

fn field<T: serde::de::DeserializeOwned>(
    value: Value,
    name: &str,
    expected: &str,
) -> Result<T, Box<Fault>> {
    let found = value.to_string();
    serde_json::from_value(value).map_err(|_| fault(name, &found, expected))
}

fn fault(name: &str, found: &str, expected: &str) -> Box<Fault> {
    Box::new(Fault {
        field: name.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
        ..Fault::default()
    })
}

/// Reads the document, from which the programs have been removed. The reader expects a file, so the document is written
/// to a temporary file.
fn read_rest(path: &Path, document: &Value) -> Result<TaskSet> {
    let mut builder = tempfile::Builder::new();
    let file = builder.prefix("gleaner-tasks-").suffix(".json").tempfile();
    let file = file.map_err(|e| Error::io("create a file in", std::env::temp_dir(), e))?;
    std::fs::write(file.path(), document.to_string())
        .map_err(|e| Error::io("write", file.path(), e))?;
    // Times without an offset are in UTC.
    let utc = Clock::new(0, []);
    let loaded = gleaner_inputs::tasks::read_on(file.path(), None, false, &utc);
    loaded
        .map(|loaded| loaded.value)
        .map_err(|error| renamed(error, path))
}

/// Replaces the file name in the faults of an error with `path`.
fn renamed(error: Error, path: &Path) -> Error {
    match error {
        Error::Data(mut faults) => {
            for fault in &mut faults.0 {
                fault.file = path.display().to_string();
            }
            Error::Data(faults)
        }
        error => error,
    }
}

/// The groups of the file. Adds a fault for each group with a maximum by class, which only `gleaner replay` supports.
fn groups(path: &Path, set: &TaskSet, faults: &mut Faults) -> Vec<GroupSubmission> {
    for group in set
        .groups
        .iter()
        .filter(|group| !group.max_by_class.is_empty())
    {
        let fault = Fault {
            field: "max_nodes".to_owned(),
            ..Fault::of(path, "a table", "one number for all nodes")
        };
        faults.push(fault.at(format!("group {:?}", group.name)));
    }
    set.groups.iter().map(GroupSubmission::of).collect()
}

/// Checks the parts of a submission that become part of file names, commands and environments.
///
/// # Errors
/// The name, the command or an environment variable is not allowed, or the task belongs to a trial. The error text
/// states the reason.
pub fn check(task: &Submission) -> Result<(), String> {
    check_name(&task.name)?;
    if task.trial.is_some() {
        return Err("a task of a trial cannot be submitted: submit the search".to_owned());
    }
    let has_nul = |word: &String| word.contains('\0');
    if task.command.first().is_none_or(String::is_empty) || task.command.iter().any(has_nul) {
        return Err(
            "`command` must be a program and its arguments, without NUL characters".to_owned(),
        );
    }
    for (name, value) in &task.environment {
        check_variable(name, value)?;
    }
    Ok(())
}

/// Checks the name of a task or search, which becomes part of the names of files.
///
/// # Errors
/// The name is not allowed. The error text states which names are allowed.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !(1..=LONGEST_NAME).contains(&name.len())
        || name.starts_with(['.', '-'])
        || !name.chars().all(is_safe)
    {
        return Err(format!(
            "the name {:?} is not allowed: use 1 to {LONGEST_NAME} letters, digits, dots, underscores and hyphens, \
             and begin with a letter, digit or underscore",
            shortened(name)
        ));
    }
    Ok(())
}

fn check_variable(name: &str, value: &str) -> Result<(), String> {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    if !is_name || !name.chars().all(is_safe) || value.contains('\0') {
        let name = shortened(name);
        return Err(format!(
            "the environment variable {name:?} is not allowed: use letters, digits and underscores in its name, and \
             no NUL in its value"
        ));
    }
    if name.starts_with("GLEANER_") {
        return Err(format!(
            "the environment variable {name} is set by gleaner: remove it"
        ));
    }
    Ok(())
}

/// The first characters of a text, for messages.
fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn read_text(name: &str, text: &str) -> Result<TaskFile, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|error| error.to_string())
    }

    pub(super) const PLAIN: &str =
        "[[task]]\nname = \"a\"\nmin_nodes = 1\nmax_nodes = 4\nrescale_up = 3\nrescale_down = 2\n";

    #[test]
    fn work_and_curve_may_be_missing() {
        let text = format!("{PLAIN}command = [\"train\", \"--fast\"]\n");
        let file = read_text("tasks.toml", &text).unwrap();
        let task = &file.tasks[0];
        assert_eq!((task.work, task.launch), (None, LaunchStyle::Restart));
        assert_eq!(task.curve.nodes, [0, 4]);
        assert_eq!(task.curve.progress, [0.0, 4.0]);
        assert_eq!(task.command, ["train", "--fast"]);
        assert!(file.notes.is_empty());
    }

    #[test]
    fn a_task_has_all_fields_of_replay() {
        let text = format!(
            "[curve.c]\nnodes = [0, 1, 4]\nprogress = [0, 10, 30.5]\n{PLAIN}command = [\"x\"]\ncurve = \"c\"\n\
             work = 1e3\npriority = 2\nsubmit = 2026-01-01\ndeadline = 2030-01-01T00:00:00\nlaunch = \"torchrun\"\n\
             environment = {{ A_1 = \"b\" }}\n"
        );
        let file = read_text("tasks.toml", &text).unwrap();
        let task = &file.tasks[0];
        assert_eq!(task.curve.progress, [0.0, 10.0, 30.5]);
        assert_eq!((task.work, task.priority), (Some(1e3), 2.0));
        assert_eq!(task.deadline, Some(1_893_456_000));
        assert_eq!(task.launch, LaunchStyle::Torchrun);
        assert_eq!(task.environment["A_1"], "b");
        assert!(file.notes[0].contains("`submit` is ignored"));
    }

    #[test]
    fn a_file_can_have_groups() {
        let with = |lines: &str| {
            let group = format!("[[group]]\nname = \"all\"\ntasks = [\"a\"]\n{lines}\n");
            read_text("tasks.toml", &format!("{PLAIN}command = [\"x\"]\n{group}"))
        };
        let file = with("min_nodes = 1\nmax_nodes = 3").unwrap();
        let expected = GroupSubmission {
            name: "all".to_owned(),
            tasks: vec!["a".to_owned()],
            min_nodes: Some(1),
            max_nodes: Some(3),
        };
        assert_eq!(file.groups, [expected]);
        let faults = with("max_nodes = { v100 = 3 }").unwrap_err();
        assert!(
            faults.contains("expected one number for all nodes"),
            "{faults}"
        );
        assert!(with("tasks = []").is_err());
    }

    #[test]
    fn a_task_can_have_values_by_class() {
        let text = "[[task]]\nname = \"a\"\nmin_nodes = 1\nmax_nodes = { a = 4, b = 2 }\nrescale_up = 3\n\
                    rescale_down = 2\nmove = 9\nspeed = { a = 1, b = 2.5 }\ncommand = [\"x\"]\n";
        let file = read_text("tasks.toml", text).unwrap();
        let task = &file.tasks[0];
        assert_eq!(task.classes.move_cost, Some(9.0));
        assert_eq!(task.classes.by_name["b"].max_nodes, 2);
        assert_eq!(task.classes.by_name["b"].curve.progress, [0.0, 10.0]);
        let json = serde_json::to_string(task).unwrap();
        assert_eq!(serde_json::from_str::<Submission>(&json).unwrap(), *task);
        let plain = read_text("tasks.toml", &format!("{PLAIN}command = [\"x\"]\n")).unwrap();
        let json = serde_json::to_string(&plain.tasks[0]).unwrap();
        assert!(!json.contains("classes"), "{json}");
    }

    #[test]
    fn faults_name_the_users_file() {
        for (line, expected) in [
            ("", "command: found no field"),
            (
                "command = \"sh -c x\"",
                "command: found \"sh -c x\", expected a list",
            ),
            ("command = []", "must be a program"),
            (
                "command = [\"x\"]\nlaunch = \"mpi\"",
                "launch: found \"mpi\"",
            ),
            ("command = [\"x\"]\nwrk = 1", "wrk: found an unknown field"),
            (
                "command = [\"x\"]\nenvironment = { \"A B\" = \"1\" }",
                "\"A B\" is not allowed",
            ),
            (
                "command = [\"x\"]\nenvironment = { GLEANER_TASK = \"1\" }",
                "set by gleaner",
            ),
        ] {
            let faults = read_text("tasks.toml", &format!("{PLAIN}{line}\n")).unwrap_err();
            assert!(faults.contains("tasks.toml"), "{faults}");
            assert!(faults.contains(expected), "{expected}\n{faults}");
        }
        assert!(read_text("t.toml", "x = ").unwrap_err().contains("line 1"));
        let json = r#"{"task": [{"name": "a", "min_nodes": 0, "command": ["x"]}]}"#;
        let faults = read_text("t.json", json).unwrap_err();
        assert!(
            faults.contains("t.json") && faults.contains("min_nodes"),
            "{faults}"
        );
    }

    #[test]
    fn names_are_safe_as_names_of_files() {
        let text = format!("{PLAIN}command = [\"x\"]\n");
        let task = &read_text("tasks.toml", &text).unwrap().tasks[0];
        let named = |name: &str| Submission {
            name: name.to_owned(),
            ..task.clone()
        };
        for name in ["a", "A-1_b.c", "_x", &"x".repeat(100)] {
            assert_eq!(check(&named(name)), Ok(()));
        }
        for name in [
            "",
            ".",
            "..",
            ".a",
            "-a",
            "a/b",
            "a b",
            "$(x)",
            "a\n",
            "é",
            &"x".repeat(101),
        ] {
            assert!(check(&named(name)).is_err(), "{name:?}");
        }
    }
}
