//! Reads plans of sweeps, in TOML.

use std::path::{Path, PathBuf};

use gleaner_core::error::{Error, Fault, Faults, Result};
use gleaner_io::Loaded;
use gleaner_io::source::Source;
use gleaner_io::toml_text;
use gleaner_io::toml_text::line;

use super::{Plan, PlanFault, PlanFile};

/// What a plan is.
const EXPECTED: &str = "a plan as in dataset/README.md";

/// Words for users in place of the names of Rust types.
const TYPES: [(&str, &str); 5] = [
    ("f64", "a number"),
    ("usize", "a whole number"),
    ("u64", "a whole number"),
    ("u32", "a whole number"),
    (
        "struct Slice",
        "a window such as { skip_rows = 1000, nodes = 100 }",
    ),
];

/// Reads a plan. Relative paths in it are relative to the folder of the plan.
///
/// # Errors
/// The file cannot be read, or the plan has faults, which are reported together. [`Error::Usage`]
/// if every fault is only a wrong choice of a solver.
pub fn read(path: &Path) -> Result<Loaded<Plan>> {
    let source = Source::open(path)?;
    let text = toml_text::read(&source)?;
    let file: PlanFile = toml_text::parse(&source, &text, EXPECTED, &TYPES)?;
    let mut plan = match (file.replay, file.simulate) {
        (Some(replay), None) => Plan::Replay(Box::new(replay)),
        (None, Some(simulate)) => Plan::Simulate(Box::new(simulate)),
        (None, None) => return Err(source.fault("no table", "[replay] or [simulate]").into()),
        _ => {
            let fault = source.fault("[replay] and [simulate]", "one of the two");
            return Err(fault.remedy("make a plan of each").into());
        }
    };
    let faults = match &plan {
        Plan::Replay(replay) => replay.check(),
        Plan::Simulate(simulate) => simulate.check(),
    };
    let is_sound = faults.iter().all(|fault| fault.wrong_choice);
    let faults = faults
        .into_iter()
        .map(|fault| placed(&source, &text, fault));
    let faults = Faults(faults.collect());
    if is_sound && !faults.0.is_empty() {
        return Err(Error::Usage(faults.to_string()));
    }
    faults.into_result(())?;
    resolve(&mut plan, path.parent().unwrap_or(Path::new("")));
    Ok(Loaded {
        value: plan,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Makes the paths in a plan relative to the folder of the plan. Its programs are found later.
fn resolve(plan: &mut Plan, beside: &Path) {
    let join = |path: &mut PathBuf| *path = beside.join(&*path);
    match plan {
        Plan::Replay(replay) => {
            replay.paths_mut().for_each(join);
            replay.folder = beside.to_owned();
        }
        Plan::Simulate(simulate) => {
            simulate.paths_mut().for_each(join);
        }
    }
}

/// The fault with its line, if it has one.
fn placed(source: &Source, text: &str, fault: PlanFault) -> Fault {
    let placed = source.fault(fault.found, fault.expected).field(fault.field);
    match fault.at {
        Some(at) => placed.at(format!("line {}", line(text, at))),
        None => placed,
    }
}
