//! The sections of a page about simulations.

use super::figure::Colour;
use super::names::slug;
use super::{Block, Section};
use gleaner_runs::read::{PolicyRun, SimulateRun};

mod assumed;
mod compared;
mod delays;
mod distribution;
mod gpus;
mod load;
mod vcs;

/// A simulation with its name on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub result: &'a SimulateRun,
}

/// The sections about `runs`. If there are several, the first section has their changes relative to
/// the first run.
pub(super) fn sections(runs: &[Named<'_>]) -> Vec<Section> {
    let mut sections = Vec::new();
    if runs.len() > 1 {
        sections.push(Section {
            id: "simulations".to_owned(),
            title: "Simulations side by side".to_owned(),
            lead: std::iter::once("Changes are against the first simulation.".to_owned())
                .chain(gpus::note_of_all(runs))
                .collect::<Vec<_>>()
                .join(" "),
            blocks: compared::grids(runs).into_iter().map(Block::Grid).collect(),
        });
    }
    let of = |(place, run): (usize, &Named<'_>)| alone(run, place + 1, runs.len() > 1);
    sections.extend(runs.iter().enumerate().map(of));
    sections
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
    let mut blocks = vec![
        Block::Grid(delays::overview(run)),
        Block::Grid(delays::sizes(run)),
    ];
    blocks.extend(assumed::blocks(run));
    blocks.extend(figures.map(Block::figure));
    blocks.push(Block::Folded(vcs::completion(run)));
    Section {
        id: match several {
            true => format!("simulation-{number}-{}", slug(run.name)),
            false => "simulation".to_owned(),
        },
        title: match several {
            true => format!("Simulation {}", run.name),
            false => "Policies compared".to_owned(),
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
        "{jobs} under {policies}. Job completion time (JCT) is from submission to the end."
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
