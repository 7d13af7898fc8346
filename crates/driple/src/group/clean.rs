//! Drops isolated operations and all but the largest connected component.

use super::Adjacency;

/// The part of a graph that is kept.
pub(super) struct Kept {
    /// The vertices that are kept, in ascending order.
    pub vertices: Vec<usize>,
    /// The edges between these vertices. Each vertex is numbered by its position in `vertices`.
    pub adjacency: Adjacency,
    /// The number of vertices without any edge.
    pub isolated: usize,
}

/// The largest connected component. If several components are equally large, the result is the
/// component that contains the lowest vertex. A vertex without edges does not count as a component,
/// but a vertex whose only edge is a self-loop does.
pub(super) fn largest_component(graph: &Adjacency) -> Kept {
    let components = Components::of(graph);
    let isolated = components.of.iter().filter(|of| of.is_none()).count();
    let largest = components.largest();
    let kept = |&vertex: &usize| largest.is_some() && components.of[vertex] == largest;
    let vertices: Vec<usize> = (0..graph.len()).filter(kept).collect();
    let adjacency = restricted(graph, &vertices, components.sizes.len() > 1);
    Kept {
        vertices,
        adjacency,
        isolated,
    }
}

struct Components {
    /// The component of each vertex; `None` for isolated vertices.
    of: Vec<Option<usize>>,
    /// The number of vertices in each component.
    sizes: Vec<usize>,
}

impl Components {
    fn of(graph: &Adjacency) -> Self {
        let mut found = Components {
            of: vec![None; graph.len()],
            sizes: Vec::new(),
        };
        for vertex in 0..graph.len() {
            if found.of[vertex].is_none() && !graph.neighbours(vertex).is_empty() {
                found.spread(graph, vertex);
            }
        }
        found
    }

    /// Creates a new component of all vertices that are reachable from `from`.
    fn spread(&mut self, graph: &Adjacency, from: usize) {
        let component = self.sizes.len();
        self.sizes.push(1);
        self.of[from] = Some(component);
        let mut reached = vec![from];
        while let Some(vertex) = reached.pop() {
            for &neighbour in graph.neighbours(vertex) {
                let neighbour = neighbour as usize;
                if self.of[neighbour].is_none() {
                    self.of[neighbour] = Some(component);
                    self.sizes[component] += 1;
                    reached.push(neighbour);
                }
            }
        }
    }

    fn largest(&self) -> Option<usize> {
        // The components are searched in reverse order, because `max_by_key` returns the last of
        // several maxima.
        let components = self.sizes.iter().enumerate().rev();
        components.max_by_key(|&(_, size)| size).map(|(at, _)| at)
    }
}

/// The subgraph induced by `vertices`, which must have no edges to other vertices. If the graph has
/// other components, networkx copies the component edge by edge, from each vertex in turn. This
/// changes the order of neighbours, and therefore the groups. `copied` states whether networkx
/// makes such a copy.
fn restricted(graph: &Adjacency, vertices: &[usize], copied: bool) -> Adjacency {
    let mut numbers = vec![u32::MAX; graph.len()];
    for (number, &vertex) in vertices.iter().enumerate() {
        numbers[vertex] = number as u32;
    }
    let kept = graph.renumbered(vertices, &numbers);
    if !copied {
        return kept;
    }
    Adjacency::new(kept.len(), &kept.edges().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolated_vertices_and_smaller_components_are_removed() {
        let edges = [(1, 2), (4, 5), (5, 6), (7, 7)];
        let kept = largest_component(&Adjacency::new(9, &edges));
        assert_eq!(kept.vertices, [4, 5, 6]);
        assert_eq!(kept.isolated, 3);
        assert_eq!(kept.adjacency, Adjacency::new(3, &[(0, 1), (1, 2)]));
    }

    #[test]
    fn of_equally_large_components_the_first_is_kept() {
        let kept = largest_component(&Adjacency::new(5, &[(3, 4), (1, 2)]));
        assert_eq!((kept.vertices, kept.isolated), (vec![1, 2], 1));
    }

    #[test]
    fn a_vertex_with_only_a_self_loop_is_not_isolated() {
        let kept = largest_component(&Adjacency::new(2, &[(1, 1)]));
        assert_eq!((kept.vertices, kept.isolated), (vec![1], 1));
        assert_eq!(kept.adjacency.neighbours(0), [0]);
    }

    #[test]
    fn a_graph_without_edges_has_no_component() {
        let kept = largest_component(&Adjacency::new(2, &[]));
        assert_eq!((kept.vertices.len(), kept.isolated), (0, 2));
    }

    // As in networkx, the neighbours [1, 0] become [0, 1] when a component is extracted.
    #[test]
    fn cutting_out_a_component_sorts_earlier_neighbours() {
        let connected = [(1, 2), (0, 2)];
        let whole = largest_component(&Adjacency::new(3, &connected));
        assert_eq!(whole.adjacency.neighbours(2), [1, 0]);
        let cut = [(1, 2), (0, 2), (3, 3)];
        let cut = largest_component(&Adjacency::new(4, &cut));
        assert_eq!(cut.adjacency.neighbours(2), [0, 1]);
    }
}
