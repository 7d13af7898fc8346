//! Reads the results of `gleaner replay`.

use std::collections::BTreeMap;

use super::files::{RunFiles, time};
use super::rows::{read_columns, read_records};
use gleaner_domain::error::Result;
use gleaner_domain::results::classes::{ClassOutcome, ClassRow};
use gleaner_domain::results::replay::{
    AllocationRow, DelayRow, FragmentRow, StepRow, Summary, TaskRow,
};
use gleaner_domain::results::search::{RungRow, SearchOutcome, SearchRow};

/// The results of a replay.
#[derive(Debug, Clone)]
pub struct ReplayRun {
    /// The content of `summary.json`.
    pub summary: Summary,
    /// The replay's steps, one for each event, in chronological order.
    pub steps: Vec<StepRow>,
    /// The tasks, in the order of their file.
    pub tasks: Vec<TaskRow>,
    /// Every time interval during which a task held a node.
    pub allocations: Vec<AllocationRow>,
    /// The names of the nodes that tasks held. [`AllocationRow::node`] is an index into this list.
    pub nodes: Vec<String>,
    /// The class of each node in `nodes`; `None` if the log has only one class.
    pub class_of_node: Option<Vec<String>>,
    /// The idle fragments of the log, grouped by length. `None` if an earlier version of the program made the run.
    pub fragments: Option<Vec<FragmentRow>>,
    /// The batch jobs that started later because tasks held their nodes; `None` if they were not counted.
    pub delays: Option<Vec<DelayRow>>,
    /// The results by class of nodes; `None` if the log has only one class.
    pub classes: Option<ClassOutcome>,
    /// The outcome of the search's trials; `None` if the replay had no search.
    pub search: Option<SearchOutcome>,
}

impl ReplayRun {
    pub(super) fn read(files: &RunFiles<'_>) -> Result<Self> {
        let tasks: Vec<TaskRow> = read_records(files, "tasks.parquet", |_, _| None)?;
        let classes = read_classes(files)?;
        let (allocations, nodes) = read_allocations(files, &tasks)?;
        let class_of_node = classes
            .is_some()
            .then(|| read_class_of_node(files, &nodes))
            .transpose()?;
        Ok(ReplayRun {
            class_of_node,
            summary: files.json("summary.json")?,
            steps: read_steps(files)?,
            fragments: read_fragments(files)?,
            delays: read_delays(files)?,
            classes,
            search: read_search(files)?,
            allocations,
            nodes,
            tasks,
        })
    }
}

/// Reads the steps, whose times must not decrease.
fn read_steps(files: &RunFiles<'_>) -> Result<Vec<StepRow>> {
    read_records(files, "steps.parquet", |above: Option<&StepRow>, row| {
        let is_late = above.is_some_and(|above| row.time < above.time);
        is_late.then_some(("evtTime", "a time no earlier than in the row above"))
    })
}

/// Reads the delays of batch jobs, if the run wrote them.
fn read_delays(files: &RunFiles<'_>) -> Result<Option<Vec<DelayRow>>> {
    const FILE: &str = "delays.parquet";
    if !files.has(FILE) {
        return Ok(None);
    }
    read_records(files, FILE, |_, _| None).map(Some)
}

/// Reads the results by class, if the run has them.
fn read_classes(files: &RunFiles<'_>) -> Result<Option<ClassOutcome>> {
    if !files.has("classes.parquet") {
        return Ok(None);
    }
    let rows = read_records(files, "classes.parquet", |above: Option<&ClassRow>, row| {
        let is_late = above.is_some_and(|above| row.time < above.time);
        is_late.then_some(("time", "a time no earlier than in the row above"))
    })?;
    Ok(Some(ClassOutcome {
        rows,
        moves: read_records(files, "moves.parquet", |_, _| None)?,
        totals: read_records(files, "class_totals.parquet", |_, _| None)?,
    }))
}

