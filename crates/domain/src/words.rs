//! Phrases that messages share, and functions that make text from files safe to display in messages.

use std::borrow::Cow;
use std::fmt::Display;

/// Returns a string with visible escapes such as `\u{1b}` in place of control characters, line separators, and
/// characters that control the direction of text. Terminals would interpret or hide these characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Like [`printable`], but line breaks are unchanged.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_obeyed(c))
}

/// Like [`printable_lines`], but for JSON text, with JSON's own escapes. Outside strings, the text must not contain
/// tabs or carriage returns; JSON allows the other escaped characters only within strings.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && is_obeyed(c);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Maximum number of characters of a string that [`shortened`] keeps.
const MOST_SHOWN: usize = 500;

/// Maximum number of characters of a line that [`shortened_lines`] keeps.
const LONGEST_LINE: usize = 4000;

/// Like [`printable`], but cuts the text after 500 characters and adds the number of omitted
/// characters.
pub fn shortened(text: &str) -> String {
    printable(&cut(text, MOST_SHOWN)).into_owned()
}

/// Like [`printable_lines`], but cuts each line after 4000 characters, for messages that contain text from files and
/// programs.
pub fn shortened_lines(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text
        .split('\n')
        .map(|line| cut(line, LONGEST_LINE))
        .collect();
    printable_lines(&lines.join("\n")).into_owned()
}

/// Returns the first `most` characters of a string, followed by the number of omitted characters, if any.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Cow::Borrowed(text);
    };
    let (start, rest) = text.split_at(end);
    Cow::Owned(format!(
        "{start}… ({} more characters)",
        rest.chars().count()
    ))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The last non-blank lines of a string, at most `most` of them. The lines are trimmed, made [`printable`], and joined
/// by ` | `.
pub fn last_lines(text: &str, most: usize) -> String {
    let lines = text.lines().map(str::trim);
    let filled: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let shown = &filled[filled.len().saturating_sub(most)..];
    printable(&shown.join(" | ")).into_owned()
}

/// A number and a noun in the singular or plural: `1 node`, `3 nodes`.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// A duration in at most two units, the largest that apply: `2 h 5 min`, `10 min`, `12 s`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    let (first, second) = match (days, hours, minutes) {
        (0, 0, 0) => return format!("{whole} s"),
        (0, 0, _) => (format!("{minutes} min"), (whole % 60, "s")),
        (0, ..) => (format!("{hours} h"), (minutes, "min")),
        _ => (format!("{days} d"), (hours, "h")),
    };
    match second {
        (0, _) => first,
        (more, unit) => format!("{first} {more} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        assert!(matches!(printable("vc 1 – é 漢"), Cow::Borrowed(_)));
        assert_eq!(printable("a\x1b[31mb"), "a\\u{1b}[31mb");
        assert_eq!(printable("\n\u{7f}\u{9b}"), "\\u{a}\\u{7f}\\u{9b}");
        assert_eq!(printable_lines("a\n\r\u{9b}"), "a\n\\u{d}\\u{9b}");
        for c in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}']
            .into_iter()
            .chain('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
        {
            assert_eq!(printable(&c.to_string()), format!("\\u{{{:x}}}", c as u32));
        }
    }

    #[test]
    fn long_texts_are_cut_and_say_by_how_much() {
        assert_eq!(shortened("a\u{202e}b"), "a\\u{202e}b");
        let exact = "é".repeat(500);
        assert_eq!(shortened(&exact), exact);
        let cut = format!("{exact}… (2 more characters)");
        assert_eq!(shortened(&format!("{exact}xy")), cut);
        let lines = format!("{}\nshort\n", "x".repeat(1 << 20));
        let expected = format!(
            "{}… ({} more characters)\nshort\n",
            "x".repeat(4000),
            (1 << 20) - 4000
        );
        assert_eq!(shortened_lines(&lines), expected);
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let name = "a\u{202e}\u{1b}\n\u{7f}é";
        let text = serde_json::to_string_pretty(&[name]).unwrap();
        let shown = printable_json(&text);
        assert!(!shown.contains('\u{202e}') && shown.contains("\\u202e"));
        let back: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(back, [name]);
    }

    #[test]
    fn last_lines_that_are_not_blank_are_joined() {
        assert_eq!(last_lines("a\n\n  b \r\n\t\nc\x1b\n", 2), "b | c\\u{1b}");
        assert_eq!(last_lines("a\nb", 5), "a | b");
        assert_eq!(last_lines("a\nb", 0), "");
        assert_eq!(last_lines(" \n\n", 5), "");
    }

    #[test]
    fn nouns_are_plural_unless_the_count_is_one() {
        assert_eq!(counted(1_u32, "node"), "1 node");
        assert_eq!(counted(0_usize, "node"), "0 nodes");
        assert_eq!(counted(2_u64, "node"), "2 nodes");
    }

    #[test]
    fn durations_have_at_most_two_units() {
        assert_eq!(duration(12.4), "12 s");
        assert_eq!(duration(90.0), "1 min 30 s");
        assert_eq!(duration(7260.0), "2 h 1 min");
        assert_eq!(duration(90_000.0), "1 d 1 h");
        assert_eq!(duration(600.0), "10 min");
        assert_eq!(duration(3_601.0), "1 h");
    }
}
