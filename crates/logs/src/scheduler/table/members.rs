//! The nodes of jobs, read from a separate table that has one row for each node of each job.
//!
//! The rows are held in memory as pairs of numbers (16 bytes each), so that jobs can be looked up in any order.
//! Lassen's table of 1.4 million jobs takes about 200 MB. The number of rows is bounded, and so are the number and
//! length of node names.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use indexmap::IndexSet;

use super::super::collector::{At, Collector, Log};
use super::super::counts::Reason;
use super::super::node_set::MAX_NODES;
use super::rows::{Header, Row, TakeRows};
use gleaner_domain::error::{Fault, Faults, Result};

/// Maximum number of rows. Together, they take 1 GiB.
const MAX_ROWS: usize = 1 << 26;

/// Maximum length of a node's name, in bytes.
const MAX_NAME: usize = 255;

/// The names that the column of nodes has in public data sets.
const NODES: [&str; 7] = [
    "node_name",
    "host_ip",
    "node",
    "hostname",
    "host",
    "nodelist",
    "nodes",
];

/// Positions of the two columns in a [`Row`].
const ID: usize = 0;
const NODE: usize = 1;

/// The nodes of each job.
#[derive(Debug, Default)]
pub(in super::super) struct Members {
    /// The name of the column that identifies the jobs.
    id: String,
    /// The name of the column of nodes, if the user gave one.
    node: Option<String>,
    /// Possible names of the column that identifies the jobs, in order of preference.
    ids: Vec<String>,
    /// Names of all nodes in the table, by index.
    names: IndexSet<Box<str>>,
    /// Pairs of a 64-bit digest of a job's identifier and the index of a node. The pairs are sorted once all rows have
    /// been read. Among a million jobs, two share a digest with a probability of 3e-8.
    rows: Vec<(u64, u32)>,
}

impl Members {
    /// Creates an empty table. The column that identifies jobs is the first name in `ids` that the table has. The
    /// column of nodes has the name `node`, or a known name if `node` is `None`.
    pub fn new(ids: Vec<String>, node: Option<String>) -> Self {
        Members {
            ids,
            node,
            ..Members::default()
        }
    }

    /// Sorts the rows, so that jobs can be found. A node that is listed twice counts once.
    pub fn finish(&mut self) {
        self.rows.sort_unstable();
        self.rows.dedup();
    }

    /// The name of the column that identifies the jobs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Adds the names of a job's nodes to `lists`.
    pub fn find<'m>(&'m self, id: &str, lists: &mut Vec<Cow<'m, str>>) {
        let digest = digest(id);
        let first = self.rows.partition_point(|(other, _)| *other < digest);
        let rows = self.rows[first..].iter();
        let of_job = rows.take_while(|(other, _)| *other == digest);
        let names = of_job.filter_map(|(_, node)| self.names.get_index(*node as usize));
        lists.extend(names.map(|name| Cow::Borrowed(&**name)));
    }
}

/// The digest of a job's identifier. A number that is stored as a float, such as `901.0`, has the digest of `901`.
fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.strip_suffix(".0").unwrap_or(id).hash(&mut hasher);
    hasher.finish()
}

impl TakeRows for Members {
    fn columns(&mut self, header: &Header<'_>, _: &mut Log) -> Result<Vec<Option<usize>>> {
        let ids: Vec<&str> = self.ids.iter().map(String::as_str).collect();
        let nodes: Vec<&str> = match &self.node {
            Some(node) => vec![node],
            None => NODES.to_vec(),
        };
        let mut faults = Faults::default();
        let found = [("id", &ids), ("nodes", &nodes)].map(|(role, names)| {
            let at = header.names.find(names);
            if at.is_none() {
                let expected = format!("a column such as {}", names.join(", "));
                let fault = Fault::of(header.place.file, header.names.without_it(), expected);
                let fault = fault.at(gleaner_io::fault::Place::Header).field(role);
                faults.push(fault.remedy(format!("name it with --columns {role}=NAME")));
            }
            at
        });
        if let Some(at) = found[ID] {
            self.id.clone_from(&header.names.all()[at]);
        }
        faults.into_result(found.to_vec())
    }

    fn row(&mut self, row: &Row<'_>, at: At, collector: &mut Collector<'_>) -> Result<()> {
        let (id, node) = (row.text(ID), row.text(NODE));
        if id.is_empty() || node.is_empty() || node.len() > MAX_NAME {
            let found = format_args!("{:?} of {:?}", shown(&node), shown(&id));
            return collector.log.fault(Reason::Unreadable, at, found);
        }
        let index = match self.names.get_index_of(&*node) {
            Some(index) => index,
            None if self.names.len() < MAX_NODES => {
                self.names.insert_full(node.into_owned().into()).0
            }
            None => return collector.log.fault(Reason::UnknownNodes, at, shown(&node)),
        };
        if self.rows.len() == MAX_ROWS {
            self.finish();
        }
        if self.rows.len() == MAX_ROWS {
            let file = collector.log.first_file();
            let found = format!("more than {MAX_ROWS} different rows");
            let fault = Fault::of(file, found, "fewer rows, because they are kept in memory");
            return Err(fault.remedy("split the tables by time").into());
        }
        self.rows.push((digest(&id), index as u32));
        Ok(())
    }
}

/// The start of a string, for messages.
fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}
