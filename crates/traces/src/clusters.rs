//! Chooses the number of nodes for each virtual cluster (VC) of a trace.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexSet;

use super::machines::Machines;
use super::{Format, Options};
use gleaner_domain::cluster::MAX_NODES;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::words::counted;
use gleaner_domain::{Cluster, VirtualCluster};

/// The name that results use for all virtual clusters together. No virtual cluster may have this
/// name.
const ALL: &str = "all";

/// The GPUs that a job held from second `start` to second `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub vc: u32,
    pub start: i64,
    pub end: i64,
    pub gpus: u32,
}

/// The GPU demand of the jobs of a trace, by VC.
pub(super) struct Demand<'a> {
    pub vcs: &'a IndexSet<String>,
    pub uses: &'a [Use],
    /// Number of GPUs of the largest job of each VC, by VC index.
    pub largest: Vec<u32>,
}

/// The sizes of all VCs, in nodes.
pub(super) struct Sizes {
    /// Number of nodes by VC index; `None` if the list of machines does not contain the VC.
    nodes: Vec<Option<u64>>,
    /// Whether all jobs are put into one VC.
    one: bool,
    /// A note on the source of the sizes.
    pub note: String,
}

/// Chooses the sizes from the options, the trace or the list of machines, in this order of
/// precedence. If none of these sources states the sizes, the VCs are just large enough for their
/// jobs.
pub(super) fn sizes(
    demand: &Demand<'_>,
    machines: &Machines,
    resources: Option<u64>,
    options: &Options,
) -> Sizes {
    let each = u64::from(options.gpus_per_node);
    let one = |nodes: u64, note| Sizes {
        nodes: vec![Some(nodes); demand.vcs.len()],
        one: true,
        note,
    };
    if let Some(nodes) = options.node_count {
        let note = format!(
            "one virtual cluster of {} of {}, for all jobs",
            counted(nodes, "node"),
            counted(each, "GPU")
        );
        return one(nodes.into(), note);
    }
    if let Some(gpus) = resources {
        let nodes = gpus.div_ceil(each);
        let note = format!(
            "the workload is for {}, each of which counts as a GPU: one virtual cluster of {} (GPUs \
             per node: {each})",
            counted(gpus, "resource"),
            counted(nodes, "node")
        );
        return one(nodes, note);
    }
    let known = machines.gpus_by_vc();
    if !known.is_empty() {
        let gpus = demand.vcs.iter().map(|vc| known.get(vc));
        return Sizes {
            nodes: gpus
                .map(|gpus| gpus.map(|gpus| gpus.div_ceil(each)))
                .collect(),
            one: false,
            note: format!(
                "every virtual cluster has the GPUs that --machines lists (GPUs per node: {each})"
            ),
        };
    }
    let peaks = peaks(demand);
    Sizes {
        nodes: peaks.iter().map(|gpus| Some(gpus.div_ceil(each))).collect(),
        one: false,
        note: format!(
            "the trace does not state the sizes of the virtual clusters: each gets enough \
             nodes of {} for the GPUs that its jobs {} (see --node-count{})",
            counted(each, "GPU"),
            match options.format {
                // The jobs of a Gavel trace have not run yet.
                Format::Gavel => "would hold at once if none waited",
                _ => "ever held at once",
            },
            options.format.machines_flag()
        ),
    }
}

/// The name of the only virtual cluster: the name of the file without its extensions.
fn name_of(file: &Path, format: Format) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    match stem {
        "" | "-" => format.name().to_owned(),
        stem if stem.eq_ignore_ascii_case(ALL) => format.name().to_owned(),
        stem => stem.to_owned(),
    }
}

/// The maximum number of GPUs held at once in each VC, or the number of GPUs of the VC's largest
/// job if that is larger. Visits all starts and ends in chronological order, and updates the number of held GPUs at
/// each of them.
fn peaks(demand: &Demand<'_>) -> Vec<u64> {
    let mut edges: Vec<(i64, i64, u32)> = Vec::with_capacity(demand.uses.len() * 2);
    for used in demand.uses {
        let gpus = i64::from(used.gpus);
        edges.push((used.start, gpus, used.vc));
        edges.push((used.end, -gpus, used.vc));
    }
    // In the same second, ends are sorted before starts, because their GPU counts are negative.
    edges.sort_unstable();
    let mut held = vec![0i64; demand.largest.len()];
    let mut peaks: Vec<u64> = demand.largest.iter().map(|gpus| u64::from(*gpus)).collect();
    for (_, gpus, vc) in edges {
        let held = &mut held[vc as usize];
        *held += gpus;
        let peak = &mut peaks[vc as usize];
        *peak = held.unsigned_abs().max(*peak);
    }
    peaks
}

