//! Distributions of completion times and queuing times.

use super::{Named, coloured, id_of};
use crate::figure::{Axis, Curve, Marks, Shape};
use crate::numbers::{HOUR, hours};
use crate::{Figure, Grid, Head, thin};
use gleaner_runs::read::JobEnd;

/// Number of parts into which thinning divides the ranks. Each part keeps its first, lowest, highest and last point.
const BUCKETS: usize = 400;
/// Shares of jobs in the tables, in percent.
const SHARES: [f64; 7] = [10.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9];

/// The distribution of job completion times.
pub(crate) fn completion(run: &Named<'_>) -> Figure {
    let text = "Share of jobs that ended within a given time after submission. Curves further to the left are better.";
    figure(
        run,
        "jct",
        "Job completion times",
        text,
        "job completion time",
        |job| job.jct,
    )
}

/// The distribution of queuing times.
pub(crate) fn queuing(run: &Named<'_>) -> Figure {
    let text = "Share of jobs that waited for at most a given time. The left edge shows the jobs that \
                waited for at most a second.";
    figure(run, "queuing", "Queuing", text, "time in queues", |job| {
        job.queue
    })
}

fn figure(
    run: &Named<'_>,
    id: &str,
    title: &str,
    text: &str,
    axis: &str,
    of: fn(&JobEnd) -> i64,
) -> Figure {
    let heads = SHARES.map(|share| Head::number(format!("{share} % of jobs")));
    let heads = std::iter::once(Head::text("policy")).chain(heads);
    let mut numbers = Grid::new(format!("{title}: hours, by share of jobs"), heads);
    let mut curves = Vec::new();
    for (policy, colour) in coloured(run) {
        let mut sorted: Vec<i64> = policy.jobs.iter().map(of).collect();
        sorted.sort_unstable();
        let cells = SHARES.map(|share| at(&sorted, share).map_or("–".to_owned(), hours));
        numbers.row(std::iter::once(policy.name.clone()).chain(cells));
        curves.push(Curve {
            name: policy.name.clone(),
            colour,
            shape: Shape::Step,
            points: distribution(&sorted),
            labels: Vec::new(),
        });
    }
    Figure {
        id: id_of(id, run),
        title: title.to_owned(),
        text: text.to_owned(),
        x: Axis::hours(format!("{axis} (hours)")),
        y: Axis::linear("% of jobs"),
        marks: Marks::Curves(curves),
        numbers,
    }
}

/// Points that pair a time in hours with the percentage of jobs whose own time is at most that long. Times
/// under a second count as one second.
fn distribution(sorted: &[i64]) -> Vec<(f64, f64)> {
    let mut ranks: Vec<(f64, f64)> = Vec::new();
    for same in sorted.chunk_by(|a, b| (*a).max(1) == (*b).max(1)) {
        let before = ranks.last().map_or(0.0, |last| last.0);
        ranks.push((before + same.len() as f64, same[0].max(1) as f64));
    }
    let percent = 100.0 / sorted.len() as f64;
    // The jobs are evenly spread over the ranks, so the curve is thinned along the ranks.
    let kept = thin::points(&ranks, BUCKETS);
    kept.into_iter()
        .map(|(rank, seconds)| (seconds / HOUR, percent * rank))
        .collect()
}

/// The percentile `percent` of the `sorted` times, in seconds, without interpolation; `None` if there are no jobs.
fn at(sorted: &[i64], percent: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    sorted.get(rank.max(1) - 1).map(|&seconds| seconds as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples of distributions and percentiles.
    #[test]
    fn shares_of_jobs() {
        let expected = [(1.0, 50.0), (7.0, 75.0), (9.0, 100.0)];
        let expected = expected.map(|(seconds, share)| (seconds / HOUR, share));
        assert_eq!(distribution(&[0, 1, 7, 9]), expected);
        assert_eq!(distribution(&[]), []);
        assert_eq!(at(&[1, 2, 3, 4], 50.0), Some(2.0));
        assert_eq!(at(&[1, 2, 3, 4], 99.9), Some(4.0));
        assert_eq!(at(&[], 50.0), None);
    }
}
