//! The nodes of a virtual cluster while it is simulated.

use super::free::FreeGpus;
use super::gauges::{Gauges, NodeGauges};
use gleaner_domain::cluster::GpuSet;
use gleaner_domain::results::schedule::{Idleness, NodeLife, Placement, State};

/// The name of a node added during the simulation. No node has a higher name, so an idle added node is removed before
/// all other idle nodes.
pub const ADDED_NODE: u32 = 9999;

/// The nodes, the jobs on them, and the load of their GPUs.
#[derive(Debug)]
pub struct Nodes {
    free: FreeGpus,
    nodes: Vec<Node>,
    count: u32,
    /// Number of nodes with one job, and number of nodes with several jobs.
    crowded: [u32; 2],
    gauges: Gauges,
    /// Whether a node has ever been removed.
    shrunk: bool,
    idleness: Vec<Idleness>,
    busy: BusyTime,
}

#[derive(Debug)]
struct Node {
    life: NodeLife,
    /// The jobs on the node, in the order of their arrival there.
    jobs: Vec<usize>,
    gauges: NodeGauges,
}

/// The GPU-seconds used until second `since`, and the number of GPUs in use from then on.
#[derive(Debug, Clone, Copy, Default)]
struct BusyTime {
    gpus: u64,
    since: i64,
    gpu_seconds: i64,
}

/// Load of a job on each of its GPUs: utilisation in percent, memory in MB.
pub type Load = [f64; 2];

impl Nodes {
    /// Creates `count` free nodes at second `now`. Their names are numbers from 0.
    pub fn new(count: u32, gpus_per_node: u32, now: i64) -> Self {
        let mut nodes = Nodes {
            free: FreeGpus::new(0, gpus_per_node),
            nodes: Vec::new(),
            count: 0,
            crowded: [0; 2],
            gauges: Gauges::default(),
            shrunk: false,
            idleness: Vec::new(),
            busy: BusyTime {
                since: now,
                ..BusyTime::default()
            },
        };
        for name in 0..count {
            nodes.insert(name, now);
            nodes.nodes[name as usize].life.from = i64::MIN;
        }
        nodes
    }

    /// The free GPUs.
    pub fn free(&self) -> &FreeGpus {
        &self.free
    }

    /// Number of nodes.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Total number of GPUs on all nodes.
    pub fn gpus(&self) -> u64 {
        u64::from(self.count) * u64::from(self.free.gpus_per_node())
    }

    /// Whether an added node exists and is idle.
    pub fn added_node_is_idle(&self) -> bool {
        self.idle_nodes().any(|slot| self.name(slot) == ADDED_NODE)
    }

    /// Replaces the slots of nodes in a placement with the names of these nodes.
    pub fn named(&self, placement: &Placement) -> Vec<(u32, GpuSet)> {
        let named = |&(slot, gpus)| (self.name(slot), gpus);
        placement.iter().map(named).collect()
    }

    /// Sets the fields of `state` that describe the nodes and their GPUs.
    pub fn describe(&self, state: &mut State) {
        state.total_gpus = self.gpus();
        state.idle_gpus = self.free.total();
        state.nodes = self.count;
        [state.single_nodes, state.shared_nodes] = self.crowded;
        [state.gpu_util, state.gmem] = self.gauges.all(self.count);
        [state.gpu_util_active, state.gmem_active] = self.gauges.active();
    }

    /// Puts a job on free GPUs.
    pub fn occupy(&mut self, job: usize, placement: &Placement, load: Load, now: i64) {
        for &(slot, _) in placement {
            if self.is_idle(slot) {
                self.log(slot, now, false);
            }
        }
        self.free.take(placement);
        self.busy.add(now, gpus_of(placement));
        self.enter(job, placement, load);
    }

    /// Puts a job on the GPUs of another job; `load` is the combined load of both jobs.
    pub fn join(&mut self, job: usize, placement: &Placement, load: Load) {
        self.enter(job, placement, load);
    }

    /// Removes a job from GPUs that it holds alone, which are then free.
    pub fn vacate(&mut self, job: usize, placement: &Placement, now: i64) {
        self.leave(job, placement, [0.0; 2]);
        self.free.give(placement);
        self.busy.add(now, -gpus_of(placement));
        for &(slot, _) in placement {
            if self.is_idle(slot) {
                self.log(slot, now, true);
            }
        }
    }

    /// Removes a job from GPUs that its partner keeps; `load` is the partner's load.
    pub fn part(&mut self, job: usize, placement: &Placement, load: Load) {
        self.leave(job, placement, load);
    }

    /// Adds a node named [`ADDED_NODE`] unless there already is one. Returns whether a node was
    /// added.
    pub fn grow(&mut self, now: i64) -> bool {
        if self.added_node().is_some() {
            return false;
        }
        self.insert(ADDED_NODE, now);
        true
    }

