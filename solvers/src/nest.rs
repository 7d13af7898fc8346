//! The nesting of the groups of a problem.
//!
//! Two groups *cross* if they share a task and each has a task that the other lacks. Groups are
//! *nested* if no two of them cross. Nested groups form a tree. Its root represents all tasks, which together may hold
//! at most the idle nodes.
//!
//! [`Nest::of`] visits the groups from the largest to the smallest. For every task, it records the last visited group
//! that contains the task. If all tasks of the next group have the same last group, that group is the smallest one that
//! contains the next group. Otherwise, two tasks of the next group have different last groups. Of these two groups, the
//! one visited later contains only one of the two tasks. It is at least as large as the next group, so it also has a
//! task that the next group lacks. It therefore crosses the next group.
//!
//! Example: the groups abc, bc and cd of the tasks a to d. For b and c the last group is abc, so bc
//! lies within abc. When cd is visited, the last group is bc for c, and the root for d. So bc and cd
//! cross: they share c, bc has b, and cd has d.

use std::cmp::Reverse;

use crate::{GroupLimit, Problem};

/// The tree of a problem's groups.
#[derive(Debug)]
pub(crate) struct Nest {
    /// The root is first, and every branch precedes the branches within it.
    branches: Vec<Branch>,
}

/// All tasks, or the tasks of a group. Groups that contain the same tasks share a branch.
#[derive(Debug)]
pub(crate) struct Branch {
    /// The smallest branch that contains this branch; `None` for the root.
    parent: Option<usize>,
    /// The minimum number of nodes that all tasks in the branch must hold together.
    pub least: u32,
    /// The maximum number of nodes that all tasks in the branch may hold together.
    pub most: u32,
    /// The tasks that lie directly in this branch, not in a branch within it.
    pub tasks: Vec<usize>,
    /// The branches directly within this branch.
    pub branches: Vec<usize>,
}

impl Branch {
    fn new(parent: Option<usize>, most: u32) -> Self {
        Branch {
            parent,
            least: 0,
            most,
            tasks: Vec::new(),
            branches: Vec::new(),
        }
    }

    fn add_limit(&mut self, group: &GroupLimit) {
        self.least = self.least.max(group.min_total.unwrap_or(0));
        self.most = self.most.min(group.max_total.unwrap_or(u32::MAX));
    }
}

/// A group that imposes a limit.
struct Member {
    /// Index of the group among the groups of the problem.
    group: usize,
    /// Tasks of the group, without duplicates.
    tasks: Vec<usize>,
}

impl Nest {
    /// The tree of the groups of `problem`. Groups without a limit, and names that match no task, are ignored. Takes
    /// O(n log n) time, where n is the total number of tasks, groups and names in groups.
    ///
    /// # Errors
    /// Two groups cross. The error contains their indices, in ascending order.
    pub fn of(problem: &Problem) -> Result<Self, (usize, usize)> {
        let mut members = members(problem);
        members.sort_by_key(|member| Reverse(member.tasks.len()));
        let mut branches = vec![Branch::new(None, problem.nodes)];
        // For every branch, its first group and its number of tasks. The root has no group.
        let mut made_of = vec![(usize::MAX, problem.tasks.len())];
        let mut innermost = vec![0; problem.tasks.len()];
        for Member { group, tasks } in members {
            let around = tasks.first().map_or(0, |&task| innermost[task]);
            if let Some(&other) = tasks.iter().find(|&&task| innermost[task] != around) {
                let (crossing, _) = made_of[around.max(innermost[other])];
                return Err((crossing.min(group), crossing.max(group)));
            }
            let mut branch = around;
            if made_of[around].1 != tasks.len() {
                branch = branches.len();
                branches[around].branches.push(branch);
                branches.push(Branch::new(Some(around), problem.nodes));
                made_of.push((group, tasks.len()));
            }
            branches[branch].add_limit(&problem.groups[group]);
            for task in tasks {
                innermost[task] = branch;
            }
        }
        for (task, &branch) in innermost.iter().enumerate() {
            branches[branch].tasks.push(task);
        }
        Ok(Nest { branches })
    }

    /// The branches: the root first, and every branch before the branches within it.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Whether a plan respects the limits of all groups and fits into the idle nodes.
    pub fn admits(&self, counts: &[u32]) -> bool {
        let mut totals = vec![0; self.branches.len()];
        for (b, branch) in self.branches.iter().enumerate().rev() {
            let own = branch.tasks.iter().map(|&task| u64::from(counts[task]));
            let total = totals[b] + own.sum::<u64>();
            if !(u64::from(branch.least)..=u64::from(branch.most)).contains(&total) {
                return false;
            }
            if let Some(parent) = branch.parent {
                totals[parent] += total;
            }
        }
        true
    }
}

