//! Adds the assumptions of a policy to its figures.

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::simulate::{Assumptions, Durations, PolicyFigures};
use gleaner_learn::metrics::spearman;
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::policies::Needs;
use gleaner_simulate::{Request, Simulation};

use super::estimated::EstimatesUsed;

/// The figures of `run`, with the policy's assumptions. `run` is the simulation of `request`, and `used` is the source
/// of the estimates.
pub fn figures(
    simulation: &Simulation<'_>,
    request: &Request<'_>,
    used: Option<&EstimatesUsed>,
    run: &PolicyRun,
) -> PolicyFigures {
    PolicyFigures {
        assumptions: assumptions(simulation, request, used),
        ..summarise(simulation.trace, simulation.cluster, run)
    }
}

fn assumptions(
    simulation: &Simulation<'_>,
    request: &Request<'_>,
    used: Option<&EstimatesUsed>,
) -> Assumptions {
    let policy = &request.policy;
    // Only Lucid, the policy that profiles, can be simulated without estimates.
    let without = policy.profiled && simulation.without.estimate;
    let used = used.filter(|_| policy.needs >= Needs::Estimates && !without);
    Assumptions {
        durations: if without {
            Durations::Unknown
        } else {
            policy.durations
        },
        estimates: used.map(EstimatesUsed::to_string),
        estimate_rank_correlation: used.and_then(|_| rank_correlation(simulation, request)),
        corrected: policy.profiled.then_some(request.corrected),
    }
}

/// Spearman's rank correlation between the policy's estimates and the true durations, over all jobs.
/// `None` if all estimates or all durations are equal.
fn rank_correlation(simulation: &Simulation<'_>, request: &Request<'_>) -> Option<f64> {
    let jobs = &simulation.trace.jobs;
    let truth: Vec<f64> = jobs.iter().map(|job| job.duration as f64).collect();
    let estimates = jobs.iter().map(|job| simulation.estimate(request, job));
    let correlation = spearman(&truth, &estimates.collect::<Vec<_>>());
    correlation.is_finite().then_some(correlation)
}
