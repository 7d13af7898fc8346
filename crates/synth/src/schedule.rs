//! Generates the schedule of a cluster that runs jobs. The exact idle times of the nodes are known by construction.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp, LogNormal};

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_domain::{Change, Utc};

/// Options of a generated schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleOptions {
    /// Number of nodes.
    pub nodes: u32,
    /// Duration of the schedule in days.
    pub days: f64,
    /// Start, in seconds since 1970.
    pub start: i64,
    /// Approximate share of node-time that is left idle.
    pub idle_share: f64,
    /// Mean run time of a job in seconds.
    pub runtime: f64,
    /// Mean number of nodes of a job.
    pub job_nodes: f64,
    /// Number of job starts between two outages of nodes; 0 for no outages.
    pub jobs_per_outage: u64,
    /// Random seed. The same options always produce the same schedule.
    pub seed: u64,
}

/// Maximum number of days of a schedule (about 10⁹ seconds).
const MOST_DAYS: f64 = 11_574.0;
/// Maximum number of days by which a job or an outage can end after the schedule. Times must be able to represent these
/// days too.
const AFTERMATH: f64 = 31.0;

impl ScheduleOptions {
    /// The first and the last second of the schedule, counted from 1970.
    ///
    /// # Errors
    /// [`Error::Usage`] if the span is shorter than a second or too long, or if it ends later than logs can represent.
    pub fn span(&self) -> Result<(i64, i64)> {
        let seconds = self.days * 86_400.0;
        if !(seconds >= 1.0 && self.days <= MOST_DAYS) {
            return Err(Error::Usage(format!(
                "--days: found {:?}, expected at least one second and at most {MOST_DAYS} days",
                self.days
            )));
        }
        let start = Utc::from_seconds(self.start);
        super::end(
            start,
            (self.days + AFTERMATH) * 86_400.0,
            "--start and --days",
        )?;
        Ok((self.start, self.start + seconds as i64))
    }
}

/// A generated job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynthJob {
    /// Job number, from 1, in the order of submission.
    pub id: u64,
    /// Time of submission, in seconds since 1970.
    pub submit: i64,
    /// Start time, in seconds since 1970.
    pub start: i64,
    /// End time, in seconds since 1970; can be after the schedule's end.
    pub end: i64,
    /// The indices of the job's nodes, in ascending order.
    pub nodes: Vec<u32>,
}

/// Receives the events of a schedule in chronological order.
pub trait ScheduleSink {
    /// A job starts.
    ///
    /// # Errors
    /// The event cannot be written.
    fn started(&mut self, job: &SynthJob) -> Result<()>;

    /// A job ends. Jobs that end after the schedule are not reported.
    ///
    /// # Errors
    /// The event cannot be written.
    fn ended(&mut self, job: &SynthJob) -> Result<()>;

    /// A node is down from time `from` to time `to`, in seconds since 1970.
    ///
    /// # Errors
    /// The event cannot be written.
    fn outage(&mut self, node: u32, from: i64, to: i64) -> Result<()>;

    /// Nodes become idle or busy. The changes are ordered by node index.
    ///
    /// # Errors
    /// The event cannot be written.
    fn event(&mut self, time: Utc, changes: &[Change]) -> Result<()>;
}

/// Generates a schedule: jobs start in the order of submission as soon as enough nodes are free. Some free nodes are
/// kept idle on purpose, more by day than by night. A job gets the free nodes with the lowest indices. Only the nodes
/// and the running jobs are kept in memory. Progress is reported to the observer in hours of the schedule.
///
/// # Errors
/// [`Error::Usage`] for options outside their ranges. [`Error::Stopped`] if the observer requests a stop. Any error
/// that `sink` returns.
pub fn generate(
    options: &ScheduleOptions,
    sink: &mut dyn ScheduleSink,
    observer: &dyn Observer,
) -> Result<()> {
    let mut machine = SynthCluster::new(options)?;
    machine.run(sink, observer)
}

/// A job or an outage that holds nodes.
enum Holder {
    Job(SynthJob),
    Outage(u32),
}

struct SynthCluster {
    nodes: u32,
    from: i64,
    to: i64,
    kept_back: f64,
    jobs_per_outage: u64,
    rng: ChaCha8Rng,
    size: Exp<f64>,
    length: LogNormal<f64>,
    free: BTreeSet<u32>,
    running: BTreeMap<(i64, u64), Holder>,
    /// The nodes that were taken or released in the current second, and whether each node was idle before.
    before: BTreeMap<u32, bool>,
    next: Wanted,
    serial: u64,
    jobs: u64,
}

/// The next job in the queue.
struct Wanted {
    nodes: u32,
    length: i64,
}

impl SynthCluster {
    fn new(options: &ScheduleOptions) -> Result<Self> {
        let (from, to) = options.span()?;
        let sound = options.nodes > 0
            && (0.0..1.0).contains(&options.idle_share)
            && (1.0..1e9).contains(&options.runtime)
            && (1.0..1e6).contains(&options.job_nodes);
        // The mean of a log-normal distribution is its median times exp(sigma² / 2).
        let sigma = 1.2f64;
        let median = options.runtime / (sigma * sigma / 2.0).exp();
        let length = LogNormal::new(median.ln(), sigma).ok();
        let size = Exp::new(1.0 / (options.job_nodes - 0.5).max(0.1)).ok();
        let (Some(length), Some(size), true) = (length, size, sound) else {
            return Err(Error::Usage(format!(
                "cannot generate a schedule from {options:?}: expected at least one node, an idle share below 1, \
                 and jobs of at least one second and one node"
            )));
        };
        let mut machine = SynthCluster {
            nodes: options.nodes,
            from,
            to,
            kept_back: options.idle_share * f64::from(options.nodes),
            jobs_per_outage: options.jobs_per_outage,
            rng: ChaCha8Rng::seed_from_u64(options.seed),
            size,
            length,
            free: (0..options.nodes).collect(),
            running: BTreeMap::new(),
            before: BTreeMap::new(),
            next: Wanted {
                nodes: 1,
                length: 1,
            },
            serial: 0,
            jobs: 0,
        };
        machine.draw();
        Ok(machine)
    }

