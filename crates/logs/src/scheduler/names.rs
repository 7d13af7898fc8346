//! Assigns indexes to node names. Names that differ only in a number are stored as ranges of numbers.
//!
//! A machine has up to a million nodes, and its logs name them in long ranges. Names are therefore
//! not stored individually. A name is split at its last number: `rack1-n007x` becomes the stem
//! (`rack1-n`, 3 digits, `x`) and the number 7. Each stem has blocks: consecutive numbers with
//! consecutive indexes, stored as one entry. A list such as `n[0001-9999]` is looked up or added as
//! one block, not as 9,999 names.

use std::collections::BTreeMap;

use indexmap::{Equivalent, IndexMap};

use super::hostlist::{Numbers, Piece};
use crate::occupancy::NodeRange;

/// Maximum number of digits in a number that is split from its name. Longer numbers remain part of
/// the text.
const MAX_DIGITS: usize = 18;

/// The indexes of all names. They start at 0 and follow the order in which the names were added.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The blocks of each stem.
    stems: IndexMap<StemKey, Blocks>,
    /// Position of the stem that was looked up last. The next look-up usually needs the same stem.
    last: usize,
    /// Number of names.
    len: usize,
    /// A reusable buffer for names.
    name: String,
}

/// Blocks of consecutive numbers: the indexes of each block, by its first number.
type Blocks = BTreeMap<u64, NodeRange>;

/// The common parts of names that differ only in their last number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stem<'n> {
    before: &'n str,
    /// Number of digits of the number, including leading zeros; 0 if there is no number.
    digits: usize,
    after: &'n str,
}

/// An owned [`Stem`]. Both have the same hash, so a borrowed stem can be looked up without being copied.
#[derive(Debug, PartialEq, Eq, Hash)]
struct StemKey {
    before: Box<str>,
    digits: usize,
    after: Box<str>,
}

impl StemKey {
    fn stem(&self) -> Stem<'_> {
        Stem {
            before: &self.before,
            digits: self.digits,
            after: &self.after,
        }
    }
}

impl From<Stem<'_>> for StemKey {
    fn from(stem: Stem<'_>) -> Self {
        StemKey {
            before: stem.before.into(),
            digits: stem.digits,
            after: stem.after.into(),
        }
    }
}

impl Equivalent<StemKey> for Stem<'_> {
    fn equivalent(&self, key: &StemKey) -> bool {
        *self == key.stem()
    }
}

/// Unknown names that share a stem and have consecutive numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unknown<'n> {
    stem: Stem<'n>,
    number: u64,
    /// Number of unknown names.
    pub count: usize,
}

impl Unknown<'_> {
    /// The first of the names, spelt out.
    pub fn first(&self) -> String {
        self.stem.name(self.number)
    }
}

/// The result of a look-up: consecutive indexes, or unknown names.
type Found<'n> = Result<NodeRange, Unknown<'n>>;

