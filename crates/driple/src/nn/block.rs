//! Graphs of equal size, laid out for matrix products.

use super::Real;
use crate::graph::GroupedGraph;

/// A sparse matrix, stored by rows.
#[derive(Debug, Clone)]
pub(super) struct SparseMatrix<T> {
    /// Row `r` is `entries[offsets[r]..offsets[r + 1]]`.
    offsets: Vec<usize>,
    /// The column and the value of each entry.
    entries: Vec<(usize, T)>,
}

impl<T: Real> SparseMatrix<T> {
    /// The columns and values of the entries of row `row`, in ascending order of the columns.
    #[inline]
    pub fn row(&self, row: usize) -> &[(usize, T)] {
        &self.entries[self.offsets[row]..self.offsets[row + 1]]
    }
}

/// Graphs of equal size, stored one after the other. Row `g * nodes + i` of a matrix is for node `i` of graph `g`.
#[derive(Debug, Clone)]
pub struct Block<T> {
    graphs: usize,
    nodes: usize,
    /// The adjacency matrix: symmetric, with zeros and ones.
    pub(super) adjacency: SparseMatrix<T>,
    /// The adjacency matrix with self-loops. Each entry is divided by the square roots of both
    /// nodes' degrees, which include the self-loops (Kipf and Welling 2017). For example, all four
    /// entries of a graph of two connected nodes are 1 / (√2 √2) = 0.5.
    pub(super) normalised: SparseMatrix<T>,
}

impl<T: Real> Block<T> {
    /// Lays out `graphs`, which must all have the same number of nodes.
    #[must_use]
    pub fn new(graphs: &[&GroupedGraph]) -> Self {
        let nodes = graphs.first().map_or(0, |graph| graph.len());
        debug_assert!(graphs.iter().all(|graph| graph.len() == nodes));
        let neighbours = neighbours(graphs, nodes);
        Self {
            graphs: graphs.len(),
            nodes,
            adjacency: adjacency(&neighbours),
            normalised: normalised(&neighbours),
        }
    }

    /// The number of graphs.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.graphs
    }

    /// The number of nodes in each graph.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

/// For each node of all graphs, the rows of its neighbours, in ascending order.
fn neighbours(graphs: &[&GroupedGraph], nodes: usize) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); graphs.len() * nodes];
    for (index, graph) in graphs.iter().enumerate() {
        for &(a, b) in &graph.edges {
            let (a, b) = (index * nodes + a as usize, index * nodes + b as usize);
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    neighbours.iter_mut().for_each(|row| row.sort_unstable());
    neighbours
}

fn adjacency<T: Real>(neighbours: &[Vec<usize>]) -> SparseMatrix<T> {
    from_rows(
        neighbours
            .iter()
            .map(|row| row.iter().map(|&to| (to, T::one()))),
    )
}

fn normalised<T: Real>(neighbours: &[Vec<usize>]) -> SparseMatrix<T> {
    let scale = |row: usize| T::of(1.0 / ((neighbours[row].len() + 1) as f64).sqrt());
    from_rows(neighbours.iter().enumerate().map(|(from, row)| {
        let before = row.iter().take_while(move |&&to| to < from);
        let after = row.iter().skip_while(move |&&to| to < from);
        let columns = before.chain(std::iter::once(&from)).chain(after).copied();
        columns
            .map(|to| (to, scale(from) * scale(to)))
            .collect::<Vec<_>>()
    }))
}

fn from_rows<T, R: IntoIterator<Item = (usize, T)>>(
    rows: impl Iterator<Item = R>,
) -> SparseMatrix<T> {
    let mut csr = SparseMatrix {
        offsets: vec![0],
        entries: Vec::new(),
    };
    for row in rows {
        csr.entries.extend(row);
        csr.offsets.push(csr.entries.len());
    }
    csr
}
