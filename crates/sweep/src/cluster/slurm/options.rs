//! Options of Slurm jobs.

use serde::{Deserialize, Serialize};

/// The options with which the jobs of a batch are submitted. Strings are passed to `sbatch` unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmOptions {
    /// Partition to which jobs are submitted.
    pub partition: Option<String>,
    /// Account that is charged for the jobs.
    pub account: Option<String>,
    /// Time limit of a task.
    pub time: Option<String>,
    /// Memory of a task.
    pub mem: Option<String>,
    /// Cores of a task.
    pub cpus: Option<u32>,
    /// Maximum number of concurrent tasks.
    pub array_limit: Option<u32>,
    /// Other `sbatch` options.
    pub others: Vec<String>,
    /// Maximum number of parts. If `None`, it is [`SlurmOptions::PARTS`], or fewer if Slurm's limits are lower.
    pub parts: Option<usize>,
    /// Maximum number of times that lost runs are resubmitted.
    pub retries: u32,
}

/// Number of seconds before a task's time limit at which Slurm sends SIGUSR1 to the task. The task then starts no
/// further runs, and only finishes the runs that it has started.
const WARNING: u32 = 120;

impl SlurmOptions {
    /// Default maximum number of parts of a batch.
    pub const PARTS: usize = 100;

    /// The `sbatch` options for the tasks.
    pub(crate) fn of_tasks(&self) -> Vec<String> {
        let cpus = self.cpus.map(|cpus| format!("--cpus-per-task={cpus}"));
        // `B:` sends the signal only to the shell of the script. By then, `exec` has replaced this shell with
        // gleaner (docs/CLUSTER.md).
        let signal = format!("--signal=B:USR1@{WARNING}");
        let own = cpus.into_iter().chain([signal]);
        [self.shared(), own.collect(), self.others.clone()].concat()
    }

    /// The `sbatch` options for the job that collects results.
    pub(crate) fn of_collecting(&self) -> Vec<String> {
        [self.shared(), self.others.clone()].concat()
    }

    /// The `sbatch` options of all jobs, except for the user's other options. The user's options must come last,
    /// because `sbatch` uses the last value of a repeated option.
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
        // Slurm must not requeue jobs, because gleaner itself resubmits lost runs a limited number of times.
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
