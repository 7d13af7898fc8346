//! Lists of nodes as Slurm writes them: `lx[15,18,32-33]`, `rack[0-3]_blade[0-41]`.
//!
//! Commas part hosts, except within brackets. A bracket holds numbers and ranges; the
//! first number of a range fixes the width, so that `n[08-10]` is `n08`, `n09`, `n10`.
//! Several brackets in one name are a cross product.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Most hosts that one list may name: a list of a few bytes can name more than memory holds.
pub const MAX_HOSTS: usize = 1 << 18;

/// Most digits of a number in a bracket.
const MAX_DIGITS: usize = 18;

/// Why a text is no list of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostlistError {
    /// A bracket is opened and not closed, closed and not opened, or within another.
    #[error("brackets that do not match")]
    Brackets,
    /// A bracket holds something else than numbers and ascending ranges.
    #[error("a bracket without numbers and ascending ranges, such as [3,7-9]")]
    Range,
    /// A name is empty.
    #[error("an empty name")]
    Empty,
    /// It names more than [`MAX_HOSTS`] hosts.
    #[error("more than 262,144 hosts")]
    TooMany,
}

/// Calls `each` with every host of a list, in order.
///
/// # Errors
/// The text is no list of hosts; `each` may have been called with some of them.
pub fn expand(list: &str, mut each: impl FnMut(&str)) -> Result<(), HostlistError> {
    let mut left = MAX_HOSTS;
    let mut name = String::new();
    for host in Hosts(Some(list)) {
        let host = host?;
        if host.is_empty() {
            return Err(HostlistError::Empty);
        }
        left = left
            .checked_sub(product(host)?)
            .ok_or(HostlistError::TooMany)?;
        name.clear();
        spell(host, &mut name, &mut each);
    }
    Ok(())
}

/// The hosts of a list, with their brackets.
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

/// How many hosts a name with brackets stands for; checks the brackets.
fn product(host: &str) -> Result<usize, HostlistError> {
    let mut count = 1usize;
    let mut rest = host;
    while let Some((_, bracket, after)) = split(rest) {
        let mut inside = 0usize;
        for item in bracket.split(',') {
            let (low, high, _) = range(item).ok_or(HostlistError::Range)?;
            let length = usize::try_from(high - low).unwrap_or(usize::MAX);
            inside = inside.saturating_add(length.saturating_add(1));
        }
        count = count.saturating_mul(inside);
        rest = after;
    }
    Ok(count)
}

/// A name's part before its first bracket, the bracket's content, and the part after.
fn split(host: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = host.split_once('[')?;
    let (bracket, after) = rest.split_once(']')?;
    Some((before, bracket, after))
}

/// First and last number, and the width, of `7` or `08-10`.
fn range(item: &str) -> Option<(u64, u64, usize)> {
    let item = item.trim();
    let (low, high) = item.split_once('-').unwrap_or((item, item));
    let digits =
        |text: &str| text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(low) || !digits(high) {
        return None;
    }
    let numbers = (low.parse::<u64>().ok()?, high.parse::<u64>().ok()?);
    (numbers.0 <= numbers.1).then_some((numbers.0, numbers.1, low.len()))
}

/// Calls `each` with every host that `name` followed by `rest` stands for.
fn spell(rest: &str, name: &mut String, each: &mut impl FnMut(&str)) {
    let length = name.len();
    match split(rest) {
        None => {
            name.push_str(rest);
            each(name);
        }
        Some((before, bracket, after)) => {
            name.push_str(before);
            let stem = name.len();
            for (low, high, width) in bracket.split(',').filter_map(range) {
                for number in low..=high {
                    push_number(name, number, width);
                    spell(after, name, each);
                    name.truncate(stem);
                }
            }
        }
    }
    name.truncate(length);
}

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

/// Writes hosts as one short list: those that differ in their last number only share a
/// bracket. Reading it gives the same hosts, each once, perhaps in another order.
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

fn push_stem(list: &mut String, stem: &str, width: usize, numbers: &[u64]) {
    list.push_str(stem);
    if let [number] = numbers {
        push_number(list, *number, width);
        return;
    }
    let mut separator = '[';
    for run in numbers.chunk_by(|a, b| *b == a + 1) {
        let (first, last) = (run[0], run[run.len() - 1]);
        // Writing to a text cannot fail.
        let _ = match first == last {
            true => write!(list, "{separator}{first:0width$}"),
            false => write!(list, "{separator}{first:0width$}-{last:0width$}"),
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

    // Fixed examples, the first from sinfo's manual page.
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
    fn what_is_no_list_says_why() {
        use HostlistError::{Brackets, Empty, Range, TooMany};
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
            let mut count = 0;
            if expand(&list, |_| count += 1).is_ok() {
                prop_assert!((1..=MAX_HOSTS).contains(&count));
            }
        }
    }
}
