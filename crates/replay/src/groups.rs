//! Groups of tasks with limits, at each event those of the active tasks.

use std::collections::BTreeMap;

use gleaner_core::domain::{TaskGroup, TrainingTask};
use gleaner_solvers::{GroupLimit, Problem};

/// The groups of a set of tasks.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The groups without their tasks.
    limits: Vec<GroupLimit>,
    /// Indices of the groups of each task of the set.
    of_task: Vec<Vec<u32>>,
}

impl Groups {
    /// The groups of the tasks of a set. Names that no task has are ignored.
    pub fn new(groups: &[TaskGroup], set: &[TrainingTask]) -> Self {
        if groups.is_empty() {
            return Groups::default();
        }
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (index, group) in (0..).zip(groups) {
            for name in &group.tasks {
                by_name.entry(name).or_default().push(index);
            }
        }
        let groups_of = |task: &TrainingTask| by_name.get(task.name.as_str()).cloned();
        Groups {
            limits: groups.iter().map(limit).collect(),
            of_task: set
                .iter()
                .map(|t| groups_of(t).unwrap_or_default())
                .collect(),
        }
    }

    /// Whether a group has a fewest number of nodes.
    pub fn any_minimum(&self) -> bool {
        self.limits.iter().any(|group| group.min_total.is_some())
    }

    /// Sets the groups of a problem. `origins` are the tasks of the set that the tasks of the
    /// problem come from. A group without a task in the problem is left out.
    pub fn apply(&self, problem: &mut Problem, origins: impl Iterator<Item = usize>) {
        if self.limits.is_empty() {
            return;
        }
        let mut groups = self.limits.clone();
        for (task, origin) in problem.tasks.iter().zip(origins) {
            for &group in &self.of_task[origin] {
                groups[group as usize].tasks.push(task.name.clone());
            }
        }
        groups.retain(|group| !group.tasks.is_empty());
        problem.groups = groups;
    }
}

fn limit(group: &TaskGroup) -> GroupLimit {
    GroupLimit {
        name: group.name.clone(),
        tasks: Vec::new(),
        min_total: group.min_nodes,
        max_total: group.max_nodes,
    }
}

/// The places of the tasks of each group of a problem that has a greatest number of nodes, and that
/// number.
pub(super) fn most(problem: &Problem) -> Vec<(Vec<usize>, u32)> {
    let places: BTreeMap<&str, usize> = match problem.groups.is_empty() {
        true => BTreeMap::new(),
        false => problem
            .tasks
            .iter()
            .map(|task| task.name.as_str())
            .zip(0..)
            .collect(),
    };
    let members = |group: &GroupLimit| {
        let members = group.tasks.iter();
        members
            .filter_map(|name| places.get(name.as_str()).copied())
            .collect()
    };
    let groups = problem.groups.iter();
    groups
        .filter_map(|group| Some((members(group), group.max_total?)))
        .collect()
}

/// The problem of all tasks of a set at once, without nodes, which shows what its groups are like.
pub(super) fn outline(groups: &[TaskGroup], set: &[TrainingTask], template: Problem) -> Problem {
    let groups = Groups::new(groups, set);
    let in_a_group = |index: &usize| !groups.of_task[*index].is_empty();
    let members: Vec<usize> = match groups.limits.is_empty() {
        true => Vec::new(),
        false => (0..set.len()).filter(in_a_group).collect(),
    };
    let mut problem = template;
    problem.tasks = members
        .iter()
        .map(|&index| gleaner_solvers::Task {
            name: set[index].name.clone(),
            ..set[index].as_solved()
        })
        .collect();
    groups.apply(&mut problem, members.into_iter());
    problem
}
