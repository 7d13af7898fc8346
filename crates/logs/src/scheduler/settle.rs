//! Reports the jobs of a table. The first jobs show whether the table's lists name nodes. If the lists do not name
//! nodes, only the table's counts are used.
//!
//! Not every list names nodes. For example, a table can name a partition such as `MIR-00000-33331-512` in place of its
//! 512 nodes.

use std::borrow::Cow;

use super::collector::{At, Collector};
use super::counts::Reason;
use super::hostlist;
use super::record::{self, Moment, Record, Run};
use gleaner_domain::error::Result;

/// Number of jobs, from the start of the table, that are used to decide whether lists name nodes.
const FIRST: usize = 1_000;

/// Maximum total size, in bytes, of the lists of the jobs that are kept until the decision. If the lists are longer,
/// the decision is based on fewer jobs.
const MAX_WAITING: usize = 64 << 20;

/// The meaning of a table's lists and counts of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Lists name the nodes.
    Named,
    /// Lists do not name the nodes, so only the counts are used.
    Counted,
    /// The table has no column of counts. If each of the first lists is a single number, the numbers are counts.
    NamedOrNumbers,
}

/// A job in a row of a table.
#[derive(Debug, Default)]
pub(super) struct TableJob<'j> {
    pub submit: Option<Moment>,
    pub start: Option<Moment>,
    pub end: Option<Moment>,
    /// Lists of the nodes on which the job ran; empty if the table does not state them.
    pub lists: Vec<Cow<'j, str>>,
    /// Whether the last of these lists is damaged or incomplete.
    pub is_damaged: bool,
    /// Number of nodes on which the job ran, if the table states it.
    pub count: Option<u32>,
    /// Total number of cores that the job used; 0 if the table does not state it.
    pub cores: u32,
    /// The state of the job; empty if the table does not state it.
    pub state: Cow<'j, str>,
    /// Whether the state shows that the job has ended.
    pub is_over: bool,
}

/// Reports the jobs of a table. Keeps the first jobs until it can decide whether lists name nodes.
pub(super) struct Settler {
    /// The first jobs, with their places in the file.
    waiting: Vec<(At, TableJob<'static>)>,
    /// Total size of the lists of the waiting jobs, in bytes.
    bytes: usize,
    settled: Option<Meaning>,
    /// Whether a list that is a single number may be a count.
    may_be_numbers: bool,
}

impl Settler {
    /// Creates a settler for a table with both lists and counts.
    pub fn undecided() -> Self {
        Settler {
            waiting: Vec::new(),
            bytes: 0,
            settled: None,
            may_be_numbers: false,
        }
    }

    /// Creates a settler for lists with this meaning. For [`Meaning::NamedOrNumbers`], the first jobs decide whether
    /// lists contain names or counts.
    pub fn of(meaning: Meaning) -> Self {
        Settler {
            settled: Some(meaning).filter(|meaning| *meaning != Meaning::NamedOrNumbers),
            may_be_numbers: meaning == Meaning::NamedOrNumbers,
            ..Settler::undecided()
        }
    }

    /// Reports a job, or keeps it if the meaning of lists is not decided yet.
    ///
    /// # Errors
    /// There is a fault and the reader is strict, or a temporary file cannot be written.
    pub fn take(
        &mut self,
        at: At,
        job: &TableJob<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        if let Some(meaning) = self.settled {
            return report(at, job, meaning, collector);
        }
        self.bytes += job.lists.iter().map(|list| list.len()).sum::<usize>();
        self.waiting.push((at, job.owned()));
        if self.waiting.len() < FIRST && self.bytes <= MAX_WAITING {
            return Ok(());
        }
        self.settle(collector)
    }

