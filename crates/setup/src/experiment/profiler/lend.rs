//! Virtual clusters that lend nodes to the profiler.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::{counted, printable};
use gleaner_domain::{Cluster, Trace};
use gleaner_simulate::profiler::Profiler;

/// A lender of nodes, as given to `--lend`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lend {
    /// All nodes of the profiler, each from the virtual cluster with the most remaining nodes.
    Auto,
    /// One virtual cluster.
    #[serde(untagged)]
    Loan {
        /// Name of the virtual cluster.
        vc: String,
        /// Number of nodes.
        nodes: u32,
    },
}

impl fmt::Display for Lend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lend::Auto => f.write_str("auto"),
            Lend::Loan { vc, nodes } => write!(f, "{vc}={nodes}"),
        }
    }
}

impl FromStr for Lend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (vc, nodes) = text.rsplit_once('=')?;
            Some(Lend::Loan {
                vc: vc.to_owned(),
                nodes: nodes.parse().ok()?,
            })
        };
        match text {
            "auto" => Ok(Lend::Auto),
            _ => parse().ok_or_else(|| "expected auto, or VC=NODES such as vcefl=1".to_owned()),
        }
    }
}

/// The number of nodes that each virtual cluster lends, by the index of the virtual cluster.
///
/// # Errors
/// Returns [`Error::Usage`] if `auto` is combined with names, if a virtual cluster is unknown, or if too few nodes can
/// be spared.
pub fn loans(
    lend: &[Lend],
    nodes: u32,
    cluster: &Cluster,
    trace: &Trace,
) -> Result<Vec<(usize, u32)>> {
    if lend == [Lend::Auto] {
        return spread(nodes, cluster, trace);
    }
    let loan = |lend: &Lend| match lend {
        Lend::Loan { vc, nodes } => Ok((vc_named(cluster, "--lend", vc)?, *nodes)),
        Lend::Auto => Err(Error::Usage(
            "--lend: give either auto or names, not both".into(),
        )),
    };
    lend.iter().map(loan).collect()
}

/// The index of a virtual cluster that an option names.
///
/// # Errors
/// Returns [`Error::Usage`] if the name is unknown.
pub fn vc_named(cluster: &Cluster, option: &str, name: &str) -> Result<usize> {
    let missing = || Error::Usage(format!("{option}: the cluster has no VC {name:?}"));
    cluster.vc(name).ok_or_else(missing)
}

/// Takes nodes one at a time, each from the virtual cluster with the most remaining nodes. Each virtual cluster keeps
/// at least one node, and enough nodes for its largest job. Example: clusters A, B and C have 5, 4 and 2 nodes, and
/// only small jobs. Three nodes are needed. A lends the first node, because 5 is the largest number. A and B then have
/// 4 nodes each, and A lends the second node because it comes first. B lends the third node.
fn spread(nodes: u32, cluster: &Cluster, trace: &Trace) -> Result<Vec<(usize, u32)>> {
    let mut needed = vec![1; cluster.vcs.len()];
    for job in &trace.jobs {
        needed[job.vc] = job.gpus.div_ceil(cluster.gpus_per_node).max(needed[job.vc]);
    }
    let mut lent = vec![0; needed.len()];
    let vcs = cluster.vcs.iter().zip(&needed).enumerate();
    let able = vcs.filter(|(_, (vc, needed))| vc.nodes > **needed);
    let mut left: BinaryHeap<_> = able.map(|(vc, (of, _))| (of.nodes, Reverse(vc))).collect();
    for taken in 0..nodes {
        let Some((most, Reverse(vc))) = left.pop() else {
            return Err(too_few(taken, nodes));
        };
        lent[vc] += 1;
        if most - 1 > needed[vc] {
            left.push((most - 1, Reverse(vc)));
        }
    }
    let lenders = lent.into_iter().enumerate().filter(|(_, nodes)| *nodes > 0);
    Ok(lenders.collect())
}

