//! Converts polls to times at which nodes become idle or busy.
//!
//! A node is assumed to change at the first poll that shows its new state. The state holds until the next poll that
//! mentions the node. If the time until that poll exceeds the longest allowed gap, the node keeps its state for only
//! one interval. After this interval, its state is unknown until that poll. For example, polls are 15 s apart, the
//! longest allowed gap is 75 s, and a node is idle in the polls at 0, 15 and 115 s. It is idle from 0 to 30 s, its
//! state is unknown from 30 to 115 s, and it is idle again from 115 s.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::machine::Machine;
use super::reader::Poll;
use super::states::StateClass;
use crate::occupancy::{Edge, Hold, NodeRange, Window};
use crate::scheduler::{Sorted, Sorter};
use gleaner_domain::error::Result;

/// The settings for converting polls to changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    /// Median interval of the polls, in seconds.
    pub interval: i64,
    /// Maximum gap between two successive polls that mention a node, in seconds; at least `interval`. In a longer gap,
    /// the node's state is unknown after one interval.
    pub max_gap: i64,
    /// Whether unknown nodes are shown as idle.
    pub is_unknown_idle: bool,
    /// Whether powered-down nodes count as idle.
    pub is_powered_down_idle: bool,
    /// Seed for the random times of changes. If set, a node changes at a random time between the poll
    /// that shows the change and the previous poll that mentions the node.
    pub spread: Option<u64>,
    /// The time span in which node-time is counted.
    pub window: Window,
}

impl Rules {
    fn is_idle(&self, class: StateClass) -> bool {
        class.is_idle(self.is_powered_down_idle)
    }
}

/// The history of a node so far.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Time of the last poll that mentions the node; `None` before the first such poll.
    last: Option<i64>,
    /// The class of the node at that time.
    class: StateClass,
    /// Whether the event log shows the node as idle after its last change. A node is idle unless an edge
    /// marks it as busy, so the initial value is true.
    is_shown_idle: bool,
}

/// Converts polls, which must come in chronological order.
pub(super) struct Timeline {
    rules: Rules,
    rng: ChaCha8Rng,
    nodes: Vec<Node>,
    machine: Machine,
    /// The nodes that the last poll lists, if that poll gives a class to all other nodes.
    listed: Vec<u32>,
    /// Times of the first and the last poll so far.
    span: Option<(i64, i64)>,
    busy: Edges,
    unknown: Edges,
    /// Node-seconds by class, in the order of [`StateClass::ALL`].
    seconds: [u64; StateClass::ALL.len()],
}

/// The states of nodes from the first poll to the last, as polls show them.
pub(super) struct Timed {
    /// Starts and ends of the spans during which nodes are not idle.
    pub busy: Sorted<Edge>,
    /// Starts and ends of the spans during which the states of nodes are unknown.
    pub unknown: Sorted<Edge>,
    /// Node-seconds by class within the window, in the order of [`StateClass::ALL`].
    pub seconds: [u64; StateClass::ALL.len()],
}

impl Timeline {
    /// Creates a timeline of the nodes of `machine`. It sorts up to `segment` edges at a time in memory.
    pub fn new(rules: Rules, machine: Machine, segment: usize) -> Self {
        let unseen = Node {
            last: None,
            class: StateClass::Busy,
            is_shown_idle: true,
        };
        Timeline {
            rng: ChaCha8Rng::seed_from_u64(rules.spread.unwrap_or_default()),
            rules,
            nodes: vec![unseen; machine.places.len()],
            machine,
            listed: Vec::new(),
            span: None,
            busy: Edges::new(segment),
            unknown: Edges::new(segment),
            seconds: [0; StateClass::ALL.len()],
        }
    }

