//! Minimal cost-complexity pruning (Breiman et al., 1984).
//!
//! The cost of a leaf is its impurity, weighted by its share of the rows, plus a constant `alpha`.
//! A split is kept only if its two subtrees cost less than the node would as a leaf. For example, suppose that a root
//! with impurity 0.5 is split into two pure leaves. If `alpha` is 0.1, the root costs 0.6 as a leaf and 0.2 with the
//! split, so the split is kept. If `alpha` is 0.6, the root costs 1.1 as a leaf and 1.2 with the split, so the split is
//! removed.

use super::{Node, Split};

/// Returns the pruned tree whose leaves have the least total cost. If several trees have this cost, returns the
/// smallest. Weakest-link pruning up to `alpha` gives the same tree (Breiman et al., 1984, theorem 3.10). If `alpha` is
/// 0, the tree does not change, and even splits that gain nothing are kept.
pub fn prune(mut nodes: Vec<Node>, alpha: f64) -> Vec<Node> {
    if alpha == 0.0 {
        return nodes;
    }
    let rows = nodes[0].rows() as f64;
    let mut cost = vec![0.0; nodes.len()];
    // Children come after their parents, so in reverse order a node's subtrees are pruned before
    // the node.
    for index in (0..nodes.len()).rev() {
        let node = &mut nodes[index];
        cost[index] = node.impurity * node.rows() as f64 / rows + alpha;
        if let Some(split) = node.split {
            let below = cost[split.left] + cost[split.right];
            if below < cost[index] {
                cost[index] = below;
            } else {
                node.split = None;
            }
        }
    }
    compact(&nodes)
}

/// The nodes that remain reachable from the root, with new indices.
fn compact(nodes: &[Node]) -> Vec<Node> {
    let mut reached = vec![false; nodes.len()];
    reached[0] = true;
    for (index, node) in nodes.iter().enumerate() {
        if let (true, Some(split)) = (reached[index], node.split) {
            reached[split.left] = true;
            reached[split.right] = true;
        }
    }
    let before = |next: &mut usize, reached: &bool| {
        let index = *next;
        *next += usize::from(*reached);
        Some(index)
    };
    let index: Vec<usize> = reached.iter().scan(0, before).collect();
    let moved = |split: Split| Split {
        left: index[split.left],
        right: index[split.right],
        ..split
    };
    let kept = nodes.iter().zip(&reached).filter(|(_, reached)| **reached);
    kept.map(|(node, _)| Node {
        split: node.split.map(moved),
        ..node.clone()
    })
    .collect()
}
