//! The roles of columns in a table of jobs, and the search for the column of each role.

use std::fmt::Write as _;

use super::rows::Header;
use gleaner_domain::error::{Error, Fault, Faults, Result};

/// The role of a column in a table of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Start time of the job.
    Start,
    /// End time of the job.
    End,
    /// Submission time of the job.
    Submit,
    /// The nodes on which the job ran.
    Nodes,
    /// Number of nodes on which the job ran.
    Count,
    /// Total number of cores of the job.
    Cores,
    /// The identifier of the job, as used in a table of members.
    Id,
    /// The state of the job.
    State,
    /// The partition or queue of the job.
    Partition,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 9] = [
        Role::Start,
        Role::End,
        Role::Submit,
        Role::Nodes,
        Role::Count,
        Role::Cores,
        Role::Id,
        Role::State,
        Role::Partition,
    ];

    /// The name of the role in `--columns`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Start => "start",
            Role::End => "end",
            Role::Submit => "submit",
            Role::Nodes => "nodes",
            Role::Count => "count",
            Role::Cores => "cores",
            Role::Id => "id",
            Role::State => "state",
            Role::Partition => "partition",
        }
    }

    /// The names that the column has in public data sets, in upper or lower case. The first of these names that a
    /// table has is used.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Role::Start => &[
                "start_time",
                "time_start",
                "begin_time",
                "start",
                "START_TIMESTAMP",
                "sdt",
                "start_date",
                "gmt_job_running",
            ],
            Role::End => &[
                "end_time",
                "time_end",
                "finish_time",
                "end",
                "END_TIMESTAMP",
                "edt",
                "end_date",
                "gmt_job_finished",
            ],
            Role::Submit => &[
                "submit_time",
                "time_submit",
                "job_submit_time",
                "submit",
                "QUEUED_TIMESTAMP",
                "adt",
                "submit_date",
                "gmt_job_submitted",
            ],
            Role::Nodes => &["nodes", "nodelist", "node", LOCATION],
            Role::Count => &[
                "nodes_used",
                "nodes_alloc",
                "num_nodes_alloc",
                "NNodes",
                "nnuma",
                "numnodes",
                "num_nodes",
                "node_num",
                "nodes_req",
            ],
            Role::Cores => &["NCPUS", "AllocCPUS", "num_cores_alloc", "cores_alloc"],
            Role::Id => &[
                "allocation_id",
                "job_name",
                "job_id",
                "id_job",
                "jobid",
                "jid",
                "id",
            ],
            Role::State => &["state", "job_state", "status"],
            Role::Partition => &["partition", "queue", "QUEUE_NAME"],
        }
    }

    /// The index of the role in [`Role::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// The column of ALCF's tables that names nodes, in Cobalt's notation.
pub(super) const LOCATION: &str = "LOCATION";

/// The column of ALCF's tables that states when a job started.
pub(super) const ALCF_START: &str = "START_TIMESTAMP";

/// A role, and the name of its column.
pub type Named = (Role, String);

/// Parses the columns that the user names, each as `ROLE=NAME`.
///
/// # Errors
/// [`Error::Usage`] if a string is not `ROLE=NAME`, or a role is named twice.
pub fn parse(texts: &[String]) -> Result<Vec<Named>> {
    let mut columns: Vec<Named> = Vec::new();
    for text in texts {
        let role = text.split_once('=').and_then(|(role, name)| {
            let known = |known: &Role| known.name() == role.trim();
            let role = Role::ALL.into_iter().find(known);
            role.zip(Some(name.trim()).filter(|name| !name.is_empty()))
        });
        let Some((role, name)) = role else {
            let roles = Role::ALL.map(Role::name).join(", ");
            return Err(Error::Usage(format!(
                "--columns {text}: expected ROLE=NAME, such as start=begin_time, with one of the roles {roles}"
            )));
        };
        if columns.iter().any(|(other, _)| *other == role) {
            let role = role.name();
            return Err(Error::Usage(format!("--columns names {role} twice")));
        }
        columns.push((role, name.to_owned()));
    }
    Ok(columns)
}

/// The columns of a table, by [`Role::index`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    at: [Option<usize>; Role::ALL.len()],
    /// Names of the columns in the table.
    names: [String; Role::ALL.len()],
}

impl Columns {
    /// Finds the columns of a table. For each role, uses the column that the user names. If the user names none, uses
    /// the first preferred column that the table has, or else a column with a known name.
    ///
    /// # Errors
    /// The table lacks a column that the user names.
    pub fn find(header: &Header<'_>, given: &[Named], preferred: &[(Role, &str)]) -> Result<Self> {
        let mut found = Columns {
            at: Default::default(),
            names: Default::default(),
        };
        let mut faults = Faults::default();
        for role in Role::ALL {
            let given = given.iter().find(|(given, _)| *given == role);
            let at = match given {
                Some((_, name)) => {
                    let at = header.names.find(&[name]);
                    if at.is_none() {
                        faults.push(missing(header, name, "a column with this name"));
                    }
                    at
                }
                None => {
                    let preferred = preferred.iter().filter(|(named, _)| *named == role);
                    let mut names: Vec<&str> = preferred.map(|(_, name)| *name).collect();
                    names.extend(role.aliases());
                    header.names.find(&names)
                }
            };
            if let Some(at) = at {
                found.at[role.index()] = Some(at);
                found.names[role.index()] = header.names.all()[at].clone();
            }
        }
        faults.into_result(found)
    }

    /// Checks that the table has a column for each of these roles.
    ///
    /// # Errors
    /// A column is missing. All missing columns are reported together.
    pub fn require(&self, header: &Header<'_>, roles: &[Role]) -> Result<()> {
        let mut faults = Faults::default();
        for role in roles.iter().filter(|role| !self.has(**role)) {
            let expected = format!("a column such as {}", role.aliases().join(", "));
            let fault = missing(header, role.name(), expected);
            faults.push(fault.remedy(format!("name it with --columns {}=NAME", role.name())));
        }
        faults.into_result(())
    }

    /// Whether the table has a column for a role.
    pub fn has(&self, role: Role) -> bool {
        self.at[role.index()].is_some()
    }

    /// The name of the column for a role; empty if the table lacks it.
    pub fn name(&self, role: Role) -> &str {
        &self.names[role.index()]
    }

    /// The index of the column for a role; `None` if the table lacks it.
    pub fn at(&self, role: Role) -> Option<usize> {
        self.at[role.index()]
    }

    /// Whether the column with the number of nodes comes after the column with the list of nodes.
    pub fn is_count_last(&self) -> bool {
        self.at(Role::Count) > self.at(Role::Nodes)
    }

    /// Removes a role, so that its column is not read.
    pub fn drop(&mut self, role: Role) {
        self.at[role.index()] = None;
    }

    /// The index of each column, by [`Role::index`].
    pub fn into_places(self) -> Vec<Option<usize>> {
        self.at.to_vec()
    }

    /// The chosen columns, for messages, such as `start start_time, end end_time`.
    pub fn choice(&self) -> String {
        let mut text = String::new();
        for role in Role::ALL.into_iter().filter(|role| self.has(*role)) {
            let separator = if text.is_empty() { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}{} {}", role.name(), self.name(role));
        }
        text
    }
}

/// The fault to report for a table that lacks the column `field`.
fn missing(header: &Header<'_>, field: &str, expected: impl Into<String>) -> Fault {
    let place = header.place;
    let fault = Fault::of(place.file, header.names.without_it(), expected).field(field);
    fault.at(gleaner_io::fault::Place::Header)
}
