//! Reads the learning curves of a search's trials from CSV or Parquet.
//!
//! ```csv
//! trial,resource,loss,task
//! 0,1,2.31,resnet18
//! 0,3,1.94,resnet18
//! 1,1,2.28,resnet50
//! ```
//!
//! Each row contains the loss measured after a trial had consumed a given amount of a resource, such as a number of
//! epochs. If training diverged, the loss is `nan`, `inf` or an empty cell. Trials are numbered from 0. The rows of a
//! trial must be in ascending order of resource. The optional column `task` contains the name of the task that the
//! trial trains, as in the task file.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_search::{MAX_JOBS, Point, Table};

use crate::rows::{
    Diverging, Filled, InputColumn, InputRow, Line, Number, Rows, Text, Whole, input,
};
use gleaner_domain::error::{Faults, Result};
use gleaner_io::Loaded;
use gleaner_io::rows::CellResult;
use gleaner_io::source::Source;

const RESOURCE: Number = Number {
    what: "a finite number",
    range: 0.0..=f64::MAX,
};

input! {
    /// A measured loss.
    pub(super) struct LossRow {
        /// the trial's number, from 0
        trial: u32 as Whole(0..=MAX_JOBS as i64 - 1) = "trial" [""],
        /// the amount of resource that the trial had consumed
        resource: f64 as RESOURCE = "resource" [""],
        /// the loss measured at the amount `resource`
        loss: f64 as Diverging = "loss" [""],
        /// the task that the trial trains, by its name in the task file
        task: Option<String> as Filled(Text) = "task" [""],
    }
}

/// Measured learning curves.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCurves {
    /// The losses of all trials.
    pub table: Table,
    /// For each trial, the name of the task that it trains; empty if the file does not name the tasks.
    pub tasks: Vec<String>,
}

/// The columns of a file of learning curves.
pub fn columns() -> Vec<InputColumn> {
    LossRow::columns()
}

/// Reads learning curves.
///
/// # Errors
/// The file cannot be read or is faulty. Faults are reported together.
pub fn read(path: &Path) -> Result<Loaded<MeasuredCurves>> {
    let source = Source::open(path)?;
    let rows = Rows::<LossRow>::open(&source)?;
    let mut curves = Curves::default();
    rows.each("loss of a trial", |line| curves.take(line))?;
    let table = Table::new(curves.points).map_err(|found| {
        let faults = found.into_iter();
        let faults =
            faults.map(|fault| source.fault(fault.found, fault.expected).field(fault.field));
        Faults(faults.collect())
    })?;
    let tasks = curves.tasks.into_values().collect();
    Ok(source.loaded(MeasuredCurves { table, tasks }))
}

/// The curves read so far.
#[derive(Default)]
struct Curves {
    points: BTreeMap<u32, Vec<Point>>,
    tasks: BTreeMap<u32, String>,
}

impl Curves {
    fn take(&mut self, line: &Line<'_, LossRow>) -> CellResult<()> {
        let LossRow {
            trial,
            resource,
            loss,
            task,
        } = line.read()?;
        if let Some(name) = task {
            let known = self.tasks.entry(trial).or_insert_with(|| name.clone());
            if *known != name {
                let expected = format!("{known:?}, as in the rows of trial {trial} above");
                return Err(line.cell("task").fault(expected));
            }
        }
        let points = self.points.entry(trial).or_default();
        let last = points.last().map(|point| point.resource);
        if let Some(last) = last.filter(|last| resource <= *last) {
            let expected = format!("more than {last}, the value in the row of trial {trial} above");
            return Err(line.cell("resource").fault(expected));
        }
        points.push(Point { resource, loss });
        Ok(())
    }
}
