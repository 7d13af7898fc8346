//! The inputs of a simulation, and the rules of its policies.

use gleaner_domain::inputs::{Estimates, Forecast, Packing};
use gleaner_domain::results::simulate::is_lucid;
use gleaner_domain::{Cluster, Trace};
use serde_json::Value;

use super::placer::Placer;

/// The inputs and settings of a simulation.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The trace, which contains the jobs.
    pub trace: &'a Trace,
    /// The cluster, which contains the nodes.
    pub cluster: &'a Cluster,
    /// Second at which the simulation starts.
    pub start: i64,
    /// The placer, which chooses the GPUs of jobs.
    pub placer: Placer,
    /// Sharing scores and measured pairs; `None` if no jobs share GPUs.
    pub packing: Option<&'a dyn Packing>,
    /// Forecast of submissions; `None` if GPUs are always shared and no nodes are borrowed.
    pub forecast: Option<&'a dyn Forecast>,
    /// Estimated durations that are known before the simulation starts.
    pub estimates: Option<&'a dyn Estimates>,
    /// A description of the source of the estimates; `None` if no policy uses estimates.
    pub estimates_text: Option<&'a str>,
    /// Whether Lucid has no estimates (`--without estimate`).
    pub ignores_estimates: bool,
    /// The settings of the profiler; `None` if the simulation has no profiler.
    pub profiler: Option<&'a Profiling>,
    /// Whether sharing scores are ignored (`--without packing`).
    pub ignores_scores: bool,
    /// Whether GPUs are never shared (`--without throughput`).
    pub never_shares: bool,
    /// Whether the name `lucid` refers to the corrected variant of Lucid.
    pub is_corrected: bool,
}

/// The settings of Lucid's profiler.
#[derive(Debug, Clone)]
pub struct Profiling {
    /// Maximum number of seconds that a job spends in the profiler.
    pub limit: i64,
    /// Number of nodes in the profiler.
    pub nodes: u32,
    /// Jobs with at most `factor` times `nodes` GPUs are profiled.
    pub factor: f64,
    /// Virtual clusters that lend nodes for the whole simulation: index and number of nodes.
    pub lent: Vec<(usize, u32)>,
    /// The virtual cluster that lends an additional node while many jobs are waiting.
    pub elastic: Option<usize>,
}

/// The properties of a policy, derived from its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Number of seconds for which a job still holds its GPUs after its work is done.
    pub notice: i64,
    /// Whether the policy preempts jobs.
    pub preempts: bool,
    /// Whether the policy's jobs are profiled first and may share GPUs.
    pub is_lucid: bool,
    /// Whether the simulation corrects the faults of the original simulator, as with `--corrected`.
    pub is_corrected: bool,
    /// Whether a profiled job joins the queue when its profiling ends, rather than on submission.
    pub waits_for_profiler: bool,
    /// The source of the policy's information about durations.
    pub durations: &'static str,
    /// Whether the policy is built in. A built-in policy leaves the choice of GPUs to the placer.
    pub is_known: bool,
}

impl Rules {
    /// The rules of a policy.
    pub fn of(policy: &str, figures: &Value, given: &Given<'_>) -> Self {
        let is_lucid = is_lucid(policy);
        let counts_down = ["srtf", "tiresias"].contains(&policy);
        let starts_once = ["fifo", "sjf", "qssf", "easy"].contains(&policy);
        let is_corrected = policy == "lucid_corrected" || (policy == "lucid" && given.is_corrected);
        Rules {
            notice: i64::from(is_lucid || counts_down),
            preempts: !(starts_once || is_lucid),
            is_lucid,
            is_corrected,
            durations: match policy {
                "fifo" | "tiresias" => "unknown",
                "sjf" | "srtf" => "true",
                "qssf" | "easy" => "estimated",
                _ if is_lucid && given.ignores_estimates => "unknown",
                _ if is_lucid => "estimated",
                _ => "own",
            },
            // Versions of Gleaner that wrote no `early_starts` corrected only the speeds.
            waits_for_profiler: is_corrected && figures.get("early_starts").is_some(),
            is_known: is_lucid || counts_down || starts_once,
        }
    }
}

impl Profiling {
    /// Maximum number of GPUs of a profiled job.
    pub(super) fn most_gpus(&self) -> u32 {
        (f64::from(self.nodes) * self.factor).floor() as u32
    }

    /// Number of profiler nodes that no virtual cluster lends.
    pub(super) fn extra_nodes(&self) -> u64 {
        let lent: u64 = self.lent.iter().map(|&(_, nodes)| u64::from(nodes)).sum();
        u64::from(self.nodes).saturating_sub(lent)
    }

    /// Number of nodes that remain in a virtual cluster of `nodes` nodes after its loans to the
    /// profiler.
    pub(super) fn kept(&self, vc: usize, nodes: u32) -> u32 {
        let lent = self.lent.iter().filter(|&&(lender, _)| lender == vc);
        let lent: u64 = lent.map(|&(_, nodes)| u64::from(nodes)).sum();
        u64::from(nodes).saturating_sub(lent) as u32
    }
}
