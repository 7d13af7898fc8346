//! The tables of steps and timings.

use std::sync::Arc;

use gleaner_domain::results::replay::{StepRow, StepStatus, TimingRow};

use super::accounts::{Active, Spell};
use crate::allocator::Answer;
use crate::run::Step;

/// The rows of the tables of steps and timings, and counts for the summary.
#[derive(Debug)]
pub(super) struct Steps {
    /// Name of the decider.
    solver: Arc<str>,
    pub rows: Vec<StepRow>,
    pub timings: Vec<TimingRow>,
    /// Number of events at which nodes left while tasks were active.
    pub losses: u64,
    /// Number of events at which a group could not get its minimum number of nodes.
    pub short: usize,
}

/// Node-seconds and work since the last event, summed over all tasks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period {
    pub idle_node_seconds: f64,
    pub unused_node_seconds: f64,
    pub progress: f64,
    pub spell: Spell,
}

/// Numbers of nodes that left and joined at an event, and the resulting preemptions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moves {
    pub left: u32,
    pub joined: u32,
    pub preempted: u32,
    pub preemption_cost: f64,
}

impl Steps {
    /// Creates empty tables with room for `events` rows.
    pub fn new(solver: &str, events: usize) -> Self {
        Steps {
            solver: solver.into(),
            rows: Vec::with_capacity(events),
            timings: Vec::with_capacity(events),
            losses: 0,
            short: 0,
        }
    }

    /// Adds the row of a step, with the state before the decision.
    pub fn push(&mut self, step: &Step<'_>, period: &Period, moves: &Moves) {
        let spell = &period.spell;
        self.rows.push(StepRow {
            time: step.time,
            progress: period.progress,
            rate: 0.0,
            rescale_cost: 0.0,
            event: step.event,
            nodes_left: moves.left,
            tasks_preempted: moves.preempted,
            nodes_joined: moves.joined,
            tasks_active: 0,
            nodes_idle: 0,
            tasks_running: 0,
            nodes_used: 0,
            preemption_cost: moves.preemption_cost,
            kind: step.kind,
            solver: self.solver.clone(),
            status: StepStatus::Trivial,
            gap: None,
            idle_node_seconds: period.idle_node_seconds,
            unused_node_seconds: period.unused_node_seconds,
            used_node_seconds: spell.used,
            before_completion_node_seconds: spell.before_completion(),
            after_completion_node_seconds: spell.after_completion,
            below_minimum_node_seconds: spell.below_minimum,
            gross_work: spell.gross_work,
            rescale_loss: spell.rescale_loss,
            after_completion_work: spell.after_completion_work,
        });
    }

    /// Completes the last row with the state after the decision.
    pub fn complete(&mut self, active: &[Active], idle: u32, answer: Option<&Answer>) {
        let Some(row) = self.rows.last_mut() else {
            return;
        };
        row.tasks_active = active.len() as u32;
        row.nodes_idle = idle;
        for active in active {
            row.rate += active.rate;
            row.rescale_cost += active.pending_cost;
            row.tasks_running += u32::from(active.held > 0);
            row.nodes_used += active.held;
        }
        if let Some(answer) = answer {
            (row.status, row.gap) = (answer.status, answer.gap);
            self.short += usize::from(answer.is_short);
        }
        self.timings.push(TimingRow {
            event: row.event,
            micros: answer.map_or(0, |answer| answer.micros),
        });
    }
}
