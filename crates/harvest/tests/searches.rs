//! Tests live searches in the core: starts and promotions of trials, and the work from which they continue.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::fs;

use gleaner_harvest::config::Config;
use gleaner_harvest::core::{
    Command, Core, CoreError, Curve, Event, Hello, Launch, LaunchStyle, Link, Loss, Millis, Order,
    PilotId, RankReport, RankState, RunId, SearchSubmission,
};
use gleaner_harvest::status::{SearchStatus, TaskStatus};
use gleaner_harvest::task_file;
use gleaner_replay::SolverDecider;
use gleaner_search::task_of_trial;
use gleaner_solvers::{Limits, SolverKind, SolverSpec};
use serde_json::json;

/// A core with two nodes, whose pilots carry out orders immediately.
struct World {
    core: Core,
    decider: SolverDecider,
    now: Millis,
    /// The runs that have started and have not ended.
    running: Vec<Launch>,
    lines: Vec<String>,
}

/// Reads a search from a task file that contains `settings` and, for each name in `tasks`, a task with 100 units of
/// work.
fn search(settings: &str, tasks: &[&str]) -> Box<SearchSubmission> {
    let folder = tempfile::tempdir().unwrap();
    let tasks = tasks.iter().map(|name| {
        format!(
            "[[task]]\nname = \"{name}\"\nmin_nodes = 1\nmax_nodes = 1\nrescale_up = 1\nrescale_down = 1\nwork = 100\n\
             command = [\"train\"]\n"
        )
    });
    let tasks: String = tasks.collect();
    let path = folder.path().join("tasks.toml");
    fs::write(&path, format!("[search]\n{settings}\n{tasks}")).unwrap();
    task_file::read(&path).unwrap().search.unwrap()
}

const HALVING: &str = "algorithm = \"successive-halving\"\ntrials = 4\neta = 2\nmax_resource = 2\n\
                       space = { x = [1, 2, 3] }";

/// The settings of a search with a single trial.
const ONE: &str = "algorithm = \"random\"\ntrials = 1\nmax_resource = 2\nspace = { x = [1, 2, 3] }";

fn link(pilot: u64, session: u32) -> Link {
    let pilot = PilotId(pilot);
    Link { pilot, session }
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harvest.toml");
        fs::write(
            &path,
            "backend = \"local\"\nmax_tasks = 2\nmax_failures = 1\n",
        )
        .unwrap();
        let settings = Config::read(&path).unwrap().core;
        let decider = SolverDecider::new(SolverSpec::new(SolverKind::Exact), Limits::default());
        let mut world = World {
            core: Core::new(settings, 0).unwrap(),
            decider: decider.unwrap(),
            now: 1000,
            running: Vec::new(),
            lines: Vec::new(),
        };
        for pilot in [1, 2] {
            world.handle(Event::Request { wall_s: 600 });
            let hello = json!({
                "event": "hello", "link": { "pilot": pilot, "session": 1 }, "node": format!("n{pilot}"),
                "ends": null, "ranks": []
            });
            world.handle(serde_json::from_value(hello).unwrap());
        }
        world
    }

    fn submit(&mut self, id: &str, search: Box<SearchSubmission>) -> Result<(), String> {
        self.try_handle(Event::Submit {
            id: id.to_owned(),
            tasks: Vec::new(),
            search: Some(search),
            groups: Vec::new(),
        })
    }

    fn handle(&mut self, event: Event) {
        self.try_handle(event).unwrap();
    }

    fn try_handle(&mut self, event: Event) -> Result<(), String> {
        let commands = match self.core.handle(self.now, &event, &mut self.decider) {
            Ok(commands) => commands,
            Err(CoreError::Refused(reason)) => return Err(reason),
            Err(CoreError::Failed(error)) => panic!("{error}"),
        };
        let mut stopped = Vec::new();
        for command in commands {
            match command {
                Command::Say(text) => self.lines.push(text),
                Command::Order { order, .. } => match order {
                    Order::Launch(launch) => self.running.push(*launch),
                    Order::Stop { run, .. } => stopped.push(run),
                    _ => {}
                },
                _ => {}
            }
        }
        for run in stopped {
            let stopped = self.running.iter().find(|launch| launch.run == run);
            let stopped = stopped.unwrap().clone();
            self.end(&stopped, None);
        }
        Ok(())
    }

    /// Advances the time by one second, and makes the core decide. Returns the runs that this decision starts, sorted
    /// by task.
    fn decide(&mut self) -> Vec<Launch> {
        self.now += 1000;
        let before = self.running.len();
        self.handle(Event::Decide);
        let mut started = self.running.split_off(before);
        started.sort_by(|a, b| a.task.cmp(&b.task));
        self.running.extend(started.clone());
        started
    }

    fn end(&mut self, launch: &Launch, code: Option<i32>) {
        self.running.retain(|other| other.run != launch.run);
        let pilot: u64 = launch.nodes[0][1..].parse().unwrap();
        let (link, run) = (link(pilot, 1), launch.run);
        self.handle(Event::Exited { link, run, code });
    }

    /// Reports a loss and then the successful end of a run's program.
    fn finish(&mut self, launch: &Launch, loss: impl Into<Loss>) {
        let resource = launch.trial.as_ref().unwrap().resource;
        self.handle(Event::Progress {
            run: launch.run,
            done: 50.0 * resource,
            loss: Some(loss.into()),
        });
        self.end(launch, Some(0));
    }

    fn search(&self) -> SearchStatus {
        self.core.status(self.now).searches[0].clone()
    }

    fn task(&self, name: &str) -> TaskStatus {
        let tasks = self.core.status(self.now).tasks;
        tasks.into_iter().find(|task| task.name == name).unwrap()
    }

    fn has_said(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }
}

