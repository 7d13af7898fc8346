//! Carries out plans: moves nodes, and rejects plans that cannot be carried out.

use std::collections::BTreeSet;

use super::decide::Plan;
use super::engine::Engine;
use super::node_choice::Growing;
use super::nodes::Holder;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::replay::AllocationRow;

impl Engine<'_> {
    /// Carries out `plan` at the present event, `event`.
    pub(super) fn apply(&mut self, event: usize, plan: Plan) -> Result<()> {
        match plan {
            Plan::Keep => Ok(()),
            Plan::Counts(counts) => self.apply_counts(event, &counts),
            Plan::Nodes(nodes) => self.apply_nodes(event, &nodes),
        }
    }

    /// Shrinks tasks, then grows others.
    fn apply_counts(&mut self, event: usize, counts: &[u32]) -> Result<()> {
        for (k, &count) in counts.iter().enumerate() {
            let held = &self.active[k].held;
            let over = held.len().saturating_sub(count) as usize;
            if over == 0 {
                continue;
            }
            let mut released = Vec::new();
            self.choice.release(held, over, &mut released);
            for node in released {
                self.release(k, node);
            }
        }
        self.grow(event, counts)
    }

    /// Gives tasks that have fewer nodes than `counts` those that they lack.
    fn grow(&mut self, event: usize, counts: &[u32]) -> Result<()> {
        let (mut growing, mut places) = (Vec::new(), Vec::new());
        let mut free = self.pool.free().len();
        for (k, &count) in counts.iter().enumerate() {
            let active = &self.active[k];
            let wanted = count.saturating_sub(active.held.len());
            if wanted > free {
                return Err(self.impossible(event, k, "is given more nodes than are idle"));
            }
            free -= wanted;
            if wanted > 0 {
                let task = &self.tasks[active.task as usize];
                places.push(k);
                growing.push(Growing {
                    held: &active.held,
                    wanted,
                    cost: task.rescale_down * task.curve.progress_at(count),
                });
            }
        }
        if growing.is_empty() {
            return Ok(());
        }
        let mut dealt = Vec::new();
        self.choice.deal(&self.pool, &growing, &mut dealt);
        for (place, node) in dealt {
            self.take(places[place], node);
        }
        Ok(())
    }

    /// Gives every task exactly these nodes. A task may gain nodes or lose nodes, but not both.
    fn apply_nodes(&mut self, event: usize, nodes: &[Vec<u32>]) -> Result<()> {
        let wanted: Vec<BTreeSet<u32>> = nodes
            .iter()
            .map(|own| own.iter().copied().collect())
            .collect();
        for (k, wanted) in wanted.iter().enumerate() {
            let held: BTreeSet<u32> = self.active[k].held.iter().collect();
            if !wanted.is_subset(&held) && !held.is_subset(wanted) {
                return Err(self.impossible(event, k, "moves to other nodes"));
            }
            for &node in held.difference(wanted) {
                self.release(k, node);
            }
        }
        for (k, wanted) in wanted.iter().enumerate() {
            for &node in wanted {
                match self.pool.holder(node) {
                    Holder::Free => self.take(k, node),
                    Holder::Task(task) if task == self.active[k].task => {}
                    Holder::Busy => {
                        return Err(self.impossible(event, k, "is given a node that is not idle"));
                    }
                    Holder::Task(_) => {
                        return Err(self.impossible(event, k, "is given another task's node"));
                    }
                }
            }
        }
        Ok(())
    }

    fn impossible(&self, event: usize, k: usize, what: &str) -> Error {
        let task = &self.tasks[self.active[k].task as usize].name;
        self.decider.impossible(event, task, what)
    }

    fn take(&mut self, k: usize, node: u32) {
        let active = &mut self.active[k];
        self.pool.take(node, active.task, &mut active.held);
        self.held_since[node as usize] = self.now;
        let account = &mut self.accounts[active.task as usize];
        account.start.get_or_insert(self.now);
    }

    fn release(&mut self, k: usize, node: u32) {
        let active = &mut self.active[k];
        let task = active.task;
        self.pool.release(node, &mut active.held);
        self.close(task, node);
    }

    /// Ends the interval in which `task` holds `node`.
    pub(super) fn close(&mut self, task: u32, node: u32) {
        let from = self.held_since[node as usize];
        if from < self.now {
            self.allocations.push(AllocationRow {
                task,
                node,
                from,
                to: self.now,
            });
        }
    }
}
