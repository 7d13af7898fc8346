//! Sorts the edges of a log by time. If the log states only node counts, first assigns nodes to the jobs.

use std::fs::File;
use std::io::{self, BufReader};

use super::bounded::Bounded;
use super::node_set::MAX_NODES;
use super::sort::{self, Sorted, spill_error};
use crate::occupancy::{
    CountedIdle, CountedJob, Dealer, Edge, Event, InUse, OccupancySummary, Short, Window, sweep,
};
use gleaner_domain::UnknownNodes;
use gleaner_domain::error::Result;

/// The edges of all holds, in chronological order.
pub(super) enum Edges {
    /// The log names the nodes.
    Named(Sorted<Edge>),
    /// The log names the nodes, but some jobs list fewer than they used.
    Bounded(Box<Bounded>),
    /// The log states only node counts, so jobs are assigned free nodes.
    Dealt(Box<Dealer<Jobs>>),
}

impl Edges {
    /// Assigns nodes to jobs. If the size of the machine is unknown, it is assumed to be the largest number of nodes in
    /// use at the same time.
    pub fn deal(
        jobs: Sorted<CountedJob>,
        machine: Option<u32>,
        shared: Option<SharedNodes>,
    ) -> Result<Dealt> {
        let mut idle = None;
        let (jobs, nodes) = match (machine, shared) {
            (Some(nodes), None) => (Jobs::Sorted(jobs), nodes),
            (Some(nodes), Some(shared)) => {
                let mut bounds = CountedIdle::new(nodes, shared.cores_per_node, shared.window);
                let jobs = spool(jobs, |job| bounds.start(job)).map_err(spill_error)?;
                idle = Some(bounds.finish());
                (jobs, nodes)
            }
            (None, _) => {
                // The maximum is always reached at a start. For example, jobs use 3 nodes from second 0 to 10, 4 from 5
                // to 20, and 2 from 10 to 15. At their starts, 3, 7 and 6 nodes are in use, so the maximum is 7.
                let (mut used, mut most) = (InUse::default(), 0);
                let jobs = spool(jobs, |job| {
                    used.end_until(job.start);
                    used.start(job, 0);
                    most = used.nodes.max(most);
                });
                // A machine has at most `MAX_NODES` nodes. Jobs that get too few nodes because of this limit are
                // counted.
                (
                    jobs.map_err(spill_error)?,
                    most.min(MAX_NODES as u64) as u32,
                )
            }
        };
        Ok(Dealt {
            edges: Edges::Dealt(Box::new(Dealer::new(jobs, nodes))),
            nodes,
            idle,
        })
    }

    /// The number of jobs that have started so far on fewer nodes than the log states, with an example.
    pub fn short(&self) -> Short {
        match self {
            Edges::Named(_) | Edges::Bounded(_) => Short::default(),
            Edges::Dealt(dealer) => dealer.short(),
        }
    }

    /// Sweeps over the edges for an event log that shows unknown nodes as `shown` specifies. Only [`Edges::Bounded`]
    /// can be swept more than once.
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

/// The edges of jobs that were assigned nodes.
pub(super) struct Dealt {
    pub edges: Edges,
    /// Number of nodes of the machine.
    pub nodes: u32,
    /// The lower and the upper bound on the idle time, in node-seconds, if jobs share nodes and state their cores.
    pub idle: Option<(u64, u64)>,
}

/// The settings for bounding the idle time of nodes that jobs share. The jobs must state their cores.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedNodes {
    pub cores_per_node: u32,
    pub window: Window,
}

/// Jobs, sorted by start.
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

/// Writes the jobs to a temporary file, so that they can be read again, and passes each of them to `each`.
fn spool(jobs: Sorted<CountedJob>, mut each: impl FnMut(&CountedJob)) -> io::Result<Jobs> {
    let seen = jobs.inspect(|job| job.iter().for_each(&mut each));
    sort::spool(seen).map(Jobs::Spooled)
}
