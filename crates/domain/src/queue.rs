//! The batch queue behind an event log: how many jobs waited at each row, and which job took which node.

/// Jobs that waited for nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pending {
    /// Number of jobs.
    pub jobs: u64,
    /// Number of nodes that they requested together.
    pub nodes: u64,
}

/// What a row of an event log says about the batch queue.
#[derive(Debug, Clone, Copy)]
pub struct RowQueue<'a> {
    /// The jobs that waited at the end of the row's second; `None` if the log has no submissions.
    pub pending: Option<Pending>,
    /// For each job that took nodes in this row, the number of nodes that it used in total.
    pub jobs: &'a [u32],
    /// For each change of the row, the job that took the node: 0 if none did, else its index in `jobs` plus 1.
    pub takers: &'a [u32],
}

/// The batch queue at all rows of an event log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    /// One for each row; empty if the log has no submissions.
    pending: Vec<Pending>,
    /// The jobs of row i are `jobs[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    jobs: Vec<u32>,
    /// One for each change of the log, as in [`RowQueue::takers`].
    takers: Vec<u32>,
}

impl Queue {
    /// Adds a row.
    pub fn push(&mut self, row: RowQueue<'_>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.pending.extend(row.pending);
        self.jobs.extend(row.jobs);
        self.takers.extend(row.takers);
        self.starts.push(self.jobs.len());
    }

    /// The queue at a row whose changes are `changes` of the log, by index.
    pub(crate) fn row(&self, row: usize, changes: std::ops::Range<usize>) -> RowQueue<'_> {
        RowQueue {
            pending: self.pending.get(row).copied(),
            jobs: &self.jobs[self.starts[row]..self.starts[row + 1]],
            takers: &self.takers[changes],
        }
    }

    /// Whether the queue describes this many rows and changes, and takers are jobs of their row. `starts` are the
    /// indexes of the rows' first changes, and the number of changes.
    pub(crate) fn fits(&self, starts: &[usize]) -> bool {
        let rows = starts.len().saturating_sub(1);
        let has_rows = self.starts.len() == rows + 1 && self.takers.len() == starts[rows];
        let has_pending = self.pending.is_empty() || self.pending.len() == rows;
        has_rows
            && has_pending
            && (0..rows).all(|row| {
                let jobs = self.starts[row + 1] - self.starts[row];
                let takers = &self.takers[starts[row]..starts[row + 1]];
                takers.iter().all(|taker| *taker as usize <= jobs)
            })
    }
}
