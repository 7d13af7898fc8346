//! Lucid: its tables and figures for the Venus trace, and its models.

mod packing;
mod workload;

use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_domain::results::reproduce::System;
use gleaner_setup::experiment::Learned;

use crate::files::Data;
use crate::filled::Values;
use crate::throughput::{Label, Throughput};
use crate::venus::{Venus, simulate_with};
use crate::{Part, Shared};

/// The policies of Lucid's evaluation, and SRTF.
const POLICIES: [&str; 6] = ["FIFO", "SJF", "SRTF", "QSSF", "Tiresias", "Lucid"];

/// The labels of Lucid's throughput model, each with the columns of its scores.
const LABELS: [(Label, [&str; 2]); 2] = [
    (Label::Jobs, ["error, jobs", "R², jobs"]),
    (Label::Gpus, ["error, GPUs", "R², GPUs"]),
];

/// Reproduces Lucid's tables and figures.
pub(super) fn reproduce<'c>(
    data: Data<'_>,
    shared: &Shared,
    observer: &'c dyn Observer,
) -> Result<Part<'c>> {
    let mut part = Part::new(System::Lucid, observer)?;
    part.sources.extend(shared.sources().cloned());
    let (venus, model) = (&shared.simulations, &shared.throughput);
    policies(&mut part, venus)?;
    forecasts(&mut part, model)?;
    packing::add(&mut part, data)?;
    workload::add(&mut part, data)?;
    estimates(&mut part, data)?;
    part.finish()
}

/// Reproduces the claim of the abstract, Tables 4 and 5, and Figures 8 and 9.
fn policies(part: &mut Part<'_>, venus: &Venus) -> Result<()> {
    let mut claim = Values::default();
    let jct = |name: &str| -> Result<f64> { Ok(venus.run(name)?.figures.all.avg_jct_s) };
    let ratio = jct("Tiresias")? / jct("Lucid")?;
    claim.set("Tiresias over Lucid, Venus", "average JCT", ratio);
    part.add("lucid-abstract", &claim)?;
    let (mut all, mut by_size) = (Values::default(), Values::default());
    let (mut done, mut queuing) = (Values::default(), Values::default());
    for name in POLICIES {
        let run = venus.run(name)?;
        run.set_delays(&mut all, name);
        run.set_by_size(&mut by_size, name, |_| true);
        run.set_completions(&mut done, name);
        run.set_by_vc(&mut queuing, name, |delays| delays.avg_queue_s);
    }
    part.add("lucid-table-4", &all)?;
    part.add("lucid-table-5", &by_size)?;
    part.add("lucid-figure-8", &done)?;
    part.add("lucid-figure-9", &queuing)?;
    Ok(())
}

/// Reproduces Table 7, and Figures 7 and 13 (a).
fn forecasts(part: &mut Part<'_>, model: &Throughput) -> Result<()> {
    let mut errors = Values::default();
    for (label, columns) in LABELS {
        errors.row("EBM", columns.into_iter().zip(model.scores(label)));
        for (rule, scores) in model.rules(label) {
            errors.row(rule, columns.into_iter().zip(scores));
        }
    }
    part.add("lucid-table-7", &errors)?;
    let features = part.next_rows();
    let importances = model.importances(Label::Gpus, &features);
    part.add("lucid-figure-7a", &importances)?;
    part.add("lucid-figure-7b", &model.shape_of_hours(Label::Gpus))?;
    let mut forecast = Values::default();
    for (label, columns) in LABELS {
        forecast.row(
            "published forecast",
            columns.into_iter().zip(model.published_scores(label)),
        );
        forecast.row("our forecast", columns.into_iter().zip(model.scores(label)));
    }
    let drawing = model.drawing(Label::Jobs, "GPU jobs submitted in ten minutes");
    part.add("lucid-figure-13a", &forecast)?.drawing = Some(drawing);
    Ok(())
}

/// Reproduces the effect of other duration estimates on QSSF and Lucid.
fn estimates(part: &mut Part<'_>, data: Data<'_>) -> Result<()> {
    let lgb = data.file("lucid/venus_sept/duration_estimate_lgb.csv");
    let observer = part.observer;
    let (first, second) = rayon::join(
        || simulate_with(data, "qssf", Some(lgb), None, observer),
        || simulate_with(data, "lucid", None, Some(Learned::Train), observer),
    );
    let mut delays = Values::default();
    let named = [
        ("QSSF with the LightGBM estimates", first?),
        ("Lucid with all models learnt here", second?),
    ];
    for (row, (run, sources)) in named {
        run.set_delays(&mut delays, row);
        part.sources.extend(sources);
    }
    part.add("lucid-estimates", &delays)?;
    Ok(())
}
