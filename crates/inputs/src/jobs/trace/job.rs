//! Parses the parts of a job.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Options;
use super::columns::Columns;
use crate::jobs::words::name;
use gleaner_core::domain::{Usage, Workload};
use gleaner_core::error::Fault;
use gleaner_io::rows::{CellResult, Col, Row};

/// A text, or an empty text if the column or cell is missing.
pub(super) fn text(row: &Row<'_>, col: Option<Col>) -> CellResult<String> {
    match row.given(col) {
        Some(cell) => cell.id().map(Cow::into_owned),
        None => Ok(String::new()),
    }
}

/// How the job ended. Philly's words are converted to Slurm's.
pub(super) fn state(row: &Row<'_>, columns: &Columns) -> CellResult<String> {
    let state = text(row, columns.state)?;
    Ok(match state.as_str() {
        "Pass" => "COMPLETED".to_owned(),
        "Failed" => "FAILED".to_owned(),
        "Killed" => "CANCELLED".to_owned(),
        _ => state,
    })
}

/// What the job trains, if the trace says so, and its usage of GPUs. Usage that the trace lacks
/// comes from the profile of the workload.
pub(super) fn workload(
    row: &Row<'_>,
    columns: &Columns,
    options: &Options<'_>,
) -> CellResult<(Option<Workload>, Usage)> {
    let given = columns.workload.map(|columns| columns.given(row));
    let workload = given.transpose()?.flatten();
    let known = match (&workload, options.profiles) {
        (Some(workload), Some(profiles)) => match profiles.get(workload) {
            Some(profile) => profile.usage,
            None if options.unprofiled => Usage::default(),
            None => return Err(no_profile(row, columns, workload)),
        },
        _ => Usage::default(),
    };
    let usage = columns.usage.read_or(row, known)?;
    Ok((workload, usage))
}

/// The fault of a workload without a profile.
fn no_profile(row: &Row<'_>, columns: &Columns, workload: &Workload) -> Box<Fault> {
    let cell = row.cell(
        columns
            .workload
            .map_or(columns.id, |columns| columns.model()),
    );
    let mut fault = cell.fault_of(name(workload), "a workload with a profile");
    fault.remedy = "measure it and add it to the profiles".to_owned();
    fault
}

/// The distinct workloads, in order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Workloads {
    indices: BTreeMap<Workload, usize>,
    list: Vec<Workload>,
}

impl Workloads {
    /// The index of a workload, which is added if it is new.
    pub fn index(&mut self, workload: Workload) -> usize {
        if let Some(index) = self.indices.get(&workload) {
            return *index;
        }
        let index = self.list.len();
        self.list.push(workload.clone());
        self.indices.insert(workload, index);
        index
    }

    /// The workloads, by index.
    pub fn into_list(self) -> Vec<Workload> {
        self.list
    }
}
