//! Cuts a log into consecutive periods, each of which can be replayed separately.

use crate::queue::RowQueue;
use crate::{EventLog, EventLogBuilder, Slice, Utc};

/// Nanoseconds in a second.
const NANOS: i128 = 1_000_000_000;

impl EventLog {
    /// The boundaries of `count` parts of equal duration: the start of the log, and the end of each part. Empty for a
    /// log without rows, or if `count` is 0.
    pub fn equal_parts(&self, count: usize) -> Vec<Utc> {
        let Some((start, span)) = self.span() else {
            return Vec::new();
        };
        if count == 0 {
            return Vec::new();
        }
        // The product may exceed 64 bits, so it is computed with 128 bits. Boundaries are rounded down to nanoseconds.
        let after = |part: usize| span * part as i128 / count as i128;
        (0..=count).map(|part| later(start, after(part))).collect()
    }

    /// The boundaries of consecutive blocks of this number of seconds, from the start of the log. An incomplete block
    /// at the end is left out. Empty if the log does not fill a block.
    pub fn whole_blocks(&self, seconds: u32) -> Vec<Utc> {
        let Some((start, span)) = self.span() else {
            return Vec::new();
        };
        let length = i128::from(seconds) * NANOS;
        let blocks = if length > 0 { span / length } else { 0 };
        if blocks == 0 {
            return Vec::new();
        }
        let bounds = 0..=blocks;
        bounds.map(|block| later(start, block * length)).collect()
    }

    /// Cuts the log at ascending times within its span. Returns a part for each pair of neighbouring bounds.
    ///
    /// The first row of a part is at its start, and lists the nodes that are idle then. The last row of a part is at
    /// its end. A row of the log at a boundary belongs to both parts. A node that leaves at the boundary leaves in the
    /// earlier part, and is busy in the later part. Each change of a node therefore occurs as a change in exactly one
    /// part. The idle node-time of all parts adds up to that of the log between the first and the last bound.
    ///
    /// For example, suppose that a node is idle from 0 to 5 s and from 8 to 10 s, and that the log is cut at 0, 6 and
    /// 10 s. In the first part, the node is idle for 5 s from the start. In the second part, it becomes idle after 2 s
    /// and stays idle for 2 s.
    pub fn cut_at(&self, bounds: &[Utc]) -> Vec<EventLog> {
        let log = self.with_rows_at(bounds);
        let part = |ends: &[Utc]| log.cut(Slice::default(), Some(ends[0]), Some(ends[1]));
        bounds.windows(2).map(part).collect()
    }

    /// The first time, and the number of nanoseconds from the first to the last time. `None` for a log without rows.
    fn span(&self) -> Option<(Utc, i128)> {
        let (first, last) = (self.times().first()?, self.times().last()?);
        Some((*first, i128::from(last.0) - i128::from(first.0)))
    }

    /// The same log, with a row at each of `times` between its first and its last row. `times` must be in ascending
    /// order. Added rows change no node.
    fn with_rows_at(&self, times: &[Utc]) -> EventLog {
        let mut out = EventLogBuilder::new(self.nodes().to_vec());
        out.set_clock(self.clock().clone());
        out.set_quality(self.quality().cloned());
        out.set_classes(self.classes().cloned());
        let mut times = times.iter().copied().peekable();
        let mut last = None;
        for (row, (time, changes)) in self.rows().enumerate() {
            while let Some(added) = times.next_if(|added| *added <= time) {
                // No row is added if the log already has a row at this time.
                let Some(before) = row.checked_sub(1).filter(|_| added < time) else {
                    continue;
                };
                if last != Some(added) {
                    out.push_row(added, []);
                    // The same jobs wait as after the previous row, and no job takes a node.
                    if let Some(queue) = self.queue(before) {
                        let (jobs, takers) = (&[][..], &[][..]);
                        out.push_queue(RowQueue {
                            jobs,
                            takers,
                            ..queue
                        });
                    }
                    last = Some(added);
                }
            }
            out.push_row(time, changes.iter().copied());
            if let Some(queue) = self.queue(row) {
                out.push_queue(queue);
            }
            last = Some(time);
        }
        out.finish_trusted()
    }
}

/// The instant `nanos` nanoseconds after `start`. `nanos` is at most the span of a log, so the sum does not overflow.
fn later(start: Utc, nanos: i128) -> Utc {
    Utc(start.0.saturating_add(nanos as i64))
}

#[cfg(test)]
mod tests;
