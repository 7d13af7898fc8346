//! The edges of a log in which some jobs list fewer nodes than they used, and the bounds on its idle time.

use std::io;

use super::collector::Log;
use super::short::{ShortJobs, too_many};
use super::sort::{Sorted, Stored, spill_error};
use crate::occupancy::bounds::{Settled, ShortJob, candidates, deal, hold, settle};
use crate::occupancy::{Edge, Hold, Window, sweep};
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::words::counted;
use gleaner_domain::{Observer, Quality, UnknownNodes};

/// The edges of all holds: the holds that the log states, and the holds on nodes that jobs used but do not list. The
/// edges can be read several times.
pub(super) struct Bounded {
    /// The holds that the log states.
    known: Stored<Edge>,
    /// The holds on the candidates of short jobs: the nodes that these jobs can have used without listing them. A
    /// settled job certainly used all of its candidates. For other short jobs, it is unknown which of their candidates
    /// they used.
    candidates: Vec<Edge>,
    /// The holds on the unknown nodes that [`deal`] assigns to jobs.
    dealt: Vec<Edge>,
}

impl Bounded {
    /// Computes bounds on the idle time of `nodes` nodes in a window. `rank` contains the position of each node in the
    /// event log. Also returns the quality of the log. Adds notes to `log`: on contradictions in the log, on settled
    /// jobs, and on unknown nodes that could not be assigned.
    ///
    /// # Errors
    /// A temporary file cannot be read or written, the unknown nodes do not fit in memory, or `observer` stops
    /// the reading.
    pub fn new(
        edges: Sorted<Edge>,
        short: &ShortJobs,
        rank: &[u32],
        window: Window,
        log: &mut Log,
        observer: &dyn Observer,
    ) -> Result<(Self, Quality)> {
        let mut known = Stored::new(edges)?;
        let jobs = short.jobs();
        let found = candidates(
            stoppable(known.pass()?, observer),
            rank.len(),
            &jobs,
            window,
        )?;
        let Ok(mut found) = found else {
            let found = "more unknown nodes than fit in 256 MiB".to_owned();
            return Err(too_many(log, found));
        };
        let mut settled = settle(&jobs, &mut found.nodes);
        if settled.contradictions > 0 {
            log.notes.push(format!(
                "{} used more nodes than were free: jobs share nodes, or the log contradicts itself",
                counted(settled.contradictions, "job")
            ));
        }
        if found.are_nodes_shared {
            // No job is settled, because a job may have shared nodes with others instead of using all its candidates.
            settled.is_settled.fill(false);
        }
        let dealt = deal(&jobs, &found.nodes, &settled, rank);
        log.notes.extend(settled_note(&jobs, &settled, window));
        log.notes
            .extend(undealt_note(&jobs, &dealt, &settled, window));
        let mut bounded = Bounded {
            known,
            candidates: Vec::new(),
            dealt: Vec::new(),
        };
        for (index, job) in jobs.iter().enumerate() {
            let why = if settled.is_settled[index] {
                Hold::Running
            } else {
                Hold::Unknown
            };
            hold(&mut bounded.candidates, job, &found.nodes[index], why);
            hold(&mut bounded.dealt, job, &dealt[index], Hold::Running);
        }
        bounded.candidates.sort_unstable();
        bounded.dealt.sort_unstable();
        let quality = bounded.measure(rank, window, observer)?;
        let lacking = short.lacking(window);
        let counted = found.idle_counted.filter(|_| found.are_nodes_shared);
        let quality = Quality {
            idle_lower: quality.idle_lower.min(counted.unwrap_or(u64::MAX)),
            idle_counted: found.idle_counted,
            are_nodes_shared: found.are_nodes_shared,
            unreadable: lacking.unreadable,
            shortened: lacking.shortened,
            missing: lacking.missing,
            ..quality
        };
        Ok((bounded, quality))
    }

