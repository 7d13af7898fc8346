//! The figure of each solver's mean gap over time.

use super::Named;
use super::gap_over_time::{GapOverTime, gaps_over_time};
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::names::{short, slug};
use crate::numbers::number;
use crate::{Figure, Grid, Head, thin};
use gleaner_runs::compare::time;

/// Number of parts into which thinning divides a curve, along the logarithm of time.
const BUCKETS: usize = 400;

/// Shortest time on the logarithmic axis, in seconds. Shorter times are drawn at this value.
const SHORTEST: f64 = 1e-7;

/// End of the axis as a multiple of the last plan's time. The factor is above 1, so that the final gaps are
/// visible too.
const BEYOND: f64 = 1.5;

/// Maximum number of powers of ten in the table.
const MOST_TIMES: i32 = 12;

/// The mean gap of every solver over time; `None` if no solver found a plan.
pub(super) fn figure(run: &Named<'_>) -> Option<Figure> {
    let gaps = gaps_over_time(run.result);
    let times = || {
        gaps.iter()
            .flat_map(|gap| &gap.falls)
            .map(|fall| fall.0.max(SHORTEST))
    };
    let (first, last) = (times().reduce(f64::min)?, times().reduce(f64::max)?);
    let (from, to) = (decade_below(first), BEYOND * last);
    let curves = gaps.iter().enumerate();
    let curves = curves.map(|(place, gap)| curve(gap, Colour::Series(place), (from, to)));
    Some(Figure {
        id: format!("gap-{}", slug(run.name)),
        title: "Gap over time".to_owned(),
        text:
            "The gap of the best plan so far, averaged over the problems. Until a solver has found a plan, its gap \
             is 1. Curves further down and to the left are better. Times are those of the first solve of each \
             problem. If a solver reports no plans during a solve, its plan counts from the end of the solve."
                .to_owned(),
        x: Axis::duration("time since the start of a solve"),
        y: Axis::linear("mean gap"),
        marks: Marks::Curves(curves.collect()),
        numbers: numbers(&gaps, (from, last)),
    })
}

/// The largest power of ten below a positive number.
fn decade_below(value: f64) -> f64 {
    10f64.powi(value.log10().ceil() as i32 - 1)
}

fn curve(gap: &GapOverTime, colour: Colour, (from, to): (f64, f64)) -> Curve {
    let falls = gap.falls.iter().map(|(at, gap)| (at.max(SHORTEST), *gap));
    let ends = [(from, 1.0)].into_iter().chain(falls);
    let points = ends.chain([(to, gap.gap_at(to))]);
    // The axis is logarithmic, so the curve is thinned along the logarithm of time.
    let points: Vec<(f64, f64)> = points.map(|(at, gap)| (at.ln(), gap)).collect();
    let points = thin::points(&points, BUCKETS).into_iter();
    Curve {
        name: short(&gap.solver),
        colour,
        shape: Shape::Step,
        points: points.map(|(at, gap)| (at.exp(), gap)).collect(),
        labels: Vec::new(),
    }
}

/// A table of the mean gaps: at times that are powers of ten in seconds, and at the end of the axis.
fn numbers(gaps: &[GapOverTime], (from, to): (f64, f64)) -> Grid {
    let powers = (1..=MOST_TIMES).map(|power| from * 10f64.powi(power));
    let mut times: Vec<f64> = powers.take_while(|at| *at < to).collect();
    times.push(to);
    let after = |seconds: &f64| Head::number(format!("after {}", time(1e6 * seconds)));
    let heads = [Head::text("solver"), Head::number("problems")].into_iter();
    let heads = heads.chain(times.iter().map(after));
    let mut grid = Grid::new("Mean gap of the best plan so far", heads);
    for gap in gaps {
        let gaps = times.iter().map(|at| number(gap.gap_at(*at)));
        let first = [short(&gap.solver), gap.problems.to_string()];
        grid.row(first.into_iter().chain(gaps));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::super::gap_over_time::tests::compared;
    use super::*;

    // Small fixed example: the gaps of the test in `gap_over_time`. The axis begins at the power of ten below the first
    // time at which a mean gap falls, and ends at 1.5 times the last such time.
    #[test]
    fn curves_begin_without_a_plan_and_end_together() {
        let run = compared();
        let named = Named {
            name: "compared",
            result: &run,
        };
        let figure = figure(&named).unwrap();
        let Marks::Curves(curves) = &figure.marks else {
            panic!("no curves");
        };
        for curve in curves {
            let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
            assert!((first.0 - 1e-4).abs() < 1e-12 && first.1 == 1.0);
            assert!((last.0 - 7.5).abs() < 1e-9);
        }
        assert_eq!(curves[0].points.len(), 5);
        let expected = [
            "after 1.00 ms",
            "after 10.0 ms",
            "after 100 ms",
            "after 1.00 s",
        ];
        let heads: Vec<&str> = figure
            .numbers
            .heads
            .iter()
            .map(|h| h.name.as_str())
            .collect();
        assert_eq!(heads[2..6], expected);
        assert_eq!(
            figure.numbers.rows[0][..5],
            ["a", "3", "0.833", "0.400", "0.400"]
        );
        assert_eq!(figure.numbers.rows[1][5..], ["1.00", "0.200"]);
        let svg = crate::image::svg(&figure).unwrap();
        assert!(svg.contains("10 ms") && svg.contains("mean gap"));
    }

    #[test]
    fn without_a_plan_there_is_no_figure() {
        let mut run = compared();
        run.incumbents.clear();
        let named = Named {
            name: "compared",
            result: &run,
        };
        assert!(figure(&named).is_none());
    }
}
