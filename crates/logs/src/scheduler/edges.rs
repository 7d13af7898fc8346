//! Edges in order of time. The log names their nodes, or it states only node counts and nodes are
//! assigned to the jobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader};

use super::bounded::Bounded;
use super::node_set::MAX_NODES;
use super::sort::{self, Sorted, spill_error};
use crate::occupancy::{CountedJob, Dealer, Edge, Event, OccupancySummary, Short, Window, sweep};
use gleaner_domain::UnknownNodes;
use gleaner_domain::error::Result;

/// The edges of all holds in order.
pub(super) enum Edges {
    /// The log names the nodes.
    Named(Sorted<Edge>),
    /// The log names the nodes, but some jobs list fewer than they used.
    Bounded(Box<Bounded>),
    /// The log states only node counts; jobs are assigned free nodes.
    Dealt(Box<Dealer<Jobs>>),
}

impl Edges {
    /// Assigns nodes to jobs. If the size of the machine is unknown, it is assumed to be the
    /// largest number of nodes that were in use at once. Also returns the number of nodes.
    pub fn deal(jobs: Sorted<CountedJob>, machine: Option<u32>) -> Result<(Self, u32)> {
        let (jobs, nodes) = match machine {
            Some(nodes) => (Jobs::Sorted(jobs), nodes),
            None => spool(jobs).map_err(spill_error)?,
        };
        Ok((Edges::Dealt(Box::new(Dealer::new(jobs, nodes))), nodes))
    }

    /// The jobs so far that got fewer nodes than the log states.
    pub fn short(&self) -> Short {
        match self {
            Edges::Named(_) | Edges::Bounded(_) => Short::default(),
            Edges::Dealt(dealer) => dealer.short(),
        }
    }

    /// Sweeps over the edges of a log that shows unknown nodes like this. Only [`Edges::Bounded`] can be swept more
    /// than once.
    pub fn sweep(
        &mut self,
        rank: &[u32],
        window: Window,
        shown: UnknownNodes,
        event: impl FnMut(Event<'_>) -> Result<()>,
    ) -> Result<OccupancySummary> {
        let is_unknown_idle = shown != UnknownNodes::Busy;
        let checked = |edge: io::Result<Edge>| edge.map_err(spill_error);
        match self {
            Edges::Named(edges) => sweep(edges.map(checked), rank, window, false, event),
            Edges::Dealt(dealer) => sweep(dealer.map(checked), rank, window, false, event),
            Edges::Bounded(bounded) => {
                let edges = bounded.edges(shown)?.map(checked);
                sweep(edges, rank, window, is_unknown_idle, event)
            }
        }
    }
}

/// Jobs in order of their starts.
pub(super) enum Jobs {
    Sorted(Sorted<CountedJob>),
    /// Jobs written to another temporary file, because those in the sorter can be read only once.
    Spooled(BufReader<File>),
}

impl Iterator for Jobs {
    type Item = io::Result<CountedJob>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Jobs::Sorted(jobs) => jobs.next(),
            Jobs::Spooled(file) => sort::read(file).transpose(),
        }
    }
}

/// Writes the jobs to a temporary file, and finds the largest number of nodes in use at once. Jobs
/// come in order of start. At each start, the jobs that have ended by then are removed first. The
/// maximum is always reached at a start. For example, jobs of 3 nodes from 0 to 10, 4 from 5 to 20
/// and 2 from 10 to 15 use 3, 7 and 6 nodes at their starts: the maximum is 7.
fn spool(jobs: Sorted<CountedJob>) -> io::Result<(Jobs, u32)> {
    let mut running = BinaryHeap::new();
    let (mut used, mut most) = (0u64, 0u64);
    let counted = jobs.inspect(|job| {
        let Ok(job) = job else {
            return;
        };
        while let Some(Reverse((end, nodes))) = running.peek().copied()
            && end <= job.start
        {
            running.pop();
            used -= u64::from(nodes);
        }
        used += u64::from(job.nodes);
        most = most.max(used);
        running.push(Reverse((job.end, job.nodes)));
    });
    let spooled = sort::spool(counted)?;
    // A machine has at most `MAX_NODES`. Jobs beyond that get too few nodes, which is counted.
    let most = most.min(MAX_NODES as u64) as u32;
    Ok((Jobs::Spooled(spooled), most))
}
