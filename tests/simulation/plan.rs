//! The plan of a run: the cluster, the tasks and the faults, all drawn from one seed.

use std::collections::BTreeMap;

use gleaner_harvest::core::{Curve, LaunchStyle, Millis, Settings, Submission};

use crate::classes;
use crate::groups::{self, GroupPlan};
use crate::noise::{Draw, For, Noise};
use crate::trials::{self, Rung};

/// The plan of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
    /// For each node, the index of its class. The list is empty if there are no classes.
    pub classes: Vec<usize>,
    pub settings: Settings,
    pub start: Millis,
    /// Time after which there are no more faults.
    pub calm: Millis,
    pub tasks: Vec<TaskPlan>,
    pub groups: Vec<GroupPlan>,
    /// The task that users submit when the faults have ceased.
    pub last: usize,
    /// The acts of users and the faults, in chronological order.
    pub acts: Vec<(Millis, Act)>,
    /// Whether a pilot kills ranks that do not end within the grace period. If not, the core must do so.
    pub pilots_kill: bool,
    pub decider: Decides,
    /// Number of events after which the daemon takes a snapshot.
    pub snapshot_after: usize,
    /// Whether the stop at the end kills the tasks immediately.
    pub last_stop_kills: bool,
}

/// The decider of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Decides {
    /// Random plans until the faults cease, and then a greedy rule.
    Erratic,
    #[default]
    Greedy,
    Exact,
}

/// A task and the behaviour of its program.
#[derive(Debug, Clone)]
pub struct TaskPlan {
    pub submission: Submission,
    /// Work after which the program has finished.
    pub work: f64,
    /// Actual speed of the program, as a multiple of the rate in the task's curve.
    pub speed: f64,
    /// Whether the program continues after its work is done, so that the core must stop it.
    pub is_endless: bool,
    /// Whether the other ranks hang if a rank is lost; otherwise, they fail.
    pub hangs: bool,
    /// Milliseconds from SIGTERM to the end of a rank, and the rank's exit code; `None` if it ignores SIGTERM.
    pub obeys: Option<(Millis, Option<i32>)>,
    pub checkpoint_ms: Millis,
    pub report_ms: Millis,
    /// The program fails whenever it reaches this amount of work.
    pub poison: Option<f64>,
    /// Whether the program reports nonsense.
    pub lies: bool,
    /// If set, the task is submitted as a search, and the trials of the search train it.
    pub search: Option<gleaner_search::Plan>,
    /// The rung that the task trains, if the core added the task for a search.
    pub rung: Option<Rung>,
}

/// An act of a user, or a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// A user submits these tasks of the plan.
    Submit {
        tasks: Vec<usize>,
    },
    /// A user submits a task with the name of an earlier task.
    SubmitTwice {
        task: usize,
    },
    Cancel {
        task: usize,
    },
    Drain {
        ms: Millis,
    },
    Stop {
        at_once: bool,
    },
    /// A normal job needs a node.
    Busy {
        node: usize,
        ms: Millis,
    },
    /// `kill -9` ends the pilot on a node. The pilot's ranks die after `ranks_ms`.
    KillPilot {
        node: usize,
        ranks_ms: Millis,
    },
    /// The network of a node fails.
    Cut {
        node: usize,
        ms: Millis,
    },
    /// The connection of a node breaks.
    Break {
        node: usize,
    },
    /// `kill -9` ends the daemon after `steps` more steps.
    KillDaemon {
        steps: usize,
        ms: Millis,
    },
    /// The daemon does nothing for a while. Then it handles the messages that have arrived in the meantime.
    FreezeDaemon {
        ms: Millis,
    },
    /// `kill -9` ends the scheduler, which forgets the events of the last few seconds.
    KillScheduler {
        ms: Millis,
    },
    /// Sets the fate of the next request to start a pilot.
    NextStart(Fate),
    /// A rank fails.
    FailRank {
        task: usize,
        code: Option<i32>,
    },
    /// A message from an earlier connection arrives and is not filtered out.
    Stale {
        node: usize,
    },
    /// When the pilot on a node next connects, it does not know its node's class, or reports an unknown class.
    Misreport {
        node: usize,
        class: Option<&'static str>,
    },
    /// A report from an earlier run arrives.
    OldReport {
        task: usize,
    },
}

