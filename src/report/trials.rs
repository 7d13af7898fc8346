//! Figures of trials: runs that differ in their settings, with a metric or more each.

use std::collections::BTreeMap;

use super::figure::{Axis, Colour, Curve, Figure, Heat, Marks, Shape};
use super::names::{short, slug};
use super::numbers::number;
use super::{Grid, Head};

/// A table of trials.
#[derive(Debug, Clone, Default)]
pub struct Trials {
    /// Names of the settings.
    pub settings: Vec<String>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// The trials.
    pub trials: Vec<Trial>,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name, with its unit.
    pub name: String,
    /// Which values are better.
    pub better: Better,
}

/// Which values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Higher ones.
    Higher,
    /// Lower ones.
    Lower,
}

/// A trial.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Its settings as texts, in the order of [`Trials::settings`].
    pub settings: Vec<String>,
    /// Its metrics, in the order of [`Trials::metrics`]; `None` where it has none.
    pub metrics: Vec<Option<f64>>,
}

impl Better {
    /// Whether `a` is better than `b`.
    fn than(self, a: f64, b: f64) -> bool {
        match self {
            Better::Higher => a > b,
            Better::Lower => a < b,
        }
    }
}

impl Trials {
    /// A metric by two settings, given by their places: of trials that differ in other
    /// settings alone, the best.
    pub fn heat(&self, x: usize, y: usize, metric: usize) -> Figure {
        let name = &self.metrics[metric].name;
        let (columns, rows) = (self.values(x), self.values(y));
        let values = self.best(&columns, &rows, (x, y, metric));
        let (across, down) = (&self.settings[x], &self.settings[y]);
        let label = |value: &Option<f64>| value.map_or("–".to_owned(), number);
        let labels: Vec<Vec<String>> = values
            .iter()
            .map(|row| row.iter().map(label).collect())
            .collect();
        Figure {
            id: slug(&format!("heat {name} {across} {down}")),
            title: format!("{name} by {across} and {down}"),
            text: "The best of all trials with both settings; the stronger the colour, the \
                   higher the value."
                .to_owned(),
            numbers: table(name, down, &columns, &rows, &labels),
            x: Axis::names(across, shown(&columns)),
            y: Axis::names(down, shown(&rows)),
            marks: Marks::Heat(Heat {
                title: name.clone(),
                values,
                labels,
                log: false,
            }),
        }
    }

    /// The best value of a metric for each row and column of two settings.
    fn best(
        &self,
        columns: &[String],
        rows: &[String],
        (x, y, metric): (usize, usize, usize),
    ) -> Vec<Vec<Option<f64>>> {
        let better = self.metrics[metric].better;
        let mut values = vec![vec![None; columns.len()]; rows.len()];
        let place = |of: &[String], value: &String| of.iter().position(|other| other == value);
        for trial in &self.trials {
            let column = place(columns, &trial.settings[x]);
            let row = place(rows, &trial.settings[y]);
            if let (Some(column), Some(row), Some(value)) = (column, row, trial.metrics[metric]) {
                let cell: &mut Option<f64> = &mut values[row][column];
                if cell.is_none_or(|before| better.than(value, before)) {
                    *cell = Some(value);
                }
            }
        }
        values
    }

