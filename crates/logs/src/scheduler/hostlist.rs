//! Expands lists of nodes as Slurm writes them: `lx[15,18,32-33]`, `rack[0-3]_blade[0-41]`.
//!
//! Commas separate hosts, except within brackets. A bracket contains numbers and ranges. The first
//! number of a range sets the width, so `n[08-10]` means `n08`, `n09`, `n10`. Several brackets in
//! one name form a cross product.
//!
//! A few bytes can name a huge number of hosts (`n[1-999999]` has 11 bytes), so limits apply.
//! [`MAX_HOSTS`] bounds the hosts of one list. A second limit bounds the work over all lists of an
//! input. The ranges in the last bracket of a name are not expanded, so they cost almost nothing.
//! All earlier brackets of the name must be expanded. Two more limits apply to a single name: one to its length,
//! because every host can repeat the name, and one to the number of its brackets.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of hosts that one list is allowed to name.
pub const MAX_HOSTS: usize = 1 << 18;

/// Maximum total number of pieces (hosts, or ranges of hosts) into which the lists of an input may be expanded. One
/// further piece is allowed for each byte of the lists. The last bracket of a name adds few pieces, because its ranges
/// are not expanded.
pub(super) const MAX_PRODUCTS: usize = 1 << 24;

/// Maximum number of bytes of a name outside its brackets. Host names have at most 255 bytes.
const MAX_NAME: usize = 1024;

/// Maximum number of brackets in a name. The limit is needed because the expansion recurses once for each bracket.
/// Slurm's names have only a few brackets.
const MAX_BRACKETS: usize = 32;

/// Maximum number of digits in a number within a bracket.
const MAX_DIGITS: usize = 18;

/// The reason why a string is not a list of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostlistError {
    /// An opening or closing bracket has no counterpart, or a bracket is within another bracket.
    #[error("brackets that do not match")]
    Brackets,
    /// A bracket contains something other than numbers and ascending ranges.
    #[error(
        "a bracket that contains something other than numbers and ascending ranges; a valid example is [3,7-9]"
    )]
    Range,
    /// A name is empty.
    #[error("an empty name")]
    Empty,
    /// A name has more than 1,024 bytes outside its brackets, or more than 32 brackets.
    #[error("a name of more than 1,024 bytes or 32 brackets")]
    TooLong,
    /// The list names more than [`MAX_HOSTS`] hosts.
    #[error("more than 262,144 hosts")]
    TooMany,
    /// The brackets of all lists read so far expand to more than 16,777,216 pieces: hosts, or ranges of hosts.
    #[error("brackets that expand to more than 16,777,216 hosts or ranges in all lists together")]
    TooManyProducts,
}

/// Calls `each` with every host of a list, in order.
///
/// # Errors
/// The text is not a list of hosts. `each` may already have been called with some hosts.
pub fn expand(list: &str, mut each: impl FnMut(&str)) -> Result<(), HostlistError> {
    let mut name = String::new();
    let mut products_left = MAX_PRODUCTS;
    pieces(list, &mut products_left, |piece| {
        piece.each(&mut name, &mut each)
    })
}

/// Number of hosts that a list names.
///
/// # Errors
/// The text is not a list of hosts.
pub fn count(list: &str) -> Result<usize, HostlistError> {
    let mut count = 0;
    for host in Hosts(Some(list)) {
        count += checked(host?, MAX_HOSTS - count)?.hosts;
    }
    Ok(count)
}

/// Hosts whose names differ only in one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'p> {
    /// The text before the number.
    pub before: &'p str,
    /// The numbers. If `None`, `before` is the whole name of one host.
    pub numbers: Option<Numbers>,
    /// The text after the number.
    pub after: &'p str,
}

/// Consecutive numbers, padded with zeros to a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub low: u64,
    pub high: u64,
    pub width: usize,
}

impl Piece<'_> {
    /// Calls `each` with every host. `name` is a reusable buffer.
    pub fn each(&self, name: &mut String, mut each: impl FnMut(&str)) {
        let Some(numbers) = self.numbers else {
            return each(self.before);
        };
        for number in numbers.low..=numbers.high {
            name.clear();
            name.push_str(self.before);
            push_number(name, number, numbers.width);
            name.push_str(self.after);
            each(name);
        }
    }
}

