//! Figures that compare published values with Gleaner's.

use crate::figure::{Axis, Colour, Curve, Marks, Part, Shape};
use crate::numbers::number;
use crate::{Figure, Grid, thin};
use gleaner_domain::results::Named;
use gleaner_domain::results::reproduce::{Artifact, Drawing, NamedCurve, ReproducedRow};

/// Number of parts into which thinning divides a long curve. Each part keeps its first, lowest, highest and last point.
const BUCKETS: usize = 400;

/// The figure of an artifact; `None` if the artifact is a table.
pub(super) fn figure(artifact: &Artifact, text: String, numbers: Grid) -> Option<Figure> {
    let (x, y, marks) = match artifact.drawing.as_ref()? {
        Drawing::Bars { y } => {
            let axis = Axis::names("", names(artifact, |row| &row.row));
            (axis, Axis::linear(y), Marks::Groups(bars(artifact)))
        }
        Drawing::Curves { x, log, y } => {
            let axis = if *log { Axis::log(x) } else { Axis::spread(x) };
            (axis, Axis::spread(y), Marks::Curves(curves(artifact)))
        }
        Drawing::Series { x, y, curves } => {
            let curves = curves.iter().enumerate().map(series).collect();
            (Axis::spread(x), Axis::linear(y), Marks::Curves(curves))
        }
    };
    Some(Figure {
        id: artifact.id.clone(),
        title: artifact.title.clone(),
        text,
        x,
        y,
        marks,
        numbers,
    })
}

/// The distinct names that `of` returns for the rows, in order of first occurrence.
fn names(artifact: &Artifact, of: fn(&ReproducedRow) -> &String) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in artifact.rows.iter().map(of) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Bars of Gleaner's values, with one series for each column. If there is only one column, a second series shows the
/// published values.
fn bars(artifact: &Artifact) -> Vec<Part> {
    let (rows, columns) = (
        names(artifact, |row| &row.row),
        names(artifact, |row| &row.column),
    );
    let part = |name: &str, colour, column: &str, of: fn(&ReproducedRow) -> Option<f64>| {
        let value = |row: &String| {
            let mut all = artifact.rows.iter();
            let found = all.find(|value| value.row == *row && value.column == *column)?;
            Some((of(found)?, found.unit.as_str()))
        };
        let values: Vec<_> = rows.iter().map(value).collect();
        let label = |value: &Option<(f64, &str)>| match value {
            None => "–".to_owned(),
            Some((value, "")) => number(*value),
            Some((value, unit)) => format!("{} {unit}", number(*value)),
        };
        Part {
            name: name.to_owned(),
            colour,
            labels: values.iter().map(label).collect(),
            values: values
                .iter()
                .map(|value| value.map_or(0.0, |(value, _)| value))
                .collect(),
        }
    };
    match columns.as_slice() {
        [only] => vec![
            part(artifact.basis.name(), Colour::Muted, only, |row| {
                row.published
            }),
            part("ours", Colour::Series(0), only, |row| row.reproduced),
        ],
        several => {
            let parts = several.iter().enumerate();
            let ours = |(place, column): (usize, &String)| {
                part(column, Colour::Series(place), column, |row| row.reproduced)
            };
            parts.map(ours).collect()
        }
    }
}

/// A curve of Gleaner's values for each row, and dots for the published values.
fn curves(artifact: &Artifact) -> Vec<Curve> {
    let mut curves = Vec::new();
    for (place, name) in names(artifact, |row| &row.row).into_iter().enumerate() {
        let points = |of: fn(&ReproducedRow) -> Option<f64>| -> Vec<(f64, f64)> {
            let own = artifact.rows.iter().filter(|row| row.row == name);
            own.filter_map(|row| Some((row.column.parse().ok()?, of(row)?)))
                .collect()
        };
        let curve = |name: String, shape, points| Curve {
            name,
            colour: Colour::Series(place),
            shape,
            points,
            labels: Vec::new(),
        };
        let published = points(|row| row.published);
        curves.push(curve(
            name.clone(),
            Shape::Line,
            points(|row| row.reproduced),
        ));
        if !published.is_empty() {
            curves.push(curve(
                format!("{name}, {}", artifact.basis.name()),
                Shape::Points,
                published,
            ));
        }
    }
    curves
}

/// Converts a curve, and thins it if it is long. The first curve, at `place` 0, has the muted colour.
fn series((place, curve): (usize, &NamedCurve)) -> Curve {
    Curve {
        name: curve.name.clone(),
        colour: match place {
            0 => Colour::Muted,
            place => Colour::Series(place - 1),
        },
        shape: Shape::Line,
        points: thin::points(&curve.points, BUCKETS),
        labels: Vec::new(),
    }
}
