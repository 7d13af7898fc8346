//! The profiler: jobs with the fewest GPUs first, with time-aware scaling.

use gleaner_core::results::schedule::Schedule;

use super::sim::Sim;
use super::{Rule, World, run};

/// Runs each job of at most `most_gpus` GPUs for at most `limit` seconds.
#[derive(Debug, Clone)]
pub struct Profiler {
    pub nodes: u32,
    pub limit: i64,
    pub most_gpus: u32,
    /// Whether a node is borrowed and returned as needed.
    pub elastic: bool,
}

/// The result of a profiler.
pub struct Profiled {
    limit: i64,
    /// Indices of the profiled jobs among all jobs, ascending.
    pub jobs: Vec<usize>,
    pub schedule: Schedule,
}

impl Profiler {
    /// The world of the profiler: the jobs that are small enough, and their indices among all jobs.
    pub fn world<'a>(&self, all: &World<'a>) -> (World<'a>, Vec<usize>) {
        let small = |&index: &usize| all.jobs[index].gpus <= self.most_gpus;
        let small: Vec<usize> = (0..all.jobs.len()).filter(small).collect();
        let world = World {
            jobs: small.iter().map(|&index| all.jobs[index]).collect(),
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
    /// All jobs that go on after the profiler, with their waits: those too large for it, and those
    /// that it released.
    pub fn rest<'a>(&self, all: &World<'a>) -> World<'a> {
        let goes_on = |&(index, queued): &(usize, i64)| match self.jobs.binary_search(&index) {
            Err(_) => Some((all.jobs[index], queued)),
            Ok(_) if all.jobs[index].duration <= self.limit => None,
            Ok(at) => Some((all.jobs[index], self.schedule.jobs[at].queue)),
        };
        let all_jobs = all.queued.iter().copied().enumerate();
        let (jobs, queued) = all_jobs.filter_map(|job| goes_on(&job)).unzip();
        World {
            jobs,
            queued,
            ..all.clone()
        }
    }

    /// When nodes were borrowed and returned. A node that is still kept is returned with the last
    /// end.
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
            // A job counts as having no work left, because the profiler ends it at a set time.
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

    /// Whether few GPUs are forecast; this is also the case beyond the forecast.
    fn quiet(&self, sim: &Sim) -> bool {
        let forecast = sim.world.forecast.gpus(sim.time);
        forecast.is_none_or(|gpus| gpus <= f64::from(self.most_gpus * 5))
    }
}
