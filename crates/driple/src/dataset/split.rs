//! Splits jobs into training, validation and test batches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Dataset, Example};
use crate::random::PythonRandom;

/// The settings for splitting jobs. The defaults are the settings of the published data sets, with
/// two exceptions: those data sets were split with `graphs` = 320 and `drop_remainder` = true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The maximum number of jobs to use; `None` for no limit.
    pub graphs: Option<usize>,
    /// The number of jobs in a batch.
    pub batch: usize,
    /// Whether to drop the last batch of a part if the part's jobs do not fill it. Otherwise, the
    /// last batch is smaller.
    pub drop_remainder: bool,
    /// The seed of the shuffle.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            graphs: None,
            batch: 32,
            drop_remainder: false,
            seed: 42,
        }
    }
}

/// A split of jobs. The batches are in training order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split<T> {
    /// The part that the network is trained on.
    pub train: Vec<Vec<T>>,
    /// The part whose error decides which epoch's weights are kept.
    pub val: Vec<Vec<T>>,
    /// The held-out part, on which the error of the trained network is measured.
    pub test: Vec<Vec<T>>,
    /// The unused jobs: those beyond the requested number, and those from dropped batches.
    pub unused: Vec<T>,
}

/// The reason why jobs cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// The requested number of jobs per batch is 0.
    #[error("the number of jobs per batch is 0; expected at least 1")]
    NoBatch,
    /// Two jobs have the same name.
    #[error(
        "two jobs are called {0:?}, but names must differ, because jobs are sorted by name; rename one"
    )]
    Twice(String),
    /// There are too many jobs to shuffle.
    #[error("{0} jobs are too many to split: expected fewer than 2^32")]
    TooMany(usize),
}

/// Splits jobs with the algorithm of the published builder. The jobs are shuffled with Python's
/// algorithm (`random.shuffle` after `random.seed`), and the first [`Settings::graphs`] jobs are
/// kept. Of these, the first 60 % are for training, the next 20 % for validation and the rest for
/// testing. The boundaries at 60 % and 80 % are rounded down to whole jobs. Each part is then
/// divided into batches. For example, 320 jobs in batches of 32 give 6 training batches, 2
/// validation batches and 2 test batches.
///
/// Jobs are sorted by name before the shuffle, so that the same jobs are always split in the same
/// way. The published builder does not sort: it shuffles the jobs in the order in which the file
/// system lists them. Callers should pass only jobs with labels.
///
/// With fewer than 3 jobs, some parts are empty. Of 2 jobs, one is used for training and
/// one for testing. A single job is used for testing.
///
/// # Errors
/// If two names are equal, the number of jobs per batch is 0, or there are 2³² jobs or more.
pub fn split<T>(
    mut jobs: Vec<T>,
    name: impl Fn(&T) -> &str,
    settings: &Settings,
) -> Result<Split<T>, SplitError> {
    if settings.batch == 0 {
        return Err(SplitError::NoBatch);
    }
    if u32::try_from(jobs.len()).is_err() {
        return Err(SplitError::TooMany(jobs.len()));
    }
    unequal(&jobs, &name)?;
    jobs.sort_by(|a, b| name(a).cmp(name(b)));
    PythonRandom::new(settings.seed).shuffle(&mut jobs);
    let kept = settings.graphs.unwrap_or(jobs.len()).min(jobs.len());
    let mut unused = jobs.split_off(kept);
    let test = jobs.split_off((0.8 * kept as f64) as usize);
    let val = jobs.split_off((0.6 * kept as f64) as usize);
    let mut batches = |jobs| batches(jobs, settings, &mut unused);
    Ok(Split {
        train: batches(jobs),
        val: batches(val),
        test: batches(test),
        unused,
    })
}

fn unequal<T>(jobs: &[T], name: impl Fn(&T) -> &str) -> Result<(), SplitError> {
    let mut names = BTreeSet::new();
    match jobs.iter().find(|&job| !names.insert(name(job))) {
        None => Ok(()),
        Some(job) => Err(SplitError::Twice(name(job).to_owned())),
    }
}

fn batches<T>(jobs: Vec<T>, settings: &Settings, unused: &mut Vec<T>) -> Vec<Vec<T>> {
    let mut batches = Vec::with_capacity(jobs.len() / settings.batch + 1);
    let mut jobs = jobs.into_iter();
    loop {
        let batch: Vec<T> = jobs.by_ref().take(settings.batch).collect();
        match batch.len() {
            0 => return batches,
            len if len < settings.batch && settings.drop_remainder => unused.extend(batch),
            _ => batches.push(batch),
        }
    }
}

impl From<Split<Example>> for Dataset {
    /// Converts a split to a data set, without the unused jobs.
    fn from(split: Split<Example>) -> Self {
        Dataset {
            train: split.train,
            val: split.val,
            test: split.test,
        }
    }
}
