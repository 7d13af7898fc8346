//! Compares the rows of `timings` with `steps`.

use gleaner_domain::error::Result;
use gleaner_domain::results::Column;
use gleaner_domain::results::replay::StepRow;
use gleaner_runs::read::RunInfo;

use crate::Findings;

const TABLE: &str = "timings";

/// Verifies that `timings` has one row for each step.
///
/// # Errors
/// The table is missing or damaged.
pub fn timings(info: &RunInfo, steps: &[StepRow]) -> Result<Findings> {
    let mut findings = Findings::default();
    let table = info.table(TABLE)?;
    for (name, column) in &table.columns {
        let Column::OptionalWhole(values) = column else {
            continue;
        };
        if name == "evt" {
            findings.covers(TABLE, [name.as_str()]);
            findings.equal("timings: rows", values.len(), steps.len());
            for (place, (value, step)) in values.iter().zip(steps).enumerate() {
                let expected = Some(step.event as i64);
                findings.holds(*value == expected, || {
                    format!("timings, row {place}: evt differs from evt in this row of steps")
                });
            }
        }
    }
    findings.not_verified(TABLE, "solve_us", "it contains measured times");
    Ok(findings)
}
