//! Words that several messages share.

use std::fmt::Display;

/// A number of things: `1 job`, `3 jobs`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Names one after the other, of which a few are shown and the others counted.
pub(crate) fn some<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const SHOWN: usize = 5;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<_> = names.take(SHOWN).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples.
    #[test]
    fn names_beyond_five_are_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(some(names[..2].iter().copied()), "a, b");
        assert_eq!(some(names.into_iter()), "a, b, c, d, e and 2 more");
        assert_eq!(
            (count(1usize, "job"), count(0u32, "job")),
            ("1 job".into(), "0 jobs".into())
        );
    }
}
