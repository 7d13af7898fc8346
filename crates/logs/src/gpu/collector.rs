//! The collector, to which readers report the jobs of a trace.

use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};

use super::clusters::{self, Use};
use super::machines::Machines;
use super::summary::Summary;
use super::{Options, Prepared};
use crate::scheduler::{LogCounts, Reason, SchedulerClock};
use gleaner_core::domain::{Job, Stamp, Time, Trace, Usage};
use gleaner_core::error::Result;
use gleaner_core::words::counted;
use gleaner_io::input::{Place, Unit};
use gleaner_io::rows::without_zero_fraction;
use gleaner_occupancy::Window;

/// Longest duration, and longest time from the median submission to the first or last one, in
/// seconds: 15 years.
const LONGEST: i64 = 500_000_000;

/// Latest submission in seconds since 1970, and earliest one before 1970: the years 1678 to 2261.
const LAST: i64 = 9_200_000_000;

/// Most GPUs of a job.
const MOST_GPUS: u64 = 1 << 20;

/// A job as a reader reports it.
pub(super) struct Draft<'a> {
    pub id: &'a str,
    pub user: &'a str,
    pub vc: &'a str,
    pub state: &'a str,
    pub gpus: u64,
    pub cpus: f64,
    /// Submission in seconds: since 1970, or on the trace's own clock.
    pub submit: i64,
    pub runs: RunTimes<'a>,
}

/// When, or for how long, a job ran.
pub(super) enum RunTimes<'a> {
    /// The starts and ends of one or several runs.
    At(&'a [(i64, i64)]),
    /// For this many seconds, at an unknown time.
    For(i64),
}

/// Collects jobs, and counts faults.
pub(super) struct JobCollector {
    pub clock: SchedulerClock,
    pub log_counts: LogCounts,
    pub machines: Machines,
    /// GPUs of the only VC, if the trace says so.
    pub resources: Option<u64>,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// All files so far; [`At`] has indexes into them.
    files: Vec<PathBuf>,
    /// Names of the VCs; jobs have indexes into them.
    vcs: IndexSet<String>,
    /// All jobs by their ids, in order of appearance.
    jobs: IndexMap<String, Taken>,
    /// The GPUs that jobs held, for jobs whose starts and ends are known.
    uses: Vec<Use>,
}

/// A job without its id, and its place in the files.
struct Taken {
    user: Box<str>,
    vc: u32,
    state: Box<str>,
    gpus: u32,
    cpus: f64,
    submit: i64,
    duration: i64,
    at: At,
}

/// A place in a file that can be kept after the file was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// Index of the file in the order of reading.
    file: u32,
    unit: Unit,
    line: u64,
}

impl JobCollector {
    /// A collector without jobs. `strict` makes the first fault an error.
    pub fn new(clock: SchedulerClock, strict: bool) -> Self {
        JobCollector {
            clock,
            log_counts: LogCounts {
                strict,
                ..LogCounts::default()
            },
            machines: Machines::default(),
            resources: None,
            notes: Vec::new(),
            files: Vec::new(),
            vcs: IndexSet::new(),
            jobs: IndexMap::new(),
            uses: Vec::new(),
        }
    }

    /// Starts another file.
    pub fn begin(&mut self, file: &Path) {
        self.log_counts.files += 1;
        self.files.push(file.to_owned());
    }

