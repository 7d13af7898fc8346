//! The inspection of an event log, as text and as JSON.

mod findings;
mod overview;
mod tables;

pub use findings::CostSource;

use gleaner_core::error::{Error, Result};
use gleaner_inspect::Inspection;

/// The inspection as pretty-printed JSON.
///
/// # Errors
/// Never in practice. A failure of the serialiser is passed on.
pub fn json(inspection: &Inspection) -> Result<String> {
    serde_json::to_string_pretty(inspection)
        .map(|text| text + "\n")
        .map_err(|e| Error::Run(e.to_string()))
}

/// The inspection as text tables.
pub fn text(inspection: &Inspection, source: CostSource) -> String {
    [
        overview::overview(inspection),
        tables::fragments(&inspection.fragments),
        tables::hours(&inspection.calendar),
        tables::weekdays(&inspection.calendar),
        findings::suspicions(&inspection.suspicions),
        findings::suggestion(&inspection.suggestion, source),
    ]
    .join("\n")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
