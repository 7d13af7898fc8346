//! Reads the results of `gleaner sweep`.

use serde::Deserialize;

use super::files::RunFiles;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::sweep::{
    Best, Group, Metric, Mode, RESAMPLES, Replication, SweepRow, WINDOW, best, groups,
};
use gleaner_io::rows::{CellResult, Col, Header, Row};

/// The results of a sweep.
#[derive(Debug, Clone)]
pub struct SweepRuns {
    /// The kind of runs: replays or simulations.
    pub mode: Mode,
    /// The metric by which the user ranks the settings.
    pub by: Metric,
    /// All runs, in the order of the plan.
    pub runs: Vec<SweepRow>,
    /// The kind of repetitions over which the means and intervals of the groups are computed.
    pub over: Replication,
    /// The runs, grouped by their settings.
    pub groups: Vec<Group>,
    /// Whether all runs of the plan are included.
    pub complete: bool,
}

/// The part of `summary.json` that is read: the metric, and the repetitions over which intervals are computed. The best
/// settings are computed from the table.
#[derive(Deserialize)]
struct Document {
    metric: String,
    /// Earlier versions always computed intervals over seeds, and did not write this field.
    #[serde(default)]
    intervals: Replication,
}

/// Advice to a user whose sweep has no tables yet.
pub(super) const TABLES_OF_FINISHED_RUNS: &str = "start the sweep again to continue with the missing runs, or \
    write the tables of the finished runs with gleaner sweep PLAN --out DIR --collect --partial";

const SUMMARY: &str = "summary.json";
const TABLE: &str = "sweep.parquet";

impl SweepRuns {
    pub(super) fn read(files: &RunFiles<'_>, complete: bool) -> Result<Self> {
        if !complete && !files.has(TABLE) {
            let found = "an unfinished sweep without tables";
            let fault = Fault::of(&files.path(""), found, "a sweep with the table of its runs");
            return Err(fault.remedy(TABLES_OF_FINISHED_RUNS).into());
        }
        let (mode, runs) = read_runs(files)?;
        let document: Document = files.json(SUMMARY)?;
        let by = mode.metric(&document.metric).ok_or_else(|| {
            let found = format!("{:?}", document.metric);
            Fault::of(
                &files.path(SUMMARY),
                found,
                "the name of a metric of the runs",
            )
            .field("metric")
        })?;
        let over = document.intervals;
        // The time to compute the intervals grows with the number of resamples, so a number outside the range is
        // rejected.
        if let Replication::Blocks(bootstrap) = over
            && !RESAMPLES.contains(&bootstrap.resamples)
        {
            let found = bootstrap.resamples.to_string();
            let expected = format!("from {} to {}", RESAMPLES.start(), RESAMPLES.end());
            let fault = Fault::of(&files.path(SUMMARY), found, expected);
            return Err(fault.field("intervals/resamples").into());
        }
        Ok(SweepRuns {
            mode,
            by,
            over,
            groups: groups(mode, &runs, over),
            runs,
            complete,
        })
    }

    /// The best settings according to a metric. `None` if neither lower nor higher values of the metric are better.
    pub fn best(&self, metric: &Metric) -> Option<Best> {
        best(&self.groups, self.mode, metric)
    }
}

/// The columns of a sweep's table.
struct Columns {
    /// `None` for a column that is missing because an earlier version wrote the table.
    settings: Vec<Option<Col>>,
    figures: Vec<Col>,
}

impl Columns {
    fn pick(header: &mut Header<'_>, mode: Mode) -> Result<Self> {
        header.require(&["run"], "the names of the runs")?;
        let settings = mode.settings().iter();
        let settings = settings.map(|field| match field.name {
            WINDOW => header.optional(&[WINDOW]),
            name => header.require(&[name], "the setting").map(Some),
        });
        let settings = settings.collect::<Result<_>>()?;
        let mut col = |name: &str, holds| header.require(&[name], holds);
        let figures = mode.metrics().iter();
        let figures = figures.map(|metric| col(metric.name, "the figure"));
        Ok(Columns {
            settings,
            figures: figures.collect::<Result<_>>()?,
        })
    }

    fn read(&self, row: &Row<'_>) -> CellResult<SweepRow> {
        let setting = |col: &Option<Col>| match row.given(*col) {
            None => Ok(String::new()),
            Some(cell) => Ok(cell.text()?.into_owned()),
        };
        let figure = |col: &Col| row.given(Some(*col)).map(|cell| cell.float()).transpose();
        Ok(SweepRow {
            settings: self
                .settings
                .iter()
                .map(setting)
                .collect::<CellResult<_>>()?,
            figures: self.figures.iter().map(figure).collect::<CellResult<_>>()?,
        })
    }
}

/// Reads the table of runs. Its columns also show whether the runs are replays or simulations.
fn read_runs(files: &RunFiles<'_>) -> Result<(Mode, Vec<SweepRow>)> {
    let source = files.open(TABLE)?;
    let mut header = Header::open(&source)?;
    let mode = if header.has("policy") {
        Mode::Simulate
    } else {
        Mode::Replay
    };
    let columns = Columns::pick(&mut header, mode)?;
    let (runs, mut faults) = header.finish()?.gather(|row| columns.read(row))?;
    if runs.is_empty() {
        faults.add(source.fault("no row", "a row for each run"))?;
    }
    faults.finish((mode, runs))
}
