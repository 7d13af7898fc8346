//! Counts the jobs that are not simulated.

use std::collections::BTreeMap;

use crate::jobs::words::some;
use gleaner_domain::words::counted;

/// Number of jobs that were left out, by reason.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Jobs without GPUs.
    pub cpu_only: usize,
    /// Jobs submitted before the epoch.
    pub early: usize,
    /// Jobs submitted outside the window.
    pub outside: usize,
    /// Jobs of VCs that the cluster does not have, by the name of the VC.
    vcs: BTreeMap<String, usize>,
}

impl LeftOut {
    /// Counts a job of a VC that the cluster does not have.
    pub fn add_vc(&mut self, name: &str) {
        match self.vcs.get_mut(name) {
            Some(jobs) => *jobs += 1,
            None => drop(self.vcs.insert(name.to_owned(), 1)),
        }
    }

    /// A phrase for each reason, with the number of jobs that were left out for that reason.
    pub fn phrases(&self) -> Vec<String> {
        let mut phrases = Vec::new();
        let mut add = |jobs: usize, what: &str| {
            if jobs > 0 {
                phrases.push(format!("{} {what}", counted(jobs as u64, "job")));
            }
        };
        add(self.cpu_only, "without GPUs");
        let vcs = some(self.vcs.keys().map(String::as_str));
        add(
            self.vcs.values().sum(),
            &format!("of VCs that the cluster does not have: {vcs}"),
        );
        add(self.early, "submitted before the epoch");
        add(self.outside, "submitted outside the window");
        phrases
    }
}
