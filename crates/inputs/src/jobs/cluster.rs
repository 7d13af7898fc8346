//! Reads clusters from tables of virtual clusters (VCs) and their node counts, such as the original's `vc_config.csv`.
//!
//! ```csv
//! ,num
//! vcEwI,9
//! vcWoR,5
//! ```
//!
//! The header of the column of VC names may be empty, as in files written by pandas.

use std::collections::BTreeSet;
use std::path::Path;

use crate::rows::{Id, Rows, Whole, input};
use gleaner_domain::cluster::MAX_NODES;
use gleaner_domain::error::Result;
use gleaner_domain::{Cluster, VirtualCluster};
use gleaner_io::Loaded;
use gleaner_io::source::Source;

input! {
    impl VirtualCluster {
        /// the unique name of the VC
        name: String as Id = "vc" or "" or "__index_level_0__" [""],
        /// the number of nodes in the VC
        nodes: u32 as Whole(1..=MAX_NODES) = "num" or "nodes" ["nodes"],
    }
}

/// Reads a cluster whose nodes have `gpus_per_node` GPUs each.
///
/// # Errors
/// The file cannot be read or is faulty: a VC occurs twice, a number of nodes is invalid, or there is no VC. Faults are
/// reported together.
pub fn read(path: &Path, gpus_per_node: u32) -> Result<Loaded<Cluster>> {
    let source = Source::open(path)?;
    let (mut names, mut nodes) = (BTreeSet::new(), 0_u64);
    let mut vcs: Vec<VirtualCluster> = Vec::new();
    let rows = Rows::<VirtualCluster>::open(&source)?;
    rows.each("virtual cluster", |line| {
        let vc = line.read()?;
        if !names.insert(vc.name.clone()) {
            let found = format!("{:?} a second time", vc.name);
            return Err(line.fault("vc", found, "each VC only once"));
        }
        nodes += u64::from(vc.nodes);
        if nodes > MAX_NODES.unsigned_abs() {
            let found = format!("{nodes} nodes up to this row");
            return Err(line.fault("num", found, format!("at most {MAX_NODES} in total")));
        }
        vcs.push(vc);
        Ok(())
    })?;
    Ok(source.loaded(Cluster { vcs, gpus_per_node }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault};

    fn read_csv(content: &str) -> Result<Cluster> {
        read(Input::csv(content).path(), 8).map(|loaded| loaded.value)
    }

    #[test]
    fn names_may_have_no_header() {
        let vc = |name: &str, nodes| VirtualCluster {
            name: name.to_owned(),
            nodes,
        };
        for content in [
            ",num\nx,9\n7,5\n",
            "nodes,vc\n9,x\n5.0,7.0\n",
            "vc,num,\nx,9,y\n7,5,z\n",
        ] {
            let cluster = read_csv(content).unwrap();
            assert_eq!(cluster.vcs, [vc("x", 9), vc("7", 5)], "{content}");
            assert_eq!(cluster.gpus(), 112);
        }
    }

    #[test]
    fn faults_are_gathered() {
        let message = fault(read_csv(",num\nx,0\ny,1.5\nz,1\nz,1\nu,1000000\n,3\n"));
        assert_has(
            &message,
            &[
                "6 faults",
                "line 2, num: found \"0\", expected a whole number from 1 to 1000000",
                "line 3, num: found \"1.5\"",
                "line 5, vc: found \"z\" a second time",
                "line 6, num: found 1000001 nodes up to this row",
                "line 7, vc: found nothing, expected a string",
            ][1..],
        );
        assert_has(&fault(read_csv(",num\n")), &["no virtual cluster"]);
        assert_has(&fault(read_csv("")), &["an empty file"]);
        let message = fault(read_csv("name,size\nx,1\n"));
        assert_has(
            &message,
            &["header, vc", "header, num", "a column num or nodes"],
        );
    }
}
