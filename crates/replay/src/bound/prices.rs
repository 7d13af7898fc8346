//! The initial prices: the marginal value of one more node if rescaling were free.

use std::collections::BTreeMap;

use super::{Course, Kind};

/// The slopes of the least concave majorant of the rates on at most `most` nodes. The slopes are ordered by number of
/// nodes, and are therefore in descending order.
pub(super) fn slopes(kind: &Kind, most: usize) -> Vec<f64> {
    let rates = &kind.rates[..kind.rates.len().min(most + 1)];
    let mut corners: Vec<usize> = vec![0];
    for n in 1..rates.len() {
        let slope = |from: usize, to: usize| (rates[to] - rates[from]) / (to - from) as f64;
        while let [.., a, b] = corners[..]
            && slope(a, b) <= slope(b, n)
        {
            corners.pop();
        }
        corners.push(n);
    }
    let steps = corners.windows(2).flat_map(|pair| {
        let slope = (rates[pair[1]] - rates[pair[0]]) / (pair[1] - pair[0]) as f64;
        std::iter::repeat_n(slope, pair[1] - pair[0])
    });
    steps.take_while(|&slope| slope > 0.0).collect()
}

/// The slopes of all kinds on at most `most` nodes, each with the index of its kind, in descending
/// order.
fn steps(course: &Course, most: usize) -> Vec<(f64, u32)> {
    let mut steps: Vec<(f64, u32)> = Vec::new();
    for (number, kind) in (0..).zip(&course.kinds) {
        steps.extend(slopes(kind, most).into_iter().map(|slope| (slope, number)));
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    steps
}

/// For each interval, the marginal value of one more node when every idle node is placed where it earns most.
///
/// Example: each of two tasks of the same kind has the slopes 4 and then 2, and 3 nodes are idle. The nodes earn 4, 4
/// and 2, and one more node would earn 2.
pub(super) fn first(course: &Course) -> Vec<f64> {
    // No task can use `widest` nodes or more, so a higher limit does not change the slopes.
    let widest = course.kinds.iter().map(|kind| kind.rates.len()).max();
    let widest = widest.unwrap_or(0);
    let mut by_most: BTreeMap<usize, Vec<(f64, u32)>> = BTreeMap::new();
    // Number of active tasks of each kind.
    let mut active = vec![0i64; course.kinds.len()];
    let mut changes = changes(course).into_iter().peekable();
    let mut prices = Vec::with_capacity(course.intervals.len());
    for (number, interval) in (0..).zip(&course.intervals) {
        while let Some((_, kind, by)) = changes.next_if(|change| change.0 <= number) {
            active[kind as usize] += by;
        }
        let most = widest.min(interval.idle as usize);
        let steps = by_most.entry(most).or_insert_with(|| steps(course, most));
        let mut left = i64::from(interval.idle);
        let next = steps.iter().find(|step| {
            left -= active[step.1 as usize];
            left < 0
        });
        prices.push(next.map_or(0.0, |step| step.0));
    }
    prices
}

/// The changes in the number of active tasks, in chronological order. Each change consists of the interval, the kind of
/// the task, and 1 if the task begins or −1 if it ends.
fn changes(course: &Course) -> Vec<(u32, u32, i64)> {
    let lasting = course.stays.iter().filter(|stay| stay.from < stay.to);
    let mut changes: Vec<_> = lasting
        .flat_map(|stay| [(stay.from, stay.kind, 1), (stay.to, stay.kind, -1)])
        .collect();
    changes.sort_unstable();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example: the third point of the curve is below the line from the second point to the fourth.
    #[test]
    fn slopes_are_of_the_concave_curve_above() {
        let kind = Kind {
            rates: vec![0.0, 4.0, 5.0, 8.0, 8.0, 7.0],
            rescale_up: 0.0,
            rescale_down: 0.0,
        };
        assert_eq!(slopes(&kind, 5), [4.0, 2.0, 2.0]);
        assert_eq!(slopes(&kind, 2), [4.0, 1.0]);
        assert!(slopes(&kind, 0).is_empty());
    }
}
