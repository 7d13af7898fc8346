//! How jobs are submitted.

use serde::{Deserialize, Serialize};

/// How the jobs of a batch are submitted. Texts are handed to `sbatch` as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmOptions {
    /// The partition.
    pub partition: Option<String>,
    /// The account.
    pub account: Option<String>,
    /// Time limit of a task.
    pub time: Option<String>,
    /// Memory of a task.
    pub mem: Option<String>,
    /// Cores of a task.
    pub cpus: Option<u32>,
    /// Most tasks that run at a time.
    pub array_limit: Option<u32>,
    /// Other options of `sbatch`.
    pub others: Vec<String>,
    /// Most parts; [`SlurmOptions::PARTS`] if `None`.
    pub parts: Option<usize>,
    /// How often what was lost is submitted again.
    pub retries: u32,
}

/// Seconds before the time limit of a task at which it is told to begin no other run.
const WARNING: u32 = 120;

impl SlurmOptions {
    /// Most parts of a batch, unless told.
    pub const PARTS: usize = 100;

    /// The options of `sbatch` for the tasks.
    pub(crate) fn of_tasks(&self) -> Vec<String> {
        let mut all = self.shared();
        let more = [
            self.time.as_ref().map(|time| format!("--time={time}")),
            self.mem.as_ref().map(|mem| format!("--mem={mem}")),
            self.cpus.map(|cpus| format!("--cpus-per-task={cpus}")),
            // The script becomes gleaner, which gets the signal: docs/CLUSTER.md.
            Some(format!("--signal=B:USR1@{WARNING}")),
        ];
        all.extend(more.into_iter().flatten());
        all.extend(self.others.iter().cloned());
        all
    }

    /// The options of `sbatch` for the job that collects.
    pub(crate) fn of_collecting(&self) -> Vec<String> {
        let mut all = self.shared();
        let more = [
            self.time.as_ref().map(|time| format!("--time={time}")),
            self.mem.as_ref().map(|mem| format!("--mem={mem}")),
        ];
        all.extend(more.into_iter().flatten());
        all.extend(self.others.iter().cloned());
        all
    }

    fn shared(&self) -> Vec<String> {
        let named = [("partition", &self.partition), ("account", &self.account)];
        let given = named
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)));
        // What is lost is submitted again by gleaner, a stated number of times.
        let mut all = vec!["--no-requeue".to_owned()];
        all.extend(given.map(|(name, value)| format!("--{name}={value}")));
        all
    }
}
