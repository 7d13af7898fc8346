//! FIFO, SJF and QSSF: a sorted queue, served in order.

use super::Rule;
use super::sim::Sim;

pub struct Fifo;
pub struct Sjf;
pub struct Qssf;

/// Starts waiting jobs in order, up to the first that does not fit.
fn serve(sim: &mut Sim) {
    for job in sim.waiting.clone() {
        if !sim.start_until_end(job) {
            break;
        }
    }
}

impl Rule for Fifo {
    fn second(&mut self, sim: &mut Sim) {
        sim.end_due();
        sim.arrive();
        let jobs = &sim.world.jobs;
        sim.waiting.sort_by_key(|&job| jobs[job].submit);
        serve(sim);
    }
}

impl Rule for Sjf {
    fn second(&mut self, sim: &mut Sim) {
        sim.end_due();
        sim.arrive();
        let jobs = &sim.world.jobs;
        sim.waiting.sort_by_key(|&job| jobs[job].duration);
        serve(sim);
    }
}

impl Rule for Qssf {
    fn second(&mut self, sim: &mut Sim) {
        sim.end_due();
        let new = sim.arrive();
        let world = sim.world;
        sim.waiting.sort_by_key(|&job| world.jobs[job].gpus);
        if sim.waiting.len() > new {
            for &job in &sim.waiting {
                let given = world.jobs[job];
                let estimate = || world.estimates.seconds(given).unwrap();
                let service = || estimate() * f64::from(given.gpus);
                sim.jobs[job].priority.get_or_insert_with(service);
            }
            let jobs = &sim.jobs;
            sim.waiting.sort_by(|&a, &b| {
                let priority = |job: usize| jobs[job].priority.unwrap();
                priority(a).total_cmp(&priority(b))
            });
        }
        serve(sim);
    }
}
