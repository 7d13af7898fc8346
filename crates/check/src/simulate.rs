//! A policy's jobs against each other and against what `summary.json` says of the policy.

use std::collections::BTreeMap;

use super::Findings;
use gleaner_core::results::simulate::{Delays, PolicyFigures, SMALL_JOB_GPUS};
use gleaner_core::results::states::JobRow;

/// Verifies a policy: `shares` says whether its jobs may share GPUs.
pub fn policy(name: &str, jobs: &[JobRow], figures: &PolicyFigures, shares: bool) -> Findings {
    let mut findings = Findings::default();
    for job in jobs {
        times(name, job, &mut findings);
    }
    if !shares {
        gpus(name, jobs, &mut findings);
    }
    sums(name, jobs, figures, &mut findings);
    findings
}

fn times(name: &str, job: &JobRow, findings: &mut Findings) {
    let place = |what: &str| format!("{name}_jobs, job {:?}: {what}", job.id);
    findings.equal(place("jct"), job.jct, job.end - job.submit);
    for (is_so, what) in [
        (job.start >= job.submit, "starts before it is submitted"),
        (job.end >= job.start, "ends before it starts"),
        (job.queue >= 0, "its queuing time is negative"),
        (
            job.queue <= job.jct,
            "its queuing time exceeds its completion time",
        ),
    ] {
        findings.holds(is_so, || place(what));
    }
}

/// A GPU: virtual cluster, node, number.
type Gpu<'a> = (&'a str, u32, u32);

/// No GPU is held twice. Of jobs that were preempted only the last place is known, not since when.
fn gpus(name: &str, jobs: &[JobRow], findings: &mut Findings) {
    let mut holds: BTreeMap<Gpu<'_>, Vec<(i64, i64, usize)>> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let place = || format!("{name}_jobs, job {:?}: nodes", job.id);
        let Some(nodes) = parse(&job.nodes) else {
            findings.add(|| {
                format!(
                    "{} are {:?}, expected a list such as [{{0: [0, 1]}}]",
                    place(),
                    job.nodes
                )
            });
            continue;
        };
        let held: usize = nodes.iter().map(|(_, gpus)| gpus.len()).sum();
        findings.equal(
            format_args!("{}: GPUs", place()),
            held as u64,
            u64::from(job.gpus),
        );
        if job.checkpoints == 0 {
            for (node, gpus) in nodes {
                for gpu in gpus {
                    let key = (&*job.vc, node, gpu);
                    holds
                        .entry(key)
                        .or_default()
                        .push((job.start, job.end, index));
                }
            }
        }
    }
    for ((vc, node, gpu), mut spans) in holds {
        spans.sort_unstable();
        for pair in spans.windows(2) {
            let (first, second) = (&jobs[pair[0].2], &jobs[pair[1].2]);
            findings.holds(pair[1].0 >= pair[0].1, || {
                format!(
                    "{name}_jobs: jobs {:?} and {:?} hold GPU {gpu} of node {node} in {vc} at second {}",
                    first.id, second.id, pair[1].0
                )
            });
        }
    }
}

/// Nodes with their GPUs from `[{0: [0, 1]}, {3: [2]}]`.
fn parse(text: &str) -> Option<Vec<(u32, Vec<u32>)>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let entries = inside.strip_prefix('{')?.strip_suffix("]}")?.split("]}, {");
    let entry = |entry: &str| {
        let (node, gpus) = entry.split_once(": [")?;
        let gpus = gpus.split(", ").map(|gpu| gpu.parse().ok());
        Some((node.parse().ok()?, gpus.collect::<Option<_>>()?))
    };
    entries.map(entry).collect()
}

fn sums(name: &str, jobs: &[JobRow], figures: &PolicyFigures, findings: &mut Findings) {
    let place = |what: &str| format!("summary.json, {name}: {what}");
    let of = |kept: &dyn Fn(&JobRow) -> bool| delays(jobs.iter().filter(|job| kept(job)));
    let all = of(&|_| true).unwrap_or_default();
    compare(&place(""), Some(figures.all), Some(all), findings);
    compare(
        &place("small "),
        figures.small,
        of(&|job| job.gpus <= SMALL_JOB_GPUS),
        findings,
    );
    compare(
        &place("large "),
        figures.large,
        of(&|job| job.gpus > SMALL_JOB_GPUS),
        findings,
    );
    for (vc, delays) in &figures.vcs.0 {
        compare(
            &place(&format!("vc {vc:?} ")),
            *delays,
            of(&|job| *job.vc == **vc),
            findings,
        );
    }
    let first = jobs.iter().map(|job| job.submit).min();
    let last = jobs.iter().map(|job| job.end).max();
    let makespan = first.zip(last).map_or(0, |(first, last)| last - first);
    findings.equal(place("makespan_s"), figures.makespan_s, makespan);
    let checkpoints = jobs.iter().map(|job| u64::from(job.checkpoints)).sum();
    findings.equal(place("checkpoints"), figures.checkpoints, checkpoints);
    findings.holds(
        (0.0..=1.0 + 1e-9).contains(&figures.gpu_utilisation),
        || {
            format!(
                "{} is {}, expected a share",
                place("gpu_utilisation"),
                figures.gpu_utilisation
            )
        },
    );
}

/// A figure of delays.
type Figure = fn(Delays) -> f64;

fn compare(
    place: &str,
    written: Option<Delays>,
    expected: Option<Delays>,
    findings: &mut Findings,
) {
    let fields: [(&str, Figure); 4] = [
        ("avg_jct_s", |delays| delays.avg_jct_s),
        ("avg_queue_s", |delays| delays.avg_queue_s),
        ("p999_queue_s", |delays| delays.p999_queue_s),
        ("jobs", |delays| delays.jobs as f64),
    ];
    for (field, of) in fields {
        findings.option(
            format_args!("{place}{field}"),
            written.map(of),
            expected.map(of),
        );
    }
}

/// Averages, and the 99.9th percentile of waiting, linear between ranks.
fn delays<'a>(jobs: impl Iterator<Item = &'a JobRow>) -> Option<Delays> {
    let (mut jct, mut queues) = (0, Vec::new());
    for job in jobs {
        jct += i128::from(job.jct);
        queues.push(job.queue);
    }
    queues.sort_unstable();
    let last = queues.len().checked_sub(1)?;
    let rank = last as f64 * 0.999;
    let (below, above) = (queues[rank as usize], queues[(rank as usize + 1).min(last)]);
    let count = queues.len() as f64;
    let queue: i128 = queues.iter().map(|&seconds| i128::from(seconds)).sum();
    Some(Delays {
        avg_jct_s: jct as f64 / count,
        avg_queue_s: queue as f64 / count,
        p999_queue_s: below as f64 + (above - below) as f64 * rank.fract(),
        jobs: queues.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples.
    #[test]
    fn nodes_are_parsed() {
        assert_eq!(parse("[]"), Some(vec![]));
        assert_eq!(
            parse("[{0: [0, 1]}, {3: [2]}]"),
            Some(vec![(0, vec![0, 1]), (3, vec![2])])
        );
        for text in ["", "[{]", "[{0: []}]", "[{x: [1]}]", "[{0: [1}]"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
