//! Phrases that several messages share.

use gleaner_domain::Workload;
use gleaner_domain::words::printable;

/// Joins names into a string that is safe to print. Only the first five names are shown; the others are counted.
pub(crate) fn some<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const SHOWN: usize = 5;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<_> = names.take(SHOWN).map(printable).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The name of a workload, safe to print.
pub(super) fn name(workload: &Workload) -> String {
    printable(&workload.to_string()).into_owned()
}

/// Describes two workloads that share GPUs, in a string that is safe to print.
pub(super) fn beside(first: &Workload, second: &Workload) -> String {
    format!("{} beside {}", name(first), name(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_five_are_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(some(names[..2].iter().copied()), "a, b");
        assert_eq!(some(names.into_iter()), "a, b, c, d, e and 2 more");
        assert_eq!(some(["\x1b[2J", "b"].into_iter()), "\\u{1b}[2J, b");
    }
}
