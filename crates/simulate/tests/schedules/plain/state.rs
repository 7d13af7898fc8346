//! The sampled state of a simulation.

use gleaner_domain::results::schedule::State;

use super::nodes::{Gpu, Node};
use super::sim::Sim;

impl Sim<'_> {
    /// The state in the current second.
    pub fn state(&self) -> State {
        let list = &self.nodes.list;
        let with_jobs = |wanted: fn(usize) -> bool| {
            list.iter().filter(|node| wanted(node.jobs.len())).count() as u32
        };
        let waiting = || self.waiting.iter().map(|&job| self.gpus(job));
        let per_node = |of: fn((f64, f64)) -> f64| -> Vec<Vec<f64>> {
            let of_node = |node: &Node| self.usage(node).into_iter().map(of).collect();
            list.iter().map(of_node).collect()
        };
        let (utils, mems) = (per_node(|usage| usage.0), per_node(|usage| usage.1));
        State {
            total_gpus: self.nodes.total().into(),
            idle_gpus: self.nodes.free().into(),
            pending_gpus: waiting().map(u64::from).sum(),
            running_jobs: self.running.len() as u32,
            pending_jobs: self.waiting.len() as u32,
            pending_small_jobs: waiting().filter(|&gpus| gpus < 8).count() as u32,
            nodes: list.len() as u32,
            single_nodes: with_jobs(|jobs| jobs == 1),
            shared_nodes: with_jobs(|jobs| jobs > 1),
            gpu_util: mean(utils.iter().map(|gpus| mean(gpus.iter().copied()))),
            gmem: mean(mems.iter().map(|gpus| mean(gpus.iter().copied()))),
            gpu_util_active: mean_of_used(&utils),
            gmem_active: mean_of_used(&mems),
        }
    }

    /// Utilisation and memory of each GPU of a node.
    fn usage(&self, node: &Node) -> Vec<(f64, f64)> {
        let of_gpu = |gpu: &Gpu| match gpu.jobs[..] {
            [] => (0.0, 0.0),
            [job] => {
                let usage = self.world.jobs[job].usage;
                (usage.gpu_util, usage.gmem)
            }
            _ => gpu.pair,
        };
        node.gpus.iter().map(of_gpu).collect()
    }
}

/// The mean; 0 if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Averages first over the GPUs of each node, then over the nodes. GPUs and nodes with the value 0 are left out.
fn mean_of_used(nodes: &[Vec<f64>]) -> f64 {
    let used = |node: &Vec<f64>| {
        let used: Vec<f64> = node.iter().copied().filter(|&value| value > 0.0).collect();
        (!used.is_empty()).then(|| mean(used.into_iter()))
    };
    mean(nodes.iter().filter_map(used))
}