fn names(launches: &[Launch]) -> Vec<&str> {
    launches.iter().map(|launch| launch.task.as_str()).collect()
}

#[test]
fn the_best_trials_continue_from_their_checkpoints() {
    let mut world = World::new();
    world.submit("1", search(HALVING, &["a"])).unwrap();
    // A repeated submission changes nothing.
    world.submit("1", search(HALVING, &["a"])).unwrap();
    let first = world.decide();
    assert_eq!(names(&first), ["a#0.0", "a#1.0"]);
    assert_eq!(world.task("a#0.0").work, Some(50.0));
    // A trial that has done its work may still be measuring its loss, so its task stays active.
    let (run, done) = (first[0].run, 50.0);
    let loss = None;
    world.handle(Event::Progress { run, done, loss });
    assert_eq!(world.task("a#0.0").state, "active");
    world.finish(&first[0], 4.0);
    world.finish(&first[1], 2.0);
    let second = world.decide();
    assert_eq!(names(&second), ["a#2.0", "a#3.0"]);
    world.finish(&second[0], 3.0);
    assert!(world.decide().is_empty());
    world.finish(&second[1], 1.0);
    let last = world.decide();
    assert_eq!(names(&last), ["a#1.1", "a#3.1"]);
    assert_eq!(last[0].done, 50.0);
    assert_eq!(world.task("a#1.1").work, Some(100.0));
    let (below, above) = (
        first[1].trial.as_ref().unwrap(),
        last[0].trial.as_ref().unwrap(),
    );
    assert_eq!(above.parameters, below.parameters);
    assert_eq!((above.rung, above.resource), (1, 2.0));
    world.finish(&last[0], 0.5);
    world.finish(&last[1], 0.75);
    assert!(world.decide().is_empty());
    let found = world.search();
    assert_eq!(found.state, "over");
    assert_eq!((found.started, found.finished, found.stopped), (4, 2, 2));
    let best = found.best.unwrap();
    assert_eq!((best.trial, best.resource, best.loss), (1, 2.0, 0.5));
    assert_eq!(best.parameters, above.parameters);
    assert!(world.has_said("trial a#1.1 has the loss 0.5"));
    assert!(world.has_said("search a is over: the best is trial 1"));
}

#[test]
fn trials_without_a_finite_loss_are_the_worst() {
    let mut world = World::new();
    world.submit("1", search(HALVING, &["a"])).unwrap();
    let first = world.decide();
    world.end(&first[0], Some(0));
    world.finish(&first[1], f64::NAN);
    let second = world.decide();
    let cancelled = world.core.task("a#2.0").unwrap();
    world.handle(Event::Cancel { task: cancelled });
    world.finish(&second[1], 7.0);
    let last = world.decide();
    // Trials with equal losses are ordered by number.
    assert_eq!(names(&last), ["a#0.1", "a#3.1"]);
    for line in [
        "trial a#0.0 has the loss inf, because it reported no loss",
        "trial a#1.0 has the loss inf, which is not finite",
        "trial a#2.0 has the loss inf, because it did not finish",
    ] {
        assert!(world.has_said(line), "{line}\n{:?}", world.lines);
    }
    world.end(&last[0], Some(1));
    assert_eq!(world.task("a#0.1").state, "failed");
    assert!(world.has_said("trial a#0.1 has the loss inf, because it did not finish"));
}

#[test]
fn the_loss_after_the_most_work_counts() {
    let mut world = World::new();
    world.submit("1", search(HALVING, &["a"])).unwrap();
    let first = world.decide();
    // A pilot repeats its last report when it connects again. By then, another node may have reported more work.
    let losses = [(40.0, 3.0), (50.0, 1.0), (50.0, 2.0), (40.0, 3.0)];
    for (done, loss) in losses {
        let (run, loss) = (first[0].run, Some(loss.into()));
        world.handle(Event::Progress { run, done, loss });
    }
    world.end(&first[0], Some(0));
    assert!(world.has_said("trial a#0.0 has the loss 2"));
}

