//! The natural order of names. Numbers within names are compared by value, so `n2` comes before
//! `n10`.

use std::cmp::Ordering;

/// Compares two names. Numbers within the names are compared by value.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    while !a_rest.is_empty() && !b_rest.is_empty() {
        let (a_part, b_part) = (part(&mut a_rest), part(&mut b_rest));
        let key = |text: &str| text.trim_start_matches('0').len();
        let numbers =
            a_part.as_bytes()[0].is_ascii_digit() && b_part.as_bytes()[0].is_ascii_digit();
        let order = if numbers {
            key(a_part).cmp(&key(b_part)).then_with(|| {
                a_part
                    .trim_start_matches('0')
                    .cmp(b_part.trim_start_matches('0'))
            })
        } else {
            a_part.cmp(b_part)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a_rest.cmp(b_rest).then_with(|| a.cmp(b))
}

/// Splits off the first part of a name: the digits at its start, or all characters before its first digit.
fn part<'t>(rest: &mut &'t str) -> &'t str {
    let digits = rest.starts_with(|c: char| c.is_ascii_digit());
    let end = rest.find(|c: char| c.is_ascii_digit() != digits);
    let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names = ["n10", "n2", "n02", "m3", "n2a", "n", "n1x20", "n1x3"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(
            names,
            ["m3", "n", "n1x3", "n1x20", "n02", "n2", "n2a", "n10"]
        );
    }
}
