//! Generates experiments for simulations of a GPU cluster: jobs, virtual clusters, profiles, measured pairs, a forecast
//! of submissions, and estimated durations.

mod batch;
mod catalogue;
mod forecast;
mod rhythm;
mod shape;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use gleaner_domain::Observer;
use gleaner_domain::cluster::MAX_GPUS_PER_NODE;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::inputs::{Pair, Profile};
use gleaner_domain::{Cluster, Job, VirtualCluster, Workload};

use batch::{Draft, Drawing};
use rhythm::DAY;

pub use forecast::Interval;

/// Maximum number of jobs in an experiment.
const MOST_JOBS: usize = 10_000_000;
/// Maximum number of nodes.
const MOST_NODES: u32 = 100_000;
/// Maximum number of days.
const MOST_DAYS: u32 = 3_650;
/// Maximum number of virtual clusters.
const MOST_VCS: u32 = 1_000;

/// Options of a generated experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobOptions {
    /// Number of virtual clusters.
    pub vcs: u32,
    /// Total number of nodes of all virtual clusters.
    pub nodes: u32,
    /// Number of GPUs on each node.
    pub gpus_per_node: u32,
    /// Number of days over which jobs are submitted. The first day is a Monday.
    pub days: u32,
    /// Number of jobs, or the load that they cause.
    pub amount: Amount,
    /// Random seed. The same options always produce the same experiment.
    pub seed: u64,
}

/// The number of submitted jobs: fixed, or derived from a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A fixed number of jobs.
    Jobs(u32),
    /// Enough jobs to use this share of the cluster's GPU-seconds over all days.
    Load(f64),
}

/// A generated experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct SynthExperiment {
    /// The virtual clusters.
    pub cluster: Cluster,
    /// The workloads and their profiles.
    pub profiles: Vec<(Workload, Profile)>,
    /// Measured pairs, by index into the profiles.
    pub pairs: Vec<(usize, usize, Pair)>,
    /// Submissions and their forecast, in intervals of ten minutes.
    pub forecast: Vec<Interval>,
    /// GPU-seconds of all jobs, as a share of the cluster's GPU-seconds over all days.
    pub load: f64,
    drafts: Vec<Draft>,
}

/// Generates an experiment. Users submit batches of similar jobs, more by day than by night, and more on weekdays than
/// at weekends. Most jobs run for minutes on one GPU; a few run for days. No job runs longer than the generated days,
/// and none takes more than a tenth of its virtual cluster's GPU-seconds. Each virtual cluster with several nodes can
/// lend one of them and still run its largest job.
///
/// # Errors
/// [`Error::Usage`] for options outside their ranges. [`Error::Stopped`] if the observer requests
/// a stop.
pub fn generate(options: &JobOptions, observer: &dyn Observer) -> Result<SynthExperiment> {
    check(options)?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let cluster = cluster(options);
    let profiles = catalogue::profiles();
    let pairs = catalogue::pairs(&profiles, &mut rng);
    let offered = cluster.gpus() as f64 * (i64::from(options.days) * DAY) as f64;
    let mut drawing = Drawing::new(&cluster, options.days, profiles.len(), &mut rng)?;
    match options.amount {
        Amount::Jobs(jobs) => drawing.jobs(jobs as usize, &mut rng, observer)?,
        Amount::Load(load) => drawing.work(load * offered, MOST_JOBS, &mut rng, observer)?,
    }
    let (drafts, work) = drawing.finish();
    if drafts.len() > MOST_JOBS {
        return Err(Error::Usage(format!(
            "more than {MOST_JOBS} jobs: lower --load, --nodes or --days"
        )));
    }
    let forecast = forecast::of(&drafts, options.days, &mut rng);
    Ok(SynthExperiment {
        cluster,
        profiles,
        pairs,
        forecast,
        load: work / offered,
        drafts,
    })
}

impl SynthExperiment {
    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.drafts.len()
    }

    /// Whether there are no jobs. Always false for a generated experiment.
    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// The jobs in the order of their submission, with estimated durations in seconds. Some
    /// estimates are negative, as the estimates of a regression can be. [`Job::workload`] is an
    /// index into the profiles.
    pub fn jobs(&self) -> impl Iterator<Item = (Job, i64)> + '_ {
        let drafts = (1..).zip(&self.drafts);
        drafts.map(|(id, draft): (u64, _)| (self.job(id, draft), draft.estimate))
    }

    fn job(&self, id: u64, draft: &Draft) -> Job {
        Job {
            id: id.to_string(),
            user: format!("u{:02}{:02}", draft.vc + 1, draft.user + 1),
            vc: draft.vc,
            name: format!("run{}", draft.batch + 1),
            gpus: draft.gpus,
            cpus: f64::from(draft.gpus * draft.cpus_per_gpu),
            state: draft.state.to_owned(),
            submit: draft.submit,
            duration: draft.duration,
            workload: Some(draft.workload),
            usage: self.profiles[draft.workload].1.usage,
        }
    }
}

fn check(options: &JobOptions) -> Result<()> {
    let within = |flag: &str, value: u32, most: u32| {
        if (1..=most).contains(&value) {
            Ok(())
        } else {
            Err(Error::Usage(format!(
                "{flag} must be between 1 and {most}, not {value}"
            )))
        }
    };
    within("--vcs", options.vcs, MOST_VCS)?;
    within("--nodes", options.nodes, MOST_NODES)?;
    within("--gpus-per-node", options.gpus_per_node, MAX_GPUS_PER_NODE)?;
    within("--days", options.days, MOST_DAYS)?;
    if options.nodes < options.vcs {
        return Err(Error::Usage(format!(
            "--nodes: {} virtual clusters need at least one node each, so {} nodes are too few",
            options.vcs, options.nodes
        )));
    }
    match options.amount {
        Amount::Jobs(jobs) => within("--jobs", jobs, MOST_JOBS as u32),
        Amount::Load(load) if load > 0.0 && load <= 10.0 => Ok(()),
        Amount::Load(load) => Err(Error::Usage(format!(
            "--load must be above 0 and at most 10, not {load}"
        ))),
    }
}

/// Virtual clusters of decreasing size, each with at least one node.
fn cluster(options: &JobOptions) -> Cluster {
    let weights = (1..=options.vcs).map(|rank| 1.0 / f64::from(rank).sqrt());
    let total: f64 = weights.clone().sum();
    let spare = f64::from(options.nodes - options.vcs);
    let (mut share, mut dealt) = (0.0, 0);
    let sizes = weights.map(|weight| {
        // The cumulative sums, not the individual shares, are rounded, so that all nodes are assigned.
        share += weight / total;
        let nodes = (spare * share).round() as u32 - dealt;
        dealt += nodes;
        nodes + 1
    });
    let mut sizes: Vec<u32> = sizes.collect();
    sizes.sort_unstable_by_key(|nodes| std::cmp::Reverse(*nodes));
    let vc = |(number, nodes): (u32, u32)| VirtualCluster {
        name: format!("vc{number}"),
        nodes,
    };
    Cluster {
        vcs: (1..).zip(sizes).map(vc).collect(),
        gpus_per_node: options.gpus_per_node,
    }
}

#[cfg(test)]
mod tests;
