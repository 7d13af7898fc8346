//! Groups of tasks with joint limits on their nodes.
//!
//! A submission can contain groups of its tasks. If it has a search, a group that lists a task of the search contains
//! every trial that trains this task. The allocator keeps the total number of nodes of a group's tasks within the
//! group's limits.
//!
//! Processes follow the allocator's decisions with a delay, so the core also counts nodes with running processes.
//! Example: a group can use at most 4 nodes. Task a runs on all of them, and the next decision gives 2 of them to task
//! b. Task a is stopped first. Even if 2 other nodes are free, task b starts only after enough processes of task a have
//! ended.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_domain::task_group::MAX_GROUPS;
use gleaner_domain::{TaskGroup, TrainingTask};
use gleaner_solvers::{Goal, GroupLimit, Problem, Task as SolvedTask};
use serde::{Deserialize, Serialize};

use super::tasks::{Run, Task};
use super::{Core, Submission};

/// A group of tasks as it is submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSubmission {
    /// Name, unique among all groups of the daemon.
    pub name: String,
    /// Names of the tasks of the same submission that belong to the group.
    pub tasks: Vec<String>,
    /// Minimum total number of nodes that the tasks must hold, as far as the idle nodes and the tasks' bounds allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_nodes: Option<u32>,
    /// Maximum total number of nodes that the tasks may hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<u32>,
}

impl GroupSubmission {
    /// Converts a group from a task file, except for its maximum node counts by class.
    pub fn of(group: &TaskGroup) -> Self {
        GroupSubmission {
            name: group.name.clone(),
            tasks: group.tasks.clone(),
            min_nodes: group.min_nodes,
            max_nodes: group.max_nodes,
        }
    }

    /// Converts the group to the type that the allocator uses.
    pub(crate) fn task_group(&self) -> TaskGroup {
        TaskGroup {
            name: self.name.clone(),
            tasks: self.tasks.clone(),
            min_nodes: self.min_nodes,
            max_nodes: self.max_nodes,
            ..TaskGroup::default()
        }
    }

    /// Checks the group without comparing it with other groups. `tasks` contains the tasks of the submission by name.
    ///
    /// # Errors
    /// A member is unknown or repeated, no limit is given, or a limit is impossible to meet. The text states what was
    /// found and what was expected.
    fn check(&self, tasks: &BTreeMap<&str, &TrainingTask>) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for name in &self.tasks {
            let Some(task) = tasks.get(name.as_str()) else {
                return Err(format!(
                    "found task {name:?}, expected a task of the same submission"
                ));
            };
            if !seen.insert(name) {
                return Err(format!("found task {name} twice, expected each task once"));
            }
            let least = task.min_nodes;
            if let Some(most) = self.max_nodes.filter(|most| *most < least) {
                return Err(format!(
                    "found max_nodes {most}, expected at least {least}, because task {name} cannot run on fewer nodes"
                ));
            }
        }
        match (self.min_nodes, self.max_nodes) {
            (None, None) => Err("found no limit, expected min_nodes, max_nodes or both".to_owned()),
            (Some(min), Some(max)) if min > max => Err(format!(
                "found min_nodes {min}, expected at most {max}, which is max_nodes"
            )),
            _ => Ok(()),
        }
    }
}

/// All groups of the daemon.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The groups in the order of submission.
    submitted: Vec<GroupSubmission>,
    names: BTreeSet<String>,
    /// For each task name that a group lists, the indices of the groups that list it.
    by_task: BTreeMap<String, Vec<usize>>,
}

impl Groups {
    /// Adds groups that have been checked.
    pub fn add(&mut self, groups: &[GroupSubmission]) {
        for group in groups {
            let index = self.submitted.len();
            for task in &group.tasks {
                self.by_task.entry(task.clone()).or_default().push(index);
            }
            self.names.insert(group.name.clone());
            self.submitted.push(group.clone());
        }
    }

    /// Indices of the groups that contain a task. A trial belongs to the groups of the task that it trains.
    pub fn of(&self, task: &Submission) -> Vec<usize> {
        let listed = task.trial.as_ref().map_or(&task.name, |trial| &trial.of);
        self.by_task.get(listed).cloned().unwrap_or_default()
    }

    /// All groups in the order of submission.
    pub fn submitted(&self) -> &[GroupSubmission] {
        &self.submitted
    }

    /// Name of a group.
    pub fn name(&self, group: usize) -> &str {
        &self.submitted[group].name
    }
}

impl Core {
    /// Checks the groups of a submission whose tasks, including those of a search, are `tasks`.
    ///
    /// # Errors
    /// A group is invalid, or the daemon does not support it. The text states what was found and what was expected.
    pub(super) fn check_groups(
        &self,
        groups: &[GroupSubmission],
        tasks: &[TrainingTask],
    ) -> Result<(), String> {
        let Some(first) = groups.first() else {
            return Ok(());
        };
        if !self.settings.classes.is_empty() {
            return Err(format!(
                "group {}: groups are supported only if all nodes are interchangeable, but `classes` is set in \
                 harvest.toml. Remove the groups",
                first.name
            ));
        }
        if groups.len() > MAX_GROUPS {
            let found = groups.len();
            return Err(format!(
                "found {found} groups, expected at most {MAX_GROUPS}"
            ));
        }
        let by_name: BTreeMap<&str, &TrainingTask> = tasks
            .iter()
            .map(|task| (task.name.as_str(), task))
            .collect();
        let mut names = BTreeSet::new();
        for group in groups {
            let name = &group.name;
            let is_new = !self.groups.names.contains(name) && names.insert(name);
            if name.is_empty() || !is_new {
                return Err(format!(
                    "group {name:?}: expected a name that is not empty and that no other group has"
                ));
            }
            let checked = group.check(&by_name);
            checked.map_err(|reason| format!("group {name}: {reason}"))?;
        }
        check_nesting(groups, tasks)
    }

