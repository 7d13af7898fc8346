//! The load of the cluster over time: GPUs in use and waiting jobs.

use super::{Named, coloured, gpus, id_of};
use crate::Figure;
use crate::curves::means;
use crate::figure::{Axis, Curve, Marks, Panel, Shade, Shape};
use crate::numbers::HOUR;
use gleaner_domain::results::simulate::PolicyFigures;
use gleaner_domain::words::counted;
use gleaner_runs::read::{Hour, PolicyRun};

/// Explanation of the shaded periods, for the text of a figure.
const SHADES: &str = "The shaded periods are the warm-up and the drain. The warm-up ends when the number of GPUs in \
                      use first reaches half of its mean over the submission period. The drain begins after the last \
                      submission. Neither period shows how busy the cluster usually is while jobs arrive.";

/// The share of GPUs that jobs hold.
pub(crate) fn utilisation(run: &Named<'_>) -> Figure {
    let panels = panels(run, |figures, hour| {
        100.0 * hour.busy() / figures.gpus.max(1) as f64
    });
    let text = match gpus::of(run).as_slice() {
        [(gpus, _)] => format!(
            "Share of the {} that jobs hold, hourly means. {SHADES}",
            counted(*gpus, "GPU")
        ),
        several => format!(
            "Share of each policy's own GPUs that jobs hold, hourly means: {}. {SHADES}",
            gpus::listed(several)
        ),
    };
    figure(
        id_of("utilisation", run),
        "GPUs in use",
        text,
        "% of GPUs",
        panels,
    )
}

/// The number of waiting jobs.
pub(crate) fn waiting(run: &Named<'_>) -> Figure {
    let panels = panels(run, |_, hour| hour.pending);
    let text = format!("Jobs in the queues of all virtual clusters, hourly means. {SHADES}");
    figure(id_of("waiting", run), "Waiting jobs", text, "jobs", panels)
}

fn figure(id: String, title: &str, text: String, axis: &str, panels: Vec<Panel>) -> Figure {
    Figure {
        id,
        title: title.to_owned(),
        text,
        x: Axis::linear("hours since the start"),
        y: Axis::linear(axis),
        numbers: means(
            &format!("{title}: means over time"),
            "from hour",
            panels.iter().map(|panel| &panel.curve),
            |hour| format!("{hour:.1}"),
        ),
        marks: Marks::Panels(panels),
    }
}

/// Returns a panel for each policy, over hours since the start.
fn panels(run: &Named<'_>, of: impl Fn(&PolicyFigures, &Hour) -> f64) -> Vec<Panel> {
    let hours = run.result.policies.iter().flat_map(|policy| &policy.hours);
    let start = hours.map(|hour| hour.start).min().unwrap_or(0);
    let along = |second: i64| second.saturating_sub(start) as f64 / HOUR;
    let panels = coloured(run).map(|(policy, colour)| Panel {
        curve: Curve {
            name: policy.name.clone(),
            colour,
            shape: Shape::Step,
            points: policy
                .hours
                .iter()
                .map(|hour| (along(hour.start), of(&policy.figures, hour)))
                .collect(),
            labels: Vec::new(),
        },
        shades: shades(run, policy, along),
    });
    panels.collect()
}

/// The warm-up and drain of a policy, unless they are empty.
fn shades(run: &Named<'_>, policy: &PolicyRun, along: impl Fn(i64) -> f64) -> Vec<Shade> {
    let (Some(first), Some(last)) = (run.result.first_submission, run.result.last_submission)
    else {
        return Vec::new();
    };
    let end = first.saturating_add(policy.figures.makespan_s);
    let warm = policy.figures.warm_up_until;
    let spans = [
        ("warm-up", first, warm.unwrap_or(last)),
        ("drain", last, end),
    ];
    let shade = |(name, from, to): (&str, i64, i64)| Shade {
        name: name.to_owned(),
        from: along(from),
        to: along(to),
    };
    let spans = spans.into_iter().filter(|(_, from, to)| from < to);
    spans.map(shade).collect()
}