    /// Decides the meaning of lists if it is still undecided, and reports the jobs that were kept.
    ///
    /// # Errors
    /// Same as for [`Settler::take`].
    pub fn settle(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        if self.settled.is_some() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        let meaning = if self.may_be_numbers {
            numbers(&mut waiting, collector)
        } else {
            by_counts(&waiting, collector)
        };
        self.settled = Some(meaning);
        waiting
            .iter()
            .try_for_each(|(at, job)| report(*at, job, meaning, collector))
    }
}

/// Decides the meaning from the counts. Lists name nodes if more than half of the jobs list as many nodes as they used.
fn by_counts(jobs: &[(At, TableJob<'_>)], collector: &mut Collector<'_>) -> Meaning {
    let fitting = jobs.iter().filter(|(_, job)| job.fits()).count();
    if fitting * 2 > jobs.len() {
        return Meaning::Named;
    }
    if jobs.iter().any(|(_, job)| !job.lists.is_empty()) {
        collector.log.notes.push(format!(
            "only {fitting} of the first {} jobs list as many nodes as they used, so the lists do not name nodes: \
             only the counts are used",
            jobs.len()
        ));
    }
    Meaning::Counted
}

/// If each list is a single number, the numbers become counts. Lists that name nodes are rarely all single numbers.
fn numbers(jobs: &mut [(At, TableJob<'_>)], collector: &mut Collector<'_>) -> Meaning {
    let are_numbers = jobs.iter().all(|(_, job)| match job.lists.as_slice() {
        [] => true,
        [list] => list.parse::<u32>().is_ok(),
        _ => false,
    });
    if !are_numbers || jobs.iter().all(|(_, job)| job.lists.is_empty()) {
        return Meaning::Named;
    }
    for (_, job) in jobs {
        job.count = job.number();
    }
    collector.log.notes.push(
        "each list of nodes is a single number: the numbers are used as counts (--columns count=NAME sets the column \
         of counts)"
            .to_owned(),
    );
    Meaning::NamedOrNumbers
}

impl TableJob<'_> {
    /// Whether the lists name as many nodes as the job used. If that number is unknown, any readable lists that are not
    /// empty are accepted.
    fn fits(&self) -> bool {
        let counts = self.lists.iter().map(|list| hostlist::count(list));
        let count: Result<usize, _> = counts.sum();
        let used = self.count.map(|count| count as usize);
        count.is_ok_and(|count| count > 0 && used.is_none_or(|used| used == count))
    }

    /// The first list as a number; `None` if it is not a positive number.
    fn number(&self) -> Option<u32> {
        let number = self.lists.first()?.parse().ok();
        number.filter(|number| *number > 0)
    }

    fn owned(&self) -> TableJob<'static> {
        let lists = self.lists.iter();
        TableJob {
            lists: lists.map(|list| Cow::Owned(list.to_string())).collect(),
            state: Cow::Owned(self.state.to_string()),
            ..*self
        }
    }
}

/// Reports a job.
fn report(
    at: At,
    job: &TableJob<'_>,
    meaning: Meaning,
    collector: &mut Collector<'_>,
) -> Result<()> {
    let count = match meaning {
        Meaning::NamedOrNumbers => job.number(),
        Meaning::Named | Meaning::Counted => job.count,
    };
    let nodes = match (meaning, count) {
        (Meaning::Named, count) if job.is_damaged => {
            let count = count.map(|count| count as usize);
            Some(record::Nodes::Damaged(&job.lists, count))
        }
        (Meaning::Named, None) if job.lists.is_empty() => None,
        (Meaning::Named, count) => {
            let count = count.map(|count| count as usize);
            Some(record::Nodes::Lists(&job.lists, count))
        }
        (_, count) => count.map(record::Nodes::Count),
    };
    let nodes = if let Some(nodes) = nodes {
        nodes
    } else {
        if job.start == job.end {
            collector.log.leave_out(Reason::NeverStarted);
            return Ok(());
        }
        let found = "a job that states neither its nodes nor their number";
        collector.log.fault(Reason::NoNodes, at, found)?;
        if meaning != Meaning::Named {
            return Ok(());
        }
        // The job held nodes, but neither their names nor their number is known.
        record::Nodes::Lists(&[], None)
    };
    let run = Run {
        start: job.start,
        end: job.end,
        nodes,
    };
    let whole = record::Job {
        state: &job.state,
        submit: job.submit,
        runs: &[run],
        is_over: job.is_over,
        cpus: job.cores.into(),
        ..record::Job::default()
    };
    collector.take(at, &Record::Job(whole))
}
