//! Checks whether all groups of tasks can get their minimum number of nodes.
//!
//! A task holds either no nodes or a number of nodes within its bounds, so some totals of a group
//! are impossible. For each group, [`sums`] finds the possible totals, as in the subset-sum problem.
//! The group needs the smallest possible total that is at least its minimum. The minimums can be
//! met if the sum of these totals over all groups does not exceed the number of nodes. For example,
//! a task of exactly 4 nodes and a task of 2 to 3 nodes have the possible totals 0, 2, 3, 4, 6 and
//! 7. If the minimum of their group is 5, the group needs 6 nodes.

use gleaner_domain::{TaskGroup, TrainingTask};

use super::rates::cap;

/// Whether `nodes` nodes suffice for a plan that respects the minimum and the maximum of every group.
/// Groups without an active task are ignored. Returns `None` if a task is in two groups, because
/// the totals of these groups then depend on each other.
pub(super) fn can_be_had(
    groups: &[TaskGroup],
    active: &[&TrainingTask],
    nodes: u32,
) -> Option<bool> {
    let mut least = 0;
    for (place, group) in groups.iter().enumerate() {
        let is_member = |task: &&&TrainingTask| group.tasks.contains(&task.name);
        let members: Vec<&TrainingTask> = active.iter().filter(is_member).copied().collect();
        let is_shared = |task: &&TrainingTask| {
            let mut others = groups[place + 1..].iter();
            others.any(|other| other.tasks.contains(&task.name))
        };
        if members.iter().any(is_shared) {
            return None;
        }
        if members.is_empty() {
            continue;
        }
        let most = group.max_nodes.unwrap_or(nodes).min(nodes);
        let sums = sums(&members, most);
        let wanted = group.min_nodes.unwrap_or(0) as usize;
        match (wanted..=most as usize).find(|&sum| sums[sum]) {
            Some(sum) => least += sum,
            None => return Some(false),
        }
    }
    Some(least <= nodes as usize)
}

/// For each number of nodes from 0 to `most`, whether the tasks can hold exactly this number in total.
fn sums(members: &[&TrainingTask], most: u32) -> Vec<bool> {
    let mut reached = vec![false; most as usize + 1];
    reached[0] = true;
    for task in members {
        let earlier = reached.clone();
        for count in task.min_nodes..=cap(task).min(most) {
            let count = count as usize;
            for (sum, reached) in reached.iter_mut().enumerate().skip(count) {
                *reached |= earlier[sum - count];
            }
        }
    }
    reached
}
