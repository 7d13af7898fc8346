//! Nodes with their GPUs, and the jobs that hold the GPUs.

use gleaner_domain::results::schedule::NodeLife;

/// The name of a node that is added during the simulation.
pub const NEWCOMER: u32 = 9999;

#[derive(Clone)]
pub struct Node {
    pub slot: usize,
    pub name: u32,
    pub gpus: Vec<Gpu>,
    /// Jobs on the node with their GPUs, in the order of their arrival there.
    pub jobs: Vec<(usize, Vec<usize>)>,
}

#[derive(Clone, Default)]
pub struct Gpu {
    /// Jobs that hold the GPU, in the order of their arrival there.
    pub jobs: Vec<usize>,
    /// Utilisation and memory of both jobs together, if the GPU is shared.
    pub pair: (f64, f64),
}

impl Node {
    fn new(slot: usize, name: u32, gpus: u32) -> Self {
        Node {
            slot,
            name,
            gpus: vec![Gpu::default(); gpus as usize],
            jobs: Vec::new(),
        }
    }

    pub fn free(&self) -> u32 {
        self.gpus.iter().filter(|gpu| gpu.jobs.is_empty()).count() as u32
    }

    /// Gives a job the lowest free GPUs.
    pub fn allocate(&mut self, job: usize, number: u32) -> Vec<usize> {
        let free = |&gpu: &usize| self.gpus[gpu].jobs.is_empty();
        let gpus = (0..self.gpus.len()).filter(free).take(number as usize);
        let gpus: Vec<usize> = gpus.collect();
        assert_eq!(gpus.len(), number as usize);
        self.hold(job, &gpus);
        gpus
    }

    pub fn hold(&mut self, job: usize, gpus: &[usize]) {
        for &gpu in gpus {
            self.gpus[gpu].jobs.push(job);
        }
        self.jobs.push((job, gpus.to_vec()));
    }

    fn release(&mut self, job: usize) {
        for gpu in &mut self.gpus {
            gpu.jobs.retain(|&other| other != job);
        }
        self.jobs.retain(|&(other, _)| other != job);
    }
}

/// The nodes of a virtual cluster, in list order.
#[derive(Clone)]
pub struct Nodes {
    pub list: Vec<Node>,
    pub gpus_per_node: u32,
    /// All nodes that ever existed, by slot.
    lives: Vec<NodeLife>,
    removed_before: bool,
}

impl Nodes {
    pub fn new(number: u32, gpus_per_node: u32) -> Self {
        let mut nodes = Nodes {
            list: Vec::new(),
            gpus_per_node,
            lives: Vec::new(),
            removed_before: false,
        };
        for name in 0..number {
            nodes.push(name, i64::MIN);
        }
        nodes
    }

    fn push(&mut self, name: u32, from: i64) {
        let node = Node::new(self.lives.len(), name, self.gpus_per_node);
        self.list.push(node);
        self.lives.push(NodeLife {
            name,
            from,
            until: i64::MAX,
        });
    }

    pub fn free(&self) -> u32 {
        self.list.iter().map(Node::free).sum()
    }

    pub fn total(&self) -> u32 {
        self.list.len() as u32 * self.gpus_per_node
    }

    pub fn node(&self, slot: usize) -> &Node {
        self.list.iter().find(|node| node.slot == slot).unwrap()
    }

    pub fn node_mut(&mut self, slot: usize) -> &mut Node {
        self.list.iter_mut().find(|node| node.slot == slot).unwrap()
    }

    pub fn release(&mut self, job: usize) {
        for node in &mut self.list {
            node.release(job);
        }
    }

    /// Positions of the idle nodes, in descending order of their names.
    fn idle(&self) -> Vec<usize> {
        let idle = |&at: &usize| self.list[at].free() == self.gpus_per_node;
        let mut idle: Vec<usize> = (0..self.list.len()).filter(idle).collect();
        idle.sort_by_key(|&at| std::cmp::Reverse(self.list[at].name));
        idle
    }

    pub fn newcomer(&self) -> Option<usize> {
        self.list.iter().position(|node| node.name == NEWCOMER)
    }

    pub fn newcomer_is_idle(&self) -> bool {
        self.newcomer()
            .is_some_and(|at| self.list[at].free() == self.gpus_per_node)
    }

    /// Adds a node, unless an added node still exists. Returns whether a node was added.
    pub fn add(&mut self, now: i64) -> bool {
        let new = self.newcomer().is_none();
        if new {
            self.push(NEWCOMER, now);
        }
        new
    }

    /// Removes the idle node with the highest name. Before every removal except the first, a busy added node swaps
    /// names with the idle node that is removed. Returns whether a node was removed, and the slot of the added node if
    /// it got another name.
    pub fn remove(&mut self, now: i64) -> (bool, Option<usize>) {
        let Some(&idle) = self.idle().first() else {
            return (false, None);
        };
        let mut renamed = None;
        if self.removed_before && self.list[idle].name != NEWCOMER {
            let busy = self.newcomer().unwrap();
            self.list[busy].name = self.list[idle].name;
            self.list[idle].name = NEWCOMER;
            renamed = Some(self.list[busy].slot);
        }
        self.removed_before = true;
        let gone = self.list.remove(idle);
        self.lives[gone.slot].name = gone.name;
        self.lives[gone.slot].until = now;
        (true, renamed)
    }

    /// All nodes that ever existed, with their final names.
    pub fn into_lives(mut self) -> Vec<NodeLife> {
        for node in &self.list {
            self.lives[node.slot].name = node.name;
        }
        self.lives
    }
}
