//! The result of reading logs, and its conversion to events.

use std::fmt;
use std::path::PathBuf;

use super::counts::{LogCounts, Reason};
use super::edges::Edges;
use super::idle;
use super::pending::Waits;
use crate::occupancy::{Event, Hold, OccupancySummary, Window};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_domain::{Change, Clock, Quality, RowQueue, UnknownNodes, Utc};

/// All holds on nodes in a log, from which [`Holds::sweep`] makes the event log.
pub struct Holds {
    /// Names of the nodes, in the order of the event log.
    pub(super) nodes: Vec<String>,
    /// Position of each node in `nodes`, by the node's index in `edges`.
    pub(super) rank: Vec<u32>,
    pub(super) edges: Edges,
    /// The waiting jobs over time; `None` if the log has no submissions.
    pub(super) pending: Option<Waits>,
    /// The quality of the log. If the log names all nodes, the idle time is not set, because only a sweep measures it.
    pub(super) quality: Quality,
    /// The files that were read, in order.
    pub(super) files: Vec<PathBuf>,
    pub(super) window: Window,
    pub(super) clock: Clock,
    pub(super) log_counts: LogCounts,
    pub(super) notes: Vec<String>,
}

/// An event: the nodes that become idle or busy at one point in time.
#[derive(Debug, Clone, Copy)]
pub struct IdleEvent<'a> {
    /// The time at which the nodes change.
    pub time: Utc,
    /// The nodes that change, in ascending order of index.
    pub changes: &'a [Change],
    /// The waiting jobs, and the jobs that took nodes.
    pub queue: RowQueue<'a>,
}

