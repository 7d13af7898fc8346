//! The sections of a page about comparisons of solvers.

use super::names::cut;
use super::names::slug;
use super::numbers::count;
use super::{Block, Section};
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::results::compare::SolverRow;
use gleaner_domain::results::programs::Tally;
use gleaner_runs::compare::compared;
use gleaner_runs::read::CompareRun;

mod figure;
mod gap_over_time;

/// Maximum length of a sentence about a program's faults, in characters.
const TOLD: usize = 400;

/// A comparison with its name on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub result: &'a CompareRun,
}

/// A section for each of the `runs`.
///
/// # Errors
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the observer requests a stop.
pub(super) fn sections(runs: &[Named<'_>], observer: &dyn Observer) -> Result<Vec<Section>> {
    let of = |(place, run): (usize, &Named<'_>)| {
        check_stop(observer)?;
        Ok(section(run, place + 1, runs.len() > 1))
    };
    runs.iter().enumerate().map(of).collect()
}

fn section(run: &Named<'_>, number: usize, several: bool) -> Section {
    let mut blocks = compared(&run.result.solvers, run.result.programs());
    blocks.extend(faults(run.result).map(Block::Note));
    blocks.extend(figure::figure(run).map(Block::figure));
    Section {
        id: if several {
            format!("comparison-{number}-{}", slug(run.name))
        } else {
            "comparison".to_owned()
        },
        title: if several {
            format!("Comparison {}", run.name)
        } else {
            "Solvers compared".to_owned()
        },
        lead: lead(run.result),
        blocks,
    }
}

/// The introductory sentences: the number of problems, and the definition of a gap.
fn lead(run: &CompareRun) -> String {
    let problems = run.solvers.iter().map(|row| row.problems + row.refused);
    let problems = match problems.max().unwrap_or(0) {
        1 => "1 problem".to_owned(),
        problems => format!("{} problems", count(problems)),
    };
    let interrupted = if run.complete {
        ""
    } else {
        " The comparison was interrupted: answers are missing."
    };
    format!(
        "{problems}. A gap is a plan's shortfall from the exact solver's optimum. If the optimum is not known, \
         the gap over time is the shortfall from the best plan that any solver found.{interrupted}"
    )
}

/// A sentence for each program that had faults.
fn faults(run: &CompareRun) -> impl Iterator<Item = String> {
    let told = |(_, tally): (&SolverRow, &Tally)| {
        let told = tally.remark()?;
        Some(cut(&format!("Faults: {told}"), TOLD))
    };
    run.programs().filter_map(told)
}