impl Names {
    /// Number of names.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Calls `each` with the indexes of a piece's names. Adds unknown names as long as there are fewer than `most`
    /// names, and reports further names as unknown.
    ///
    /// The number that distinguishes the names can have fixed digits in front of it, such as the 1 in `n1[00-99]`. The
    /// fixed digits are part of the number, which ranges from 100 to 199 in this example. If the number is too long, or
    /// a digit follows the bracket, the names are looked up one by one.
    pub fn look_up(&mut self, piece: Piece<'_>, most: usize, each: &mut impl FnMut(Found<'_>)) {
        let Some(numbers) = piece.numbers else {
            let (stem, number) = Stem::of(piece.before);
            return self.range(stem, number, 1, most, each);
        };
        let lead = piece.before.len() - piece.before.trim_end_matches(is_digit).len();
        let longest = lead + digits(numbers.high).max(numbers.width);
        if longest > MAX_DIGITS || piece.after.contains(is_digit) {
            let mut name = std::mem::take(&mut self.name);
            piece.each(&mut name, |name| {
                let (stem, number) = Stem::of(name);
                self.range(stem, number, 1, most, each);
            });
            self.name = name;
            return;
        }
        let (before, lead) = piece.before.split_at(piece.before.len() - lead);
        let lead_number: u64 = lead.parse().unwrap_or(0);
        for (low, high, width) in by_width(numbers) {
            let stem = Stem {
                before,
                digits: lead.len() + width,
                after: piece.after,
            };
            let first = lead_number * 10u64.pow(width as u32) + low;
            self.range(stem, first, high - low + 1, most, each);
        }
    }

    /// Like [`Names::look_up`], but for `count` consecutive numbers of a stem, starting at `first`.
    ///
    /// The loop walks over the numbers. Numbers in a block are passed to `each`. Numbers before the
    /// next block are added, or reported as unknown if there is no room for more names. For
    /// example, if the block 10-19 is known, the numbers 15-30 lead to two calls: one for the known
    /// 15-19, and one for the new 20-30.
    fn range(
        &mut self,
        stem: Stem<'_>,
        first: u64,
        count: u64,
        most: usize,
        each: &mut impl FnMut(Found<'_>),
    ) {
        let again = self.stems.get_index(self.last);
        if again.is_none_or(|(key, _)| !is_of(key, stem)) {
            self.last = match self.stems.get_index_of(&stem) {
                Some(index) => index,
                None if self.len < most => self.stems.insert_full(stem.into(), Blocks::new()).0,
                None => usize::MAX,
            };
        }
        let Some((_, blocks)) = self.stems.get_index_mut(self.last) else {
            return each(Err(Unknown {
                stem,
                number: first,
                count: count as usize,
            }));
        };
        let (mut at, end) = (first, first + count);
        while at < end {
            if let Some(run) = known(blocks, at, end) {
                at += u64::from(run.count);
                each(Ok(run));
                continue;
            }
            let next = blocks
                .range(at..end)
                .next()
                .map_or(end, |(first, _)| *first);
            let room = most.saturating_sub(self.len) as u64;
            let new = room.min(next - at) as u32;
            if new > 0 {
                let run = NodeRange {
                    first: self.len as u32,
                    count: new,
                };
                add(blocks, at, run);
                self.len += new as usize;
                at += u64::from(new);
                each(Ok(run));
            }
            if at < next {
                each(Err(Unknown {
                    stem,
                    number: at,
                    count: (next - at) as usize,
                }));
                at = next;
            }
        }
    }

    /// Whether a name already has an index.
    pub fn has(&self, name: &str) -> bool {
        let (stem, number) = Stem::of(name);
        let blocks = self.stems.get(&stem);
        blocks.is_some_and(|blocks| known(blocks, number, number + 1).is_some())
    }

    /// All names, spelt out, by index.
    pub fn spelt(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.len];
        for (key, blocks) in &self.stems {
            let stem = key.stem();
            for (first, run) in blocks {
                for step in 0..run.count {
                    names[(run.first + step) as usize] = stem.name(first + u64::from(step));
                }
            }
        }
        names
    }
}

/// Whether a key equals a stem. Stems are only a few bytes long, so a loop is faster than a call to `memcmp`.
fn is_of(key: &StemKey, stem: Stem<'_>) -> bool {
    let is_same =
        |a: &str, b: &str| a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| a == b);
    key.digits == stem.digits
        && is_same(&key.before, stem.before)
        && is_same(&key.after, stem.after)
}

/// The indexes of the numbers from `at` to `end` (exclusive) that are in the same block as `at`;
/// `None` if no block contains `at`.
fn known(blocks: &Blocks, at: u64, end: u64) -> Option<NodeRange> {
    let (first, run) = blocks.range(..=at).next_back()?;
    let skipped = u32::try_from(at - first).ok()?;
    let count = run.count.checked_sub(skipped).filter(|count| *count > 0)?;
    Some(NodeRange {
        first: run.first + skipped,
        count: (end - at).min(u64::from(count)) as u32,
    })
}

/// Adds numbers that are in no block. The block before them is extended if its numbers and indexes
/// end where the new ones begin.
fn add(blocks: &mut Blocks, at: u64, run: NodeRange) {
    if let Some((first, before)) = blocks.range_mut(..at).next_back()
        && first + u64::from(before.count) == at
        && before.first + before.count == run.first
    {
        before.count += run.count;
        return;
    }
    blocks.insert(at, run);
}

impl<'n> Stem<'n> {
    /// Splits a name into its stem and its last number.
    fn of(name: &'n str) -> (Self, u64) {
        let end = name.rfind(is_digit).map_or(0, |last| last + 1);
        let before = name[..end].trim_end_matches(is_digit);
        let number = &name[before.len()..end];
        if !(1..=MAX_DIGITS).contains(&number.len()) {
            let whole = Stem {
                before: name,
                digits: 0,
                after: "",
            };
            return (whole, 0);
        }
        let stem = Stem {
            before,
            digits: number.len(),
            after: &name[end..],
        };
        (stem, number.parse().unwrap_or(0))
    }

