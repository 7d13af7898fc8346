//! `--write-model`: writes problems as files for other solvers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gleaner_solvers::formulations::{self, export};
use gleaner_solvers::model::Model;
use gleaner_solvers::{BigM, Formulation, SolveError};

use crate::solving::of_problem;
use gleaner_classes::AnyProblem;
use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_io::files;

/// Writes the model of every problem. A single model is written to `path`; several models are written to separate files
/// in the same folder. Returns a line of text for each file.
///
/// # Errors
/// The extension of the file is unknown, two problems would have the same file, the formulation cannot express a
/// problem, or a file cannot be written. In all cases but the last, nothing has been written.
pub(super) fn write_all(
    problems: &[AnyProblem],
    formulation: Formulation,
    big_m: BigM,
    input: &Path,
    path: &Path,
) -> Result<Vec<String>> {
    let write = writer(path)?;
    let paths = paths(problems, input, path)?;
    for problem in problems {
        of_problem(problem.id(), buildable(problem, formulation, big_m))?;
    }
    for (problem, path) in problems.iter().zip(&paths) {
        let model = match problem {
            AnyProblem::OneClass(problem) => formulations::build(problem, formulation, big_m)?,
            AnyProblem::Classes(problem) => gleaner_classes::milp::exported(problem),
        };
        files::write(path, |out| write(&model, out))?;
    }
    Ok(paths
        .iter()
        .map(|path| format!("{}: the model", path.display()))
        .collect())
}

/// Checks that the formulation can express a problem.
fn buildable(
    problem: &AnyProblem,
    formulation: Formulation,
    big_m: BigM,
) -> Result<(), SolveError> {
    match problem {
        AnyProblem::OneClass(problem) => formulations::buildable(problem, formulation, big_m),
        AnyProblem::Classes(_) => gleaner_classes::solver::check_formulation(formulation, big_m),
    }
}

type Writer = fn(&Model, &mut files::AtomicFile) -> std::io::Result<()>;

/// The writer for the format that the extension names.
fn writer(path: &Path) -> Result<Writer> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("lp") => Ok(export::write_lp),
        Some("mps") => Ok(export::write_mps),
        _ => Err(Error::Usage(format!(
            "--write-model {}: expected a name ending in .lp or .mps",
            path.display()
        ))),
    }
}

/// The path of the model file for each problem.
fn paths(problems: &[AnyProblem], input: &Path, path: &Path) -> Result<Vec<PathBuf>> {
    if problems.len() == 1 {
        return Ok(vec![path.to_owned()]);
    }
    let paths: Vec<PathBuf> = problems.iter().map(|p| numbered(path, p.id())).collect();
    let mut owners: BTreeMap<&Path, &AnyProblem> = BTreeMap::new();
    let mut faults = Faults::default();
    for ((number, problem), path) in (1..).zip(problems).zip(&paths) {
        let Some(other) = owners.insert(path, problem) else {
            continue;
        };
        let (id, other) = (problem.id(), other.id());
        let found = if other == id {
            format!("{id:?} a second time")
        } else {
            format!("{id:?}, whose model would overwrite that of {other:?}")
        };
        let expected = "ids that differ in letters, digits or - for --write-model";
        let fault = Fault::of(input, found, expected).field("id");
        faults.push(fault.at(format!("problem {number} of {}", problems.len())));
    }
    faults.into_result(paths)
}

/// Turns `dir/name.lp` into `dir/name-ID.lp`. In the id, every character except letters, digits and `-` is replaced
/// with `_`.
fn numbered(path: &Path, id: &str) -> PathBuf {
    let is_fit = |c: char| c.is_alphanumeric() || c == '-';
    let fit: String = id
        .chars()
        .map(|c| if is_fit(c) { c } else { '_' })
        .collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{fit}.{extension}"))
}
