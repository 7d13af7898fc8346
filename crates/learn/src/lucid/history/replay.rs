//! Computes the estimate that the history would have given for each job at its submission.

use super::History;

/// A job of a trace that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended<'j> {
    /// User who submitted the job.
    pub user: &'j str,
    /// Name of the job.
    pub name: &'j str,
    /// Number of GPUs that the job requested.
    pub gpus: u32,
    /// Submission time, in seconds on the trace's clock.
    pub submitted: i64,
    /// End time, in seconds on the same clock.
    pub ended: i64,
    /// Run time, in seconds.
    pub seconds: f64,
}

/// For each job, returns the estimate at its submission, based on the jobs that ended before that
/// second. The estimate is `None` if no job had ended by then.
pub fn estimates(jobs: &[Ended<'_>]) -> Vec<Option<f64>> {
    let mut rows: Vec<usize> = (0..jobs.len()).collect();
    rows.sort_by_key(|&row| jobs[row].submitted);
    let mut by_end: Vec<&Ended<'_>> = jobs.iter().collect();
    by_end.sort_by_key(|job| job.ended);
    let mut ended = by_end.into_iter().peekable();
    let mut history = History::default();
    let mut estimates = vec![None; jobs.len()];
    for row in rows {
        let job = &jobs[row];
        while let Some(past) = ended.next_if(|past| past.ended < job.submitted) {
            history.learn(past.user, past.name, past.gpus, past.seconds);
        }
        estimates[row] = history.estimate(job.user, job.name, job.gpus);
    }
    estimates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USERS: [&str; 3] = ["ann", "bob", "cy"];
    const NAMES: [&str; 5] = ["train-1", "train-2", "test", "", "trial"];

    fn jobs() -> impl Strategy<Value = Vec<Ended<'static>>> {
        let job = (0..3usize, 0..5usize, 1..3u32, 0..50i64, 0..20i64);
        let job = job.prop_map(|(user, name, gpus, submitted, runs)| Ended {
            user: USERS[user],
            name: NAMES[name],
            gpus,
            submitted,
            ended: submitted + runs,
            seconds: runs as f64,
        });
        proptest::collection::vec(job, 1..40)
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        /// Each estimate equals the estimate from a history that contains only the jobs that ended before the estimated
        /// job was submitted.
        #[test]
        fn a_job_is_learnt_only_after_it_ended(jobs in jobs()) {
            for (job, estimate) in jobs.iter().zip(estimates(&jobs)) {
                let mut past: Vec<_> = jobs.iter().filter(|past| past.ended < job.submitted).collect();
                past.sort_by_key(|past| past.ended);
                let mut history = History::default();
                for past in past {
                    history.learn(past.user, past.name, past.gpus, past.seconds);
                }
                prop_assert_eq!(estimate, history.estimate(job.user, job.name, job.gpus));
            }
        }
    }
}
