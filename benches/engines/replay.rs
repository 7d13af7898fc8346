//! Measures the speed, in events per second, at which a generated log is replayed with the exact solver and with a
//! heuristic.

use criterion::{Criterion, Throughput};
use gleaner_domain::Unobserved;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::{EventLog, TrainingTask, Utc};
use gleaner_replay::{Options, SolverDecider, run};
use gleaner_solvers::{Limits, SolverKind, SolverSpec};
use gleaner_synth::events::{self, EventOptions, FragmentLength};
use gleaner_synth::tasks::{self, TaskOptions};

const SOLVERS: [(&str, SolverKind); 2] = [
    ("exact", SolverKind::Exact),
    ("equal-share", SolverKind::EqualShare),
];

/// The benchmarked values of `max_tasks`, the maximum number of concurrently active tasks.
const MAX_TASKS: [usize; 2] = [10, 100];

pub fn benches(criterion: &mut Criterion) {
    let (log, tasks) = (log(), tasks());
    let mut group = super::group(criterion, "replay");
    group.throughput(Throughput::Elements(log.len() as u64));
    for max_tasks in MAX_TASKS {
        for (name, kind) in SOLVERS {
            group.bench_function(format!("{name}/{max_tasks} tasks"), |bench| {
                bench.iter(|| replay(&log, &tasks, max_tasks, kind));
            });
        }
    }
    group.finish();
}

/// A log of 400 nodes over three days, with 8.7 % of node-time idle.
fn log() -> EventLog {
    let options = EventOptions {
        nodes: 400,
        days: 3.0,
        start: Utc::from_seconds(1_767_225_600),
        idle_share: 0.087,
        fragment: FragmentLength::LogNormal {
            median: 490.0,
            sigma: 1.37,
        },
        poll: 10,
        seed: 1,
    };
    events::generate(&options, &Unobserved).unwrap()
}

/// Tasks with so much work that the log ends before any task finishes.
fn tasks() -> Vec<TrainingTask> {
    let options = TaskOptions {
        count: 200,
        models: 10,
        max_nodes: 64,
        hours: 1e6,
        start: None,
        submit_every: 0.0,
        seed: 1,
    };
    tasks::generate(&options).unwrap()
}

fn replay(log: &EventLog, tasks: &[TrainingTask], max_tasks: usize, kind: SolverKind) -> Outcome {
    let options = Options::original(120.0, max_tasks);
    let mut decider = SolverDecider::new(SolverSpec::new(kind), Limits::default()).unwrap();
    run(log, tasks, &options, &mut decider, &Unobserved).unwrap()
}
