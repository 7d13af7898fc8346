//! What logs said, told as events.

use std::fmt;

use super::collector;
use super::counts::{LogCounts, Reason};
use super::edges::Edges;
use crate::domain::{Change, Clock, Time};
use crate::error::Result;
use crate::occupancy::{Hold, OccupancySummary, Window, sweep};
use crate::words::counted;

/// What logs said, ready to be told as events.
pub struct Holds {
    pub(super) nodes: Vec<String>,
    pub(super) rank: Vec<u32>,
    pub(super) edges: Edges,
    pub(super) window: Window,
    pub(super) clock: Clock,
    pub(super) log_counts: LogCounts,
    pub(super) notes: Vec<String>,
}

/// What became of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was read, used, left out and odd.
    pub log_counts: LogCounts,
    /// Number of nodes.
    pub nodes: usize,
    /// Local times of the first and last event.
    pub span: (String, String),
    /// Events, changes, and what the nodes were doing.
    pub swept: OccupancySummary,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

impl Holds {
    /// Names of the nodes, in the order of the event log.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The clock of the event log.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Tells of every event in turn: its time, and the nodes that change, by ascending index.
    ///
    /// # Errors
    /// A temporary file cannot be read, and errors of `event`.
    pub fn sweep(
        mut self,
        mut event: impl FnMut(Time, &[Change]) -> Result<()>,
    ) -> Result<Summary> {
        let clock = self.clock.clone();
        let at = |second: i64| clock.of_utc(Time::from_seconds(second));
        let edges = &mut self.edges;
        let swept = sweep(edges, &self.rank, self.window, |second, changes| {
            event(at(second), changes)
        })?;
        let span = (at(self.window.from), at(self.window.to));
        self.note_overlaps(&swept);
        self.note_short();
        Ok(Summary {
            nodes: self.nodes.len(),
            log_counts: self.log_counts,
            span: (clock.show(span.0), clock.show(span.1)),
            swept,
            notes: self.notes,
        })
    }

    fn note_overlaps(&mut self, swept: &OccupancySummary) {
        let Some((second, index)) = swept.overlaps.example else {
            return;
        };
        let place = self.rank.get(index as usize).map(|rank| *rank as usize);
        let node = place.and_then(|place| self.nodes.get(place));
        let node = node.map_or("?", String::as_str);
        let time = self.clock.of_utc(Time::from_seconds(second));
        let example = || format!("{node} at {}", self.clock.show(time));
        self.log_counts
            .note(Reason::Overlap, swept.overlaps.count, example);
    }

    fn note_short(&mut self) {
        let short = self.edges.short();
        if let Some((serial, lacked)) = short.example {
            let (file, line) = collector::place_of(serial);
            let example = || {
                format!(
                    "file {file}, line {line}: {} too few",
                    counted(lacked, "node")
                )
            };
            self.log_counts
                .note(Reason::NotEnoughFree, short.jobs, example);
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = self.swept.shares;
        let percent = |part: f64| 100.0 * part / shares.total();
        writeln!(f, "{}", self.log_counts)?;
        writeln!(f, "nodes     {}", self.nodes)?;
        writeln!(f, "from      {}\nto        {}", self.span.0, self.span.1)?;
        writeln!(
            f,
            "events    {}, of {}",
            self.swept.events,
            counted(self.swept.changes, "change")
        )?;
        write!(f, "idle      {:.2} % of node-time", percent(shares.idle))?;
        for hold in Hold::ALL {
            let share = shares.held[hold.index()];
            if share > 0.0 {
                write!(f, ", {:.2} % {}", percent(share), hold.name())?;
            }
        }
        Ok(())
    }
}