/// Reads the idle fragments, if the run wrote them.
fn read_fragments(files: &RunFiles<'_>) -> Result<Option<Vec<FragmentRow>>> {
    const FILE: &str = "fragments.parquet";
    if !files.has(FILE) {
        return Ok(None);
    }
    let rows = read_records(files, FILE, |_, row: &FragmentRow| {
        let is_empty = row.to_s.is_some_and(|to_s| to_s <= row.from_s);
        match (is_empty, row.node_seconds < 0.0) {
            (true, _) => Some(("to_s", "more than `from_s`")),
            (_, true) => Some(("node_seconds", "at least 0")),
            _ => (row.from_s < 0.0).then_some(("from_s", "at least 0")),
        }
    });
    rows.map(Some)
}

/// Reads the tables of a search, if the run has them.
fn read_search(files: &RunFiles<'_>) -> Result<Option<SearchOutcome>> {
    if !files.has("search.parquet") {
        return Ok(None);
    }
    let events = read_records(files, "search.parquet", |above: Option<&SearchRow>, row| {
        let is_late = above.is_some_and(|above| row.time < above.time);
        is_late.then_some(("time", "a time no earlier than in the row above"))
    })?;
    let trials = read_records(files, "trials.parquet", |_, _| None)?;
    let rungs = read_records(files, "rungs.parquet", |above: Option<&RungRow>, row| {
        let ascends = above.is_none_or(|above| row.resource > above.resource);
        (!ascends).then_some(("resource", "more than the resource in the row above"))
    })?;
    Ok(Some(SearchOutcome {
        events,
        trials,
        rungs,
    }))
}

/// Reads the class of each node in the allocations.
fn read_class_of_node(files: &RunFiles<'_>, nodes: &[String]) -> Result<Vec<String>> {
    let places: BTreeMap<&str, usize> = nodes.iter().map(String::as_str).zip(0..).collect();
    let mut classes = vec![String::new(); nodes.len()];
    let fields = [AllocationRow::FIELDS[1], AllocationRow::CLASS];
    read_columns(files, "allocations.parquet", &fields, |row, cols| {
        let [node, class] = [0, 1].map(|column: usize| row.cell(cols[column]));
        if let Some(place) = places.get(node.text()?.as_ref()) {
            let known = &mut classes[*place];
            let class_name = class.text()?;
            if known.is_empty() {
                *known = class_name.into_owned();
            } else if *known != *class_name {
                return Err(class.fault("the same class in every row of the node"));
            }
        }
        Ok(())
    })?;
    Ok(classes)
}

/// Reads the allocations, and collects the names of their nodes.
fn read_allocations(
    files: &RunFiles<'_>,
    tasks: &[TaskRow],
) -> Result<(Vec<AllocationRow>, Vec<String>)> {
    let places: BTreeMap<&str, u32> = tasks
        .iter()
        .map(|task| task.name.as_str())
        .zip(0..)
        .collect();
    let mut nodes: BTreeMap<String, u32> = BTreeMap::new();
    let fields = &AllocationRow::FIELDS;
    let rows = read_columns(files, "allocations.parquet", fields, |row, cols| {
        let [task, node, from, to] = [0, 1, 2, 3].map(|column: usize| row.cell(cols[column]));
        let place = places.get(task.text()?.as_ref()).copied();
        let name = node.text()?;
        let next = nodes.len() as u32;
        let row = AllocationRow {
            task: place.ok_or_else(|| task.fault("a task listed in tasks.parquet"))?,
            node: match nodes.get(name.as_ref()) {
                Some(node) => *node,
                None => *nodes.entry(name.into_owned()).or_insert(next),
            },
            from: time(from)?,
            to: time(to)?,
        };
        if row.from <= row.to {
            Ok(row)
        } else {
            Err(to.fault("a time at or after `from`"))
        }
    })?;
    let mut names: Vec<(String, u32)> = nodes.into_iter().collect();
    names.sort_by_key(|(_, place)| *place);
    Ok((rows, names.into_iter().map(|(name, _)| name).collect()))
}
