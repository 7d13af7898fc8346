//! Reads allocation problems from JSON: a single object, or a sequence of objects (JSON lines).
//!
//! The nodes of a problem belong to one class or to several classes. A problem with several classes has one of two
//! forms: either every task has a curve for each class, or every task has a list of options.

use std::path::Path;
use std::sync::Arc;

use gleaner_classes::{AnyProblem, CurveProblem};
use gleaner_solvers::Problem;
use serde::Deserialize;
use serde::de::IgnoredAny;

use gleaner_domain::error::{Fault, Result};
use gleaner_io::fault::{Place, of_json};
use gleaner_io::source::Source;
use gleaner_io::{Gatherer, Loaded};

/// Reads problems from a file, or from stdin if `path` is `-`.
///
/// A problem without an `id` is identified by its position in the file, counted from 1.
///
/// # Errors
/// The file cannot be read, or it contains no problem. Invalid problems are collected and reported
/// together. Reading stops at text that is not JSON.
pub fn read(path: &Path) -> Result<Loaded<Vec<AnyProblem>>> {
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

/// Like [`read`], but accepts only problems whose nodes are all of one class.
///
/// # Errors
/// Same as for [`read`]. In addition, a problem with node classes is a fault.
pub fn read_one_class(path: &Path) -> Result<Loaded<Vec<Problem>>> {
    let Loaded {
        value,
        sources,
        notes,
    } = read(path)?;
    let mut problems = Vec::with_capacity(value.len());
    let mut faults = Gatherer::default();
    for problem in value {
        match problem {
            AnyProblem::OneClass(problem) => problems.push(Arc::unwrap_or_clone(problem)),
            AnyProblem::Classes(problem) => {
                let fault = Fault::of(path, "node classes", "nodes of one class");
                let fault = fault.remedy("gleaner solve and gleaner compare support classes");
                faults.add(fault.at(format!("problem {}", problem.id)))?;
            }
        }
    }
    Ok(Loaded {
        value: faults.finish(problems)?,
        sources,
        notes,
    })
}

/// Reads problems from a string. In messages, `name` is used as the file name.
///
/// # Errors
/// The text contains no problem, or it contains invalid problems, which are reported together.
pub fn read_text(text: &str, name: &str) -> Result<Vec<AnyProblem>> {
    parse(text.as_bytes(), |found, expected| {
        Fault::of(Path::new(name), found, expected)
    })
}

/// The fields that determine the form of a problem and whether the problem is supported.
#[derive(Deserialize)]
#[serde(rename = "Problem")]
struct Outline {
    #[serde(default)]
    classes: Option<IgnoredAny>,
    #[serde(default)]
    tasks: Vec<TaskOutline>,
    #[serde(default)]
    goal: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename = "Task")]
struct TaskOutline {
    #[serde(default)]
    curves: Option<IgnoredAny>,
    #[serde(default)]
    weight: Option<IgnoredAny>,
}

impl Outline {
    /// The first field of the problem that is not supported with node classes, if any. Ignoring the field would change
    /// the meaning of the problem.
    fn unsupported(&self) -> Option<&'static str> {
        let has_goal = self.goal.as_ref().is_some_and(|goal| goal != "total");
        let has_weight = |task: &TaskOutline| task.curves.is_some() && task.weight.is_some();
        if has_goal {
            Some("a goal other than total")
        } else if self.tasks.iter().any(has_weight) {
            Some("weights of tasks")
        } else {
            None
        }
    }
}

/// The form of a problem.
#[derive(Clone, Copy)]
enum Form {
    OneClass,
    Curves,
    Options,
}

impl Form {
    fn of(outline: &Outline) -> Self {
        if outline.classes.is_none() {
            Form::OneClass
        } else if outline.tasks.iter().any(|task| task.curves.is_some()) {
            Form::Curves
        } else {
            Form::Options
        }
    }

