//! The tables, figures and ablations of Lucid's reproduction at Sun Yat-sen University.

use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_domain::results::reproduce::System;

use crate::filled::Values;
use crate::throughput::{Label, Throughput};
use crate::venus::{NO_THROUGHPUT, Venus};
use crate::{Part, Shared};

/// The policies of the reproduction, with the names of our simulations. The policy that the reproduction's logs call
/// Lucid is Lucid without throughput prediction.
const LOGGED: [(&str, &str); 6] = [
    ("FIFO", "FIFO"),
    ("SJF", "SJF"),
    ("QSSF", "QSSF"),
    ("Tiresias", "Tiresias"),
    ("Lucid", NO_THROUGHPUT),
    ("SRTF", "SRTF"),
];

/// Lucid and its ablations.
const ABLATIONS: [&str; 4] = [
    "Lucid",
    "Lucid without packing analysis",
    NO_THROUGHPUT,
    "Lucid without workload estimation",
];

/// Reproduces the tables and figures of the reproduction at Sun Yat-sen University.
pub(super) fn reproduce<'c>(shared: &Shared, observer: &'c dyn Observer) -> Result<Part<'c>> {
    let mut part = Part::new(System::Sysu, observer)?;
    part.sources.extend(shared.sources().cloned());
    let (venus, model) = (&shared.simulations, &shared.throughput);
    policies(&mut part, venus)?;
    forecasts(&mut part, model)?;
    distributions(&mut part, venus, model)?;
    ablations(&mut part, venus)?;
    part.finish()
}

/// Reproduces Tables 1 and 2.
fn policies(part: &mut Part<'_>, venus: &Venus) -> Result<()> {
    let (mut all, mut by_size) = (Values::default(), Values::default());
    for (row, name) in LOGGED.into_iter().take(5) {
        venus.run(name)?.set_delays(&mut all, row);
    }
    for (row, name) in LOGGED
        .into_iter()
        .filter(|(row, _)| ["FIFO", "Tiresias", "Lucid"].contains(row))
    {
        venus.run(name)?.set_by_size(&mut by_size, row, |_| true);
    }
    part.add("sysu-table-1", &all)?;
    part.add("sysu-table-2", &by_size)?;
    Ok(())
}

/// Reproduces Table 6 and Figure 2.
fn forecasts(part: &mut Part<'_>, model: &Throughput) -> Result<()> {
    let mut errors = Values::default();
    errors.row(
        "EBM",
        ["mean absolute error", "R²"]
            .into_iter()
            .zip(model.scores(Label::Jobs)),
    );
    part.add("sysu-table-6", &errors)?;
    let features = part.next_rows();
    let importances = model.importances(Label::Jobs, &features);
    part.add("sysu-figure-2a", &importances)?;
    part.add("sysu-figure-2b", &model.shape_of_hours(Label::Jobs))?;
    Ok(())
}

/// Reproduces Figures 4 and 5, and the tables by virtual cluster on which Figure 5 is based.
fn distributions(part: &mut Part<'_>, venus: &Venus, model: &Throughput) -> Result<()> {
    let (mut done, mut queuing, mut completion) =
        (Values::default(), Values::default(), Values::default());
    for (row, name) in LOGGED {
        let run = venus.run(name)?;
        if row != "SRTF" {
            run.set_completions(&mut done, row);
        }
        run.set_by_vc(&mut queuing, row, |delays| delays.avg_queue_s);
        run.set_by_vc(&mut completion, row, |delays| delays.avg_jct_s);
    }
    part.add("sysu-figure-4", &done)?;
    let mut forecast = Values::default();
    for (label, column) in [(Label::Jobs, "jobs"), (Label::Gpus, "GPUs")] {
        forecast.set("mean absolute error", column, model.scores(label)[0]);
    }
    let drawing = model.drawing(Label::Jobs, "GPU jobs submitted in ten minutes");
    part.add("sysu-figure-5-forecast", &forecast)?.drawing = Some(drawing);
    part.add("sysu-figure-5-queuing", &queuing)?;
    part.add("sysu-jct-by-vc", &completion)?;
    Ok(())
}

/// Reproduces Figures 6 to 8.
fn ablations(part: &mut Part<'_>, venus: &Venus) -> Result<()> {
    let mut all = Values::default();
    let (mut completion, mut queuing) = (Values::default(), Values::default());
    for name in ABLATIONS {
        let run = venus.run(name)?;
        run.set_delays(&mut all, name);
        run.set_by_size(&mut completion, name, |column| column.starts_with("JCT"));
        run.set_by_size(&mut queuing, name, |column| column.starts_with("queuing"));
    }
    part.add("sysu-figure-6", &all)?;
    part.add("sysu-figure-7", &completion)?;
    part.add("sysu-figure-8", &queuing)?;
    Ok(())
}
