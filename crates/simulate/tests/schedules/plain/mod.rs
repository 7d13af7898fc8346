//! A plain simulator that loops over all seconds and keeps its state in lists, which it sorts with stable sorts. It
//! shares no code with the product and is written from the rules alone. Tests compare the two on small traces.

pub mod cases;
mod easy;
mod known;
mod lucid;
mod nodes;
mod placers;
mod preemptive;
mod profiler;
mod queues;
mod reference;
mod sim;
pub mod sound;
mod state;

pub use easy::Easy;
pub use lucid::{Lucid, Switches};
pub use placers::Placer;
pub use preemptive::{Srtf, Tiresias};
pub use profiler::{Profiled, Profiler};
pub use queues::{Fifo, Qssf, Sjf};

use gleaner_domain::Job;
use gleaner_domain::inputs::{Estimates, Forecast, Packing};
use gleaner_domain::results::schedule::{Schedule, State};
use sim::Sim;

/// The input of a simulation.
#[derive(Clone)]
pub struct World<'a> {
    /// The jobs of one virtual cluster, or of all virtual clusters for the profiler, in the order of their entries.
    pub jobs: Vec<&'a Job>,
    /// Second at which each job joins the queue, ascending.
    pub entries: Vec<i64>,
    /// Seconds that each job has waited in the profiler.
    pub queued: Vec<i64>,
    pub nodes: u32,
    pub gpus_per_node: u32,
    /// First second of the simulation.
    pub start: i64,
    pub placer: Placer,
    pub estimates: &'a dyn Estimates,
    pub forecast: &'a dyn Forecast,
    pub packing: &'a dyn Packing,
}

impl World<'_> {
    /// The input of a simulation of one virtual cluster, which has `nodes` nodes.
    pub fn of_vc(&self, vc: usize, nodes: u32) -> Self {
        let here: Vec<usize> = (0..self.jobs.len())
            .filter(|&job| self.jobs[job].vc == vc)
            .collect();
        World {
            jobs: here.iter().map(|&job| self.jobs[job]).collect(),
            entries: here.iter().map(|&job| self.entries[job]).collect(),
            queued: here.iter().map(|&job| self.queued[job]).collect(),
            nodes,
            ..self.clone()
        }
    }
}

/// A policy of the plain simulator.
pub trait Rule {
    /// Simulates one second, except for the sampling.
    fn second(&mut self, sim: &mut Sim);
}

/// Steps through every second until all jobs have ended, or through one second if there are no jobs.
pub fn run(world: &World, rule: &mut dyn Rule) -> Schedule {
    let mut sim = Sim::new(world);
    loop {
        rule.second(&mut sim);
        sim.close_second();
        if sim.ended == world.jobs.len() {
            return sim.into_schedule();
        }
    }
}

/// The samples of a schedule, minute by minute.
pub fn minutes(schedule: &Schedule) -> Vec<(i64, State)> {
    let mut minutes = Vec::new();
    for samples in &schedule.samples {
        for minute in 0..i64::from(samples.count) {
            minutes.push((samples.first + 60 * minute, samples.state));
        }
    }
    minutes
}
