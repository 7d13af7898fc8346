//! Reads the jobs that held GPUs from the table of `sacct`.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::TraceReader;
use super::collector::{At, Draft, JobCollector, RunTimes};
use crate::scheduler::{Reason, is_unknown, stamp};
use gleaner_core::error::{Fault, Result};
use gleaner_io::delimited::{Layout, LogTable, Row};
use gleaner_io::input::{Input, Place};

/// The command that writes the table with the columns that are read here.
pub const COMMAND: &str = "sacct -a -X -P -D -S <from> -E <to> -o JobIDRaw,User,Account,\
                           Partition,State,Submit,Start,End,NNodes,NodeList,AllocTRES";

const LAYOUT: Layout = Layout {
    columns: &[
        &["JobIDRaw", "JobID"],
        &["State"],
        &["Submit"],
        &["Start"],
        &["End"],
        &["AllocTRES"],
        &["User"],
        &["Partition"],
        &["Account"],
        &["AllocCPUS", "NCPUS"],
    ],
    required: 6,
    quoted: false,
    remedy: || format!("make the file with `{COMMAND}`"),
};
const ID: usize = 0;
const STATE: usize = 1;
const SUBMIT: usize = 2;
const START: usize = 3;
const END: usize = 4;
const TRES: usize = 5;
const USER: usize = 6;
const PARTITION: usize = 7;
const ACCOUNT: usize = 8;
const CPUS: usize = 9;

/// What the virtual clusters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VcOf {
    /// The partitions, or the accounts if the table has no column of partitions.
    Partition,
    /// The accounts.
    Account,
}

/// Reads the table. A job is complete only at the end, because it may have several rows.
pub(super) struct SlurmReader {
    delimiter: Option<String>,
    vc_of: VcOf,
    jobs: IndexMap<String, Job>,
}

/// A job, which may have run several times.
struct Job {
    user: Box<str>,
    vc: Box<str>,
    state: Box<str>,
    gpus: u64,
    cpus: f64,
    submit: i64,
    /// The end of each run, by its start. `None` if no table so far has the end; a later one may.
    runs: BTreeMap<i64, Option<i64>>,
    at: At,
}

impl SlurmReader {
    /// A reader of tables with this delimiter; if `None`, the header shows it.
    pub fn new(delimiter: Option<String>, vc_of: VcOf) -> Self {
        SlurmReader {
            delimiter,
            vc_of,
            jobs: IndexMap::new(),
        }
    }

    /// The column that names the virtual clusters.
    fn vc(&self, table: &LogTable, place: Place<'_>) -> Result<usize> {
        let columns = match self.vc_of {
            VcOf::Partition => [PARTITION, ACCOUNT],
            VcOf::Account => [ACCOUNT, ACCOUNT],
        };
        let found = columns.into_iter().find(|column| table.has(*column));
        found.ok_or_else(|| {
            let expected = "a column Partition or Account, which make the virtual clusters";
            let fault = Fault::of(place.file, "neither in the header", expected);
            fault.at(place.within()).remedy((LAYOUT.remedy)()).into()
        })
    }

