//! A breakdown of one prediction by term.

use crate::Figure;
use crate::figure::{Axis, Colour, Marks, Part};
use crate::numbers::number;
use gleaner_domain::words::{duration, printable};
use gleaner_predict::explanation::{Part as Told, Sum};
use gleaner_runs::explanation;

/// Maximum number of terms with their own bars. All other terms share one bar.
const BARS: usize = 14;

/// A bar for each term, to the right of zero if the term raises the prediction, and to the left if it lowers it.
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
            part("Raises the prediction", Colour::Series(0), |score| {
                score >= 0.0
            }),
            part("Lowers the prediction", Colour::Series(1), |score| {
                score < 0.0
            }),
        ]),
        numbers: explanation::sum(sum),
    }
}

/// The name and the length of a term's bar. The name of a single feature is followed by its value.
fn bar(part: &Told) -> (String, f64) {
    let told = &part.contribution;
    let name = match told.bins.as_slice() {
        [bin] => format!("{}: {}", told.term, printable(bin)),
        _ => told.term.clone(),
    };
    (name, told.score)
}

fn label(score: f64, keep: fn(f64) -> bool) -> String {
    if keep(score) {
        number(score)
    } else {
        String::new()
    }
}

fn text(sum: &Sum) -> String {
    let told = format!(
        "The average of {}, plus what each term adds or subtracts, gives {}",
        number(sum.intercept),
        number(sum.prediction)
    );
    match sum.seconds {
        Some(seconds) => format!("{told}: {}.", duration(seconds)),
        None => format!("{told} {}.", sum.unit),
    }
}
