//! The progress and the problems of a sweep.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::PreparedRuns;
use gleaner_domain::words::last_lines;
use gleaner_io::files::open_regular;
use gleaner_store::{Ended, Failure, Found, PartName};

use crate::cluster::{Batch, BatchFolder, Costs, Deal};

/// Number of bytes that are read from the end of a log.
const LOG_BYTES: u64 = 4096;
/// Maximum number of lines that are shown from the end of a log.
const LOG_LINES: usize = 5;

/// The progress of a sweep.
#[derive(Debug)]
pub struct State {
    /// Number of runs that are done.
    pub done: usize,
    /// Total number of restarts of runs.
    pub begun_again: u64,
    /// The runs that are not done, in the plan's order.
    pub missing: Vec<usize>,
    /// Number of missing runs that processes are executing now; 0 on a file system without file locks.
    pub running: usize,
    /// The missing runs that have failed, each with the reason.
    pub failed: Vec<(usize, Failure)>,
    /// Estimated durations of runs.
    pub costs: Costs,
}

/// A part with unfinished runs, although the jobs of its batch have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Batch and number of the part.
    pub name: PartName,
    /// The part's runs that are neither done nor failed.
    pub runs: Vec<usize>,
    /// The recorded end of the part; `None` if the part was killed or never started.
    pub ended: Option<Ended>,
    /// The last lines of the part's log, separated by ` | `.
    pub log: String,
}

impl Trouble {
    /// Whether the part stopped by itself because its time limit was near.
    pub fn is_orderly(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.code == 0)
    }

    /// Whether the part rejected the plan or an input, so another attempt would fail in the same way.
    pub fn is_final(&self) -> bool {
        self.ended
            .as_ref()
            .is_some_and(|ended| matches!(ended.code, 2 | 3))
    }
}

impl State {
    /// Determines the progress of a plan's runs from the content of a store.
    pub fn of<R>(prepared: &dyn PreparedRuns, found: &Found<R>) -> Self {
        let (mut missing, mut failed, mut took) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..prepared.count() {
            let key = prepared.key(run);
            match found.results.get(&key) {
                Some(kept) => took.push((run, kept.seconds)),
                None => {
                    missing.push(run);
                    let failure = found.failures.get(&key).cloned();
                    failed.extend(failure.map(|failure| (run, failure)));
                }
            }
        }
        State {
            done: took.len(),
            begun_again: found.begun_again(),
            running: found.running.len(),
            missing,
            failed,
            costs: Costs::of(prepared, took),
        }
    }

    /// Selects the runs of a batch that should be resubmitted. Excludes runs that are done, and runs that have failed
    /// in this batch or in the batches before it. Also excludes the runs of parts in `troubles` that would end in the
    /// same way again ([`Trouble::is_final`]).
    pub fn left_of(&self, batch: &Batch, deal: &Deal, troubles: &[Trouble]) -> Vec<usize> {
        let chain: BTreeSet<&str> = batch.chain().collect();
        let has_failed = |failure: &Failure| {
            let by = failure.by.as_ref();
            by.is_some_and(|by| chain.contains(by.batch.as_str()))
        };
        let failed = self
            .failed
            .iter()
            .filter(|(_, failure)| has_failed(failure));
        let hopeless = troubles.iter().filter(|trouble| trouble.is_final());
        let not: BTreeSet<usize> = failed
            .map(|(run, _)| *run)
            .chain(hopeless.flat_map(|trouble| trouble.runs.iter().copied()))
            .collect();
        let dealt: BTreeSet<usize> = deal.runs().collect();
        let missing = self.missing.iter().copied();
        missing
            .filter(|run| dealt.contains(run) && !not.contains(run))
            .collect()
    }
}

/// The parts of a batch that have unfinished runs. All jobs of the batch must have ended before this call.
pub fn troubles<R>(
    state: &State,
    found: &Found<R>,
    batches: &BatchFolder,
    batch: &Batch,
    deal: &Deal,
) -> Vec<Trouble> {
    let failed: BTreeSet<usize> = state.failed.iter().map(|(run, _)| *run).collect();
    let left: BTreeSet<usize> = state
        .missing
        .iter()
        .copied()
        .filter(|run| !failed.contains(run))
        .collect();
    let mut troubles = Vec::new();
    for part in 1..=deal.parts() {
        let runs: Vec<usize> = deal.part(part).filter(|run| left.contains(run)).collect();
        if runs.is_empty() {
            continue;
        }
        let name = PartName {
            batch: batch.name.clone(),
            part,
        };
        let logs = found.parts.iter().filter(|log| log.name == name);
        // A part has several logs if Slurm restarted it. Logs without a recorded end are ignored.
        let ended = logs.filter_map(|log| log.ended.clone()).next_back();
        let log = log_end(&batches.log(batch, part));
        troubles.push(Trouble {
            name,
            runs,
            ended,
            log,
        });
    }
    troubles
}

/// The last lines of a log; empty if it is missing.
fn log_end(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = open_regular(path, OpenOptions::new().read(true))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(LOG_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    last_lines(&String::from_utf8_lossy(&bytes), LOG_LINES)
}