    /// An example of a problem in this form, for messages.
    fn expected(self) -> &'static str {
        match self {
            Form::OneClass => "a problem: {\"nodes\": 8, \"t_fwd\": 60, \"tasks\": [...]}",
            Form::Curves => {
                "a problem: {\"classes\": [{\"name\": \"a100\", \"nodes\": 8}], \"t_fwd\": 60, \"tasks\": [{\"curves\": {...}, ...}]}"
            }
            Form::Options => {
                "a problem: {\"classes\": [{\"name\": \"a100\", \"capacity\": 8}], \"tasks\": [{\"options\": [[0, 1, 9.5]], ...}]}"
            }
        }
    }

    /// Parses a problem. Returns the problem and its faults. If there are faults, tasks may be missing from the
    /// problem.
    fn parse(self, text: &[u8], number: usize) -> serde_json::Result<(AnyProblem, Vec<String>)> {
        let named = |id: String| {
            if id.is_empty() {
                number.to_string()
            } else {
                id
            }
        };
        Ok(match self {
            Form::OneClass => {
                let mut problem: Problem = serde_json::from_slice(text)?;
                problem.id = named(problem.id);
                let faults = problem.validate();
                (AnyProblem::OneClass(Arc::new(problem)), faults)
            }
            Form::Options => {
                let mut problem: gleaner_classes::Problem = serde_json::from_slice(text)?;
                problem.id = named(problem.id);
                let faults = problem.validate();
                (AnyProblem::Classes(Arc::new(problem)), faults)
            }
            Form::Curves => {
                let mut curves: CurveProblem = serde_json::from_slice(text)?;
                curves.id = named(curves.id);
                let (problem, faults) = match curves.to_options() {
                    Ok(problem) => (problem, Vec::new()),
                    Err(faults) => {
                        let CurveProblem { id, classes, .. } = curves;
                        let invalid = gleaner_classes::Problem {
                            id,
                            classes,
                            tasks: Vec::new(),
                            groups: Vec::new(),
                        };
                        (invalid, faults)
                    }
                };
                (AnyProblem::Classes(Arc::new(problem)), faults)
            }
        })
    }
}

fn parse(bytes: &[u8], fault: impl Fn(&str, &str) -> Fault) -> Result<Vec<AnyProblem>> {
    let mut problems: Vec<AnyProblem> = Vec::new();
    let mut faults = Gatherer::default();
    let mut outlines = serde_json::Deserializer::from_slice(bytes).into_iter::<Outline>();
    let mut start = 0;
    while let Some(outline) = outlines.next() {
        let (before, rest) = bytes.split_at(start);
        let text = &rest[..outlines.byte_offset() - start];
        let form = outline.as_ref().map_or(Form::OneClass, Form::of);
        let parsed = match outline {
            Ok(outline) => match form.parse(text, problems.len() + 1) {
                Ok((problem, reasons)) => Ok((outline.unsupported(), problem, reasons)),
                Err(error) => Err((place(&error, before), error)),
            },
            Err(error) => Err((of_json(&error), error)),
        };
        match parsed {
            Ok((unsupported, problem, reasons)) => {
                let place = format!("problem {}", problem.id());
                if let (AnyProblem::Classes(_), Some(what)) = (&problem, unsupported) {
                    let expected = "no such field in a problem with node classes";
                    let fault = fault(what, expected);
                    let remedy = "remove the field and describe the goal or the weights through the values in each \
                                  task's options, or use nodes of one class";
                    faults.add(fault.at(place.clone()).remedy(remedy))?;
                }
                for reason in reasons {
                    faults.add(fault(&reason, "").at(place.clone()))?;
                }
                problems.push(problem);
            }
            Err((place, error)) => {
                let text = error.to_string();
                let found = text.split(" at line ").next().unwrap_or_default();
                faults.add(fault(found, form.expected()).at(place))?;
                break;
            }
        }
        start = outlines.byte_offset();
    }
    if problems.is_empty() && faults.is_empty() {
        faults.add(fault("no problem", "at least one JSON object"))?;
    }
    faults.finish(problems)
}

/// The position of an error in the file. `before` is the part of the file that precedes the text with the error.
fn place(error: &serde_json::Error, before: &[u8]) -> String {
    if error.line() == 0 {
        return String::new();
    }
    let is_end = |byte: &&u8| **byte == b'\n';
    let lines = before.iter().filter(is_end).count();
    let in_line = before.iter().rev().take_while(|byte| !is_end(byte)).count();
    let column = match error.line() {
        1 => in_line + error.column(),
        _ => error.column(),
    };
    Place::Column(lines + error.line(), column).into()
}
