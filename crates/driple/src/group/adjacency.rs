//! Undirected graphs that keep neighbours in the order in which edges were added.

/// An undirected graph with the vertices `0..len`. As in networkx, a vertex's neighbours are in the
/// order in which the first edge to each neighbour was added. Parallel edges count once. A
/// self-loop makes a vertex its own neighbour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// The neighbours of vertex `v` are `neighbours[starts[v]..starts[v + 1]]`.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    /// Builds a graph by adding the edges in the given order. Edges to vertices that do not exist
    /// are ignored.
    ///
    /// # Panics
    /// If there are 2³² - 1 vertices or more.
    #[must_use]
    pub fn new(vertices: usize, edges: &[(u32, u32)]) -> Self {
        assert!(vertices < u32::MAX as usize, "too many vertices");
        let within = |&&(a, b): &&(u32, u32)| (a.max(b) as usize) < vertices;
        let mut starts = vec![0; vertices + 1];
        for &(a, b) in edges.iter().filter(within) {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut ends = starts.clone();
        let mut neighbours = vec![0; starts[vertices]];
        for &(a, b) in edges.iter().filter(within) {
            for (from, to) in [(a, b), (b, a)] {
                let end = &mut ends[from as usize];
                neighbours[*end] = to;
                *end += 1;
            }
        }
        Adjacency { starts, neighbours }.once()
    }

    /// The subgraph induced by `vertices`, which must have no edges to other vertices. Each
    /// vertex's neighbours keep their order. `numbers` holds the new number of each vertex.
    pub(super) fn renumbered(&self, vertices: &[usize], numbers: &[u32]) -> Self {
        let mut kept = Adjacency {
            starts: vec![0],
            neighbours: Vec::new(),
        };
        for &vertex in vertices {
            let neighbours = self.neighbours(vertex).iter();
            kept.neighbours
                .extend(neighbours.map(|&to| numbers[to as usize]));
            kept.starts.push(kept.neighbours.len());
        }
        kept
    }

    /// Keeps only the first occurrence of each neighbour in each vertex's list.
    fn once(mut self) -> Self {
        // For each neighbour, the last vertex in whose list it was seen.
        let mut seen_by = vec![u32::MAX; self.len()];
        let (mut from, mut kept) = (0, 0);
        for vertex in 0..self.len() {
            let to = self.starts[vertex + 1];
            for at in from..to {
                let neighbour = self.neighbours[at];
                if seen_by[neighbour as usize] != vertex as u32 {
                    seen_by[neighbour as usize] = vertex as u32;
                    self.neighbours[kept] = neighbour;
                    kept += 1;
                }
            }
            from = to;
            self.starts[vertex + 1] = kept;
        }
        self.neighbours.truncate(kept);
        self
    }

    /// The number of vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distinct neighbours of a vertex.
    ///
    /// # Panics
    /// If the vertex does not exist.
    #[must_use]
    pub fn neighbours(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Every edge in both directions, ordered by the first vertex. A self-loop occurs once.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        let of = |vertex| {
            self.neighbours(vertex)
                .iter()
                .map(move |&to| (vertex as u32, to))
        };
        (0..self.len()).flat_map(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_in_the_order_of_their_first_edges() {
        let graph = Adjacency::new(4, &[(2, 0), (0, 1), (0, 2), (3, 3), (1, 3), (9, 0)]);
        assert_eq!(graph.neighbours(0), [2, 1]);
        assert_eq!(graph.neighbours(1), [0, 3]);
        assert_eq!(graph.neighbours(2), [0]);
        assert_eq!(graph.neighbours(3), [3, 1]);
        assert_eq!(graph.edges().filter(|&(a, b)| a == b).count(), 1);
    }

    #[test]
    fn a_graph_may_be_empty() {
        assert!(Adjacency::default().is_empty());
        assert!(Adjacency::new(0, &[]).is_empty());
        assert!(Adjacency::new(1, &[]).neighbours(0).is_empty());
    }
}
