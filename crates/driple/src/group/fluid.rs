//! Asynchronous fluid communities (Parés et al., *Fluid Communities: A Competitive, Scalable and
//! Diverse Community Detection Algorithm*, 2017).
//!
//! A community is like a fixed amount of fluid: its density is `1 / n` at each of its `n` vertices.
//! Each community starts at one random vertex. A pass visits all vertices in random order. When a
//! vertex is visited, the densities at the vertex and at its neighbours are summed for each
//! community. If the vertex's own community has the greatest sum, the vertex stays; otherwise it
//! joins the community with the greatest sum. Ties are broken at random. Passes are repeated until
//! a pass changes nothing.
//!
//! For example, let community A have 4 vertices and the density 0.25, and community B 1 vertex and
//! the density 1. A visited vertex of A has two neighbours in A and one in B. The sums are 3 × 0.25
//! = 0.75 for A and 1 for B, so the vertex joins B. The densities become 1 / 3 and 1 / 2.
//!
//! Random numbers are drawn and densities are summed in the same order as in networkx, so that the
//! communities are the same.

use super::Adjacency;
use crate::random::PythonRandom;

/// Two sums of densities count as equal if they differ by less than this value.
const SAME: f64 = 0.0001;
/// Marks a vertex that has no community yet.
const NONE: u32 = u32::MAX;

/// The communities of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Communities {
    /// The community of each vertex.
    pub of: Vec<u32>,
    /// The number of communities.
    pub count: usize,
    /// The number of passes over all vertices.
    pub passes: usize,
    /// Whether the last pass changed nothing.
    pub converged: bool,
    /// The number of vertices that no community reached in any pass. Each of these vertices then
    /// joined the community of the nearest reached vertex. In networkx, these vertices have no
    /// community.
    pub unreached: usize,
}

/// Finds the same communities as networkx's
/// `asyn_fluidc(graph, k=count, max_iter=most_passes, seed=seed)`. Each community has at least one
/// vertex. Version 2.5.1 of networkx makes one more pass than `max_iter` allows.
///
/// The run time is proportional to the number of edges times the number of passes.
///
/// # Panics
/// If the graph is not connected or has fewer vertices than `count`, or if `count` is 0.
#[must_use]
pub fn communities(graph: &Adjacency, count: usize, seed: u64, most_passes: usize) -> Communities {
    assert!(0 < count && count <= graph.len(), "too few vertices");
    let mut random = PythonRandom::new(seed);
    let mut fluid = Fluid::seeded(graph, count, &mut random);
    let (mut passes, mut converged) = (0, false);
    while !converged && passes < most_passes {
        converged = !fluid.pass(&mut random);
        passes += 1;
    }
    let unreached = fluid.flood();
    assert!(
        fluid.community.iter().all(|&one| one != NONE),
        "the graph is not connected"
    );
    Communities {
        of: fluid.numbered(),
        count,
        passes,
        converged,
        unreached,
    }
}

/// The state of the communities while they spread.
struct Fluid<'a> {
    graph: &'a Adjacency,
    /// The vertices in the order in which a pass visits them.
    order: Vec<u32>,
    /// The community of each vertex, or `NONE`.
    community: Vec<u32>,
    /// The vertices that have a community, in the order in which they first joined one.
    reached: Vec<u32>,
    /// The number of vertices in each community.
    sizes: Vec<u32>,
    /// The density of each community: 1 divided by its number of vertices.
    densities: Vec<f64>,
    /// For each community, the sum of its densities at the visited vertex and at the vertex's
    /// neighbours; 0 if the community has none of these vertices.
    sums: Vec<f64>,
    /// The communities at the visited vertex and its neighbours, in the order in which they were
    /// seen.
    seen: Vec<u32>,
    /// The communities in `seen` with the greatest sum.
    densest: Vec<u32>,
}

impl<'a> Fluid<'a> {
    /// Starts each community at one random vertex.
    fn seeded(graph: &'a Adjacency, count: usize, random: &mut PythonRandom) -> Self {
        let mut fluid = Fluid {
            graph,
            order: Vec::new(),
            community: vec![NONE; graph.len()],
            reached: Vec::new(),
            sizes: vec![1; count],
            densities: vec![1.0; count],
            sums: vec![0.0; count],
            seen: Vec::new(),
            densest: Vec::new(),
        };
        fluid.shuffle(random);
        fluid.reached.extend(&fluid.order[..count]);
        for (community, &vertex) in fluid.reached.iter().enumerate() {
            fluid.community[vertex as usize] = community as u32;
        }
        fluid
    }

    fn shuffle(&mut self, random: &mut PythonRandom) {
        self.order.clear();
        self.order.extend(0..self.graph.len() as u32);
        random.shuffle(&mut self.order);
    }

    /// Visits every vertex once. Returns whether any vertex changed its community.
    fn pass(&mut self, random: &mut PythonRandom) -> bool {
        self.shuffle(random);
        let mut changed = false;
        for at in 0..self.order.len() {
            changed |= self.visit(self.order[at] as usize, random);
        }
        changed
    }

