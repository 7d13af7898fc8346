//! Figures as data: what is drawn, along which axes, in which words and numbers.

use super::grid::Grid;

/// A figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Unique in its report; lower-case letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it, and what there is to see, in a sentence or two.
    pub text: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub marks: Marks,
    /// The same in numbers.
    pub numbers: Grid,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What is along it, with its unit; may be empty.
    pub title: String,
    /// How values lie along it.
    pub scale: Scale,
}

/// How values lie along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// Evenly, over the values that there are.
    Spread,
    /// By their logarithm; values that are not positive have no place on it.
    Log,
    /// Seconds by their logarithm, told in seconds, minutes, hours and days.
    Duration,
    /// Civil times, as milliseconds since 1970.
    Time,
    /// Names in this order; a value is a name's number from 0.
    Names(Vec<String>),
}

impl Axis {
    /// An axis of numbers from zero.
    pub fn linear(title: impl Into<String>) -> Self {
        Axis::new(title, Scale::Linear)
    }

    /// An axis of numbers that need not be near zero.
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

    /// An axis of civil times, which need no title.
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

/// What is drawn.
#[derive(Debug, Clone)]
pub enum Marks {
    /// Curves over a common axis, the first at the back.
    Curves(Vec<Curve>),
    /// Horizontal bars, a bar for each name of the vertical axis, of parts one after the other:
    /// percents of a whole, or along a [`Scale::Spread`] axis lengths to either side of zero.
    Bars(Vec<Part>),
    /// Upright bars side by side, a group for each name of the horizontal axis.
    Groups(Vec<Part>),
    /// A field of cells, a row for each name of the vertical axis, coloured by value.
    Heat(Heat),
    /// Rows of spans of time, coloured by value.
    Spans(Spans),
}

/// A colour by its role; renderers know its shade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// The first is the accent; [`SERIES`] differ.
    Series(usize),
    /// For what stands behind.
    Muted,
}

/// How many series have a colour of their own.
pub const SERIES: usize = 7;

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// How its points are joined.
    pub shape: Shape,
    /// Its points, in the order of x.
    pub points: Vec<(f64, f64)>,
    /// What each point is, told when it is pointed at; empty where that is its place alone.
    pub labels: Vec<String>,
}

/// How the points of a curve are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A value holds until the next point.
    Step,
    /// As [`Shape::Step`], and filled down to zero.
    Area,
    /// Straight lines.
    Line,
    /// As [`Shape::Line`], with a dot at each point.
    Dotted,
    /// Not at all.
    Points,
}

/// A part of every bar, or a bar of every group.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// Its length for each name.
    pub values: Vec<f64>,
    /// What is written on it for each name.
    pub labels: Vec<String>,
}

/// A field of cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// What a cell's value is, with its unit.
    pub title: String,
    /// Values by row, then column; `None` for no value.
    pub values: Vec<Vec<Option<f64>>>,
    /// What is written in each cell.
    pub labels: Vec<Vec<String>>,
    /// Whether colours follow the logarithm.
    pub log: bool,
}

/// Rows of spans.
#[derive(Debug, Clone, PartialEq)]
pub struct Spans {
    /// What a span's value is, with its unit.
    pub title: String,
    /// By row, then time.
    pub spans: Vec<Span>,
}

/// A value that holds for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Number of the row's name on the vertical axis.
    pub row: usize,
    /// From when on the horizontal axis.
    pub from: f64,
    /// Until when.
    pub to: f64,
    /// The value, more than 0.
    pub value: f64,
}
