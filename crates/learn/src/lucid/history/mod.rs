//! Estimates the duration of a job from its user's earlier jobs with the same name and number of
//! GPUs.
//!
//! As in Lucid's artifact, the similarity of names is the ratio that Python's difflib computes. The
//! artifact compares a name with all names of all users. This implementation compares a name only
//! with recent names of the same user. Other users' jobs are used only if none of the user's jobs
//! has ended.

mod replay;
mod similarity;

pub use replay::{Ended, estimates};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use similarity::Name;

/// The minimum ratio at which two names count as similar.
const CUT_OFF: f64 = 0.6;

/// The number of similar names whose jobs are used if the user has no job with the requested name.
const CLOSEST: usize = 2;

/// The maximum number of earlier names with which a new name is compared. The names are those of
/// the user's jobs that ended most recently.
const RECENT: usize = 100;

/// Mean durations of jobs that have ended, by user, name and number of GPUs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    users: BTreeMap<String, User>,
    all: Mean,
}

/// Durations of one user's jobs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct User {
    all: Mean,
    names: BTreeMap<String, Named>,
    /// Names of the jobs that ended most recently, without duplicates: at most [`RECENT`] names, of
    /// which the last is the most recent.
    recent: Vec<String>,
}

/// Durations of one user's jobs with one name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Named {
    all: Mean,
    by_gpus: BTreeMap<u32, Mean>,
}

/// An estimated duration: the mean duration of similar past jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<'h> {
    /// Mean duration of the similar jobs, in seconds.
    pub seconds: f64,
    /// Number of similar jobs.
    pub jobs: u64,
    /// The properties that the similar jobs share with the job whose duration is estimated.
    pub alike: Similarity<'h>,
}

/// The properties that past jobs share with the job whose duration is estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Similarity<'h> {
    /// The user, the number of GPUs, and the name. Holds the names of the past jobs: the job's own
    /// name, or the names most similar to it.
    NameAndGpus(Vec<&'h str>),
    /// The user and the name, but not the number of GPUs. Holds the names of the past jobs.
    Name(Vec<&'h str>),
    /// The user only.
    User,
    /// No property: the estimate uses all jobs of all users.
    Everyone,
}

/// A running mean of durations, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Mean {
    sum: f64,
    jobs: u64,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.sum += seconds;
        self.jobs += 1;
    }

    fn found(self, alike: Similarity<'_>) -> Option<Found<'_>> {
        (self.jobs > 0).then(|| Found {
            seconds: self.sum / self.jobs as f64,
            jobs: self.jobs,
            alike,
        })
    }

    /// Combines several means into the mean over all their jobs.
    fn of(means: impl Iterator<Item = Mean>) -> Mean {
        means.fold(Mean::default(), |all, mean| Mean {
            sum: all.sum + mean.sum,
            jobs: all.jobs + mean.jobs,
        })
    }
}

impl History {
    /// Adds a job that ran for `seconds`. Must not be called before the job has ended; otherwise, estimates would use
    /// knowledge of the future.
    pub fn learn(&mut self, user: &str, name: &str, gpus: u32, seconds: f64) {
        self.all.add(seconds);
        let user = self.users.entry(user.to_owned()).or_default();
        user.all.add(seconds);
        user.touch(name);
        let named = user.names.entry(name.to_owned()).or_default();
        named.all.add(seconds);
        named.by_gpus.entry(gpus).or_default().add(seconds);
    }

    /// Estimates how long a job will run, in seconds. The estimate is the mean duration of the jobs
    /// in the first of these groups that is not empty:
    ///
    /// - the user's jobs with this name and the same number of GPUs;
    /// - the user's jobs with this name, on any number of GPUs;
    /// - all jobs of the user;
    /// - all jobs of all users.
    ///
    /// If the user has no job with this name, the jobs with the two most similar names are used
    /// instead. `None` if no job has ended yet.
    pub fn estimate(&self, user: &str, name: &str, gpus: u32) -> Option<f64> {
        self.find(user, name, gpus).map(|found| found.seconds)
    }

    /// Like [`History::estimate`], but also describes the jobs whose mean duration is the estimate.
    pub fn find(&self, user: &str, name: &str, gpus: u32) -> Option<Found<'_>> {
        let by_user = self.users.get(user);
        let found = by_user.and_then(|user| user.find(name, gpus));
        found.or_else(|| self.all.found(Similarity::Everyone))
    }

    /// Number of jobs that have been added.
    pub fn jobs(&self) -> u64 {
        self.all.jobs
    }

    /// Number of users who submitted the added jobs.
    pub fn users(&self) -> usize {
        self.users.len()
    }
}

impl User {
    /// Moves a name to the end of `recent`, or adds it there.
    fn touch(&mut self, name: &str) {
        match self.recent.iter().position(|other| other == name) {
            Some(index) => self.recent[index..].rotate_left(1),
            None => {
                if self.recent.len() >= RECENT {
                    self.recent.remove(0);
                }
                self.recent.push(name.to_owned());
            }
        }
    }

