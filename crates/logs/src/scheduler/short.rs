//! The jobs of a log that list fewer nodes than they used, for example because long lists were truncated ("cut").

use std::collections::BTreeSet;

use super::collector::Log;
use super::node_set::{Looked, NodeSet};
use crate::occupancy::Window;
use crate::occupancy::bounds::ShortJob;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::words::counted;

/// Maximum number of jobs that list fewer nodes than they used. Together, these jobs take about 200 MiB.
const MOST: usize = 1 << 21;

/// The reason why a list has fewer nodes than the job used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The list cannot be read.
    Unreadable,
    /// The list is shorter than the stated count.
    Shortened,
    /// The list is empty.
    Missing,
}

/// The nodes that a list lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    pub cause: Cause,
    /// Number of nodes that the list lacks; `None` if the log does not state how many nodes the job used.
    pub nodes: Option<u32>,
    /// The last known node of the list.
    pub last: Option<u32>,
    /// The last name of the list, which may be the beginning of a longer name.
    pub cut: Option<String>,
    /// The reason why the last name may have been cut.
    pub doubt: Doubt,
}

/// The reason why the last name of a list may have been cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The list names fewer nodes than the job used.
    Short,
    /// The list names as many nodes as the job used, but is as long, in bytes, as the longest list in its file. The
    /// last name is cut if other lists of the file are cut at this length.
    Length(usize),
    /// The list may name all nodes that the job used, but no earlier list contains its last name. The value is the
    /// length of the list in bytes. The name is cut if other names begin with it, no later list contains it, and it is
    /// not confirmed. A name is confirmed if it ends at least two lists that are too short to have been cut at the
    /// maximum length of a field.
    New(usize),
}

impl Lack {
    /// The nodes that a list lacks, given the result of its look-up.
    pub fn of(cause: Cause, nodes: Option<usize>, looked: Looked) -> Self {
        Lack {
            cause,
            nodes: nodes.map(|nodes| u32::try_from(nodes).unwrap_or(u32::MAX)),
            last: looked.last,
            cut: looked.cut,
            doubt: Doubt::Short,
        }
    }
}

/// The lengths of the lists of a file, in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Lengths {
    longest: usize,
    /// Whether a list of the length `longest` names fewer nodes than its job used.
    is_cut: bool,
}

/// Lists of fewer bytes than this are not assumed to be cut at the maximum length of a field.
const LEAST_CUT: usize = 255;

/// Jobs that list fewer nodes than they used.
#[derive(Debug, Default)]
pub(super) struct ShortJobs {
    jobs: Vec<Short>,
    /// The lengths of lists, by file.
    lengths: Vec<Lengths>,
}

/// A job that lists fewer nodes than it used.
#[derive(Debug)]
struct Short {
    job: ShortJob,
    cause: Cause,
    cut: Option<String>,
    doubt: Doubt,
    file: usize,
}

/// The decisions on last names that may have been cut.
#[derive(Debug, Default)]
pub(super) struct Completed {
    /// Jobs whose list ends with a name that may have been cut but can stand for only one node, with that node.
    pub used: Vec<(ShortJob, u32)>,
    /// Jobs whose list ends with a name that turned out to be complete, with that name.
    pub named: Vec<(ShortJob, String)>,
    /// Serial numbers of the jobs whose list seemed to name all of their nodes but turned out to be cut.
    pub cut: Vec<u64>,
}

/// Node-seconds that lists lack, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lacking {
    pub unreadable: u64,
    pub shortened: u64,
    pub missing: u64,
}

impl ShortJobs {
    /// Whether a list of this length may have been cut although it names as many nodes as its job used. True if no
    /// earlier list of the file is longer, and the length is at least [`LEAST_CUT`].
    pub fn is_suspect(&self, file: usize, length: usize) -> bool {
        let longest = self.lengths.get(file).map_or(0, |lengths| lengths.longest);
        length >= LEAST_CUT.max(longest)
    }

    /// Records the length of a list in a file, and whether the list names fewer nodes than its job used.
    pub fn measure(&mut self, file: usize, length: usize, is_short: bool) {
        if self.lengths.len() <= file {
            self.lengths.resize(file + 1, Lengths::default());
        }
        let lengths = &mut self.lengths[file];
        if length > lengths.longest {
            *lengths = Lengths {
                longest: length,
                is_cut: is_short,
            };
        } else if length == lengths.longest {
            lengths.is_cut |= is_short;
        }
    }

