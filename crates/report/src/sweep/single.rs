//! A metric by one setting: bars, points with intervals, or lines.

use super::cells::{Cell, LISTED, Values, best, text, title_of};
use super::trials::{Trials, shown};
use crate::figure::{Axis, Colour, Curve, Marks, Part, SERIES, Shape};
use crate::names::slug;
use crate::numbers::count;
use crate::{Figure, Grid, Head};
use gleaner_domain::results::sweep::Spread;
use gleaner_runs::sweep::scale::{Scale, capital};

/// Maximum number of values that are drawn individually, as bars or as points with whiskers. If there are more values,
/// they are drawn as lines.
const APART: usize = 60;
/// Colour of the two grey lines that show the ends of the intervals, as the number of a series.
const ENDS: usize = SERIES - 1;

/// The values of a setting, and the metric for each value.
struct BySetting<'a> {
    scale: &'a Scale,
    columns: Vec<&'a str>,
    /// The metric for each value in `columns`; `None` if no run with this value has the metric.
    cells: Vec<Option<Cell>>,
}

/// A figure of the metric with index `metric` by the setting with index `x`. Means have 95 % intervals if there are
/// enough seeds or windows.
pub(super) fn by_one(trials: &Trials, name: &str, x: usize, metric: usize) -> Figure {
    let across = trials.settings[x];
    let best = best(trials, &[x], metric);
    let along = BySetting::of(trials, x, metric, &best);
    let (scale, has_ends) = (along.scale, along.has_intervals());
    let few = along.columns.len() <= APART;
    let nouns = trials.over.nouns();
    let intervals = match (few, has_ends) {
        (_, false) => String::new(),
        (true, true) => {
            format!(" Whiskers are the 95 % intervals of the means over the {nouns}.")
        }
        (false, true) => {
            format!(
                " The grey lines are the ends of the 95 % intervals of the means over the {nouns}."
            )
        }
    };
    let numeric = along.numeric().filter(|_| !few);
    Figure {
        id: format!("heat-{}", slug(name)),
        title: format!("{} by {across}", capital(&scale.title)),
        text: text(trials, &[x], metric, &best) + &intervals,
        numbers: along.table(across, has_ends.then_some(nouns.as_str())),
        x: match numeric {
            Some(_) => Axis::spread(across),
            None => Axis::names(across, along.columns.iter().map(|c| shown(c)).collect()),
        },
        y: if few && !has_ends {
            Axis::linear(&scale.title)
        } else {
            Axis::spread(&scale.title)
        },
        marks: match (few, has_ends) {
            (true, false) => Marks::Groups(vec![along.bars()]),
            (true, true) => Marks::Curves(along.points(across)),
            (false, _) => Marks::Curves(along.lines(numeric.as_deref(), has_ends)),
        },
    }
}

impl<'a> BySetting<'a> {
    fn of(trials: &'a Trials, x: usize, metric: usize, best: &Values<'_>) -> Self {
        let columns = trials.values(x);
        BySetting {
            scale: &trials.metrics[metric].scale,
            cells: columns
                .iter()
                .map(|c| best.get(&vec![*c]).copied())
                .collect(),
            columns,
        }
    }

    fn has_intervals(&self) -> bool {
        let mut spreads = self.cells.iter().flatten().filter_map(|cell| cell.spread);
        spreads.any(|spread| spread.interval.is_some())
    }

    /// The values of the setting as numbers, if all of them are numbers.
    fn numeric(&self) -> Option<Vec<f64>> {
        let numbers = self.columns.iter().map(|text| text.parse().ok());
        numbers
            .map(|number: Option<f64>| number.filter(|n| n.is_finite()))
            .collect()
    }

    fn bars(&self) -> Part {
        let length = |cell: &Option<Cell>| self.scale.scaled(cell.map_or(0.0, |cell| cell.mean));
        Part {
            name: self.scale.title.clone(),
            colour: Colour::Series(0),
            values: self.cells.iter().map(length).collect(),
            labels: self.cells.iter().map(|cell| self.label(cell)).collect(),
        }
    }

