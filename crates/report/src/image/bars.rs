//! Draws bars in a picture.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Axes, Canvas, Drawn};
use super::frame::Frame;
use super::palette::{INK, shade};
use crate::figure::{Colour, Part};

/// Minimum length of a part at which its label fits, as a share of the axis.
const ROOM: f64 = 0.07;

/// Draws horizontal bars, each made of parts placed end to end.
pub(super) fn lying<B: DrawingBackend>(
    canvas: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    parts: &[Part],
    frame: &Frame,
) -> Drawn<B> {
    let room = ROOM * (frame.x.high - frame.x.low);
    let rows = parts.first().map_or(0, |part| part.values.len());
    for row in 0..rows {
        let (mut start, y) = (0.0, -(row as f64));
        for part in parts {
            let end = start + part.values[row];
            let bar = Rectangle::new(
                [(start, y - 0.31), (end, y + 0.31)],
                shade(part.colour).filled(),
            );
            axes.draw_series([bar])?;
            if part.values[row].abs() >= room {
                let ink = if part.colour == Colour::Muted {
                    INK
                } else {
                    WHITE
                };
                let style = canvas
                    .font(12, ink)
                    .pos(Pos::new(HPos::Center, VPos::Center));
                let label = part.labels[row].clone();
                axes.draw_series([Text::new(label, ((start + end) / 2.0, y), style)])?;
            }
            start = end;
        }
    }
    Ok(())
}

/// Draws upright bars side by side.
pub(super) fn upright<B: DrawingBackend>(
    _: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    parts: &[Part],
) -> Drawn<B> {
    let width = 0.72 / parts.len().max(1) as f64;
    for (place, part) in parts.iter().enumerate() {
        let left = -0.36 + width * place as f64;
        let bars = part.values.iter().enumerate().map(|(column, &value)| {
            let x = column as f64 + left;
            Rectangle::new(
                [(x, 0.0), (x + 0.94 * width, value)],
                shade(part.colour).filled(),
            )
        });
        axes.draw_series(bars)?;
    }
    Ok(())
}
