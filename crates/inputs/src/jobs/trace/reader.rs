//! The second pass over a trace, which reads the jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::job::{JobRow, Workloads, profiled, state};
use super::left_out::LeftOut;
use super::window::{Position, Window};
use super::{Options, TraceInput};
use crate::jobs::bounds::LONGEST;
use crate::rows::{Line, Rows};
use gleaner_domain::error::{Fault, Faults, Result};
use gleaner_domain::words::{counted, printable};
use gleaner_domain::{Cluster, Job, Trace};
use gleaner_io::Gatherer;
use gleaner_io::rows::{Cell, CellResult, Place};
use gleaner_io::source::Source;

/// Collects the valid jobs of a trace, and the faults of the invalid jobs.
pub(super) struct Reader<'a> {
    cluster: &'a Cluster,
    /// Index of each VC in the cluster, by the VC's name.
    vcs: BTreeMap<&'a str, usize>,
    window: Window,
    options: Options<'a>,
    jobs: Vec<(Place, Job)>,
    workloads: Workloads,
    left_out: LeftOut,
    faults: Gatherer,
    skipped: Faults,
}

impl<'a> Reader<'a> {
    pub fn new(
        cluster: &'a Cluster,
        vcs: BTreeMap<&'a str, usize>,
        window: Window,
        options: Options<'a>,
    ) -> Self {
        Reader {
            cluster,
            vcs,
            window,
            options,
            jobs: Vec::new(),
            workloads: Workloads::default(),
            left_out: LeftOut::default(),
            faults: Gatherer::default(),
            skipped: Faults::default(),
        }
    }

    /// Reads a row: adds its job, or records its fault.
    pub fn line(&mut self, line: CellResult<Line<'_, JobRow>>) -> Result<()> {
        let job = line.and_then(|line| Ok(self.job(&line)?.map(|job| (line.place(), job))));
        match job {
            Ok(job) => {
                self.jobs.extend(job);
                Ok(())
            }
            Err(fault) => self.fault(*fault),
        }
    }

    /// Removes each job that has the same id as an earlier job, and records a fault for it.
    pub fn drop_repeated(&mut self, rows: &Rows<'_, JobRow>) -> Result<()> {
        let repeated = repeated(&self.jobs);
        if repeated.is_empty() {
            return Ok(());
        }
        let jobs = std::mem::take(&mut self.jobs);
        for (index, (place, job)) in jobs.into_iter().enumerate() {
            if repeated.contains(&index) {
                let found = format!("{:?}, the id of an earlier job", job.id);
                self.fault(*rows.fault(place, "job_id", found, "unique ids"))?;
            } else {
                self.jobs.push((place, job));
            }
        }
        Ok(())
    }

    /// Returns the trace, and notes about the jobs that were left out.
    pub fn finish(self, source: &Source) -> Result<(TraceInput, Vec<String>)> {
        self.faults.finish(())?;
        let left_out = self.left_out.phrases();
        let mut jobs: Vec<Job> = self.jobs.into_iter().map(|(_, job)| job).collect();
        jobs.sort_by_key(|job| job.submit);
        let Some(first) = jobs.first() else {
            return Err(nothing(source, &left_out, self.skipped).into());
        };
        let start = self.window.start(first.submit);
        let mut notes: Vec<_> = left_out
            .iter()
            .map(|jobs| format!("left out {jobs}"))
            .collect();
        let workloads = self.workloads.into_list();
        if workloads.is_empty() && self.options.profiles.is_some() {
            notes.push("no job specifies its workload: the profiles are not used".to_owned());
        }
        let trace = Trace {
            jobs,
            workloads,
            origin: self.window.origin(),
            known: Vec::new(),
        };
        let input = TraceInput {
            trace,
            skipped: self.skipped,
            start,
        };
        Ok((input, notes))
    }

    /// Records the fault of a job, which is an error unless [`Options::skip_invalid`] is set.
    fn fault(&mut self, fault: Fault) -> Result<()> {
        if self.options.skip_invalid {
            self.skipped.push(fault);
            return Ok(());
        }
        self.faults.add(fault)
    }

