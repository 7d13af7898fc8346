//! Simulates workers that run jobs at the same time. Each job takes a random time.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_search::{Draw, Job, Next, Parameter, Plan, Search, Space, Value, Verdict};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The record of a search.
pub struct Log {
    /// The jobs in the order in which they started.
    pub jobs: Vec<Job>,
    /// Number of jobs that ended.
    pub ended: usize,
    /// The verdicts in the order in which they were returned.
    pub verdicts: Vec<Verdict>,
    /// The search after the run.
    pub search: Search,
}

impl Log {
    /// The trials that had a job on a rung of a bracket, in the order of the jobs.
    pub fn trials(&self, bracket: u32, rung: u32) -> Vec<u32> {
        let there = |job: &&Job| (job.bracket, job.rung) == (bracket, rung);
        self.jobs
            .iter()
            .filter(there)
            .map(|job| job.trial)
            .collect()
    }
}

/// A space of two hyperparameters: a number and a choice.
pub fn space() -> Space {
    let rate = Parameter::Draw(Draw::LogUniform {
        low: 1e-4,
        high: 0.1,
    });
    let depth = Parameter::Choice([2, 3, 5].map(Value::Whole).to_vec());
    Space([("depth".to_owned(), depth), ("lr".to_owned(), rate)].into())
}

/// Runs a search on `workers` workers until it is done or `most` jobs have ended.
pub fn run(plan: &Plan, workers: usize, seed: u64, loss: &dyn Fn(&Job) -> f64, most: usize) -> Log {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut search = Search::seeded(plan.clone(), seed, &space()).unwrap();
    let (mut jobs, mut verdicts) = (Vec::new(), Vec::new());
    let mut running: BTreeMap<u32, Job> = BTreeMap::new();
    let mut ends: BTreeSet<(u64, u32)> = BTreeSet::new();
    let (mut now, mut ended) = (0, 0);
    loop {
        while running.len() < workers {
            let Next::Job(job) = search.next() else {
                break;
            };
            jobs.push(job);
            ends.insert((now + random.random_range(1..20), job.trial));
            assert!(running.insert(job.trial, job).is_none());
        }
        let Some((end, trial)) = ends.pop_first().filter(|_| ended < most) else {
            break;
        };
        (now, ended) = (end, ended + 1);
        let job = running.remove(&trial).unwrap();
        verdicts.extend(search.report(trial, loss(&job)).unwrap());
    }
    Log {
        jobs,
        ended,
        verdicts,
        search,
    }
}

/// The loss of a trial at a level, such as a rung. Calls with the same arguments return the same loss. `kinds` is the
/// number of different finite losses. About one call in 16 returns a loss that is not finite.
pub fn loss(seed: u64, trial: u32, level: u32, kinds: u32) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(trial) * 1000 + u64::from(level));
    match random.random_range(0..48) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        _ => f64::from(random.random_range(0..kinds)) - f64::from(kinds / 2),
    }
}
