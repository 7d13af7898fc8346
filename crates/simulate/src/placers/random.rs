//! First fit in the order of the node list.

use super::spread;
use crate::free::FreeGpus;
use crate::placer::Placer;
use gleaner_domain::results::schedule::Placement;

/// Free GPUs in the order of the node list, split over nodes as they come. Nothing is
/// drawn at random: the name is the original's.
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