    /// Measures how much node-time is certainly idle, and how much is unknown.
    fn measure(
        &mut self,
        rank: &[u32],
        window: Window,
        observer: &dyn Observer,
    ) -> Result<Quality> {
        let edges = stoppable(self.edges(UnknownNodes::Busy)?, observer);
        let shares = sweep(edges, rank, window, false, |_| Ok(()))?.shares;
        let (idle, unknown) = (
            shares.idle as u64,
            shares.held[Hold::Unknown.index()] as u64,
        );
        Ok(Quality {
            idle_upper: idle + unknown,
            unknown,
            ..Quality::certain(idle)
        })
    }

    /// Returns the edges in chronological order, for an event log that shows unknown nodes as `shown` specifies.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn edges(&mut self, shown: UnknownNodes) -> Result<impl Iterator<Item = io::Result<Edge>>> {
        let dealt = match shown {
            UnknownNodes::Deal => &self.dealt[..],
            UnknownNodes::Busy | UnknownNodes::Idle => &[],
        };
        let added = |edges| std::iter::Iterator::map(<[Edge]>::iter(edges), |edge| Ok(*edge));
        let candidates = added(&self.candidates[..]);
        Ok(merge(merge(self.known.pass()?, candidates), added(dealt)))
    }
}

/// A note on the number of settled short jobs, each of which used all nodes that were free during its whole run.
fn settled_note(jobs: &[ShortJob], settled: &Settled, window: Window) -> Option<String> {
    let ran = jobs.iter().zip(&settled.is_settled);
    let ran = ran.filter(|(job, _)| job.seconds_in(window) > 0);
    let of = ran.clone().count();
    let settled = ran.filter(|(_, is_settled)| **is_settled).count();
    (settled > 0).then(|| {
        let of = counted(of, "job");
        format!(
            "{settled} of {of} with too few listed nodes: all their nodes are known, because no others were free"
        )
    })
}

/// A note on unknown nodes that could not be assigned. A job is assigned nodes that are free during its whole run. If
/// jobs that started earlier were assigned too many of these nodes, the job gets fewer nodes than it used.
fn undealt_note(
    jobs: &[ShortJob],
    dealt: &[Vec<u32>],
    settled: &Settled,
    window: Window,
) -> Option<String> {
    let open = jobs.iter().zip(dealt).zip(&settled.is_settled);
    let open = open.filter(|(_, is_settled)| !**is_settled);
    let undealt = open.map(|((job, dealt), _)| {
        let lacking = u64::from(job.lacking.unwrap_or(1));
        let undealt = lacking.saturating_sub(dealt.len() as u64);
        undealt.saturating_mul(job.seconds_in(window))
    });
    let undealt = undealt.fold(0, u64::saturating_add);
    (undealt > 0).then(|| {
        let hours = undealt as f64 / 3600.0;
        format!(
            "{hours:.1} node-hours of jobs could not be assigned to nodes: --unknown deal shows this time as idle"
        )
    })
}

/// Passes the edges on, and returns an error once `observer` stops the reading.
fn stoppable(
    edges: impl Iterator<Item = io::Result<Edge>>,
    observer: &dyn Observer,
) -> impl Iterator<Item = Result<Edge>> {
    edges.enumerate().map(|(index, edge)| {
        if index % (1 << 16) == 0 {
            check_stop(observer)?;
        }
        edge.map_err(spill_error)
    })
}

/// Merges two sorted sequences. An error is returned as soon as it is found.
fn merge<A, B>(a: A, b: B) -> impl Iterator<Item = io::Result<Edge>>
where
    A: Iterator<Item = io::Result<Edge>>,
    B: Iterator<Item = io::Result<Edge>>,
{
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let is_first = match (a.peek(), b.peek()) {
            (Some(Err(_)), _) => true,
            (_, Some(Err(_))) => false,
            (Some(Ok(a)), Some(Ok(b))) => a <= b,
            (a, _) => a.is_some(),
        };
        if is_first { a.next() } else { b.next() }
    })
}
