//! Assigns runs to parts.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::path::Path;

use crate::PreparedRuns;
use gleaner_domain::Digest;
use gleaner_domain::error::{Error, Result};
use gleaner_io::files;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cluster::Costs;
use crate::cluster::batch::MOST_BYTES;

/// An assignment of runs to parts. Each assigned run is in exactly one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deal {
    /// A digest of the keys of all runs in the plan. The digest changes when the plan or its inputs change.
    plan: String,
    /// The runs of each part, in descending order of estimated duration.
    parts: Vec<Vec<u32>>,
}

impl Deal {
    /// Assigns `runs` to at most `parts` parts that take about the same time. Runs are assigned from the longest to the
    /// shortest, each to the part with the least work so far. The longest part then takes at most a third longer than
    /// in the best assignment (Graham 1969). For example, runs of 3, 3, 2, 2 and 2 s are assigned to two parts that
    /// take 7 and 5 s. In the best assignment, both parts take 6 s.
    pub fn new(prepared: &dyn PreparedRuns, runs: &[usize], costs: &Costs, parts: usize) -> Self {
        let cost = |&run: &usize| (costs.of_run(prepared, run), run);
        let mut longest: Vec<(f64, usize)> = runs.par_iter().map(cost).collect();
        longest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let parts = parts.min(runs.len()).max(1);
        let mut dealt = vec![Vec::new(); parts];
        let mut heap: BinaryHeap<_> = (0..parts).map(|part| Reverse(Load(0.0, part))).collect();
        for (cost, run) in longest {
            if let Some(Reverse(Load(load, part))) = heap.pop() {
                dealt[part].push(run as u32);
                heap.push(Reverse(Load(load + cost, part)));
            }
        }
        Deal {
            plan: digest(prepared),
            parts: dealt,
        }
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The runs of a part; empty if there is no such part. Parts are numbered from 1.
    pub fn part(&self, part: usize) -> impl Iterator<Item = usize> {
        let runs = part.checked_sub(1).and_then(|part| self.parts.get(part));
        runs.into_iter().flatten().map(|&run| run as usize)
    }

    /// All assigned runs.
    pub fn runs(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().flatten().map(|&run| run as usize)
    }

    /// Writes the assignment as JSON.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write(path, |out| Ok(serde_json::to_writer(out, self)?))
    }

    /// Reads an assignment that was made for the same plan.
    ///
    /// # Errors
    /// [`Error::Usage`] if the file is not an assignment, or was made for another plan or other inputs.
    pub fn read(path: &Path, prepared: &dyn PreparedRuns) -> Result<Self> {
        let bytes = files::read_regular(path, MOST_BYTES)
            .map_err(|error| Error::io("read", path, error))?;
        let wrong = |what: &str| Error::Usage(format!("{}: {what}", path.display()));
        let deal: Deal = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(&format!("not an assignment of runs to parts ({error})")))?;
        if deal.plan != digest(prepared) {
            let what = "the assignment was made for another plan, other inputs or another version of gleaner; \
                 use --deal or --slurm again";
            return Err(wrong(what));
        }
        let is_known = deal.runs().all(|run| run < prepared.count());
        if is_known {
            Ok(deal)
        } else {
            Err(wrong(
                "the assignment contains runs that the plan does not have",
            ))
        }
    }
}

/// A digest of the keys of all runs.
fn digest(prepared: &dyn PreparedRuns) -> String {
    let keys: Vec<u8> = (0..prepared.count())
        .flat_map(|run| prepared.key(run).to_bytes())
        .collect();
    Digest::of(&keys).to_string()
}

/// The work of a part so far, and the index of the part, which breaks ties.
#[derive(Debug, PartialEq)]
struct Load(f64, usize);

impl Eq for Load {}

impl Ord for Load {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
