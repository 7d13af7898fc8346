//! The figures as JSON for the page's script.

use serde::Serialize;
use serde_json::{Value, json};

use crate::figure::{Axis, Colour, Curve, Figure, Marks, Panel, Part, Scale, Shade, Shape, Spans};
use crate::{Document, thin};
use gleaner_domain::error::{Error, Result};

/// Number of parts into which thinning divides a curve. Each part keeps its first, lowest, highest and last point. The
/// script thins lines further: their visible part, or the whole line on a logarithmic axis.
const BUCKETS: usize = 8_000;

/// All figures as JSON.
///
/// # Errors
/// Returns the serialiser's error, which does not occur in practice.
pub(super) fn json(document: &Document) -> Result<String> {
    let figures: Vec<Value> = document.figures().map(figure).collect();
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
        Scale::Hours => "hours",
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
        Marks::Curves(curves) => (
            "curves",
            curves_json(&curves.iter().collect::<Vec<_>>(), &[]),
        ),
        Marks::Panels(panels) => ("panels", panels_json(panels)),
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

/// A curve. `x` is `None` if the curve has the same x values as the previous curve. In this case, the script reduces
/// both curves to the same points. Except on logarithmic axes and in figures with points, it also shows their values
/// together.
#[derive(Serialize)]
struct CurveData<'a> {
    name: &'a str,
    colour: Option<usize>,
    shape: &'static str,
    x: Option<Steps>,
    y: Vec<f64>,
    /// Lowest and highest values in each interval. The means are in `y`.
    #[serde(skip_serializing_if = "Option::is_none")]
    extremes: Option<[Vec<f64>; 2]>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    labels: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shades: Vec<Value>,
}

/// A list of numbers, stored as its first number and the differences between neighbours, which compress well.
#[derive(Serialize)]
struct Steps {
    first: f64,
    steps: Vec<f64>,
}

/// The points of a curve that the page stores. If the points are means over intervals, the page also stores the
/// extremes of each interval.
struct Kept {
    points: Vec<(f64, f64)>,
    extremes: Option<[Vec<f64>; 2]>,
}

fn panels_json(panels: &[Panel]) -> Value {
    let curves: Vec<&Curve> = panels.iter().map(|panel| &panel.curve).collect();
    let shades: Vec<&[Shade]> = panels.iter().map(|panel| panel.shades.as_slice()).collect();
    curves_json(&curves, &shades)
}

/// Converts the curves to JSON. `shades` lists each curve's shaded parts of the axis; it is empty if no part is shaded.
fn curves_json(curves: &[&Curve], shades: &[&[Shade]]) -> Value {
    let kept = kept(curves);
    let shade = |shade: &Shade| json!({"name": shade.name, "from": shade.from, "to": shade.to});
    let all: Vec<CurveData<'_>> = curves
        .iter()
        .zip(&kept)
        .enumerate()
        .map(|(place, (curve, now))| {
            let before = place.checked_sub(1).map(|before| &kept[before]);
            let is_shared = before.is_some_and(|before| same_x(&before.points, &now.points));
            let shades = shades.get(place).copied().unwrap_or_default();
            CurveData {
                name: &curve.name,
                colour: colour(curve.colour),
                shape: shape(curve.shape),
                x: (!is_shared).then(|| Steps::of(now.points.iter().map(|point| point.0))),
                y: now.points.iter().map(|point| rounded(point.1)).collect(),
                extremes: now.extremes.clone(),
                labels: if now.points.len() == curve.labels.len() {
                    &curve.labels
                } else {
                    &[]
                },
                shades: shades.iter().map(shade).collect(),
            }
        })
        .collect();
    json!(all)
}