/// The fate of a request to start a pilot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The request is executed, but the answer is lost.
    AnswerLost,
    NeverArrived,
    Late {
        ms: Millis,
    },
    AnsweredTwice,
    Rejected,
}

const DAY_MS: Millis = 86_400_000;
/// Midnight before the run starts.
const MIDNIGHT: Millis = 20_000 * DAY_MS;

impl Plan {
    /// Draws a plan from a seed.
    pub fn new(seed: u64) -> Self {
        let mut draw = Noise(seed).draw(For::Plan, &[]);
        let nodes = draw.between(2, 8) as usize;
        let calm_after = draw.between(60, 480) * 1000;
        let mut settings = settings(&mut draw, nodes);
        let is_capped = draw.percent(10);
        if is_capped {
            settings.node_hours_per_day = Some(draw.between(150, 600) as f64 / 3600.0);
        }
        // Some runs continue past midnight.
        let start = if is_capped || draw.percent(20) {
            MIDNIGHT + DAY_MS - draw.between(1000, calm_after)
        } else {
            MIDNIGHT + draw.between(0, DAY_MS / 2)
        };
        let pilots_kill = draw.percent(60);
        let most = nodes.min(settings.max_pilots);
        let count = draw.between(1, 8) as usize;
        let tasks = (0..count).map(|index| task(&mut draw, index, most as i64, pilots_kill));
        let tasks: Vec<TaskPlan> = tasks.collect();
        let last = TaskPlan {
            poison: None,
            lies: false,
            ..task(&mut draw, count, 1, pilots_kill)
        };
        let tasks: Vec<TaskPlan> = tasks.into_iter().chain([last]).collect();
        let calm = start + calm_after;
        let mut acts = submissions(&mut draw, count, (start, calm_after));
        let faults = draw.pick(&[20, 50, 120]);
        for _ in 0..draw.between(0, faults) {
            let time = start + draw.between(0, calm_after);
            acts.push((time, fault(&mut draw, nodes, count)));
        }
        acts.sort_by_key(|(time, _)| *time);
        let mut plan = Plan {
            seed,
            nodes,
            classes: Vec::new(),
            settings,
            start,
            calm,
            tasks,
            groups: Vec::new(),
            last: count,
            acts,
            pilots_kill,
            decider: draw.pick(&[
                Decides::Erratic,
                Decides::Erratic,
                Decides::Erratic,
                Decides::Greedy,
                Decides::Greedy,
                Decides::Exact,
            ]),
            snapshot_after: Noise(seed).draw(For::Snapshot, &[]).pick(&[4, 30, 400]),
            last_stop_kills: draw.percent(50),
        };
        if draw.percent(25) {
            let chosen = draw.below(count);
            make_search(&mut plan.tasks[chosen], &mut draw);
        }
        classes::divide(&mut plan);
        groups::form(&mut plan);
        plan
    }
}

/// Turns a task into a search. The task's program then ends by itself and reports its true progress.
fn make_search(task: &mut TaskPlan, draw: &mut Draw) {
    task.search = Some(trials::search(draw));
    task.work = draw.between(5, 60) as f64;
    task.submission.work = Some(task.work);
    (task.is_endless, task.lies) = (false, false);
}

fn settings(draw: &mut Draw, nodes: usize) -> Settings {
    let lease_s = draw.between(15, 30);
    let silence_s = draw.between(lease_s / 2, lease_s);
    Settings {
        t_fwd_s: 60.0,
        max_tasks: draw.between(1, 6) as usize,
        max_nodes: nodes,
        max_pilots: draw.between((nodes as i64 / 2).max(1), nodes as i64 + 3) as usize,
        ladder: match draw.below(3) {
            0 => vec![(100_000, 3)],
            1 => vec![(90, 2), (300, 2)],
            _ => vec![(60, 1), (120, 1), (100_000, 1)],
        },
        node_hours_per_day: None,
        grace_s: draw.between(2, 6) as f64,
        silence_s: silence_s as f64,
        lease_s: lease_s as f64,
        retry_s: draw.between(1, 6) as f64,
        max_failures: draw.between(1, 3) as u32,
        lead_s: draw.between(3, 12) as f64,
        classes: Vec::new(),
    }
}

