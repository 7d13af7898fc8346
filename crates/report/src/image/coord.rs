//! Axes for the drawing library, with tick marks from [`Ticks`].

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::ticks::Ticks;

/// An axis with the range and marks of [`Ticks`].
pub(super) struct TickAxis(pub Ticks);

impl Ranged for TickAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let share = self.0.share(*value).clamp(0.0, 1.0);
        pixels.0 + (share * f64::from(pixels.1 - pixels.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The library also requests the positions of light grid lines, which are not drawn.
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.0.marks.iter().map(|mark| mark.0).collect()
        }
    }

    fn range(&self) -> Range<f64> {
        self.0.low..self.0.high
    }
}

impl ValueFormatter<f64> for TickAxis {
    fn format_ext(&self, value: &f64) -> String {
        self.0.text(*value)
    }
}
