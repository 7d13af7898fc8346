//! The free GPUs of a virtual cluster, indexed for placers.

use std::collections::BTreeSet;

use gleaner_domain::cluster::GpuSet;
use gleaner_domain::results::schedule::Placement;

/// The free GPUs of every node. Slots are in the order of the node list.
#[derive(Debug, Clone)]
pub struct FreeGpus {
    gpus_per_node: u32,
    /// Free GPUs by slot; a removed node has none.
    sets: Vec<GpuSet>,
    /// Slots of the nodes, by number of free GPUs.
    slots: Vec<BTreeSet<u32>>,
    total: u64,
}

impl FreeGpus {
    /// Creates an index of `nodes` nodes with no GPU in use.
    pub fn new(nodes: u32, gpus_per_node: u32) -> Self {
        let mut free = FreeGpus {
            gpus_per_node,
            sets: Vec::new(),
            slots: vec![BTreeSet::new(); gpus_per_node as usize + 1],
            total: 0,
        };
        for _ in 0..nodes {
            free.add_node();
        }
        free
    }

    /// Number of GPUs per node.
    pub fn gpus_per_node(&self) -> u32 {
        self.gpus_per_node
    }

    /// Number of slots, including the slots of removed nodes.
    pub fn slots(&self) -> u32 {
        self.sets.len() as u32
    }

    /// Number of free GPUs on all nodes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of free GPUs of a slot's node; 0 if the node was removed.
    pub fn on(&self, slot: u32) -> u32 {
        self.sets[slot as usize].count_ones()
    }

    /// Slots of the nodes with exactly `gpus` free GPUs, ascending.
    pub fn slots_with(&self, gpus: u32) -> impl Iterator<Item = u32> + '_ {
        self.slots[gpus as usize].iter().copied()
    }

    /// Slots with free GPUs, by descending number of free GPUs, then by ascending slot.
    pub fn idlest_first(&self) -> impl Iterator<Item = u32> + '_ {
        (1..=self.gpus_per_node)
            .rev()
            .flat_map(|gpus| self.slots_with(gpus))
    }

    /// Slots with free GPUs, ascending.
    pub fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..)
            .zip(&self.sets)
            .filter(|(_, set)| **set != 0)
            .map(|(slot, _)| slot)
    }

    /// The `gpus` free GPUs with the lowest indices on a slot's node.
    pub fn lowest(&self, slot: u32, gpus: u32) -> GpuSet {
        let mut rest = self.sets[slot as usize];
        for _ in 0..gpus {
            rest &= rest.wrapping_sub(1);
        }
        self.sets[slot as usize] ^ rest
    }

    /// Marks free GPUs as held.
    pub fn take(&mut self, placement: &Placement) {
        for &(slot, gpus) in placement {
            debug_assert_eq!(self.sets[slot as usize] & gpus, gpus);
            self.set(slot, self.sets[slot as usize] & !gpus);
        }
    }

    /// Marks held GPUs as free again.
    pub fn give(&mut self, placement: &Placement) {
        for &(slot, gpus) in placement {
            debug_assert_eq!(self.sets[slot as usize] & gpus, 0);
            self.set(slot, self.sets[slot as usize] | gpus);
        }
    }

    /// Adds a free node at the end of the list. Returns its slot.
    pub fn add_node(&mut self) -> u32 {
        let slot = self.sets.len() as u32;
        self.sets.push(0);
        self.slots[0].insert(slot);
        self.set(slot, GpuSet::MAX >> (GpuSet::BITS - self.gpus_per_node));
        slot
    }

    /// Removes a node permanently.
    pub fn remove_node(&mut self, slot: u32) {
        self.set(slot, 0);
        self.slots[0].remove(&slot);
    }

    fn set(&mut self, slot: u32, gpus: GpuSet) {
        let before = self.on(slot);
        let after = gpus.count_ones();
        self.sets[slot as usize] = gpus;
        if before != after {
            self.slots[before as usize].remove(&slot);
            self.slots[after as usize].insert(slot);
            self.total = self.total + u64::from(after) - u64::from(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example: three nodes with 4 GPUs each. One node is free, one is partly in use, and one is fully in
    // use.
    #[test]
    fn nodes_are_found_by_their_free_gpus() {
        let mut free = FreeGpus::new(3, 4);
        free.take(&vec![(0, 0b0101), (2, 0b1111)]);
        assert_eq!(free.total(), 6);
        assert_eq!(free.lowest(0, 1), 0b0010);
        assert_eq!(free.idlest_first().collect::<Vec<_>>(), [1, 0]);
        assert_eq!(free.in_order().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(free.slots_with(4).collect::<Vec<_>>(), [1]);
        assert_eq!(free.add_node(), 3);
        free.remove_node(1);
        free.give(&vec![(2, 0b0011)]);
        assert_eq!(free.idlest_first().collect::<Vec<_>>(), [3, 0, 2]);
        assert_eq!(free.total(), 8);
    }

    #[test]
    fn a_node_may_have_64_gpus() {
        let mut free = FreeGpus::new(1, 64);
        assert_eq!(free.lowest(0, 64), u64::MAX);
        free.take(&vec![(0, u64::MAX)]);
        assert_eq!(free.total(), 0);
    }
}
