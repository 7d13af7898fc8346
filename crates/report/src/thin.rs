//! Reduces the number of points or spans without a visible change, by keeping extremes or means.

use std::collections::BTreeSet;

use super::figure::Span;

/// Reduces points, which are ordered by x, to at most about `4 * buckets` points.
///
/// The range of x is divided into `buckets` equal parts. The first, lowest, highest and last point of each part are
/// kept.
pub(super) fn points(points: &[(f64, f64)], buckets: usize) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    let width = (last.0 - first.0) / buckets as f64;
    if points.len() <= 4 * buckets || width.is_nan() || width <= 0.0 {
        return points.to_vec();
    }
    let bucket = |x: f64| ((x - first.0) / width) as usize;
    let stretches = points.chunk_by(|a, b| bucket(a.0) == bucket(b.0));
    stretches.flat_map(outline).collect()
}

/// The first, lowest, highest and last points of a list, in their original order and without duplicates.
fn outline(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_y = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let lowest = (0..points.len()).min_by(by_y).unwrap_or(0);
    let highest = (0..points.len()).max_by(by_y).unwrap_or(0);
    let mut kept = [0, lowest, highest, points.len() - 1];
    kept.sort_unstable();
    let mut kept = kept.to_vec();
    kept.dedup();
    kept.into_iter().map(|place| points[place]).collect()
}

/// Summary of a step curve over an interval of its axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// Start of the interval.
    pub from: f64,
    /// Mean over the part of the interval that the curve covers. Each value is weighted by how long it holds.
    pub mean: f64,
    /// Lowest value.
    pub low: f64,
    /// Highest value.
    pub high: f64,
}

/// Summarises a step curve in `count` intervals of equal width, the first of which begins at `from`. The entry of an
/// interval outside the curve is `None`. The last interval also covers everything beyond it.
pub(super) fn stretches(
    points: &[(f64, f64)],
    from: f64,
    width: f64,
    count: usize,
) -> Vec<Option<Stretch>> {
    let mut lengths = vec![0.0; count];
    let mut found: Vec<Option<Stretch>> = vec![None; count];
    for pair in points.windows(2) {
        let (mut x, end, value) = (pair[0].0, pair[1].0, pair[0].1);
        let mut place = (((x - from) / width) as usize).min(count - 1);
        while x < end {
            let edge = if place + 1 < count {
                from + width * (place + 1) as f64
            } else {
                end
            };
            let next = edge.min(end).max(x);
            if next > x {
                let stretch = found[place].get_or_insert(Stretch {
                    from: from + width * place as f64,
                    mean: 0.0,
                    low: value,
                    high: value,
                });
                // `mean` holds the area until it is divided by the length below.
                stretch.mean += value * (next - x);
                stretch.low = stretch.low.min(value);
                stretch.high = stretch.high.max(value);
                lengths[place] += next - x;
            }
            (x, place) = (next, (place + 1).min(count - 1));
        }
    }
    for (stretch, length) in found
        .iter_mut()
        .flatten()
        .zip(lengths.iter().filter(|l| **l > 0.0))
    {
        stretch.mean /= length;
    }
    found
}

/// Reduces a step curve of more than `most` points to the means of `count` intervals and the curve's last point.
/// Curves with fewer points are unchanged.
pub(super) fn means(points: &[(f64, f64)], most: usize, count: usize) -> Vec<Stretch> {
    let still = |&(from, value): &(f64, f64)| Stretch {
        from,
        mean: value,
        low: value,
        high: value,
    };
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    let width = (last.0 - first.0) / count as f64;
    if points.len() <= most || width.is_nan() || width <= 0.0 {
        return points.iter().map(still).collect();
    }
    let inside = stretches(points, first.0, width, count)
        .into_iter()
        .flatten();
    inside.chain([still(last)]).collect()
}

