//! Reads the runs of a policy's jobs from the tables.

use std::collections::BTreeMap;

use gleaner_domain::cluster::GpuSet;
use gleaner_domain::results::states::RunRow;

use super::Given;
use crate::Findings;

/// The GPUs held on each node, by node number.
pub(super) type Place = Vec<(u32, GpuSet)>;

/// An uninterrupted run of a job on the same GPUs.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// Index of the job in the trace.
    pub job: usize,
    pub from: i64,
    pub until: i64,
    pub place: Place,
    /// The seconds at which the run's speed changed, each with the new speed; the first is `from`.
    pub speeds: Vec<(i64, f64)>,
    /// Whether the job ends with this run.
    pub is_last: bool,
}

impl Run {
    /// Work done before a given second, in seconds at full speed.
    pub fn work_before(&self, second: i64) -> f64 {
        let ends = self.speeds.iter().skip(1).map(|&(from, _)| from);
        let ends = ends.chain([self.until]);
        let parts = self.speeds.iter().zip(ends).map(|(&(from, speed), until)| {
            let seconds = until.min(second).saturating_sub(from).max(0);
            seconds as f64 * speed
        });
        parts.sum()
    }
}

/// Parses nodes with their GPUs, such as `[{0: [0, 1]}, {3: [2]}]`.
pub(super) fn parse(text: &str) -> Option<Place> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let entries = inside.strip_prefix('{')?.strip_suffix("]}")?.split("]}, {");
    let entry = |entry: &str| {
        let (node, list) = entry.split_once(": [")?;
        let mut gpus: GpuSet = 0;
        for gpu in list.split(", ") {
            let bit: GpuSet = 1u64.checked_shl(gpu.parse().ok()?)?;
            // Ascending order is required, so that there is only one way to write a set of GPUs.
            if bit <= gpus {
                return None;
            }
            gpus |= bit;
        }
        Some((node.parse().ok()?, gpus))
    };
    entries.map(entry).collect()
}

/// The runs of each virtual cluster, in the order of their starts. `None` if any row is invalid.
pub(super) fn by_vc(
    table: &str,
    rows: &[RunRow],
    given: &Given<'_>,
    findings: &mut Findings,
) -> Option<Vec<Vec<Run>>> {
    let before = findings.wrong_count;
    let jobs = given.trace.jobs.iter().enumerate();
    let jobs: BTreeMap<&str, usize> = jobs.map(|(index, job)| (job.id.as_str(), index)).collect();
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); given.cluster.vcs.len()];
    let mut last_run: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
    let mut last_vc = 0;
    let is_same = |a: &RunRow, b: &RunRow| a.id == b.id && a.run == b.run && a.vc == b.vc;
    for stretches in rows.chunk_by(is_same) {
        let first = &stretches[0];
        let place = || format!("{table}, job {:?}, run {}", first.id, first.run);
        let Some(&job) = jobs.get(first.id.as_str()) else {
            findings.add(|| format!("{}: the trace has no such job", place()));
            continue;
        };
        let vc = given.trace.jobs[job].vc;
        findings.equal(
            format_args!("{}: vc", place()),
            &*first.vc,
            given.cluster.vcs[vc].name.as_str(),
        );
        findings.holds(vc >= last_vc, || {
            format!("{}: not in the order of the virtual clusters", place())
        });
        last_vc = vc;
        let number = last_run.get(&job).map_or(0, |&(_, number)| number + 1);
        findings.equal(format_args!("{}: run", place()), first.run, number);
        last_run.insert(job, (runs[vc].len(), number));
        let Some(run) = run(job, stretches, &place, findings) else {
            continue;
        };
        let is_in_order = runs[vc].last().is_none_or(|before| before.from <= run.from);
        findings.holds(is_in_order, || {
            format!("{}: it starts before the run in the previous row", place())
        });
        runs[vc].push(run);
    }
    if findings.wrong_count > before {
        return None;
    }
    for (&job, &(place, _)) in &last_run {
        runs[given.trace.jobs[job].vc][place].is_last = true;
    }
    Some(runs)
}

/// Combines the successive rows of one run.
fn run(
    job: usize,
    stretches: &[RunRow],
    place: &dyn Fn() -> String,
    findings: &mut Findings,
) -> Option<Run> {
    let (first, last) = (&stretches[0], &stretches[stretches.len() - 1]);
    let Some(nodes) = parse(&first.nodes) else {
        let found = &first.nodes;
        findings.add(|| {
            format!(
                "{}: nodes are {found:?}, expected a list such as [{{0: [0, 1]}}]",
                place()
            )
        });
        return None;
    };
    let mut is_sound = true;
    for stretch in stretches {
        is_sound &= stretch.from < stretch.to && stretch.nodes == first.nodes;
        is_sound &= stretch.speed.is_finite() && stretch.speed > 0.0;
    }
    for pair in stretches.windows(2) {
        is_sound &= pair[0].to == pair[1].from && pair[0].speed != pair[1].speed;
    }
    findings.holds(is_sound, || {
        format!(
            "{}: its rows must be consecutive intervals on the same nodes, each at a new speed",
            place()
        )
    });
    let speeds = stretches.iter().map(|row| (row.from, row.speed));
    is_sound.then(|| Run {
        job,
        from: first.from,
        until: last.to,
        place: nodes,
        speeds: speeds.collect(),
        is_last: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_parsed() {
        assert_eq!(parse("[]"), Some(vec![]));
        assert_eq!(
            parse("[{0: [0, 1]}, {3: [2]}]"),
            Some(vec![(0, 0b11), (3, 0b100)])
        );
        for text in [
            "",
            "[{]",
            "[{0: []}]",
            "[{x: [1]}]",
            "[{0: [1}]",
            "[{0: [1, 0]}]",
            "[{0: [64]}]",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
