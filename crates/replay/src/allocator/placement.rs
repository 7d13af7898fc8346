//! Records the nodes that each task holds, and carries out plans.

use std::collections::BTreeSet;

use gleaner_classes::Held;
use gleaner_domain::error;
use gleaner_domain::{Change, TrainingTask};

use super::batch::{Holding, Reallocation, Resize};
use super::decide::Plan;
use super::node_choice::{Growing, NodeChoice};
use super::nodes::{Holder, NodePool, NodeSet};
use super::state::unsuitable;

/// All nodes, and the nodes that each active task holds.
pub(super) struct Placement<'a> {
    pool: NodePool,
    choice: Box<dyn NodeChoice + 'a>,
    /// The active tasks in the order of admission, with their nodes.
    held: Vec<(u32, NodeSet)>,
}

/// The reason why a plan cannot be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Impossible {
    /// Position of the task in the list of active tasks.
    pub place: usize,
    /// What is wrong with the plan for this task, such as "moves to other nodes".
    pub what: &'static str,
}

impl<'a> Placement<'a> {
    /// Creates a placement of nodes, none of which is idle.
    pub fn new(nodes: NodePool, choice: Box<dyn NodeChoice + 'a>) -> Self {
        Placement {
            pool: nodes,
            choice,
            held: Vec::new(),
        }
    }

    pub fn pool(&self) -> &NodePool {
        &self.pool
    }

    /// Number of nodes of each active task, in the order of admission.
    pub fn counts(&self) -> impl Iterator<Item = u32> {
        self.held.iter().map(|(_, nodes)| nodes.len())
    }

    /// Class and number of the nodes of each active task, in the order of admission; `None` for a task that holds no
    /// nodes.
    pub fn held(&self) -> impl Iterator<Item = Option<Held>> {
        self.held.iter().map(|(_, nodes)| self.held_of(nodes))
    }

    /// Class and number of a task's nodes.
    fn held_of(&self, nodes: &NodeSet) -> Option<Held> {
        let class = self.pool.class(nodes.iter().next()?);
        let count = nodes.len();
        Some(Held { class, count })
    }

