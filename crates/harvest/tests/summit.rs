//! Feeds the Summit log to the core of a live cluster, which must make the same decisions as a replay.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gleaner_domain::error::Result;
use gleaner_domain::{Change, EventLog, Slice, TrainingTask, Unobserved};
use gleaner_harvest::core::{
    Command, Core, Event, Heard, Hello, Link, Millis, Order, PilotId, Settings, Submission,
};
use gleaner_inputs::{events, tasks};
use gleaner_replay::{Decider, Decision, Initial, Options, Plan, SolverDecider};
use gleaner_solvers::{Limits, Problem, SolverKind, SolverSpec};

/// A decider that records the number of idle nodes and the plan of every decision of the exact solver.
struct Kept {
    solver: SolverDecider,
    decisions: Vec<(u32, Plan)>,
}

impl Kept {
    fn new() -> Self {
        let spec = SolverSpec::new(SolverKind::Exact);
        Kept {
            solver: SolverDecider::new(spec, Limits::default()).unwrap(),
            decisions: Vec::new(),
        }
    }
}

impl Decider for Kept {
    fn name(&self) -> &str {
        self.solver.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let decision = self.solver.decide(event, problem)?;
        self.decisions.push((problem.nodes, decision.plan.clone()));
        Ok(decision)
    }
}

/// A cluster whose pilots carry out orders immediately.
struct World {
    core: Core,
    decider: Kept,
    /// For each node of the log, the connection of the pilot that holds it.
    pilots: Vec<Option<Link>>,
}

impl World {
    fn handle(&mut self, now: Millis, event: &Event) {
        let commands = self.core.handle(now, event, &mut self.decider).unwrap();
        for command in commands {
            let Command::Order {
                link,
                order: Order::Stop { run, .. },
            } = command
            else {
                continue;
            };
            let code = Some(0);
            self.handle(now, &Event::Exited { link, run, code });
        }
    }

    /// Starts a pilot that holds a node of the log.
    fn join(&mut self, now: Millis, log: &EventLog, node: u32) {
        self.handle(now, &Event::Request { wall_s: 86_400 });
        let open = self.core.open_pilots();
        let link = Link {
            pilot: open.last().unwrap().0,
            session: 1,
        };
        let hello = Event::Hello(Hello {
            link,
            node: log.nodes()[node as usize].clone(),
            class: None,
            ends: None,
            ranks: Vec::new(),
            leaving: false,
        });
        self.handle(now, &hello);
        self.pilots[node as usize] = Some(link);
    }

    /// Ends the pilot that holds a node.
    fn leave(&mut self, now: Millis, node: u32) {
        let link = self.pilots[node as usize].take().unwrap();
        self.handle(now, &Event::Leaving { link });
        let pilot: PilotId = link.pilot;
        self.handle(now, &Event::Over { pilot });
    }

    fn change(&mut self, now: Millis, log: &EventLog, changes: &[Change]) {
        for change in changes.iter().filter(|change| !change.idle()) {
            self.leave(now, change.node());
        }
        for change in changes.iter().filter(|change| change.idle()) {
            self.join(now, log, change.node());
        }
        let due = self.core.due(&Heard::default(), now);
        if due.contains(&Event::Decide) {
            self.handle(now, &Event::Decide);
        }
    }
}

/// The decisions of a replay in which the solver makes every decision, including the first.
fn replayed(log: &EventLog, tasks: &[TrainingTask]) -> Vec<(u32, Plan)> {
    let options = Options {
        initial: Initial::Solve,
        ..Options::original(120.0, 10)
    };
    let mut kept = Kept::new();
    gleaner_replay::run(log, tasks, &options, &mut kept, &Unobserved).unwrap();
    kept.decisions
}

/// The decisions of the core, whose pilots follow the log.
fn harvested(log: &EventLog, tasks: &[TrainingTask]) -> Vec<(u32, Plan)> {
    let start = log.times()[0].second() * 1000;
    let settings = Settings {
        t_fwd_s: 120.0,
        max_tasks: 10,
        max_nodes: log.nodes().len(),
        max_pilots: log.nodes().len(),
        ladder: Vec::new(),
        node_hours_per_day: None,
        grace_s: 30.0,
        silence_s: 30.0,
        lease_s: 300.0,
        retry_s: 10.0,
        max_failures: 3,
        lead_s: 0.0,
        classes: Vec::new(),
    };
    let mut world = World {
        core: Core::new(settings, start - 2000).unwrap(),
        decider: Kept::new(),
        pilots: vec![None; log.nodes().len()],
    };
    // Every node joins once, in the log's order, before the start, so that nodes have the same indices as in the log.
    for node in 0..log.nodes().len() as u32 {
        world.join(start - 2000, log, node);
        world.leave(start - 2000, node);
    }
    let tasks = tasks
        .iter()
        .map(|task| Submission::of(task, vec!["train".to_owned()]));
    let submit = Event::Submit {
        id: "all".to_owned(),
        tasks: tasks.collect(),
        search: None,
        groups: Vec::new(),
    };
    world.handle(start, &submit);
    for (time, changes) in log.rows() {
        world.change(time.second() * 1000, log, changes);
    }
    world.decider.decisions
}

#[test]
fn decisions_on_the_summit_log_are_those_of_a_replay() {
    let (Some(path), Some(bounds), Some(curves)) = (
        gleaner_testing::shared("bftrainer/ndstat-10sdn6-evt.tar.gz"),
        gleaner_testing::shared("bftrainer/hps-shufflenet-Jbnd-10J.pkl"),
        gleaner_testing::shared("bftrainer/hps-shufflenet-JNPs-10J.pkl"),
    ) else {
        return;
    };
    let slice = Slice {
        skip_rows: 1000,
        ..Slice::default()
    };
    let log = events::read(&path).unwrap().value.slice(slice).unwrap();
    let set = tasks::read(&bounds, Some(&curves), false).unwrap().value;
    // The tasks are endless, because completions would differ. In a replay, the ledger predicts completions, whereas on
    // a live cluster, tasks report them.
    let endless = |task: TrainingTask| TrainingTask {
        work: f64::INFINITY,
        submit: TrainingTask::FROM_START,
        ..task
    };
    let tasks: Vec<TrainingTask> = set.tasks.into_iter().map(endless).collect();
    let (expected, found) = (replayed(&log, &tasks), harvested(&log, &tasks));
    assert!(expected.len() > 20_000, "{}", expected.len());
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(found, expected, "decision {number}");
    }
    // The last row of the log changes no node. The replay makes a decision there, but the core has nothing to decide.
    assert!(expected.len() - found.len() <= 1);
}
