//! A set of tasks that is submitted repeatedly (`--repeat-tasks`).
//!
//! A round begins at the first event at which all tasks of the previous round have been admitted and a place is free. A
//! place is free if the number of active tasks is below the number of places. The number of places is the limit on
//! active tasks or the size of the set, whichever is smaller. The last tasks of a round can therefore share the nodes
//! with the first tasks of the next round.

use gleaner_domain::error::{Error, Result};
use gleaner_domain::tasks::MAX_TASKS;
use gleaner_domain::{TrainingTask, Utc};

/// The rounds of a set of tasks.
#[derive(Debug)]
pub(super) struct Rounds<'a> {
    set: &'a [TrainingTask],
    /// Time at which the first task of the first round is submitted.
    first: Utc,
    start: Utc,
    /// Number of rounds so far.
    pub count: usize,
}

impl<'a> Rounds<'a> {
    /// Creates the rounds of `set` for a log that starts at `start`. The first round is already counted.
    pub fn new(set: &'a [TrainingTask], start: Utc) -> Self {
        let submissions = set.iter().map(|task| task.submit.max(start));
        Rounds {
            set,
            first: submissions.min().unwrap_or(start),
            start,
            count: 1,
        }
    }

    /// The tasks of the set, which are the tasks of the first round.
    pub fn set(&self) -> &'a [TrainingTask] {
        self.set
    }

    /// Begins the next round and returns its tasks. The first task is submitted at `now`. The other tasks follow at the
    /// same intervals as in the first round. Task `a` of the second round is called `a#2`. Returns `None` if all rounds
    /// together would have more than [`MAX_TASKS`] tasks.
    pub fn next(&mut self, now: Utc) -> Option<Vec<TrainingTask>> {
        if (self.count + 1) * self.set.len() > MAX_TASKS {
            return None;
        }
        self.count += 1;
        let again = |task: &TrainingTask| TrainingTask {
            name: numbered(&task.name, self.count),
            submit: self.later(task.submit, now),
            deadline: task.deadline.map(|deadline| self.later(deadline, now)),
            ..task.clone()
        };
        Some(self.set.iter().map(again).collect())
    }

    /// Converts a time of the first round to the corresponding time of a round that begins at
    /// `now`.
    fn later(&self, time: Utc, now: Utc) -> Utc {
        let after = time.max(self.start).0.saturating_sub(self.first.0);
        Utc(now.0.saturating_add(after))
    }
}

fn numbered(name: &str, round: usize) -> String {
    format!("{name}#{round}")
}

/// Checks that a set can be submitted repeatedly.
///
/// # Errors
/// [`Error::Usage`] if a task never ends, or if it has the name that another task would have in a later round.
pub fn check_repeatable(tasks: &[TrainingTask]) -> Result<()> {
    if let Some(task) = tasks.iter().find(|task| task.is_endless()) {
        return Err(Error::Usage(format!(
            "--repeat-tasks resubmits the set as its tasks finish, but task {:?} is endless: \
             omit the option, or give the task a finite amount of work",
            task.name
        )));
    }
    let names: std::collections::BTreeSet<&str> = tasks.iter().map(|t| t.name.as_str()).collect();
    let clashing = tasks.iter().find(|task| {
        let (name, round) = task.name.rsplit_once('#').unwrap_or_default();
        let round = round.parse().ok().filter(|round| *round >= 2);
        round.is_some_and(|round| numbered(name, round) == task.name) && names.contains(name)
    });
    match clashing {
        None => Ok(()),
        Some(task) => Err(Error::Usage(format!(
            "--repeat-tasks numbers the tasks of later rounds, and {:?} would be the name of two tasks: \
             rename one of them",
            task.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::{ClassTerms, ScalingCurve};

    fn task(name: &str, submit: i64, work: f64) -> TrainingTask {
        TrainingTask {
            name: name.to_owned(),
            submit: Utc::from_seconds(submit),
            min_nodes: 1,
            max_nodes: 1,
            rescale_up: 0.0,
            rescale_down: 0.0,
            work,
            priority: 1.0,
            deadline: None,
            rung: 0,
            classes: ClassTerms::default(),
            curve: ScalingCurve {
                nodes: [0, 1].into(),
                progress: [0.0, 1.0].into(),
                objective: [0.0, 1.0].into(),
            },
        }
    }

    // Small fixed example: the first task waits until the log starts, and the second is submitted 50 s
    // later.
    #[test]
    fn later_rounds_are_submitted_in_the_same_rhythm_as_the_first() {
        let set = [task("a", 10, 1.0), task("b", 150, 1.0)];
        let mut rounds = Rounds::new(&set, Utc::from_seconds(100));
        for round in [2, 3] {
            let now = 1000 * round;
            let tasks = rounds.next(Utc::from_seconds(now)).unwrap();
            let told: Vec<_> = tasks
                .iter()
                .map(|t| (&*t.name, t.submit.second()))
                .collect();
            let (a, b) = (format!("a#{round}"), format!("b#{round}"));
            assert_eq!(told, [(&*a, now), (&*b, now + 50)]);
        }
        rounds.count = MAX_TASKS / 2;
        assert!(rounds.next(Utc(0)).is_none());
    }

    #[test]
    fn names_that_would_clash_and_endless_tasks_are_refused() {
        let refused = |names: &[&str], work| {
            let tasks: Vec<_> = names.iter().map(|name| task(name, 0, work)).collect();
            check_repeatable(&tasks).map_err(|error| error.exit_code())
        };
        assert_eq!(refused(&["a", "a#1", "a#02", "b#2", "#2"], 1.0), Ok(()));
        assert_eq!(refused(&["a", "a#2"], 1.0), Err(2));
        assert_eq!(refused(&["a"], f64::INFINITY), Err(2));
    }
}
