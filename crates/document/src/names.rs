//! Names from files, shortened for tables and converted to identifiers.

/// Maximum number of characters of a shortened name, without the final `…`.
const MAX_NAME: usize = 64;

/// Shortens a string to its first 64 characters, followed by `…`, if it is longer. U+FFFD replaces each character that
/// cannot be shown.
pub fn short(text: &str) -> String {
    cut(text, MAX_NAME)
}

/// Shortens a string to its first `most` characters, followed by `…`, if it is longer. U+FFFD replaces each character
/// that cannot be shown.
pub fn cut(text: &str, most: usize) -> String {
    let shown = |c: char| if is_hidden(c) { '\u{fffd}' } else { c };
    let mut out: String = text.chars().take(most).map(shown).collect();
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    out
}

/// Whether a character is a control character or changes the text direction.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Converts a name to part of an identifier: lower-case letters, digits and hyphens.
pub fn slug(text: &str) -> String {
    let kept = text.chars().map(|c| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    });
    let joined: String = kept.collect();
    let parts = joined.split('-').filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples of identifiers and shortened names.
    #[test]
    fn names_become_identifiers() {
        assert_eq!(slug("Run 10 / <b>x</b>"), "run-10-b-x-b");
        assert_eq!(short(&"é".repeat(80)).chars().count(), MAX_NAME + 1);
        assert_eq!(short("a\0b\u{202e}c"), "a\u{fffd}b\u{fffd}c");
    }
}
