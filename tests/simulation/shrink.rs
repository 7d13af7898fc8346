//! Shrinks a failing plan by removing acts as long as the same invariant fails.

use crate::checks::Violation;
use crate::plan::Plan;
use crate::sabotage::Sabotage;
use crate::world::World;

/// The violation that a run of a plan reveals, if any.
pub fn violation(plan: &Plan, sabotage: Option<Sabotage>) -> Option<Violation> {
    World::new(plan.clone(), sabotage).run().err()
}

/// A plan with as few acts as possible that still violates the same invariant (Zeller and Hildebrandt 2002, but only
/// complements are tried, not subsets).
pub fn shrunk(plan: &Plan, sabotage: Option<Sabotage>) -> Plan {
    let Some(first) = violation(plan, sabotage) else {
        return plan.clone();
    };
    let fails = |plan: &Plan| {
        violation(plan, sabotage).is_some_and(|found| found.invariant == first.invariant)
    };
    let mut best = plan.clone();
    let mut size = best.acts.len().div_ceil(2);
    while size > 0 {
        let mut begin = 0;
        let mut is_smaller = false;
        while begin < best.acts.len() {
            let mut fewer = best.clone();
            let end = (begin + size).min(fewer.acts.len());
            fewer.acts.drain(begin..end);
            if fails(&fewer) {
                (best, is_smaller) = (fewer, true);
            } else {
                begin = end;
            }
        }
        if !is_smaller {
            size /= 2;
        }
    }
    best
}

/// A report on a failing plan: its seed, the shrunk plan, and the end of the trace.
pub fn report(plan: &Plan, sabotage: Option<Sabotage>) -> String {
    let small = shrunk(plan, sabotage);
    let mut world = World::new(small.clone(), sabotage);
    world.trace = Some(Vec::new());
    let violation = world.run().err();
    let trace = world.trace.unwrap_or_default();
    let acts: Vec<String> = small
        .acts
        .iter()
        .map(|(time, act)| format!("{:8.3} {act:?}", (time - small.start) as f64 / 1000.0))
        .collect();
    let tasks: Vec<String> = small.tasks.iter().map(|task| format!("{task:?}")).collect();
    format!(
        "seed {} fails: {violation:?}\n{} nodes, {:?}, pilots kill: {}, {:?}\ntasks:\n{}\n{} of {} acts:\n{}\ntrace:\n{}",
        plan.seed,
        small.nodes,
        small.settings,
        small.pilots_kill,
        small.decider,
        tasks.join("\n"),
        small.acts.len(),
        plan.acts.len(),
        acts.join("\n"),
        trace.join("\n")
    )
}
