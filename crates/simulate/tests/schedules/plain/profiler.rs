//! The profiler of the plain simulator, which starts the jobs with the fewest GPUs first and has time-aware scaling.

use gleaner_domain::results::schedule::Schedule;

use super::sim::Sim;
use super::{Rule, World, run};

/// Runs each job of at most `most_gpus` GPUs for at most `limit` seconds.
#[derive(Debug, Clone)]
pub struct Profiler {
    pub nodes: u32,
    pub limit: i64,
    pub most_gpus: u32,
    /// Whether the profiler borrows and returns a node as needed.
    pub elastic: bool,
}

/// The result of profiling.
pub struct Profiled {
    limit: i64,
    /// Indices of the profiled jobs among all jobs, ascending.
    pub jobs: Vec<usize>,
    pub schedule: Schedule,
}

impl Profiler {
    /// The input of the profiler's simulation, which contains only the jobs that are small enough to be profiled, and
    /// the indices of these jobs among all jobs.
    pub fn world<'a>(&self, all: &World<'a>) -> (World<'a>, Vec<usize>) {
        let small = |&index: &usize| all.jobs[index].gpus <= self.most_gpus;
        let small: Vec<usize> = (0..all.jobs.len()).filter(small).collect();
        let world = World {
            jobs: small.iter().map(|&index| all.jobs[index]).collect(),
            entries: small.iter().map(|&index| all.entries[index]).collect(),
            queued: vec![0; small.len()],
            nodes: self.nodes,
            ..all.clone()
        };
        (world, small)
    }

    /// Profiles all jobs that are small enough.
    pub fn profile(&self, all: &World) -> Profiled {
        let (world, jobs) = self.world(all);
        Profiled {
            limit: self.limit,
            jobs,
            schedule: run(&world, &mut self.clone()),
        }
    }
}

impl Profiled {
    /// The input of the simulation after profiling: the jobs that are too large for the profiler and the jobs that it
    /// released, with their waiting times. In the original simulator, released jobs enter at their submission, as if
    /// they had not been profiled. If corrected, they enter when the profiler releases them, in the order of their
    /// release. Jobs released in the same second enter in the order of the trace.
    pub fn rest<'a>(&self, all: &World<'a>, corrected: bool) -> World<'a> {
        let mut going_on = Vec::new();
        for (index, &job) in all.jobs.iter().enumerate() {
            match self.jobs.binary_search(&index) {
                Err(_) => going_on.push((job, all.entries[index], all.queued[index])),
                Ok(_) if job.duration <= self.limit => {}
                Ok(at) => {
                    let profiled = &self.schedule.jobs[at];
                    let entry = if corrected {
                        profiled.start + self.limit
                    } else {
                        job.submit
                    };
                    going_on.push((job, entry, profiled.queue));
                }
            }
        }
        going_on.sort_by_key(|&(_, entry, _)| entry);
        World {
            jobs: going_on.iter().map(|&(job, ..)| job).collect(),
            entries: going_on.iter().map(|&(_, entry, _)| entry).collect(),
            queued: going_on.iter().map(|&(.., queued)| queued).collect(),
            ..all.clone()
        }
    }

    /// The seconds in which nodes were borrowed and returned. A node that is still borrowed is returned
    /// when the last job ends.
    pub fn loans(&self) -> Vec<(i64, i32)> {
        let mut loans = self.schedule.scaling.clone();
        if loans.last().is_some_and(|&(_, step)| step > 0) {
            let ends = self.schedule.jobs.iter().map(|job| job.end);
            loans.push((ends.max().unwrap(), -1));
        }
        loans
    }
}

impl Rule for Profiler {
    fn second(&mut self, sim: &mut Sim) {
        for job in sim.running.clone() {
            if sim.jobs[job].end == sim.time {
                sim.finish(job);
            }
        }
        sim.arrive();
        let jobs = &sim.world.jobs;
        sim.waiting.sort_by_key(|&job| jobs[job].gpus);
        for job in sim.waiting.clone() {
            if !sim.start_until_end(job) {
                break;
            }
            let held = jobs[job].duration.min(self.limit);
            sim.jobs[job].end = sim.time + held;
            // The end of the job is already set, so its remaining work is recorded as 0.
            sim.jobs[job].remain = 0.0;
        }
        if self.elastic {
            self.scale(sim);
        }
    }
}

impl Profiler {
    fn scale(&self, sim: &mut Sim) {
        let now = sim.time;
        let borrowed = sim.nodes.newcomer().is_some();
        if now % 10 == 0 && sim.waiting.len() > 10 && !borrowed {
            sim.nodes.add(now);
            sim.scaling.push((now, 1));
        }
        let idle = sim.nodes.newcomer_is_idle();
        if now % 100 == 0 && sim.waiting.len() < 5 && idle && self.quiet(sim) {
            sim.nodes.remove(now);
            sim.scaling.push((now, -1));
        }
    }

    /// Whether the forecast demand is at most five times `most_gpus`. True after the end of the forecast.
    fn quiet(&self, sim: &Sim) -> bool {
        let forecast = sim.world.forecast.gpus(sim.time);
        forecast.is_none_or(|gpus| gpus <= f64::from(self.most_gpus * 5))
    }
}
