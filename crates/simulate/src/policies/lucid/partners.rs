//! Running jobs that other jobs may join.

use std::collections::{BTreeMap, BTreeSet};

use super::{Context, SHARED_GPUS};
use crate::view::View;
use gleaner_domain::cluster::GPU_MEMORY;

/// Two jobs may share GPUs if the sum of their sharing scores is at most this value.
pub const MOST_SCORE: u32 = 2;

/// Finds running jobs that waiting jobs may join. The compatibility of two jobs never changes, so every waiting job is
/// compared with every possible partner only once.
pub(super) struct Partners {
    traits: Vec<Trait>,
    /// Whether sharing scores and priorities limit the choice of partners.
    choosy: bool,
    classes: BTreeMap<u32, Class>,
    /// For each waiting job, the number of entries of [`Class::appeared`] with which the job has been compared; `None`
    /// before the first search for its partner.
    met: Vec<Option<usize>>,
}

/// Properties of a job that determine whether it is compatible with another job.
#[derive(Debug, Clone, Copy)]
struct Trait {
    /// GPU memory in MB: the amount known to the scheduler, and the actual amount.
    gmem: [f64; 2],
    /// Sharing score; `None` for a job that never shares.
    score: Option<u32>,
    priority: f64,
}

/// Running jobs with the same number of GPUs.
#[derive(Debug, Default)]
struct Class {
    /// The jobs that are alone on their GPUs, in the order of their starts.
    alone: BTreeSet<(u64, usize)>,
    /// The jobs in the order in which they became alone. A job is listed once for each time that it became alone.
    appeared: Vec<(u64, usize)>,
}

impl Partners {
    pub fn new(context: &Context<'_>, priorities: &[f64]) -> Self {
        let describe = |(job, &priority): (&&gleaner_domain::Job, &f64)| Trait {
            gmem: [context.trace.known(job).unwrap_or(job.usage), job.usage]
                .map(|usage| usage.gmem),
            score: context
                .packing
                .and_then(|packing| packing.score(job))
                .map(u32::from),
            priority,
        };
        Partners {
            traits: context.jobs.iter().zip(priorities).map(describe).collect(),
            choosy: !context.without.packing,
            classes: BTreeMap::new(),
            met: vec![None; context.jobs.len()],
        }
    }

    /// Number of times that a job with `gpus` GPUs has become a possible partner so far.
    pub fn appeared(&self, gpus: u32) -> usize {
        self.classes
            .get(&gpus)
            .map_or(0, |class| class.appeared.len())
    }

    /// Returns the running job that started first among those that a waiting job may join.
    pub fn find(&mut self, job: usize, gpus: u32, view: &View<'_>) -> Option<usize> {
        let class = self.classes.get(&gpus)?;
        let met = self.met[job].replace(class.appeared.len());
        let joins = |&(_, other): &(u64, usize)| self.go_together(job, other);
        // The first search considers all jobs that are alone on their GPUs. Later searches consider only the jobs
        // that have become alone since the last search.
        let found = match met {
            None => class.alone.iter().copied().find(joins),
            Some(met) => {
                let new = class.appeared[met..].iter().copied();
                let new = new.filter(|&(_, other)| view.is_alone(other));
                new.filter(joins).min()
            }
        };
        found.map(|(_, other)| other)
    }

    fn go_together(&self, job: usize, other: usize) -> bool {
        let (job, other) = (self.traits[job], self.traits[other]);
        let (Some(score), Some(other_score)) = (job.score, other.score) else {
            return false;
        };
        // The actual memory must also fit, or the job would fail to start.
        let fits = |[own, others]: [f64; 2]| others < GPU_MEMORY - own;
        fits([job.gmem[0], other.gmem[0]])
            && fits([job.gmem[1], other.gmem[1]])
            && (!self.choosy
                || score + other_score <= MOST_SCORE && job.priority <= other.priority * 2.0)
    }

    /// Records that a job has started, alone or with another job.
    pub fn started(&mut self, job: usize, view: &View<'_>) {
        if view.is_alone(job) {
            self.appear(job, view);
        } else if let Some(other) = view.partner(job) {
            self.remove(other, view);
        }
    }

    /// Records that a running job has become alone on its GPUs.
    pub fn appear(&mut self, job: usize, view: &View<'_>) {
        let gpus = view.job(job).gpus;
        if gpus <= SHARED_GPUS {
            let class = self.classes.entry(gpus).or_default();
            let entry = (view.order(job), job);
            class.alone.insert(entry);
            class.appeared.push(entry);
        }
    }

    /// Records that a job has ended.
    pub fn ended(&mut self, job: usize, view: &View<'_>) {
        self.remove(job, view);
    }

    fn remove(&mut self, job: usize, view: &View<'_>) {
        if let Some(class) = self.classes.get_mut(&view.job(job).gpus) {
            class.alone.remove(&(view.order(job), job));
        }
    }
}
