//! Compares a policy's jobs with the trace and with their runs.

use gleaner_domain::error::Result;
use gleaner_domain::results::states::JobRow;
use gleaner_runs::read as runs;
use gleaner_runs::read::RunInfo;
use serde_json::Value;

use super::Given;
use super::figures;
use super::given::Rules;
use super::profile::Profiled;
use super::runs::{Run, by_vc, parse};
use super::stage::{Stage, Swept, sweep};
use super::states;
use crate::Findings;

/// Reason why some results of earlier versions are not verified.
const NO_RUNS: &str = "an earlier version of gleaner wrote no table of runs";

/// A policy and its results.
pub(super) struct Policy<'a> {
    pub name: &'a str,
    pub rules: Rules,
    /// The policy's jobs, in the order of the trace.
    pub jobs: &'a [JobRow],
    /// The profiler's activity; `None` if the policy has no profiler.
    pub profiled: Option<&'a Profiled>,
    /// The sweeps of the virtual clusters; `None` if the table of runs is missing or invalid.
    pub swept: Option<Vec<Swept>>,
}

impl Policy<'_> {
    /// The sweeps of the virtual clusters and of the profiler. `None` if the table of runs is missing or invalid.
    pub fn stages(&self) -> Option<Vec<&Swept>> {
        let vcs = self.swept.as_ref()?.iter();
        let profiler = self.profiled.map(|profiled| &profiled.swept);
        Some(vcs.chain(profiler).collect())
    }
}

/// Compares the columns of `<policy>_jobs` that describe the submitted jobs. Returns whether the
/// rows match the jobs of the trace.
fn submitted(table: &str, rows: &[JobRow], given: &Given<'_>, findings: &mut Findings) -> bool {
    let before = findings.wrong_count;
    let jobs = &given.trace.jobs;
    findings.equal(format_args!("{table}: rows"), rows.len(), jobs.len());
    for (row, job) in rows.iter().zip(jobs) {
        let place = |column| format!("{table}, job {:?}: {column}", job.id);
        findings.equal(place("job_id"), &row.id, &job.id);
        let vc = given.cluster.vcs[job.vc].name.as_str();
        findings.equal(place("vc"), &*row.vc, vc);
        findings.equal(place("gpu_num"), row.gpus, job.gpus);
        findings.equal(place("submit_time"), row.submit, job.submit);
        findings.equal(place("duration"), row.duration, job.duration);
    }
    findings.covers(
        table,
        ["job_id", "vc", "gpu_num", "submit_time", "duration"],
    );
    findings.wrong_count == before
}

/// Verifies a policy. Returns `None` if the policy's jobs do not match the trace.
///
/// # Errors
/// A table is missing or damaged.
pub(super) fn check<'a>(
    info: &RunInfo,
    (name, figures): (&'a str, &Value),
    rows: &'a [JobRow],
    profiled: Option<&'a Profiled>,
    given: &Given<'_>,
    findings: &mut Findings,
) -> Result<Option<Policy<'a>>> {
    let table = format!("{name}_jobs");
    if !submitted(&table, rows, given, findings) {
        return Ok(None);
    }
    for row in rows {
        let place = |what| format!("{table}, job {:?}: {what}", row.id);
        findings.equal(place("jct"), row.jct, row.end - row.submit);
    }
    findings.covers(&*table, ["jct"]);
    let rules = Rules::of(name, figures, given);
    let mut policy = Policy {
        name,
        rules,
        jobs: rows,
        profiled: profiled.filter(|_| rules.is_lucid),
        swept: None,
    };
    let runs_table = format!("{name}_runs");
    if info.has(&format!("{runs_table}.parquet")) {
        let rows = runs::run_rows(info, name)?;
        if let Some(runs) = by_vc(&runs_table, &rows, given, findings) {
            policy.swept = Some(policy.sweep(&runs, given, findings));
        }
        let columns = [
            "job_id",
            "vc",
            "run",
            "from_time",
            "to_time",
            "speed",
            "nodes",
        ];
        findings.covers(&*runs_table, columns);
        let others = ["start_time", "end_time", "queue", "ckpt_times", "nodes"];
        findings.covers(&*table, others);
    } else {
        for column in ["start_time", "end_time", "queue", "ckpt_times", "nodes"] {
            findings.not_verified(&*table, column, NO_RUNS);
        }
        findings.not_verified(format!("{name}_seq"), "all of it", NO_RUNS);
    }
    figures::compare(&policy, figures, given, findings);
    Ok(Some(policy))
}

