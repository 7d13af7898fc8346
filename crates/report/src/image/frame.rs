//! A figure's size, the ends of its axes, and its legend.

use super::curves;
use crate::figure::{Axis, Colour, Curve, Figure, Marks, Scale};
use crate::ticks::Ticks;

/// Maximum number of tick marks along a horizontal axis.
const MANY: usize = 8;
/// Maximum number of tick marks along a vertical axis.
const FEW: usize = 6;
/// Maximum number of names along an axis.
const NAMES: usize = 24;
/// Maximum number of tick marks on the vertical axis of a panel.
const FEWEST: usize = 3;

/// Height of the title, in pixels before scaling.
pub(super) const HEADER: u32 = 44;
/// Height of a panel, in pixels before scaling.
const PANEL: u32 = 110;

/// Minimum length of a horizontal axis, in pixels before scaling.
const WIDE: usize = 720;
/// Width of a letter along a horizontal axis, in pixels before scaling.
const LETTER: usize = 7;

/// A figure's axes. Names along a vertical axis run downwards, so their indices are negated.
pub(super) struct Frame {
    pub x: Ticks,
    pub y: Ticks,
}

impl Frame {
    /// The axes of a figure, whose ranges contain everything that is drawn.
    pub fn of(figure: &Figure) -> Self {
        let (x, y) = extents(figure);
        let most = |axis: &Axis, numbers: usize| match axis.scale {
            Scale::Names(_) => NAMES,
            Scale::Time => FEW,
            _ => numbers,
        };
        let room = |axis: &Axis| match &axis.scale {
            Scale::Names(names) => WIDE / (LETTER * longest(names) + LETTER),
            _ => usize::MAX,
        };
        let along = most(&figure.x, MANY).min(room(&figure.x));
        let few = match figure.marks {
            Marks::Panels(_) => FEWEST,
            _ => FEW,
        };
        let mut frame = Frame {
            x: Ticks::of(&figure.x.scale, x.0, x.1, along),
            y: Ticks::of(&figure.y.scale, y.0, y.1, most(&figure.y, few)),
        };
        if matches!(figure.y.scale, Scale::Names(_)) {
            (frame.y.low, frame.y.high) = (-frame.y.high, -frame.y.low);
            frame.y.marks.iter_mut().for_each(|mark| mark.0 = -mark.0);
        }
        frame
    }
}

/// Number of letters in the longest name.
fn longest(names: &[String]) -> usize {
    let letters = names.iter().map(|name| name.chars().count());
    letters.max().unwrap_or(0)
}

/// The lowest and highest values of x, then those of y.
fn extents(figure: &Figure) -> ((f64, f64), (f64, f64)) {
    let nothing = (f64::MAX, f64::MIN);
    let add = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let around = |curves: &[&Curve]| {
        let points: Vec<(f64, f64)> = curves
            .iter()
            .flat_map(|curve| curves::drawn(curve))
            .collect();
        let along = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(nothing, add);
        (along(|point| point.0), along(|point| point.1))
    };
    match &figure.marks {
        Marks::Curves(curves) => around(&curves.iter().collect::<Vec<_>>()),
        Marks::Panels(panels) => around(&panels.iter().map(|p| &p.curve).collect::<Vec<_>>()),
        Marks::Bars(parts) if figure.x.scale == Scale::Spread => {
            let values = parts.iter().flat_map(|part| &part.values);
            (values.copied().fold((0.0, 0.0), add), (0.0, 0.0))
        }
        Marks::Bars(_) => ((0.0, 100.0), (0.0, 0.0)),
        Marks::Groups(parts) => {
            let values = parts.iter().flat_map(|part| &part.values);
            ((0.0, 0.0), values.copied().fold((0.0, 0.0), add))
        }
        Marks::Heat(_) => ((0.0, 0.0), (0.0, 0.0)),
        Marks::Spans(spans) => {
            let ends = spans.spans.iter().flat_map(|span| [span.from, span.to]);
            (ends.fold(nothing, add), (0.0, 0.0))
        }
    }
}

/// Height of a figure's picture in pixels, before scaling.
pub(super) fn height(figure: &Figure) -> u32 {
    let rows = |row: u32, most: u32| match &figure.y.scale {
        Scale::Names(names) => 130 + (row * names.len() as u32).clamp(60, most),
        _ => 460,
    };
    match figure.marks {
        Marks::Bars(_) => rows(52, 1_200),
        Marks::Heat(_) => rows(30, 900),
        Marks::Spans(_) => rows(18, 620),
        Marks::Panels(ref panels) => HEADER + PANEL * panels.len() as u32,
        Marks::Curves(_) | Marks::Groups(_) => 460,
    }
}

/// The legend: the names of the series with their colours. Empty for a single series, panels, heat maps and spans.
pub(super) fn legend(figure: &Figure) -> Vec<(String, Colour)> {
    let entries: Vec<(String, Colour)> = match &figure.marks {
        Marks::Curves(curves) => curves.iter().map(|c| (c.name.clone(), c.colour)).collect(),
        Marks::Bars(parts) | Marks::Groups(parts) => parts
            .iter()
            .map(|part| (part.name.clone(), part.colour))
            .collect(),
        Marks::Panels(_) | Marks::Heat(_) | Marks::Spans(_) => Vec::new(),
    };
    if entries.len() > 1 {
        entries
    } else {
        Vec::new()
    }
}
