//! The options of commands, which are keyword arguments in Python. The library declares their names, types, ranges,
//! defaults and meanings.

use std::ffi::OsString;

use gleaner::comparison::ComparisonSettings;
use gleaner::ingest::IngestFormat;
use gleaner::inspection::InspectionSettings;
use gleaner::pilots::PilotsSettings;
use gleaner::replay::ReplaySettings;
use gleaner::solving::SolvingSettings;
use gleaner::sweep::SweepSettings;
use gleaner_domain::error::Error;
use gleaner_setup::settings::{self, About, Kind, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;
use crate::simulate::SimulationOptions;

/// Names of options, each with its values as strings.
pub type Pairs = Vec<(String, Vec<OsString>)>;

/// Reads settings from options.
///
/// # Errors
/// `UsageError`: an option is unknown, missing or invalid, or it conflicts with another option.
pub fn read<S: Settings>(py: Python<'_>, options: &Pairs) -> PyResult<S> {
    settings::read(options).map_err(|error| exception(py, error))
}

/// The options of a command, such as `replay` or `ingest slurm`. Each option is a dict with these keys:
///
/// * `name`, `choices`, `default` and `help`
/// * `is_flag` and `is_list`
/// * `separator`, for lists that may be given as one string
/// * `alone`: the value that `True` means, if there is one
/// * `value`: the placeholder for the option's value
///
/// # Errors
/// `UsageError` if the command is unknown or has no options in Python.
#[pyfunction]
pub fn options<'py>(py: Python<'py>, command: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let found = match command {
        "replay" => list::<ReplaySettings>(),
        "simulate" => list::<SimulationOptions>(),
        "compare" => list::<ComparisonSettings>(),
        "solve" => list::<SolvingSettings>(),
        "inspect" => list::<InspectionSettings>(),
        "pilots" => list::<PilotsSettings>(),
        "sweep" => list::<SweepSettings>(),
        _ => {
            let format = command
                .strip_prefix("ingest ")
                .and_then(IngestFormat::named);
            let format = format.ok_or_else(|| {
                let error = Error::Usage(format!("no command {command:?}"));
                exception(py, error)
            })?;
            (format.settings)()
        }
    };
    found.iter().map(|about| describe(py, about)).collect()
}

fn list<S: Settings>() -> Vec<About> {
    S::list().into_iter().map(|setting| setting.about).collect()
}

fn describe<'py>(py: Python<'py>, about: &About) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let named = about.named.iter().filter(|_| about.is_closed);
    let choices: Vec<&str> = named.map(|(name, _)| name.as_str()).collect();
    dict.set_item("name", about.name)?;
    dict.set_item("is_flag", about.kind == Kind::Flag)?;
    dict.set_item("is_list", about.kind == Kind::List)?;
    dict.set_item("separator", about.style.separator)?;
    dict.set_item("alone", about.style.alone)?;
    dict.set_item("value", about.style.placeholder)?;
    dict.set_item("choices", choices)?;
    dict.set_item("default", about.default.first())?;
    dict.set_item("help", &about.help)?;
    Ok(dict)
}
