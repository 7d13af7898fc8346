//! The effect of a feature on predictions, by the feature's value.

use gleaner_learn::ebm::{Bins, Cell, Term};

use super::shown;
use crate::Figure;
use crate::figure::{Axis, Colour, Curve, Marks, Part, Shape};
use crate::names::{short, slug};
use crate::numbers::{count, number};
use gleaner_predict::explanation::{LabelledEbm, TermFacts};
use gleaner_runs::explanation;

/// Maximum number of categories with a bar.
const CATEGORIES: usize = 30;
/// Maximum width of the first and of the last step in the figure, as a share of the distance from the first cut to the
/// last.
const MARGIN: f64 = 0.1;

/// The shape function of a feature: a step curve for numbers, bars for categories.
pub(super) fn figure(machine: &LabelledEbm<'_>, term: &Term) -> Figure {
    let facts = machine.facts(term);
    let facts = TermFacts {
        cells: shown(facts.cells),
        ..facts
    };
    let feature = term.axes().first().map_or(0, |axis| axis.feature());
    let (x, marks, read) = match &machine.ebm.features()[feature].bins {
        Bins::Numeric {
            cuts,
            least,
            greatest,
        } => steps(&facts, cuts, [*least, *greatest]),
        Bins::Categorical { .. } => bars(&facts),
    };
    Figure {
        id: format!("shape-{}", slug(&facts.term)),
        title: facts.term.clone(),
        text: format!("{read} Importance: {}.", number(facts.importance)),
        x,
        y: Axis::spread("score"),
        marks,
        numbers: explanation::term(&facts),
    }
}

/// The step curve of a numeric feature. `cuts` separate the feature's bins. The first bin begins at `least`, and the
/// last bin ends at `greatest`.
fn steps(facts: &TermFacts, cuts: &[f64], [least, greatest]: [f64; 2]) -> (Axis, Marks, String) {
    let edges = edges(cuts, least, greatest);
    let read = format!(
        "The amount that each value adds to the prediction. The thin curves are one standard deviation \
         (over the bags) above and below the score; they are far apart where data are scarce. The first \
         step begins at {}, and the last step ends at {}; both may be drawn shorter.{}",
        number(least),
        number(greatest),
        missing(&facts.cells)
    );
    let curves = curves(&facts.cells, &edges);
    (Axis::spread(&facts.term), Marks::Curves(curves), read)
}

/// The values at which the bins begin, followed by the value at which the last bin ends.
///
/// The first and the last bin may be very wide, although few values lie in them. Each of these two bins is drawn no
/// wider than [`MARGIN`] of the distance from the first cut to the last.
fn edges(cuts: &[f64], least: f64, greatest: f64) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (cuts.first(), cuts.last()) else {
        return vec![least, greatest];
    };
    let (mut start, mut end) = (least.min(first), greatest.max(last));
    if first < last {
        let margin = MARGIN * (last - first);
        (start, end) = (start.max(first - margin), end.min(last + margin));
    }
    std::iter::once(start)
        .chain(cuts.iter().copied())
        .chain([end])
        .collect()
}

fn curves(cells: &[Cell], edges: &[f64]) -> Vec<Curve> {
    let known = cells.get(1..).unwrap_or_default();
    let curve = |name: &str, colour, of: fn(&Cell) -> f64| {
        let mut points: Vec<(f64, f64)> = edges
            .iter()
            .zip(known)
            .map(|(edge, cell)| (*edge, of(cell)))
            .collect();
        let end = edges.last().zip(known.last());
        points.extend(end.map(|(edge, cell)| (*edge, of(cell))));
        Curve {
            name: name.to_owned(),
            colour,
            shape: Shape::Step,
            points,
            labels: Vec::new(),
        }
    };
    vec![
        curve("Score − deviation", Colour::Muted, |c| {
            c.score - c.deviation
        }),
        curve("Score + deviation", Colour::Muted, |c| {
            c.score + c.deviation
        }),
        curve("Score", Colour::Series(0), |c| c.score),
    ]
}

fn missing(cells: &[Cell]) -> String {
    match cells.first() {
        Some(cell) if cell.rows > 0 => format!(
            " The value is missing in {} training rows, whose score is {}.",
            count(cell.rows),
            number(cell.score)
        ),
        _ => String::new(),
    }
}

/// Bars of the categories with the most training rows, in descending order of score.
fn bars(facts: &TermFacts) -> (Axis, Marks, String) {
    let mut cells: Vec<&Cell> = facts.cells.iter().filter(|cell| cell.rows > 0).collect();
    let all = cells.len();
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.rows));
    cells.truncate(CATEGORIES);
    cells.sort_by(|a, b| b.score.total_cmp(&a.score));
    let label = |cell: &&Cell| {
        let (score, deviation) = (number(cell.score), number(cell.deviation));
        format!("{score} ± {deviation}, {} rows", count(cell.rows))
    };
    let part = Part {
        name: "Score".to_owned(),
        colour: Colour::Series(0),
        values: cells.iter().map(|cell| cell.score).collect(),
        labels: cells.iter().map(label).collect(),
    };
    let names = cells.iter().map(|cell| short(&cell.bins.join(" & ")));
    let which = if all > cells.len() {
        format!("the {} of {all} with the most training rows", cells.len())
    } else {
        format!("all {all}")
    };
    (
        Axis::names("", names.collect()),
        Marks::Groups(vec![part]),
        format!("The amount that each category adds to the prediction, largest first: {which}."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distant_ends_of_the_axis_are_cut() {
        let cuts = [10.0, 15.0, 20.0];
        assert_eq!(edges(&cuts, 0.0, 900.0), [9.0, 10.0, 15.0, 20.0, 21.0]);
        assert_eq!(edges(&cuts, 9.5, 20.0), [9.5, 10.0, 15.0, 20.0, 20.0]);
        assert_eq!(edges(&[1.0], 0.0, 2.0), [0.0, 1.0, 2.0]);
        assert_eq!(edges(&[], 3.0, 3.0), [3.0, 3.0]);
    }
}