/// Splits a list of hosts into pieces and calls `each` with each piece, in order. All brackets of a
/// name are expanded except the last, whose ranges are kept. If a name has more pieces than bytes, the
/// excess is subtracted from `products_left`, the remainder of [`MAX_PRODUCTS`].
///
/// # Errors
/// The text is not a list of hosts. `each` may already have been called with some hosts.
pub(super) fn pieces(
    list: &str,
    products_left: &mut usize,
    mut each: impl FnMut(Piece<'_>),
) -> Result<(), HostlistError> {
    let mut left = MAX_HOSTS;
    let mut name = String::new();
    for host in Hosts(Some(list)) {
        let host = host?;
        let size = checked(host, left)?;
        left -= size.hosts;
        // Each name may expand to one piece per byte without using up the limit. Work that does not count against the
        // limit is therefore proportional to the length of the lists, as it is for names without brackets.
        let products = size.apart.saturating_sub(host.len());
        *products_left = products_left
            .checked_sub(products)
            .ok_or(HostlistError::TooManyProducts)?;
        name.clear();
        spell(host, &mut name, &mut each);
    }
    Ok(())
}

/// The size of the expansion of a name with brackets. For example, `a[0-3]b[0-9,20]` expands to 4 × 11 = 44 hosts in 4
/// × 2 = 8 pieces.
struct Size {
    hosts: usize,
    /// Number of pieces: hosts, or ranges of hosts, each of which is handled separately.
    apart: usize,
}

/// Checks that the brackets of a name are valid and expand to at most `left` hosts. Returns the size of the expansion.
fn checked(host: &str, left: usize) -> Result<Size, HostlistError> {
    if host.is_empty() {
        return Err(HostlistError::Empty);
    }
    let size = size(host)?;
    if size.hosts <= left {
        Ok(size)
    } else {
        Err(HostlistError::TooMany)
    }
}

/// Iterates over the hosts of a list. Brackets are not expanded.
struct Hosts<'a>(Option<&'a str>);

impl<'a> Iterator for Hosts<'a> {
    type Item = Result<&'a str, HostlistError>;

    fn next(&mut self) -> Option<Self::Item> {
        let list = self.0.take()?;
        let mut open = false;
        for (at, byte) in list.bytes().enumerate() {
            match byte {
                b'[' | b']' if open == (byte == b'[') => {
                    return Some(Err(HostlistError::Brackets));
                }
                b'[' | b']' => open = !open,
                b',' if !open => {
                    self.0 = Some(&list[at + 1..]);
                    return Some(Ok(list[..at].trim()));
                }
                _ => {}
            }
        }
        Some(if open {
            Err(HostlistError::Brackets)
        } else {
            Ok(list.trim())
        })
    }
}

/// Checks the brackets of a name, and returns the size of its expansion.
fn size(host: &str) -> Result<Size, HostlistError> {
    let mut size = Size { hosts: 1, apart: 1 };
    let (mut rest, mut length, mut brackets) = (host, 0, 0);
    while let Some((before, bracket, after)) = split(rest) {
        (length, brackets) = (length + before.len(), brackets + 1);
        let (mut inside, mut items) = (0usize, 0usize);
        for item in bracket.split(',') {
            let numbers = range(item).ok_or(HostlistError::Range)?;
            let length = usize::try_from(numbers.high - numbers.low).unwrap_or(usize::MAX);
            inside = inside.saturating_add(length.saturating_add(1));
            items += 1;
        }
        // The numbers of this bracket can be kept as ranges only if it is the last bracket and no
        // digit follows. Otherwise each number is a separate piece.
        let is_range = !after
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte == b'[');
        size.apart = size
            .hosts
            .saturating_mul(if is_range { items } else { inside });
        size.hosts = size.hosts.saturating_mul(inside);
        rest = after;
    }
    if length + rest.len() > MAX_NAME || brackets > MAX_BRACKETS {
        return Err(HostlistError::TooLong);
    }
    Ok(size)
}

