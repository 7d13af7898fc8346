//! Shows how the idle node-time and the possible work of a replay were spent.

use super::Named;
use crate::figure::{Axis, Colour, Marks, Part};
use crate::numbers::{hours, large, percent};
use crate::{Figure, Grid, Head};
use gleaner_domain::results::replay::Summary;

/// A part of an account: its name, its colour and its amount.
type Amount = (&'static str, Colour, fn(&Summary) -> f64);

/// An account: a total and the parts that add up to it.
struct Account {
    name: &'static str,
    whole: fn(&Summary) -> f64,
    parts: [Amount; 4],
}

/// The accounts of idle node-time, in node-seconds, and of the work that was possible on the nodes held
/// by tasks.
static ACCOUNTS: [Account; 2] = [
    Account {
        name: "Idle node-time",
        whole: |s| s.idle_node_seconds,
        parts: [
            ("Used before completion", Colour::Series(0), |s| {
                s.before_completion_node_seconds
            }),
            ("Held after completion", Colour::Series(3), |s| {
                s.after_completion_node_seconds
            }),
            ("Held with too few nodes to run", Colour::Series(4), |s| {
                s.below_minimum_node_seconds
            }),
            ("Unused", Colour::Muted, |s| s.unused_node_seconds),
        ],
    },
    Account {
        name: "Possible work",
        whole: |s| s.gross_work,
        parts: [
            ("Useful", Colour::Series(2), |s| s.total_work),
            ("Lost to rescaling", Colour::Series(5), |s| s.rescale_loss),
            ("Lost to preemption", Colour::Series(1), |s| {
                s.preemption_loss
            }),
            ("Lost after completion", Colour::Series(6), |s| {
                s.after_completion_work
            }),
        ],
    },
];

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    let parts = ACCOUNTS.iter().enumerate().flat_map(|(bar, account)| {
        let parts = account.parts.iter();
        parts.map(move |amount| part(runs, bar, account, amount))
    });
    Figure {
        id: "spent".to_owned(),
        title: "Where node-time and work went".to_owned(),
        text:
            "Two accounts. Idle node-time: used before the tasks' completion, held without use, and unused. \
               Possible work at the tasks' rates: useful work, which counts towards completion, and \
               lost work."
                .to_owned(),
        x: Axis::linear("%"),
        y: Axis::names("", names(runs)),
        marks: Marks::Bars(parts.collect()),
        numbers: numbers(runs),
    }
}

fn names(runs: &[Named<'_>]) -> Vec<String> {
    let name = |account: &Account, run: &Named<'_>| match runs {
        [_] => account.name.to_owned(),
        _ => format!("{}: {}", run.name, account.name.to_lowercase()),
    };
    let of_account = |account| runs.iter().map(move |run| name(account, run));
    ACCOUNTS.iter().flat_map(of_account).collect()
}

/// Returns one part of an account, with a value for each bar in the order of [`names`]. The value is 0 in the bars of
/// the other account.
fn part(runs: &[Named<'_>], bar: usize, account: &Account, (name, colour, of): &Amount) -> Part {
    let share = |s: &Summary| {
        let whole = (account.whole)(s);
        // Because completion times are rounded, a share can be slightly negative.
        let share = if whole > 0.0 { of(s) / whole } else { 0.0 };
        100.0 * if share < 1e-9 { 0.0 } else { share }
    };
    let of_bar = |at: usize| {
        let shares = runs.iter().map(|run| share(&run.result.summary));
        shares
            .map(|share| if at == bar { share } else { 0.0 })
            .collect::<Vec<f64>>()
    };
    let values: Vec<f64> = (0..ACCOUNTS.len()).flat_map(of_bar).collect();
    let label = |value: &f64| match *value {
        0.0 => String::new(),
        value => percent(value / 100.0),
    };
    Part {
        name: (*name).to_owned(),
        colour: *colour,
        labels: values.iter().map(label).collect(),
        values,
    }
}

/// A table of node-hours and work, with their shares of the total.
fn numbers(runs: &[Named<'_>]) -> Grid {
    let mut heads = vec![Head::text("part")];
    for run in runs {
        let prefix = if runs.len() > 1 {
            format!("{}: ", run.name)
        } else {
            String::new()
        };
        heads.push(Head::number(format!("{prefix}amount")));
        heads.push(Head::number(format!("{prefix}share")));
    }
    let title = "Node-hours and work, in the units of the scaling curves";
    let mut grid = Grid::new(title, heads);
    let amounts: [fn(f64) -> String; 2] = [hours, large];
    for (account, amount) in ACCOUNTS.iter().zip(amounts) {
        let row = |name: &str, of: fn(&Summary) -> f64| {
            let cells = runs.iter().flat_map(|run| {
                let s = &run.result.summary;
                let (part, whole) = (of(s), (account.whole)(s));
                let share = if whole > 0.0 { part / whole } else { 0.0 };
                // As in the figure, a negative or tiny share is a rounding error and counts as 0.
                let part = if share < 1e-9 { 0.0 } else { part };
                [amount(part), percent(share.max(0.0))]
            });
            std::iter::once(name.to_owned())
                .chain(cells)
                .collect::<Vec<_>>()
        };
        grid.row(row(account.name, account.whole));
        for (name, _, of) in &account.parts {
            grid.row(row(name, *of));
        }
    }
    grid
}
