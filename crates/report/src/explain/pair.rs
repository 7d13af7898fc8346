//! The joint effect of two features, beyond their separate effects.

use gleaner_learn::ebm::{Bins, Cell, Term};

use super::shown;
use crate::figure::{Axis, Heat, Marks};
use crate::names::{cut, slug};
use crate::numbers::number;
use crate::{Figure, Grid};
use gleaner_domain::words::printable;
use gleaner_predict::explanation::{LabelledEbm, TermFacts};
use gleaner_runs::explanation;

/// Maximum number of columns of a heat map whose cells show their numbers.
const ROOM: usize = 12;
/// Maximum length of a bin's name on an axis, in characters. Longer names are cut.
const NAME: usize = 26;
/// Maximum number of cells in the table.
const CELLS: usize = 400;

/// The heat map of the scores of a pair.
pub(super) fn figure(machine: &LabelledEbm<'_>, term: &Term) -> Figure {
    let cells = shown(machine.ebm.cells(term));
    let features = machine.features(term);
    let labels: Vec<Vec<String>> = term
        .axes()
        .iter()
        .map(|axis| {
            let labels = machine.ebm.labels(axis).into_iter();
            labels.map(|label| printable(&label).into_owned()).collect()
        })
        .collect();
    let (width, name) = (labels.last().map_or(1, Vec::len), machine.ebm.name(term));
    let rows: Vec<&[Cell]> = cells.chunks(width).collect();
    // Bins without training rows are left out. For example, the bin of missing values is often empty.
    let across: Vec<usize> = (0..width)
        .filter(|&column| rows.iter().any(|row| row[column].rows > 0))
        .collect();
    let down: Vec<usize> = (0..rows.len())
        .filter(|&row| rows[row].iter().any(|cell| cell.rows > 0))
        .collect();
    let down_names = down.iter().map(|&group| cut(&labels[0][group], NAME));
    Figure {
        id: format!("pair-{}", slug(&name)),
        title: name.clone(),
        text: format!(
            "The joint effect of two values, beyond their separate effects: from {} in the \
             faintest cells to {} in the strongest. Empty cells have no training rows. Importance: {}.",
            extreme(&cells, f64::min),
            extreme(&cells, f64::max),
            number(term.importance())
        ),
        y: Axis::names(&features[0], down_names.collect()),
        x: columns(machine, term, &labels[1], &across),
        marks: Marks::Heat(heat(&rows, &down, &across)),
        numbers: numbers(machine.facts(term)),
    }
}

/// The horizontal axis of the heat map. A bin of numbers is labelled with the value at which it begins, because its
/// full name would not fit.
fn columns(machine: &LabelledEbm<'_>, term: &Term, labels: &[String], kept: &[usize]) -> Axis {
    let Some(axis) = term.axes().last() else {
        return Axis::names("", Vec::new());
    };
    let feature = &machine.ebm.features()[axis.feature()];
    let numeric = matches!(feature.bins, Bins::Numeric { .. });
    let name = |&group: &usize| match axis.begin(&feature.bins, group) {
        Some(begin) => edge(begin),
        None if numeric && group > 0 => "least".to_owned(),
        None => cut(&labels[group], NAME),
    };
    let title = if numeric {
        format!("{}, from", feature.name)
    } else {
        feature.name.clone()
    };
    Axis::names(title, kept.iter().map(name).collect())
}

/// Formats the value at which a bin begins, with few digits.
fn edge(value: f64) -> String {
    if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else {
        number(value)
    }
}

fn extreme(cells: &[Cell], of: fn(f64, f64) -> f64) -> String {
    let scores = cells.iter().filter(|cell| cell.rows > 0);
    let extreme = scores.map(|cell| cell.score).reduce(of);
    number(extreme.unwrap_or_default())
}

fn heat(rows: &[&[Cell]], down: &[usize], across: &[usize]) -> Heat {
    let of_row = |row: usize| across.iter().map(move |&column| &rows[row][column]);
    let label = |cell: &Cell| {
        if cell.rows > 0 && across.len() <= ROOM {
            number(cell.score)
        } else {
            String::new()
        }
    };
    Heat {
        title: "score".to_owned(),
        values: down
            .iter()
            .map(|&row| {
                of_row(row)
                    .map(|cell| (cell.rows > 0).then_some(cell.score))
                    .collect()
            })
            .collect(),
        labels: down
            .iter()
            .map(|&row| of_row(row).map(label).collect())
            .collect(),
        notes: Vec::new(),
        log: false,
    }
}

/// A table of the cells with the most training rows.
fn numbers(facts: TermFacts) -> Grid {
    let mut cells = facts.cells;
    cells.retain(|cell| cell.rows > 0);
    let which = if cells.len() > CELLS {
        format!("the {CELLS} cells with the most training rows")
    } else {
        "all cells with training rows".to_owned()
    };
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.rows));
    cells.truncate(CELLS);
    let title = format!("{}: {which}", facts.term);
    let facts = TermFacts { cells, ..facts };
    Grid {
        title,
        ..explanation::term(&facts)
    }
}
