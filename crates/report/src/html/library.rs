//! The source of the charting library.

use gleaner_domain::error::{Error, Result};

const OPENING: &str = "<script type=\"text/javascript\">";
const CLOSING: &str = "</script>";

/// The source of plotly.js, which begins with its licence.
///
/// # Errors
/// The layout of the crate that contains it is not the expected one.
pub(super) fn source() -> Result<String> {
    // The crate gives two script elements: plotly.js, and a typesetter of formulas. No figure has
    // formulas.
    let elements = plotly::Plot::offline_js_sources();
    let source = elements.rsplit_once(OPENING).and_then(|(first, _)| {
        let first = first.trim().strip_prefix(OPENING)?;
        first.strip_suffix(CLOSING)
    });
    match source {
        Some(source) if source.starts_with("/**\n* plotly.js v") => Ok(source.to_owned()),
        _ => Err(Error::Run(
            "the charting library is not where it should be".to_owned(),
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