    /// Processes a poll.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn take(&mut self, poll: &Poll<'_>) -> Result<()> {
        let time = poll.time;
        let before = self.span.map(|(_, last)| last);
        self.span.get_or_insert((time, time)).1 = time;
        // Files may have grown since the nodes were counted. Nodes that appear only in lines added since the count are
        // left out.
        let count = self.nodes.len();
        let known = || {
            poll.nodes
                .iter()
                .filter(|(node, _)| (*node as usize) < count)
        };
        for (node, class) in known() {
            if let (Some(others), Some(before)) = (poll.others, before) {
                self.catch_up(*node, others, before);
            }
            self.mention(*node, *class, time)?;
        }
        let Some(others) = poll.others else {
            return Ok(());
        };
        // A node that the poll does not list has the class `others`. Nodes that neither this poll nor the previous poll
        // lists keep this class. They are visited only after a gap, during which all nodes are unknown.
        let is_gap = before.is_none_or(|before| time - before > self.rules.max_gap);
        let mut earlier = std::mem::take(&mut self.listed);
        if is_gap {
            earlier.clear();
            earlier.extend(0..count as u32);
        }
        for node in &earlier {
            if self.nodes[*node as usize].last != Some(time) {
                if let Some(before) = before {
                    self.catch_up(*node, others, before);
                }
                self.mention(*node, others, time)?;
            }
        }
        earlier.clear();
        earlier.extend(known().map(|(node, _)| *node));
        self.listed = earlier;
        Ok(())
    }

    /// Counts the time up to the poll at `time` for a node that has had the class `others` without gaps.
    fn catch_up(&mut self, node: u32, others: StateClass, time: i64) {
        let history = &mut self.nodes[node as usize];
        if let Some(last) = history.last.filter(|last| *last < time) {
            history.last = Some(time);
            self.count(others, last, time);
        }
    }

    /// Records the class of a node in a poll.
    fn mention(&mut self, node: u32, class: StateClass, time: i64) -> Result<()> {
        let Node {
            last, class: was, ..
        } = self.nodes[node as usize];
        let is_idle = self.rules.is_idle(class);
        let known_until = self.known_until(last, was, time);
        if known_until < time {
            self.show_unknown(node, known_until, time)?;
            self.show(node, time, is_idle)?;
        } else if let Some(last) = last.filter(|_| self.rules.is_idle(was) != is_idle) {
            let at = match self.rules.spread {
                Some(_) => self.rng.random_range(last + 1..=time),
                None => time,
            };
            self.show(node, at, is_idle)?;
        } else {
            self.show(node, time, is_idle)?;
        }
        let history = &mut self.nodes[node as usize];
        (history.last, history.class) = (Some(time), class);
        Ok(())
    }

    /// Returns the time up to which the state of a node is known, at most `time`. Also counts the node's time from
    /// `last`, the time of the last poll that mentions the node, to the returned time. Before the first such poll, the
    /// state is unknown.
    fn known_until(&mut self, last: Option<i64>, class: StateClass, time: i64) -> i64 {
        let Some(last) = last else {
            return self.span.map_or(time, |(first, _)| first);
        };
        let until = if time - last > self.rules.max_gap {
            last + self.rules.interval
        } else {
            time
        };
        self.count(class, last, until);
        until
    }

    /// Counts the time of a node within the window.
    fn count(&mut self, class: StateClass, from: i64, to: i64) {
        let window = self.rules.window;
        let seconds = to.min(window.to) - from.max(window.from);
        self.seconds[class.index()] += u64::try_from(seconds).unwrap_or(0);
    }

    /// Marks a node as unknown from `from` to `to`.
    fn show_unknown(&mut self, node: u32, from: i64, to: i64) -> Result<()> {
        self.show(node, from, self.rules.is_unknown_idle)?;
        let Some(place) = self.machine.places[node as usize] else {
            return Ok(());
        };
        self.unknown.push(from, place, true)?;
        self.unknown.push(to, place, false)
    }

    /// Marks a node as idle or busy, starting at `time`.
    fn show(&mut self, node: u32, time: i64, is_idle: bool) -> Result<()> {
        let history = &mut self.nodes[node as usize];
        if history.is_shown_idle == is_idle {
            return Ok(());
        }
        history.is_shown_idle = is_idle;
        match self.machine.places[node as usize] {
            Some(place) => self.busy.push(time, place, !is_idle),
            None => Ok(()),
        }
    }

    /// Ends the timeline at the last poll.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn finish(mut self, others: Option<StateClass>) -> Result<Timed> {
        let end = self.span.map_or(0, |(_, last)| last);
        for node in 0..self.nodes.len() as u32 {
            if let Some(others) = others {
                self.catch_up(node, others, end);
            }
            let Node { last, class, .. } = self.nodes[node as usize];
            let known_until = self.known_until(last, class, end);
            if known_until < end {
                self.show_unknown(node, known_until, end)?;
            }
        }
        Ok(Timed {
            busy: self.busy.finish()?,
            unknown: self.unknown.finish()?,
            seconds: self.seconds,
        })
    }
}

/// Collects edges of single nodes, and merges the edges of consecutive nodes.
struct Edges {
    sorter: Sorter<Edge>,
    last: Option<(i64, NodeRange, bool)>,
}

impl Edges {
    fn new(segment: usize) -> Self {
        Edges {
            sorter: Sorter::new(segment),
            last: None,
        }
    }

    fn push(&mut self, second: i64, node: u32, starts: bool) -> Result<()> {
        if let Some((of, range, kind)) = &mut self.last
            && (*of, *kind, range.first + range.count) == (second, starts, node)
        {
            range.count += 1;
            return Ok(());
        }
        self.flush()?;
        let range = NodeRange {
            first: node,
            count: 1,
        };
        self.last = Some((second, range, starts));
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        match self.last.take() {
            Some((second, range, starts)) => {
                let edge = Edge::new(second, range, Hold::Running, starts, 0);
                self.sorter.push(edge)
            }
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Sorted<Edge>> {
        self.flush()?;
        self.sorter.finish()
    }
}
