//! The first pass over a trace: how it tells time, and when its first job comes.

use std::collections::BTreeMap;

use super::columns::Columns;
use crate::domain::Time;
use crate::error::Result;
use crate::ingest::jobs::clock::Form;
use crate::ingest::rows::{Row, Table};

/// What the first pass finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Survey {
    /// How times are told.
    pub form: Form,
    /// Earliest second, on the file's clock, of a GPU job of a known VC.
    pub first: i64,
}

impl Survey {
    /// Surveys the jobs that are not before `epoch`; what is no sound job is passed over.
    pub fn of(
        table: &Table<'_>,
        columns: &Columns,
        vcs: &BTreeMap<&str, usize>,
        epoch: Option<Time>,
    ) -> Result<Self> {
        let mut form = None;
        let mut first: Option<i64> = None;
        let epoch = epoch.map_or(i64::MIN, Time::second);
        table.visit(|row| {
            let Ok(row) = row else { return Ok(()) };
            form = form.or_else(|| Form::of(&row.cell(columns.submit)));
            let second = form.and_then(|form| second(&row, form, columns, vcs));
            if let Some(second) = second.filter(|second| *second >= epoch) {
                first = Some(first.map_or(second, |first| first.min(second)));
            }
            Ok(())
        })?;
        Ok(Survey {
            form: form.unwrap_or(Form::Civil),
            first: first.unwrap_or_default(),
        })
    }
}

/// When a GPU job of a known VC was submitted; `None` for other rows.
fn second(
    row: &Row<'_>,
    form: Form,
    columns: &Columns,
    vcs: &BTreeMap<&str, usize>,
) -> Option<i64> {
    row.cell(columns.gpus).whole().filter(|gpus| *gpus > 0)?;
    vcs.get(&*row.cell(columns.vc).id().ok()?)?;
    form.second(&row.cell(columns.submit)).ok()
}
