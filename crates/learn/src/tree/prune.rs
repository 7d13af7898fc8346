//! Minimal cost-complexity pruning.

use super::{Node, Split};

/// Prunes a tree to the least cost: the impurity, weighted by the share of rows, plus `alpha` for
/// each leaf. Of equally good trees the smallest is returned. Weakest-link pruning up to `alpha`
/// gives the same tree (Breiman et al., 1984, theorem 3.10). If `alpha` is 0 the tree stays as it
/// is, including splits that gain nothing.
pub fn prune(mut nodes: Vec<Node>, alpha: f64) -> Vec<Node> {
    if alpha == 0.0 {
        return nodes;
    }
    let rows = nodes[0].rows() as f64;
    let mut cost = vec![0.0; nodes.len()];
    // Children come after their parents, so in reverse order a node's subtrees are pruned before
    // it.
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

/// The nodes that can still be reached from the root, with new indices.
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
