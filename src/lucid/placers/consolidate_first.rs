//! Consolidated where that is possible, else spread over the idlest nodes.

use super::{Consolidate, spread};
use crate::lucid::free::FreeGpus;
use crate::lucid::placer::Placer;
use crate::lucid::schedule::Placement;

/// As [`Consolidate`], and where that finds nothing, over the nodes with the most free
/// GPUs. The original has it too, but ends there at the first job.
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