    fn find(&self, name: &str, gpus: u32) -> Option<Found<'_>> {
        let (names, jobs): (Vec<&str>, Vec<&Named>) = self.alike(name).into_iter().unzip();
        let same_gpus = jobs.iter().filter_map(|jobs| jobs.by_gpus.get(&gpus));
        let same_gpus = Mean::of(same_gpus.copied());
        if same_gpus.jobs > 0 {
            return same_gpus.found(Similarity::NameAndGpus(names));
        }
        let any_gpus = Mean::of(jobs.iter().map(|jobs| jobs.all));
        let found = any_gpus.found(Similarity::Name(names));
        found.or_else(|| self.all.found(Similarity::User))
    }

    /// The name with its jobs, or the most similar names with their jobs if the user has no job
    /// with this name.
    fn alike(&self, name: &str) -> Vec<(&str, &Named)> {
        if let Some((name, jobs)) = self.names.get_key_value(name) {
            return vec![(name, jobs)];
        }
        let closest = self.closest(name).into_iter();
        closest
            .filter_map(|name| Some((name, self.names.get(name)?)))
            .collect()
    }

    /// At most [`CLOSEST`] recent names that are similar to `name`, the most similar first. Equally
    /// similar names are in reverse alphabetical order, as in difflib.
    fn closest(&self, name: &str) -> Vec<&str> {
        let name = Name::new(name);
        let mut closest: Vec<(f64, &str)> = Vec::new();
        for other in &self.recent {
            let worst = closest.get(CLOSEST - 1);
            let least = worst.map_or(CUT_OFF, |(ratio, _)| *ratio);
            if let Some(ratio) = name.ratio(other, least) {
                let before = |(r, o): &(f64, &str)| (*r, *o) > (ratio, other.as_str());
                let place = closest.partition_point(before);
                closest.insert(place, (ratio, other));
                closest.truncate(CLOSEST);
            }
        }
        closest.into_iter().map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(jobs: &[(&str, &str, u32, f64)]) -> History {
        let mut history = History::default();
        for (user, name, gpus, seconds) in jobs {
            history.learn(user, name, *gpus, *seconds);
        }
        history
    }

    // The estimate is the mean of the most specific group of past jobs that is not empty.
    #[test]
    fn the_most_specific_mean_is_taken() {
        let history = learnt(&[
            ("ann", "train-a", 1, 10.0),
            ("ann", "train-a", 1, 20.0),
            ("ann", "train-a", 8, 100.0),
            ("ann", "other", 1, 1000.0),
            ("bob", "train-a", 1, 7.0),
        ]);
        let estimate = |user, name, gpus| history.estimate(user, name, gpus).unwrap();
        assert_eq!(estimate("ann", "train-a", 1), 15.0);
        assert_eq!(estimate("ann", "train-a", 2), 130.0 / 3.0);
        assert_eq!(estimate("ann", "xyz", 1), 1130.0 / 4.0);
        assert_eq!(estimate("cy", "train-a", 1), 1137.0 / 5.0);
        assert_eq!(History::default().estimate("ann", "train-a", 1), None);
        let found = |user, name, gpus| {
            let found = history.find(user, name, gpus).unwrap();
            (found.jobs, found.alike)
        };
        let name = || vec!["train-a"];
        assert_eq!(
            found("ann", "train-a", 1),
            (2, Similarity::NameAndGpus(name()))
        );
        assert_eq!(found("ann", "train-a", 2), (3, Similarity::Name(name())));
        assert_eq!(found("ann", "train-b", 2), (3, Similarity::Name(name())));
        assert_eq!(found("ann", "xyz", 1), (4, Similarity::User));
        assert_eq!(found("cy", "train-a", 1), (5, Similarity::Everyone));
        assert_eq!((history.jobs(), history.users()), (5, 2));
    }

    #[test]
    fn a_new_name_is_estimated_from_the_two_most_similar() {
        let history = learnt(&[
            ("ann", "train-1", 1, 10.0),
            ("ann", "train-21", 1, 20.0),
            ("ann", "train-22", 2, 60.0),
            ("ann", "evaluate", 1, 500.0),
        ]);
        // `train-21` and `train-22` are equally similar to `train-23`, and `train-1` is less
        // similar.
        assert_eq!(history.estimate("ann", "train-23", 2), Some(60.0));
        assert_eq!(history.estimate("ann", "train-23", 4), Some(40.0));
        // `train-21` and `train-22` are more similar to `train-2` than `train-1` is.
        assert_eq!(history.estimate("ann", "train-2", 9), Some(40.0));
        assert_eq!(history.estimate("ann", "evaluated", 1), Some(500.0));
    }

    #[test]
    fn only_names_of_recently_ended_jobs_are_compared() {
        let mut history = learnt(&[("ann", "old-name", 1, 5.0), ("ann", "kept-name", 1, 7.0)]);
        for job in 0..RECENT - 1 {
            history.learn("ann", &format!("{job:0>40}"), 1, 100.0);
            history.learn("ann", "kept-name", 1, 7.0);
        }
        assert_eq!(history.estimate("ann", "old-name", 1), Some(5.0));
        assert_eq!(history.estimate("ann", "kept-names", 1), Some(7.0));
        let all = history.users["ann"].all;
        let mean = Some(all.sum / all.jobs as f64);
        assert_eq!(history.estimate("ann", "old-names", 1), mean);
    }

    #[test]
    fn a_saved_history_is_the_same_history() {
        let history = learnt(&[("ann", "a", 1, 0.1), ("ann", "b", 2, 0.2), ("", "", 0, 3.0)]);
        let saved = serde_json::to_string(&history).unwrap();
        assert_eq!(serde_json::from_str::<History>(&saved).unwrap(), history);
    }
}
