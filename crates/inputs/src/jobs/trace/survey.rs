//! The first pass over a trace, which finds the format of the times and the first submission.

use std::collections::BTreeMap;

use super::job::JobRow;
use crate::jobs::clock::Form;
use crate::rows::{Line, Rows};
use gleaner_domain::Local;
use gleaner_domain::error::Result;

/// The result of the first pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Survey {
    /// The format of the trace's times.
    pub form: Form,
    /// Earliest submission of a GPU job of a known VC, in seconds on the file's clock.
    pub first: i64,
}

impl Survey {
    /// Surveys the jobs that were submitted at or after `epoch`. Rows with faults are ignored in this pass.
    pub fn of(
        rows: &Rows<'_, JobRow>,
        vcs: &BTreeMap<&str, usize>,
        epoch: Option<Local>,
    ) -> Result<Self> {
        let mut form = None;
        let mut first: Option<i64> = None;
        let epoch = epoch.map_or(i64::MIN, Local::second);
        rows.visit(|line| {
            let Ok(line) = line else { return Ok(()) };
            form = form.or_else(|| Form::of(&line.cell("submit_time")));
            let second = form.and_then(|form| second(&line, form, vcs));
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

/// The submission time of a row's job; `None` unless the job is a GPU job of a known VC.
fn second(line: &Line<'_, JobRow>, form: Form, vcs: &BTreeMap<&str, usize>) -> Option<i64> {
    line.cell("gpu_num").whole().filter(|gpus| *gpus > 0)?;
    vcs.get(&*line.cell("vc").id().ok()?)?;
    form.second(&line.cell("submit_time")).ok()
}
