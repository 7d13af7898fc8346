//! The tables of a sweep: by run, and by settings.

use serde_json::Value;

use super::Sweep;
use gleaner_domain::results::sweep::{
    Field, Kind, Metric, Mode, PROGRAM_FAULTS, RunOutcome, Spread, only_repeats,
};
use gleaner_domain::results::{Column, Table};

/// The table `sweep`: the key, the settings and the figures of each run. For replays, the last column is the number of
/// faults of the program that made the decisions.
pub fn table<'a>(sweep: &Sweep<'a>) -> Table<'a> {
    let keys = sweep.runs.iter().map(|run| run.key.as_str().into());
    let settings: Vec<&Value> = sweep.runs.iter().map(|run| &run.settings).collect();
    let settings = sweep
        .mode
        .settings()
        .iter()
        .map(|field| (field.name, column(field, &settings)));
    let figures = sweep.mode.metrics().iter();
    let figures = figures.map(|metric| (metric.name, figures_of(metric, sweep.results)));
    Table {
        name: "sweep",
        columns: std::iter::once(("run", Column::Texts(keys.collect())))
            .chain(settings)
            .chain(figures)
            .chain((sweep.mode == Mode::Replay).then(|| program_faults(sweep.results)))
            .collect(),
    }
}

/// The tables `settings`, `settings_sd`, `settings_se`, `settings_low` and `settings_high`: a row for each combination
/// of settings without the seed and the window. Each row contains the numbers of seeds and windows and, for every
/// figure, a statistic over the seeds or the windows. The statistic is the mean, the standard deviation, the standard
/// error of the mean, or a bound of the mean's 95 % interval.
pub fn settings<'a>(sweep: &Sweep<'a>) -> [Table<'a>; 5] {
    [
        by_settings("settings", sweep, |spread| Some(spread.mean)),
        by_settings("settings_sd", sweep, |spread| spread.deviation),
        by_settings("settings_se", sweep, |spread| spread.standard_error()),
        by_settings("settings_low", sweep, |spread| spread.low()),
        by_settings("settings_high", sweep, |spread| spread.high()),
    ]
}

fn by_settings<'a>(
    name: &'static str,
    sweep: &Sweep<'a>,
    of: fn(Spread) -> Option<f64>,
) -> Table<'a> {
    let firsts = (0..sweep.groups.len()).map(|group| &sweep.first_of(group).settings);
    let firsts: Vec<&Value> = firsts.collect();
    let fields = sweep.mode.settings().iter();
    let fields = fields.filter(|field| !only_repeats(field.name));
    let settings = fields.map(|field| (field.name, column(field, &firsts)));
    let seeds = sweep.groups.iter().map(|group| group.seeds() as u64);
    let seeds = ("seeds", Column::Integers(seeds.collect()));
    let windows = sweep
        .groups
        .iter()
        .map(|group| Some(group.windows()? as i64));
    let windows = ("windows", Column::OptionalWhole(windows.collect()));
    let figures = sweep.mode.metrics().iter().map(|metric| {
        let spreads = sweep.groups.iter();
        let floats = spreads.map(|group| group.spread(sweep.mode, metric).and_then(of));
        (metric.name, Column::Floats(floats.collect()))
    });
    Table {
        name,
        columns: settings.chain([seeds, windows]).chain(figures).collect(),
    }
}

fn column<'a>(field: &Field, values: &[&Value]) -> Column<'a> {
    let found = values.iter().map(|value| value.pointer(field.pointer));
    match field.kind {
        Kind::Text => Column::Texts(found.map(|value| shown(value).into()).collect()),
        Kind::Whole => Column::OptionalWhole(found.map(|value| value?.as_i64()).collect()),
        Kind::Float => Column::Floats(found.map(|value| value?.as_f64()).collect()),
    }
}

/// The column of a figure, with a cell for each run.
fn figures_of<'a>(metric: &Metric, results: &[RunOutcome]) -> Column<'a> {
    let figures = results.iter().map(|result| metric.of(&result.summary));
    match metric.kind {
        Kind::Whole => Column::OptionalWhole(figures.map(|value| Some(value? as i64)).collect()),
        _ => Column::Floats(figures.collect()),
    }
}

/// The column with the number of faults of the program that made a run's decisions. A cell is empty if there was no
/// program.
fn program_faults<'a>(results: &[RunOutcome]) -> (&'static str, Column<'a>) {
    let programs = results.iter().map(|result| result.program.as_ref());
    let faults = programs.map(|program| i64::try_from(program?.faults()).ok());
    (PROGRAM_FAULTS, Column::OptionalWhole(faults.collect()))
}

/// A value as a cell's text; empty if there is no value.
pub(super) fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
