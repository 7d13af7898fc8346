//! The sink for jobs: collects the jobs of a trace, and builds a table of jobs and their cluster.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};

use super::clusters::{self, Use};
use super::machines::Machines;
use super::summary::Summary;
use super::{Options, Prepared};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_domain::{Job, Trace, Usage, Utc};
use gleaner_io::rows::without_zero_fraction;
use gleaner_logs::occupancy::Window;
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{At, Log, Nodes, Reason, Record, Run, Sink};

/// Maximum duration of a job, and maximum time between a submission and the median submission, in seconds: about 16
/// years.
const LONGEST: i64 = 500_000_000;

/// Maximum time between a submission and the start of 1970, in seconds. Submissions are therefore in the years 1678 to
/// 2261.
const LAST: i64 = 9_200_000_000;

/// Maximum number of GPUs of a job.
const MOST_GPUS: u64 = 1 << 20;

/// Collects jobs, and counts faults.
pub(super) struct JobTable {
    machines: Machines,
    /// Names of the VCs; jobs refer to them by index.
    vcs: IndexSet<String>,
    /// All complete jobs by id, in order of appearance.
    jobs: IndexMap<String, Taken>,
    /// Jobs that may have further records, by id.
    parts: IndexMap<String, Part>,
    /// The GPUs that jobs held, for jobs whose starts and ends are known.
    uses: Vec<Use>,
    /// Reusable buffer for the runs of a job.
    runs: Vec<(i64, i64)>,
}

/// A job and its place in the files. The id is stored separately.
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

/// A job that is assembled from several records: the data of the records read so far.
struct Part {
    user: Box<str>,
    vc: Box<str>,
    state: Box<str>,
    gpus: u64,
    cpus: f64,
    submit: i64,
    /// The end of each run, by its start; `None` if no record has stated the end yet.
    runs: BTreeMap<i64, Option<i64>>,
    at: At,
}

impl Sink for JobTable {
    fn take(&mut self, log: &mut Log, at: At, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Job(job) if job.runs.is_empty() && job.duration.is_none() => {
                log.leave_out(Reason::NeverStarted);
                Ok(())
            }
            Record::Job(job) if job.is_part => self.part(log, at, job),
            Record::Job(job) => self.job(log, at, job),
            Record::Hold(..) => Ok(()),
        }
    }
}

