//! The classes of nodes in event logs: the column `class` of the long form, and the JSON text in Parquet metadata.

use serde::{Deserialize, Serialize};

use super::assemble::Assembler;
use gleaner_domain::NodeClasses;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::node_classes::{ClassNames, MAX_CLASSES};
use gleaner_domain::words::counted;
use gleaner_io::fault::{Place, show};

/// Name of the column that contains the classes.
pub(crate) const COLUMN: &str = "class";

/// Collects the classes of nodes from the rows of a log.
#[derive(Default)]
pub(super) struct ClassColumn {
    names: ClassNames,
    /// For each node, its class so far and the first row that specifies the class; the node's first row if none does.
    of_node: Vec<Stated>,
}

/// The class of a node so far, and the row that specifies it.
#[derive(Clone, Copy)]
struct Stated {
    class: Option<u16>,
    place: Place,
}

impl ClassColumn {
    /// Records the class in a cell of a node's row. An empty cell is ignored. Returns a fault if the cell contradicts
    /// an earlier row or is not UTF-8. Rows must be added in the order of the file, and nodes must be numbered in the
    /// order of their first rows.
    ///
    /// # Errors
    /// There are too many classes.
    pub fn add(
        &mut self,
        log: &Assembler<'_>,
        node: u32,
        cell: &[u8],
        place: Place,
    ) -> Result<Option<Fault>> {
        let node = node as usize;
        if node == self.of_node.len() {
            self.of_node.push(Stated { class: None, place });
        }
        if cell.is_empty() {
            return Ok(None);
        }
        let fault = |found, expected: &str| {
            let fault = Fault::of(log.path(), found, expected);
            Ok(Some(fault.at(place).field(COLUMN)))
        };
        let Ok(class) = std::str::from_utf8(cell) else {
            return fault(show(cell), "the name of a class in UTF-8");
        };
        let class = self.names.add(class).ok_or_else(|| {
            let fault = Fault::of(log.path(), "too many classes", at_most());
            fault.at(place).field(COLUMN)
        })?;
        let stated = &mut self.of_node[node];
        match stated.class {
            None => {
                *stated = Stated {
                    class: Some(class),
                    place,
                };
                Ok(None)
            }
            Some(earlier) if earlier == class => Ok(None),
            Some(earlier) => {
                let [now, before] = [class, earlier].map(|class| self.names.of(class));
                let (name, place) = (&log.nodes()[node], stated.place);
                let found = format!("{now:?} for node {name:?}, but {before:?} in {place}");
                fault(found, "one class for each node")
            }
        }
    }

    /// The classes of the nodes, ordered by the first node of each class; `None` if no row specifies a class.
    ///
    /// # Errors
    /// Some nodes have a class, but others have none.
    pub fn finish(self, log: &Assembler<'_>) -> Result<Option<NodeClasses>, Box<Fault>> {
        if self.names.all().is_empty() {
            return Ok(None);
        }
        let mut without = log
            .nodes()
            .iter()
            .zip(&self.of_node)
            .filter(|(_, stated)| stated.class.is_none());
        if let Some((name, Stated { place, .. })) = without.next() {
            let more = match without.count() {
                0 => String::new(),
                others => format!(" and {}", counted(others, "more node")),
            };
            let found = format!("no class for node {name:?}{more}");
            let fault = Fault::of(
                log.path(),
                found,
                "a class for every node in at least one of its rows",
            )
            .remedy("fill in the cells, or remove the column and set the classes with --classes");
            return Err(Box::new(fault.at(*place).field(COLUMN)));
        }
        let classes = self.of_node.iter().filter_map(|stated| stated.class);
        let names = classes.map(|class| self.names.of(class));
        Ok(NodeClasses::of_names(names))
    }
}

/// Describes the maximum number of classes, for messages.
pub(crate) fn at_most() -> String {
    format!("at most {MAX_CLASSES} classes")
}

/// The classes as they are stored in JSON. Consecutive nodes of the same class form a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Runs {
    names: Vec<String>,
    /// For each run, the index of its class in `names`, and its number of nodes.
    runs: Vec<(u16, u64)>,
}

/// The text that describes the classes in the metadata of a file.
pub(crate) fn to_text(classes: &NodeClasses) -> String {
    let runs = classes.of_nodes().chunk_by(|a, b| a == b);
    let runs = Runs {
        names: classes.names().to_vec(),
        runs: runs.map(|run| (run[0], run.len() as u64)).collect(),
    };
    // Names and numbers can always be serialised.
    serde_json::to_string(&runs).unwrap_or_default()
}

/// Parses the classes of `nodes` nodes from a file's metadata. Returns `None` if the text is invalid or describes a
/// different number of nodes.
pub(super) fn from_text(text: &str, nodes: usize) -> Option<NodeClasses> {
    let Runs { names, runs } = serde_json::from_str(text).ok()?;
    let mut of_node = Vec::with_capacity(nodes);
    for (class, count) in runs {
        let count = usize::try_from(count).ok()?;
        if count > nodes - of_node.len() {
            return None;
        }
        of_node.resize(of_node.len() + count, class);
    }
    let classes = NodeClasses::new(names, of_node)?;
    (classes.of_nodes().len() == nodes).then_some(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_lists_runs_of_nodes() {
        let classes = NodeClasses::of_names(["v100", "v100", "a\"100", "v100"]).unwrap();
        let text = to_text(&classes);
        let expected = r#"{"names":["v100","a\"100"],"runs":[[0,2],[1,1],[0,1]]}"#;
        assert_eq!(text, expected);
        assert_eq!(from_text(&text, 4), Some(classes));
    }

    #[test]
    fn texts_that_do_not_describe_every_node_once_are_refused() {
        let of = |text: &str| from_text(text, 3);
        assert!(of(r#"{"names":["a"],"runs":[[0,3]]}"#).is_some());
        for text in [
            "",
            "[]",
            r#"{"names":["a"],"runs":[[0,2]]}"#,
            r#"{"names":["a"],"runs":[[0,4]]}"#,
            r#"{"names":["a"],"runs":[[0,18446744073709551615]]}"#,
            r#"{"names":["a"],"runs":[[0,2],[0,18446744073709551615]]}"#,
            r#"{"names":["a"],"runs":[[1,3]]}"#,
            r#"{"names":["a","a"],"runs":[[0,3]]}"#,
            r#"{"names":[""],"runs":[[0,3]]}"#,
            r#"{"names":["a"],"runs":[[-1,3]]}"#,
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
