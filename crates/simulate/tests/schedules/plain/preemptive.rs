//! SRTF and Tiresias: running jobs are preempted in favour of other jobs.

use super::Rule;
use super::sim::Sim;

pub struct Srtf;
pub struct Tiresias;

/// Attained service (GPU-seconds) above which Tiresias puts a job in the second queue.
const LONG_SERVED: f64 = 18_000.0;

/// Ends jobs with no work left. The other jobs work for a second, which adds to their attained service.
fn work(sim: &mut Sim) {
    for job in sim.running.clone() {
        if sim.jobs[job].remain == 0.0 {
            sim.finish(job);
        } else {
            let gpus = f64::from(sim.gpus(job));
            let live = &mut sim.jobs[job];
            live.remain -= 1.0;
            if let Some(served) = &mut live.priority {
                *served += gpus;
            }
        }
    }
}

/// Goes through all jobs in the order of precedence. Running jobs that no longer fit into the total
/// number of GPUs are preempted. Waiting jobs that fit are placed if the placer finds GPUs for them.
fn select(sim: &mut Sim, order: &[usize]) {
    let mut quota = sim.nodes.total();
    let (mut preempted, mut chosen) = (Vec::new(), Vec::new());
    for &job in order {
        let runs = sim.running.contains(&job);
        if sim.gpus(job) <= quota {
            quota -= sim.gpus(job);
            if !runs {
                chosen.push(job);
            }
        } else if runs {
            preempted.push(job);
        }
    }
    for job in preempted {
        preempt(sim, job);
    }
    for job in chosen {
        if sim.place(job) {
            resume(sim, job);
        }
    }
}

fn preempt(sim: &mut Sim, job: usize) {
    sim.stop(job);
    sim.waiting.push(job);
    let overhead = if sim.gpus(job) <= 8 { 40.0 } else { 60.0 };
    let live = &mut sim.jobs[job];
    live.checkpoints += 1;
    live.preempted = sim.time;
    live.remain += overhead;
}

fn resume(sim: &mut Sim, job: usize) {
    let submit = sim.world.jobs[job].submit;
    let live = &mut sim.jobs[job];
    if live.checkpoints == 0 {
        live.start = sim.time;
        live.queue = sim.time - submit;
    } else {
        live.queue += sim.time - live.preempted;
    }
    sim.start(job);
}

impl Rule for Srtf {
    fn second(&mut self, sim: &mut Sim) {
        work(sim);
        sim.arrive();
        let mut order = [sim.waiting.clone(), sim.running.clone()].concat();
        order.sort_by_key(|&job| sim.jobs[job].remain as i64);
        select(sim, &order);
    }
}

impl Rule for Tiresias {
    fn second(&mut self, sim: &mut Sim) {
        work(sim);
        let new = sim.arrive();
        for &job in sim.waiting.iter().rev().take(new) {
            sim.jobs[job].priority = Some(0.0);
        }
        if sim.time % 60 != 0 {
            return;
        }
        let all = [sim.running.clone(), sim.waiting.clone()].concat();
        let served = |&job: &usize| sim.jobs[job].priority.unwrap() > LONG_SERVED;
        let (mut second, mut first): (Vec<usize>, Vec<usize>) = all.into_iter().partition(served);
        first.sort_by_key(|&job| sim.world.jobs[job].submit);
        second.sort_by_key(|&job| sim.world.jobs[job].submit);
        select(sim, &[first, second].concat());
    }
}
