//! Records the nodes that each task holds, and carries out plans.

use std::collections::BTreeSet;

use gleaner_domain::{Change, TrainingTask};

use super::batch::{Holding, Reallocation, Resize};
use super::decide::Plan;
use super::node_choice::{Growing, NodeChoice};
use super::nodes::{Holder, NodePool, NodeSet};

/// All nodes, and the nodes that each active task holds.
pub(super) struct Placement<'a> {
    pool: NodePool,
    choice: Box<dyn NodeChoice + 'a>,
    /// The active tasks in the order of admission, with their nodes.
    held: Vec<(u32, NodeSet)>,
}

/// Why a plan cannot be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Impossible {
    /// Position of the task in the list of active tasks.
    pub place: usize,
    /// What is wrong, such as "moves to other nodes".
    pub what: &'static str,
}

impl<'a> Placement<'a> {
    /// Creates a placement of `nodes` nodes, none of which is idle.
    pub fn new(nodes: usize, choice: Box<dyn NodeChoice + 'a>) -> Self {
        Placement {
            pool: NodePool::new(nodes),
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

    /// Passes a batch to the rule for the choice of nodes, before the batch changes anything.
    pub fn observe(&mut self, changes: &[Change]) {
        self.choice.observe(changes, self.held.len());
    }

    /// Removes the nodes that left. If a task held the node, appends the node and the task to `lost`.
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
        let before: Vec<u32> = self.counts().collect();
        match plan {
            Plan::Keep => return Ok(()),
            Plan::Counts(counts) => self.apply_counts(&counts, tasks, change)?,
            Plan::Nodes(nodes) => self.apply_nodes(&nodes, change)?,
        }
        change.resized.reserve_exact(before.len());
        for ((task, nodes), before) in self.held.iter().zip(before) {
            let (task, after) = (*task, nodes.len());
            if before != after {
                change.resized.push(Resize {
                    task,
                    before,
                    after,
                });
            }
        }
        Ok(())
    }

    /// Changes the number of nodes of each task to its entry in `counts`. Tasks shrink first, so that growing
    /// tasks can use the nodes that become free.
    fn apply_counts(
        &mut self,
        counts: &[u32],
        tasks: &[TrainingTask],
        change: &mut Reallocation,
    ) -> Result<(), Impossible> {
        self.expect_one_each(counts.len())?;
        for (place, &count) in counts.iter().enumerate() {
            let held = &self.held[place].1;
            let over = held.len().saturating_sub(count) as usize;
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
        self.grow(counts, tasks, change)
    }

    /// Assigns free nodes to tasks that have fewer nodes than `counts` specifies.
    fn grow(
        &mut self,
        counts: &[u32],
        tasks: &[TrainingTask],
        change: &mut Reallocation,
    ) -> Result<(), Impossible> {
        let (mut growing, mut places) = (Vec::new(), Vec::new());
        let mut free = self.pool.free().len();
        for (place, &count) in counts.iter().enumerate() {
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
                let cost = task.rescale_down * task.curve.progress_at(count);
                places.push(place);
                growing.push(Growing { held, wanted, cost });
            }
        }
        if growing.is_empty() {
            return Ok(());
        }
        let mut dealt = Vec::new();
        self.choice.deal(&self.pool, &growing, &mut dealt);
        change.given.reserve_exact(dealt.len());
        for (position, node) in dealt {
            self.take(places[position], node, change);
        }
        Ok(())
    }

    /// Assigns exactly these nodes to each task. A task may gain nodes or lose nodes, but not both.
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
            if !wanted.is_subset(&held) && !held.is_subset(wanted) {
                let what = "moves to other nodes";
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