    /// All nodes that tasks hold, sorted by the tasks' order of admission, then by the nodes' order of arrival.
    pub fn holdings(&self) -> impl Iterator<Item = Holding> {
        let of = |(task, nodes): &'_ (u32, NodeSet)| {
            let task = *task;
            nodes
                .iter()
                .map(move |node| Holding { task, node })
                .collect::<Vec<_>>()
        };
        self.held.iter().flat_map(of)
    }

    /// Passes the changes of a batch to the rule for the choice of nodes, before the changes are carried out.
    pub fn observe(&mut self, changes: &[Change]) {
        self.choice.observe(changes, self.held.len());
    }

    /// Removes the nodes that left. For each of these nodes that a task held, appends the task and the node to `lost`.
    pub fn leave(&mut self, changes: &[Change], lost: &mut Vec<Holding>) {
        for change in changes.iter().filter(|change| !change.idle()) {
            let node = change.node();
            let Holder::Task(task) = self.pool.holder(node) else {
                self.pool.leave_free(node);
                continue;
            };
            if let Some((_, nodes)) = self.held.iter_mut().find(|(holder, _)| *holder == task) {
                self.pool.leave_held(node, nodes);
                lost.push(Holding { task, node });
            }
        }
    }

    /// Adds the nodes that joined to the free nodes.
    pub fn join(&mut self, changes: &[Change]) {
        for change in changes.iter().filter(|change| change.idle()) {
            self.pool.join(change.node());
        }
    }

    /// Adds a task that becomes active, without nodes.
    pub fn admit(&mut self, task: u32) {
        self.held.push((task, NodeSet::default()));
    }

    /// The nodes of each active task, in the order of admission.
    pub fn nodes(&self) -> impl Iterator<Item = &NodeSet> {
        self.held.iter().map(|(_, nodes)| nodes)
    }

    /// Adds nodes that were idle in another placement, in the order in which they became idle.
    ///
    /// # Errors
    /// A node does not exist, or is listed twice.
    pub fn restore_idle(&mut self, idle: &[u32]) -> error::Result<()> {
        for &node in idle {
            if self.pool.find(node) != Some(Holder::Busy) {
                return Err(unsuitable("nodes"));
            }
            self.pool.join(node);
        }
        Ok(())
    }

    /// Adds a task that was active in another placement, with its nodes.
    ///
    /// # Errors
    /// A node is not free.
    pub fn restore_task(&mut self, task: u32, nodes: &[u32]) -> error::Result<()> {
        let mut held = NodeSet::default();
        for &node in nodes {
            if self.pool.find(node) != Some(Holder::Free) {
                return Err(unsuitable("nodes"));
            }
            self.pool.take(node, task, &mut held);
        }
        self.held.push((task, held));
        Ok(())
    }

    /// Removes the active task at position `place`. Its nodes become free and are appended to `released`.
    pub fn retire(&mut self, place: usize, released: &mut Vec<Holding>) {
        let (task, mut nodes) = self.held.remove(place);
        for node in nodes.iter().collect::<Vec<_>>() {
            self.pool.release(node, &mut nodes);
            released.push(Holding { task, node });
        }
    }

    /// Carries out `plan` and records in `change` the nodes that moved.
    ///
    /// # Errors
    /// The plan cannot be carried out.
    pub fn apply(
        &mut self,
        plan: Plan,
        tasks: &[TrainingTask],
        change: &mut Reallocation,
    ) -> Result<(), Impossible> {
        let before: Vec<Option<Held>> = self.held().collect();
        match plan {
            Plan::Keep => return Ok(()),
            Plan::Counts(counts) => {
                let next = |count| Held { class: 0, count };
                let next: Vec<Held> = counts.into_iter().map(next).collect();
                self.apply_counts(&next, tasks, change)?;
            }
            Plan::InClasses(plan) => {
                let none = Held { class: 0, count: 0 };
                let next: Vec<Held> = plan.into_iter().map(|held| held.unwrap_or(none)).collect();
                self.apply_counts(&next, tasks, change)?;
            }
            Plan::Nodes(nodes) => self.apply_nodes(&nodes, change)?,
        }
        let tasks = self.held.iter().zip(before);
        let resized = tasks.filter_map(|((task, nodes), before)| {
            Resize::between(*task, before, self.held_of(nodes))
        });
        change.resized.extend(resized);
        Ok(())
    }

    /// Gives each task the number and class of nodes that its entry in `next` specifies. A task that moves to another
    /// class releases all of its nodes. Tasks shrink first, so that growing tasks can use the nodes that become free.
    fn apply_counts(
        &mut self,
        next: &[Held],
        tasks: &[TrainingTask],
        change: &mut Reallocation,
    ) -> Result<(), Impossible> {
        self.expect_one_each(next.len())?;
        let classes = self.pool.idle_by_class().len();
        if let Some(place) = next.iter().position(|next| next.class >= classes) {
            let what = "is given nodes of a class that does not exist";
            return Err(Impossible { place, what });
        }
        for (place, next) in next.iter().enumerate() {
            let held = &self.held[place].1;
            let moves = self
                .held_of(held)
                .is_some_and(|held| held.class != next.class);
            let kept = if moves { 0 } else { next.count };
            let over = held.len().saturating_sub(kept) as usize;
            if over == 0 {
                continue;
            }
            let mut released = Vec::new();
            self.choice.release(held, over, &mut released);
            change.released.reserve(released.len());
            for node in released {
                self.release(place, node, change);
            }
        }
        (0..classes).try_for_each(|class| self.grow(class, next, tasks, change))
    }

    /// Assigns free nodes of a class to tasks that have fewer nodes than `next` specifies.
    fn grow(
        &mut self,
        class: usize,
        next: &[Held],
        tasks: &[TrainingTask],
        change: &mut Reallocation,
    ) -> Result<(), Impossible> {
        let (mut growing, mut places) = (Vec::new(), Vec::new());
        let mut free = self.pool.free(class).len();
        let in_class = next
            .iter()
            .enumerate()
            .filter(|(_, next)| next.class == class);
        for (place, &Held { count, .. }) in in_class {
            let (task, held) = &self.held[place];
            let wanted = count.saturating_sub(held.len());
            if wanted > free {
                let what = "is given more nodes than are idle";
                return Err(Impossible { place, what });
            }
            free -= wanted;
            if wanted > 0 {
                let task = &tasks[*task as usize];
                // A preemption costs `rescale_down` seconds of progress at the task's new count.
                let cost = task.rescale_down * task.progress_in(class, count);
                places.push(place);
                growing.push(Growing { held, wanted, cost });
            }
        }
        if growing.is_empty() {
            return Ok(());
        }
        let mut dealt = Vec::new();
        self.choice
            .deal(self.pool.free(class), &growing, &mut dealt);
        change.given.reserve_exact(dealt.len());
        for (position, node) in dealt {
            self.take(places[position], node, change);
        }
        Ok(())
    }

    /// Assigns to each task exactly the nodes that its entry in `nodes` lists. A task can gain nodes or lose nodes, but
    /// not both, unless it moves to nodes of another class.
    fn apply_nodes(
        &mut self,
        nodes: &[Vec<u32>],
        change: &mut Reallocation,
    ) -> Result<(), Impossible> {
        self.expect_one_each(nodes.len())?;
        let sets = nodes.iter().map(|own| own.iter().copied().collect());
        let wanted: Vec<BTreeSet<u32>> = sets.collect();
        for (place, wanted) in wanted.iter().enumerate() {
            let held: BTreeSet<u32> = self.held[place].1.iter().collect();
            let has_both = !wanted.is_subset(&held) && !held.is_subset(wanted);
            let fault = match self.class_of(wanted) {
                Err(what) => Some(what),
                Ok(class) if has_both && self.class_of(&held) == Ok(class) => {
                    Some("moves to other nodes")
                }
                Ok(_) => None,
            };
            if let Some(what) = fault {
                return Err(Impossible { place, what });
            }
            for &node in held.difference(wanted) {
                self.release(place, node, change);
            }
        }
        for (place, wanted) in wanted.iter().enumerate() {
            for &node in wanted {
                let what = match self.pool.find(node) {
                    Some(Holder::Free) => {
                        self.take(place, node, change);
                        continue;
                    }
                    Some(Holder::Task(task)) if task == self.held[place].0 => continue,
                    Some(Holder::Task(_)) => "is given another task's node",
                    Some(Holder::Busy) | None => "is given a node that is not idle",
                };
                return Err(Impossible { place, what });
            }
        }
        Ok(())
    }

    /// The class of a task's nodes in a plan; `None` if it has no nodes. Nodes that do not exist are ignored.
    ///
    /// # Errors
    /// The nodes are of several classes.
    fn class_of(&self, nodes: &BTreeSet<u32>) -> Result<Option<usize>, &'static str> {
        let known = nodes.iter().filter(|node| self.pool.find(**node).is_some());
        let mut classes = known.map(|node| self.pool.class(*node));
        let first = classes.next();
        if classes.all(|class| Some(class) == first) {
            Ok(first)
        } else {
            Err("is given nodes of several classes")
        }
    }

    /// Checks that a plan has one entry for each active task. If the plan is too short, the error names the
    /// first task without an entry; if it is too long, the last active task.
    fn expect_one_each(&self, found: usize) -> Result<(), Impossible> {
        if found == self.held.len() {
            return Ok(());
        }
        Err(Impossible {
            place: found.min(self.held.len() - 1),
            what: "is missing from the plan, or the plan has too many tasks",
        })
    }

    fn take(&mut self, place: usize, node: u32, change: &mut Reallocation) {
        let (task, held) = &mut self.held[place];
        self.pool.take(node, *task, held);
        change.given.push(Holding { task: *task, node });
    }

    fn release(&mut self, place: usize, node: u32, change: &mut Reallocation) {
        let (task, held) = &mut self.held[place];
        self.pool.release(node, held);
        change.released.push(Holding { task: *task, node });
    }
}
