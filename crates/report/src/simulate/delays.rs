//! Tables that compare the delays of policies.

use super::Named;
use crate::numbers::{count, hours, percent};
use crate::{Grid, Head};
use gleaner_core::results::simulate::{Delays, PolicyFigures, SMALL_JOB_GPUS};

/// The delay columns, in hours.
const DELAYS: [&str; 3] = [
    "average JCT (h)",
    "average queuing (h)",
    "99.9 % queuing (h)",
];
/// The same columns with shorter names.
const SHORT: [&str; 3] = ["JCT (h)", "queuing (h)", "99.9 % (h)"];

/// Formats delays in hours, or dashes if there are no jobs.
fn cells(delays: Option<&Delays>) -> [String; 3] {
    match delays {
        None => ["–", "–", "–"].map(str::to_owned),
        Some(d) => [d.avg_jct_s, d.avg_queue_s, d.p999_queue_s].map(hours),
    }
}

/// A table of the delays of all jobs, by policy.
pub(super) fn overview(run: &Named<'_>) -> Grid {
    let rest = [
        "makespan (h)",
        "GPUs",
        "GPUs in use while jobs arrive",
        "GPUs in use over the makespan",
        "checkpoints",
    ];
    let heads = DELAYS.into_iter().chain(rest).map(Head::number);
    let heads = std::iter::once(Head::text("policy")).chain(heads);
    let mut grid = Grid::new("All jobs", heads);
    for policy in &run.result.policies {
        let figures = &policy.figures;
        let mut row = vec![policy.name.clone()];
        row.extend(cells(Some(&figures.all)));
        row.extend([
            hours(figures.makespan_s as f64),
            count(figures.gpus),
            figures
                .in_use_while_arriving
                .map_or("–".to_owned(), percent),
            percent(figures.gpu_utilisation),
            count(figures.checkpoints),
        ]);
        grid.row(row);
    }
    grid
}

/// A table of the delays of small jobs and of large ones, by policy.
pub(super) fn sizes(run: &Named<'_>) -> Grid {
    let jobs = |of: fn(&PolicyFigures) -> &Option<Delays>| {
        let first = run.result.policies.first();
        first
            .and_then(|policy| of(&policy.figures).as_ref())
            .map_or(0, |delays| delays.jobs)
    };
    let (small, large) = (jobs(|f| &f.small), jobs(|f| &f.large));
    let title = format!(
        "Small jobs, of up to {SMALL_JOB_GPUS} GPUs: {}; large ones: {}",
        count(small),
        count(large)
    );
    let heads = ["small", "large"]
        .into_iter()
        .flat_map(|size| SHORT.map(|delay| Head::number(format!("{size}: {delay}"))));
    let heads = std::iter::once(Head::text("policy")).chain(heads);
    let mut grid = Grid::new(title, heads);
    for policy in &run.result.policies {
        let (small, large) = (policy.figures.small.as_ref(), policy.figures.large.as_ref());
        let delays = cells(small).into_iter().chain(cells(large));
        grid.row(std::iter::once(policy.name.clone()).chain(delays));
    }
    grid
}
