//! The random numbers of a trial. They depend only on the seed, on their purpose, and on the trial's number.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A purpose for which random numbers are drawn. The purpose is part of the generator's key, so that no two purposes
/// use the same random numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Curve = 0,
    Noise = 1,
    Parameters = 2,
    /// The best hyperparameters of a simulated search.
    Optimum = 3,
    /// The choice of the trial to copy.
    Exploit = 4,
    /// Hyperparameters that an algorithm changes or proposes.
    Explore = 5,
}

/// The random numbers of a trial: one stream of the generator for each trial, under a key that contains the seed. The
/// key is constructed here because the library's conversion of a seed into a key may change between releases. `of`
/// distinguishes several streams of a trial for the same purpose, such as the noise at different resources.
pub(crate) fn stream(seed: u64, purpose: Purpose, of: u64, trial: u32) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, purpose as u64, of];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let mut random = ChaCha8Rng::from_seed(key);
    random.set_stream(u64::from(trial));
    random
}

/// The index of the task that a trial trains, drawn at random from `tasks` tasks.
pub fn task_of_trial(seed: u64, trial: u32, tasks: usize) -> usize {
    // Each trial has its own random stream, so its draw depends only on the seed and the trial's number.
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(trial));
    random.random_range(0..tasks.max(1))
}
