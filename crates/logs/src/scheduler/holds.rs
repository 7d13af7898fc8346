//! The result of reading logs, and its conversion to events.

use std::fmt;
use std::path::PathBuf;

use super::counts::{LogCounts, Reason};
use super::edges::Edges;
use super::idle;
use crate::occupancy::{Hold, OccupancySummary, Window, sweep};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_domain::{Change, Clock, Utc};

/// All holds of nodes in a log, ready to be turned into events.
pub struct Holds {
    /// Names of the nodes, in the order of the event log.
    pub(super) nodes: Vec<String>,
    /// Place of each node in `nodes`, by the node's index in `edges`.
    pub(super) rank: Vec<u32>,
    pub(super) edges: Edges,
    /// The files that were read, in order.
    pub(super) files: Vec<PathBuf>,
    pub(super) window: Window,
    pub(super) clock: Clock,
    pub(super) log_counts: LogCounts,
    pub(super) notes: Vec<String>,
}

/// Summary of a log that was converted.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was read, used, left out and odd.
    pub log_counts: LogCounts,
    /// Number of nodes.
    pub nodes: usize,
    /// Local times of the start and end of the event log, as text.
    pub span: (String, String),
    /// Number of events and changes, and the node time by state.
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

    /// Calls `event` with every event in order of time. The arguments are the time and the nodes
    /// that change, by ascending index.
    ///
    /// # Errors
    /// A temporary file cannot be read, or `event` fails.
    pub fn sweep(mut self, mut event: impl FnMut(Utc, &[Change]) -> Result<()>) -> Result<Summary> {
        let edges = &mut self.edges;
        let swept = sweep(edges, &self.rank, self.window, |second, changes| {
            event(Utc::from_seconds(second), changes)
        })?;
        let shown = |second| self.clock.show(Utc::from_seconds(second));
        let span = (shown(self.window.from), shown(self.window.to));
        self.note_overlaps(&swept);
        self.note_short();
        Ok(Summary {
            nodes: self.nodes.len(),
            log_counts: self.log_counts,
            span,
            swept,
            notes: self.notes,
        })
    }

    /// Counts the overlaps that the sweep found, with the first as the example.
    fn note_overlaps(&mut self, swept: &OccupancySummary) {
        let Some((second, index)) = swept.overlaps.example else {
            return;
        };
        let place = self.rank.get(index as usize).map(|rank| *rank as usize);
        let node = place.and_then(|place| self.nodes.get(place));
        let node = node.map_or("?", String::as_str);
        let time = Utc::from_seconds(second);
        let example = || format!("{node} at {}", self.clock.show(time));
        self.log_counts
            .note(Reason::Overlap, swept.overlaps.count, example);
    }

    /// Counts the jobs that got fewer nodes than they used, with the first as the example.
    fn note_short(&mut self) {
        let short = self.edges.short();
        if let Some((serial, lacked)) = short.example {
            let (file, line) = idle::place_of(serial);
            let example = || {
                // Files are numbered from 1.
                let file = self.files.get((file as usize).wrapping_sub(1));
                let file = file.map_or("?".into(), |file| file.display().to_string());
                format!("{file}, line {line}: {} too few", counted(lacked, "node"))
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
