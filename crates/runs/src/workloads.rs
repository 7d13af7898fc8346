//! Columns that describe workloads.

use gleaner_domain::Workload;
use gleaner_domain::results::Column;

/// The columns `model`, `dataset`, `batchsize` and `amp`, with a row for each workload.
pub fn columns<'a>(
    workloads: impl Iterator<Item = &'a Workload> + Clone,
) -> Vec<(&'static str, Column<'a>)> {
    let text = |of: fn(&Workload) -> &str| {
        Column::Texts(
            workloads
                .clone()
                .map(|workload| of(workload).into())
                .collect(),
        )
    };
    let whole = |of: fn(&Workload) -> i64| Column::Whole(workloads.clone().map(of).collect());
    vec![
        ("model", text(|workload| &workload.model)),
        ("dataset", text(|workload| &workload.dataset)),
        (
            "batchsize",
            whole(|workload| i64::from(workload.batch_size)),
        ),
        ("amp", whole(|workload| i64::from(workload.amp))),
    ]
}
