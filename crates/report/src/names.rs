//! Names of runs on a page.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_runs::read::Run;

/// Maximum number of characters of a name.
pub(super) const MAX_NAME: usize = 64;

/// The last parts of the runs' paths. A number is added to a name that occurs again.
pub(super) fn of(runs: &[Run]) -> Vec<String> {
    let stems: Vec<String> = runs.iter().map(|run| of_path(&run.info.path)).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let numbered = stems.iter().map(|stem| {
        let times = seen.entry(stem).or_default();
        *times += 1;
        match *times {
            1 => stem.clone(),
            times => format!("{stem} ({times})"),
        }
    });
    numbered.collect()
}

/// The last part of a path.
pub(super) fn of_path(path: &Path) -> String {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match absolute.file_name() {
        Some(name) => short(&name.to_string_lossy()),
        None => "run".to_owned(),
    }
}

/// A text cut to [`MAX_NAME`] characters. A sign replaces each character that cannot be shown.
pub(super) fn short(text: &str) -> String {
    cut(text, MAX_NAME)
}

/// A text cut to `most` characters. A sign replaces each character that cannot be shown.
pub(super) fn cut(text: &str, most: usize) -> String {
    let shown = |c: char| if is_hidden(c) { '\u{fffd}' } else { c };
    let mut out: String = text.chars().take(most).map(shown).collect();
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    out
}

/// Whether a character is a control character or changes the direction of the text after it.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name as part of an identifier: lower-case letters, digits and hyphens.
pub(super) fn slug(text: &str) -> String {
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

    // Small fixed examples.
    #[test]
    fn names_become_identifiers() {
        assert_eq!(slug("Run 10 / <b>x</b>"), "run-10-b-x-b");
        assert_eq!(short(&"é".repeat(80)).chars().count(), MAX_NAME + 1);
        assert_eq!(short("a\0b\u{202e}c"), "a\u{fffd}b\u{fffd}c");
    }
}
