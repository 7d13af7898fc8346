//! Draws batches of jobs: runs of one workload that a user submits in quick succession.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp, LogNormal};

use super::rhythm::{self, DAY};
use super::shape::{self, Lengths};
use gleaner_domain::Cluster;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};

/// A generated job.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub submit: i64,
    pub duration: i64,
    pub estimate: i64,
    pub vc: usize,
    pub gpus: u32,
    pub cpus_per_gpu: u32,
    pub user: u32,
    pub batch: u32,
    pub workload: usize,
    pub state: &'static str,
}

/// Probability that a job of a batch is followed by another job of the batch.
const ANOTHER: f64 = 0.65;
/// Mean seconds between the jobs of a batch.
const GAP: f64 = 90.0;
/// Standard deviation of the logarithm of a ratio: a job's length divided by its batch's length.
const SPREAD: f64 = 0.3;
/// Standard deviation of the logarithm of a ratio: a job's estimated length divided by its length.
const ERROR: f64 = 0.7;
/// Share of estimates that are negative.
const NEGATIVE: f64 = 0.02;
/// Maximum GPU-seconds of a job, as a share of its virtual cluster's GPU-seconds over all days.
const LARGEST_SHARE: f64 = 0.1;

/// A virtual cluster for which jobs are drawn.
struct Target {
    /// Cumulative share of batches: the batches of this virtual cluster and of those before it in the list.
    cumulated: f64,
    users: u32,
    most_gpus: u32,
    /// Maximum number of GPU-seconds of a job.
    most_work: f64,
}

/// The distributions from which jobs are drawn, and the jobs drawn so far.
pub struct Drawing {
    targets: Vec<Target>,
    days: u32,
    workloads: usize,
    lengths: Lengths,
    gaps: Exp<f64>,
    spread: LogNormal<f64>,
    error: LogNormal<f64>,
    batches: u32,
    drafts: Vec<Draft>,
    /// GPU-seconds of the jobs drawn so far.
    work: f64,
}

impl Drawing {
    /// Creates the distributions from which jobs are drawn. Virtual clusters with more GPUs tend to
    /// get more batches.
    ///
    /// # Errors
    /// Never, because the constants are valid.
    pub fn new(
        cluster: &Cluster,
        days: u32,
        workloads: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| Error::Run(e.to_string());
        Ok(Drawing {
            targets: targets(cluster, days, rng),
            days,
            workloads,
            lengths: Lengths::new()?,
            gaps: Exp::new(1.0 / GAP).map_err(|e| failed(&e))?,
            spread: LogNormal::new(0.0, SPREAD).map_err(|e| failed(&e))?,
            error: LogNormal::new(0.0, ERROR).map_err(|e| failed(&e))?,
            batches: 0,
            drafts: Vec::new(),
            work: 0.0,
        })
    }

    /// Draws jobs until their number is `jobs`.
    ///
    /// # Errors
    /// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the observer requests a stop.
    pub fn jobs(
        &mut self,
        jobs: usize,
        rng: &mut ChaCha8Rng,
        observer: &dyn Observer,
    ) -> Result<()> {
        while self.drafts.len() < jobs {
            check_stop(observer)?;
            observer.progress(self.drafts.len(), jobs);
            self.batch(rng, |drawing| drawing.drafts.len() < jobs);
        }
        Ok(())
    }

    /// Draws jobs until their GPU-seconds add up to `work`, or until there are more than `most`
    /// jobs.
    ///
    /// # Errors
    /// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the observer requests a stop.
    pub fn work(
        &mut self,
        work: f64,
        most: usize,
        rng: &mut ChaCha8Rng,
        observer: &dyn Observer,
    ) -> Result<()> {
        let goes_on = |drawing: &Self| drawing.work < work && drawing.drafts.len() <= most;
        let hours = |gpu_seconds: f64| (gpu_seconds / 3600.0) as usize;
        while goes_on(self) {
            check_stop(observer)?;
            observer.progress(hours(self.work), hours(work));
            self.batch(rng, goes_on);
        }
        Ok(())
    }

    /// The jobs in the order of submission, and their GPU-seconds.
    pub fn finish(mut self) -> (Vec<Draft>, f64) {
        self.drafts.sort_by_key(|draft| draft.submit);
        (self.drafts, self.work)
    }

    /// Draws the jobs of a batch. Stops early once `wanted` returns false.
    fn batch(&mut self, rng: &mut ChaCha8Rng, wanted: impl Fn(&Self) -> bool) {
        let share = rng.random_range(0.0..1.0);
        let vc = self.targets.partition_point(|vc| vc.cumulated <= share);
        let vc = vc.min(self.targets.len() - 1);
        let target = &self.targets[vc];
        let skewed: f64 = rng.random_range(0.0..1.0);
        let mut draft = Draft {
            submit: rhythm::draw(self.days, rng),
            duration: 0,
            estimate: 0,
            vc,
            gpus: shape::gpus(target.most_gpus, rng),
            cpus_per_gpu: if rng.random_bool(0.5) { 1 } else { 4 },
            // A few users submit most of the jobs.
            user: (skewed * skewed * f64::from(target.users)) as u32,
            batch: self.batches,
            workload: rng.random_range(0..self.workloads),
            state: "",
        };
        let length = self.lengths.draw(rng);
        self.batches += 1;
        while wanted(self) {
            self.run(&mut draft, length, rng);
            if !rng.random_bool(ANOTHER) {
                return;
            }
            let last = i64::from(self.days) * DAY - 1;
            draft.submit = last.min(draft.submit + self.gaps.sample(rng) as i64);
        }
    }

    /// Adds a job of a batch whose jobs typically run for `length` seconds.
    fn run(&mut self, draft: &mut Draft, length: f64, rng: &mut ChaCha8Rng) {
        let longest = self.targets[draft.vc].most_work / f64::from(draft.gpus);
        let longest = longest.min((i64::from(self.days) * DAY) as f64);
        let length = (length * self.spread.sample(rng)).min(longest);
        let (state, share) = shape::ending(rng);
        draft.state = state;
        draft.duration = (length * share).min(longest).max(1.0) as i64;
        draft.estimate = if rng.random_bool(NEGATIVE) {
            -rng.random_range(1..1_000)
        } else {
            (length * self.error.sample(rng)) as i64
        };
        self.work += f64::from(draft.gpus) * draft.duration as f64;
        self.drafts.push(draft.clone());
    }
}

fn targets(cluster: &Cluster, days: u32, rng: &mut ChaCha8Rng) -> Vec<Target> {
    let gpus = (0..cluster.vcs.len()).map(|vc| cluster.vc_gpus(vc) as f64);
    let weights: Vec<f64> = gpus.map(|gpus| gpus * rng.random_range(0.8..1.2)).collect();
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let target = |(vc, weight): (usize, f64)| {
        sum += weight / total;
        let nodes = cluster.vcs[vc].nodes;
        let seconds = (i64::from(days) * DAY) as f64;
        Target {
            cumulated: sum,
            users: 3 + nodes.min(30),
            most_gpus: (nodes - 1).max(1).saturating_mul(cluster.gpus_per_node),
            most_work: LARGEST_SHARE * seconds * cluster.vc_gpus(vc) as f64,
        }
    };
    weights.into_iter().enumerate().map(target).collect()
}