    /// Removes the idle node with the highest name. Returns `None` if no node is idle.
    ///
    /// Before every removal except the first, a busy added node swaps names with the idle node that is removed.
    /// [`Shrunk::renamed`] is then the slot of the busy node.
    pub fn shrink(&mut self, now: i64) -> Option<Shrunk> {
        let idle = self.idle_nodes().max_by_key(|&slot| self.name(slot))?;
        let added = self.added_node().filter(|&added| added != idle);
        let renamed = added.filter(|_| self.shrunk);
        // After the removal, no idle node has the name of the removed node: either a busy node takes over the name, or
        // no node has it. The log of idle times identifies nodes by name, so this entry marks the name as busy.
        self.log(idle, now, false);
        if let Some(busy) = renamed {
            self.nodes[busy as usize].life.name = self.name(idle);
            self.nodes[idle as usize].life.name = ADDED_NODE;
        }
        self.nodes[idle as usize].life.until = now;
        self.free.remove_node(idle);
        self.count -= 1;
        self.shrunk = true;
        Some(Shrunk { renamed })
    }

    /// The jobs on the node with the given slot.
    pub fn jobs_on(&self, slot: u32) -> &[usize] {
        &self.nodes[slot as usize].jobs
    }

    /// Returns the lifetimes and idle times of nodes, and the busy GPU-seconds, up to second `now`.
    pub fn finish(mut self, now: i64) -> (Vec<NodeLife>, Vec<Idleness>, i64) {
        self.busy.add(now, 0);
        let lives = self.nodes.iter().map(|node| node.life).collect();
        (lives, self.idleness, self.busy.gpu_seconds)
    }

    fn insert(&mut self, name: u32, now: i64) {
        let slot = self.free.add_node();
        self.nodes.push(Node {
            life: NodeLife {
                name,
                from: now,
                until: i64::MAX,
            },
            jobs: Vec::new(),
            gauges: NodeGauges::new(self.free.gpus_per_node()),
        });
        self.count += 1;
        self.log(slot, now, true);
    }

    fn enter(&mut self, job: usize, placement: &Placement, load: Load) {
        for &(slot, gpus) in placement {
            let node = &mut self.nodes[slot as usize];
            crowd(&mut self.crowded, node.jobs.len(), node.jobs.len() + 1);
            node.jobs.push(job);
            self.gauges.set(&mut node.gauges, gpus, load);
        }
    }

    fn leave(&mut self, job: usize, placement: &Placement, load: Load) {
        for &(slot, gpus) in placement {
            let node = &mut self.nodes[slot as usize];
            crowd(&mut self.crowded, node.jobs.len(), node.jobs.len() - 1);
            node.jobs.retain(|&other| other != job);
            self.gauges.set(&mut node.gauges, gpus, load);
        }
    }

    fn name(&self, slot: u32) -> u32 {
        self.nodes[slot as usize].life.name
    }

    fn added_node(&self) -> Option<u32> {
        let there = |node: &Node| node.life.name == ADDED_NODE && node.life.until == i64::MAX;
        (0..)
            .zip(&self.nodes)
            .find_map(|(slot, node)| there(node).then_some(slot))
    }

    fn idle_nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.free.slots_with(self.free.gpus_per_node())
    }

    fn is_idle(&self, slot: u32) -> bool {
        self.free.on(slot) == self.free.gpus_per_node()
    }

    fn log(&mut self, slot: u32, time: i64, idle: bool) {
        let node = self.name(slot);
        self.idleness.push(Idleness { time, node, idle });
    }
}

/// The removal of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shrunk {
    /// Slot of the busy node that took the removed node's name; `None` if no node did.
    pub renamed: Option<u32>,
}

impl BusyTime {
    fn add(&mut self, now: i64, gpus: i64) {
        let passed = (self.gpus as i64).saturating_mul(now.saturating_sub(self.since));
        self.gpu_seconds = self.gpu_seconds.saturating_add(passed);
        self.since = now;
        self.gpus = self.gpus.saturating_add_signed(gpus);
    }
}

fn gpus_of(placement: &Placement) -> i64 {
    placement
        .iter()
        .map(|(_, gpus)| i64::from(gpus.count_ones()))
        .sum()
}

/// Updates the counts of nodes with one job and with several jobs after the number of jobs on a node has changed.
fn crowd(crowded: &mut [u32; 2], before: usize, after: usize) {
    let class = |jobs: usize| jobs.checked_sub(1).map(|more| more.min(1));
    if let Some(class) = class(before) {
        crowded[class] -= 1;
    }
    if let Some(class) = class(after) {
        crowded[class] += 1;
    }
}
