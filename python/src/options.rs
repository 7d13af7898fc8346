//! The options of commands: keyword arguments in Python, words on the command line. They are parsed by what
//! parses the command line, which alone knows their types, defaults and meanings.

use std::ffi::OsString;

use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Args, Command};
use gleaner::cli;
use gleaner_core::error::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;

/// Parses the words of a command.
///
/// # Errors
/// `UsageError`: what the command line would say.
pub fn parse<A: Args>(py: Python<'_>, words: &[OsString]) -> PyResult<A> {
    let command = A::augment_args(Command::new("gleaner").no_binary_name(true));
    let command = command
        .disable_help_flag(true)
        .disable_help_subcommand(true);
    let matches = command.try_get_matches_from(words);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| exception(py, Error::Usage(told(&error))))
}

/// What is wrong, without the usage of the command line.
fn told(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = text.find("\n\nUsage:").or(text.find("\n\nFor more"));
    let text = end.map_or(text, |end| &text[..end]);
    text.trim_end().to_owned()
}

/// The options of a command, such as `replay` or `ingest slurm`, each as a dict: `name`, `is_positional`,
/// `is_flag`, `is_list`, `is_optional` (whether the option may be given without its value), `delimiter`
/// (for lists that are passed as one word), `value` (the placeholder of its value in the help),
/// `choices`, `default` and `help`.
///
/// # Errors
/// `UsageError` if `command` is not a command of the command line.
#[pyfunction]
pub fn options<'py>(py: Python<'py>, command: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut found = cli::command();
    for name in command.split(' ') {
        let unknown = || Error::Usage(format!("no command {command:?}"));
        let inner = found.find_subcommand(name).cloned();
        found = inner.ok_or_else(unknown).map_err(|e| exception(py, e))?;
    }
    found.build();
    let own = found.get_arguments().filter(|arg| !is_help(arg));
    own.map(|arg| describe(py, arg)).collect()
}

fn is_help(arg: &Arg) -> bool {
    matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort | ArgAction::Version
    )
}

fn describe<'py>(py: Python<'py>, arg: &Arg) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let takes_value = arg
        .get_num_args()
        .is_some_and(|count: ValueRange| count.takes_values());
    let is_list = matches!(arg.get_action(), ArgAction::Append)
        || arg
            .get_num_args()
            .is_some_and(|count| count.max_values() > 1);
    let choices = arg.get_possible_values().into_iter();
    let choices = choices.filter(|_| takes_value && is_closed(arg));
    let choices: Vec<String> = choices.map(|value| value.get_name().to_owned()).collect();
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<String> = defaults
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let help = arg.get_help().map(ToString::to_string);
    let value = arg.get_value_names().and_then(<[_]>::first);
    dict.set_item("name", arg.get_id().as_str())?;
    dict.set_item("is_positional", arg.is_positional())?;
    dict.set_item("is_flag", !takes_value)?;
    let is_optional = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
    dict.set_item("is_list", is_list)?;
    dict.set_item("is_optional", takes_value && is_optional)?;
    dict.set_item("delimiter", arg.get_value_delimiter())?;
    dict.set_item("value", value.map(|value| value.as_str()))?;
    dict.set_item("choices", choices)?;
    dict.set_item("default", defaults.first())?;
    dict.set_item("help", help.unwrap_or_default())?;
    Ok(dict)
}

/// Whether an option takes only the values that the help lists: `exec:COMMAND` stands for others.
fn is_closed(arg: &Arg) -> bool {
    let values = arg.get_possible_values();
    let is_name = |name: &str| !name.contains(|c: char| c.is_ascii_uppercase() || c == ':');
    let is_open = arg
        .get_value_names()
        .and_then(<[_]>::first)
        .is_some_and(|value| value.contains('|'));
    !is_open && values.iter().all(|value| is_name(value.get_name()))
}
