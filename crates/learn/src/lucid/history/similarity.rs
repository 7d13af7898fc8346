//! Similarity of names: the ratio of Ratcliff and Obershelp (1988), computed as in Python's
//! difflib.
//!
//! For example, `train-1` and `train-2` have the 6 matching characters `train-` and 14 characters
//! in total, so their ratio is 2 × 6 ÷ 14 = 0.86.

/// Maximum number of leading characters of a name that are compared.
const LONGEST: usize = 128;

/// A name, prepared for comparisons.
pub struct Name {
    chars: Vec<char>,
    /// Number of characters for each value of the lowest six bits of their codes. It gives a quick upper bound on the
    /// number of matching characters.
    buckets: [u8; 64],
}

impl Name {
    /// Prepares a name. Only its first 128 characters count.
    pub fn new(name: &str) -> Self {
        let chars: Vec<char> = name.chars().take(LONGEST).collect();
        let mut buckets = [0; 64];
        chars.iter().for_each(|&char| buckets[bucket(char)] += 1);
        Name { chars, buckets }
    }

    /// Returns the similarity ratio: twice the number of matching characters, divided by the total
    /// number of characters in both names. The ratio of equal names is 1. `None` if the ratio is
    /// below `least`.
    ///
    /// The characters of the longest common substring match. If there are several such substrings,
    /// the substring that begins first in `other` is used. If several of them begin there, the
    /// substring that begins first in this name is used. The same rule is applied recursively to
    /// the parts of both names before the substring, and to the parts after it.
    ///
    /// Two quick upper bounds are computed first, from the lengths and from the common characters.
    /// They rule out most names.
    pub fn ratio(&self, other: &str, least: f64) -> Option<f64> {
        let other: Vec<char> = other.chars().take(LONGEST).collect();
        let both = (self.chars.len() + other.len()) as f64;
        if both == 0.0 {
            return Some(1.0);
        }
        let ratio =
            |matches: usize| Some(2.0 * matches as f64 / both).filter(|ratio| *ratio >= least);
        ratio(self.chars.len().min(other.len()))?;
        ratio(self.in_common(&other))?;
        ratio(matches(&other, &self.chars))
    }

    /// An upper bound on the number of matching characters: the number of common characters,
    /// regardless of their order.
    fn in_common(&self, other: &[char]) -> usize {
        let mut left = self.buckets;
        let mut takes = |char: char| {
            let left = &mut left[bucket(char)];
            let some = *left > 0;
            *left -= u8::from(some);
            some
        };
        other.iter().filter(|char| takes(**char)).count()
    }
}

fn bucket(char: char) -> usize {
    char as usize % 64
}

/// Number of matching characters, according to the rule of [`Name::ratio`].
fn matches(a: &[char], b: &[char]) -> usize {
    let mut rows = [vec![0; b.len() + 1], vec![0; b.len() + 1]];
    let mut open = vec![(a, b)];
    let mut matches = 0;
    while let Some((a, b)) = open.pop() {
        let (length, in_a, in_b) = longest(a, b, &mut rows);
        if length > 0 {
            matches += length;
            open.push((&a[..in_a], &b[..in_b]));
            open.push((&a[in_a + length..], &b[in_b + length..]));
        }
    }
    matches
}

/// Length of the longest common substring, and the indices at which it begins in `a` and in `b`.
fn longest(a: &[char], b: &[char], rows: &mut [Vec<usize>; 2]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    // Entry `j + 1` of `now` is the length of the longest common substring that ends at character
    // `j` of `b` and at the current character of `a`. `before` holds the lengths for the previous
    // character of `a`.
    let [before, now] = rows;
    before[..=b.len()].fill(0);
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let length = if x == y { before[j] + 1 } else { 0 };
            now[j + 1] = length;
            if length > best.0 {
                best = (length, i + 1 - length, j + 1 - length);
            }
        }
        std::mem::swap(before, now);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    // Golden values: difflib.SequenceMatcher(None, other, name).ratio() of Python 3.11.
    #[test]
    fn ratios_are_those_of_difflib() {
        let golden = [
            ("train_resnet_01", "train_resnet_02", 0.9333333333333333),
            ("abcd", "bcde", 0.75),
            (
                "private Thread currentThread;",
                "private volatile Thread currentThread;",
                0.8656716417910447,
            ),
            ("tide", "diet", 0.5),
            ("diet", "tide", 0.25),
            ("WIKIMEDIA", "WIKIMANIA", 0.7777777777777778),
            ("GESTALT PATTERN MATCHING", "GESTALT PRACTICE", 0.65),
            ("Keeping", "keeper", 0.46153846153846156),
            ("aabaab", "abaaba", 0.8333333333333334),
            ("abaaba", "aabaab", 0.8333333333333334),
            ("xaxbxcx", "abcabcabc", 0.375),
            ("abcabcabc", "xaxbxcx", 0.375),
            ("", "a", 0.0),
            ("", "", 1.0),
            ("größe-ä", "grosse-ä", 0.6666666666666666),
            ("lr0.1_seed5", "seed5_lr0.1", 0.45454545454545453),
            ("seed5_lr0.1", "lr0.1_seed5", 0.45454545454545453),
        ];
        for (name, other, expected) in golden {
            let ratio = Name::new(name).ratio(other, 0.0).unwrap();
            assert!((ratio - expected).abs() < 1e-15, "{name}, {other}: {ratio}");
        }
    }

    #[test]
    fn ratios_below_the_minimum_are_none() {
        // The pairs are dissimilar for different reasons: a name is too short, the names have too
        // few characters in common, or the characters are in a different order.
        for other in ["ab", "uvwxyz", "fedcba"] {
            let name = Name::new("abcdef");
            assert!(name.ratio(other, 0.0).unwrap() < 0.6);
            assert_eq!(name.ratio(other, 0.6), None);
        }
        assert_eq!(Name::new("abcdef").ratio("abcdxy", 0.6), Some(8.0 / 12.0));
    }

    #[test]
    fn long_names_count_by_their_beginning() {
        let long = "x".repeat(1_000_000);
        assert_eq!(Name::new(&long).ratio(&format!("{long}y"), 0.6), Some(1.0));
    }
}
