//! The nodes of a virtual cluster at the current time of a sweep.

use std::collections::BTreeSet;

use gleaner_domain::cluster::GpuSet;

use super::runs::Place;
use super::stage::all_gpus;

/// The name of a node that was added during the simulation.
const ADDED: u32 = 9999;

#[derive(Debug, Clone)]
struct Node {
    name: u32,
    is_there: bool,
    /// The runs on this node, each with its GPUs.
    runs: Vec<(usize, GpuSet)>,
    /// Utilisation and memory of each GPU.
    load: Vec<[f64; 2]>,
}

/// The nodes of a virtual cluster, by number. A node's number is its position in the order in which nodes were added.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    gpus_per_node: u32,
    count: i64,
    busy: i64,
    /// Number of nodes with one run, and number of nodes with several runs.
    crowded: [i64; 2],
    /// Sums, over all nodes, of the mean utilisation and the mean memory use of a node's GPUs.
    sums: [f64; 2],
    /// The same sums, restricted to GPUs with a value above 0.
    active_sums: [f64; 2],
    /// Number of nodes that have a GPU with a utilisation above 0, and number of nodes that have a
    /// GPU with memory use above 0.
    active_nodes: [i64; 2],
    was_removed: bool,
}

impl Node {
    fn busy(&self) -> GpuSet {
        self.runs.iter().fold(0, |all, &(_, gpus)| all | gpus)
    }
}

impl Nodes {
    pub fn new(count: u32, gpus_per_node: u32) -> Self {
        let mut nodes = Nodes {
            nodes: Vec::new(),
            gpus_per_node,
            count: 0,
            busy: 0,
            crowded: [0; 2],
            sums: [0.0; 2],
            active_sums: [0.0; 2],
            active_nodes: [0; 2],
            was_removed: false,
        };
        for name in 0..count {
            nodes.add(name);
        }
        nodes
    }

    fn add(&mut self, name: u32) {
        self.count += 1;
        self.nodes.push(Node {
            name,
            is_there: true,
            runs: Vec::new(),
            load: vec![[0.0; 2]; self.gpus_per_node as usize],
        });
    }

    pub fn count(&self) -> i64 {
        self.count
    }

    pub fn gpus(&self) -> i64 {
        self.count * i64::from(self.gpus_per_node)
    }

    /// Number of GPUs held by runs.
    pub fn busy(&self) -> i64 {
        self.busy
    }

    pub fn crowded(&self) -> [i64; 2] {
        self.crowded
    }

    /// Utilisation and memory, averaged over each node's GPUs and then over nodes.
    pub fn load(&self) -> [f64; 2] {
        self.sums.map(|sum| sum / self.count.max(1) as f64)
    }

    /// The same averages, restricted to GPUs and nodes with a value above 0.
    pub fn active_load(&self) -> [f64; 2] {
        [0, 1].map(|gauge| match self.active_nodes[gauge] {
            0 => 0.0,
            nodes => self.active_sums[gauge] / nodes as f64,
        })
    }

    /// Whether a node with this number is present.
    pub fn is_there(&self, slot: u32) -> bool {
        self.nodes
            .get(slot as usize)
            .is_some_and(|node| node.is_there)
    }

    /// The number of the node that currently has this name.
    pub fn named(&self, name: u32) -> Option<u32> {
        let mut nodes = (0..).zip(&self.nodes);
        nodes.find_map(|(slot, node)| (node.is_there && node.name == name).then_some(slot))
    }

    /// Returns `place` with node names instead of node numbers.
    pub fn names(&self, place: &Place) -> Place {
        let named = |&(slot, gpus): &(u32, GpuSet)| (self.nodes[slot as usize].name, gpus);
        place.iter().map(named).collect()
    }

    /// Whether a node has these GPUs.
    pub fn has(&self, gpus: GpuSet) -> bool {
        gpus != 0 && gpus & !all_gpus(self.gpus_per_node) == 0
    }

    /// The runs that hold any GPU of `place`.
    pub fn holders(&self, place: &Place) -> Vec<usize> {
        let mut holders = BTreeSet::new();
        for &(slot, gpus) in place {
            let runs = self.nodes[slot as usize].runs.iter();
            holders.extend(runs.filter(|run| run.1 & gpus != 0).map(|run| run.0));
        }
        holders.into_iter().collect()
    }

