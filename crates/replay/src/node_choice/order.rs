//! Orders of nodes.

use gleaner_core::domain::names::natural_order;

/// Indices of the nodes in the natural order of their names. If no name holds a number, names say
/// nothing of where a node is: then in the given order.
pub fn by_name(names: &[String]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    let is_numbered = |name: &String| name.contains(|c: char| c.is_ascii_digit());
    if names.iter().any(is_numbered) {
        order.sort_by(|&a, &b| natural_order(&names[a as usize], &names[b as usize]));
    }
    order
}
