//! Figures as pictures for papers: SVG, and PNG at twice the size.
//!
//! The crate plotters draws the pictures with a font that is part of this program, so pictures look the same on every
//! machine.

use std::sync::Once;

use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::figure::Figure;
use gleaner_domain::error::{Error, Result};

mod bars;
mod canvas;
mod coord;
mod curves;
mod field;
mod frame;
mod palette;

use canvas::Canvas;

/// Width of an SVG in pixels. The height depends on the figure.
const WIDTH: u32 = 900;
/// Size of a PNG as a multiple of the size of an SVG.
const PNG_SCALE: u32 = 2;

/// Draws a figure as SVG.
///
/// # Errors
/// Returns an error if the drawing library fails, which does not occur in practice.
pub fn svg(figure: &Figure) -> Result<String> {
    register();
    let mut out = String::new();
    let size = (WIDTH, frame::height(figure));
    let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
    Canvas::new(area, 1).draw(figure).map_err(failed)?;
    Ok(out)
}

/// Draws a figure as PNG.
///
/// # Errors
/// Returns an error if the drawing library fails, which does not occur in practice.
pub fn png(figure: &Figure) -> Result<Vec<u8>> {
    register();
    let size = (PNG_SCALE * WIDTH, PNG_SCALE * frame::height(figure));
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
    Canvas::new(area, PNG_SCALE).draw(figure).map_err(failed)?;
    encode(&pixels, size).map_err(failed)
}

fn encode(
    pixels: &[u8],
    (width, height): (u32, u32),
) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(out)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Run(format!("cannot draw a figure: {error}"))
}

/// Registers the font with the drawing library on the first call.
fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The result is ignored: an invalid font would cause an error when the first text is drawn.
        let _ = register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular());
    });
}