/// The groups of `problem` that impose a limit, in order.
fn members(problem: &Problem) -> Vec<Member> {
    let tasks = problem.tasks.iter().enumerate();
    let mut names: Vec<(&str, usize)> = tasks.map(|(j, task)| (task.name.as_str(), j)).collect();
    names.sort_unstable();
    let find = |name: &String| {
        let place = names.binary_search_by(|&(known, _)| known.cmp(name));
        place.ok().map(|i| names[i].1)
    };
    let groups = problem.groups.iter().enumerate();
    let limiting = groups.filter(|(_, group)| group.limits_something());
    let member = |(group, limit): (usize, &GroupLimit)| {
        let mut tasks: Vec<usize> = limit.tasks.iter().filter_map(find).collect();
        tasks.sort_unstable();
        tasks.dedup();
        Member { group, tasks }
    };
    limiting.map(member).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::synthetic;

    /// A problem with `tasks` tasks; each element of `groups` lists the indices of the tasks in a group.
    fn problem(tasks: usize, groups: &[Vec<usize>]) -> Problem {
        let mut problem = synthetic::problem(tasks, 8, 1);
        let group = |(g, tasks): (usize, &Vec<usize>)| GroupLimit {
            name: format!("g{g}"),
            tasks: tasks.iter().map(|j| format!("task{j}")).collect(),
            min_total: None,
            max_total: Some(8),
        };
        problem.groups = groups.iter().enumerate().map(group).collect();
        problem
    }

    fn cross(a: &[usize], b: &[usize]) -> bool {
        let shared = a.iter().any(|task| b.contains(task));
        let lacks = |a: &[usize], b: &[usize]| a.iter().any(|task| !b.contains(task));
        shared && lacks(a, b) && lacks(b, a)
    }

    // Small fixed example: a chain of three groups, a group with the same tasks as one of them, a separate group and
    // an empty group.
    #[test]
    fn nested_groups_form_a_tree() {
        let groups = [
            vec![2],
            vec![3, 2, 3],
            vec![],
            vec![1, 2, 3],
            vec![2, 3],
            vec![0],
        ];
        let nest = Nest::of(&problem(5, &groups)).unwrap();
        let tasks: Vec<&[usize]> = nest.branches().iter().map(|b| &b.tasks[..]).collect();
        let expected: [&[usize]; 6] = [&[4], &[1], &[3], &[2], &[0], &[]];
        assert_eq!(tasks, expected);
        let within: Vec<&[usize]> = nest.branches().iter().map(|b| &b.branches[..]).collect();
        let expected: [&[usize]; 6] = [&[1, 4, 5], &[2], &[3], &[], &[], &[]];
        assert_eq!(within, expected);
    }

    #[test]
    fn groups_of_the_same_tasks_share_their_limits() {
        let mut problem = problem(2, &[vec![0], vec![0], vec![0, 1]]);
        problem.groups[0].min_total = Some(2);
        problem.groups[1].min_total = Some(1);
        problem.groups[1].max_total = Some(5);
        problem.groups[2].max_total = Some(6);
        let nest = Nest::of(&problem).unwrap();
        let limits = nest.branches().iter().map(|b| (b.least, b.most));
        assert_eq!(limits.collect::<Vec<_>>(), [(0, 6), (2, 5)]);
        assert!(nest.admits(&[2, 4]) && nest.admits(&[5, 0]));
        assert!(!nest.admits(&[1, 0]) && !nest.admits(&[6, 0]) && !nest.admits(&[3, 4]));
    }

    #[test]
    fn groups_without_a_limit_cross_nothing() {
        let mut problem = problem(3, &[vec![0, 1], vec![1, 2]]);
        assert_eq!(Nest::of(&problem).unwrap_err(), (0, 1));
        problem.groups[1].max_total = None;
        problem.groups[1].min_total = Some(0);
        assert_eq!(Nest::of(&problem).unwrap().branches().len(), 2);
    }

    // A file of a few megabytes can contain this many names. Comparing all pairs of groups would take hours.
    #[test]
    fn many_groups_take_no_longer_than_their_names() {
        let pairs: Vec<Vec<usize>> = (0..200_000).map(|g| vec![g % 1000]).collect();
        assert!(Nest::of(&problem(1000, &pairs)).is_ok());
        let chain: Vec<Vec<usize>> = (1..1000).map(|size| (0..size).collect()).collect();
        assert_eq!(
            Nest::of(&problem(1000, &chain)).unwrap().branches().len(),
            1000
        );
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(2_000))]

        // Derived by brute force: every group is compared with every other group.
        #[test]
        fn crossing_groups_are_found(
            groups in prop::collection::vec(prop::collection::vec(0usize..6, 0..5), 0..5),
        ) {
            let problem = problem(6, &groups);
            let crosses = groups.iter().any(|a| groups.iter().any(|b| cross(a, b)));
            match Nest::of(&problem) {
                Ok(_) => prop_assert!(!crosses),
                Err((a, b)) => prop_assert!(a < b && cross(&groups[a], &groups[b])),
            }
        }
    }
}