    /// All trials by two metrics, given by their places, and those that no other beats in
    /// both: the Pareto front.
    pub fn pareto(&self, x: usize, y: usize) -> Figure {
        let (across, up) = (&self.metrics[x], &self.metrics[y]);
        let front = self.front(x, y);
        let mut all: Vec<(f64, f64)> = self.trials.iter().filter_map(|t| point(t, x, y)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let on_front = front
            .iter()
            .filter_map(|&trial| point(&self.trials[trial], x, y));
        let curve = |name: &str, colour, shape, points| Curve {
            name: name.to_owned(),
            colour,
            shape,
            points,
        };
        Figure {
            id: slug(&format!("pareto {} {}", across.name, up.name)),
            title: format!("{} against {}", up.name, across.name),
            text: "A point for each trial. The line joins those that no other beats in both."
                .to_owned(),
            numbers: self.tell(&front, x, y),
            x: Axis::linear(&across.name),
            y: Axis::linear(&up.name),
            marks: Marks::Curves(vec![
                curve("Trials", Colour::Muted, Shape::Points, all),
                curve(
                    "Not beaten",
                    Colour::Series(0),
                    Shape::Line,
                    on_front.collect(),
                ),
            ]),
        }
    }

    /// The different values of a setting, numbers in their order, other texts as they come up.
    fn values(&self, setting: usize) -> Vec<String> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, trial) in self.trials.iter().enumerate() {
            first.entry(&trial.settings[setting]).or_insert(place);
        }
        let mut values: Vec<(&str, usize)> = first.into_iter().collect();
        let key = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
        values.sort_by(|a, b| key(a.0).total_cmp(&key(b.0)).then(a.1.cmp(&b.1)));
        values
            .into_iter()
            .map(|(value, _)| value.to_owned())
            .collect()
    }

    /// Trials that no other beats in both metrics, by x.
    fn front(&self, x: usize, y: usize) -> Vec<usize> {
        let (along, up) = (self.metrics[x].better, self.metrics[y].better);
        let point = |trial: usize| point(&self.trials[trial], x, y);
        let mut order: Vec<(usize, (f64, f64))> = (0..self.trials.len())
            .filter_map(|trial| Some((trial, point(trial)?)))
            .collect();
        // From the best x, then the best y: each is beaten unless its y is the best so far.
        let first = |better: Better, a: f64, b: f64| match better {
            Better::Lower => a.total_cmp(&b),
            Better::Higher => b.total_cmp(&a),
        };
        order.sort_by(|(_, a), (_, b)| first(along, a.0, b.0).then(first(up, a.1, b.1)));
        let mut best = None;
        order.retain(|(_, (_, value))| {
            let better = best.is_none_or(|best| up.than(*value, best));
            if better {
                best = Some(*value);
            }
            better
        });
        order.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        order.into_iter().map(|(trial, _)| trial).collect()
    }

    fn tell(&self, front: &[usize], x: usize, y: usize) -> Grid {
        let metrics = [x, y].map(|metric| Head::number(short(&self.metrics[metric].name)));
        let heads = self
            .settings
            .iter()
            .map(|name| Head::text(short(name)))
            .chain(metrics);
        let mut grid = Grid::new("Trials that no other beats in both", heads);
        for &trial in front {
            let Trial { settings, metrics } = &self.trials[trial];
            let metrics = [x, y].map(|metric| metrics[metric].map_or("–".to_owned(), number));
            grid.row(settings.iter().map(|text| short(text)).chain(metrics));
        }
        grid
    }
}

fn point(trial: &Trial, x: usize, y: usize) -> Option<(f64, f64)> {
    trial.metrics[x].zip(trial.metrics[y])
}

fn shown(names: &[String]) -> Vec<String> {
    names.iter().map(|name| short(name)).collect()
}

fn table(
    title: &str,
    down: &str,
    columns: &[String],
    rows: &[String],
    cells: &[Vec<String>],
) -> Grid {
    let heads = columns.iter().map(|column| Head::number(short(column)));
    let mut grid = Grid::new(title, std::iter::once(Head::text(short(down))).chain(heads));
    for (row, cells) in rows.iter().zip(cells) {
        grid.row(std::iter::once(short(row)).chain(cells.iter().cloned()));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows and solvers; metrics are work, higher better, and time, lower better.
    fn trials() -> Trials {
        let metric = |name: &str, better| Metric {
            name: name.to_owned(),
            better,
        };
        let rows = [
            ("120", "a", 5.0, 3.0),
            ("30", "a", 4.0, 1.0),
            ("30", "b", 6.0, 4.0),
            ("120", "b", 5.0, 2.0),
            ("120", "a", 7.0, 9.0),
        ];
        let trial = |(window, solver, work, time): (&str, &str, f64, f64)| Trial {
            settings: vec![window.to_owned(), solver.to_owned()],
            metrics: vec![Some(work), Some(time)],
        };
        Trials {
            settings: vec!["window".to_owned(), "solver".to_owned()],
            metrics: vec![
                metric("work", Better::Higher),
                metric("time", Better::Lower),
            ],
            trials: rows.map(trial).to_vec(),
        }
    }

    // Small fixed examples.
    #[test]
    fn cells_hold_the_best() {
        let figure = trials().heat(0, 1, 0);
        let Marks::Heat(heat) = &figure.marks else {
            panic!("no heat map");
        };
        assert_eq!(
            heat.values,
            [[Some(4.0), Some(7.0)], [Some(6.0), Some(5.0)]]
        );
        assert_eq!(figure.id, "heat-work-window-solver");
        assert_eq!(figure.numbers.rows[0], ["a", "4.00", "7.00"]);
    }

    #[test]
    fn the_front_is_not_beaten() {
        let Marks::Curves(curves) = trials().pareto(1, 0).marks else {
            panic!("no curves");
        };
        assert_eq!(curves[0].points.len(), 5);
        assert_eq!(
            curves[1].points,
            [(1.0, 4.0), (2.0, 5.0), (4.0, 6.0), (9.0, 7.0)]
        );
    }

    #[test]
    fn pictures_of_trials_can_be_drawn() {
        for figure in [trials().heat(0, 1, 1), trials().pareto(0, 1)] {
            let svg = crate::report::still::svg(&figure).unwrap();
            assert!(svg.contains("<text") && svg.contains("<rect"));
        }
    }
}
