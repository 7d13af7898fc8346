//! Describes the failures in a sweep.

use gleaner_domain::words::counted;
use gleaner_sweep::PreparedRuns;
use gleaner_sweep::cluster::{State, Trouble};

/// At most this many failed runs are shown, and at most this many parts.
const SHOWN: usize = 5;

/// Lists the failed runs, and the parts that have unfinished runs, in one line each.
pub(super) fn report(
    prepared: &dyn PreparedRuns,
    state: &State,
    troubles: &[Trouble],
) -> Vec<String> {
    let failed = state.failed.iter().map(|(run, failure)| {
        format!(
            "run {}: exit code {}: {}",
            prepared.key(*run),
            failure.code,
            failure.message
        )
    });
    let parts = troubles.iter().map(|trouble| {
        let how = match &trouble.ended {
            Some(ended) => format!("it ended with exit code {}: {}", ended.code, ended.message),
            None => "it was killed, its node failed, or it never started".to_owned(),
        };
        let log = if trouble.log.is_empty() {
            String::new()
        } else {
            format!("; its log ends: {}", trouble.log)
        };
        let (part, batch) = (trouble.name.part, &trouble.name.batch);
        let left = counted(trouble.runs.len(), "run");
        format!("part {part} of batch {batch}, {left} remaining: {how}{log}")
    });
    let mut lines = first(failed.collect(), "failed run");
    lines.extend(first(parts.collect(), "part"));
    lines
}

/// Keeps the first lines, and replaces the others with a line that states their number.
fn first(mut lines: Vec<String>, what: &str) -> Vec<String> {
    let others = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if others > 0 {
        lines.push(format!("and {}", counted(others, &format!("other {what}"))));
    }
    lines
}
