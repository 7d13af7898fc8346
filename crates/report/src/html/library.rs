//! The source of the charting library.

use gleaner_domain::error::{Error, Result};

const OPENING: &str = "<script type=\"text/javascript\">";
const CLOSING: &str = "</script>";

/// The source of plotly.js, which begins with its licence.
///
/// # Errors
/// The plotly crate does not contain plotly.js in the expected form.
pub(super) fn source() -> Result<String> {
    // The crate provides two script elements: plotly.js, and a library that typesets formulas. The
    // second element is dropped, because no figure has formulas.
    let elements = plotly::Plot::offline_js_sources();
    let source = elements.rsplit_once(OPENING).and_then(|(first, _)| {
        let first = first.trim().strip_prefix(OPENING)?;
        first.strip_suffix(CLOSING)
    });
    match source {
        Some(source) if source.starts_with("/**\n* plotly.js v") => Ok(source.to_owned()),
        _ => Err(Error::Run(
            "cannot find plotly.js in the plotly crate: expected a script element that begins with its licence"
                .to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn the_library_is_there_with_its_licence() {
        let source = source().unwrap();
        assert!(source.len() > 1_000_000 && source[..200].contains("MIT license"));
    }
}
