//! The original replayer's rule: the nodes that have been idle longest come first.

use gleaner_domain::Change;

use super::{Growing, NodeChoice};
use crate::allocator::nodes::NodeSet;

/// Assigns and releases nodes in the order in which they became idle, the earliest first. Tasks are
/// served in the order of admission.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrival;

impl NodeChoice for Arrival {
    fn observe(&mut self, _: &[Change], _: usize) {}

    fn release(&mut self, held: &NodeSet, count: usize, released: &mut Vec<u32>) {
        released.extend(held.iter().take(count));
    }

    fn deal(&mut self, free: &NodeSet, growing: &[Growing<'_>], dealt: &mut Vec<(usize, u32)>) {
        let mut free = free.iter();
        for (place, task) in growing.iter().enumerate() {
            let taken = free.by_ref().take(task.wanted as usize);
            dealt.extend(taken.map(|node| (place, node)));
        }
    }
}
