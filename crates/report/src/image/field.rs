//! Draws heat maps and rows of spans in a picture.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Axes, Canvas, Drawn};
use super::palette::{INK, ramp};
use crate::figure::{Heat, Spans};

/// Width of a letter of a label, in pixels before scaling.
const LETTER: u32 = 7;
/// Height of a line of a label, in pixels before scaling.
const LINE: u32 = 14;

/// Draws the cells of a heat map row by row, from the top.
pub(super) fn heat<B: DrawingBackend>(
    canvas: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    heat: &Heat,
) -> Drawn<B> {
    let highest = heat
        .values
        .iter()
        .flatten()
        .flatten()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let along = |value: f64| {
        if heat.log {
            value.max(1e-4 * highest).ln()
        } else {
            value
        }
    };
    let values = || {
        heat.values
            .iter()
            .flatten()
            .flatten()
            .map(|value| along(*value))
    };
    let (low, high) = (
        values().fold(f64::MAX, f64::min),
        values().fold(f64::MIN, f64::max),
    );
    let has_room = has_room(canvas, axes, heat);
    for (row, cells) in heat.values.iter().enumerate() {
        for (column, value) in cells.iter().enumerate() {
            let Some(value) = value else { continue };
            let share = if high > low {
                (along(*value) - low) / (high - low)
            } else {
                0.0
            };
            let (x, y) = (column as f64, -(row as f64));
            let corners = [(x - 0.49, y - 0.46), (x + 0.49, y + 0.46)];
            axes.draw_series([Rectangle::new(corners, ramp(share).filled())])?;
            if !has_room {
                continue;
            }
            let ink = if share > 0.5 { WHITE } else { INK };
            let style = canvas
                .font(12, ink)
                .pos(Pos::new(HPos::Center, VPos::Center));
            axes.draw_series([Text::new(heat.labels[row][column].clone(), (x, y), style)])?;
        }
    }
    Ok(())
}

/// Whether cells have room for their labels.
fn has_room<B: DrawingBackend>(canvas: &Canvas<B>, axes: &Axes<'_, B>, heat: &Heat) -> bool {
    let (width, height) = axes.plotting_area().dim_in_pixel();
    let columns = heat.values.first().map_or(0, Vec::len);
    let letters = heat
        .labels
        .iter()
        .flatten()
        .map(|label| label.chars().count());
    let longest = letters.max().unwrap_or(0);
    let needed = canvas.px(LETTER).unsigned_abs() as usize * longest * columns;
    let line = canvas.px(LINE).unsigned_abs() as usize;
    needed <= width as usize && line * heat.values.len() <= height as usize
}

/// Draws spans of time row by row, from the top.
pub(super) fn spans<B: DrawingBackend>(
    _: &Canvas<B>,
    axes: &mut Axes<'_, B>,
    spans: &Spans,
) -> Drawn<B> {
    let most = spans
        .spans
        .iter()
        .map(|span| span.value)
        .fold(1.0, f64::max);
    let bars = spans.spans.iter().map(|span| {
        let y = -(span.row as f64);
        let corners = [(span.from, y - 0.5), (span.to, y + 0.5)];
        Rectangle::new(corners, ramp(span.value / most).filled())
    });
    axes.draw_series(bars).map(|_| ())
}
