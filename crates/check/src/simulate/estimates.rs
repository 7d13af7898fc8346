//! Verifies the recorded source and quality of the duration estimates that policies used.

use std::collections::BTreeMap;

use gleaner_domain::error::Result;
use gleaner_domain::inputs::LONGEST_ESTIMATE;
use gleaner_runs::read::{Cell, RunInfo};
use serde_json::{Value, json};

use super::figures::is_same;
use super::policy::Policy;
use super::{Given, SUMMARY};
use crate::Findings;

/// The table of estimates learnt during the simulation.
const LEARNT: &str = "estimates";
const CORRELATION: &str = "estimate_rank_correlation";
const TEXT: &str = "estimates";

/// Compares the description of estimates in `summary.json` with the inputs. The description consists of the source of
/// the estimates and their rank correlation with the true durations.
///
/// # Errors
/// The table of learnt estimates is damaged.
pub(super) fn check(
    info: &RunInfo,
    summary: &Value,
    given: &Given<'_>,
    checked: &[Policy<'_>],
    findings: &mut Findings,
) -> Result<()> {
    let learnt = learnt(info)?;
    for policy in checked {
        let name = policy.name;
        if !policy.rules.is_known {
            for field in [TEXT, CORRELATION] {
                let reason = "the policy is not a built-in policy";
                findings.not_verified(SUMMARY, format!("policies/{name}/{field}"), reason);
            }
            continue;
        }
        let is_estimated = policy.rules.durations == "estimated";
        let text = given.estimates_text.filter(|_| is_estimated);
        let correlation = text.and_then(|_| correlation(name, &learnt, given));
        for (field, expected) in [(TEXT, json!(text)), (CORRELATION, json!(correlation))] {
            let pointer = format!("/policies/{name}/{field}");
            if let Some(written) = summary.pointer(&pointer) {
                findings.holds(is_same(written, &expected), || {
                    format!("{SUMMARY}, {name}: {field} is {written}, expected {expected}")
                });
                findings.covers(SUMMARY, [pointer.trim_start_matches('/')]);
            }
        }
    }
    Ok(())
}

/// The learnt estimates by policy and job.
type Learnt = BTreeMap<(String, String), f64>;

fn learnt(info: &RunInfo) -> Result<Learnt> {
    let mut learnt = Learnt::new();
    if !info.has(&format!("{LEARNT}.parquet")) {
        return Ok(learnt);
    }
    let (mut policies, mut jobs, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    let text = |cell: Cell<'_>| match cell {
        Cell::Text(text) => text.to_owned(),
        Cell::Whole(number) => number.to_string(),
        _ => String::new(),
    };
    info.visit(LEARNT, "policy", |_, cell| policies.push(text(cell)))?;
    info.visit(LEARNT, "job_id", |_, cell| jobs.push(text(cell)))?;
    info.visit(LEARNT, "priority", |_, cell| {
        seconds.push(match cell {
            Cell::Number(number) => Some(number),
            Cell::Whole(number) => Some(number as f64),
            _ => None,
        });
    })?;
    let keys = policies.into_iter().zip(jobs);
    learnt.extend(
        keys.zip(seconds)
            .filter_map(|(key, seconds)| Some((key, seconds?))),
    );
    Ok(learnt)
}

/// Spearman's rank correlation between a policy's estimates and the true durations; `None` if all
/// estimates or all durations are equal. If a job has no estimate, its true duration is used
/// instead.
fn correlation(policy: &str, learnt: &Learnt, given: &Given<'_>) -> Option<f64> {
    let jobs = given.trace.jobs.iter();
    let estimated = jobs.clone().map(|job| {
        let known = given
            .estimates
            .and_then(|known| known.seconds_under(policy, job));
        let learnt = learnt.get(&(policy.to_owned(), job.id.clone())).copied();
        let seconds = learnt.or(known).unwrap_or(job.duration as f64);
        seconds.clamp(-LONGEST_ESTIMATE, LONGEST_ESTIMATE)
    });
    let estimated = ranks(&estimated.collect::<Vec<_>>());
    let truth = ranks(&jobs.map(|job| job.duration as f64).collect::<Vec<_>>());
    let mean = (truth.len() as f64 + 1.0) / 2.0;
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (a, b) in estimated.iter().zip(&truth) {
        both += (a - mean) * (b - mean);
        first += (a - mean).powi(2);
        second += (b - mean).powi(2);
    }
    (first > 0.0 && second > 0.0).then(|| both / (first * second).sqrt())
}

/// The rank of each value, starting at 1. Equal values get their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for &place in equal {
            ranks[place] = rank;
        }
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    // The two values of 3 share the ranks 3 and 4, so each gets the rank 3.5.
    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks(&[]), [0.0; 0]);
    }
}
