//! Jobs are cut into training, validation and test batches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Dataset, Example};
use crate::random::PythonRandom;

/// How jobs are split. The default is that of the published data sets but for `graphs` (there 320)
/// and `drop_remainder` (there true).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The most jobs to take; `None` for all.
    pub graphs: Option<usize>,
    /// Jobs to a batch.
    pub batch: usize,
    /// Whether jobs that do not fill a batch are dropped instead of making a smaller one.
    pub drop_remainder: bool,
    /// The seed of the order.
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

/// Batches of jobs, in the order in which they are trained on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split<T> {
    /// What is learnt from.
    pub train: Vec<Vec<T>>,
    /// What chooses the epoch that is kept.
    pub val: Vec<Vec<T>>,
    /// What neither sees.
    pub test: Vec<Vec<T>>,
    /// Jobs beyond the number asked for, and those of dropped batches.
    pub unused: Vec<T>,
}

/// Why jobs cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// Batches of nothing.
    #[error("batches of 0 jobs are asked for; ask for at least 1")]
    NoBatch,
    /// Two jobs of one name.
    #[error("two jobs are called {0:?}; names have to differ, as they give the order: rename one")]
    Twice(String),
    /// More jobs than can be shuffled.
    #[error("{0} jobs are too many: fewer than 2^32 can be split")]
    TooMany(usize),
}

/// Splits jobs as the published builder does: shuffles them as Python's `random.shuffle` does after
/// `random.seed`, keeps the first [`Settings::graphs`], and gives the first 60 % to training, the
/// next 20 % to validation and the rest to the test, each cut off to whole jobs, in batches.
///
/// Jobs are sorted by name first, so the same jobs are split alike wherever they come from; the
/// published builder shuffles them from the order in which the file system lists them. Only jobs
/// with labels should be given.
///
/// Of fewer than 5 jobs, parts can be empty: 4 are split 2, 1, 1; 3 are split 1, 1, 1; 2 are split
/// 1, 0, 1; and a single one is left to the test.
///
/// # Errors
/// Where two names are equal or batches have no jobs.
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
    /// Without the jobs that are not used.
    fn from(split: Split<Example>) -> Self {
        Dataset {
            train: split.train,
            val: split.val,
            test: split.test,
        }
    }
}
