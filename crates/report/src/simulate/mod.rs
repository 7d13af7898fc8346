//! The sections of a page about simulations.

use super::figure::Colour;
use super::names::slug;
use super::{Block, Section};
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_runs::read::{PolicyRun, SimulateRun};
use gleaner_runs::simulate::{Entry, Figure as Delay, by_cluster, compared};

mod distribution;
mod gpus;
mod load;
mod side_by_side;
mod vcs;

/// A simulation with its name on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub result: &'a SimulateRun,
}

impl<'a> Named<'a> {
    /// The simulation's policies with their figures.
    fn entries(&self) -> Vec<Entry<'a>> {
        let policies = self.result.policies.iter();
        policies
            .map(|policy| (policy.name.as_str(), &policy.figures))
            .collect()
    }
}

/// The sections about `runs`. If there are several runs, the first section shows their changes relative to the first
/// run.
///
/// # Errors
/// Returns [`Error::Stopped`](gleaner_domain::Error::Stopped) if the observer requests a stop.
pub(super) fn sections(runs: &[Named<'_>], observer: &dyn Observer) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    if runs.len() > 1 {
        sections.push(Section {
            id: "simulations".to_owned(),
            title: "Simulations side by side".to_owned(),
            lead: std::iter::once("Changes are relative to the first simulation.".to_owned())
                .chain(gpus::note_of_all(runs))
                .collect::<Vec<_>>()
                .join(" "),
            blocks: side_by_side::grids(runs)
                .into_iter()
                .map(Block::Grid)
                .collect(),
        });
    }
    for (place, run) in runs.iter().enumerate() {
        check_stop(observer)?;
        sections.push(alone(run, place + 1, runs.len() > 1));
    }
    Ok(sections)
}

fn alone(run: &Named<'_>, number: usize, several: bool) -> Section {
    let policies = &run.result.policies;
    let jobs = policies.first().map_or(0, |policy| policy.figures.all.jobs);
    let figures = [
        distribution::completion(run),
        distribution::queuing(run),
        vcs::figure(run),
        load::utilisation(run),
        load::waiting(run),
    ];
    let entries = run.entries();
    let mut blocks = compared(&entries, run.result.placement_affects_speed);
    blocks.extend(figures.map(Block::figure));
    blocks.push(Block::Folded(by_cluster(Delay::AverageJct, &entries)));
    Section {
        id: if several {
            format!("simulation-{number}-{}", slug(run.name))
        } else {
            "simulation".to_owned()
        },
        title: if several {
            format!("Simulation {}", run.name)
        } else {
            "Policies compared".to_owned()
        },
        lead: lead(run, jobs),
        blocks,
    }
}

fn lead(run: &Named<'_>, jobs: u64) -> String {
    let policies = match run.result.policies.len() {
        1 => "1 policy".to_owned(),
        several => format!("{several} policies"),
    };
    let jobs = match jobs {
        1 => "1 job".to_owned(),
        jobs => format!("{} jobs", super::numbers::count(jobs)),
    };
    let mut lead = format!(
        "{jobs} under {policies}. Job completion time (JCT) is the time from submission to the end."
    );
    if let Some(note) = gpus::note(run) {
        lead = lead + " " + &note;
    }
    lead
}

/// The policies with their colours, which are the same in every figure.
fn coloured<'a>(run: &Named<'a>) -> impl Iterator<Item = (&'a PolicyRun, Colour)> {
    let policies = run.result.policies.iter().enumerate();
    policies.map(|(place, policy)| (policy, Colour::Series(place)))
}

/// A figure's identifier: its kind and the run's name.
fn id_of(kind: &str, run: &Named<'_>) -> String {
    format!("{kind}-{}", slug(run.name))
}
