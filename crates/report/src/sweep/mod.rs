//! The sections of a page about sweeps.

use super::names::slug;
use super::numbers::count;
use super::{Block, Fact, Figure, Section};
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::results::sweep::Mode;
use gleaner_runs::read::SweepRuns;
use gleaner_runs::sweep::{best_settings, note_on_placers};

mod cells;
mod choice;
mod heat;
mod pareto;
mod single;
mod tables;
mod trials;

pub use choice::SweepChoice;

use choice::{Axes, Drawn};
use trials::{Trials, shown};

/// A sweep with its name on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub result: &'a SweepRuns,
}

/// A section for each of the `sweeps`.
///
/// # Errors
/// Returns an error if `choice` names a setting or metric that a sweep does not have, or if the observer requests a
/// stop.
pub(super) fn sections(
    sweeps: &[Named<'_>],
    choice: &SweepChoice,
    observer: &dyn Observer,
) -> Result<Vec<Section>> {
    let of = |(place, sweep): (usize, &Named<'_>)| {
        check_stop(observer)?;
        section(sweep, place + 1, sweeps.len(), choice)
    };
    sweeps.iter().enumerate().map(of).collect()
}

fn section(sweep: &Named<'_>, number: usize, of: usize, choice: &SweepChoice) -> Result<Section> {
    let trials = Trials::of(sweep.result);
    let drawn = Drawn::of(sweep.result, &trials, choice)?;
    let mut blocks = vec![Block::Facts(best(sweep.result, &trials, choice))];
    let note = note_on_placers(trials.settings.iter().copied());
    blocks.extend(note.map(|note| Block::Note(note.to_owned())));
    if trials.trials.len() > 1 {
        blocks.extend(figures(sweep, &trials, drawn).map(Block::figure));
        blocks.push(Block::Grid(tables::best(sweep.result, &trials)));
        blocks.push(Block::Folded(tables::all(&trials, drawn.metric)));
    } else {
        blocks.push(Block::Grid(tables::only(&trials)));
    }
    blocks.push(Block::Folded(tables::same(sweep.result)));
    Ok(Section {
        id: match of {
            1 => "sweep".to_owned(),
            _ => format!("sweep-{number}-{}", slug(sweep.name)),
        },
        title: match of {
            1 => "Settings compared".to_owned(),
            _ => format!("Sweep {}", sweep.name),
        },
        lead: lead(sweep.result, &trials),
        blocks,
    })
}

/// The best settings by the metric that the user chose; empty if the sweep does not have this metric.
fn best(sweep: &SweepRuns, trials: &Trials, choice: &SweepChoice) -> Vec<Fact> {
    let by = choice.metric.as_deref().unwrap_or(sweep.by.name);
    let Some(metric) = sweep.mode.metric(by) else {
        return Vec::new();
    };
    best_settings(&sweep.groups, sweep.mode, &metric, |group| {
        let values = trials.trials[group].settings.iter();
        let values = values.map(|value| shown(value));
        trials.settings.iter().copied().zip(values).collect()
    })
}

fn figures(
    sweep: &Named<'_>,
    trials: &Trials,
    drawn: Drawn,
) -> impl Iterator<Item = Figure> + use<> {
    let by_settings = match drawn.axes {
        Axes::None => None,
        Axes::One(x) => Some(single::by_one(trials, sweep.name, x, drawn.metric)),
        Axes::Two(x, y) => Some(heat::by_two(trials, sweep.name, (x, y), drawn.metric)),
    };
    let against = pareto::figure(trials, sweep.name, (drawn.against, drawn.metric));
    by_settings.into_iter().chain([against])
}

/// A sentence that states over which repetitions means and intervals are computed; empty if there are no means.
fn over(trials: &Trials) -> String {
    if !trials.are_means() {
        return String::new();
    }
    let nouns = trials.over.nouns();
    match trials.over.why_no_interval(trials.repetitions) {
        None => format!(" {}.", trials.over.describe()),
        Some(why) => format!(" Figures are means over {nouns}. They have {why}."),
    }
}

/// The lead sentence: how many runs there are, and in which settings they differ.
fn lead(sweep: &SweepRuns, trials: &Trials) -> String {
    let what = match sweep.mode {
        Mode::Replay => "replays",
        Mode::Simulate => "simulations",
    };
    let varied = trials.settings.iter().enumerate().map(|(setting, name)| {
        format!(
            "{name} ({} values)",
            count(trials.values(setting).len() as u64)
        )
    });
    let mut varied: Vec<String> = varied.collect();
    if trials.seeds > 1 {
        varied.push(format!("seed ({} values)", trials.seeds));
    }
    if trials.over.cuts_log() {
        varied.push(format!(
            "{} ({} values)",
            trials.over.noun(),
            trials.repetitions
        ));
    }
    let varied = varied.join(", ");
    let unfinished = if sweep.complete {
        ""
    } else {
        "This sweep is unfinished: runs are missing, and the best settings may change. "
    };
    let runs = match varied.as_str() {
        "" => format!(
            "{} {what}, all with the same settings.",
            count(sweep.runs.len() as u64)
        ),
        varied => format!(
            "{} {what} that differ in {varied}.{}",
            count(sweep.runs.len() as u64),
            over(trials)
        ),
    };
    format!("{unfinished}{runs}")
}
