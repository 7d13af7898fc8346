//! Checks each job's outcome, its service and the order of its runs.

use super::{Report, Terms, Violation, placement};
use gleaner_domain::cluster::GpuSet;
use gleaner_domain::jobs::Job;
use gleaner_domain::results::schedule::{JobOutcome, JobRun, Schedule};

pub(super) fn check(schedule: &Schedule, terms: &Terms, report: &mut Report) {
    let mut runs: Vec<&JobRun> = schedule.runs.iter().collect();
    runs.retain(|run| run.job < terms.jobs.len());
    runs.sort_by_key(|run| run.job);
    let mut rest = runs.as_slice();
    for (index, job) in terms.jobs.iter().enumerate() {
        let own;
        (own, rest) = rest.split_at(rest.partition_point(|run| run.job == index));
        let account = Account {
            job,
            entry: terms.entry(index),
            outcome: &schedule.jobs[index],
            queued: terms.queued.and_then(|queued| queued.get(index)),
            runs: own,
        };
        account.check(terms, report);
    }
}

/// A job with all its runs, in the order of the schedule.
struct Account<'a> {
    job: &'a Job,
    /// Second at which the job joins the queue.
    entry: i64,
    outcome: &'a JobOutcome,
    queued: Option<&'a i64>,
    runs: &'a [&'a JobRun],
}

impl Account<'_> {
    fn id(&self) -> String {
        self.job.id.clone()
    }

    fn check(&self, terms: &Terms, report: &mut Report) {
        let [first, ..] = self.runs else {
            return report.add(Violation::NoRun { job: self.id() });
        };
        let last = self.runs[self.runs.len() - 1];
        self.check_order(last, report);
        let arrival = self.entry.max(terms.start);
        report.require(first.from >= arrival, || Violation::Early {
            job: self.id(),
            start: first.from,
            arrival,
        });
        self.check_outcome(first, last, report);
        self.check_service(terms, last, report);
    }

    fn check_order(&self, last: &JobRun, report: &mut Report) {
        let marked = self.runs.iter().filter(|run| run.last).count();
        report.require(marked == 1 && last.last, || Violation::LastRun {
            job: self.id(),
            runs: self.runs.len(),
            marked,
        });
        for pair in self.runs.windows(2) {
            let (from, until) = (pair[1].from, pair[0].until);
            report.require(from >= until, || Violation::Overlap {
                job: self.id(),
                from,
                until,
            });
        }
    }

    fn check_outcome(&self, first: &JobRun, last: &JobRun, report: &mut Report) {
        let outcome = self.outcome;
        let fields = [
            ("start", outcome.start, first.from),
            ("end", outcome.end, last.until),
            ("queue", outcome.queue, self.waited()),
            (
                "checkpoints",
                i64::from(outcome.checkpoints),
                self.runs.len() as i64 - 1,
            ),
        ];
        for (field, found, expected) in fields {
            report.require(found == expected, || Violation::Outcome {
                job: self.id(),
                field,
                found,
                expected,
            });
        }
        let held = |nodes: &[(u32, GpuSet)]| {
            let mut held: Vec<GpuSet> = nodes.iter().map(|&(_, gpus)| gpus).collect();
            held.sort_unstable();
            held
        };
        let same = held(&outcome.nodes) == held(&last.placement)
            && placement::gpus(&outcome.nodes) == u64::from(self.job.gpus);
        report.require(same, || Violation::FinalNodes {
            job: self.id(),
            from: last.from,
        });
    }

    /// Seconds that the job waited: before it joined this queue, before its first run and between
    /// its runs.
    fn waited(&self) -> i64 {
        let mut waited = self.queued.copied().unwrap_or(0);
        let mut since = self.entry;
        for run in self.runs {
            waited = waited.saturating_add(run.from.saturating_sub(since));
            since = run.until;
        }
        waited
    }

    fn check_service(&self, terms: &Terms, last: &JobRun, report: &mut Report) {
        let checkpoints = self.runs.len() as i64 - 1;
        let overhead = checkpoints.saturating_mul((terms.overhead)(self.job.gpus));
        let due = (terms.due)(self.job).saturating_add(overhead) as f64;
        let end = last.until.saturating_sub(terms.notice);
        let until = |run: &JobRun| if run.last { end } else { run.until };
        let found: f64 = self.runs.iter().map(|run| work(run, until(run))).sum();
        let all_runs = self.runs.iter();
        let sound = if all_runs.clone().all(|run| full_speed(run)) {
            found == due
        } else {
            // The engine subtracts the speed from the remaining work once per second, and each result is rounded. The
            // tolerance therefore grows with the number of seconds.
            let steps: f64 = all_runs.map(|run| seconds(run.from, until(run))).sum();
            let rounding = steps * due * f64::EPSILON;
            let before_end = last.speeds.iter().rfind(|&&(time, _)| time < end);
            let step = before_end.map_or(1.0, |&(_, speed)| speed);
            due - rounding <= found && found < due + step + rounding
        };
        report.require(sound, || Violation::Service {
            job: self.id(),
            found,
            expected: due,
        });
    }
}

fn full_speed(run: &JobRun) -> bool {
    run.speeds.iter().all(|&(_, speed)| speed == 1.0)
}

fn seconds(from: i64, until: i64) -> f64 {
    until.saturating_sub(from).max(0) as f64
}

/// Work that a run has done by a given second, in seconds at full speed.
fn work(run: &JobRun, until: i64) -> f64 {
    let ends = run.speeds.iter().skip(1).map(|&(time, _)| time.min(until));
    let spans = run.speeds.iter().zip(ends.chain([until]));
    spans
        .map(|(&(from, speed), until)| seconds(from, until) * speed)
        .sum()
}