    /// The groups that contain any of `tasks`. Each group lists only those of its members that are among `tasks`.
    pub(super) fn groups_of(&self, tasks: &[Task]) -> Vec<GroupSubmission> {
        let mut members: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for task in tasks {
            for &group in &task.groups {
                let names = members.entry(group).or_default();
                names.push(task.submission.name.clone());
            }
        }
        let groups = members.into_iter().map(|(group, tasks)| GroupSubmission {
            tasks,
            ..self.groups.submitted[group].clone()
        });
        groups.collect()
    }

    /// Maximum number of additional nodes on which a task can run within the limits of its groups. A node counts as
    /// used while processes of any task of the group may be running on it.
    pub(super) fn room(&self, index: u32) -> usize {
        let groups = self.tasks[index as usize].groups.iter();
        let rooms = groups.filter_map(|group| {
            let most = self.groups.submitted[*group].max_nodes?;
            let members = self.tasks.iter().filter(|task| task.groups.contains(group));
            let runs = members.filter_map(|task| task.run.as_ref());
            let used: usize = runs.map(Run::occupied).sum();
            Some((most as usize).saturating_sub(used))
        });
        rooms.min().unwrap_or(usize::MAX)
    }
}

/// Checks that the exact solver supports the groups. If two groups share a task, one of them must contain the other.
///
/// # Errors
/// Two groups share a task, but neither contains the other. The text names the two groups.
fn check_nesting(groups: &[GroupSubmission], tasks: &[TrainingTask]) -> Result<(), String> {
    let solved = tasks.iter().map(|task| SolvedTask {
        name: task.name.clone(),
        ..task.as_solved()
    });
    let limits = groups.iter().map(|group| GroupLimit {
        name: group.name.clone(),
        tasks: group.tasks.clone(),
        min_total: group.min_nodes,
        max_total: group.max_nodes,
    });
    let problem = Problem {
        id: String::new(),
        nodes: 0,
        t_fwd: 1.0,
        tasks: solved.collect(),
        groups: limits.collect(),
        goal: Goal::Total,
    };
    match problem.crossing_groups() {
        None => Ok(()),
        Some((one, other)) => Err(format!(
            "group {}: shares only some of its tasks with group {}; if two groups share tasks, one must contain \
             the other",
            one.name, other.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Curve;

    fn task(name: &str, min_nodes: u32) -> Submission {
        let curve = Curve {
            nodes: vec![0, 4],
            progress: vec![0.0, 4.0],
            objective: vec![0.0, 4.0],
        };
        Submission {
            min_nodes,
            max_nodes: 4,
            curve,
            ..Submission::example(name)
        }
    }

    fn group(name: &str, tasks: &[&str], min: Option<u32>, max: Option<u32>) -> GroupSubmission {
        GroupSubmission {
            name: name.to_owned(),
            tasks: tasks.iter().map(|&task| task.to_owned()).collect(),
            min_nodes: min,
            max_nodes: max,
        }
    }

    fn core(classes: &[&str]) -> Core {
        let settings = crate::core::Settings {
            classes: classes.iter().map(|&class| class.to_owned()).collect(),
            ..crate::config::Config::example().core
        };
        Core::new(settings, 0).unwrap()
    }

    fn checked(core: &Core, groups: &[GroupSubmission]) -> Result<(), String> {
        let tasks = ["a", "b", "c"].map(|name| task(name, 2));
        let tasks = tasks.map(|task| task.training_task(gleaner_domain::Utc::from_seconds(0)));
        core.check_groups(groups, &tasks)
    }

    #[test]
    fn groups_that_cannot_work_are_refused_with_the_reason() {
        let mut core = core(&[]);
        core.groups.add(&[group("old", &[], None, Some(4))]);
        let nested = [
            group("all", &["a", "b", "c"], Some(1), Some(4)),
            group("two", &["a", "b"], None, Some(3)),
        ];
        assert_eq!(checked(&core, &nested), Ok(()));
        for (groups, expected) in [
            (
                vec![group("old", &["a"], None, Some(4))],
                "that no other group has",
            ),
            (
                vec![nested[0].clone(), nested[0].clone()],
                "that no other group has",
            ),
            (vec![group("x", &["d"], None, Some(4))], "found task \"d\""),
            (
                vec![group("x", &["a", "a"], None, Some(4))],
                "found task a twice",
            ),
            (vec![group("x", &["a"], None, None)], "found no limit"),
            (
                vec![group("x", &["a"], Some(4), Some(3))],
                "found min_nodes 4",
            ),
            (
                vec![group("x", &["a"], None, Some(1))],
                "expected at least 2",
            ),
            (
                vec![nested[1].clone(), group("x", &["b", "c"], None, Some(3))],
                "shares only some of its tasks with group",
            ),
        ] {
            let reason = checked(&core, &groups).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn groups_are_refused_if_nodes_have_classes() {
        let groups = [group("x", &["a"], None, Some(4))];
        let reason = checked(&core(&["v100", "a100"]), &groups).unwrap_err();
        assert!(reason.contains("all nodes are interchangeable"), "{reason}");
        assert_eq!(checked(&core(&["v100", "a100"]), &[]), Ok(()));
    }
}
