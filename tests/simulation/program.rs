//! The programs of tasks, with the true state of their processes, work and checkpoints.

mod training;

use std::collections::{BTreeMap, BTreeSet};

use gleaner_harvest::core::{Launch, LaunchStyle, Millis, PilotId, RankState, Report, RunId};

use crate::checks::Invariant;
use crate::noise::For;
use crate::plan::TaskPlan;
use crate::world::{Happening, World};

/// A process of a task on a node.
#[derive(Debug, Clone)]
pub struct Process {
    /// Index of the task in the plan.
    pub task: usize,
    /// The pilot in whose job the process runs.
    pub pilot: PilotId,
    pub rank: usize,
    /// Whether the process was started by the driver of an elastic Horovod run, not by the pilot.
    pub is_worker: bool,
    pub serial: u64,
    is_terminated: bool,
}

/// The program of a task.
#[derive(Debug, Default)]
pub struct Program {
    /// Work in the last checkpoint.
    checkpoint: f64,
    /// The most work that any run of the program has done, including work that was lost later.
    pub peak: f64,
    /// Whether the program has ended with its work done.
    pub is_complete: bool,
    /// The runs that failed because of a fault in the program.
    pub failed: BTreeSet<u32>,
    /// Time since which a run of the program has been outside its bounds.
    pub unsettled: Option<Millis>,
    run: Option<Run>,
    /// The most work that each run has reported.
    reported: BTreeMap<u32, f64>,
}

/// The last run of a program.
#[derive(Debug)]
struct Run {
    id: RunId,
    done: f64,
    /// The run's nodes, as its first rank knows them.
    nodes: Vec<usize>,
    /// The node of the run's first rank.
    first: usize,
    /// Nodes on which a rank was started.
    started: BTreeSet<usize>,
    /// Whether the run has lost a rank without which it cannot continue.
    is_broken: bool,
    is_ending: bool,
    members: usize,
    paused: Millis,
    stepped: Millis,
    reported: Millis,
    saved: Millis,
    is_stepping: bool,
    steps: u64,
}

impl Program {
    pub fn new(_task: &TaskPlan) -> Self {
        Program::default()
    }

    /// The program of a promoted trial. It continues from the program of the rung below; `done` is the work up to that
    /// rung.
    pub fn after(below: &Program, done: f64) -> Self {
        Program {
            checkpoint: below.checkpoint,
            peak: below.peak.max(done),
            ..Program::default()
        }
    }

    /// Work that a run has done; `None` if it is not the last run.
    pub fn done(&self, run: RunId) -> Option<f64> {
        self.run
            .as_ref()
            .filter(|found| found.id == run)
            .map(|found| found.done)
    }
}

impl World {
    /// Starts a rank for a pilot.
    pub fn start_rank(&mut self, pilot: PilotId, node: usize, launch: &Launch) {
        let task = self.task_of(&launch.task);
        self.daemon.tasks.insert(launch.run.task, task);
        self.figures.launches += 1;
        self.start_process(pilot, node, launch.run, (task, launch.rank, false));
        let nodes: Vec<usize> = launch.nodes.iter().map(|name| node_of(name)).collect();
        let now = self.now;
        let program = &mut self.programs[task];
        let last = program.run.as_ref().map_or(0, |run| run.id.generation);
        if launch.run.generation < last {
            self.fail(
                Invariant::OneRun,
                format!("{} starts after run {last}", launch.run),
            );
            return;
        }
        if launch.run.generation > last {
            program.run = Some(Run {
                id: launch.run,
                done: program.checkpoint,
                first: nodes[0],
                nodes: Vec::new(),
                started: BTreeSet::new(),
                is_broken: false,
                is_ending: false,
                members: 0,
                paused: now,
                stepped: now,
                reported: now,
                saved: now,
                is_stepping: false,
                steps: 0,
            });
        }
        if let Some(run) = &mut program.run {
            run.started.insert(node);
            if launch.rank == 0 {
                run.nodes = nodes;
            }
            if !run.is_stepping {
                run.is_stepping = true;
                run.stepped = now;
                self.after(500, Happening::Run(launch.run));
            }
        }
    }

