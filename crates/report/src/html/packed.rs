//! Compressed data in a page.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use gleaner_domain::error::{Error, Result};

/// Compresses text with gzip and encodes it in base64, which has no characters that are special in
/// HTML.
///
/// # Errors
/// Returns the compressor's error, which does not occur in practice.
pub(super) fn pack(text: &str) -> Result<String> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(text.as_bytes())
        .and_then(|()| out.finish())
        .map(|bytes| STANDARD.encode(bytes))
        .map_err(|e| Error::Run(format!("cannot compress the page's data: {e}")))
}

/// A script's hash in the format that a content security policy expects.
pub(super) fn hash(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
}
