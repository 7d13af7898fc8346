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
    /// Maximum number of tasks that run at once.
    pub array_limit: Option<u32>,
    /// Other options of `sbatch`.
    pub others: Vec<String>,
    /// Most parts; [`SlurmOptions::PARTS`] if `None`.
    pub parts: Option<usize>,
    /// How often what was lost is submitted again.
    pub retries: u32,
}

/// Seconds before the time limit of a task at which Slurm sends it SIGUSR1. From then on it starts no
/// further runs, and only finishes those that it has started.
const WARNING: u32 = 120;

impl SlurmOptions {
    /// Maximum number of parts of a batch (default).
    pub const PARTS: usize = 100;

    /// The options of `sbatch` for the tasks.
    pub(crate) fn of_tasks(&self) -> Vec<String> {
        let cpus = self.cpus.map(|cpus| format!("--cpus-per-task={cpus}"));
        // The script becomes gleaner, which gets the signal: docs/CLUSTER.md.
        let signal = format!("--signal=B:USR1@{WARNING}");
        let own = cpus.into_iter().chain([signal]);
        [self.shared(), own.collect(), self.others.clone()].concat()
    }

    /// The options of `sbatch` for the job that collects.
    pub(crate) fn of_collecting(&self) -> Vec<String> {
        [self.shared(), self.others.clone()].concat()
    }

    /// The options of all jobs. The others of the user go behind them, as `sbatch` takes the last of
    /// an option that is given twice.
    fn shared(&self) -> Vec<String> {
        let named = [
            ("partition", &self.partition),
            ("account", &self.account),
            ("time", &self.time),
            ("mem", &self.mem),
        ];
        let given = named
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)));
        // What is lost is submitted again by gleaner, a stated number of times.
        let mut all = vec!["--no-requeue".to_owned()];
        all.extend(given.map(|(name, value)| format!("--{name}={value}")));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example.
    #[test]
    fn options_of_the_user_come_last() {
        let options = SlurmOptions {
            partition: Some("cpu".to_owned()),
            time: Some("2:00:00".to_owned()),
            mem: Some("4G".to_owned()),
            cpus: Some(8),
            others: vec!["--qos=low".to_owned(), "--mem=8G".to_owned()],
            ..SlurmOptions::default()
        };
        assert_eq!(
            options.of_tasks().join(" "),
            "--no-requeue --partition=cpu --time=2:00:00 --mem=4G --cpus-per-task=8 \
             --signal=B:USR1@120 --qos=low --mem=8G"
        );
        assert_eq!(
            options.of_collecting().join(" "),
            "--no-requeue --partition=cpu --time=2:00:00 --mem=4G --qos=low --mem=8G"
        );
    }
}
