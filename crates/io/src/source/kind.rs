//! Detects the format of a file from its first bytes, or else from its name.

use std::path::Path;

/// First bytes of every event log cache (`.gev`). As in PNG files, they contain line breaks, so that damage from a
/// transfer in text mode is detected.
pub const GEV_MAGIC: [u8; 8] = *b"\x89GEV\r\n\x1a\n";

/// The format of an input, detected from its first bytes, or else from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pandas pickle.
    Pickle,
    /// Apache Parquet.
    Parquet,
    /// The event log cache of this program (`.gev`).
    Gev,
    /// JSON text.
    Json,
    /// TOML text.
    Toml,
    /// Comma-separated values. This is also the format of an input that matches no other format.
    Csv,
}

impl Kind {
    /// The format of an input with these first bytes and this name.
    pub fn of(head: &[u8], name: &str) -> Self {
        match head {
            [0x80, 2..=5, ..] => return Kind::Pickle,
            [b'P', b'A', b'R', b'1', ..] => return Kind::Parquet,
            _ if head.starts_with(&GEV_MAGIC) => return Kind::Gev,
            _ => {}
        }
        match extension(name).as_str() {
            "pkl" | "pickle" => Kind::Pickle,
            "parquet" => Kind::Parquet,
            "gev" => Kind::Gev,
            "json" => Kind::Json,
            "toml" => Kind::Toml,
            "csv" => Kind::Csv,
            _ => text_kind(head),
        }
    }
}

/// The extension of a name in lower case; empty if the name has no extension.
pub(super) fn extension(name: &str) -> String {
    let extension = Path::new(name).extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}

/// Whether the name has the extension of a pickle.
pub(super) fn is_pickle_name(name: &str) -> bool {
    matches!(extension(name).as_str(), "pkl" | "pickle")
}

/// Detects the format of a text file from its first bytes, if its name does not show the format.
fn text_kind(head: &[u8]) -> Kind {
    let text = head.trim_ascii_start();
    let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    match text.first() {
        Some(b'{') => Kind::Json,
        Some(b'[' | b'#') => Kind::Toml,
        _ if first_line.contains(&b'=') => Kind::Toml,
        _ => Kind::Csv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_give_the_format_and_else_the_name() {
        for (head, name, kind) in [
            (&b"\x80\x04\x95"[..], "x.csv", Kind::Pickle),
            (b"PAR1\x15", "x", Kind::Parquet),
            (b"\x89GEV\r\n\x1a\n\x01", "x", Kind::Gev),
            (b"time,a\n", "x.parquet", Kind::Parquet),
            (b"time,a\n", "x.CSV", Kind::Csv),
            (b"{\"task\": []}", "x", Kind::Json),
            (b"# tasks\n[[task]]", "-", Kind::Toml),
            (b"title = 1\n", "-", Kind::Toml),
            (b"time,a=b\n", "x.csv", Kind::Csv),
            (b"", "-", Kind::Csv),
        ] {
            assert_eq!(Kind::of(head, name), kind, "{name}");
        }
    }
}