impl JobTable {
    /// An empty table. `machines` is the list of machines, if the user gave one.
    pub fn new(machines: Machines) -> Self {
        JobTable {
            machines,
            vcs: IndexSet::new(),
            jobs: IndexMap::new(),
            parts: IndexMap::new(),
            uses: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds the runs of a record to the runs of earlier records of the same job.
    fn part(&mut self, log: &mut Log, at: At, job: &scheduler::Job<'_>) -> Result<()> {
        for run in job.runs {
            let times = [job.submit, run.start, run.end];
            let [Some(submit), Some(start), end] = log.seconds(at, times)? else {
                continue;
            };
            let part = self.parts.entry(job.id.to_owned()).or_insert_with(|| Part {
                user: job.user.into(),
                vc: job.vc.into(),
                state: "".into(),
                gpus: job.gpus,
                cpus: job.cpus,
                submit,
                runs: BTreeMap::new(),
                at,
            });
            part.submit = part.submit.min(submit);
            let known = part.runs.entry(start).or_default();
            *known = end.or(*known);
            // The state in the last record of a job is the job's final state.
            part.state = job.state.into();
        }
        Ok(())
    }

    /// Adds the jobs that are spread over several records. Called after the last record.
    fn add_parts(&mut self, log: &mut Log) -> Result<()> {
        for (id, part) in std::mem::take(&mut self.parts) {
            let runs = part.runs.iter().map(|(start, end)| Some((*start, (*end)?)));
            let Some(runs) = runs.collect::<Option<Vec<(i64, i64)>>>() else {
                log.leave_out(Reason::StillRunning);
                continue;
            };
            let job = scheduler::Job {
                id: &id,
                user: &part.user,
                vc: &part.vc,
                state: &part.state,
                gpus: part.gpus,
                cpus: part.cpus,
                ..scheduler::Job::default()
            };
            self.add(log, part.at, &job, part.submit, &runs)?;
        }
        Ok(())
    }

    /// Adds a job whose records are complete. A job that is still running is counted and left out.
    fn job(&mut self, log: &mut Log, at: At, job: &scheduler::Job<'_>) -> Result<()> {
        let last = job.runs.last();
        if last.is_some_and(|run| run.start.is_some() && run.end.is_none()) {
            log.leave_out(Reason::StillRunning);
            return Ok(());
        }
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        let submit = place(log, at, job, &mut runs)?;
        if job.runs.is_empty() || !runs.is_empty() {
            self.check_machines(log, at, job.runs)?;
            self.add(log, at, job, submit, &runs)?;
        }
        self.runs = runs;
        Ok(())
    }

    /// Counts a fault if a job uses more GPUs of a machine than the machine has according to the list of machines.
    fn check_machines(&self, log: &mut Log, at: At, runs: &[Run<'_>]) -> Result<()> {
        let shares = runs.iter().flat_map(|run| match run.nodes {
            Nodes::Machines(shares) => shares,
            _ => &[],
        });
        let mut known = shares.filter_map(|used| Some((used, self.machines.gpus_of(&used.name)?)));
        let Some((used, has)) = known.find(|(used, has)| used.gpus > u64::from(*has)) else {
            return Ok(());
        };
        let gpus = counted(used.gpus, "GPU");
        let found = format_args!("{gpus} of {}, which has {has}", used.name);
        log.fault(Reason::TooManyOfNode, at, found)
    }

    /// Adds a job. A job without GPUs or with a serious fault is counted and left out. `submit` and the
    /// starts and ends of `runs` are in seconds since 1970, or on the trace's own clock.
    fn add(
        &mut self,
        log: &mut Log,
        at: At,
        job: &scheduler::Job<'_>,
        submit: i64,
        runs: &[(i64, i64)],
    ) -> Result<()> {
        check_duration(log, at, job, runs)?;
        if job.gpus == 0 {
            log.leave_out(Reason::NoGpu);
            return Ok(());
        }
        let Some(duration) = duration(log, at, job, runs)? else {
            return Ok(());
        };
        if duration > LONGEST || job.gpus > MOST_GPUS || submit.abs() > LAST {
            let gpus = counted(job.gpus, "GPU");
            let found = format_args!("{gpus} for {duration} s from {submit}");
            return log.fault(Reason::Absurd, at, found);
        }
        if let [(start, _), ..] = runs
            && *start < submit
        {
            let found = format_args!("a start {} s early", submit - start);
            log.fault(Reason::StartsEarly, at, found)?;
        }
        let id = plain(job.id);
        if self.jobs.contains_key(id) {
            return log.fault(Reason::Repeated, at, id);
        }
        let vc = self.vcs.insert_full(plain(job.vc).to_owned()).0 as u32;
        let taken = Taken {
            user: plain(job.user).into(),
            vc,
            state: job.state.into(),
            gpus: job.gpus as u32,
            cpus: job.cpus,
            submit,
            duration,
            at,
        };
        let used = runs.iter().filter(|(start, end)| start < end);
        self.uses.extend(used.map(|&(start, end)| Use {
            vc,
            start,
            end,
            gpus: taken.gpus,
        }));
        self.jobs.insert(id.to_owned(), taken);
        Ok(())
    }

    /// Returns the trace and its cluster.
    ///
    /// # Errors
    /// No job remains, the cluster is too large, or there is a fault and the reader is strict.
    pub fn finish(mut self, mut log: Log, options: &Options) -> Result<Prepared> {
        self.add_parts(&mut log)?;
        self.drop_absurd(&mut log)?;
        let sizes = clusters::sizes(&self.demand(), &self.machines, log.gpu_count, options);
        log.notes.push(sizes.note.clone());
        self.drop_too_large(&mut log, &sizes, options)?;
        let expected = format!(
            "at least one job that ran on GPUs, from {}",
            options.format.origin()
        );
        if self.jobs.is_empty() {
            return Err(log.counts.nothing_left(&expected, log.first_file()));
        }
        let used = self.jobs.values().map(|job| job.vc).collect();
        let (cluster, index) = sizes.cluster(&self.vcs, &used, options, log.first_file())?;
        log.counts.jobs = self.jobs.len() as u64;
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
        let clock = is_civil.then(|| log.clock.in_window(window));
        let remark = is_civil.then(|| log.clock.remark(window)).flatten();
        log.notes.extend(remark);
        let origin = if clock.is_some() { first } else { 0 };
        for job in &mut jobs {
            job.submit -= origin;
        }
        Ok(Prepared {
            summary: Summary::new(
                log.counts,
                log.notes,
                &cluster,
                &jobs,
                (first, last),
                clock.clone(),
            ),
            trace: Trace {
                jobs,
                workloads: Vec::new(),
                origin: clock.map(|clock| clock.steady(Utc::from_seconds(first))),
                known: Vec::new(),
            },
            cluster,
        })
    }

    /// Leaves out jobs that were submitted years before or after the median job. Otherwise a single
    /// wrong time would stretch the trace over years.
    fn drop_absurd(&mut self, log: &mut Log) -> Result<()> {
        let mut submits: Vec<i64> = self.jobs.values().map(|job| job.submit).collect();
        if submits.is_empty() {
            return Ok(());
        }
        let half = submits.len() / 2;
        let middle = *submits.select_nth_unstable(half).1;
        self.drop_where(log, Reason::Absurd, |job| {
            let far = job.submit.abs_diff(middle) > LONGEST as u64;
            far.then(|| {
                format!(
                    "a submission {} s from the median submission",
                    job.submit.abs_diff(middle)
                )
            })
        })
    }

    /// Leaves out jobs whose VC is unknown or smaller than the job.
    fn drop_too_large(
        &mut self,
        log: &mut Log,
        sizes: &clusters::Sizes,
        options: &Options,
    ) -> Result<()> {
        let of = |job: &Taken| sizes.nodes(job.vc);
        let names = std::mem::take(&mut self.vcs);
        let name = |vc: u32| names.get_index(vc as usize).map_or("?", String::as_str);
        self.drop_where(log, Reason::UnknownCluster, |job| {
            of(job).is_none().then(|| name(job.vc).to_owned())
        })?;
        self.drop_where(log, Reason::TooManyGpus, |job| {
            let most = of(job)? * u64::from(options.gpus_per_node);
            (u64::from(job.gpus) > most).then(|| format!("{}, of {most}", counted(job.gpus, "GPU")))
        })?;
        self.vcs = names;
        Ok(())
    }

    /// Leaves out the jobs for which `wrong` returns the description of a fault.
    fn drop_where(
        &mut self,
        log: &mut Log,
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
            log.fault(reason, at, found)?;
        }
        self.jobs.retain(|_, job| wrong(job).is_none());
        Ok(())
    }

    /// The GPU demand of the remaining jobs.
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

/// Adds to `runs` every run of the job that has both a start and an end. If any run lacks one of
/// these times, counts a fault. Returns the submission time, in seconds.
fn place(
    log: &mut Log,
    at: At,
    job: &scheduler::Job<'_>,
    runs: &mut Vec<(i64, i64)>,
) -> Result<i64> {
    let mut submit = None;
    if job.runs.is_empty() {
        [submit] = log.seconds(at, [job.submit])?;
    }
    for run in job.runs {
        if run.start.is_some() && run.end.is_some() {
            let times = [job.submit, run.start, run.end];
            let [submitted, start, end] = log.seconds(at, times)?;
            submit = submit.or(submitted);
            runs.extend(start.zip(end));
        }
    }
    let lost = job.runs.len() - runs.len();
    if lost > 0 {
        let found = format_args!("{lost} of {} attempts", job.runs.len());
        log.fault(Reason::NoRun, at, found)?;
    }
    Ok(submit.unwrap_or_default())
}

/// Counts a fault if the stated duration differs from the time between the start and the end of the
/// only run. A difference of one second can come from rounding and is accepted.
fn check_duration(
    log: &mut Log,
    at: At,
    job: &scheduler::Job<'_>,
    runs: &[(i64, i64)],
) -> Result<()> {
    let (&[(start, end)], Some(stated)) = (runs, job.duration) else {
        return Ok(());
    };
    if end < start || (stated - (end - start) as f64).abs() <= 1.0 {
        return Ok(());
    }
    let found = format_args!(
        "a duration of {stated} s, but {} s from start to end",
        end - start
    );
    log.fault(Reason::DurationDiffers, at, found)
}

/// The total run time of a job in seconds. If the job did not run, counts it as left out and returns
/// `None`.
fn duration(
    log: &mut Log,
    at: At,
    job: &scheduler::Job<'_>,
    runs: &[(i64, i64)],
) -> Result<Option<i64>> {
    for (start, end) in runs.iter().filter(|(start, end)| end < start) {
        let found = format_args!("an end {} s before the start", start - end);
        log.fault(Reason::EndsBeforeStart, at, found)?;
    }
    let duration = match runs {
        [] => job.duration.unwrap_or_default() as i64,
        _ if runs.iter().all(|(start, end)| end < start) => return Ok(None),
        _ => runs.iter().map(|(start, end)| (end - start).max(0)).sum(),
    };
    if duration == 0 {
        log.leave_out(Reason::NoTime);
    }
    Ok(Some(duration).filter(|duration| *duration != 0))
}

/// Returns the name as a simulation will read it from the table of jobs: trimmed, and without a zero fraction such as
/// `.0`.
fn plain(name: &str) -> &str {
    without_zero_fraction(name.trim())
}

/// Converts a job to a job of the trace. `index` maps the VC's index in the trace to its index in the
/// cluster.
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
