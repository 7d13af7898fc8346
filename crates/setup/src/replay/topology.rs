//! The order of nodes in a network topology, for the rules that choose the nodes of a task.

use std::path::Path;

use gleaner_domain::error::{Fault, Result};
use gleaner_domain::words::counted;
use gleaner_domain::{EventLog, NodeOrder, NodeRule};
use gleaner_inputs::topology;
use gleaner_io::Loaded;

use gleaner_domain::Observer;

/// Reads the topology `file` if any of the rules uses an order of nodes. Otherwise, reports that
/// the option named `option` has no effect.
///
/// # Errors
/// The file cannot be read or has faults.
pub fn read_topology(
    file: Option<&Path>,
    option: &str,
    rules: impl IntoIterator<Item = NodeRule>,
    observer: &dyn Observer,
) -> Result<Option<Loaded<NodeOrder>>> {
    let Some(file) = file else { return Ok(None) };
    if rules.into_iter().any(NodeRule::uses_order) {
        return gleaner_inputs::topology::read(file).map(Some);
    }
    let rule = NodeRule::Arrival;
    observer.remark(&[format!(
        "{option} has no effect: the rule {rule} uses no order of nodes"
    )]);
    Ok(None)
}

/// Reports how many nodes of the log are not in the topology `file`.
///
/// # Errors
/// The file contains none of the log's nodes.
pub fn check_topology(
    order: &NodeOrder,
    file: &Path,
    log: &EventLog,
    observer: &dyn Observer,
) -> Result<()> {
    let is_missing = |name: &&String| order.place(name).is_none();
    let missing = log.nodes().iter().filter(is_missing).count();
    let all = log.nodes().len();
    if missing == all {
        let [own, first] = [
            order.names().first().copied(),
            log.nodes().first().map(String::as_str),
        ];
        let like =
            |name: Option<&str>| name.map_or(String::new(), |name| format!(" such as {name}"));
        let found = format!(
            "{}{}, but no node of the log",
            counted(order.len(), "node"),
            like(own)
        );
        let expected = format!(
            "names of the log's nodes{}, in {}",
            like(first),
            topology::EXPECTED
        );
        return Err(Fault::of(file, found, expected).into());
    }
    if missing > 0 {
        observer.remark(&[format!(
            "{missing} of {} are not in {}: they are placed last, by name",
            counted(all, "node"),
            file.display()
        )]);
    }
    Ok(())
}
