//! The accounts by class of nodes: the tables `classes`, `moves` and `class_totals`.
//!
//! The work and node-time of a task between two events are booked under the class of the nodes that it holds during
//! that time. The cost of a change is booked under the class to which the task moves. The rows of an event in
//! `classes` therefore add up to the event's row in the table `steps`.

use std::sync::Arc;

use gleaner_domain::results::classes::{ClassOutcome, ClassRow, ClassTotal, MoveRow};
use gleaner_domain::{NodeClasses, TrainingTask};

use super::accounts::Active;
use crate::allocator::{Resize, ResizeKind};
use crate::run::Step;

/// The accounts of all classes.
#[derive(Debug)]
pub(super) struct ClassBook {
    names: Vec<Arc<str>>,
    /// Forward window in seconds.
    t_fwd: f64,
    /// The rows of the current step, one for each class.
    current: Vec<ClassRow>,
    rows: Vec<ClassRow>,
    moves: Vec<MoveRow>,
    totals: Vec<ClassTotal>,
    /// For each class, the integral of its price over time, and the time during which it had a price.
    prices: Vec<(f64, f64)>,
}

impl ClassBook {
    pub fn new(classes: &NodeClasses, t_fwd: f64) -> Self {
        let names: Vec<Arc<str>> = classes
            .names()
            .iter()
            .map(|name| name.as_str().into())
            .collect();
        let total = |(name, nodes): (&Arc<str>, u32)| ClassTotal {
            class: Arc::clone(name),
            nodes,
            idle_node_seconds: 0.0,
            used_node_seconds: 0.0,
            work: 0.0,
            work_share: None,
            preemptions: 0,
            moved_in: 0,
            moved_out: 0,
            mean_price: None,
        };
        ClassBook {
            t_fwd,
            current: Vec::new(),
            rows: Vec::new(),
            moves: Vec::new(),
            totals: names.iter().zip(classes.sizes()).map(total).collect(),
            prices: vec![(0.0, 0.0); names.len()],
            names,
        }
    }

    /// Books the node-time since the last step. During this time, `idle` is the number of idle nodes of each class, and
    /// `active` are the tasks that can hold some of them.
    pub fn accrue(&mut self, idle: &[u32], active: &[Active], seconds: f64) {
        for (total, idle) in self.totals.iter_mut().zip(idle) {
            total.idle_node_seconds += f64::from(*idle) * seconds;
        }
        for active in active {
            self.totals[active.class].used_node_seconds += f64::from(active.held) * seconds;
        }
        let last = self.rows.len().saturating_sub(self.names.len());
        for (row, (sum, time)) in self.rows[last..].iter().zip(&mut self.prices) {
            if let Some(price) = row.price {
                *sum += price * seconds;
                *time += seconds;
            }
        }
    }

    /// Starts a step with a new row for each class.
    pub fn begin(&mut self, step: &Step<'_>) {
        let row = |name: &Arc<str>| ClassRow {
            time: step.time,
            event: step.event,
            class: Arc::clone(name),
            nodes_idle: 0,
            nodes_joined: 0,
            nodes_left: 0,
            nodes_used: 0,
            tasks_running: 0,
            progress: 0.0,
            rescale_cost: 0.0,
            tasks_preempted: 0,
            price: None,
        };
        self.current = self.names.iter().map(row).collect();
    }

    /// Counts a node that joined or left.
    pub fn changed(&mut self, class: usize, idle: bool) {
        let row = &mut self.current[class];
        row.nodes_joined += u32::from(idle);
        row.nodes_left += u32::from(!idle);
    }

    /// Counts a task that lost nodes. `progress` is true if the task also lost progress.
    pub fn preempted(&mut self, class: usize, progress: bool) {
        self.current[class].tasks_preempted += u32::from(progress);
        self.totals[class].preemptions += 1;
    }

    /// Books a task's progress since the last step.
    pub fn progressed(&mut self, class: usize, work: f64) {
        self.current[class].progress += work;
        self.totals[class].work += work;
    }

    /// Records the tasks that move to another class.
    pub fn moved(&mut self, tasks: &[TrainingTask], resized: &[Resize]) {
        let Some(row) = self.current.first() else {
            return;
        };
        let moves = resized
            .iter()
            .filter(|resize| resize.kind() == ResizeKind::Moved);
        for resize in moves {
            self.totals[resize.class_before].moved_out += 1;
            self.totals[resize.class_after].moved_in += 1;
            self.moves.push(MoveRow {
                time: row.time,
                event: row.event,
                task: tasks[resize.task as usize].name.as_str().into(),
                from: Arc::clone(&self.names[resize.class_before]),
                nodes_before: resize.before,
                to: Arc::clone(&self.names[resize.class_after]),
                nodes_after: resize.after,
            });
        }
    }

    /// Completes the rows of a step with the state after the decision. `prices` contains the
    /// price of a node of each class over the whole forward window.
    pub fn complete(&mut self, idle: &[u32], active: &[Active], prices: &[f64]) {
        for active in active {
            let row = &mut self.current[active.class];
            row.nodes_used += active.held;
            row.tasks_running += u32::from(active.held > 0);
            row.rescale_cost += active.pending_cost;
        }
        for (class, row) in self.current.iter_mut().enumerate() {
            row.nodes_idle = idle[class];
            let price = prices.get(class).filter(|_| idle[class] > 0);
            row.price = price.map(|price| price / self.t_fwd);
        }
        self.rows.append(&mut self.current);
    }

    pub fn finish(mut self) -> ClassOutcome {
        let all: f64 = self.totals.iter().map(|total| total.work).sum();
        for (total, (sum, time)) in self.totals.iter_mut().zip(&self.prices) {
            total.work_share = (all > 0.0).then(|| total.work / all);
            total.mean_price = (*time > 0.0).then(|| sum / time);
        }
        ClassOutcome {
            rows: self.rows,
            moves: self.moves,
            totals: self.totals,
        }
    }
}