/// Selects at most `most` points of a scatter plot, and returns their indices in ascending order.
///
/// The area of the points is divided into cells. There are four times as many columns as rows, because charts are wide.
/// The first point of each cell is kept. The smallest cells that leave at most `most` points are used: 4096 by 1024
/// cells are tried first, then 2048 by 512, and so on.
pub(super) fn cloud(points: &[(f64, f64)], most: usize) -> Vec<usize> {
    let all: Vec<usize> = (0..points.len()).collect();
    if points.len() <= most {
        return all;
    }
    let along = [
        shares(points, |point| point.0),
        shares(points, |point| point.1),
    ];
    for halvings in 0..=10 {
        let rows = 1024 >> halvings;
        let kept = firsts(&along, [4 * rows, rows]);
        if kept.len() <= most {
            return kept;
        }
    }
    firsts(&along, [1, 1])
}

/// The positions of values on a scale from 0, the lowest value, to 1, the highest. The positions are NaN if all
/// values are the same.
fn shares(points: &[(f64, f64)], of: fn(&(f64, f64)) -> f64) -> Vec<f64> {
    let low = points.iter().map(of).fold(f64::MAX, f64::min);
    let high = points.iter().map(of).fold(f64::MIN, f64::max);
    let share = |point| (of(point) - low) / (high - low);
    points.iter().map(share).collect()
}

/// Returns the index of the first point in each cell. `counts` is the number of cells along each axis.
fn firsts(along: &[Vec<f64>; 2], counts: [u32; 2]) -> Vec<usize> {
    // The conversion to `u32` turns NaN into 0.
    let cell = |axis: usize, place: usize| {
        let cell = along[axis][place] * f64::from(counts[axis]);
        (cell as u32).min(counts[axis] - 1)
    };
    let mut taken = BTreeSet::new();
    let is_first = |&place: &usize| taken.insert((cell(0, place), cell(1, place)));
    (0..along[0].len()).filter(is_first).collect()
}

/// Reduces spans, which are ordered by row, then time, to about `most` spans.
///
/// Time is divided into equal steps. Spans of a row that begin in the same step are joined into one span, which has
/// the largest of their values. Of the steps that are tried, the shortest step that leaves at most `most` spans is
/// used. The step is returned with the spans, and is 0 if no spans were joined.
pub(super) fn spans(spans: &[Span], most: usize) -> (Vec<Span>, f64) {
    if spans.len() <= most {
        return (spans.to_vec(), 0.0);
    }
    let from = spans.iter().map(|span| span.from).fold(f64::MAX, f64::min);
    let to = spans.iter().map(|span| span.to).fold(f64::MIN, f64::max);
    // The first step is 1/2^14 of the whole time, and each step is twice the previous one. The last step is the whole
    // time, which leaves a single span for each row.
    let steps = (0..=14).map(|halvings| (to - from) / f64::from(1 << (14 - halvings)));
    for step in steps {
        let merged = merge(spans, from, step);
        if merged.len() <= most {
            return (merged, step);
        }
    }
    (merge(spans, from, to - from), to - from)
}

