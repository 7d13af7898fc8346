//! Replays the allocations recorded in two runs of the original replayer.

use gleaner_domain::error::Result;
use gleaner_domain::results::replay::StepRow;
use gleaner_inputs::script;
use gleaner_replay::{Initial, Options};

use super::replays::{Replays, TEN, TaskFiles};
use crate::Part;
use crate::files::Data;
use crate::filled::Values;

/// A run of the original replayer whose allocations were recorded.
struct Recorded {
    row: &'static str,
    folder: &'static str,
    tasks: TaskFiles,
    nodes: usize,
    t_fwd: f64,
    max_tasks: usize,
}

const RUNS: [Recorded; 2] = [
    Recorded {
        row: "ShuffleNet, 100 nodes",
        folder: "hps-10J_nodes100",
        tasks: TEN,
        nodes: 100,
        t_fwd: 10.0,
        max_tasks: 10,
    },
    Recorded {
        row: "ImageNet by speed-up, 40 nodes",
        folder: "imagenet-spdup_nodes40_max5_tfwd60",
        tasks: super::SETS[2],
        nodes: 40,
        t_fwd: 60.0,
        max_tasks: 5,
    },
];

/// Replays the recorded allocations.
pub fn add(part: &mut Part<'_>, data: Data<'_>, replays: &Replays<'_>) -> Result<()> {
    let mut ours = Values::default();
    for run in RUNS {
        let log = replays.first_nodes(run.nodes)?;
        let path = data.file(&format!("bftrainer/reference/{}/alloc.jsonl", run.folder));
        let mut script = part.take(script::read(&path, &log)?);
        let set = replays.tasks(run.tasks, run.t_fwd)?;
        let options = Options {
            // Event 0 of the script is the initial allocation.
            initial: Initial::Solve,
            ..Options::original(run.t_fwd, run.max_tasks)
        };
        let steps = replays.replay(&log, &set, &options, &mut script)?.steps;
        let sum = |of: fn(&StepRow) -> f64| steps.iter().map(of).sum::<f64>();
        let values = [
            ("events", steps.len() as f64),
            ("work done", sum(|step| step.progress)),
            ("rescale costs", sum(|step| step.rescale_cost)),
            ("preemption costs", sum(|step| step.preemption_cost)),
            ("preemptions", sum(|step| f64::from(step.tasks_preempted))),
            ("sum of nodes used", sum(|step| f64::from(step.nodes_used))),
        ];
        ours.row(run.row, values);
    }
    part.add("bftrainer-recorded", &ours)?;
    Ok(())
}
