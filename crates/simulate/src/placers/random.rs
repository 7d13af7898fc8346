//! Places jobs on the first free GPUs in the order of the node list.

use super::spread;
use crate::free::FreeGpus;
use crate::placer::Placer;
use gleaner_domain::results::schedule::Placement;

/// Takes free GPUs in the order of the node list, on as many nodes as needed. The name comes from the original
/// simulator, but nothing is random.
#[derive(Debug, Clone, Copy)]
pub struct Random;

impl Placer for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn place(&self, free: &FreeGpus, gpus: u32) -> Option<Placement> {
        if free.total() < u64::from(gpus) {
            return None;
        }
        spread(free, gpus, free.in_order())
    }
}
