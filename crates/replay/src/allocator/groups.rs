//! Groups of tasks with joint limits on their nodes. Each decision takes the groups of the active tasks
//! into account.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_classes::{self as classes, PerClass};
use gleaner_domain::{TaskGroup, TrainingTask};
use gleaner_solvers::{GroupLimit, Problem};

/// The limits of all groups, and the groups of each task.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The limits of each group; the list of tasks is left empty.
    limits: Vec<GroupLimit>,
    /// The limits of each group for nodes of several classes; the list of tasks is left empty.
    class_limits: Vec<Vec<classes::Group>>,
    by_name: BTreeMap<String, Membership>,
}

/// Indices of the groups of a task.
pub(super) type Membership = Arc<[u32]>;

impl Groups {
    /// Indexes groups by the names of their tasks. Names that match no task have no effect.
    pub fn new(groups: &[TaskGroup]) -> Self {
        let mut by_name: BTreeMap<&String, Vec<u32>> = BTreeMap::new();
        for (index, group) in (0..).zip(groups) {
            for name in &group.tasks {
                by_name.entry(name).or_default().push(index);
            }
        }
        let named = by_name.into_iter();
        Groups {
            limits: groups.iter().map(limit).collect(),
            class_limits: groups.iter().map(class_limits).collect(),
            by_name: named.map(|(name, of)| (name.clone(), of.into())).collect(),
        }
    }

    /// Whether any group has a minimum number of nodes.
    pub fn any_minimum(&self) -> bool {
        self.limits.iter().any(|group| group.min_total.is_some())
    }

    /// The groups of the task with this name; `None` if it is in no group.
    pub fn of(&self, name: &str) -> Option<Membership> {
        self.by_name.get(name).cloned()
    }

    /// Sets the groups of a problem. `memberships` are the groups of its tasks, in the same order. Groups
    /// without a task in the problem are omitted.
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

/// The limits of a group over all classes, and its maxima by class.
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
