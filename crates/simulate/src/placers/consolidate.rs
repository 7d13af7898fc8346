//! Places large jobs on whole nodes, and small jobs where they fit most tightly.

use crate::free::FreeGpus;
use crate::placer::Placer;
use gleaner_domain::results::schedule::Placement;

/// A job that fits on one node is placed on the node with the fewest free GPUs among those with enough free GPUs. A
/// larger job gets whole free nodes, and its remaining GPUs come from the node with the most free GPUs among the other
/// nodes.
#[derive(Debug, Clone, Copy)]
pub struct Consolidate;

impl Placer for Consolidate {
    fn name(&self) -> &'static str {
        "consolidate"
    }

    fn splits(&self) -> bool {
        false
    }

    fn place(&self, free: &FreeGpus, gpus: u32) -> Option<Placement> {
        let node = free.gpus_per_node();
        if gpus <= node {
            let slot = (gpus..=node).find_map(|count| free.slots_with(count).next())?;
            return Some(vec![(slot, free.lowest(slot, gpus))]);
        }
        let (whole, rest) = ((gpus / node) as usize, gpus % node);
        let mut placement = Placement::with_capacity(whole + 1);
        let mut slots = free.idlest_first();
        for slot in slots.by_ref().take(whole) {
            if free.on(slot) < node {
                return None;
            }
            placement.push((slot, free.lowest(slot, node)));
        }
        if placement.len() < whole {
            return None;
        }
        if rest > 0 {
            let slot = slots.next().filter(|&slot| free.on(slot) >= rest)?;
            placement.push((slot, free.lowest(slot, rest)));
        }
        Some(placement)
    }
}