impl Sizes {
    /// Number of nodes of a VC; `None` if the list of machines does not contain the VC.
    pub fn nodes(&self, vc: u32) -> Option<u64> {
        self.nodes
            .get(vc as usize)
            .copied()
            .flatten()
            .filter(|nodes| *nodes > 0)
    }

    /// Returns a cluster with the VCs in `used`, sorted by name, and the index of each of these VCs in the cluster.
    ///
    /// # Errors
    /// There are more nodes than a cluster can have.
    pub fn cluster(
        &self,
        names: &IndexSet<String>,
        used: &BTreeSet<u32>,
        options: &Options,
        file: &Path,
    ) -> Result<(Cluster, Vec<usize>)> {
        let mut order: Vec<u32> = used.iter().copied().collect();
        order.sort_by_key(|vc| names.get_index(*vc as usize));
        if self.one {
            order.truncate(1);
        }
        let total: u64 = order.iter().filter_map(|vc| self.nodes(*vc)).sum();
        if total > MAX_NODES as u64 {
            let found = format!(
                "virtual clusters with a total of {total} nodes of {}",
                counted(options.gpus_per_node, "GPU")
            );
            let fault = Fault::of(file, found, format!("at most {MAX_NODES}"));
            return Err(fault.remedy("see --gpus-per-node and --node-count").into());
        }
        let mut index = vec![0; names.len()];
        let mut vcs = Vec::with_capacity(order.len());
        for vc in order {
            index[vc as usize] = vcs.len();
            let name = names.get_index(vc as usize).filter(|_| !self.one);
            vcs.push(VirtualCluster {
                name: match name {
                    Some(name) if !name.eq_ignore_ascii_case(ALL) => name.clone(),
                    Some(name) => format!("{}-{name}", options.format.name()),
                    None => name_of(file, options.format),
                },
                nodes: self.nodes(vc).unwrap_or(1) as u32,
            });
        }
        let gpus_per_node = options.gpus_per_node;
        Ok((Cluster { vcs, gpus_per_node }, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(vc: u32, start: i64, end: i64, gpus: u32) -> Use {
        Use {
            vc,
            start,
            end,
            gpus,
        }
    }

    #[test]
    fn the_only_vc_is_named_after_its_file() {
        for (file, expected) in [
            ("logs/workload.json", "workload"),
            ("logs/seed=0.json.gz", "seed=0"),
            ("all.json", "batsim"),
            ("-", "batsim"),
            ("", "batsim"),
        ] {
            assert_eq!(name_of(Path::new(file), Format::Batsim), expected);
        }
    }

    // The jobs of VC `a` hold 8 GPUs at once. One of these jobs ends in the second in which another starts. VC `b` has
    // a job of 20 GPUs whose start and end are unknown.
    #[test]
    fn a_vc_has_the_nodes_that_its_jobs_held_at_once() {
        let uses = [
            used(0, 0, 10, 4),
            used(0, 5, 20, 4),
            used(0, 10, 30, 4),
            used(1, 0, 10, 1),
        ];
        let vcs = ["b", "a"].map(str::to_owned).into_iter().collect();
        let demand = Demand {
            vcs: &vcs,
            uses: &uses,
            largest: vec![4, 20],
        };
        assert_eq!(peaks(&demand), [8, 20]);
        let options = Options::new(Format::Helios);
        let sizes = sizes(&demand, &Machines::default(), None, &options);
        let used = [0, 1].into_iter().collect();
        let (cluster, index) = sizes
            .cluster(&vcs, &used, &options, Path::new("t"))
            .unwrap();
        let sizes: Vec<_> = cluster.vcs.iter().map(|vc| (&*vc.name, vc.nodes)).collect();
        assert_eq!((sizes, index), (vec![("a", 3), ("b", 1)], vec![1, 0]));
    }
}
