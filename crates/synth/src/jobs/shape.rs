//! Draws the sizes, lengths and final states of jobs.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal};

use gleaner_domain::error::{Error, Result};

/// Possible numbers of GPUs of a job, each with its share of the jobs in thousandths.
const GPUS: [(u32, u32); 9] = [
    (1, 540),
    (2, 100),
    (3, 5),
    (4, 110),
    (6, 5),
    (8, 180),
    (16, 35),
    (32, 18),
    (64, 7),
];

/// Kinds of runs: trials and debugging, short training, and long training. For each kind: its share of the runs,
/// the median of its durations in seconds, and the standard deviation of the durations' logarithms.
const KINDS: [(f64, f64, f64); 3] = [
    (0.68, 200.0, 1.2),
    (0.23, 3_600.0, 1.0),
    (0.09, 36_000.0, 1.0),
];

/// Final states of jobs. For each state: its share of the jobs, and the range of their run times as shares of the
/// drawn lengths.
const STATES: [(&str, f64, (f64, f64)); 3] = [
    ("COMPLETED", 0.62, (0.95, 1.05)),
    ("CANCELLED", 0.22, (0.1, 1.0)),
    ("FAILED", 0.16, (0.02, 0.3)),
];

/// Draws the number of GPUs of a job, at most `most`.
pub fn gpus(most: u32, rng: &mut ChaCha8Rng) -> u32 {
    let possible = || GPUS.iter().filter(|(gpus, _)| *gpus <= most);
    let total = possible().map(|(_, share)| share).sum();
    let mut drawn = rng.random_range(0..total);
    for &(gpus, share) in possible() {
        if drawn < share {
            return gpus;
        }
        drawn -= share;
    }
    1
}

/// Distributions of the typical job length of a batch.
pub struct Lengths([LogNormal<f64>; 3]);

impl Lengths {
    /// Creates the distributions, one for each kind of run.
    ///
    /// # Errors
    /// Never, because the constants are valid.
    pub fn new() -> Result<Self> {
        let [trial, short, long] = KINDS
            .map(|(_, median, sigma)| LogNormal::new(median.ln(), sigma))
            .map(|kind| kind.map_err(|e| Error::Run(e.to_string())));
        Ok(Lengths([trial?, short?, long?]))
    }

    /// Draws the typical duration of a batch's jobs, in seconds. Cancelled and failed jobs run for only a part of it.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        let kind = pick(KINDS.map(|(share, ..)| share), rng);
        self.0[kind].sample(rng)
    }
}

/// Draws the final state of a job, and the share of its length after which it ends.
pub fn ending(rng: &mut ChaCha8Rng) -> (&'static str, f64) {
    let (state, _, (least, most)) = STATES[pick(STATES.map(|(_, share, _)| share), rng)];
    (state, rng.random_range(least..most))
}

/// Draws an index. The probability of each index is in `shares`, which add up to 1.
fn pick<const N: usize>(shares: [f64; N], rng: &mut ChaCha8Rng) -> usize {
    let mut drawn: f64 = rng.random_range(0.0..1.0);
    let found = shares.iter().position(|share| {
        drawn -= share;
        drawn < 0.0
    });
    found.unwrap_or(N - 1)
}
