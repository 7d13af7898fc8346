//! The first prices: what one more node would earn if nothing cost anything.

use super::{Course, Kind};

/// The slopes of the least concave curve above the rates, by number of nodes: they descend.
pub(super) fn slopes(kind: &Kind) -> Vec<f64> {
    let rates = &kind.rates;
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

/// For each interval, what an idle node more would earn after each is where it earns most.
pub(super) fn first(course: &Course) -> Vec<f64> {
    let mut steps: Vec<(f64, u32)> = Vec::new();
    for (number, kind) in (0..).zip(&course.kinds) {
        steps.extend(slopes(kind).into_iter().map(|slope| (slope, number)));
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Number of active tasks of each kind.
    let mut active = vec![0i64; course.kinds.len()];
    let mut changes = changes(course).into_iter().peekable();
    let mut prices = Vec::with_capacity(course.intervals.len());
    for (number, interval) in (0..).zip(&course.intervals) {
        while let Some((_, kind, by)) = changes.next_if(|change| change.0 <= number) {
            active[kind as usize] += by;
        }
        let mut left = i64::from(interval.idle);
        let next = steps.iter().find(|step| {
            left -= active[step.1 as usize];
            left < 0
        });
        prices.push(next.map_or(0.0, |step| step.0));
    }
    prices
}

/// When tasks of which kind begin (1) and end (−1), in the order of the intervals.
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

    // Small fixed example: the third point is below the line from the second to the fourth.
    #[test]
    fn slopes_are_of_the_concave_curve_above() {
        let kind = Kind {
            rates: vec![0.0, 4.0, 5.0, 8.0, 8.0, 7.0],
            rescale_up: 0.0,
            rescale_down: 0.0,
        };
        assert_eq!(slopes(&kind), [4.0, 2.0, 2.0]);
    }
}
