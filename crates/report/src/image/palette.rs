//! The colours of pictures: those of a page with a white background.

use plotters::style::RGBColor;

use crate::figure::{Colour, SERIES};

const COLOURS: [RGBColor; SERIES] = [
    RGBColor(0x0b, 0x63, 0xa5),
    RGBColor(0xc8, 0x50, 0x0a),
    RGBColor(0x0a, 0x8a, 0x68),
    RGBColor(0xa8, 0x50, 0x8a),
    RGBColor(0xa8, 0x74, 0x00),
    RGBColor(0x3a, 0x97, 0xd0),
    RGBColor(0x6b, 0x74, 0x80),
];

/// Colour of background series, such as idle nodes.
pub(super) const MUTED: RGBColor = RGBColor(0xc9, 0xce, 0xd5);
/// Colour of titles.
pub(super) const INK: RGBColor = RGBColor(0x1b, 0x20, 0x26);
/// Colour of other text.
pub(super) const SOFT: RGBColor = RGBColor(0x5a, 0x64, 0x70);
/// Colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xe8, 0xea, 0xed);
/// Colour of shaded periods along an axis.
pub(super) const SHADE: RGBColor = RGBColor(0xf1, 0xec, 0xe2);
const LOW: RGBColor = RGBColor(0xe6, 0xef, 0xf7);
const HIGH: RGBColor = RGBColor(0x08, 0x40, 0x6b);

/// The RGB value of a [`Colour`].
pub(super) fn shade(colour: Colour) -> RGBColor {
    match colour {
        Colour::Series(number) => COLOURS[number % SERIES],
        Colour::Muted => MUTED,
    }
}

/// The heat-map colour for a value. `share` is the value divided by the largest value, from 0 to 1.
pub(super) fn ramp(share: f64) -> RGBColor {
    let mix = |low: u8, high: u8| {
        let share = share.clamp(0.0, 1.0);
        (f64::from(low) + share * (f64::from(high) - f64::from(low))).round() as u8
    };
    RGBColor(mix(LOW.0, HIGH.0), mix(LOW.1, HIGH.1), mix(LOW.2, HIGH.2))
}
