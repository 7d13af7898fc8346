//! The figures of policies as tables, for data frames.

use gleaner_domain::results::simulate::{Delays, PolicyFigures};
use gleaner_domain::results::{Column, Figures, Metric, Table};

/// The figures by which policies are compared: a row for each policy, with the columns `policy` and `gpus` first. The
/// figures of small or large jobs are missing if there are no such jobs.
pub fn policies<'a>(runs: &[(&'a str, &'a PolicyFigures)]) -> Table<'a> {
    let gpus = runs.iter().map(|(_, figures)| figures.gpus);
    let mut columns = vec![
        ("policy", texts(runs.iter().map(|(name, _)| *name))),
        ("gpus", Column::Integers(gpus.collect())),
    ];
    let figures: Vec<_> = runs.iter().map(|(_, figures)| Some(*figures)).collect();
    columns.extend(figure_columns(&figures));
    Table {
        name: "policies",
        columns,
    }
}

/// The delays of jobs in each virtual cluster under each policy. The cells are empty if the virtual cluster had no
/// jobs.
pub fn vcs<'a>(runs: &[(&'a str, &'a PolicyFigures)]) -> Table<'a> {
    let rows = runs.iter().flat_map(|(name, figures)| {
        let vcs = figures.vcs.0.iter();
        vcs.map(|(vc, delays)| (*name, vc.as_str(), delays.as_ref()))
    });
    let rows: Vec<_> = rows.collect();
    let mut columns = vec![
        ("policy", texts(rows.iter().map(|row| row.0))),
        ("vc", texts(rows.iter().map(|row| row.1))),
    ];
    let delays: Vec<Option<&Delays>> = rows.iter().map(|row| row.2).collect();
    columns.extend(figure_columns(&delays));
    Table {
        name: "vcs",
        columns,
    }
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Column<'a> {
    Column::Texts(texts.map(Into::into).collect())
}

/// A column for each figure, with a row for each summary. The cells of a missing summary are empty.
fn figure_columns<'a, S: Figures>(
    summaries: &[Option<&S>],
) -> impl Iterator<Item = (&'static str, Column<'a>)> {
    S::METRICS.iter().map(|metric: &Metric<S>| {
        let values = summaries.iter().map(|summary| (metric.of)((*summary)?));
        let column = if metric.is_whole {
            Column::OptionalWhole(values.map(|value| Some(value? as i64)).collect())
        } else {
            Column::Floats(values.collect())
        };
        (metric.name, column)
    })
}
