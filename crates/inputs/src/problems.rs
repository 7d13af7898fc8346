//! Reads allocation problems from JSON: a single object, or a sequence of objects (JSON lines).

use std::path::Path;

use gleaner_solvers::Problem;

use gleaner_domain::error::{Fault, Result};
use gleaner_io::fault::of_json;
use gleaner_io::source::Source;
use gleaner_io::{Gatherer, Loaded};

/// Reads problems from a file, or from stdin if `path` is `-`.
///
/// A problem without an `id` is identified by its number in the file, counted from 1.
///
/// # Errors
/// The file cannot be read, or it contains no problem. Invalid problems are collected and reported
/// together. Reading stops at text that is not JSON.
pub fn read(path: &Path) -> Result<Loaded<Vec<Problem>>> {
    let source = Source::open(path)?;
    let problems = parse(&source.read_all()?, |found, expected| {
        source.fault(found, expected)
    })?;
    Ok(Loaded {
        value: problems,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Reads problems from a string. In messages, `name` is used as the file name.
///
/// # Errors
/// Same as [`read`].
pub fn read_text(text: &str, name: &str) -> Result<Vec<Problem>> {
    parse(text.as_bytes(), |found, expected| {
        Fault::of(Path::new(name), found, expected)
    })
}

fn parse(bytes: &[u8], fault: impl Fn(&str, &str) -> Fault) -> Result<Vec<Problem>> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut faults = Gatherer::default();
    for parsed in serde_json::Deserializer::from_slice(bytes).into_iter::<Problem>() {
        match parsed {
            Ok(mut problem) => {
                if problem.id.is_empty() {
                    problem.id = (problems.len() + 1).to_string();
                }
                for reason in problem.validate() {
                    faults.add(
                        fault(&reason, "a valid problem").at(format!("problem {}", problem.id)),
                    )?;
                }
                problems.push(problem);
            }
            Err(error) => {
                let expected = "a problem: {\"nodes\": 8, \"t_fwd\": 60, \"tasks\": [...]}";
                let text = error.to_string();
                let found = text.split(" at line ").next().unwrap_or_default();
                faults.add(fault(found, expected).at(of_json(&error)))?;
                break;
            }
        }
    }
    if problems.is_empty() && faults.is_empty() {
        faults.add(fault("no problem", "at least one JSON object"))?;
    }
    faults.finish(problems)
}
