//! The profiler: fewest GPUs first, with time-aware scaling.

use gleaner::domain::Job;
use gleaner::lucid::schedule::Schedule;

use super::Rule;
use super::sim::Sim;

/// Runs each job for at most `limit` seconds. The world holds only jobs of at most
/// `most_gpus` GPUs.
pub struct Profiler {
    pub limit: i64,
    pub most_gpus: u32,
    /// Whether a node is borrowed and returned as needed.
    pub elastic: bool,
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
            // Of its time here, nothing will be left.
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

    /// Whether few GPUs will be asked for; beyond the forecast none are.
    fn quiet(&self, sim: &Sim) -> bool {
        let forecast = sim.world.forecast.gpus(sim.time);
        forecast.is_none_or(|gpus| gpus <= f64::from(self.most_gpus * 5))
    }
}

/// Of the jobs that were profiled, those that go on, with their wait; with those too
/// large to be profiled, in the order of `jobs`. `profiled` are ascending indices of `jobs`.
pub fn after<'a>(
    jobs: &[&'a Job],
    profiled: &[usize],
    schedule: &Schedule,
    limit: i64,
) -> (Vec<&'a Job>, Vec<i64>) {
    let mut left = Vec::new();
    for (index, &job) in jobs.iter().enumerate() {
        match profiled.binary_search(&index) {
            Err(_) => left.push((job, 0)),
            Ok(_) if job.duration <= limit => {}
            Ok(at) => left.push((job, schedule.jobs[at].queue)),
        }
    }
    left.into_iter().unzip()
}