    fn run(&mut self, sink: &mut dyn ScheduleSink, observer: &dyn Observer) -> Result<()> {
        // Every node counts as busy before the first event.
        self.before = (0..self.nodes).map(|node| (node, false)).collect();
        let mut now = self.from;
        let hours = |seconds: i64| (seconds / 3600) as usize;
        while now < self.to {
            check_stop(observer)?;
            observer.progress(hours(now - self.from), hours(self.to - self.from));
            self.release(now, sink)?;
            self.start(now, sink)?;
            self.tell(now, now == self.from, sink)?;
            let next = self.running.first_key_value().map(|((end, _), _)| *end);
            // If no job or outage is in progress, the queue is checked again after a minute.
            now = next.unwrap_or(now + 60).max(now + 1).min(self.to);
        }
        self.release(self.to, sink)?;
        self.tell(self.to, true, sink)
    }

    fn release(&mut self, now: i64, sink: &mut dyn ScheduleSink) -> Result<()> {
        while let Some(entry) = self.running.first_entry() {
            if entry.key().0 > now {
                return Ok(());
            }
            match entry.remove() {
                Holder::Outage(node) => self.give_back(node),
                Holder::Job(job) => {
                    sink.ended(&job)?;
                    job.nodes.iter().for_each(|node| self.give_back(*node));
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, now: i64, sink: &mut dyn ScheduleSink) -> Result<()> {
        let day = (now.rem_euclid(86_400)) as f64 / 86_400.0 * std::f64::consts::TAU;
        let kept_back = (self.kept_back * (1.0 - day.cos())) as usize;
        while self.free.len() >= self.next.nodes as usize + kept_back {
            self.jobs += 1;
            let nodes = self.take(self.next.nodes as usize);
            let job = SynthJob {
                id: self.jobs,
                submit: now - self.rng.random_range(0..3600),
                start: now,
                end: now + self.next.length,
                nodes,
            };
            sink.started(&job)?;
            self.hold(job.end, Holder::Job(job));
            self.draw();
            if self.jobs_per_outage > 0 && self.jobs.is_multiple_of(self.jobs_per_outage) {
                self.break_down(now, sink)?;
            }
        }
        Ok(())
    }

    /// Takes a free node down for a random time between ten minutes and a day.
    fn break_down(&mut self, now: i64, sink: &mut dyn ScheduleSink) -> Result<()> {
        let from = self.rng.random_range(0..self.nodes);
        let Some(node) = self.free.range(from..).next().copied() else {
            return Ok(());
        };
        let end = now + self.rng.random_range(600..86_400);
        self.free.remove(&node);
        self.before.entry(node).or_insert(true);
        sink.outage(node, now, end)?;
        self.hold(end, Holder::Outage(node));
        Ok(())
    }

    fn hold(&mut self, end: i64, holder: Holder) {
        self.serial += 1;
        self.running.insert((end, self.serial), holder);
    }

    fn take(&mut self, count: usize) -> Vec<u32> {
        let mut nodes = Vec::with_capacity(count);
        while nodes.len() < count
            && let Some(node) = self.free.pop_first()
        {
            self.before.entry(node).or_insert(true);
            nodes.push(node);
        }
        nodes
    }

    fn give_back(&mut self, node: u32) {
        self.free.insert(node);
        self.before.entry(node).or_insert(false);
    }

    /// Reports the nodes whose state changed in this second.
    fn tell(&mut self, now: i64, always: bool, sink: &mut dyn ScheduleSink) -> Result<()> {
        let before = std::mem::take(&mut self.before);
        let changes: Vec<Change> = before
            .into_iter()
            .map(|(node, was_idle)| (node, was_idle, self.free.contains(&node)))
            .filter(|(_, was_idle, idle)| was_idle != idle)
            .map(|(node, _, idle)| Change::new(node, idle))
            .collect();
        if changes.is_empty() && !always {
            return Ok(());
        }
        sink.event(Utc::from_seconds(now), &changes)
    }

    fn draw(&mut self) {
        let most = (self.nodes / 4).max(1);
        let nodes = 1 + self.size.sample(&mut self.rng) as u32;
        self.next = Wanted {
            nodes: nodes.min(most),
            length: (self.length.sample(&mut self.rng) as i64).clamp(1, 30 * 86_400),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(days: f64, start: i64) -> Result<(i64, i64)> {
        let options = ScheduleOptions {
            nodes: 1,
            days,
            start,
            idle_share: 0.1,
            runtime: 60.0,
            job_nodes: 1.0,
            jobs_per_outage: 0,
            seed: 0,
        };
        options.span()
    }

    #[test]
    fn spans_are_bounded() {
        assert_eq!(span(2.0, -5).unwrap(), (-5, 172_795));
        for (days, start) in [
            (1e300, 0),
            (11_575.0, 0),
            (0.0, 0),
            (-1.0, 0),
            (f64::NAN, 0),
            (f64::INFINITY, 0),
            (1.0, 9_223_372_036),
            (1.0, i64::MAX),
        ] {
            let error = span(days, start).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{days} {start}: {error}");
        }
    }
}