    /// Adds the run of a row to its job.
    fn row(
        &mut self,
        row: &Row<'_, '_>,
        vc: usize,
        place: Place<'_>,
        collector: &mut JobCollector,
    ) -> Result<()> {
        if row.text(ID).contains('.') {
            collector.log_counts.leave_out(Reason::Step);
            return Ok(());
        }
        if is_unknown(row.text(START)) {
            collector.log_counts.leave_out(Reason::NeverStarted);
            return Ok(());
        }
        let texts = [SUBMIT, START, END].map(|column| row.text(column));
        let times = texts.map(stamp);
        let wrong = (0..3).find(|at| times[*at].is_none() && !(*at == 2 && is_unknown(texts[2])));
        if let Some(at) = wrong {
            let found = format_args!("{:?} is not a time such as 2026-01-31T08:00:00", texts[at]);
            return collector.log_counts.fault(Reason::Unreadable, place, found);
        }
        let gpus = match gpus(row.text(TRES)) {
            Ok(gpus) => gpus,
            Err(found) => return collector.log_counts.fault(Reason::Unreadable, place, found),
        };
        let [Some(submit), Some(start), end] = collector.seconds(place, times)? else {
            return Ok(());
        };
        let at = collector.at(place);
        let job = self
            .jobs
            .entry(row.text(ID).to_owned())
            .or_insert_with(|| Job {
                user: row.text(USER).into(),
                vc: row.text(vc).into(),
                state: "".into(),
                gpus,
                cpus: row.text(CPUS).parse().unwrap_or(0.0),
                submit,
                runs: BTreeMap::new(),
                at,
            });
        job.submit = job.submit.min(submit);
        let known = job.runs.entry(start).or_default();
        *known = end.or(*known);
        // The last row of a job says how it ended.
        job.state = row.text(STATE).split(' ').next().unwrap_or_default().into();
        Ok(())
    }
}

impl TraceReader for SlurmReader {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut JobCollector) -> Result<()> {
        let mut table = LogTable::new(LAYOUT, self.delimiter.clone());
        let mut vc = None;
        while let Some(line) = input.next_line()? {
            if !collector.log_counts.take(&line)? {
                continue;
            }
            let place = line.place;
            match (table.row(&line)?, vc) {
                (Some(Ok(row)), Some(vc)) => self.row(&row, vc, place, collector)?,
                (Some(Err(found)), _) => {
                    collector
                        .log_counts
                        .fault(Reason::Unreadable, place, found)?
                }
                // This line was the header.
                _ => vc = Some(self.vc(&table, place)?),
            }
        }
        Ok(())
    }

    fn finish(&mut self, collector: &mut JobCollector) -> Result<()> {
        for (id, job) in std::mem::take(&mut self.jobs) {
            let runs: Option<Vec<(i64, i64)>> = job
                .runs
                .iter()
                .map(|(start, end)| Some((*start, (*end)?)))
                .collect();
            let Some(runs) = runs else {
                collector.log_counts.leave_out(Reason::StillRunning);
                continue;
            };
            let draft = Draft {
                id: &id,
                user: &job.user,
                vc: &job.vc,
                state: &job.state,
                gpus: job.gpus,
                cpus: job.cpus,
                submit: job.submit,
                runs: RunTimes::At(&runs),
            };
            collector.take(&draft, job.at)?;
        }
        Ok(())
    }
}

/// The number of GPUs in trackable resources such as `cpu=8,gres/gpu:a100=4,gres/gpu=4,node=1`: the
/// total if there is one, or else the sum over all types.
fn gpus(resources: &str) -> Result<u64, String> {
    let (mut all, mut typed) = (None, 0u64);
    for resource in resources.split(',') {
        let Some((name, count)) = resource.split_once('=') else {
            continue;
        };
        let Some(kind) = name.trim().strip_prefix("gres/gpu") else {
            continue;
        };
        // Other resources have names such as gres/gpumem and gres/gpuutil.
        if !(kind.is_empty() || kind.starts_with(':')) {
            continue;
        }
        let count = count.trim().parse::<u64>().ok();
        let count = count.ok_or_else(|| format!("{resource:?} has no valid number of GPUs"))?;
        match kind {
            "" => all = Some(count),
            _ => typed = typed.saturating_add(count),
        }
    }
    Ok(all.unwrap_or(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_once() {
        for (resources, expected) in [
            (
                "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1",
                4,
            ),
            ("cpu=8,gres/gpu=2", 2),
            ("gres/gpu:a100=3,gres/gpu:1g.5gb=2", 5),
            ("cpu=8,gres/gpumem=80G,gres/gpuutil=100", 0),
            ("", 0),
        ] {
            assert_eq!(gpus(resources), Ok(expected), "{resources}");
        }
        assert!(gpus("gres/gpu=many").unwrap_err().contains("many"));
    }
}
