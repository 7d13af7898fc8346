//! Figures and tables by virtual cluster.

use super::{Named, id_of};
use crate::Figure;
use crate::figure::{Axis, Heat, Marks};
use crate::names::short;
use crate::numbers::HOUR;
use gleaner_domain::results::simulate::Delays;
use gleaner_runs::simulate::{Figure as Delay, by_cluster};

/// Average queuing time by virtual cluster and policy.
pub(super) fn figure(run: &Named<'_>) -> Figure {
    let values = table(run, |delays| delays.avg_queue_s / HOUR);
    let label = |value: &Option<f64>| value.map_or("–".to_owned(), brief);
    let labels = values.iter().map(|row| row.iter().map(label).collect());
    Figure {
        id: id_of("vcs", run),
        title: "Average queuing time by virtual cluster".to_owned(),
        text: "In hours. A stronger colour means a longer wait, on a logarithmic scale.".to_owned(),
        x: Axis::names("", policies(run)),
        y: Axis::names("", vcs(run)),
        numbers: by_cluster(Delay::AverageQueue, &run.entries()),
        marks: Marks::Heat(Heat {
            title: "average queuing (h)".to_owned(),
            labels: labels.collect(),
            values,
            notes: Vec::new(),
            log: true,
        }),
    }
}

/// Values by virtual cluster, then policy; `None` if the policy has no value for the cluster.
fn table(run: &Named<'_>, of: fn(Delays) -> f64) -> Vec<Vec<Option<f64>>> {
    let policies = &run.result.policies;
    let row = |vc: &String| {
        let cells = policies.iter().map(|policy| policy.figures.vc(vc).map(of));
        cells.collect()
    };
    full_names(run).iter().map(row).collect()
}

fn policies(run: &Named<'_>) -> Vec<String> {
    let policies = run.result.policies.iter();
    policies.map(|policy| policy.name.clone()).collect()
}

fn full_names(run: &Named<'_>) -> Vec<String> {
    let first = run.result.policies.first();
    first.map_or(Vec::new(), |policy| {
        let vcs = policy.figures.vcs.0.iter();
        vcs.map(|(name, _)| name.clone()).collect()
    })
}

fn vcs(run: &Named<'_>) -> Vec<String> {
    full_names(run).iter().map(|name| short(name)).collect()
}

/// Formats hours compactly enough to fit in a table cell.
fn brief(hours: f64) -> String {
    match hours {
        0.0 => "0".to_owned(),
        short if short < 0.01 => "< 0.01".to_owned(),
        short if short < 9.95 => format!("{short:.2}"),
        long => format!("{long:.0}"),
    }
}