    /// Starts a process, and checks that no other task runs on its node and that its task has no other run.
    fn start_process(
        &mut self,
        pilot: PilotId,
        node: usize,
        run: RunId,
        (task, rank, is_worker): (usize, usize, bool),
    ) {
        self.say(|| format!("n{node}: {run} starts, rank {rank}"));
        let strangers = self
            .processes
            .iter()
            .find(|((at, _), other)| *at == node && other.task != task);
        let earlier = self.processes.iter().find(|((_, other), process)| {
            self.trainee(process.task) == self.trainee(task) && *other != run
        });
        if let Some(((_, other), _)) = strangers {
            let text = format!("{run} starts on n{node}, where {other} runs");
            self.fail(Invariant::OneTask, text);
        } else if let Some(((at, other), _)) = earlier {
            let text = format!("{run} starts on n{node}, although {other} runs on n{at}");
            self.fail(Invariant::OneRun, text);
        }
        let serial = self.number();
        self.processes.insert(
            (node, run),
            Process {
                task,
                pilot,
                rank,
                is_worker,
                serial,
                is_terminated: false,
            },
        );
        self.check_groups(task);
    }

    /// Index of a task in the plan. The tasks of trials are not in the original plan, and are added on demand.
    pub fn task_of(&mut self, name: &str) -> usize {
        let mut tasks = self.plan.tasks.iter();
        let found = tasks.position(|task| task.submission.name == name);
        found.unwrap_or_else(|| self.add_trial(name))
    }

    /// Sends SIGTERM. A rank that obeys SIGTERM writes a checkpoint, and ends after a while.
    pub fn terminate(&mut self, node: usize, run: RunId) {
        let Some(process) = self.processes.get_mut(&(node, run)) else {
            return;
        };
        let (task, serial) = (process.task, process.serial);
        if std::mem::replace(&mut process.is_terminated, true) {
            return;
        }
        if let Some((ms, code)) = self.plan.tasks[task].obeys {
            let program = &mut self.programs[task];
            if let Some(done) = program.done(run) {
                program.checkpoint = done;
            }
            self.after(
                ms,
                Happening::Ends {
                    node,
                    run,
                    code,
                    serial,
                },
            );
        }
    }

    /// Sends SIGKILL at the time `at` if the process is still running.
    pub fn kill_at(&mut self, node: usize, run: RunId, at: Millis) {
        if let Some(process) = self.processes.get(&(node, run)) {
            let serial = process.serial;
            let code = None;
            self.at(
                at,
                Happening::Ends {
                    node,
                    run,
                    code,
                    serial,
                },
            );
        }
    }

    /// Sends a rank the new list of its run's nodes.
    pub fn set_nodes(&mut self, node: usize, run: RunId, nodes: &[String]) {
        let Some(process) = self.processes.get(&(node, run)) else {
            return;
        };
        let task = process.task;
        if let Some(found) = self.programs[task]
            .run
            .as_mut()
            .filter(|found| found.id == run)
        {
            found.nodes = nodes.iter().map(|name| node_of(name)).collect();
        }
    }

    /// Handles the end of a rank. The workers of a driver end with it, and the run may be unable to continue.
    pub fn rank_ended(&mut self, process: &Process, run: RunId) {
        if self.plan.tasks[process.task].submission.launch == LaunchStyle::Horovod {
            let own = self
                .processes
                .iter()
                .filter(|((_, other), _)| *other == run);
            for (node, run) in own.map(|(place, _)| *place).collect::<Vec<_>>() {
                self.end_process(node, run, None);
            }
        }
    }
}

/// Index of a node by its name.
pub fn node_of(name: &str) -> usize {
    name[1..].parse().unwrap()
}
