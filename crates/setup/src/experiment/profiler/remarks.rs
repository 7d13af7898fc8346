//! Notes about the profiler's nodes.

use gleaner_domain::Cluster;
use gleaner_domain::words::printable;
use gleaner_simulate::Request;
use gleaner_simulate::profiler::Profiler;

/// Note about `--profiler auto` for a cluster without published settings.
pub const NOT_PUBLISHED: &str = "\
--profiler auto: no setting is published for this cluster, only for Venus and Philly, so jobs are not \
profiled; to profile them, use --profiler TIME,NODES,FACTOR, such as --profiler 200,2,4 --lend auto";

/// A note if manual settings drop the loans of the `published` settings.
pub fn without_loans(
    published: Option<Profiler>,
    cluster: &Cluster,
    lent: bool,
    elastic: bool,
) -> Vec<String> {
    let Some(published) = published else {
        return Vec::new();
    };
    let name = |vc: usize| printable(&cluster.vcs[vc].name);
    let mut missing = Vec::new();
    if !lent {
        let loans = published.lent.iter();
        let loans: Vec<_> = loans
            .map(|(vc, nodes)| format!("{}={nodes}", name(*vc)))
            .collect();
        missing.push(format!("--lend {}", loans.join(",")));
    }
    if !elastic {
        missing.extend(
            published
                .elastic
                .map(|vc| format!("--elastic {}", name(vc))),
        );
    }
    if missing.is_empty() {
        return missing;
    }
    vec![format!(
        "--profiler TIME,NODES,FACTOR drops the nodes that virtual clusters lend in the published \
         setting of this cluster; to keep them, add {}",
        missing.join(" ")
    )]
}

/// A note if some policies have more GPUs than others because no virtual cluster lends the profiler's nodes.
pub fn unequal(profiler: &Profiler, cluster: &Cluster, requests: &[Request]) -> Vec<String> {
    let (with, without): (Vec<&Request>, Vec<&Request>) =
        requests.iter().partition(|r| r.policy.profiled);
    let extra = profiler.extra_nodes();
    if extra == 0 || with.is_empty() || without.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = with.iter().map(|request| request.name).collect();
    let gpus = cluster.gpus();
    let more = gpus + profiler.extra_gpus(cluster.gpus_per_node);
    vec![format!(
        "{more} GPUs are available to {}, but {gpus} to the other policies, because no virtual cluster lends \
         {extra} of the profiler's nodes; with --lend auto, all policies have the same number of GPUs",
        names.join(" and ")
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::VirtualCluster;

    // Small fixed example: a published setting in which two virtual clusters lend nodes.
    #[test]
    fn loans_that_are_dropped_are_named() {
        let vc = |name: &str| VirtualCluster {
            name: name.to_owned(),
            nodes: 3,
        };
        let cluster = Cluster {
            vcs: vec![vc("a"), vc("b")],
            gpus_per_node: 8,
        };
        let published = Profiler {
            limit: 200,
            nodes: 2,
            factor: 4.0,
            lent: vec![(0, 1), (1, 2)],
            elastic: Some(1),
        };
        let told = |lent, elastic| without_loans(Some(published.clone()), &cluster, lent, elastic);
        assert!(told(false, false)[0].ends_with("add --lend a=1,b=2 --elastic b"));
        assert!(told(true, false)[0].ends_with("add --elastic b"));
        assert!(told(true, true).is_empty());
        assert!(without_loans(None, &cluster, false, false).is_empty());
    }
}