fn task(draw: &mut Draw, index: usize, most: i64, pilots_kill: bool) -> TaskPlan {
    let launch = draw.pick(&[
        LaunchStyle::Restart,
        LaunchStyle::Restart,
        LaunchStyle::Torchrun,
        LaunchStyle::Torchft,
        LaunchStyle::Horovod,
    ]);
    let min_nodes = draw.between(1, most.min(3)) as u32;
    let max_nodes = draw.between(i64::from(min_nodes), most) as u32;
    let work = draw.between(10, 250) as f64;
    let lies = draw.percent(4);
    let says_work = !lies && draw.percent(60);
    let nodes: Vec<u32> = (0..=max_nodes).collect();
    let progress: Vec<f64> = nodes.iter().map(|&n| f64::from(n).powf(0.8)).collect();
    let obeys = (
        draw.between(50, 1900),
        draw.pick(&[Some(0), Some(0), Some(143), None]),
    );
    // If pilots do not kill ranks, a rank that leaves an elastic run must end on SIGTERM.
    let must_obey = launch.is_elastic() && !pilots_kill;
    TaskPlan {
        submission: Submission {
            name: format!("task-{index}"),
            min_nodes,
            max_nodes,
            rescale_up: draw.between(0, 5) as f64,
            rescale_down: draw.between(0, 5) as f64,
            work: says_work.then_some(work),
            priority: 1.0,
            deadline: None,
            curve: Curve {
                nodes,
                objective: progress.clone(),
                progress,
            },
            command: vec!["train".to_owned()],
            launch,
            environment: BTreeMap::new(),
            classes: Default::default(),
            trial: None,
        },
        work,
        speed: draw.between(5, 20) as f64 / 10.0,
        is_endless: says_work && draw.percent(50),
        hangs: draw.percent(40),
        obeys: (must_obey || draw.percent(85)).then_some(obeys),
        checkpoint_ms: draw.between(2000, 15_000),
        report_ms: draw.between(1000, 5000),
        poison: draw
            .percent(6)
            .then(|| work * draw.between(0, 90) as f64 / 100.0),
        lies,
        search: None,
        rung: None,
    }
}

/// The submissions of all tasks. Some tasks are submitted together.
fn submissions(draw: &mut Draw, count: usize, (start, ms): (Millis, Millis)) -> Vec<(Millis, Act)> {
    let mut acts = Vec::new();
    let mut next = 0;
    while next < count {
        let end = (next + draw.between(1, 3) as usize).min(count);
        let time = start + draw.between(0, ms / 2);
        let tasks = (next..end).collect();
        acts.push((time, Act::Submit { tasks }));
        next = end;
    }
    acts
}

fn fault(draw: &mut Draw, nodes: usize, tasks: usize) -> Act {
    let (node, task) = (draw.below(nodes), draw.below(tasks));
    let short = draw.between(100, 5000);
    let long = draw.between(1000, 60_000);
    let ms = draw.pick(&[short, long]);
    match draw.below(100) {
        0..24 => Act::Busy { node, ms },
        24..34 => Act::KillPilot {
            node,
            ranks_ms: draw.pick(&[0, short]),
        },
        34..46 => Act::Cut { node, ms },
        46..56 => Act::Break { node },
        56..68 => Act::KillDaemon {
            steps: draw.below(12),
            ms: draw.pick(&[short, short, long]),
        },
        68..73 => Act::KillScheduler { ms },
        73..81 => Act::NextStart(draw.pick(&[
            Fate::AnswerLost,
            Fate::NeverArrived,
            Fate::Late { ms },
            Fate::AnsweredTwice,
            Fate::Rejected,
        ])),
        81..87 => Act::FailRank {
            task,
            code: draw.pick(&[Some(1), Some(137), None]),
        },
        87..91 => Act::Stale { node },
        91..94 => Act::OldReport { task },
        94..96 => Act::Cancel { task },
        96..97 => Act::Drain { ms },
        97..98 => Act::SubmitTwice { task },
        98..99 => Act::Stop {
            at_once: draw.percent(50),
        },
        _ => Act::FreezeDaemon { ms: long },
    }
}
