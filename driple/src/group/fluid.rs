//! Asynchronous fluid communities (Parés et al., *Fluid Communities: A Competitive, Scalable and
//! Diverse Community Detection Algorithm*, 2017), drawn and summed in the order in which networkx
//! draws and sums, so that the communities are the same.

use super::Adjacency;
use crate::random::PythonRandom;

/// Densities as far apart as this are the same.
const SAME: f64 = 0.0001;
/// In the place of a community: none yet.
const NONE: u32 = u32::MAX;

/// The communities of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Communities {
    /// By vertex: its community.
    pub of: Vec<u32>,
    /// The number of communities.
    pub count: usize,
    /// Passes over all vertices.
    pub passes: usize,
    /// Whether the last pass changed nothing.
    pub converged: bool,
    /// Vertices that no community reached in all passes, which then joined that of the nearest
    /// vertex. networkx leaves them out.
    pub unreached: usize,
}

/// The communities that networkx's `asyn_fluidc(graph, k=count, max_iter=most_passes, seed=seed)`
/// finds; each has at least one vertex. networkx 2.5.1 makes one pass more than its
/// `max_iter`.
///
/// Takes time in proportion to the edges times the passes.
///
/// # Panics
/// Where the graph is not connected, or has fewer vertices than `count` or `count` is 0.
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

struct Fluid<'a> {
    graph: &'a Adjacency,
    order: Vec<u32>,
    /// By vertex.
    community: Vec<u32>,
    /// The vertices that have a community, in the order in which they were first given one.
    reached: Vec<u32>,
    /// By community: its vertices, and 1 over them.
    sizes: Vec<u32>,
    densities: Vec<f64>,
    /// By community: the densities around the vertex at hand; 0 where it was not seen.
    sums: Vec<f64>,
    /// The communities around the vertex at hand, in the order in which they were seen.
    seen: Vec<u32>,
    /// Those of them that no other is denser than.
    densest: Vec<u32>,
}

impl<'a> Fluid<'a> {
    /// One vertex to each community.
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

    /// Visits every vertex once; returns whether one changed its community.
    fn pass(&mut self, random: &mut PythonRandom) -> bool {
        self.shuffle(random);
        let mut changed = false;
        for at in 0..self.order.len() {
            changed |= self.visit(self.order[at] as usize, random);
        }
        changed
    }

    /// Moves a vertex to one of the densest communities around it, unless its own is as dense.
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

    /// Sums the densities of the vertex and of its neighbours by community.
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

    /// Of the communities seen, those that no other is denser than, in the order of `seen`.
    fn keep_densest(&mut self) {
        let sum = |&community: &u32| self.sums[community as usize];
        let most = self.seen.iter().map(sum).fold(0.0, f64::max);
        let densest = |community: &&u32| most - sum(community) < SAME;
        self.densest.clear();
        self.densest.extend(self.seen.iter().filter(densest));
    }

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

    /// Gives vertices without a community that of the nearest vertex with one; returns how many.
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

    /// The community of each vertex, numbered as networkx lists them: by their first vertex in
    /// `reached`, which is not always the one that seeded them.
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
    fn a_vertex_each_makes_no_difference_to_settle() {
        let found = communities(&path(6), 6, 1, 100);
        let mut of = found.of;
        of.sort_unstable();
        assert_eq!(of, [0, 1, 2, 3, 4, 5]);
        assert_eq!((found.passes, found.converged), (1, true));
    }

    // One pass takes a fluid a few steps along a long path, and the rest is filled.
    #[test]
    fn vertices_that_no_fluid_reached_join_the_nearest() {
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
