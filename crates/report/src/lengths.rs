//! The bars in histograms of durations.

use super::figure::{Colour, Marks, Part};
use super::numbers::{count, number, percent};
use gleaner_runs::lengths::Lengths;

/// Two bars for each length class: the share of the lengths that fall into the class, and their share of the total
/// length.
pub(super) fn marks(lengths: &Lengths) -> Marks {
    Marks::Groups(parts(lengths).to_vec())
}

fn parts(lengths: &Lengths) -> [Part; 2] {
    let classes = &lengths.classes;
    let counts: Vec<f64> = classes.iter().map(|c| c.count as f64).collect();
    let seconds: Vec<f64> = classes.iter().map(|c| c.seconds).collect();
    let counted = |place: usize| count(classes[place].count);
    let summed = |place: usize| {
        let hours = number(classes[place].seconds / 3_600.0);
        format!("{hours} {}", lengths.unit)
    };
    [
        part(lengths.counted, Colour::Muted, &counts, counted),
        part(lengths.summed, Colour::Series(0), &seconds, summed),
    ]
}

/// A bar for each of the `amounts`. Its length is the amount's share of their sum. The label shows the share and the
/// text that `tell` returns.
fn part(name: &str, colour: Colour, amounts: &[f64], tell: impl Fn(usize) -> String) -> Part {
    let sum: f64 = amounts.iter().sum();
    let share = |amount: &f64| if sum > 0.0 { amount / sum } else { 0.0 };
    let label = |(place, amount)| format!("{} ({})", percent(share(amount)), tell(place));
    Part {
        name: name.to_owned(),
        colour,
        values: amounts.iter().map(|amount| 100.0 * share(amount)).collect(),
        labels: amounts.iter().enumerate().map(label).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_runs::lengths::Class;

    // Small fixed example: three short fragments and a long one.
    #[test]
    fn bars_are_shares_of_all() {
        let class = |from, to, count, seconds| Class {
            from,
            to,
            count,
            seconds,
        };
        let lengths = Lengths::of_fragments(vec![
            class(0.0, Some(60.0), 3, 90.0),
            class(60.0, None, 1, 3_510.0),
        ]);
        let parts = parts(&lengths);
        assert_eq!(parts[0].values, [75.0, 25.0]);
        assert_eq!(parts[1].values, [2.5, 97.5]);
        assert_eq!(parts[0].labels[0], "75.0 % (3)");
        assert_eq!(parts[1].labels[1], "97.5 % (0.975 node-hours)");
    }
}
