//! Draws curves in a picture.

use plotters::prelude::*;

use super::canvas::{Axes, Canvas, Drawn};
use super::frame::Frame;
use super::palette::shade;
use crate::figure::{Curve, Shape};
use crate::thin;

/// Number of parts into which thinning divides a curve: about the width of a picture in pixels.
const BUCKETS: usize = 1_200;
/// Number of intervals to which a curve of means is reduced if it has more points.
const MEANS: usize = 300;

pub(super) fn draw<B: DrawingBackend>(
    canvas: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    curves: &[Curve],
    frame: &Frame,
) -> Drawn<B> {
    for curve in curves {
        let colour = shade(curve.colour);
        let points = drawn(curve);
        match curve.shape {
            Shape::Whiskers => whiskers(canvas, axes, &points, colour)?,
            Shape::Points => dots(canvas, axes, &points, colour)?,
            Shape::Dotted => {
                dots(canvas, axes, &points, colour)?;
                stroke(canvas, axes, points, colour)?;
            }
            Shape::Line => stroke(canvas, axes, points, colour)?,
            Shape::Step | Shape::Mean => stroke(canvas, axes, stairs(&points), colour)?,
            Shape::Stairs => {
                dots(canvas, axes, &changes(&points), colour)?;
                stroke(canvas, axes, stairs(&points), colour)?;
            }
            Shape::Area | Shape::MeanArea => {
                let mut outline = stairs(&points);
                if let (Some(first), Some(last)) = (points.first(), points.last()) {
                    outline.extend([(last.0, frame.y.low), (first.0, frame.y.low)]);
                }
                axes.draw_series([Polygon::new(outline, colour.mix(0.75).filled())])?;
            }
        }
    }
    Ok(())
}

/// Returns the points of a curve that are drawn.
pub(super) fn drawn(curve: &Curve) -> Vec<(f64, f64)> {
    match curve.shape {
        Shape::Whiskers => curve.points.clone(),
        Shape::Mean | Shape::MeanArea => {
            let means = thin::means(&curve.points, MEANS, MEANS);
            means
                .iter()
                .map(|stretch| (stretch.from, stretch.mean))
                .collect()
        }
        _ => thin::points(&curve.points, BUCKETS),
    }
}

fn dots<B: DrawingBackend>(
    canvas: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    points: &[(f64, f64)],
    colour: RGBColor,
) -> Drawn<B> {
    let dot = |at: &(f64, f64)| Circle::new(*at, canvas.px(4), colour.filled());
    axes.draw_series(points.iter().map(dot)).map(|_| ())
}

fn stroke<B: DrawingBackend>(
    canvas: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    points: Vec<(f64, f64)>,
    colour: RGBColor,
) -> Drawn<B> {
    let path = PathElement::new(points, colour.stroke_width(canvas.px(3).unsigned_abs() / 2));
    axes.draw_series([path]).map(|_| ())
}

/// Draws a line between the two points of each pair, with a bar across each end.
fn whiskers<B: DrawingBackend>(
    canvas: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    points: &[(f64, f64)],
    colour: RGBColor,
) -> Drawn<B> {
    let style = canvas.line(colour, 1);
    let half = canvas.px(4);
    for pair in points.chunks_exact(2) {
        axes.draw_series([PathElement::new(pair.to_vec(), style)])?;
        let across = if pair[0].0 == pair[1].0 {
            [(-half, 0), (half, 0)]
        } else {
            [(0, -half), (0, half)]
        };
        let bar =
            |at: &(f64, f64)| EmptyElement::at(*at) + PathElement::new(across.to_vec(), style);
        axes.draw_series(pair.iter().map(bar))?;
    }
    Ok(())
}

/// The points whose value differs from that of the previous point.
fn changes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let same = points.chunk_by(|a, b| a.1 == b.1);
    same.map(|same| same[0]).collect()
}

/// The corners of a step curve. Each value of the curve holds until the next point. Points between corners are left
/// out, because the drawing library would draw many short segments as a slanted line.
fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut ends = changes(points);
    ends.extend(points.last());
    let corners = ends
        .windows(2)
        .flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    let mut corners: Vec<(f64, f64)> = corners.chain(points.last().copied()).collect();
    corners.dedup();
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example: a step curve of four points.
    #[test]
    fn stairs_have_corners_only() {
        let points = [(0.0, 1.0), (1.0, 1.0), (2.0, 3.0), (4.0, 3.0)];
        let corners = [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0), (4.0, 3.0)];
        assert_eq!(stairs(&points), corners);
        assert_eq!(changes(&points), [(0.0, 1.0), (2.0, 3.0)]);
        assert_eq!(stairs(&points[..1]), points[..1]);
    }
}
