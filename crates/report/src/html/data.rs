//! The figures as JSON for the page's script.

use serde::Serialize;
use serde_json::{Value, json};

use crate::figure::{Axis, Colour, Curve, Figure, Marks, Part, Scale, Shape, Spans};
use crate::{Report, thin};
use gleaner_core::error::{Error, Result};

/// Number of parts into which thinning divides a curve; each part keeps points of its own. The
/// script thins further, for the part in view.
const BUCKETS: usize = 8_000;

/// All figures as JSON.
///
/// # Errors
/// Never in practice. A failure of the serialiser is passed on.
pub(super) fn json(report: &Report) -> Result<String> {
    let figures: Vec<Value> = report.figures().map(figure).collect();
    serde_json::to_string(&figures).map_err(|e| Error::Run(e.to_string()))
}

fn figure(figure: &Figure) -> Value {
    let (kind, marks) = marks(&figure.marks);
    json!({
        "id": figure.id,
        "kind": kind,
        "x": axis(&figure.x),
        "y": axis(&figure.y),
        "marks": marks,
    })
}

fn axis(axis: &Axis) -> Value {
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Spread => "spread",
        Scale::Log => "log",
        Scale::Duration => "duration",
        Scale::Time => "time",
        Scale::Names(_) => "names",
    };
    match &axis.scale {
        Scale::Names(names) => json!({"title": axis.title, "scale": scale, "names": names}),
        _ => json!({"title": axis.title, "scale": scale}),
    }
}

fn marks(marks: &Marks) -> (&'static str, Value) {
    match marks {
        Marks::Curves(curves) => ("curves", curves_json(curves)),
        Marks::Bars(parts) => ("bars", parts.iter().map(part).collect()),
        Marks::Groups(parts) => ("groups", parts.iter().map(part).collect()),
        Marks::Heat(heat) => (
            "heat",
            json!({
                "title": heat.title,
                "values": heat.values,
                "labels": heat.labels,
                "notes": heat.notes,
                "log": heat.log,
            }),
        ),
        Marks::Spans(spans) => ("spans", spans_json(spans)),
    }
}

/// A curve. `x` is `None` if it is the same as that of the curve before. The script then thins both
/// curves alike and shows their values together.
#[derive(Serialize)]
struct CurveData<'a> {
    name: &'a str,
    colour: Option<usize>,
    shape: &'static str,
    x: Option<Steps>,
    y: Vec<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    labels: &'a [String],
}

/// Numbers as the first one and the differences between neighbours, which compress well.
#[derive(Serialize)]
struct Steps {
    first: f64,
    steps: Vec<f64>,
}

fn curves_json(curves: &[Curve]) -> Value {
    let all: Vec<CurveData<'_>> = curves
        .iter()
        .enumerate()
        .map(|(place, curve)| {
            let before = place.checked_sub(1).map(|before| &curves[before]);
            let shared = before.is_some_and(|before| same_x(before, curve));
            // Curves that share x must keep sharing it, and whiskers are pairs, so only other curves are
            // thinned.
            let alone = !shared
                && !curves
                    .get(place + 1)
                    .is_some_and(|next| same_x(curve, next));
            let points = match alone && curve.shape != Shape::Whiskers {
                true => thin::points(&curve.points, BUCKETS),
                false => curve.points.clone(),
            };
            CurveData {
                name: &curve.name,
                colour: colour(curve.colour),
                shape: shape(curve.shape),
                x: (!shared).then(|| Steps::of(points.iter().map(|point| point.0))),
                y: points.iter().map(|point| rounded(point.1)).collect(),
                labels: match points.len() == curve.labels.len() {
                    true => &curve.labels,
                    false => &[],
                },
            }
        })
        .collect();
    json!(all)
}

fn same_x(a: &Curve, b: &Curve) -> bool {
    let x = |curve: &Curve| {
        curve
            .points
            .iter()
            .map(|point| point.0.to_bits())
            .collect::<Vec<_>>()
    };
    a.points.len() == b.points.len() && a.points.len() <= 4 * BUCKETS && x(a) == x(b)
}

impl Steps {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut before = None;
        let mut steps = Vec::new();
        let mut first = 0.0;
        for number in numbers {
            match before {
                None => first = number,
                Some(before) => steps.push(rounded(number - before)),
            }
            before = Some(number);
        }
        Steps { first, steps }
    }
}

fn part(part: &Part) -> Value {
    let values: Vec<f64> = part.values.iter().map(|value| rounded(*value)).collect();
    json!({
        "name": part.name,
        "colour": colour(part.colour),
        "values": values,
        "labels": part.labels,
    })
}

/// Spans by column: columns compress better than rows.
fn spans_json(spans: &Spans) -> Value {
    let all = &spans.spans;
    let values: Vec<f64> = all.iter().map(|span| span.value).collect();
    json!({
        "title": spans.title,
        "row": all.iter().map(|span| span.row).collect::<Vec<_>>(),
        "from": Steps::of(all.iter().map(|span| span.from)),
        "length": all.iter().map(|span| rounded(span.to - span.from)).collect::<Vec<_>>(),
        "value": values,
    })
}

/// The number of a series; `None` for the muted colour.
fn colour(colour: Colour) -> Option<usize> {
    match colour {
        Colour::Series(number) => Some(number),
        Colour::Muted => None,
    }
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Step => "step",
        Shape::Stairs => "stairs",
        Shape::Area => "area",
        Shape::Line => "line",
        Shape::Dotted => "dotted",
        Shape::Points => "points",
        Shape::Whiskers => "whiskers",
    }
}

/// A number rounded to eight significant digits: more than any screen shows.
fn rounded(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() || number.fract() == 0.0 {
        return number;
    }
    let digits = 7 - number.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits.clamp(-300, 300));
    (number * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples.
    #[test]
    fn numbers_keep_eight_digits() {
        assert_eq!(rounded(1.0 / 3.0), 0.333_333_33);
        assert_eq!(rounded(123_456_789_012.0), 123_456_789_012.0);
        assert_eq!(rounded(-1_234.567_891_2), -1_234.567_9);
        assert_eq!(rounded(0.0), 0.0);
    }

    #[test]
    fn numbers_are_stored_as_steps() {
        let steps = Steps::of([5.0, 7.0, 6.5].into_iter());
        assert_eq!((steps.first, steps.steps), (5.0, vec![2.0, -0.5]));
    }
}
