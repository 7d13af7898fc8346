//! The polls of a day, as the notebooks count them.

use std::path::Path;

use gleaner_domain::error::{Fault, Result};
use gleaner_io::Loaded;
use gleaner_io::input::Input;
use gleaner_io::source::Source;
use gleaner_logs::polls::{Poll, StateClass, each_poll};

/// The polls, and the spans during which the polls show a node as idle.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// Times of the polls, in seconds since 1970.
    pub times: Vec<i64>,
    /// Number of idle nodes in each poll, including nodes with pilots.
    pub free: Vec<u64>,
    /// Number of nodes with pilots in each poll.
    pub pilots: Vec<u64>,
    /// The spans during which a node is idle in every poll.
    pub runs: Vec<Run>,
    /// Number of nodes: the highest number in the names of the nodes that were ever idle, plus 1.
    pub height: u64,
}

/// A span during which a node is idle in every poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The first poll in which the node is idle.
    pub from: usize,
    /// The first poll after the span, or the number of polls if the span lasts until the last poll.
    pub to: usize,
}

impl Run {
    /// Number of polls in which the node is idle.
    pub fn polls(self) -> u64 {
        (self.to - self.from) as u64
    }
}

impl Polls {
    /// Reads a file of polls.
    ///
    /// # Errors
    /// The file cannot be read, or it has fewer than two polls or no idle nodes.
    pub fn read(path: &Path) -> Result<Loaded<Self>> {
        let source = Source::open(path)?;
        let mut polls = Polls::default();
        // The last span of each node; `None` for a node that has not been idle.
        let mut last: Vec<Option<Run>> = Vec::new();
        let input = Input::new(path, source.reader()?);
        let read = each_poll([input], |poll| {
            polls.take(poll, &mut last);
            Ok(())
        })?;
        let idle = read
            .names
            .iter()
            .zip(&last)
            .filter(|(_, run)| run.is_some());
        polls.height = idle
            .filter_map(|(name, _)| number(name))
            .max()
            .map_or(0, |most| most + 1);
        polls.runs.extend(last.into_iter().flatten());
        if polls.times.len() < 2 || polls.idle() == 0 {
            let found = format!(
                "{} polls with {} idle nodes",
                polls.times.len(),
                polls.idle()
            );
            return Err(Fault::of(path, found, "at least two polls with idle nodes").into());
        }
        Ok(source.loaded(polls))
    }

    fn take(&mut self, poll: &Poll<'_>, last: &mut Vec<Option<Run>>) {
        let now = self.times.len();
        let (mut free, mut pilots) = (0, 0);
        for &(node, class) in poll.nodes {
            if !matches!(class, StateClass::Idle | StateClass::Pilot) {
                continue;
            }
            free += 1;
            pilots += u64::from(class == StateClass::Pilot);
            let node = node as usize;
            if last.len() <= node {
                last.resize(node + 1, None);
            }
            let begun = Run {
                from: now,
                to: now + 1,
            };
            match &mut last[node] {
                Some(run) if run.to == now => run.to = now + 1,
                run => self.runs.extend(run.replace(begun)),
            }
        }
        self.times.push(poll.time);
        self.free.push(free);
        self.pilots.push(pilots);
    }

    /// Mean time between polls, in seconds.
    pub fn interval(&self) -> f64 {
        let span = self.times[self.times.len() - 1] - self.times[0];
        span as f64 / (self.times.len() - 1) as f64
    }

    /// Number of idle nodes, summed over all polls.
    pub fn idle(&self) -> u64 {
        self.free.iter().sum()
    }

    /// Lengths of the spans, in polls.
    pub fn run_lengths(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().map(|run| run.polls())
    }

    /// Lengths of the spans in seconds, as in an event log of these polls. A span begins at the first poll that shows
    /// the node as idle. The span ends at the first poll that does not, or at the last poll.
    pub fn run_seconds(&self) -> impl Iterator<Item = u64> {
        let last = self.times.len() - 1;
        self.runs
            .iter()
            .map(move |run| self.times[run.to.min(last)].abs_diff(self.times[run.from]))
    }
}

/// The number in a node's name, such as 16 in `p0016`.
fn number(name: &str) -> Option<u64> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}
