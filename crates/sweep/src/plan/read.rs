//! Reads plans of sweeps in TOML.

use std::path::Path;

use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_io::source::Source;
use gleaner_io::toml_text::line;
use gleaner_io::{Loaded, toml_text};
use serde::Deserialize;

use super::table::Table;
use super::{MAX_RUNS, Plan, PlanFault, ReplayPlan, SimulatePlan};

/// The description of a valid file, for messages.
const EXPECTED: &str = "a plan as described in dataset/README.md";

/// The content of a plan file. A valid plan has exactly one of the two tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanFile {
    /// Replays of a log.
    pub replay: Option<Table>,
    /// Simulations of a trace.
    pub simulate: Option<Table>,
}

/// Reads a plan. Relative paths in the plan are relative to the folder of the plan.
///
/// # Errors
/// The file cannot be read, or the plan has faults, which are reported together. [`Error::Usage`]
/// if every fault concerns only the choice of a solver.
pub fn read(path: &Path) -> Result<Loaded<Plan>> {
    let source = Source::open(path)?;
    let text = toml_text::read(&source)?;
    let file: PlanFile = toml_text::parse(&source, &text, EXPECTED, &[])?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (plan, faults) = match (file.replay, file.simulate) {
        (Some(replay), None) => checked(ReplayPlan::read(&replay, folder)),
        (None, Some(simulate)) => checked(SimulatePlan::read(&simulate, folder)),
        (None, None) => return Err(source.fault("no table", "[replay] or [simulate]").into()),
        _ => {
            let fault = source.fault("[replay] and [simulate]", "one of the two");
            return Err(fault.remedy("split the plan in two").into());
        }
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
    Ok(Loaded {
        value: plan,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Returns a plan with its faults, in the order in which they occur in the text. More than [`MAX_RUNS`] runs are also a
/// fault.
pub(super) fn checked<P: Into<Plan>>(
    (plan, mut faults): (P, Vec<PlanFault>),
) -> (Plan, Vec<PlanFault>) {
    let plan = plan.into();
    let (table, runs) = match &plan {
        Plan::Replay(plan) => ("replay", plan.runs()),
        Plan::Simulate(plan) => ("simulate", plan.runs()),
    };
    if runs.is_none_or(|runs| runs > MAX_RUNS) {
        let found = runs.map_or("more runs than can be counted".into(), |n| {
            format!("{n} runs")
        });
        let expected = format!("at most {MAX_RUNS}");
        faults.push(PlanFault::new(None, table, found, expected));
    }
    // Faults without a position come last.
    faults.sort_by_key(|fault| fault.at.unwrap_or(usize::MAX));
    (plan, faults)
}

/// Converts a fault of a plan to a fault of the plan's file. If the fault has a position, the line number is added.
fn placed(source: &Source, text: &str, fault: PlanFault) -> Fault {
    let placed = source.fault(fault.found, fault.expected).field(fault.field);
    match fault.at {
        Some(at) => placed.at(format!("line {}", line(text, at))),
        None => placed,
    }
}
