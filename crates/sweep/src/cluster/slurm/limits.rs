//! Limits in a cluster's configuration.

use gleaner_domain::error::Result;

use super::program::call;

/// Slurm's default for `MaxArraySize`, which is the largest index plus one.
const ARRAY_SIZE: usize = 1001;

/// Slurm's default for `MaxJobCount`.
const JOB_COUNT: usize = 10_000;

/// Limits that a cluster's configuration sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClusterLimits {
    /// Maximum number of tasks in a job array.
    pub array_size: usize,
    /// Maximum number of jobs in the queue. Each task of an array counts as a job.
    pub job_count: usize,
}

impl ClusterLimits {
    /// Requests the limits from Slurm's controller.
    ///
    /// # Errors
    /// Same as [`call`].
    pub fn ask() -> Result<Self> {
        Ok(Self::parse(&call("scontrol", &["show", "config"])?))
    }

    /// Reads the lines `MaxArraySize = 1001` and `MaxJobCount = 10000`.
    fn parse(config: &str) -> Self {
        let value = |name: &str| {
            let mut lines = config.lines().filter_map(|line| line.split_once('='));
            let (_, value) = lines.find(|(found, _)| found.trim() == name)?;
            value.trim().parse().ok().filter(|&value: &usize| value > 0)
        };
        ClusterLimits {
            array_size: value("MaxArraySize").unwrap_or(ARRAY_SIZE),
            job_count: value("MaxJobCount").unwrap_or(JOB_COUNT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_found_among_other_settings() {
        let text = "Configuration data as of 2026-11-23T04:00:00\nAccountingStorageTRES   = cpu,mem\n\
                    MaxArraySize            = 101\nMaxJobCount             = 500\n";
        let limits = ClusterLimits {
            array_size: 101,
            job_count: 500,
        };
        assert_eq!(ClusterLimits::parse(text), limits);
        let defaults = ClusterLimits {
            array_size: 1001,
            job_count: 10_000,
        };
        assert_eq!(ClusterLimits::parse("MaxArraySize = none\n"), defaults);
    }
}
