//! Durations estimated by policies that learn.

use gleaner_domain::Trace;
use gleaner_domain::inputs::{Estimates, EstimatesByPolicy};
use gleaner_domain::results::{Column, Table};

/// Estimated durations in seconds: a row for each job under each policy that uses estimates.
pub fn estimates<'a>(trace: &'a Trace, learnt: &'a EstimatesByPolicy) -> Table<'a> {
    let policies: Vec<&str> = learnt.0.keys().copied().collect();
    let rows =
        || (0..policies.len()).flat_map(|policy| trace.jobs.iter().map(move |job| (policy, job)));
    let seconds = rows().map(|(policy, job)| learnt.seconds_under(policies[policy], job));
    Table {
        name: "estimates",
        columns: vec![
            (
                "policy",
                Column::Names {
                    indices: rows().map(|(policy, _)| policy as u32).collect(),
                    names: policies.clone(),
                },
            ),
            (
                "job_id",
                Column::Texts(rows().map(|(_, job)| job.id.as_str().into()).collect()),
            ),
            ("priority", Column::Floats(seconds.collect())),
        ],
    }
}
