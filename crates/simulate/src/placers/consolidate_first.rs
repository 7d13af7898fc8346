//! Consolidates jobs if possible; otherwise spreads them over the nodes with the most free GPUs.

use super::{Consolidate, spread};
use crate::free::FreeGpus;
use crate::placer::Placer;
use gleaner_domain::results::schedule::Placement;

/// Places jobs like [`Consolidate`]. A job that [`Consolidate`] cannot place is spread over the nodes with the most
/// free GPUs. The original simulator also has this placer, but its version fails with an error at the first job.
#[derive(Debug, Clone, Copy)]
pub struct ConsolidateFirst;

impl Placer for ConsolidateFirst {
    fn name(&self) -> &'static str {
        "consolidate-first"
    }

    fn original_name(&self) -> &'static str {
        "consolidateFirst"
    }

    fn place(&self, free: &FreeGpus, gpus: u32) -> Option<Placement> {
        if free.total() < u64::from(gpus) {
            return None;
        }
        Consolidate
            .place(free, gpus)
            .or_else(|| spread(free, gpus, free.idlest_first()))
    }
}