    /// The index of the VC and the submission time of a row's job; `None` if the job is not simulated.
    fn scope(&mut self, line: &Line<'_, JobRow>) -> CellResult<Option<(usize, i64)>> {
        if line.cell("gpu_num").whole() == Some(0) {
            self.left_out.cpu_only += 1;
            return Ok(None);
        }
        let Some(vc) = self.vc(&line.cell("vc"))? else {
            return Ok(None);
        };
        let submit = self.submit(&line.cell("submit_time"))?;
        Ok(submit.map(|submit| (vc, submit)))
    }

    /// The job of a row; `None` if the job is not simulated.
    fn job(&mut self, line: &Line<'_, JobRow>) -> CellResult<Option<Job>> {
        let Some((vc, submit)) = self.scope(line)? else {
            return Ok(None);
        };
        let row = line.read()?;
        let known = profiled(line, row.workload.as_ref(), &self.options)?;
        Ok(Some(Job {
            gpus: self.gpus(&line.cell("gpu_num"), row.gpus, vc)?,
            id: row.id,
            user: row.user,
            vc,
            name: row.name,
            cpus: row.cpus,
            state: state(row.state),
            submit,
            duration: row.duration,
            workload: row.workload.map(|workload| self.workloads.index(workload)),
            usage: row.usage.or(known),
        }))
    }

    /// The index of the job's VC. If the cluster does not have the VC, returns `None` for a raw log, and a fault for
    /// any other trace.
    fn vc(&mut self, cell: &Cell<'_>) -> CellResult<Option<usize>> {
        let name = cell.id()?;
        if let Some(vc) = self.vcs.get(&*name) {
            return Ok(Some(*vc));
        }
        if self.window.form.is_civil() {
            self.left_out.add_vc(&name);
            return Ok(None);
        }
        let mut fault = cell.fault("a VC of the cluster");
        fault.remedy = "add the VC to the cluster file".to_owned();
        Err(fault)
    }

    /// The second of the job's submission; `None` if the job is not simulated.
    fn submit(&mut self, cell: &Cell<'_>) -> CellResult<Option<i64>> {
        match self.window.position(self.window.form.second(cell)?) {
            Position::At(second) => return Ok(Some(second)),
            Position::Early => self.left_out.early += 1,
            Position::Outside => self.left_out.outside += 1,
            Position::Absurd => {
                let expected = format!("a time within {LONGEST} s of the first submission");
                return Err(cell.fault(expected));
            }
        }
        Ok(None)
    }

    /// The job's number of GPUs, which must not exceed the number of GPUs of its VC.
    fn gpus(&self, cell: &Cell<'_>, gpus: i64, vc: usize) -> CellResult<u32> {
        let most = self.cluster.vc_gpus(vc);
        let fits = u32::try_from(gpus)
            .ok()
            .filter(|gpus| u64::from(*gpus) <= most);
        fits.ok_or_else(|| {
            let name = printable(&self.cluster.vcs[vc].name);
            cell.fault_of(
                counted(gpus.unsigned_abs(), "GPU"),
                format!("at most {most}, the number of GPUs of the VC {name}"),
            )
        })
    }
}

/// The indices of jobs that have the same id as an earlier job.
fn repeated(jobs: &[(Place, Job)]) -> BTreeSet<usize> {
    let id = |index: usize| jobs[index].1.id.as_str();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&index| (id(index), index));
    let pairs = order.windows(2);
    pairs
        .filter(|pair| id(pair[0]) == id(pair[1]))
        .map(|pair| pair[1])
        .collect()
}

/// The faults of a trace in which no job remains to be simulated.
fn nothing(source: &Source, left_out: &[String], mut skipped: Faults) -> Faults {
    let mut reasons = left_out.to_vec();
    if !skipped.0.is_empty() {
        reasons.push(format!(
            "{} with faults",
            counted(skipped.0.len() as u64, "job")
        ));
    }
    let found = match reasons.as_slice() {
        [] => "no row".to_owned(),
        _ => format!("no job to simulate, only {}", reasons.join("; ")),
    };
    skipped.push(source.fault(found, "at least one job with GPUs in a VC of the cluster"));
    skipped
}
