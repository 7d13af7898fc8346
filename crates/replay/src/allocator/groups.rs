//! Groups of tasks with joint limits on their nodes. Each decision respects the limits of the active tasks' groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_classes::{self as classes, PerClass};
use gleaner_domain::{TaskGroup, TrainingTask};
use gleaner_solvers::{GroupLimit, Problem};

/// The limits of all groups, and the groups of each task.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The groups by name, each with its index and without its tasks.
    known: BTreeMap<String, (u32, TaskGroup)>,
    /// The limits of each group, without its tasks.
    limits: Vec<GroupLimit>,
    /// The limits of each group for nodes of several classes, without its tasks.
    class_limits: Vec<Vec<classes::Group>>,
    /// Indices of the groups of each task, by the name of the task.
    by_task: BTreeMap<String, Vec<u32>>,
}

/// Indices of the groups of a task.
pub(super) type Membership = Arc<[u32]>;

impl Groups {
    /// Indexes groups by the names of their tasks. Names that match no task have no effect.
    pub fn new(groups: &[TaskGroup]) -> Self {
        let mut own = Groups::default();
        own.join(groups);
        own
    }

    /// Adds groups. If a group has the name of an earlier group, its tasks join the earlier group.
    pub fn join(&mut self, groups: &[TaskGroup]) {
        for group in groups {
            let index = self.index(group);
            for name in &group.tasks {
                self.by_task.entry(name.clone()).or_default().push(index);
            }
        }
    }

    /// The index of the group with this name. Adds the group if it is new.
    fn index(&mut self, group: &TaskGroup) -> u32 {
        if let Some((index, _)) = self.known.get(&group.name) {
            return *index;
        }
        let index = self.limits.len() as u32;
        self.limits.push(limit(group));
        self.class_limits.push(class_limits(group));
        self.known
            .insert(group.name.clone(), (index, without_tasks(group)));
        index
    }

    /// Whether an earlier group has the same name but different limits.
    pub fn contradicts(&self, group: &TaskGroup) -> bool {
        let known = self.known.get(&group.name);
        known.is_some_and(|(_, known)| *known != without_tasks(group))
    }

    /// Names of the groups, by index.
    pub fn names(&self) -> Vec<String> {
        let names = self.limits.iter().map(|limit| limit.name.clone());
        names.collect()
    }

    /// Whether any group has a minimum number of nodes.
    pub fn any_minimum(&self) -> bool {
        self.limits.iter().any(|group| group.min_total.is_some())
    }

    /// The groups of the task with this name; `None` if it is in no group.
    pub fn of(&self, name: &str) -> Option<Membership> {
        self.by_task.get(name).map(|of| of.as_slice().into())
    }

    /// Sets the groups of a problem. `memberships` lists the groups of each of its tasks, in the order of the tasks.
    /// Groups without a task in the problem are omitted.
    pub fn apply<'m>(
        &self,
        problem: &mut Problem,
        memberships: impl Iterator<Item = Option<&'m Membership>>,
    ) {
        if self.limits.is_empty() {
            return;
        }
        let mut groups = self.limits.clone();
        for (task, membership) in problem.tasks.iter().zip(memberships) {
            for &group in membership.into_iter().flat_map(|of| of.iter()) {
                groups[group as usize].tasks.push(task.name.clone());
            }
        }
        groups.retain(|group| !group.tasks.is_empty());
        problem.groups = groups;
    }

    /// Like [`Groups::apply`], for a problem with several classes of nodes.
    pub fn apply_in_classes<'m>(
        &self,
        problem: &mut classes::Problem,
        memberships: impl Iterator<Item = Option<&'m Membership>>,
    ) {
        if self.limits.is_empty() {
            return;
        }
        let mut groups = self.class_limits.clone();
        for (task, membership) in problem.tasks.iter().zip(memberships) {
            for &group in membership.into_iter().flat_map(|of| of.iter()) {
                for limit in &mut groups[group as usize] {
                    limit.tasks.push(task.name.clone());
                }
            }
        }
        problem.groups = groups.into_iter().flatten().collect();
        problem.groups.retain(|group| !group.tasks.is_empty());
    }
}

fn without_tasks(group: &TaskGroup) -> TaskGroup {
    TaskGroup {
        tasks: Vec::new(),
        ..group.clone()
    }
}

/// A group's limits as up to two groups: one for the limits over all classes, and one for the maxima by class.
fn class_limits(group: &TaskGroup) -> Vec<classes::Group> {
    let of = |name: String, min_total, max_total| classes::Group {
        name,
        tasks: Vec::new(),
        min_total,
        max_total,
    };
    let mut limits = Vec::new();
    if group.min_nodes.is_some() || group.max_nodes.is_some() {
        let most = group.max_nodes.map_or_else(PerClass::none, PerClass::All);
        limits.push(of(group.name.clone(), group.min_nodes, most));
    }
    if !group.max_by_class.is_empty() {
        let most = PerClass::Each(group.max_by_class.clone());
        limits.push(of(format!("{} by class", group.name), None, most));
    }
    limits
}

fn limit(group: &TaskGroup) -> GroupLimit {
    GroupLimit {
        name: group.name.clone(),
        tasks: Vec::new(),
        min_total: group.min_nodes,
        max_total: group.max_nodes,
    }
}

/// For each group that has a maximum number of nodes: the positions of its tasks in the problem, and this maximum.
pub(crate) fn most(problem: &Problem) -> Vec<(Vec<usize>, u32)> {
    if problem.groups.is_empty() {
        return Vec::new();
    }
    let names = problem.tasks.iter().map(|task| task.name.as_str());
    let places: BTreeMap<&str, usize> = names.zip(0..).collect();
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

/// A problem that contains all grouped tasks of a set, but no nodes. Callers use it to find out whether a solver
/// supports the groups, which may overlap.
pub(crate) fn outline(groups: &[TaskGroup], set: &[TrainingTask], template: Problem) -> Problem {
    let groups = Groups::new(groups);
    let grouped = set
        .iter()
        .filter_map(|task| Some((task, groups.of(&task.name)?)));
    let (members, memberships): (Vec<_>, Vec<_>) = grouped.unzip();
    let mut problem = template;
    problem.tasks = members
        .into_iter()
        .map(|task| gleaner_solvers::Task {
            name: task.name.clone(),
            ..task.as_solved()
        })
        .collect();
    groups.apply(&mut problem, memberships.iter().map(Some));
    problem
}
