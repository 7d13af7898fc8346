//! The event log built from polls, and its summary.

use std::fmt;

use super::coverage::{Coverage, coverage};
use super::intervals::Intervals;
use super::states::StateClass;
use super::timeline::Rules;
use crate::occupancy::{Edge, OccupancySummary, Window, sweep};
use crate::scheduler::{LogCounts, Sorted, spill_error, write_size};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_domain::{Change, Clock, Quality, UnknownNodes, Utc};

/// If the median interval between polls exceeds this number of seconds, a note is printed. By default, all changes
/// between two polls are shown at the later poll. This makes the efficiency of a replay too high: by 0.2 percentage
/// points at a median interval of 11 s, and by 4 points at 60 s.
const FINE: i64 = 15;

/// Polls converted to edges, from which [`PollLog::sweep`] makes the event log.
pub struct PollLog {
    pub(super) nodes: Vec<String>,
    /// Position of each node in `nodes`, by the index that edges use.
    pub(super) rank: Vec<u32>,
    pub(super) busy: Sorted<Edge>,
    pub(super) seconds: [u64; StateClass::ALL.len()],
    pub(super) coverage: Coverage,
    pub(super) rules: Rules,
    pub(super) intervals: Intervals,
    pub(super) clock: Clock,
    pub(super) log_counts: LogCounts,
    pub(super) notes: Vec<String>,
}