/// Summary of a converted log.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Counts of lines that were read, used, left out or unusual.
    pub log_counts: LogCounts,
    /// Number of nodes.
    pub nodes: usize,
    /// Local times of the start and end of the event log, as text.
    pub span: (String, String),
    /// Number of events and changes, and the node-time by state.
    pub swept: OccupancySummary,
    /// The quality of the event log.
    pub quality: Quality,
    /// Notes for the user.
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

    /// The quality of the log. If the log names all nodes, the idle time is not set yet, because only a sweep measures
    /// it.
    pub fn quality(&self) -> &Quality {
        &self.quality
    }

    /// Whether the log names nodes. If not, the event log has generated names.
    pub fn are_nodes_named(&self) -> bool {
        !self.quality.are_nodes_generated
    }

    /// Calls `event` for every event, in chronological order.
    ///
    /// # Errors
    /// A temporary file cannot be read, or `event` fails.
    pub fn sweep(
        self,
        shown: UnknownNodes,
        mut event: impl FnMut(IdleEvent<'_>) -> Result<()>,
    ) -> Result<Summary> {
        let mut summaries = self.sweep_all(&[shown], |_, found| event(found))?;
        // `sweep_all` returns a summary for each element of the slice.
        Ok(summaries.remove(0))
    }

    /// Calls `event` for every event of several event logs, which show unknown nodes in different ways. The first
    /// argument is the index of the log. If the logs differ, all events of one log are reported before those of the
    /// next. If they are equal, one sweep reports each event once for every log.
    ///
    /// # Errors
    /// Same as for [`Holds::sweep`].
    pub fn sweep_all(
        mut self,
        shown: &[UnknownNodes],
        mut event: impl FnMut(usize, IdleEvent<'_>) -> Result<()>,
    ) -> Result<Vec<Summary>> {
        let is_bounded = matches!(self.edges, Edges::Bounded(_));
        let mut summaries = Vec::new();
        if is_bounded {
            for (index, shown) in shown.iter().enumerate() {
                let swept = self.pass(*shown, |found| event(index, found))?;
                summaries.push(self.summary(swept, *shown));
            }
            return Ok(summaries);
        }
        let all = 0..shown.len();
        let swept = self.pass(UnknownNodes::Busy, |found| {
            all.clone().try_for_each(|index| event(index, found))
        })?;
        Ok(shown
            .iter()
            .map(|shown| self.summary(swept, *shown))
            .collect())
    }

    /// Sweeps over the holds once, and shows unknown nodes as `shown` specifies.
    fn pass(
        &mut self,
        shown: UnknownNodes,
        mut event: impl FnMut(IdleEvent<'_>) -> Result<()>,
    ) -> Result<OccupancySummary> {
        let waits = self.pending.as_mut();
        let mut waiting = waits.map(Waits::jobs).transpose()?;
        self.edges
            .sweep(&self.rank, self.window, shown, |found: Event<'_>| {
                event(IdleEvent {
                    time: Utc::from_seconds(found.second),
                    changes: found.changes,
                    queue: RowQueue {
                        pending: match &mut waiting {
                            Some(waiting) => Some(waiting.at(found.second)?),
                            None => None,
                        },
                        jobs: found.jobs,
                        takers: found.takers,
                    },
                })
            })
    }

    /// The summary of an event log that a sweep reported, in which unknown nodes are shown as `shown` specifies.
    fn summary(&mut self, swept: OccupancySummary, shown: UnknownNodes) -> Summary {
        self.note_overlaps(&swept);
        self.note_short();
        let text = |second| self.clock.show(Utc::from_seconds(second));
        let known = match self.edges {
            Edges::Bounded(_) => self.quality.clone(),
            Edges::Dealt(_) if self.quality.idle_upper > 0 => self.quality.clone(),
            _ => Quality {
                idle_lower: swept.shares.idle as u64,
                idle_upper: swept.shares.idle as u64,
                ..self.quality.clone()
            },
        };
        Summary {
            nodes: self.nodes.len(),
            log_counts: self.log_counts.clone(),
            span: (text(self.window.from), text(self.window.to)),
            swept,
            quality: Quality {
                unknown_nodes: shown,
                are_nodes_shared: known.are_nodes_shared || swept.overlaps.count > 0,
                ..known
            },
            notes: self.notes.clone(),
        }
    }

    /// Counts the overlaps that the sweep found, and keeps the first as the example.
    fn note_overlaps(&mut self, swept: &OccupancySummary) {
        let Some((second, index)) = swept.overlaps.example else {
            return;
        };
        let place = self.rank.get(index as usize).map(|rank| *rank as usize);
        let node = place.and_then(|place| self.nodes.get(place));
        let node = node.map_or("?", String::as_str);
        let time = Utc::from_seconds(second);
        let example = || format!("{node} at {}", self.clock.show(time));
        // Every sweep finds the same overlaps, so the count of an earlier sweep is replaced.
        self.log_counts.found.remove(&Reason::Overlap);
        self.log_counts
            .note(Reason::Overlap, swept.overlaps.count, example);
    }

    /// Counts the jobs that got fewer nodes than they used, and keeps the first as the example.
    fn note_short(&mut self) {
        let short = self.edges.short();
        if let Some((serial, lacked)) = short.example {
            let place = idle::shown_place(&self.files, serial);
            let example = || format!("{place}: {} too few", counted(lacked, "node"));
            self.log_counts.found.remove(&Reason::NotEnoughFree);
            self.log_counts
                .note(Reason::NotEnoughFree, short.jobs, example);
        }
    }
}

/// Writes the lines about the size of an event log: nodes, start and end, numbers of events and changes.
pub fn write_size(
    f: &mut fmt::Formatter<'_>,
    nodes: usize,
    (from, to): &(String, String),
    (events, changes): (u64, u64),
) -> fmt::Result {
    writeln!(f, "nodes     {nodes}\nfrom      {from}\nto        {to}")?;
    writeln!(f, "events    {events}, of {}", counted(changes, "change"))
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shares = self.swept.shares;
        if self.quality.unknown_nodes != UnknownNodes::Busy {
            // Unknown nodes that were not assigned to a job are shown as idle in this log.
            shares.idle += std::mem::take(&mut shares.held[Hold::Unknown.index()]);
        }
        let percent = |part: f64| 100.0 * part / shares.total();
        writeln!(f, "{}", self.log_counts)?;
        let swept = &self.swept;
        write_size(f, self.nodes, &self.span, (swept.events, swept.changes))?;
        write!(f, "idle      {:.2} % of node-time", percent(shares.idle))?;
        for hold in Hold::ALL {
            let share = shares.held[hold.index()];
            if share > 0.0 {
                write!(f, ", {:.2} % {}", percent(share), hold.name())?;
            }
        }
        for sentence in self.quality.sentences() {
            write!(f, "\nquality   {sentence}")?;
        }
        Ok(())
    }
}
