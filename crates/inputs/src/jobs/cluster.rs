//! Reads clusters: a table of virtual clusters (VCs) and their numbers of nodes, such as the
//! original's `vc_config.csv`.
//!
//! ```csv
//! ,num
//! vcEwI,9
//! vcWoR,5
//! ```
//!
//! The name is in the column `vc`, or in a column without a name, as pandas writes it. The number
//! of nodes is in `num` or `nodes`.

use std::collections::BTreeSet;
use std::path::Path;

use gleaner_core::domain::cluster::MAX_NODES;
use gleaner_core::domain::{Cluster, VirtualCluster};
use gleaner_core::error::Result;
use gleaner_io::Loaded;
use gleaner_io::rows::{CellResult, Col, Header, Row};
use gleaner_io::source::Source;

/// Reads a cluster. Each of its nodes has `gpus_per_node` GPUs.
///
/// # Errors
/// The file cannot be read, or has faults, which are reported together: a VC that occurs twice, an
/// invalid number of nodes, or no VC at all.
pub fn read(path: &Path, gpus_per_node: u32) -> Result<Loaded<Cluster>> {
    let source = Source::open(path)?;
    let mut header = Header::open(&source)?;
    let name = header.require(&["vc", "", "__index_level_0__"], "the names of the VCs")?;
    let nodes = header.require(&["num", "nodes"], "the nodes of each VC")?;
    let mut reader = Reader {
        columns: (name, nodes),
        names: BTreeSet::new(),
        nodes: 0,
    };
    let (vcs, mut faults) = header.finish()?.gather(|row| reader.vc(row))?;
    if vcs.is_empty() && faults.is_empty() {
        faults.add(source.fault("no virtual cluster", "at least one row"))?;
    }
    let cluster = Cluster { vcs, gpus_per_node };
    Ok(Loaded {
        value: faults.finish(cluster)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Reads the rows, and checks them against earlier ones.
struct Reader {
    /// The column of the names and that of the numbers of nodes.
    columns: (Col, Col),
    /// The names in earlier rows.
    names: BTreeSet<String>,
    /// Number of nodes of all VCs so far.
    nodes: i64,
}

impl Reader {
    fn vc(&mut self, row: &Row<'_>) -> CellResult<VirtualCluster> {
        let name = row.cell(self.columns.0);
        let text = name.id()?.into_owned();
        if !self.names.insert(text.clone()) {
            let found = format!("{text:?} a second time");
            return Err(name.fault_of(found, "every VC once"));
        }
        let cell = row.cell(self.columns.1);
        let nodes = cell.integer(1..=MAX_NODES)?;
        self.nodes = self.nodes.saturating_add(nodes);
        let too_many = || {
            let found = format!("{} nodes up to here", self.nodes);
            cell.fault_of(found, format!("at most {MAX_NODES} in all"))
        };
        if self.nodes > MAX_NODES {
            return Err(too_many());
        }
        Ok(VirtualCluster {
            name: text,
            nodes: u32::try_from(nodes).map_err(|_| too_many())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault};

    fn read_csv(content: &str) -> Result<Cluster> {
        read(Input::csv(content).path(), 8).map(|loaded| loaded.value)
    }

    // Small fixed examples.
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
                "line 6, num: found 1000001 nodes up to here",
                "line 7, vc: found nothing, expected a text",
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