fn kept(curves: &[&Curve]) -> Vec<Kept> {
    let as_it_is = |curve: &Curve| Kept {
        points: curve.points.clone(),
        extremes: None,
    };
    let each = curves.iter().enumerate().map(|(place, curve)| {
        // Thinning selects points of each curve separately. Short curves that share x values must keep sharing them,
        // and the points of whiskers must stay in pairs, so these curves are not thinned.
        let shares = |other: Option<&&Curve>| {
            other.is_some_and(|other| {
                curve.points.len() <= 4 * BUCKETS && same_x(&other.points, &curve.points)
            })
        };
        match curve.shape {
            Shape::Mean | Shape::MeanArea => means(curve),
            Shape::Whiskers => as_it_is(curve),
            _ if shares(place.checked_sub(1).map(|before| &curves[before])) => as_it_is(curve),
            _ if shares(curves.get(place + 1)) => as_it_is(curve),
            _ => Kept {
                points: thin::points(&curve.points, BUCKETS),
                extremes: None,
            },
        }
    });
    each.collect()
}

/// Reduces a curve of many points to means over intervals, with the extremes of each interval.
fn means(curve: &Curve) -> Kept {
    let stretches = thin::means(&curve.points, 4 * BUCKETS, BUCKETS);
    let is_thinned = stretches.len() < curve.points.len();
    let ends = |of: fn(&thin::Stretch) -> f64| -> Vec<f64> {
        stretches
            .iter()
            .map(|stretch| rounded(of(stretch)))
            .collect()
    };
    Kept {
        extremes: is_thinned.then(|| [ends(|s| s.low), ends(|s| s.high)]),
        points: stretches.iter().map(|s| (s.from, s.mean)).collect(),
    }
}

fn same_x(a: &[(f64, f64)], b: &[(f64, f64)]) -> bool {
    let mut pairs = a.iter().zip(b);
    a.len() == b.len() && pairs.all(|(a, b)| a.0.to_bits() == b.0.to_bits())
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

/// Spans as columns, which compress better than rows.
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
        Shape::Mean => "mean",
        Shape::MeanArea => "mean-area",
        Shape::Line => "line",
        Shape::Dotted => "dotted",
        Shape::Points => "points",
        Shape::Whiskers => "whiskers",
    }
}

/// Rounds a number to eight significant digits, which is finer than any screen can show. Whole numbers are not rounded.
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

    // Small fixed examples of rounded numbers.
    #[test]
    fn numbers_keep_eight_digits() {
        assert_eq!(rounded(1.0 / 3.0), 0.333_333_33);
        assert_eq!(rounded(123_456_789_012.0), 123_456_789_012.0);
        assert_eq!(rounded(-1_234.567_891_2), -1_234.567_9);
        assert_eq!(rounded(0.0), 0.0);
    }

    // The expected values are derived by formula. The first curve has 100,000 points, and the second curve is the
    // first multiplied by 0.91. The thinned curves keep the area and the extremes, and share their intervals.
    #[test]
    fn means_of_many_points_keep_the_area() {
        let curve = |share: f64| Curve {
            name: "nodes".to_owned(),
            colour: Colour::Muted,
            shape: Shape::MeanArea,
            points: (0..=100_000)
                .map(|i| (f64::from(i), share * f64::from(i * 7919 % 1009)))
                .collect(),
            labels: Vec::new(),
        };
        let curves = [curve(1.0), curve(0.91)];
        let told = curves_json(&curves.iter().collect::<Vec<_>>(), &[]);
        assert!(told[1]["x"].is_null());
        let mean = |curve: usize| {
            let means = told[curve]["y"].as_array().unwrap();
            let steps = told[0]["x"]["steps"].as_array().unwrap();
            let areas = means
                .iter()
                .zip(steps)
                .map(|(y, x)| y.as_f64().unwrap() * x.as_f64().unwrap());
            areas.sum::<f64>() / 100_000.0
        };
        let points = &curves[0].points[..100_000];
        let expected = points.iter().map(|point| point.1).sum::<f64>() / 100_000.0;
        assert!(
            (mean(0) / expected - 1.0).abs() < 1e-6,
            "{} {expected}",
            mean(0)
        );
        assert!((mean(1) / mean(0) - 0.91).abs() < 1e-6);
        let highest = told[0]["extremes"][1].as_array().unwrap();
        let highest = highest.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
        assert_eq!(highest, 1008.0);
    }

    #[test]
    fn numbers_are_stored_as_steps() {
        let steps = Steps::of([5.0, 7.0, 6.5].into_iter());
        assert_eq!((steps.first, steps.steps), (5.0, vec![2.0, -0.5]));
    }
}
