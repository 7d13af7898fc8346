//! Helpers shared by the integration tests.

pub use gleaner_testing::shared;

use gleaner_domain::Slice;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::{EventLog, TrainingTask};
use gleaner_domain::{Result, Unobserved};
use gleaner_replay::{Decider, Options, SolverDecider};
use gleaner_solvers::{Limits, SolverKind, SolverSpec};

/// The log of the original replayer, cut as in its experiments: without the first 1,000 rows, and with
/// only `nodes` nodes.
pub fn summit(nodes: Option<usize>) -> Option<EventLog> {
    let path = shared("bftrainer/ndstat-10sdn6-evt.tar.gz")?;
    let log = gleaner_inputs::events::read(&path).unwrap().value;
    let log = log.slice(Slice {
        skip_rows: 1000,
        first_node: 0,
        nodes,
        drop_end_row: true,
        ..Slice::default()
    });
    Some(log.unwrap())
}

/// A published task set, for example `hps-shufflenet` with the suffix `10J`.
pub fn published_tasks(name: &str, suffix: &str) -> Option<Vec<TrainingTask>> {
    let bounds = shared(&format!("bftrainer/{name}-Jbnd-{suffix}.pkl"))?;
    let curves = shared(&format!("bftrainer/{name}-JNPs-{suffix}.pkl"))?;
    let set = gleaner_inputs::tasks::read(&bounds, Some(&curves), false).unwrap();
    Some(set.value.tasks)
}

/// The settings of the original replayer, with the given window and maximum number of active tasks.
pub fn options(t_fwd: f64, max_tasks: usize) -> Options {
    Options::original(t_fwd, max_tasks)
}

/// A decider that uses a solver.
pub fn solver(kind: SolverKind) -> SolverDecider {
    SolverDecider::new(SolverSpec::new(kind), Limits::default()).unwrap()
}

/// Replays a log without reporting progress.
pub fn replay(
    log: &EventLog,
    tasks: &[TrainingTask],
    options: &Options,
    decider: &mut dyn Decider,
) -> Result<Outcome> {
    gleaner_replay::run(log, tasks, options, decider, &Unobserved)
}