    /// The means as points and their intervals as whiskers.
    fn points(&self, across: &str) -> Vec<Curve> {
        let given = || {
            self.cells
                .iter()
                .enumerate()
                .filter_map(|(at, cell)| Some((at, (*cell)?)))
        };
        let scaled = |value: f64| self.scale.scaled(value);
        let hover = |(at, cell): (usize, Cell)| {
            let place = format!("{across} {}", shown(self.columns[at]));
            match cell.note(self.scale).as_str() {
                "" => place,
                note => format!("{place}, {note}"),
            }
        };
        let whiskers = given().filter_map(|(at, cell)| {
            let ends = cell.spread?.ends()?;
            Some(ends.map(|end| (at as f64, scaled(end))))
        });
        vec![
            Curve {
                name: "Mean".to_owned(),
                colour: Colour::Series(0),
                shape: Shape::Points,
                points: given()
                    .map(|(at, cell)| (at as f64, scaled(cell.mean)))
                    .collect(),
                labels: given().map(hover).collect(),
            },
            Curve {
                name: "95 % interval".to_owned(),
                colour: Colour::Series(0),
                shape: Shape::Whiskers,
                points: whiskers.flatten().collect(),
                labels: Vec::new(),
            },
        ]
    }

    /// The means as a line. If `has_ends` is true, two more lines show the ends of the means' intervals.
    fn lines(&self, numeric: Option<&[f64]>, has_ends: bool) -> Vec<Curve> {
        let place = |at: usize| numeric.map_or(at as f64, |numbers| numbers[at]);
        let line = |name: &str, number: usize, of: fn(&Cell) -> f64| Curve {
            name: name.to_owned(),
            colour: Colour::Series(number),
            shape: Shape::Line,
            points: (self.cells.iter().enumerate())
                .filter_map(|(at, cell)| Some((place(at), self.scale.scaled(of(cell.as_ref()?)))))
                .collect(),
            labels: Vec::new(),
        };
        let mean = line("Mean", 0, |cell| cell.mean);
        let name = "95 % interval";
        if has_ends {
            vec![
                line(&format!("{name}, low"), ENDS, |cell| end(cell, Spread::low)),
                line(&format!("{name}, high"), ENDS, |cell| {
                    end(cell, Spread::high)
                }),
                mean,
            ]
        } else {
            vec![mean]
        }
    }

    fn label(&self, cell: &Option<Cell>) -> String {
        cell.map_or("–".to_owned(), |cell| self.scale.tell(cell.mean))
    }

    /// A table of the means. If `nouns` names the repetitions, the table also has intervals and numbers of repetitions.
    fn table(&self, across: &str, nouns: Option<&str>) -> Grid {
        let heads = [Head::text(across), Head::number(&self.scale.title)];
        let more = [
            Head::number("95 % interval, low"),
            Head::number("high"),
            Head::number(nouns.unwrap_or_default()),
        ];
        let more = more.into_iter().filter(|_| nouns.is_some());
        let title = title_of(&self.scale.title, self.columns.len());
        let mut grid = Grid::new(title, heads.into_iter().chain(more));
        for (column, cell) in self.columns.iter().zip(&self.cells).take(LISTED) {
            let spread = cell.and_then(|cell| cell.spread);
            let end = |end: Option<f64>| end.map_or("–".to_owned(), |end| self.scale.tell(end));
            let more = [
                end(spread.and_then(|spread| spread.low())),
                end(spread.and_then(|spread| spread.high())),
                spread.map_or("–".to_owned(), |spread| count(spread.repetitions)),
            ];
            let first = [shown(column), self.label(cell)];
            grid.row(
                first
                    .into_iter()
                    .chain(more.into_iter().filter(|_| nouns.is_some())),
            );
        }
        grid
    }
}

/// Returns one end of a mean's interval. If the mean has no interval, returns the mean itself, because both lines
/// need a point at every value of the setting.
fn end(cell: &Cell, of: fn(&Spread) -> Option<f64>) -> f64 {
    cell.spread.as_ref().and_then(of).unwrap_or(cell.mean)
}

#[cfg(test)]
mod tests {
    use super::super::trials::tests::trials;
    use super::*;

    // Small fixed example: a sweep of two windows and two solvers.
    #[test]
    fn bars_hold_the_best_and_lower_may_be_better() {
        let trials = trials();
        let lost = trials.metric("rescale_loss").unwrap();
        let figure = by_one(&trials, "swept", 0, lost);
        let Marks::Groups(parts) = &figure.marks else {
            panic!("no bars");
        };
        assert_eq!(parts[0].values, [1.0, 2.0]);
        assert!(
            figure.text.contains("best such mean over solver") && figure.text.contains("Lower")
        );
        assert!(figure.text.contains("The best is 1.00, with t_fwd 30"));
    }
}
