//! Runs the product on the cases of the plain simulator.

use gleaner_domain::Unobserved;
use gleaner_domain::inputs::Estimates;
use gleaner_domain::results::schedule::Schedule;
use gleaner_domain::{Job, Trace};
use gleaner_simulate::engine::{Failure, Setting, run};
use gleaner_simulate::placer::Placer;
use gleaner_simulate::placers;
use gleaner_simulate::policies::{self, Context, PolicyEntry, Without};
use gleaner_simulate::scaling::{Fixed, Lender, Scaling};

use crate::plain::cases::Case;
use crate::plain::{self, Easy, Fifo, Lucid, Qssf, Rule, Sjf, Srtf, Switches, Tiresias};

/// The policy with this name.
pub fn policy(name: &str) -> PolicyEntry<'static> {
    let named = |entry: &&PolicyEntry| entry.name == name;
    *policies::ALL.iter().find(named).unwrap()
}

/// The plain simulator's rule for a policy.
pub fn rule(policy: &PolicyEntry, switches: &Switches) -> Box<dyn Rule> {
    match policy.name {
        "fifo" => Box::new(Fifo),
        "sjf" => Box::new(Sjf),
        "srtf" => Box::new(Srtf),
        "qssf" => Box::new(Qssf),
        "tiresias" => Box::new(Tiresias),
        "lucid" => Box::new(Lucid::new(switches.clone())),
        "easy" => Box::new(Easy),
        name => panic!("the plain simulator has no {name}"),
    }
}

/// The product's placer that corresponds to a placer of the plain simulator.
pub fn placer(placer: plain::Placer) -> &'static dyn Placer {
    let name = match placer {
        plain::Placer::Consolidate => "consolidate",
        plain::Placer::ConsolidateFirst => "consolidate-first",
        plain::Placer::Random => "random",
    };
    let named = |placer: &&&dyn Placer| placer.name() == name;
    *placers::ALL.iter().find(named).unwrap()
}

/// The parts of Lucid that are switched off.
pub fn without(switches: &Switches) -> Without {
    Without {
        packing: switches.without_packing,
        throughput: switches.without_throughput,
        estimate: switches.without_estimates,
    }
}

/// The engine's schedule of one virtual cluster. Lucid uses the case's switches and the waiting
/// times of the case's jobs.
pub fn schedule(case: &Case, policy: &PolicyEntry) -> Result<Schedule, Failure> {
    let jobs: Vec<&Job> = case.jobs.iter().collect();
    let work: Vec<i64> = jobs.iter().map(|job| job.duration).collect();
    let entries: Vec<i64> = jobs.iter().map(|job| job.submit).collect();
    let estimates: Vec<f64> = jobs
        .iter()
        .map(|job| case.estimates.seconds(job).unwrap())
        .collect();
    // With an empty trace, the usage of every job counts as measured.
    let trace = Trace::default();
    let context = Context {
        jobs: &jobs,
        trace: &trace,
        estimates: &estimates,
        forecast: Some(&case.forecast),
        packing: Some(&case.packing),
        start: case.start,
        without: without(&case.switches),
    };
    let none = vec![0; jobs.len()];
    let setting = Setting {
        jobs: &jobs,
        entries: &entries,
        work: &work,
        queued: if policy.profiled { &case.queued } else { &none },
        nodes: case.nodes,
        gpus_per_node: case.gpus_per_node,
        start: case.start,
        notice: policy.notice,
        placer: placer(case.placer),
        corrected: policy.profiled && case.switches.corrected,
    };
    let mut scaling: Box<dyn Scaling> = if policy.profiled {
        Box::new(Lender::new(&case.switches.echo))
    } else {
        Box::new(Fixed)
    };
    let mut policy = (policy.make)(&context);
    run(&setting, policy.as_mut(), scaling.as_mut(), &Unobserved)
}

/// The plain simulator's schedule of the same case.
pub fn plain_schedule(case: &Case, policy: &PolicyEntry) -> Schedule {
    let mut world = case.world();
    if policy.profiled {
        world.queued = case.queued.clone();
    }
    plain::run(&world, rule(policy, &case.switches).as_mut())
}
