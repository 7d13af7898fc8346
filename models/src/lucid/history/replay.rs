//! Estimates as they would have been at each job's submission.

use super::History;

/// A job of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended<'j> {
    /// Who submitted it.
    pub user: &'j str,
    /// Its name.
    pub name: &'j str,
    /// GPUs it asked for.
    pub gpus: u32,
    /// Second at which it was submitted.
    pub submitted: i64,
    /// Second at which it ended.
    pub ended: i64,
    /// How long it ran, in seconds.
    pub seconds: f64,
}

/// By job, the estimate at its submission: of the jobs that had ended in an earlier second.
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

        /// Each estimate is that of a history that knows the earlier ends alone, so that no job's
        /// own duration nor that of any still to end reaches it.
        #[test]
        fn nothing_is_learnt_before_it_ends(jobs in jobs()) {
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
