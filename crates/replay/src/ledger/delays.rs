//! Batch jobs that start later because tasks held their nodes.

use gleaner_domain::results::replay::DelayRow;

use crate::run::Step;

/// Records the delayed jobs. A job counts as delayed once, no matter how many of its nodes tasks held.
#[derive(Debug)]
pub(super) struct Delays {
    /// Seconds until a batch job can use a node that a task holds; `None` if delays are not counted.
    hand_back: Option<f64>,
    /// Indices of the current step's changes that took nodes from tasks.
    used: Vec<usize>,
    pub rows: Vec<DelayRow>,
}

impl Delays {
    pub fn new(hand_back: Option<f64>) -> Self {
        Delays {
            hand_back,
            used: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Records that the current step's change with this index took a node from a task.
    pub fn used(&mut self, change: usize) {
        if self.hand_back.is_some() {
            self.used.push(change);
        }
    }

    /// Adds the jobs that took nodes from tasks in this step. `left` is the number of nodes that left in the step. A
    /// node that no job took, for example because it failed, delays no job. If the log does not state the jobs, all
    /// nodes that left are treated as taken by one job.
    pub fn book(&mut self, step: &Step<'_>, left: u32) {
        let Some(delay) = self.hand_back.filter(|_| !self.used.is_empty()) else {
            return;
        };
        let row = |job: u32, nodes: u32, nodes_in_use: u32| DelayRow {
            time: step.time,
            event: step.event,
            job,
            nodes,
            nodes_in_use,
            delay,
            delayed_node_seconds: delay * f64::from(nodes),
        };
        let Some(queue) = step.queue else {
            self.rows.push(row(0, left, self.used.len() as u32));
            self.used.clear();
            return;
        };
        let mut in_use = vec![0; queue.jobs.len() + 1];
        for change in self.used.drain(..) {
            in_use[queue.takers[change] as usize] += 1;
        }
        let jobs = (1..).zip(queue.jobs).zip(&in_use[1..]);
        let delayed = jobs.filter(|(_, in_use)| **in_use > 0);
        self.rows
            .extend(delayed.map(|((job, nodes), in_use)| row(job, *nodes, *in_use)));
    }

    /// The rows of the delayed jobs; `None` if delays are not counted.
    pub fn finish(self) -> Option<Vec<DelayRow>> {
        self.hand_back.map(|_| self.rows)
    }
}
