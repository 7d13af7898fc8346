//! One prediction, broken down.

use crate::figure::{Axis, Colour, Marks, Part};
use crate::numbers::number;
use crate::{Figure, Grid, Head};
use gleaner_core::words::{counted, duration, printable};
use gleaner_predict::explanation::{Part as Told, Rule, Sum, Way};

/// Maximum number of terms with a bar of their own; the others share one.
const BARS: usize = 14;

/// What each term adds, as bars to either side of zero.
pub(super) fn figure(sum: &Sum) -> Figure {
    let mut bars: Vec<(String, f64)> = sum.contributions.iter().take(BARS).map(bar).collect();
    let rest = sum.contributions.get(BARS..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = rest.iter().map(|part| part.contribution.score).sum();
        bars.push((format!("{} others", rest.len()), sum));
    }
    let part = |name: &str, colour, keep: fn(f64) -> bool| Part {
        name: name.to_owned(),
        colour,
        values: bars
            .iter()
            .map(|(_, score)| if keep(*score) { *score } else { 0.0 })
            .collect(),
        labels: bars.iter().map(|(_, score)| label(*score, keep)).collect(),
    };
    Figure {
        id: "prediction".to_owned(),
        title: format!(
            "The {} predicted for {}",
            sum.label.name(),
            printable(&sum.subject)
        ),
        text: text(sum),
        x: Axis::spread(format!("added, {}", sum.unit)),
        y: Axis::names("", bars.iter().map(|(name, _)| name.clone()).collect()),
        marks: Marks::Bars(vec![
            part("Raises it", Colour::Series(0), |score| score >= 0.0),
            part("Lowers it", Colour::Series(1), |score| score < 0.0),
        ]),
        numbers: numbers(sum),
    }
}

/// The name and the length of a term's bar. A single feature is named with its value.
fn bar(part: &Told) -> (String, f64) {
    let told = &part.contribution;
    let name = match told.bins.as_slice() {
        [bin] => format!("{}: {}", told.term, printable(bin)),
        _ => told.term.clone(),
    };
    (name, told.score)
}

fn label(score: f64, keep: fn(f64) -> bool) -> String {
    match keep(score) {
        true => number(score),
        false => String::new(),
    }
}

fn text(sum: &Sum) -> String {
    let told = format!(
        "{} on average, and what each term adds or takes, make {}",
        number(sum.intercept),
        number(sum.prediction)
    );
    match sum.seconds {
        Some(seconds) => format!("{told}: {}.", duration(seconds)),
        None => format!("{told} {}.", sum.unit),
    }
}

fn numbers(sum: &Sum) -> Grid {
    let factors = sum.contributions.iter().any(|part| part.factor.is_some());
    let mut heads = vec![Head::text("term"), Head::text("bin"), Head::number("adds")];
    heads.extend(factors.then(|| Head::number("multiplies 1 + seconds by")));
    let mut grid = Grid::new("All terms", heads);
    for part in &sum.contributions {
        let told = &part.contribution;
        let bins = told.bins.join(" & ");
        let cells = [
            told.term.clone(),
            printable(&bins).into_owned(),
            number(told.score),
        ];
        grid.row(cells.into_iter().chain(part.factor.map(number)));
    }
    grid
}

/// The decisions on the path of a prediction through a tree, and the training rows of its leaf.
pub(super) fn way(way: &Way) -> Grid {
    let title = format!("{}: sharing score {}", printable(&way.subject), way.score);
    let mut grid = Grid::new(title, [Head::number("decision"), Head::text("by")]);
    for (number, step) in way.steps.iter().enumerate() {
        grid.row([(number + 1).to_string(), step.clone()]);
    }
    let rows: Vec<String> = way.rows.iter().map(usize::to_string).collect();
    let leaf = format!("training rows by score: {}", rows.join(", "));
    grid.row([String::new(), leaf]);
    grid
}

/// The past jobs whose mean a rule predicts.
pub(super) fn rule(rule: &Rule) -> Grid {
    let title = format!(
        "{}: {} ({} s)",
        printable(&rule.subject),
        duration(rule.seconds),
        number(rule.seconds)
    );
    let mut grid = Grid::new(
        title,
        [Head::text("the mean of"), Head::text("with the same")],
    );
    if let Some(jobs) = rule.jobs {
        let alike = printable(&rule.alike).into_owned();
        grid.row([counted(jobs, "past job"), alike]);
    }
    grid
}