/// Compares the table of a policy's states.
///
/// # Errors
/// The table is missing or damaged.
pub(super) fn states(
    info: &RunInfo,
    policy: &Policy<'_>,
    step: i64,
    given: &Given<'_>,
    findings: &mut Findings,
) -> Result<()> {
    let Some(swept) = &policy.swept else {
        return Ok(());
    };
    let vcs = given.cluster.vcs.iter().map(|vc| vc.name.as_str());
    let vcs: Vec<(&str, &Swept)> = vcs.zip(swept).collect();
    states::compare(info, &format!("{}_seq", policy.name), &vcs, step, findings)
}

impl Policy<'_> {
    /// Verifies each job against its runs, and sweeps over the runs.
    fn sweep(&self, runs: &[Vec<Run>], given: &Given<'_>, findings: &mut Findings) -> Vec<Swept> {
        let mut by_job: Vec<Vec<&Run>> = vec![Vec::new(); self.jobs.len()];
        for run in runs.iter().flatten() {
            by_job[run.job].push(run);
        }
        for (job, runs) in by_job.iter().enumerate() {
            match self.profiled.filter(|profiled| profiled.ended_there(job)) {
                Some(profiled) => self.ended_in_profiler(job, runs, profiled, findings),
                None => self.account(job, runs, given, findings),
            }
        }
        let mut swept = Vec::new();
        for (vc, runs) in runs.iter().enumerate() {
            let stage = self.stage(vc, runs, given);
            let of_vc = sweep(&stage, given, findings);
            for (run, place) in runs.iter().zip(&of_vc.named).filter(|(run, _)| run.is_last) {
                let row = &self.jobs[run.job];
                findings.holds(parse(&row.nodes).as_ref() == Some(place), || {
                    format!(
                        "{}_jobs, job {:?}: nodes are {}, but its last run was on other nodes",
                        self.name, row.id, row.nodes
                    )
                });
            }
            swept.push(of_vc);
        }
        swept
    }

    /// The second in which a job joins the queue of its virtual cluster.
    fn enters(&self, job: usize) -> i64 {
        let submit = self.jobs[job].submit;
        let profiled = self.profiled.filter(|_| self.rules.waits_for_profiler);
        let profiled = profiled.and_then(|profiled| profiled.times(job));
        profiled.map_or(submit, |(_, end)| end)
    }

    fn stage<'r>(&'r self, vc: usize, runs: &'r [Run], given: &Given<'_>) -> Stage<'r> {
        let of_vc = &given.cluster.vcs[vc];
        let profiled = self.profiled;
        let goes_on = |job: &usize| {
            given.trace.jobs[*job].vc == vc && !profiled.is_some_and(|p| p.ended_there(*job))
        };
        let jobs = (0..self.jobs.len()).filter(goes_on);
        let kept = given.profiler.filter(|_| profiled.is_some());
        let lends = kept.is_some_and(|profiler| profiler.elastic == Some(vc));
        Stage {
            place: format!("{}_runs, {}", self.name, of_vc.name),
            jobs: jobs
                .map(|job| (job, self.enters(job).max(given.start)))
                .collect(),
            runs,
            nodes: kept.map_or(of_vc.nodes, |profiler| profiler.kept(vc, of_vc.nodes)),
            steps: profiled
                .filter(|_| lends)
                .map_or(&[][..], |profiled| profiled.echo.as_slice()),
            by_name: false,
            placer: self.rules.is_known.then_some(given.placer),
            shares: self.rules.is_lucid,
            is_corrected: self.rules.is_corrected,
            is_profiler: false,
            arriving: arriving(given),
        }
    }

    /// Checks a job that ended in the profiler. The job's row must have the times and nodes of
    /// the profiler, and the job must have no runs.
    fn ended_in_profiler(
        &self,
        job: usize,
        runs: &[&Run],
        profiled: &Profiled,
        findings: &mut Findings,
    ) {
        let row = &self.jobs[job];
        let place = |what| format!("{}_jobs, job {:?}: {what}", self.name, row.id);
        let (start, end) = profiled.times(job).unwrap_or_default();
        findings.equal(place("start_time"), row.start, start);
        findings.equal(place("end_time"), row.end, end);
        findings.equal(place("queue"), row.queue, start - row.submit);
        findings.equal(place("ckpt_times"), row.checkpoints, 0);
        findings.equal(place("nodes"), row.nodes.as_str(), profiled.nodes(job));
        findings.holds(runs.is_empty(), || {
            format!(
                "{}_runs, job {:?}: it ended in the profiler, but has a run",
                self.name, row.id
            )
        });
    }

    /// Compares a job's row with its runs: start, end, waiting time, checkpoints, and work done.
    fn account(&self, job: usize, runs: &[&Run], given: &Given<'_>, findings: &mut Findings) {
        let row = &self.jobs[job];
        let place = |what| format!("{}_jobs, job {:?}: {what}", self.name, row.id);
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            findings.add(|| format!("{}_runs: job {:?} has no run", self.name, row.id));
            return;
        };
        findings.equal(place("start_time"), row.start, first.from);
        findings.equal(place("end_time"), row.end, last.until);
        let preemptions = runs.len() as u32 - 1;
        findings.equal(place("ckpt_times"), row.checkpoints, preemptions);
        let enters = self.enters(job);
        findings.holds(first.from >= enters.max(given.start), || {
            place("it starts before it joins the queue")
        });
        let may_go_on = runs.windows(2).all(|pair| pair[0].until <= pair[1].from);
        findings.holds(may_go_on, || place("its runs overlap"));
        findings.holds(self.rules.preempts || preemptions == 0, || {
            place("it was preempted, but the policy never preempts jobs")
        });
        let profiled = self.profiled.and_then(|profiled| profiled.times(job));
        let for_profiler = profiled.map_or(0, |(start, _)| start - row.submit);
        let seconds = |from: i64, to: i64| i128::from(to) - i128::from(from);
        let between = runs
            .windows(2)
            .map(|pair| seconds(pair[0].until, pair[1].from));
        let waited = i128::from(for_profiler) + seconds(enters, first.from) + between.sum::<i128>();
        findings.equal(place("queue"), i128::from(row.queue), waited);
        self.work(job, runs, findings);
    }

    /// Checks the work of a job. A job ends in the first second in which its work is done or, if
    /// the policy notices this late ([`Rules::notice`]), one second later. Each checkpoint adds 40
    /// s of work, or 60 s for jobs with more than 8 GPUs.
    fn work(&self, job: usize, runs: &[&Run], findings: &mut Findings) {
        let row = &self.jobs[job];
        let overhead = if row.gpus <= 8 { 40 } else { 60 };
        let due = row.duration as f64 + f64::from(overhead) * f64::from(row.checkpoints);
        let end = row.end.saturating_sub(self.rules.notice);
        let before = |second| runs.iter().map(|run| run.work_before(second)).sum::<f64>();
        // At full speed, work is a whole number of seconds, so it is compared exactly.
        let mut speeds = runs.iter().flat_map(|run| &run.speeds);
        let is_exact = speeds.all(|(_, speed)| *speed == 1.0);
        let slack = if is_exact {
            0.0
        } else {
            1e-9 * due.max(1.0) + 1e-6
        };
        let is_done = before(end) >= due - slack;
        let is_early = before(end.saturating_sub(1)) < due + slack;
        findings.holds(is_done && is_early, || {
            format!(
                "{}_runs, job {:?}: it did {} s of work, but needed {due} s",
                self.name,
                row.id,
                before(end)
            )
        });
    }
}

/// The first and last submission times in the trace.
pub(super) fn arriving(given: &Given<'_>) -> (i64, i64) {
    let submits = given.trace.jobs.iter().map(|job| job.submit);
    let (first, last) = (submits.clone().min(), submits.max());
    first.zip(last).unwrap_or_default()
}
