//! Groups of tasks: the groups of each submission, and the check that a group never runs on more nodes than its
//! maximum.

use std::collections::BTreeSet;

use gleaner_harvest::core::GroupSubmission;
use gleaner_solvers::Problem;

use crate::checks::Invariant;
use crate::noise::{Draw, For, Noise};
use crate::plan::{Act, Plan};
use crate::sabotage::Sabotage;
use crate::world::World;

/// A group of tasks that are submitted together.
#[derive(Debug, Clone)]
pub struct GroupPlan {
    /// Indices of the tasks in the plan.
    pub members: Vec<usize>,
    pub min_nodes: Option<u32>,
    pub max_nodes: u32,
}

/// In some plans without node classes, adds a group to each submission, and sometimes another group within this group.
pub fn form(plan: &mut Plan) {
    let mut draw = Noise(plan.seed).draw(For::Groups, &[]);
    if !plan.classes.is_empty() || draw.percent(50) {
        return;
    }
    let submitted = plan.acts.iter().filter_map(|(_, act)| match act {
        Act::Submit { tasks } => Some(tasks.clone()),
        _ => None,
    });
    for tasks in submitted.collect::<Vec<_>>() {
        let inner = draw.below(tasks.len());
        if inner > 0 {
            let group = group(plan, &tasks[..inner], &mut draw);
            plan.groups.push(group);
        }
        let outer = group(plan, &tasks, &mut draw);
        plan.groups.push(outer);
    }
}

/// A group of the tasks `members`. Its maximum is enough for the minimum of each task.
fn group(plan: &Plan, members: &[usize], draw: &mut Draw) -> GroupPlan {
    let least = members
        .iter()
        .map(|task| plan.tasks[*task].submission.min_nodes);
    let least = i64::from(least.max().unwrap_or(1));
    let max_nodes = draw.between(least, least.max(plan.nodes as i64 - 1)) as u32;
    GroupPlan {
        members: members.to_vec(),
        min_nodes: draw
            .percent(40)
            .then(|| draw.between(0, max_nodes.into()) as u32),
        max_nodes,
    }
}

impl World {
    /// The groups that are submitted together with these tasks.
    pub fn groups_of(&self, tasks: &[usize]) -> Vec<GroupSubmission> {
        if self.sabotage == Some(Sabotage::NoGroups) {
            return Vec::new();
        }
        let names = |group: &GroupPlan| {
            let members = group.members.iter();
            members
                .map(|task| self.plan.tasks[*task].submission.name.clone())
                .collect()
        };
        let groups = self.plan.groups.iter().enumerate();
        let own = groups.filter(|(_, group)| group.members.iter().all(|task| tasks.contains(task)));
        own.map(|(index, group)| GroupSubmission {
            name: format!("group-{index}"),
            tasks: names(group),
            min_nodes: group.min_nodes,
            max_nodes: Some(group.max_nodes),
        })
        .collect()
    }

    /// Checks the groups of a task after one of its processes has started. A trial belongs to the groups of the task
    /// that it trains.
    pub fn check_groups(&mut self, task: usize) {
        let (listed, _) = self.trainee(task);
        let groups = self.plan.groups.iter();
        let exceeded = groups
            .filter(|group| group.members.contains(&listed))
            .find_map(|group| {
                let own = self
                    .processes
                    .iter()
                    .filter(|(_, process)| group.members.contains(&self.trainee(process.task).0));
                let nodes: BTreeSet<usize> = own.map(|((node, _), _)| *node).collect();
                (nodes.len() > group.max_nodes as usize)
                    .then(|| format!("{group:?} runs on {} nodes", nodes.len()))
            });
        if let Some(text) = exceeded {
            self.fail(Invariant::Groups, text);
        }
    }
}

/// Number of additional nodes that the groups of a task allow if all tasks get `counts` nodes. `place` is the index of
/// the task in the problem.
pub fn room(problem: &Problem, counts: &[u32], place: usize) -> u32 {
    let name = &problem.tasks[place].name;
    let own = problem
        .groups
        .iter()
        .filter(|group| group.tasks.contains(name));
    let rooms = own.filter_map(|group| {
        let members = problem.tasks.iter().zip(counts);
        let members = members.filter(|(task, _)| group.tasks.contains(&task.name));
        let used: u32 = members.map(|(_, count)| count).sum();
        Some(group.max_total?.saturating_sub(used))
    });
    rooms.min().unwrap_or(u32::MAX)
}
