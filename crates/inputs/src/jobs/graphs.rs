//! Reads a table of workloads and the files of their computational graphs.
//!
//! ```csv
//! graph,model,dataset,batchsize,amp
//! graphs/vgg.pbtxt,VGG,CIFAR-10,64,0
//! ```
//!
//! A relative path is relative to the folder of the table. Several workloads may have the same
//! graph.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::words::name;
use super::workload::WorkloadColumns;
use gleaner_core::domain::Workload;
use gleaner_core::error::Result;
use gleaner_io::rows::{CellResult, Header, Row};
use gleaner_io::source::Source;
use gleaner_io::{Gatherer, Loaded};

/// The file of the computational graph of each workload.
pub type Graphs = BTreeMap<Workload, PathBuf>;

/// Reads the table.
///
/// # Errors
/// The file cannot be read, or has faults, which are reported together: a workload that occurs
/// twice, or a graph file that does not exist.
pub fn read(path: &Path) -> Result<Loaded<Graphs>> {
    let source = Source::open(path)?;
    let mut header = Header::open(&source)?;
    let graph = header.require(&["graph"], "the file of the computational graph")?;
    let columns = WorkloadColumns::require(&mut header, "")?;
    let table = header.finish()?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let one = |row: &Row<'_>| -> CellResult<(Workload, PathBuf)> {
        let cell = row.cell(graph);
        let file = beside.join(&*cell.text()?);
        match file.is_file() {
            true => Ok((columns.read(row)?, file)),
            false => Err(cell.fault("a file, its path as seen from this table")),
        }
    };
    let mut graphs = Graphs::new();
    let mut faults = Gatherer::default();
    table.visit(|row| {
        let read = row.and_then(|row| Ok((one(&row)?, row.place())));
        let ((workload, file), place) = match read {
            Ok(read) => read,
            Err(fault) => return faults.add(*fault),
        };
        let found = format!("{} a second time", name(&workload));
        match graphs.insert(workload, file) {
            None => Ok(()),
            Some(_) => {
                let fault = source.fault(found, "every workload once");
                faults.add(fault.at(place))
            }
        }
    })?;
    if graphs.is_empty() && faults.is_empty() {
        faults.add(source.fault("no workload", "at least one row"))?;
    }
    Ok(Loaded {
        value: faults.finish(graphs)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault, workload};

    // Small fixed examples.
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
                "line 2, graph: found \"none.pb\", expected a file",
                "line 3, graph",
            ],
        );
        let input = Input::csv("graph,model,dataset,batchsize,amp\n");
        assert_has(&fault(read(input.path())), &["no workload"]);
        let input = Input::csv("graph,model\n");
        assert_has(&fault(read(input.path())), &["header, dataset"]);
    }
}
