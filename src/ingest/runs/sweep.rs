//! The results of `gleaner sweep`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::files::RunFiles;
use crate::error::{Fault, Result};
use crate::ingest::Gatherer;
use crate::ingest::rows::{CellResult, Col, Header, Row};
use crate::sweep::{Field, Metric, Mode};

/// A sweep's results.
#[derive(Debug, Clone)]
pub struct SweepRuns {
    /// What it ran.
    pub mode: Mode,
    /// The figure by which its best run was chosen.
    pub by: Metric,
    /// Its runs, in the plan's order.
    pub runs: Vec<SweptRun>,
    /// The best run by each figure that has one, in the order of [`Mode::metrics`].
    pub best: Vec<BestRun>,
}

/// A run of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweptRun {
    /// Its settings in the order of [`Mode::settings`]; empty where it has none.
    pub settings: Vec<String>,
    /// Its figures in the order of [`Mode::metrics`]; `None` where it has none.
    pub figures: Vec<Option<f64>>,
}

/// The best run by a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestRun {
    /// The figure.
    pub metric: Metric,
    /// Place of the run in [`SweepRuns::runs`].
    pub run: usize,
    /// How many runs are as good.
    pub as_good: u64,
}

/// `summary.json`.
#[derive(Deserialize)]
struct Document {
    metric: String,
    best_by_metric: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    run: String,
    runs_as_good: u64,
}

const SUMMARY: &str = "summary.json";
const TABLE: &str = "sweep.parquet";

impl SweepRuns {
    pub(super) fn read(files: &RunFiles<'_>, complete: bool) -> Result<Self> {
        if !complete {
            let fault = Fault::of(
                &files.path(""),
                "a sweep that was interrupted",
                "one with all its runs",
            );
            let remedy = "start it again: it goes on with the runs that are missing";
            return Err(fault.remedy(remedy).into());
        }
        let (mode, keys, runs) = read_runs(files)?;
        let document: Document = files.json(SUMMARY)?;
        let by = mode.metric(&document.metric).ok_or_else(|| {
            let found = format!("{:?}", document.metric);
            Fault::of(&files.path(SUMMARY), found, "a figure of the runs").field("metric")
        })?;
        let places: BTreeMap<&str, usize> = keys.iter().map(String::as_str).zip(0..).collect();
        let mut best = Vec::new();
        for metric in mode.metrics() {
            let Some(entry) = document.best_by_metric.get(metric.field.name) else {
                continue;
            };
            let run = places.get(entry.run.as_str()).copied().ok_or_else(|| {
                let found = format!("run {:?}", entry.run);
                let fault = Fault::of(&files.path(SUMMARY), found, format!("a run of {TABLE}"));
                fault.field(format!("best_by_metric.{}", metric.field.name))
            })?;
            best.push(BestRun {
                metric: *metric,
                run,
                as_good: entry.runs_as_good,
            });
        }
        Ok(SweepRuns {
            mode,
            by,
            runs,
            best,
        })
    }
}

/// The columns of a table that were asked for.
struct Columns {
    run: Col,
    settings: Vec<Col>,
    figures: Vec<Col>,
}

impl Columns {
    fn pick(header: &mut Header<'_>, mode: Mode) -> Result<Self> {
        let run = header.require(&["run"], "the names of the runs")?;
        let mut col = |field: &Field, holds| header.require(&[field.name], holds);
        let settings = mode.settings().iter();
        let settings = settings.map(|field| col(field, "the setting"));
        let settings = settings.collect::<Result<_>>()?;
        let figures = mode.metrics().iter();
        let figures = figures.map(|metric| col(&metric.field, "the figure"));
        Ok(Columns {
            run,
            settings,
            figures: figures.collect::<Result<_>>()?,
        })
    }

    fn read(&self, row: &Row<'_>) -> CellResult<(String, SweptRun)> {
        let setting = |col: &Col| match row.given(Some(*col)) {
            None => Ok(String::new()),
            Some(cell) => Ok(cell.text()?.into_owned()),
        };
        let figure = |col: &Col| row.given(Some(*col)).map(|cell| cell.float()).transpose();
        let run = SweptRun {
            settings: self
                .settings
                .iter()
                .map(setting)
                .collect::<CellResult<_>>()?,
            figures: self.figures.iter().map(figure).collect::<CellResult<_>>()?,
        };
        Ok((row.cell(self.run).text()?.into_owned(), run))
    }
}

/// What was swept, and the runs with their names.
fn read_runs(files: &RunFiles<'_>) -> Result<(Mode, Vec<String>, Vec<SweptRun>)> {
    let source = files.open(TABLE)?;
    let mut header = Header::open(&source)?;
    let mode = match header.has("policy") {
        true => Mode::Simulate,
        false => Mode::Replay,
    };
    let columns = Columns::pick(&mut header, mode)?;
    let (mut keys, mut runs, mut faults) = (Vec::new(), Vec::new(), Gatherer::default());
    header.finish()?.visit(|row| {
        match row.and_then(|row| columns.read(&row)) {
            Ok((key, run)) => {
                keys.push(key);
                runs.push(run);
            }
            Err(fault) => faults.add(*fault)?,
        }
        Ok(())
    })?;
    if runs.is_empty() {
        faults.add(source.fault("no row", "a row for each run"))?;
    }
    faults.finish((mode, keys, runs))
}