/// Returns the text before the first bracket of a name, the content of the bracket, and the text after it.
fn split(host: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = host.split_once('[')?;
    let (bracket, after) = rest.split_once(']')?;
    Some((before, bracket, after))
}

/// Parses a number or a range, such as `7` or `08-10`.
fn range(item: &str) -> Option<Numbers> {
    let item = item.trim();
    let (low, high) = item.split_once('-').unwrap_or((item, item));
    let digits =
        |text: &str| text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(low) || !digits(high) {
        return None;
    }
    let numbers = Numbers {
        low: low.parse().ok()?,
        high: high.parse().ok()?,
        width: low.len(),
    };
    (numbers.low <= numbers.high).then_some(numbers)
}

/// Calls `each` with the pieces of a name. `name` is the part that is already expanded, and `rest` is the part that is
/// not.
fn spell(rest: &str, name: &mut String, each: &mut impl FnMut(Piece<'_>)) {
    let Some((before, bracket, after)) = split(rest) else {
        return each(Piece {
            before: rest,
            numbers: None,
            after: "",
        });
    };
    let length = name.len();
    name.push_str(before);
    let stem = name.len();
    for numbers in bracket.split(',').filter_map(range) {
        if !after.contains('[') {
            each(Piece {
                before: name,
                numbers: Some(numbers),
                after,
            });
            continue;
        }
        for number in numbers.low..=numbers.high {
            push_number(name, number, numbers.width);
            spell(after, name, each);
            name.truncate(stem);
        }
    }
    name.truncate(length);
}

/// Appends a number, padded with zeros to a width.
fn push_number(name: &mut String, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while number > 0 {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    at = at.min(digits.len() - width.clamp(1, digits.len()));
    name.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

/// Writes hosts as one short list: hosts that differ only in the number at the end share a bracket. Expanding the list
/// gives the same hosts without duplicates, possibly in another order.
pub fn compress<'a>(hosts: impl IntoIterator<Item = &'a str>) -> String {
    let mut stems: BTreeMap<(&str, usize), Vec<u64>> = BTreeMap::new();
    let mut whole = Vec::new();
    for host in hosts {
        let stem = host.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &host[stem.len()..];
        match digits.parse() {
            Ok(number) if digits.len() <= MAX_DIGITS => {
                stems.entry((stem, digits.len())).or_default().push(number);
            }
            _ => whole.push(host),
        }
    }
    whole.sort_unstable();
    whole.dedup();
    let mut list = whole.join(",");
    for ((stem, width), mut numbers) in stems {
        numbers.sort_unstable();
        numbers.dedup();
        if !list.is_empty() {
            list.push(',');
        }
        push_stem(&mut list, stem, width, &numbers);
    }
    list
}

/// Appends a stem with its sorted numbers: as ranges in a bracket, or without a bracket if there is
/// only one number.
fn push_stem(list: &mut String, stem: &str, width: usize, numbers: &[u64]) {
    list.push_str(stem);
    if let [number] = numbers {
        push_number(list, *number, width);
        return;
    }
    let mut separator = '[';
    for run in numbers.chunk_by(|a, b| *b == a + 1) {
        let (first, last) = (run[0], run[run.len() - 1]);
        // Writing to a string cannot fail.
        let _ = if first == last {
            write!(list, "{separator}{first:0width$}")
        } else {
            write!(list, "{separator}{first:0width$}-{last:0width$}")
        };
        separator = ',';
    }
    list.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hosts(list: &str) -> Result<Vec<String>, HostlistError> {
        let mut hosts = Vec::new();
        expand(list, |host| hosts.push(host.to_owned()))?;
        Ok(hosts)
    }

    // The first example is from sinfo's manual page.
    #[test]
    fn brackets_hold_numbers_and_ranges() {
        for (list, expected) in [
            ("lx[15,18,32-33]", "lx15 lx18 lx32 lx33"),
            ("n[08-10]", "n08 n09 n10"),
            ("n[8-10]", "n8 n9 n10"),
            (
                "rack[0-1]_blade[3,5]",
                "rack0_blade3 rack0_blade5 rack1_blade3 rack1_blade5",
            ),
            ("a[1-2]b[0]c[7-8]-x", "a1b0c7-x a1b0c8-x a2b0c7-x a2b0c8-x"),
            ("a,b[1,2],c-3", "a b1 b2 c-3"),
            ("[0007-0008]", "0007 0008"),
            ("n[0-0]", "n0"),
        ] {
            assert_eq!(hosts(list).unwrap().join(" "), expected, "{list}");
        }
        assert_eq!(hosts("n[0000-1023]").unwrap()[1023], "n1023");
    }

    #[test]
    fn the_last_bracket_stays_a_range() {
        let pieces_of = |list: &str| {
            let mut found = Vec::new();
            let mut left = 10;
            pieces(list, &mut left, |piece| {
                let numbers = piece.numbers.map(|n| (n.low, n.high, n.width));
                found.push((piece.before.to_owned(), numbers, piece.after.to_owned()));
            })?;
            Ok((found, left))
        };
        let piece =
            |before: &str, numbers, after: &str| (before.to_owned(), numbers, after.to_owned());
        let expected = vec![
            piece("a1b", Some((0, 9999, 4)), "c"),
            piece("a2b", Some((0, 9999, 4)), "c"),
            piece("login", None, ""),
        ];
        assert_eq!(pieces_of("a[1-2]b[0000-9999]c,login"), Ok((expected, 10)));
        // In both lists, the number of pieces of a name exceeds its number of bytes by more than 10. A name of 13 bytes
        // expands to 100 ranges, and a name of 9 bytes to 20 hosts.
        assert_eq!(
            pieces_of("a[0-99]b[0-9],x[0-9]"),
            Err(HostlistError::TooManyProducts)
        );
        assert_eq!(
            pieces_of("x[0-19]y3").unwrap_err(),
            HostlistError::TooManyProducts
        );
    }

    #[test]
    fn an_invalid_hostlist_is_reported() {
        use HostlistError::{Brackets, Empty, Range, TooLong, TooMany};
        for (list, error) in [
            ("n[1-2", Brackets),
            ("n1]", Brackets),
            ("n[1-[2-3]]", Brackets),
            ("n[]", Range),
            ("n[1-]", Range),
            ("n[a-b]", Range),
            ("n[3-1]", Range),
            ("n[9999999999999999999]", Range),
            ("n[0-99999999999]", TooMany),
            ("n[0-9999][0-9999][0-9999]", TooMany),
            ("a,,b", Empty),
            ("", Empty),
        ] {
            assert_eq!(hosts(list).unwrap_err(), error, "{list}");
        }
        for (part, most) in [("x", 1024), ("[0]", 32)] {
            assert_eq!(hosts(&part.repeat(most)).unwrap().len(), 1);
            for count in [most + 1, 1 << 20] {
                assert_eq!(hosts(&part.repeat(count)).unwrap_err(), TooLong, "{part}");
            }
        }
    }

    #[test]
    fn a_short_list_is_as_slurm_writes_it() {
        let hosts = ["n02", "n01", "n10", "login", "n9", "n03", "b1c2"];
        assert_eq!(compress(hosts), "login,b1c2,n9,n[01-03,10]");
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn writing_and_reading_gives_the_same_hosts(
            names in prop::collection::btree_set("[a-c]{0,2}([0-9]{1,3}-?[x-z]?){0,2}[0-9]{0,3}", 1..20)
        ) {
            let names: BTreeSet<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
            prop_assume!(!names.is_empty());
            let list = compress(names.iter().map(String::as_str));
            let read: BTreeSet<String> = hosts(&list).unwrap().into_iter().collect();
            prop_assert_eq!(read, names);
        }

        #[test]
        fn any_text_is_read_or_refused(list in "[a-b0-9\\[\\],-]{0,24}") {
            let mut found = 0;
            let expanded = expand(&list, |_| found += 1);
            prop_assert_eq!(expanded.map(|()| found), count(&list));
            if expanded.is_ok() {
                prop_assert!((1..=MAX_HOSTS).contains(&found));
            }
        }
    }
}
