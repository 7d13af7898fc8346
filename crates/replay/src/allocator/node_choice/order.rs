//! Derives orders of nodes from their names, or from an order given by the user.

use gleaner_domain::NodeOrder;
use gleaner_domain::names::natural_order;

/// Indices of the nodes in the natural order of their names. If no name contains a number, the
/// names say nothing about the positions of nodes, so the given order is kept.
pub fn by_name(names: &[String]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    let is_numbered = |name: &String| name.contains(|c: char| c.is_ascii_digit());
    if names.iter().any(is_numbered) {
        order.sort_by(|&a, &b| natural_order(&names[a as usize], &names[b as usize]));
    }
    order
}

/// Indices of the nodes: first the nodes that `given` lists, in its order, then all other nodes in
/// the order of [`by_name`].
pub fn by_order(names: &[String], given: &NodeOrder) -> Vec<u32> {
    let mut order = by_name(names);
    // The sort is stable, so nodes that are not listed keep their order.
    order.sort_by_cached_key(|&node| given.place(&names[node as usize]).unwrap_or(u32::MAX));
    order
}
