//! The batch queue behind an event log: the number of waiting jobs at each row, and the job that took each node.

use crate::{EventLog, EventLogBuilder, Utc};

/// The number of jobs that waited for nodes, and the number of nodes that they requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pending {
    /// Number of jobs.
    pub jobs: u64,
    /// Total number of nodes that the jobs requested.
    pub nodes: u64,
}

/// The batch queue at a row of an event log.
#[derive(Debug, Clone, Copy)]
pub struct RowQueue<'a> {
    /// The jobs that waited at the end of the row's second; `None` if the log has no submissions.
    pub pending: Option<Pending>,
    /// For each job that took nodes in this row, the number of nodes that the job used in total.
    pub jobs: &'a [u32],
    /// For each change of the row, the job that took the node: the job's index in `jobs`, plus 1. 0 if no job took the
    /// node.
    pub takers: &'a [u32],
}

/// The batch queue at each row of an event log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    /// One entry per row; empty if the log has no submissions.
    pending: Vec<Pending>,
    /// The jobs of row i are `jobs[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    jobs: Vec<u32>,
    /// One entry per change of the log, in the format of [`RowQueue::takers`].
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

    /// The queue at a row. `changes` is the range of the row's changes in the log.
    pub(crate) fn row(&self, row: usize, changes: std::ops::Range<usize>) -> RowQueue<'_> {
        RowQueue {
            pending: self.pending.get(row).copied(),
            jobs: &self.jobs[self.starts[row]..self.starts[row + 1]],
            takers: &self.takers[changes],
        }
    }

    /// Whether the queue has an entry for each row and each change, and whether each change refers to a job of its own
    /// row or to no job. `starts` contains the index of each row's first change, followed by the number of changes.
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

impl EventLog {
    /// The share of the idle node-time during which jobs waited for nodes, according to the queue at each row. `None`
    /// if the log has no queue or no node is idle.
    pub fn idle_share_while_queued(&self) -> Option<f64> {
        let (mut idle, mut all, mut queued) = (0i64, 0.0, 0.0);
        for row in 1..self.len() {
            let pending = self.queue(row - 1)?.pending?;
            idle += self.net_joined(row - 1);
            let seconds = self.times()[row].seconds_since(self.times()[row - 1]);
            all += idle as f64 * seconds;
            if pending.jobs > 0 {
                queued += idle as f64 * seconds;
            }
        }
        (all > 0.0).then(|| queued / all)
    }

    /// Removes from the log all fragments shorter than `seconds`: their nodes stay busy. Fragments that are cut off by
    /// the start or end of the log are kept, because they may last longer than the log shows. Rows without changes are
    /// left out, except the first and the last row.
    pub fn without_short_fragments(&self, seconds: f64) -> EventLog {
        let ignored = self.short_fragments(seconds);
        let mut out = EventLogBuilder::new(self.nodes().to_vec());
        out.set_clock(self.clock().clone());
        out.set_quality(self.quality().cloned());
        out.set_classes(self.classes().cloned());
        let (mut first, mut kept, mut takers) = (0, Vec::new(), Vec::new());
        for (row, (time, changes)) in self.rows().enumerate() {
            kept.clear();
            takers.clear();
            let queue = self.queue(row);
            for (index, change) in changes.iter().enumerate() {
                if !ignored[first + index] {
                    kept.push(*change);
                    takers.extend(queue.map(|queue| queue.takers[index]));
                }
            }
            first += changes.len();
            if row > 0 && row + 1 < self.len() && kept.is_empty() {
                continue;
            }
            out.push_row(time, kept.iter().copied());
            if let Some(queue) = queue {
                out.push_queue(RowQueue {
                    takers: &takers,
                    ..queue
                });
            }
        }
        out.finish_trusted()
    }

    /// For each change, whether it begins or ends a fragment shorter than `seconds`.
    fn short_fragments(&self, seconds: f64) -> Vec<bool> {
        let mut ignored = vec![false; self.change_count()];
        // For each idle node, the index and the time of the change that began its fragment.
        let mut began: Vec<Option<(usize, Utc)>> = vec![None; self.nodes().len()];
        let mut index = 0;
        for (row, (time, changes)) in self.rows().enumerate() {
            for change in changes {
                let node = &mut began[change.node() as usize];
                if change.idle() {
                    *node = (row > 0).then_some((index, time));
                } else if let Some((start, from)) = node.take()
                    && time.seconds_since(from) < seconds
                {
                    ignored[start] = true;
                    ignored[index] = true;
                }
                index += 1;
            }
        }
        ignored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Change;

    /// Two nodes with fragments from 0 to 100 s (cut off), from 200 to 230 s and from 210 to 300 s. A job waits from
    /// 200 to 210 s.
    fn log() -> EventLog {
        let mut log = EventLogBuilder::new(vec!["a".into(), "b".into()]);
        type Row<'r> = (i64, &'r [(u32, bool)], u64);
        let rows: [Row<'_>; 6] = [
            (0, &[(0, true)], 0),
            (100, &[(0, false)], 0),
            (200, &[(0, true)], 1),
            (210, &[(1, true)], 0),
            (230, &[(0, false)], 0),
            (300, &[(1, false)], 0),
        ];
        for (second, changes, jobs) in rows {
            let changes = changes.iter().map(|(node, idle)| Change::new(*node, *idle));
            log.push_row(Utc::from_seconds(second), changes);
            log.push_queue(RowQueue {
                pending: Some(Pending { jobs, nodes: jobs }),
                jobs: &[1],
                takers: &[u32::from(second == 230)],
            });
        }
        log.finish().unwrap()
    }

    // A job waits during 10 of 220 idle node-seconds.
    #[test]
    fn idle_time_with_a_queue_is_counted() {
        let log = log();
        assert_eq!(log.idle_node_seconds(), 220.0);
        assert_eq!(log.idle_share_while_queued(), Some(10.0 / 220.0));
    }

    #[test]
    fn short_fragments_are_left_out_with_their_takers() {
        let longer = log().without_short_fragments(31.0);
        let seconds: Vec<i64> = longer
            .times()
            .iter()
            .map(|time| time.0 / 1_000_000_000)
            .collect();
        assert_eq!(seconds, [0, 100, 210, 300]);
        assert_eq!(longer.idle_node_seconds(), 190.0);
        assert_eq!(longer.queue(3).unwrap().takers, [0]);
        assert_eq!(log().without_short_fragments(30.0), log());
        // The first fragment may have begun before the log.
        assert_eq!(
            log().without_short_fragments(1000.0).idle_node_seconds(),
            100.0
        );
    }
}
