//! Reads a table that names the file with the computational graph of each workload.
//!
//! ```csv
//! graph,model,dataset,batchsize,amp
//! graphs/vgg.pbtxt,VGG,CIFAR-10,64,0
//! ```
//!
//! A relative path is resolved against the folder of the table. Several workloads may have the same graph.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::words::name;
use crate::rows::{Rows, Text, input};
use gleaner_domain::Workload;
use gleaner_domain::error::Result;
use gleaner_io::Loaded;
use gleaner_io::source::Source;

/// The path of each workload's computational graph.
pub type Graphs = BTreeMap<Workload, PathBuf>;

input! {
    /// A workload and its graph file.
    pub(super) struct GraphRow {
        /// the path of the file with the computational graph, relative to the table's folder
        graph: String as Text = "graph" [""],
        ..workload: Workload,
    }
}

/// Reads a table of workloads and their graph files.
///
/// # Errors
/// The file cannot be read or is faulty: a workload occurs twice, or a graph file does not exist. Faults are reported
/// together.
pub fn read(path: &Path) -> Result<Loaded<Graphs>> {
    let source = Source::open(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let rows = Rows::<GraphRow>::open(&source)?;
    let mut graphs = Graphs::new();
    rows.each("workload", |line| {
        let GraphRow { graph, workload } = line.read()?;
        let file = folder.join(graph);
        if !file.is_file() {
            let expected = "the path of a file, relative to the folder of this table";
            return Err(line.cell("graph").fault(expected));
        }
        let found = format!("{} a second time", name(&workload));
        match graphs.insert(workload, file) {
            None => Ok(()),
            Some(_) => Err(line.fault("", found, "one row per workload")),
        }
    })?;
    Ok(source.loaded(graphs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault, workload};

    #[test]
    fn graphs_are_keyed_by_workload_and_found_beside_the_table() {
        let input = Input::csv("model,graph,dataset,batchsize,amp\nVGG,here.csv,CIFAR-10,64,0\n");
        let own = input.path().file_name().unwrap().to_owned();
        let text = std::fs::read_to_string(input.path()).unwrap();
        std::fs::write(
            input.path(),
            text.replace("here.csv", &own.to_string_lossy()),
        )
        .unwrap();
        let graphs = read(input.path()).unwrap().value;
        assert_eq!(
            graphs,
            Graphs::from([(workload("VGG"), input.path().to_owned())])
        );
    }

    #[test]
    fn faults_are_gathered() {
        let input = Input::csv("graph,model,dataset,batchsize,amp\nnone.pb,A,d,1,0\n,A,d,1,0\n");
        let message = fault(read(input.path()));
        assert_has(
            &message,
            &[
                "2 faults",
                "line 2, graph: found \"none.pb\", expected the path of a file",
                "line 3, graph",
            ],
        );
        let input = Input::csv("graph,model,dataset,batchsize,amp\n");
        assert_has(&fault(read(input.path())), &["no workload"]);
        let input = Input::csv("graph,model\n");
        assert_has(&fault(read(input.path())), &["header, dataset"]);
    }
}