    /// Moves a vertex to a community with the greatest sum, drawn at random, unless the vertex
    /// already belongs to such a community. Returns whether the vertex moved.
    fn visit(&mut self, vertex: usize, random: &mut PythonRandom) -> bool {
        self.look_around(vertex);
        self.keep_densest();
        if self.densest.contains(&self.community[vertex]) {
            return false;
        }
        let Some(&new) = random.choice(&self.densest) else {
            return false;
        };
        self.join(vertex, new);
        true
    }

    /// For each community, sums the densities at the vertex and at its neighbours.
    fn look_around(&mut self, vertex: usize) {
        for &community in &self.seen {
            self.sums[community as usize] = 0.0;
        }
        self.seen.clear();
        self.see(self.community[vertex]);
        for &neighbour in self.graph.neighbours(vertex) {
            self.see(self.community[neighbour as usize]);
        }
    }

    /// Adds the density of `community` to its entry in `sums`. This function is called for the
    /// visited vertex and for each of its neighbours.
    fn see(&mut self, community: u32) {
        if community == NONE {
            return;
        }
        let at = community as usize;
        if self.sums[at] == 0.0 {
            self.seen.push(community);
        }
        self.sums[at] += self.densities[at];
    }

    /// Sets `densest` to the communities with the greatest sum, in the order of `seen`.
    fn keep_densest(&mut self) {
        let sum = |&community: &u32| self.sums[community as usize];
        let most = self.seen.iter().map(sum).fold(0.0, f64::max);
        let densest = |community: &&u32| most - sum(community) < SAME;
        self.densest.clear();
        self.densest.extend(self.seen.iter().filter(densest));
    }

    /// Moves a vertex to the community `new`, and updates the densities of its old and new
    /// communities.
    fn join(&mut self, vertex: usize, new: u32) {
        let old = std::mem::replace(&mut self.community[vertex], new);
        match old {
            NONE => self.reached.push(vertex as u32),
            _ => self.resize(old, -1),
        }
        self.resize(new, 1);
    }

    fn resize(&mut self, community: u32, by: i32) {
        let at = community as usize;
        self.sizes[at] = self.sizes[at].saturating_add_signed(by);
        self.densities[at] = 1.0 / f64::from(self.sizes[at]);
    }

    /// Assigns each vertex without a community to the community of the nearest vertex that has one.
    /// Returns the number of assigned vertices.
    ///
    /// This is a breadth-first search that starts from all vertices of `reached` at once.
    fn flood(&mut self) -> usize {
        let had_one = self.reached.len();
        let mut next = 0;
        while let Some(&vertex) = self.reached.get(next) {
            let community = self.community[vertex as usize];
            for &neighbour in self.graph.neighbours(vertex as usize) {
                let of = &mut self.community[neighbour as usize];
                if *of == NONE {
                    *of = community;
                    self.reached.push(neighbour);
                }
            }
            next += 1;
        }
        self.reached.len() - had_one
    }

    /// The community of each vertex. Communities are numbered in the order in which networkx lists
    /// them, which is the order of their first vertices in `reached`. The first vertex of a
    /// community is not always the vertex at which the community started.
    fn numbered(&self) -> Vec<u32> {
        let mut numbers = vec![NONE; self.sizes.len()];
        let mut next = 0;
        for &vertex in &self.reached {
            let number = &mut numbers[self.community[vertex as usize] as usize];
            if *number == NONE {
                *number = next;
                next += 1;
            }
        }
        let number = |&community: &u32| numbers[community as usize];
        self.community.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(vertices: u32) -> Adjacency {
        let edges: Vec<_> = (1..vertices).map(|to| (to - 1, to)).collect();
        Adjacency::new(vertices as usize, &edges)
    }

    #[test]
    fn one_community_per_vertex_converges_in_one_pass() {
        let found = communities(&path(6), 6, 1, 100);
        let mut of = found.of;
        of.sort_unstable();
        assert_eq!(of, [0, 1, 2, 3, 4, 5]);
        assert_eq!((found.passes, found.converged), (1, true));
    }

    // In a single pass, the only community spreads just a few steps along the path of 1,000
    // vertices. All other vertices must join it afterwards.
    #[test]
    fn unreached_vertices_join_the_nearest_community() {
        let found = communities(&path(1000), 1, 42, 1);
        assert!(found.unreached > 900 && !found.converged);
        assert!(found.of.iter().all(|&one| one == 0));
    }

    #[test]
    fn two_cliques_on_a_bridge_are_two_communities() {
        let mut edges = vec![(0, 5)];
        for base in [0, 5] {
            edges.extend((0..5).flat_map(|a| (0..a).map(move |b| (base + a, base + b))));
        }
        let graph = Adjacency::new(10, &edges);
        let two = |seed| {
            let of = communities(&graph, 2, seed, 100).of;
            of[..5].iter().all(|one| *one == of[0]) && of[5..].iter().all(|one| *one != of[0])
        };
        let seeds = (0..20).filter(|&seed| two(seed)).count();
        assert!(seeds >= 10, "{seeds} of 20 seeds");
    }
}