    /// Adds a job, with the nodes that its list lacks.
    ///
    /// # Errors
    /// There are too many jobs that list fewer nodes than they used.
    pub fn push(
        &mut self,
        lack: Lack,
        (start, end): (i64, i64),
        (file, serial): (usize, u64),
        log: &Log,
    ) -> Result<()> {
        if self.jobs.len() == MOST {
            let jobs = counted(MOST, "job");
            let found = format!("more than {jobs} that list fewer nodes than they used");
            return Err(too_many(log, found));
        }
        let job = ShortJob {
            start,
            serial,
            end,
            lacking: lack.nodes,
            last: lack.last,
        };
        self.jobs.push(Short {
            job,
            cause: lack.cause,
            cut: lack.cut,
            doubt: lack.doubt,
            file,
        });
        Ok(())
    }

    /// Decides for each list whether its last name is complete. Then removes the jobs that lack no nodes, and sorts the
    /// other jobs by start.
    ///
    /// A name that may have been cut is accepted if a node of the machine has this name and no other name begins with
    /// it. The job then lacks one node fewer. If the doubt about a last name turns out to be unfounded, the name is
    /// complete.
    pub fn complete(mut self, nodes: &NodeSet) -> (Self, Completed) {
        let mut completed = Completed::default();
        if self.jobs.iter().any(|short| short.cut.is_some()) {
            let names = nodes.completions();
            let confirmed = self.confirmed();
            for short in &mut self.jobs {
                let Some(name) = short.cut.take() else {
                    continue;
                };
                let lengths = self.lengths.get(short.file).copied().unwrap_or_default();
                let is_whole = match short.doubt {
                    Doubt::Short => false,
                    Doubt::Length(length) => !lengths.is_cut || length != lengths.longest,
                    Doubt::New(_) => {
                        names.has(&name) || confirmed.contains(&name) || !names.is_beginning(&name)
                    }
                };
                if is_whole {
                    completed.named.push((short.job.clone(), name));
                    // If the log states no count, the list was suspected to lack nodes only because this name was in
                    // doubt.
                    let lacking = short.job.lacking.unwrap_or(1);
                    short.job.lacking = Some(lacking.saturating_sub(1));
                    continue;
                }
                if short.doubt != Doubt::Short {
                    completed.cut.push(short.job.serial);
                }
                if let Some(node) = names.only_one(&name) {
                    short.job.last = Some(node);
                    short.job.lacking = short.job.lacking.map(|lacking| lacking.saturating_sub(1));
                    completed.used.push((short.job.clone(), node));
                }
            }
        }
        self.jobs.retain(|short| short.job.lacking != Some(0));
        self.jobs.sort_unstable_by(|a, b| a.job.cmp(&b.job));
        (self, completed)
    }

    /// The new last names that are confirmed. Each is the last name of at least two lists that are too short to have
    /// been cut at the maximum length of a field. For example, `n1` is a node if two jobs list only `n1`, even if there
    /// is a node `n10`.
    fn confirmed(&self) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut confirmed = BTreeSet::new();
        for short in &self.jobs {
            let (Some(name), Doubt::New(length)) = (&short.cut, short.doubt) else {
                continue;
            };
            if !self.is_suspect(short.file, length) && !seen.insert(name) {
                confirmed.insert(name.clone());
            }
        }
        confirmed
    }

    /// The length, in bytes, at which all cut lists of the log are cut; `None` if there is no such length.
    pub fn cut_length(&self) -> Option<usize> {
        let mut cut = self.lengths.iter().filter(|lengths| lengths.is_cut);
        let length = cut.next()?.longest;
        let is_one = cut.all(|lengths| lengths.longest == length);
        (is_one && length >= LEAST_CUT).then_some(length)
    }

    /// Whether no job lists fewer nodes than it used.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// A copy of the jobs.
    pub fn jobs(&self) -> Vec<ShortJob> {
        self.jobs.iter().map(|short| short.job.clone()).collect()
    }

    /// The node-seconds that lists lack in a window. A job with an unknown number of nodes counts as lacking one node.
    pub fn lacking(&self, window: Window) -> Lacking {
        let mut lacking = Lacking::default();
        for Short { job, cause, .. } in &self.jobs {
            let lacking_nodes = u64::from(job.lacking.unwrap_or(1));
            let amount = job.seconds_in(window).saturating_mul(lacking_nodes);
            let sum = match cause {
                Cause::Unreadable => &mut lacking.unreadable,
                Cause::Shortened => &mut lacking.shortened,
                Cause::Missing => &mut lacking.missing,
            };
            *sum = sum.saturating_add(amount);
        }
        lacking
    }
}

/// The error for a log whose unknown nodes do not fit in memory.
pub(super) fn too_many(log: &Log, found: String) -> Error {
    let fault = Fault::of(log.first_file(), found, "complete node lists for most jobs");
    let remedy = "export the full lists, or read a shorter part of the log";
    fault.remedy(remedy).into()
}
