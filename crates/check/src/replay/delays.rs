//! Compares the rows of `delays` with the log's queue and the allocations.

use std::collections::BTreeSet;

use super::{Inputs, Written};
use crate::Findings;
use gleaner_domain::Utc;
use gleaner_domain::results::Record;
use gleaner_domain::results::replay::DelayRow;

const SUMMARY: &str = "summary.json";

/// A job that takes nodes: the index of its event, its position among the jobs of that event, and its number of nodes.
/// Positions start at 1; the position is 0 if the log has no queue.
type Job = (usize, u32, u32);

/// Verifies the delays of batch jobs. A job is delayed if it takes a node at the moment when a task's allocation of
/// that node ends.
pub(super) fn delays(inputs: &Inputs<'_>, written: &Written<'_>, findings: &mut Findings) {
    let s = written.summary;
    findings.covers(
        SUMMARY,
        [
            "hand_back_seconds",
            "delayed_jobs",
            "delayed_jobs_are_events",
            "delayed_node_seconds",
        ],
    );
    findings.equal(
        "delays: exists",
        written.delays.is_some(),
        s.hand_back_seconds.is_some(),
    );
    let (Some(rows), Some(delay)) = (written.delays, s.hand_back_seconds) else {
        let has_none = s.delayed_jobs.is_none()
            && s.delayed_jobs_are_events.is_none()
            && s.delayed_node_seconds.is_none();
        findings.holds(has_none, || {
            format!("{SUMMARY}: found delays of batch jobs, but the run had no --hand-back")
        });
        return;
    };
    findings.covers("delays", DelayRow::FIELDS.iter().map(|field| field.name));
    let expected = expected(inputs, written);
    findings.equal("delays: rows", rows.len(), expected.len());
    for (place, (row, (job, time, in_use))) in rows.iter().zip(&expected).enumerate() {
        let name = |field: &str| format!("delays, row {place}: {field}");
        let (event, number, nodes) = *job;
        findings.equal(name("evt"), row.event, event);
        findings.equal(name("job"), row.job, number);
        findings.equal(name("nodes"), row.nodes, nodes);
        findings.equal(name("nodes_in_use"), row.nodes_in_use, *in_use);
        findings.equal(name("time"), row.time.0, time.0);
        findings.number(name("delay_s"), row.delay, delay);
        let product = delay * f64::from(nodes);
        findings.number(
            name("delayed_node_seconds"),
            row.delayed_node_seconds,
            product,
        );
    }
    let nodes: f64 = expected
        .iter()
        .map(|((_, _, nodes), _, _)| f64::from(*nodes))
        .sum();
    findings.equal(
        format_args!("{SUMMARY}: delayed_jobs"),
        s.delayed_jobs.unwrap_or(0),
        expected.len(),
    );
    let are_events = !inputs.log.has_queue();
    findings.holds(s.delayed_jobs_are_events == Some(are_events), || {
        format!("{SUMMARY}: delayed_jobs_are_events: expected {are_events}")
    });
    let name = format!("{SUMMARY}: delayed_node_seconds");
    findings.option(name, s.delayed_node_seconds, Some(delay * nodes));
}

/// The jobs that must be recorded as delayed, each with its start time and the number of its nodes that tasks held.
fn expected(inputs: &Inputs<'_>, written: &Written<'_>) -> Vec<(Job, Utc, u32)> {
    let names: Vec<&str> = inputs.log.nodes().iter().map(String::as_str).collect();
    let held: BTreeSet<(Utc, &str)> = written
        .allocations
        .iter()
        .map(|row| (row.to, written.nodes[row.node as usize].as_str()))
        .collect();
    let replayed = written.steps.iter().map(|row| row.event).max().unwrap_or(0);
    let mut jobs = Vec::new();
    for (event, (time, changes)) in inputs.log.rows().enumerate().take(replayed + 1).skip(1) {
        let queue = inputs.log.queue(event);
        let mut used: Vec<u32> = vec![0; 1 + queue.map_or(0, |queue| queue.jobs.len())];
        let left = changes
            .iter()
            .enumerate()
            .filter(|(_, change)| !change.idle());
        for (index, change) in left.clone() {
            if held.contains(&(time, names[change.node() as usize])) {
                used[queue.map_or(0, |queue| queue.takers[index] as usize)] += 1;
            }
        }
        match queue {
            None if used[0] > 0 => jobs.push(((event, 0, left.count() as u32), time, used[0])),
            None => {}
            Some(queue) => {
                let all = (1..).zip(queue.jobs).zip(&used[1..]);
                let delayed = all.filter(|(_, used)| **used > 0);
                jobs.extend(
                    delayed.map(|((job, nodes), used)| ((event, job, *nodes), time, *used)),
                );
            }
        }
    }
    jobs
}
