//! How busy the cluster is over time.

use super::{Named, coloured, gpus, id_of};
use crate::Figure;
use crate::curves::means;
use crate::figure::{Axis, Curve, Marks, Shape};
use gleaner_core::results::simulate::PolicyFigures;
use gleaner_core::words::counted;
use gleaner_formats::ingest::runs::Hour;

const DAY: f64 = 86_400.0;

/// The share of GPUs that jobs hold.
pub(crate) fn utilisation(run: &Named<'_>) -> Figure {
    let curves = curves(run, |figures, hour| {
        100.0 * hour.busy() / figures.gpus.max(1) as f64
    });
    let text = match gpus::of(run).as_slice() {
        [(gpus, _)] => format!(
            "Share of the {} that jobs hold, hourly means.",
            counted(*gpus, "GPU")
        ),
        several => format!(
            "Share of each policy's own GPUs that jobs hold, hourly means: {}.",
            gpus::listed(several)
        ),
    };
    figure(
        id_of("utilisation", run),
        "GPUs in use",
        text,
        "% of GPUs",
        curves,
    )
}

/// The number of jobs that wait.
pub(crate) fn waiting(run: &Named<'_>) -> Figure {
    let curves = curves(run, |_, hour| hour.pending);
    let text = "Jobs in the queues of all virtual clusters, hourly means.".to_owned();
    figure(id_of("waiting", run), "Waiting jobs", text, "jobs", curves)
}

fn figure(id: String, title: &str, text: String, axis: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        id,
        title: title.to_owned(),
        text,
        x: Axis::linear("days since the start"),
        y: Axis::linear(axis),
        numbers: means(
            &format!("{title}: means over time"),
            "from day",
            &curves,
            |day| format!("{day:.1}"),
        ),
        marks: Marks::Curves(curves),
    }
}

/// A curve for each policy, over days since the first hour.
fn curves(run: &Named<'_>, of: impl Fn(&PolicyFigures, &Hour) -> f64) -> Vec<Curve> {
    let hours = run.result.policies.iter().flat_map(|policy| &policy.hours);
    let start = hours.map(|hour| hour.start).min().unwrap_or(0);
    let day = |hour: &Hour| hour.start.saturating_sub(start) as f64 / DAY;
    let curves = coloured(run).map(|(policy, colour)| Curve {
        name: policy.name.clone(),
        colour,
        shape: Shape::Step,
        points: policy
            .hours
            .iter()
            .map(|hour| (day(hour), of(&policy.figures, hour)))
            .collect(),
        labels: Vec::new(),
    });
    curves.collect()
}