    /// The present nodes in the order of the simulator's list, each with its number of free GPUs.
    pub fn free(&self) -> Vec<(u32, u32)> {
        let nodes = (0..).zip(&self.nodes).filter(|(_, node)| node.is_there);
        let nodes = nodes.map(|(slot, node)| (slot, self.gpus_per_node - node.busy().count_ones()));
        nodes.collect()
    }

    /// The `gpus` lowest-numbered free GPUs of a node.
    pub fn lowest_free(&self, slot: u32, gpus: u32) -> GpuSet {
        let busy = self.nodes[slot as usize].busy();
        let free = (0..self.gpus_per_node).filter(|&gpu| busy >> gpu & 1 == 0);
        free.take(gpus as usize).fold(0, |set, gpu| set | 1 << gpu)
    }

    /// Puts a run on its GPUs and sets their new load.
    pub fn enter(&mut self, run: usize, place: &Place, load: [f64; 2]) {
        for &(slot, gpus) in place {
            self.change(slot, gpus, load, |runs| runs.push((run, gpus)));
        }
    }

    /// Removes a run from its GPUs and sets their new load.
    pub fn leave(&mut self, run: usize, place: &Place, load: [f64; 2]) {
        for &(slot, gpus) in place {
            self.change(slot, gpus, load, |runs| {
                runs.retain(|&(other, _)| other != run)
            });
        }
    }

    fn change(
        &mut self,
        slot: u32,
        gpus: GpuSet,
        load: [f64; 2],
        change: impl FnOnce(&mut Vec<(usize, GpuSet)>),
    ) {
        self.book(slot, -1);
        let node = &mut self.nodes[slot as usize];
        change(&mut node.runs);
        for (gpu, of_gpu) in node.load.iter_mut().enumerate() {
            if gpus >> gpu & 1 == 1 {
                *of_gpu = load;
            }
        }
        self.book(slot, 1);
    }

    /// Adds a node to the sums (`sign` 1), or subtracts it from them (`sign` -1).
    fn book(&mut self, slot: u32, sign: i64) {
        let node = &self.nodes[slot as usize];
        self.busy += sign * i64::from(node.busy().count_ones());
        match node.runs.len() {
            0 => {}
            1 => self.crowded[0] += sign,
            _ => self.crowded[1] += sign,
        }
        for gauge in 0..2 {
            let values = || node.load.iter().map(|gpu| gpu[gauge]);
            let sum: f64 = values().sum();
            let used = values().filter(|&value| value > 0.0).count();
            self.sums[gauge] += sign as f64 * sum / node.load.len() as f64;
            if used > 0 {
                self.active_sums[gauge] += sign as f64 * sum / used as f64;
                self.active_nodes[gauge] += sign;
            }
        }
    }

    /// Whether the added node is present and idle.
    pub fn added_is_idle(&self) -> bool {
        let added = self.named(ADDED);
        added.is_some_and(|slot| self.nodes[slot as usize].runs.is_empty())
    }

    /// Adds a node, or removes the idle node with the highest name. At the second and each later removal, an added node
    /// that is busy first swaps names with the removed node. Returns the number of the added node if it was renamed.
    pub fn step(&mut self, step: i32) -> Option<u32> {
        let added = self.named(ADDED);
        if step > 0 {
            if added.is_none() {
                self.add(ADDED);
            }
            return None;
        }
        let nodes = (0..).zip(&self.nodes);
        let idle = nodes.filter(|(_, node)| node.is_there && node.runs.is_empty());
        let (gone, name) = idle
            .map(|(slot, node): (u32, _)| (slot, node.name))
            .max_by_key(|n| n.1)?;
        let renamed = added.filter(|&added| added != gone && self.was_removed);
        if let Some(busy) = renamed {
            self.nodes[busy as usize].name = name;
            self.nodes[gone as usize].name = ADDED;
        }
        self.nodes[gone as usize].is_there = false;
        self.count -= 1;
        self.was_removed = true;
        renamed
    }
}