/// Summary of the converted polls.
#[derive(Debug, Clone, PartialEq)]
pub struct PollSummary {
    /// Counts of lines that were read, left out or faulty.
    pub log_counts: LogCounts,
    /// Number of polls, and the intervals between them.
    pub intervals: Intervals,
    /// Number of nodes.
    pub nodes: usize,
    /// Local times of the start and end of the event log, as text.
    pub span: (String, String),
    /// Number of events and changes, and the node-time by state.
    pub swept: OccupancySummary,
    /// Number of idle fragments in the event log.
    pub fragments: u64,
    /// Standard error of the idle node-time due to polling, as a share of the idle node-time. For F fragments and a
    /// mean interval of D seconds, the error is D·√(F/6) node-seconds. The reason is that polls show the start and the
    /// end of each fragment late, each by a random fraction of an interval.
    pub standard_error: f64,
    /// Node-seconds by class, according to the polls, in the order of [`StateClass::ALL`].
    pub seconds: [u64; StateClass::ALL.len()],
    /// The node-time that polls leave unknown.
    pub coverage: Coverage,
    /// Local time, as text, at which the longest span begins during which the state of the whole machine is unknown.
    pub longest_gap: Option<String>,
    /// The quality of the event log.
    pub quality: Quality,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl PollLog {
    /// Names of the nodes, in the order of the event log.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The clock of the event log.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Calls `event` for every event, in chronological order. The arguments are the time and the nodes that change, in
    /// ascending order of index.
    ///
    /// # Errors
    /// A temporary file cannot be read, or `event` fails.
    pub fn sweep(
        mut self,
        mut event: impl FnMut(Utc, &[Change]) -> Result<()>,
    ) -> Result<PollSummary> {
        let Window { from, to } = self.rules.window;
        let mut fragments = 0;
        let edges = self.busy.by_ref();
        let edges = edges.map(|edge| edge.map_err(spill_error));
        let swept = sweep(edges, &self.rank, self.rules.window, false, |found| {
            // A node that becomes idle at the end of the log does not begin a fragment.
            if found.second < to {
                let joined = found.changes.iter().filter(|change| change.idle());
                fragments += joined.count() as u64;
            }
            event(Utc::from_seconds(found.second), found.changes)
        })?;
        let idle = swept.shares.idle;
        let mean = self.intervals.mean(self.rules.max_gap);
        let error = mean * (fragments as f64 / 6.0).sqrt();
        let standard_error = if idle > 0.0 { error / idle } else { 0.0 };
        let show = |second| self.clock.show(Utc::from_seconds(second));
        self.notes.extend(coarse_note(&self.rules));
        let quality = quality(idle as u64, self.nodes.len(), self.coverage, &self.rules);
        if quality.unknown > 0 {
            self.notes.extend(quality.sentences());
        }
        Ok(PollSummary {
            intervals: self.intervals,
            nodes: self.nodes.len(),
            span: (show(from), show(to)),
            fragments,
            standard_error,
            seconds: self.seconds,
            coverage: self.coverage,
            longest_gap: self.coverage.longest.map(|(start, _)| show(start)),
            quality,
            swept,
            log_counts: self.log_counts,
            notes: self.notes,
        })
    }
}

/// Measures the unknown node-time from the starts and ends of unknown spans.
pub(super) fn measured(unknown: Sorted<Edge>, nodes: usize, window: Window) -> Result<Coverage> {
    let edges = unknown.map(|edge| edge.map_err(spill_error));
    coverage(edges, nodes as u64, window)
}

/// The quality of a log with `idle` idle node-seconds.
fn quality(idle: u64, nodes: usize, coverage: Coverage, rules: &Rules) -> Quality {
    let uncovered = coverage.uncovered * nodes as u64;
    let shown = if rules.is_unknown_idle {
        coverage.unknown + uncovered
    } else {
        0
    };
    let lower = idle.saturating_sub(shown);
    Quality {
        unknown_nodes: if rules.is_unknown_idle {
            UnknownNodes::Idle
        } else {
            UnknownNodes::Busy
        },
        idle_upper: lower + coverage.unknown,
        unknown: coverage.unknown,
        uncovered,
        // Unreadable lines are not counted here: their nodes keep their state or are unknown, so the bounds cover these
        // nodes.
        unreadable_lines: 0,
        ..Quality::certain(lower)
    }
}

/// The note on polls that are too far apart for an accurate replay.
fn coarse_note(rules: &Rules) -> Option<String> {
    let interval = rules.interval;
    (interval > FINE).then(|| match rules.spread {
        None => format!(
            "the median interval between polls is {interval} s, and all changes between two polls are shown at the \
             later one. As a result, the efficiency of a replay is too high. --times spread shows each change at a \
             random time between the two polls, but then the efficiency is too low if nodes leave in groups. Replay \
             both logs: the true efficiency is usually between the two results"
        ),
        Some(_) => format!(
            "the median interval between polls is {interval} s, and each change is shown at a random time between two \
             polls. As a result, the efficiency of a replay is too low if nodes leave in groups. With --times polled, \
             the efficiency is too high. Replay both logs: the true efficiency is usually between the two results"
        ),
    })
}

impl fmt::Display for PollSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = |seconds: f64| seconds / 3600.0;
        let of = |class: StateClass| hours(self.seconds[class.index()] as f64);
        let shares = self.swept.shares;
        let share = 100.0 * shares.idle / shares.total();
        self.log_counts.write_read(f)?;
        self.log_counts.write_found(f)?;
        write!(
            f,
            "\npolls     {}, every {} s (median; longest interval {} s)",
            self.intervals.polls(),
            self.intervals.median().unwrap_or(0),
            self.intervals.longest().unwrap_or(0)
        )?;
        writeln!(f)?;
        let swept = &self.swept;
        write_size(f, self.nodes, &self.span, (swept.events, swept.changes))?;
        writeln!(
            f,
            "idle      {:.1} node-hours ({share:.2} % of node-time) in {}, with a standard error of \
             {:.3} % from polling",
            hours(shares.idle),
            counted(self.fragments, "fragment"),
            100.0 * self.standard_error
        )?;
        writeln!(
            f,
            "  pilots    {:.1} node-hours of nodes with pilots, which count as idle",
            of(StateClass::Pilot)
        )?;
        writeln!(
            f,
            "  planned   {:.1} node-hours of nodes that backfill has planned, which count as idle",
            of(StateClass::Planned)
        )?;
        writeln!(
            f,
            "powered   {:.1} node-hours of powered-down nodes (--powered-down sets whether they are idle)",
            of(StateClass::PoweredDown)
        )?;
        write!(
            f,
            "unknown   {:.1} node-hours",
            hours(self.coverage.unknown as f64)
        )?;
        let gaps = self.coverage.gaps;
        if let (Some((_, longest)), Some(start)) = (self.coverage.longest, &self.longest_gap) {
            write!(
                f,
                "\nnot covered  {}, {:.1} h in total, during which the state of the whole \
                 machine is unknown; the longest span lasts {longest} s and begins at {start}",
                counted(gaps, "span"),
                hours(self.coverage.uncovered as f64)
            )?;
        }
        Ok(())
    }
}