fn merge(spans: &[Span], origin: f64, step: f64) -> Vec<Span> {
    let cell = |time: f64| ((time - origin) / step).floor();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.row == span.row && cell(last.from) == cell(span.from) => {
                last.to = span.to;
                last.value = last.value.max(span.value);
            }
            _ => merged.push(*span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    // Thinning 100,002 points keeps the first, the last, the lowest and the highest of them.
    #[test]
    fn extremes_are_kept() {
        let many: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (f64::from(i), f64::from((i * 7919) % 1009)))
            .chain([(100_000.0, 5_000.0), (100_001.0, -5_000.0)])
            .collect();
        let few = points(&many, 500);
        assert!(few.len() <= 4 * 501);
        assert!(few.contains(&(100_000.0, 5_000.0)) && few.contains(&(100_001.0, -5_000.0)));
        assert_eq!(few.first(), many.first());
        assert_eq!(few.last(), many.last());
        assert!(few.is_sorted_by(|a, b| a.0 < b.0));
    }

    // Derived by formula: the curve rises from 0 to 6 in the middle of the third interval, so the mean there is 3.
    // Thinning does not change the area below a curve.
    #[test]
    fn means_are_weighted_by_length() {
        let found = stretches(&[(0.0, 0.0), (2.5, 6.0), (24.0, 1.0)], 0.0, 1.0, 25);
        let each: Vec<Option<f64>> = found.iter().map(|s| s.map(|s| s.mean)).collect();
        assert_eq!(each[..4], [Some(0.0), Some(0.0), Some(3.0), Some(6.0)]);
        assert_eq!((each[23], each[24]), (Some(6.0), None));
        let third = found[2].unwrap();
        assert_eq!((third.from, third.low, third.high), (2.0, 0.0, 6.0));

        let many: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (f64::from(i), f64::from((i * 7919) % 1009)))
            .collect();
        let area: f64 = many[..many.len() - 1].iter().map(|point| point.1).sum();
        let few = means(&many, 1_000, 500);
        assert_eq!(few.len(), 501);
        let width = (100_000.0 - 1.0) / 500.0;
        let kept: f64 = few[..500].iter().map(|stretch| width * stretch.mean).sum();
        assert!((kept - area).abs() < 1e-9 * area, "{kept} of {area}");
        assert!(few.iter().all(|s| s.low <= s.mean && s.mean <= s.high));
        assert_eq!(means(&many, 100_000, 500).len(), 100_000);
    }

    #[test]
    fn few_points_are_left_alone() {
        let same = [(1.0, 2.0); 9];
        assert_eq!(points(&same, 2), same);
        assert_eq!(points(&[], 2), []);
    }

    // 100 by 100 points fill a square, and each of them is near a point that is kept.
    #[test]
    fn clouds_keep_a_point_near_every_point() {
        let grid = (0..10_000).map(|i| (f64::from(i % 100), f64::from(i / 100)));
        let points: Vec<(f64, f64)> = grid.collect();
        let kept = cloud(&points, 3_000);
        assert!(kept.len() <= 3_000 && kept.len() > 1_000, "{}", kept.len());
        assert!(kept.is_sorted());
        let is_near = |point: &(f64, f64)| {
            let mut kept = kept.iter().map(|&place| points[place]);
            kept.any(|other| (point.0 - other.0).abs() <= 4.0 && (point.1 - other.1).abs() <= 8.0)
        };
        assert!(points.iter().all(is_near));
        assert_eq!(cloud(&points, 10_000), (0..10_000).collect::<Vec<_>>());
    }

    #[test]
    fn clouds_of_one_place_keep_one_point() {
        assert_eq!(cloud(&[(1.0, 2.0); 9], 2), [0]);
        let line: Vec<(f64, f64)> = (0..9).map(|i| (3.0, f64::from(i))).collect();
        assert!(cloud(&line, 4).len() <= 4);
    }

    // Five rows of 1,000 spans keep their largest values, and the joined spans do not overlap.
    #[test]
    fn spans_are_merged_and_keep_their_maximum() {
        let span = |i: u32| Span {
            row: (i / 1000) as usize,
            from: f64::from(i % 1000),
            to: f64::from(i % 1000 + 1),
            value: f64::from(i * 31 % 97),
        };
        let many: Vec<Span> = (0..5000).map(span).collect();
        let (few, step) = spans(&many, 300);
        assert!(few.len() <= 300 && step > 0.0);
        for row in 0..5 {
            let top = |spans: &[Span]| {
                let of_row = spans.iter().filter(|span| span.row == row);
                of_row.map(|span| span.value).fold(0.0, f64::max)
            };
            assert_eq!(top(&few), top(&many));
        }
        assert!(
            few.windows(2)
                .all(|w| w[0].row < w[1].row || w[0].to <= w[1].from)
        );
    }
}
