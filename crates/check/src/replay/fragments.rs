//! Compares the rows of `fragments` with the log.

use crate::Findings;
use gleaner_domain::EventLog;
use gleaner_domain::results::Record;
use gleaner_domain::results::replay::FragmentRow;

/// Lower bounds of the length classes in seconds: 0, a minute, ten minutes, an hour, six hours, a
/// day.
const FROM: [f64; 6] = [0.0, 60.0, 600.0, 3_600.0, 21_600.0, 86_400.0];

/// Verifies the idle fragments: the intervals during which a node is idle, clipped to the log's
/// ends.
pub fn fragments(log: &EventLog, written: &[FragmentRow]) -> Findings {
    let mut findings = Findings::default();
    let mut classes = [(0u64, 0i128); FROM.len()];
    let mut add = |nanos: i64| {
        let class = FROM.partition_point(|from| *from <= nanos as f64 / 1e9);
        let (count, sum) = &mut classes[class.saturating_sub(1)];
        *count += 1;
        *sum += i128::from(nanos);
    };
    let mut since = vec![None; log.nodes().len()];
    for (time, changes) in log.rows() {
        for change in changes {
            let node = &mut since[change.node() as usize];
            if change.idle() {
                *node = Some(time);
            } else if let Some(from) = node.take() {
                add(time.0.saturating_sub(from.0));
            }
        }
    }
    if let Some(end) = log.times().last() {
        for from in since.into_iter().flatten() {
            add(end.0.saturating_sub(from.0));
        }
    }
    findings.covers(
        "fragments",
        FragmentRow::FIELDS.iter().map(|field| field.name),
    );
    findings.equal("fragments: rows", written.len(), FROM.len());
    let ends = FROM.iter().skip(1).map(|end| Some(*end)).chain([None]);
    for (place, ((row, (count, sum)), to_s)) in written.iter().zip(classes).zip(ends).enumerate() {
        let name = |field: &str| format!("fragments, row {place}: {field}");
        findings.number(name("from_s"), row.from_s, FROM[place]);
        findings.option(name("to_s"), row.to_s, to_s);
        findings.equal(name("fragments"), row.fragments, count);
        findings.number(name("node_seconds"), row.node_seconds, sum as f64 / 1e9);
    }
    findings
}
