//! The results of `gleaner replay`.

use std::collections::BTreeMap;

use super::files::{RunFiles, time};
use crate::domain::Time;
use crate::error::Result;
use crate::ingest::Gatherer;
use crate::ingest::rows::{CellResult, Col, Header, Row};
use crate::replay::Summary;

/// A replay's results.
#[derive(Debug, Clone)]
pub struct ReplayRun {
    /// `summary.json`.
    pub summary: Summary,
    /// One an event, in the order of time.
    pub steps: Vec<Step>,
    /// The tasks in file order.
    pub tasks: Vec<TaskEnd>,
    /// Each time that a task held a node.
    pub holds: Vec<Hold>,
    /// The idle fragments of the log by length; `None` where an earlier version ran.
    pub fragments: Option<Vec<FragmentClass>>,
}

/// The state from an event to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// When.
    pub time: Time,
    /// Work a second of all tasks.
    pub rate: f64,
    /// Idle nodes.
    pub idle: f64,
    /// Nodes that tasks hold.
    pub used: f64,
}

/// A task and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskEnd {
    /// Its name.
    pub name: String,
    /// When it was submitted.
    pub submit: Time,
    /// When it first held nodes.
    pub start: Option<Time>,
    /// When it was found finished.
    pub end: Option<Time>,
}

/// A time that a task held a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// The task's place in file order.
    pub task: usize,
    /// From when.
    pub from: Time,
    /// Until when.
    pub to: Time,
}

/// The idle fragments whose lengths are between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FragmentClass {
    /// Shortest length in seconds, within the class.
    pub from_s: f64,
    /// Longest length in seconds, outside the class; the last has no bound.
    pub to_s: Option<f64>,
    /// How many fragments.
    pub fragments: u64,
    /// Their idle node-time.
    pub node_seconds: f64,
}

impl ReplayRun {
    pub(super) fn read(files: &RunFiles<'_>) -> Result<Self> {
        let tasks = read_tasks(files)?;
        Ok(ReplayRun {
            summary: files.json("summary.json")?,
            steps: read_steps(files)?,
            holds: read_holds(files, &tasks)?,
            fragments: read_fragments(files)?,
            tasks,
        })
    }
}

/// Reads all rows of a table that [`Header::require`]s `columns`, faults gathered.
fn read_rows<T, const N: usize>(
    files: &RunFiles<'_>,
    name: &str,
    columns: [(&str, &str); N],
    mut read: impl FnMut(&Row<'_>, [Col; N]) -> CellResult<T>,
) -> Result<Vec<T>> {
    let source = files.open(name)?;
    let mut header = Header::open(&source)?;
    let mut cols = Vec::with_capacity(N);
    for (column, holds) in columns {
        cols.push(header.require(&[column], holds)?);
    }
    let cols = std::array::from_fn(|column| cols[column]);
    let (mut rows, mut faults) = (Vec::new(), Gatherer::default());
    header.finish()?.visit(|row| {
        match row.and_then(|row| read(&row, cols)) {
            Ok(row) => rows.push(row),
            Err(fault) => faults.add(*fault)?,
        }
        Ok(())
    })?;
    faults.finish(rows)
}

fn read_steps(files: &RunFiles<'_>) -> Result<Vec<Step>> {
    let columns = [
        ("evtTime", "the times of events"),
        ("Rate", "work a second"),
        ("nNd", "idle nodes"),
        ("nNrun", "used nodes"),
    ];
    let mut last = None;
    read_rows(
        files,
        "steps.parquet",
        columns,
        |row, [at, rate, idle, used]| {
            let cell = row.cell(at);
            let now = time(cell)?;
            if last.replace(now).is_some_and(|last| now < last) {
                return Err(cell.fault("a time that is not before that of the row above"));
            }
            Ok(Step {
                time: now,
                rate: row.cell(rate).float()?,
                idle: row.cell(idle).amount()?,
                used: row.cell(used).amount()?,
            })
        },
    )
}

fn read_tasks(files: &RunFiles<'_>) -> Result<Vec<TaskEnd>> {
    let columns = [
        ("task", "the tasks' names"),
        ("submit", "the times of submission"),
        ("start", "the times of the first nodes"),
        ("end", "the times of the end"),
    ];
    read_rows(
        files,
        "tasks.parquet",
        columns,
        |row, [name, submit, start, end]| {
            Ok(TaskEnd {
                name: row.cell(name).text()?.into_owned(),
                submit: time(row.cell(submit))?,
                start: row.given(Some(start)).map(time).transpose()?,
                end: row.given(Some(end)).map(time).transpose()?,
            })
        },
    )
}

fn read_holds(files: &RunFiles<'_>, tasks: &[TaskEnd]) -> Result<Vec<Hold>> {
    let columns = [
        ("task", "the tasks' names"),
        ("from", "when the task got the node"),
        ("to", "when it lost the node"),
    ];
    let names = tasks.iter().map(|task| task.name.as_str());
    let places: BTreeMap<&str, usize> = names.zip(0..).collect();
    read_rows(
        files,
        "allocations.parquet",
        columns,
        |row, [task, from, to]| {
            let name = row.cell(task);
            let place = places.get(name.text()?.as_ref()).copied();
            let hold = Hold {
                task: place.ok_or_else(|| name.fault("a task of tasks.parquet"))?,
                from: time(row.cell(from))?,
                to: time(row.cell(to))?,
            };
            match hold.from <= hold.to {
                true => Ok(hold),
                false => Err(row.cell(to).fault("a time that is not before `from`")),
            }
        },
    )
}

fn read_fragments(files: &RunFiles<'_>) -> Result<Option<Vec<FragmentClass>>> {
    const FILE: &str = "fragments.parquet";
    if !files.has(FILE) {
        return Ok(None);
    }
    let columns = [
        ("from_s", "the shortest lengths"),
        ("to_s", "the lengths above"),
        ("fragments", "how many fragments"),
        ("node_seconds", "their idle node-time"),
    ];
    let read = |row: &Row<'_>, [from, to, fragments, seconds]: [Col; 4]| {
        let from_s = row.cell(from).amount()?;
        let bound = row.given(Some(to));
        let to_s = bound.map(|cell| cell.amount()).transpose()?;
        if let (Some(cell), Some(to_s)) = (bound, to_s)
            && to_s <= from_s
        {
            return Err(cell.fault("more than `from_s`"));
        }
        Ok(FragmentClass {
            from_s,
            to_s,
            fragments: row.cell(fragments).integer(0..=i64::MAX)? as u64,
            node_seconds: row.cell(seconds).amount()?,
        })
    };
    read_rows(files, FILE, columns, read).map(Some)
}
