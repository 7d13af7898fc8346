//! Searches: tasks that are trials, taken up and stopped by an algorithm.

use gleaner_search::{LearningCurves, Plan};

/// A search whose trials train the tasks of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSearch {
    /// The algorithm and its settings. The work of a task is that of `max_resource`.
    pub plan: Plan,
    /// The losses of trials. The seed of a family is that of the replay.
    pub curves: LearningCurves,
    /// The task that each trial trains, by index into the set. If it is empty, a task is drawn for each.
    pub tasks: Vec<u32>,
}

impl TrialSearch {
    /// Number of trials that the search takes up.
    pub fn trials(&self) -> u64 {
        let brackets = self.plan.brackets().into_iter();
        let first = brackets.filter_map(|bracket| Some(bracket.rungs.first()?.trials));
        first.map(u64::from).sum()
    }
}