fn too_few(spare: u32, nodes: u32) -> Error {
    Error::Usage(format!(
        "--lend auto: the virtual clusters can spare {spare} of the profiler's {}, because each keeps at \
         least one node and enough nodes for its largest job; give the profiler fewer nodes (--profiler), or \
         name lenders (--lend VC=NODES)",
        counted(nodes, "node")
    ))
}

/// Checks that no virtual cluster lends all of its nodes, and that no more nodes are lent than the profiler has.
///
/// # Errors
/// Returns [`Error::Usage`] if one of these conditions is violated.
pub fn check(profiler: &Profiler, cluster: &Cluster) -> Result<()> {
    for (index, vc) in cluster.vcs.iter().enumerate() {
        if profiler.kept(index, vc.nodes) == 0 && vc.nodes > 0 {
            return Err(Error::Usage(format!(
                "--lend: {} would lend all of its {}, but must keep at least one",
                printable(&vc.name),
                counted(vc.nodes, "node")
            )));
        }
    }
    let lent: u64 = profiler
        .lent
        .iter()
        .map(|(_, nodes)| u64::from(*nodes))
        .sum();
    if lent > profiler.nodes.into() {
        return Err(Error::Usage(format!(
            "--lend: {} are lent, but the profiler has only {}; lend fewer nodes, or give the profiler \
             more nodes with --profiler",
            counted(lent, "node"),
            profiler.nodes
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::{Job, VirtualCluster};

    fn cluster(nodes: &[u32]) -> Cluster {
        let vc = |(index, &nodes): (usize, &u32)| VirtualCluster {
            name: format!("vc{index}"),
            nodes,
        };
        Cluster {
            vcs: nodes.iter().enumerate().map(vc).collect(),
            gpus_per_node: 8,
        }
    }

    /// A trace with one job for each element of `jobs`: the index of its virtual cluster and its number of GPUs.
    fn trace(jobs: &[(usize, u32)]) -> Trace {
        let job = |&(vc, gpus): &(usize, u32)| Job {
            vc,
            gpus,
            ..Job::default()
        };
        Trace {
            jobs: jobs.iter().map(job).collect(),
            ..Trace::default()
        }
    }

    // Small fixed examples of the values of --lend.
    #[test]
    fn lenders_are_named_or_auto() {
        let loan = Lend::Loan {
            vc: "a=b".into(),
            nodes: 3,
        };
        assert_eq!("a=b=3".parse(), Ok(loan));
        assert_eq!("auto".parse(), Ok(Lend::Auto));
        assert!("a".parse::<Lend>().is_err());
        let both = ["auto", "vc0=1"].map(|text| text.parse().unwrap());
        assert!(loans(&both, 2, &cluster(&[9]), &trace(&[])).is_err());
    }

    #[test]
    fn the_vc_that_keeps_the_most_nodes_lends() {
        let lend = |nodes, cluster: &Cluster, jobs: &[_]| {
            loans(&[Lend::Auto], nodes, cluster, &trace(jobs)).ok()
        };
        let three = cluster(&[3, 5, 4]);
        assert_eq!(lend(1, &three, &[]), Some(vec![(1, 1)]));
        assert_eq!(lend(3, &three, &[]), Some(vec![(1, 2), (2, 1)]));
        // A job with 33 GPUs needs all five nodes of its cluster, and a job with 17 GPUs needs three of the four
        // nodes of vc2.
        let jobs = [(1, 33), (2, 17), (0, 8)];
        assert_eq!(lend(2, &three, &jobs), Some(vec![(0, 1), (2, 1)]));
        assert_eq!(lend(3, &three, &jobs), Some(vec![(0, 2), (2, 1)]));
        assert_eq!(lend(4, &three, &jobs), None);
        assert_eq!(lend(1, &cluster(&[1, 1]), &[]), None);
    }
}
