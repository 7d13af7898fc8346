//! Reads the learning curves of a search's trials from CSV or Parquet.
//!
//! ```csv
//! trial,resource,loss,task
//! 0,1,2.31,resnet18
//! 0,3,1.94,resnet18
//! 1,1,2.28,resnet50
//! ```
//!
//! Each row is the loss that was measured after a trial had consumed a resource. Where training
//! diverged, the loss is `nan`, `inf` or an empty cell. Trials are numbered from 0. The rows of a trial
//! are in ascending order of resource. The optional column `task` names the task in the task file that
//! the trial trains.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_search::{MAX_JOBS, Point, Table};

use gleaner_core::error::Result;
use gleaner_io::rows::{CellResult, Col, Header, Row};
use gleaner_io::source::Source;
use gleaner_io::{Gatherer, Loaded};

/// Learning curves that were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCurves {
    /// The losses of all trials.
    pub table: Table,
    /// The name of the task that each trial trains; empty if the file does not say.
    pub tasks: Vec<String>,
}

/// Reads learning curves.
///
/// # Errors
/// The file cannot be read, or has faults, which are reported together.
pub fn read(path: &Path) -> Result<Loaded<MeasuredCurves>> {
    let source = Source::open(path)?;
    let mut header = Header::open(&source)?;
    let columns = Columns::require(&mut header)?;
    let table = header.finish()?;
    let (mut curves, mut faults) = (Curves::default(), Gatherer::default());
    table.visit(
        |row| match row.and_then(|row| curves.take(&columns, &row)) {
            Ok(()) => Ok(()),
            Err(fault) => faults.add(*fault),
        },
    )?;
    faults.finish(())?;
    let table = Table::new(curves.points).map_err(|found| {
        let mut faults = gleaner_core::error::Faults::default();
        for fault in found {
            faults.push(source.fault(fault.found, fault.expected).field(fault.field));
        }
        faults
    })?;
    Ok(Loaded {
        value: MeasuredCurves {
            table,
            tasks: curves.tasks.into_values().collect(),
        },
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

struct Columns {
    trial: Col,
    resource: Col,
    loss: Col,
    task: Option<Col>,
}

impl Columns {
    fn require(header: &mut Header<'_>) -> Result<Self> {
        Ok(Columns {
            trial: header.require(&["trial"], "the number of the trial, from 0")?,
            resource: header.require(&["resource"], "the resource that the trial consumed")?,
            loss: header.require(&["loss"], "the loss measured then")?,
            task: header.optional(&["task"])?,
        })
    }
}

/// The curves read so far.
#[derive(Default)]
struct Curves {
    points: BTreeMap<u32, Vec<Point>>,
    tasks: BTreeMap<u32, String>,
}

impl Curves {
    fn take(&mut self, columns: &Columns, row: &Row<'_>) -> CellResult<()> {
        let trial = row.cell(columns.trial).integer(0..=MAX_JOBS as i64 - 1)? as u32;
        let (resource, loss) = (row.cell(columns.resource), row.cell(columns.loss));
        let point = Point {
            resource: resource.float()?,
            loss: loss.float_or_diverged()?,
        };
        if point.resource < 0.0 {
            return Err(resource.fault("a number of at least 0"));
        }
        if let Some(task) = columns.task {
            let cell = row.cell(task);
            let name = cell.text()?.into_owned();
            let known = self.tasks.entry(trial).or_insert_with(|| name.clone());
            if *known != name {
                return Err(cell.fault(format!("{known:?}, as in the rows of trial {trial} above")));
            }
        }
        let points = self.points.entry(trial).or_default();
        let last = points.last().map(|point| point.resource);
        if let Some(last) = last.filter(|last| point.resource <= *last) {
            let expected = format!("more than {last}, that of the row of trial {trial} above");
            return Err(resource.fault(expected));
        }
        points.push(point);
        Ok(())
    }
}