    /// The first file, for messages about the whole trace.
    pub fn first_file(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// A place in the current file, in a form that can be kept.
    pub fn at(&self, place: Place<'_>) -> At {
        At {
            file: self.files.len().saturating_sub(1) as u32,
            unit: place.unit,
            line: place.line,
        }
    }

    /// The seconds since 1970 of times that follow each other.
    ///
    /// # Errors
    /// As for [`SchedulerClock::in_order`].
    pub fn seconds<const N: usize>(
        &mut self,
        place: Place<'_>,
        stamps: [Option<Stamp>; N],
    ) -> Result<[Option<i64>; N]> {
        self.clock.in_order(stamps, place, &mut self.log_counts)
    }

    /// Counts a fault at a place that was kept.
    ///
    /// # Errors
    /// The fault itself, if the reader is strict.
    pub fn fault(&mut self, reason: Reason, at: At, found: impl std::fmt::Display) -> Result<()> {
        let file = self.files.get(at.file as usize);
        let place = Place {
            file: file.map_or(Path::new(""), PathBuf::as_path),
            unit: at.unit,
            line: at.line,
        };
        self.log_counts.fault(reason, place, found)
    }

    /// Adds a job. A job without GPUs or with a fault is counted and left out.
    ///
    /// # Errors
    /// A fault, if the reader is strict.
    pub fn take(&mut self, draft: &Draft<'_>, at: At) -> Result<()> {
        if draft.gpus == 0 {
            self.log_counts.leave_out(Reason::NoGpu);
            return Ok(());
        }
        let Some(duration) = self.duration(draft, at)? else {
            return Ok(());
        };
        let id = plain(draft.id);
        if self.jobs.contains_key(id) {
            return self.fault(Reason::Repeated, at, id);
        }
        let vc = self.vcs.insert_full(plain(draft.vc).to_owned()).0 as u32;
        let taken = Taken {
            user: plain(draft.user).into(),
            vc,
            state: draft.state.into(),
            gpus: draft.gpus as u32,
            cpus: draft.cpus,
            submit: draft.submit,
            duration,
            at,
        };
        if let RunTimes::At(runs) = draft.runs {
            let used = runs.iter().filter(|(start, end)| start < end);
            self.uses.extend(used.map(|&(start, end)| Use {
                vc,
                start,
                end,
                gpus: taken.gpus,
            }));
        }
        self.jobs.insert(id.to_owned(), taken);
        Ok(())
    }

    /// The seconds that a job ran, over all runs. Returns `None` if the job cannot be used, which
    /// is counted.
    fn duration(&mut self, draft: &Draft<'_>, at: At) -> Result<Option<i64>> {
        let duration = match draft.runs {
            RunTimes::For(duration) => duration,
            RunTimes::At(runs) => {
                let reversed = runs.iter().filter(|(start, end)| end < start);
                for (start, end) in reversed {
                    let found = format_args!("an end {} s before the start", start - end);
                    self.fault(Reason::EndsBeforeStart, at, found)?;
                }
                if runs.iter().all(|(start, end)| end < start) {
                    return Ok(None);
                }
                runs.iter().map(|(start, end)| (end - start).max(0)).sum()
            }
        };
        if duration == 0 {
            self.log_counts.leave_out(Reason::NoTime);
            return Ok(None);
        }
        let submit = draft.submit;
        if duration > LONGEST || draft.gpus > MOST_GPUS || submit.abs() > LAST {
            let gpus = counted(draft.gpus, "GPU");
            let found = format_args!("{gpus} for {duration} s from {submit}");
            self.fault(Reason::Absurd, at, found)?;
            return Ok(None);
        }
        if let RunTimes::At(&[(start, _), ..]) = draft.runs
            && start < submit
        {
            let found = format_args!("a start {} s early", submit - start);
            self.fault(Reason::StartsEarly, at, found)?;
        }
        Ok(Some(duration))
    }

    /// Returns the trace and its cluster.
    ///
    /// # Errors
    /// No job remains, the cluster is too large, or there is a fault and the reader is strict.
    pub fn finish(mut self, options: &Options) -> Result<Prepared> {
        self.drop_absurd()?;
        let sizes = clusters::sizes(&self.demand(), &self.machines, self.resources, options);
        self.notes.push(sizes.note.clone());
        self.drop_too_large(&sizes, options)?;
        let expected = format!(
            "at least one job that ran on GPUs, from {}",
            options.format.origin()
        );
        let first = self.first_file().to_owned();
        if self.jobs.is_empty() {
            return Err(self.log_counts.nothing_left(&expected, &first));
        }
        let used = self.jobs.values().map(|job| job.vc).collect();
        let (cluster, index) = sizes.cluster(&self.vcs, &used, options, &first)?;
        self.log_counts.jobs = self.jobs.len() as u64;
        let mut jobs: Vec<Job> = self
            .jobs
            .into_iter()
            .map(|job| whole(job, &index))
            .collect();
        jobs.sort_by_key(|job| job.submit);
        let first = jobs[0].submit;
        let last = jobs[jobs.len() - 1].submit;
        let window = Window {
            from: first,
            to: last,
        };
        let is_civil = options.format.is_civil();
        let clock = is_civil.then(|| self.clock.in_window(window));
        let remark = is_civil.then(|| self.clock.remark(window)).flatten();
        self.notes.extend(remark);
        let origin = if clock.is_some() { first } else { 0 };
        for job in &mut jobs {
            job.submit -= origin;
        }
        Ok(Prepared {
            summary: Summary::new(
                self.log_counts,
                self.notes,
                &cluster,
                &jobs,
                (first, last),
                clock.clone(),
            ),
            trace: Trace {
                jobs,
                workloads: Vec::new(),
                origin: clock.map(|clock| clock.of_utc(Time::from_seconds(first))),
                known: Vec::new(),
            },
            cluster,
        })
    }

    /// Leaves out jobs that were submitted years before or after the median job. Otherwise a single
    /// wrong time would stretch the whole trace.
    fn drop_absurd(&mut self) -> Result<()> {
        let mut submits: Vec<i64> = self.jobs.values().map(|job| job.submit).collect();
        if submits.is_empty() {
            return Ok(());
        }
        let half = submits.len() / 2;
        let middle = *submits.select_nth_unstable(half).1;
        self.drop_where(Reason::Absurd, |job| {
            let far = job.submit.abs_diff(middle) > LONGEST as u64;
            far.then(|| {
                format!(
                    "a submission {} s from most others",
                    job.submit.abs_diff(middle)
                )
            })
        })
    }

    /// Leaves out jobs whose VC is unknown or smaller than the job.
    fn drop_too_large(&mut self, sizes: &clusters::Sizes, options: &Options) -> Result<()> {
        let of = |job: &Taken| sizes.nodes(job.vc);
        let names = std::mem::take(&mut self.vcs);
        let name = |vc: u32| names.get_index(vc as usize).map_or("?", String::as_str);
        self.drop_where(Reason::UnknownCluster, |job| {
            of(job).is_none().then(|| name(job.vc).to_owned())
        })?;
        self.drop_where(Reason::TooManyGpus, |job| {
            let most = of(job)? * u64::from(options.gpus_per_node);
            (u64::from(job.gpus) > most).then(|| format!("{}, of {most}", counted(job.gpus, "GPU")))
        })?;
        self.vcs = names;
        Ok(())
    }

    /// Leaves out the jobs for which `wrong` returns a text, which says what is wrong.
    fn drop_where(
        &mut self,
        reason: Reason,
        wrong: impl Fn(&Taken) -> Option<String>,
    ) -> Result<()> {
        let found = self
            .jobs
            .values()
            .filter_map(|job| Some((job.at, wrong(job)?)));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return Ok(());
        }
        for (at, found) in found {
            self.fault(reason, at, found)?;
        }
        self.jobs.retain(|_, job| wrong(job).is_none());
        Ok(())
    }

    /// What the remaining jobs need.
    fn demand(&self) -> clusters::Demand<'_> {
        let mut largest = vec![0; self.vcs.len()];
        for job in self.jobs.values() {
            let most = &mut largest[job.vc as usize];
            *most = job.gpus.max(*most);
        }
        clusters::Demand {
            vcs: &self.vcs,
            uses: &self.uses,
            largest,
        }
    }
}

/// A name in the form in which a simulation reads it back: trimmed, and without a zero fraction.
fn plain(name: &str) -> &str {
    without_zero_fraction(name.trim())
}

/// The job of the trace. `index` maps VCs to those of the cluster.
fn whole((id, job): (String, Taken), index: &[usize]) -> Job {
    Job {
        id,
        user: job.user.into(),
        vc: index[job.vc as usize],
        name: String::new(),
        gpus: job.gpus,
        cpus: job.cpus,
        state: job.state.into(),
        submit: job.submit,
        duration: job.duration,
        workload: None,
        usage: Usage::default(),
    }
}
