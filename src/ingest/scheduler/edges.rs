//! Edges in order: of named nodes, or dealt to jobs that only count theirs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader};

use super::node_set::MAX_NODES;
use super::sort::{self, Sorted, spill_error};
use crate::error::Result;
use crate::occupancy::{CountedJob, Dealer, Edge, Short};

/// Edges in order.
pub(super) enum Edges {
    /// Of named nodes.
    Named(Sorted<Edge>),
    /// Of nodes dealt to jobs.
    Dealt(Box<Dealer<Jobs>>),
}

impl Edges {
    /// Deals as many nodes as the machine has; where that is unknown, as many as were
    /// ever used at once. Returns their number too.
    pub fn deal(jobs: Sorted<CountedJob>, machine: Option<u32>) -> Result<(Self, u32)> {
        let (jobs, nodes) = match machine {
            Some(nodes) => (Jobs::Sorted(jobs), nodes),
            None => spool(jobs).map_err(spill_error)?,
        };
        Ok((Edges::Dealt(Box::new(Dealer::new(jobs, nodes))), nodes))
    }

    /// Jobs so far that got fewer nodes than they used.
    pub fn short(&self) -> Short {
        match self {
            Edges::Named(_) => Short::default(),
            Edges::Dealt(dealer) => dealer.short(),
        }
    }
}

impl Iterator for Edges {
    type Item = Result<Edge>;

    fn next(&mut self) -> Option<Self::Item> {
        let edge = match self {
            Edges::Named(edges) => edges.next(),
            Edges::Dealt(dealer) => dealer.next(),
        };
        edge.map(|edge| edge.map_err(spill_error))
    }
}

/// Jobs in order.
pub(super) enum Jobs {
    Sorted(Sorted<CountedJob>),
    /// Jobs written down once more, as they can be read from the sorter once only.
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

/// Writes the jobs down, and finds the most nodes that they used at once.
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
    // More are no machine: jobs then find too few nodes, which is counted.
    let most = most.min(MAX_NODES as u64) as u32;
    Ok((Jobs::Spooled(spooled), most))
}
