//! Figures as data: axes, marks, explanations and numbers.

use super::grid::Grid;

/// A figure of a report, independent of how it is rendered.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Identifier, unique in its report: lower-case letters, digits and hyphens.
    pub id: String,
    /// The heading, which states what the figure shows.
    pub title: String,
    /// One or two sentences that explain the figure.
    pub text: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, bars, cells or spans to draw.
    pub marks: Marks,
    /// A table with the numbers behind the figure.
    pub numbers: Grid,
}

/// An axis of a figure.
#[derive(Debug, Clone)]
pub struct Axis {
    /// The quantity along the axis, with its unit; may be empty.
    pub title: String,
    /// The mapping of values to positions along the axis.
    pub scale: Scale,
}

/// A mapping of values to positions along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Linear, from zero.
    Linear,
    /// Linear, over the range of the values.
    Spread,
    /// Logarithmic. Values of 0 or less are not shown.
    Log,
    /// Seconds on a logarithmic scale, labelled in units from microseconds to days.
    Duration,
    /// Hours on a logarithmic scale.
    Hours,
    /// Civil times, as milliseconds since 1970.
    Time,
    /// Names in this order; a value is the index of a name, from 0.
    Names(Vec<String>),
}

impl Axis {
    /// A linear axis of numbers that starts at zero.
    pub fn linear(title: impl Into<String>) -> Self {
        Axis::new(title, Scale::Linear)
    }

    /// A linear axis over the range of the values, which need not include zero.
    pub fn spread(title: impl Into<String>) -> Self {
        Axis::new(title, Scale::Spread)
    }

    /// A logarithmic axis.
    pub fn log(title: impl Into<String>) -> Self {
        Axis::new(title, Scale::Log)
    }

    /// A logarithmic axis of seconds.
    pub fn duration(title: impl Into<String>) -> Self {
        Axis::new(title, Scale::Duration)
    }

    /// A logarithmic axis of hours.
    pub fn hours(title: impl Into<String>) -> Self {
        Axis::new(title, Scale::Hours)
    }

    /// An axis of civil times, without a title.
    pub fn time() -> Self {
        Axis::new("", Scale::Time)
    }

    /// An axis of names.
    pub fn names(title: impl Into<String>, names: Vec<String>) -> Self {
        Axis::new(title, Scale::Names(names))
    }

    fn new(title: impl Into<String>, scale: Scale) -> Self {
        Axis {
            title: title.into(),
            scale,
        }
    }
}

/// The curves, bars, cells or spans that a figure draws, with their data.
#[derive(Debug, Clone)]
pub enum Marks {
    /// Curves over a common axis; the first curve is drawn at the back.
    Curves(Vec<Curve>),
    /// Curves in separate panels, stacked vertically, with shared axes.
    Panels(Vec<Panel>),
    /// Horizontal bars, one for each name of the vertical axis. The parts of a bar are drawn end to
    /// end. The lengths of the parts are percentages of a whole or, along a [`Scale::Spread`] axis, distances
    /// to either side of zero.
    Bars(Vec<Part>),
    /// Vertical bars side by side, one group for each name of the horizontal axis.
    Groups(Vec<Part>),
    /// Cells coloured by value, one row for each name of the vertical axis.
    Heat(Heat),
    /// Rows of spans of time, coloured by value.
    Spans(Spans),
}

/// A colour, identified by its role. Renderers choose the shade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// A series, numbered from 0. Series 0 has the accent colour. The first [`SERIES`] series have different colours.
    Series(usize),
    /// A muted colour for marks in the background.
    Muted,
}

/// Number of series with a colour of their own.
pub const SERIES: usize = 7;

/// A curve with its name in the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the curve in the legend.
    pub name: String,
    /// Colour of the curve's line, area or dots.
    pub colour: Colour,
    /// The way in which the curve's points are joined.
    pub shape: Shape,
    /// The curve's points as (x, y), ordered by x.
    pub points: Vec<(f64, f64)>,
    /// Hover text of each point. If the list is empty, hovering shows only the point's position.
    pub labels: Vec<String>,
}

/// A curve in a panel of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The curve; its name is the title of the panel.
    pub curve: Curve,
    /// The shaded parts of the horizontal axis, in order.
    pub shades: Vec<Shade>,
}

/// A shaded part of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Shade {
    /// The meaning of the shaded part.
    pub name: String,
    /// Start on the horizontal axis.
    pub from: f64,
    /// End on the horizontal axis.
    pub to: f64,
}

/// The ways in which the points of a curve can be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Steps: each value holds until the next point.
    Step,
    /// Like [`Shape::Step`], but with a dot at each point whose value differs from the previous value.
    Stairs,
    /// Like [`Shape::Step`], but filled down to zero.
    Area,
    /// Like [`Shape::Step`], but a curve with too many points for the width shows the mean of each visible interval
    /// instead of its extremes.
    Mean,
    /// Like [`Shape::Mean`], but filled down to zero.
    MeanArea,
    /// Straight lines.
    Line,
    /// Like [`Shape::Line`], but with a dot at each point.
    Dotted,
    /// A dot at each point; the points are not joined.
    Points,
    /// The points form pairs: a line joins the two points of a pair, with a bar across each end. Pairs are ordered by
    /// their first points.
    Whiskers,
}

/// A part of every bar of [`Marks::Bars`], or a bar of every group of [`Marks::Groups`].
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Name of the part in the legend.
    pub name: String,
    /// Colour of the part's bars.
    pub colour: Colour,
    /// The length of the part for each name of the axis.
    pub values: Vec<f64>,
    /// The text on the part for each name of the axis.
    pub labels: Vec<String>,
}

/// The cells of a heat map.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The quantity that cells show, with its unit.
    pub title: String,
    /// Values by row, then column; `None` if a cell has no value.
    pub values: Vec<Vec<Option<f64>>>,
    /// The text written in each cell, by row, then column.
    pub labels: Vec<Vec<String>>,
    /// Hover text of each cell, shown below the cell's value; by row, then column. The list is empty if no cell has
    /// hover text.
    pub notes: Vec<Vec<String>>,
    /// Whether the colour scale is logarithmic. If so, all values below a ten-thousandth of the highest value have the
    /// same colour.
    pub log: bool,
}

/// Rows of spans of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Spans {
    /// The quantity that spans show, with its unit.
    pub title: String,
    /// The spans, ordered by row, then time.
    pub spans: Vec<Span>,
}

/// A value that holds for a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Row of the span: an index into the names of the vertical axis.
    pub row: usize,
    /// Start on the horizontal axis.
    pub from: f64,
    /// End on the horizontal axis.
    pub to: f64,
    /// The value, above 0.
    pub value: f64,
}