#[test]
fn a_new_run_measures_its_own_losses() {
    let mut world = World::new();
    world.submit("1", search(ONE, &["a"])).unwrap();
    let first = world.decide();
    let (run, done, loss) = (first[0].run, 60.0, Some(1.0.into()));
    world.handle(Event::Progress { run, done, loss });
    let pilot: u64 = first[0].nodes[0][1..].parse().unwrap();
    world.handle(Event::Leaving {
        link: link(pilot, 1),
    });
    world.end(&first[0], Some(143));
    let second = world.decide();
    assert_eq!(second[0].run.generation, 2);
    // The new run starts from an earlier checkpoint.
    let (run, done, loss) = (second[0].run, 30.0, Some(4.0.into()));
    world.handle(Event::Progress { run, done, loss });
    world.end(&second[0], Some(0));
    assert!(world.has_said("trial a#0.0 has the loss 4"));
}

#[test]
fn the_last_report_of_a_removed_rank_precedes_its_end() {
    let mut world = World::new();
    let mut elastic = search(ONE, &["a"]);
    let task = &mut elastic.tasks[0];
    (task.max_nodes, task.launch) = (2, LaunchStyle::Torchft);
    let progress = vec![0.0, 1.0, 2.0];
    task.curve = Curve {
        nodes: vec![0, 1, 2],
        objective: progress.clone(),
        progress,
    };
    world.submit("1", elastic).unwrap();
    let ranks = world.decide();
    assert_eq!(ranks[0].nodes, ["n1", "n2"]);
    let run = ranks[0].run;
    let exited = |pilot, session| Event::Exited {
        link: link(pilot, session),
        run,
        code: Some(0),
    };
    // The program ends on both nodes, but pilot 1 has lost its connection, so the run should continue without this
    // pilot.
    world.handle(exited(2, 1));
    let pilot = PilotId(1);
    world.handle(Event::Silent { pilot });
    world.now += 1000;
    let (event, now) = (Event::Decide, world.now);
    let commands = world.core.handle(now, &event, &mut world.decider);
    let stop = Command::Order {
        link: link(1, 1),
        order: Order::Stop { run, kill: false },
    };
    assert!(commands.unwrap().contains(&stop));
    world.handle(hello(1, 2, run));
    assert_eq!(world.task("a#0.0").state, "active");
    let (done, loss) = (100.0, Some(0.5.into()));
    world.handle(Event::Progress { run, done, loss });
    world.handle(exited(1, 2));
    assert_eq!(world.task("a#0.0").state, "finished");
    assert!(world.has_said("trial a#0.0 has the loss 0.5"));
}

/// The greeting of a pilot on whose node the rank of a run has ended.
fn hello(pilot: u64, session: u32, run: RunId) -> Event {
    let state = RankState::Exited { code: Some(0) };
    Event::Hello(Hello {
        link: link(pilot, session),
        node: format!("n{pilot}"),
        class: None,
        ends: None,
        ranks: vec![RankReport { run, state }],
        leaving: false,
    })
}

#[test]
fn a_cancelled_search_starts_no_trials() {
    let mut world = World::new();
    world.submit("1", search(HALVING, &["a"])).unwrap();
    world.decide();
    world.handle(Event::CancelSearch { search: 0 });
    assert!(world.decide().is_empty() && world.running.is_empty());
    assert_eq!(world.task("a#0.0").state, "cancelled");
    assert_eq!(world.search().state, "cancelled");
    let again = world.try_handle(Event::CancelSearch { search: 0 });
    assert!(again.unwrap_err().contains("already over"));
    let unknown = world.try_handle(Event::CancelSearch { search: 1 });
    assert!(unknown.unwrap_err().contains("no search number 1"));
    // The names of the cancelled search and of its tasks stay in use.
    let taken = world.submit("2", search(HALVING, &["a"]));
    assert!(taken.unwrap_err().contains("has this name"));
    let named = format!("name = \"a\"\n{HALVING}");
    let taken = world.submit("2", search(&named, &["b"]));
    assert!(taken.unwrap_err().contains("has this name"));
    let search = search(HALVING, &["c"]);
    let both = world.try_handle(Event::Submit {
        id: "2".to_owned(),
        tasks: search.tasks.clone(),
        search: Some(search),
        groups: Vec::new(),
    });
    assert!(both.unwrap_err().contains("task c: another task"));
}

#[test]
fn searches_share_the_room_and_draw_their_tasks() {
    let mut world = World::new();
    let random = |name: &str| {
        format!("name = \"{name}\"\nalgorithm = \"random\"\ntrials = 3\nmax_resource = 2")
    };
    world
        .submit("1", search(&random("one"), &["a", "b"]))
        .unwrap();
    world.submit("2", search(&random("two"), &["c"])).unwrap();
    let started = world.decide();
    let drawn = ["a", "b"][task_of_trial(0, 0, 2)];
    assert_eq!(names(&started), [format!("{drawn}#0.0").as_str(), "c#0.0"]);
    world.finish(&started[1], 1.0);
    assert_eq!(names(&world.decide()), ["c#1.0"]);
}