    /// The name with this stem and the given number.
    fn name(&self, number: u64) -> String {
        match self.digits {
            0 => self.before.to_owned(),
            width => format!("{}{number:0width$}{}", self.before, self.after),
        }
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Number of decimal digits.
fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Splits a range of numbers into parts whose numbers have the same number of digits after padding. For example, `8-11`
/// of width 1 is split into 8 to 9 of width 1, and 10 to 11 of width 2.
fn by_width(numbers: Numbers) -> impl Iterator<Item = (u64, u64, usize)> {
    let Numbers { low, high, width } = numbers;
    let widest = digits(high).max(width);
    (width.max(1)..=widest).filter_map(move |digits| {
        let least = if digits > width {
            10u64.pow(digits as u32 - 1)
        } else {
            0
        };
        let most = 10u64.pow(digits as u32) - 1;
        let (low, high) = (low.max(least), high.min(most));
        (low <= high).then_some((low, high, digits))
    })
}

#[cfg(test)]
mod tests {
    use super::super::hostlist;
    use super::*;
    use indexmap::IndexSet;
    use proptest::prelude::*;

    fn look_up(names: &mut Names, list: &str, most: usize) -> Vec<Result<u32, String>> {
        let mut found = Vec::new();
        hostlist::pieces(list, &mut 1000, |piece| {
            names.look_up(piece, most, &mut |run| match run {
                Ok(run) => found.extend((run.first..run.first + run.count).map(Ok)),
                Err(unknown) => {
                    found.push(Err(unknown.first()));
                    found.extend((1..unknown.count).map(|_| Err(String::new())));
                }
            });
        })
        .unwrap();
        found
    }

    #[test]
    fn a_range_is_one_block() {
        let mut names = Names::default();
        look_up(
            &mut names,
            "n[0-99999],n[5-7],n100000,n[0-99999]",
            usize::MAX,
        );
        assert_eq!(names.len(), 100_001);
        // The names have 1 to 6 digits, and there is one block for each number of digits.
        let blocks: usize = names.stems.values().map(Blocks::len).sum();
        assert_eq!(blocks, 6);
        assert_eq!(names.spelt()[100_000], "n100000");
    }

    prop_compose! {
        /// A list of names, many of which share stems.
        fn list()(
            items in prop::collection::vec(
                ("(n|n1|a-|)", 0u64..25, 0u64..15, 1usize..4, "(|x|-3)", "(|[0-1])"), 1..5,
            )
        ) -> String {
            let item = |(before, low, more, width, after, first)| {
                let high: u64 = low + more;
                format!("{before}{first}[{low:0width$}-{high}]{after}")
            };
            let items = items.into_iter().map(|(before, low, more, width, after, first): (String, u64, u64, usize, String, String)| {
                item((before, low, more, width, after, first))
            });
            items.collect::<Vec<_>>().join(",")
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // The oracle is a set of the names, spelt out.
        #[test]
        fn ranges_have_the_indexes_of_their_names(
            lists in prop::collection::vec(list(), 1..6), most in 1usize..200,
        ) {
            let mut names = Names::default();
            let mut set = IndexSet::new();
            for list in &lists {
                let mut expected = Vec::new();
                hostlist::expand(list, |name| {
                    if set.len() < most {
                        set.insert(name.to_owned());
                    }
                    expected.push(set.get_index_of(name).map(|index| index as u32));
                }).unwrap();
                let found = look_up(&mut names, list, most);
                let indexes: Vec<_> = found.iter().map(|found| found.as_ref().ok().copied()).collect();
                prop_assert_eq!(indexes, expected, "{}", list);
            }
            prop_assert_eq!(names.spelt(), set.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn a_name_is_its_stem_and_its_number(name in "[a-c:0-9é]{1,24}|[a-c]{60,200}[0-9x]{1,5}") {
            let (stem, number) = Stem::of(&name);
            prop_assert_eq!(&stem.name(number), &name);
            let keys: IndexMap<StemKey, ()> = [(stem.into(), ())].into();
            prop_assert_eq!(keys.get_index_of(&stem), Some(0));
        }
    }
}
