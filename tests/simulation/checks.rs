//! The invariants, and the checks that they hold.

use gleaner_harvest::core::{Command, Core, Event, Launch, Link, Millis, Order, Report, RunId};
use gleaner_harvest::status::{Status, TaskStatus};

use crate::daemon;
use crate::program::node_of;
use crate::world::World;

/// A condition that must hold throughout a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invariant {
    /// No node runs processes of two tasks.
    OneTask,
    /// A task has only one run at a time, and an earlier run never starts again.
    OneRun,
    /// Runs start within the bounds of their task, and each rank starts on its own node.
    Bounds,
    /// Acknowledged submissions survive every crash, and refused requests change nothing.
    Submissions,
    /// No work is counted twice, and reports of earlier runs do not count.
    Progress,
    /// A task finishes only when its work is done. Unless the daemon is stopping at once, runs are killed only after
    /// the grace period, so that they can write a checkpoint first.
    Completion,
    /// A task fails only after its own program has failed at least `max_failures` times.
    Failures,
    /// Once the faults have ceased, all tasks end.
    Liveness,
    /// A replay of the journal gives the same commands, recording and state, both from its start and from a snapshot.
    Replay,
    /// All nodes of a run are in the same class.
    Classes,
    /// No group of tasks runs on more nodes than its maximum.
    Groups,
    /// Limits on pilots and node-hours are respected.
    Caps,
    /// A stop survives crashes of the daemon, and leaves no process behind.
    Stop,
    /// Trials are promoted by their true losses, and no rung is trained again once it has been reached.
    Searches,
    /// The core never fails.
    Alive,
}

impl Invariant {
    pub const ALL: &[Invariant] = &[
        Invariant::OneTask,
        Invariant::OneRun,
        Invariant::Bounds,
        Invariant::Submissions,
        Invariant::Progress,
        Invariant::Completion,
        Invariant::Failures,
        Invariant::Liveness,
        Invariant::Replay,
        Invariant::Classes,
        Invariant::Groups,
        Invariant::Caps,
        Invariant::Stop,
        Invariant::Searches,
        Invariant::Alive,
    ];
}

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    pub invariant: Invariant,
    pub text: String,
}

/// Node-time used on the current day, as measured by the world, not by the core.
#[derive(Debug, Default)]
pub struct DayMeter {
    day: i64,
    node_ms: i64,
    last: Millis,
}

/// Time within which an elastic run must settle.
const SETTLED_MS: Millis = 200_000;

const DAY_MS: Millis = 86_400_000;

impl World {
    /// Checks a command of the core before it is executed.
    pub fn check_command(&mut self, command: &Command) {
        match command {
            Command::Start { pilot, .. } if self.daemon.stopping.is_some() => {
                self.fail(
                    Invariant::Stop,
                    format!("{pilot} is requested during a stop"),
                );
            }
            Command::Order { link, order } => match order {
                Order::Launch(launch) => {
                    let pilot = self.pilots.get(&link.pilot);
                    let node = pilot.map(|pilot| format!("n{}", pilot.node));
                    self.check_launch(launch, node);
                }
                Order::Stop { run, kill } if self.daemon.is_current(*link) => {
                    self.check_stop((*run, *link), *kill);
                }
                Order::Nodes { run, nodes } => self.check_class(*run, nodes),
                Order::Stop { .. } | Order::Forget { .. } | Order::Dismiss => {}
            },
            Command::Start { .. } | Command::Cancel { .. } | Command::Say(_) => {}
        }
    }

    /// Checks that a run is killed on a connection only if it was ordered to stop on the same connection at least one
    /// grace period earlier.
    fn check_stop(&mut self, place: (RunId, Link), kill: bool) {
        let now = self.now;
        if !kill {
            self.daemon.stops.entry(place).or_insert(now);
            return;
        }
        let asked = self.daemon.stops.get(&place).copied();
        let is_after_grace = asked.is_some_and(|asked| now >= asked + self.grace_ms());
        if !is_after_grace && self.daemon.stopping != Some(true) {
            self.fail(
                Invariant::Completion,
                format!("{} is killed without grace", place.0),
            );
        }
    }

    fn check_launch(&mut self, launch: &Launch, node: Option<String>) {
        let task = self.task_of(&launch.task);
        self.check_rung(task);
        self.check_class_of(launch);
        let class = self.class_of(node_of(&launch.nodes[0]));
        let terms = self.plan.tasks[task].terms(class);
        let (count, run) = (launch.nodes.len() as u32, launch.run);
        let is_first = self.daemon.launched.insert(run);
        let (least, most) = (terms.min_nodes, terms.max_nodes);
        if (is_first && count < least) || count > most {
            let text = format!("{run} starts on {count} nodes, expected {least} to {most}");
            self.fail(Invariant::Bounds, text);
        }
        if node.is_some_and(|node| launch.nodes.get(launch.rank) != Some(&node)) {
            let text = format!("rank {} of {run} starts on another node", launch.rank);
            self.fail(Invariant::Bounds, text);
        }
        let peak = self.programs[task].peak;
        if launch.done > peak && !self.plan.tasks[task].lies {
            let text = format!(
                "{run} starts with {} done, expected at most {peak}",
                launch.done
            );
            self.fail(Invariant::Progress, text);
        }
    }

    /// Passes a report to the core, and checks that it counts only if it belongs to the current run.
    pub fn feed_progress(&mut self, run: RunId, report: Report) {
        let Report { done, loss } = report;
        let view = |core: &Core| {
            let status = core.status(0);
            let task = status.tasks.get(run.task as usize).cloned();
            task.map(|task| (task.done, task.state))
        };
        let current = self
            .daemon
            .core
            .as_ref()
            .and_then(|core| core.run_of(run.task));
        // Most reports belong to the current run, so it is enough to check some of them.
        if current == Some(run) && !self.figures.events.is_multiple_of(4) {
            self.feed(Event::Progress { run, done, loss });
            return;
        }
        let before = self.daemon.core.as_ref().map(view);
        self.feed(Event::Progress { run, done, loss });
        let after = self.daemon.core.as_ref().map(view);
        let (Some(Some((old, state))), Some(Some((new, _)))) = (before, after) else {
            return;
        };
        let counts = current == Some(run) && state == "active" && done >= 0.0;
        let expected = if counts { done } else { old };
        if new != expected {
            let text =
                format!("{run} reports {done}: work went from {old} to {new}, expected {expected}");
            self.fail(Invariant::Progress, text);
        }
    }

    /// Checks the status that users see.
    pub fn check_status(&mut self) {
        let Some(core) = &self.daemon.core else {
            return;
        };
        let open = core.open_pilots().len();
        let most = self.plan.settings.max_pilots;
        let status = core.status(self.now);
        if open > most {
            self.fail(
                Invariant::Caps,
                format!("{open} pilots are open, expected at most {most}"),
            );
        }
        for task in &status.tasks {
            self.check_task(task);
            self.check_bounds(task);
        }
    }

    fn check_task(&mut self, status: &TaskStatus) {
        let index = self.task_of(&status.name);
        self.check_trial(index, status);
        let (task, program) = (&self.plan.tasks[index], &self.programs[index]);
        let (peak, failed, work) = (program.peak, program.failed.len(), task.work);
        let is_done = program.is_complete || task.submission.work.is_some_and(|work| peak >= work);
        if status.done > peak && !task.lies {
            let text = format!(
                "{} has done {peak}, but counts as {}",
                status.name, status.done
            );
            self.fail(Invariant::Progress, text);
        }
        if status.state == "finished" && !is_done {
            let text = format!(
                "{} is finished, but has done only {peak} of {}",
                status.name, work
            );
            self.fail(Invariant::Completion, text);
        }
        if status.state == "failed" && failed < self.plan.settings.max_failures as usize {
            let text = format!("{} counts as failed after {failed} failures", status.name);
            self.fail(Invariant::Failures, text);
        }
    }

    /// Checks that an elastic run settles within [`SETTLED_MS`]: it is within its bounds, and all of its ranks run and
    /// know their nodes.
    fn check_bounds(&mut self, status: &TaskStatus) {
        let (now, index) = (self.now, self.task_of(&status.name));
        let plan = &self.plan.tasks[index];
        let terms = plan.terms(self.class_of_run(index));
        let bounds = terms.min_nodes..=terms.max_nodes;
        let (ranks, known) = self.shape(index);
        let expected = plan.submission.launch.ranks(status.running as usize);
        let is_settled = ranks == expected
            && known == status.running as usize
            && bounds.contains(&status.running);
        let is_settled = is_settled || status.running == 0;
        let unsettled = &mut self.programs[index].unsettled;
        let since = unsettled.filter(|_| !is_settled);
        *unsettled = (!is_settled).then(|| since.unwrap_or(now));
        if since.is_some_and(|since| now - since > SETTLED_MS) {
            let text = format!(
                "{} runs on {} nodes, with {ranks} ranks that know {known} nodes",
                status.name, status.running
            );
            self.fail(Invariant::Bounds, text);
        }
    }

    /// Adds up the node-time of the day. Nodes whose pilot is not connected are left out, because the daemon cannot
    /// stop the work on them.
    pub fn measure_day(&mut self) {
        let now = self.now;
        let day = now.div_euclid(DAY_MS);
        let meter = &mut self.meter;
        if day != meter.day {
            (meter.day, meter.node_ms) = (day, 0);
            meter.last = now;
        }
        let passed = (now - std::mem::replace(&mut meter.last, now)).min(1500);
        let Some(most) = self.plan.settings.node_hours_per_day else {
            return;
        };
        if self.daemon.core.is_none() {
            return;
        }
        let busy = self.processes.values().filter(|process| {
            let pilot = self.pilots.get(&process.pilot);
            pilot.is_some_and(|pilot| pilot.is_serving())
        });
        self.meter.node_ms += passed * busy.count() as i64;
        let slack_ms = 20_000 * self.plan.nodes as i64;
        let used_ms = self.meter.node_ms;
        if used_ms as f64 > most * 3_600_000.0 + slack_ms as f64 {
            let used_h = used_ms as f64 / 3_600_000.0;
            self.fail(
                Invariant::Caps,
                format!("used {used_h} node-hours, expected at most {most}"),
            );
        }
    }

    /// Stops everything once all tasks have ended. Fails if the tasks or the stop take too long.
    pub fn check_liveness(&mut self) {
        if !self.is_calm() {
            return;
        }
        if !std::mem::replace(&mut self.has_calmed, true) {
            self.calm_users();
            return;
        }
        if let Some(since) = self.ending {
            if self.now > since + 600_000 {
                self.fail(Invariant::Stop, "the stop does not end".to_owned());
            }
            return;
        }
        let Some(core) = &self.daemon.core else {
            return;
        };
        let status = core.status(self.now);
        let is_over =
            |task: &TaskStatus| matches!(&*task.state, "finished" | "failed" | "cancelled");
        let open = status.tasks.iter().find(|task| !is_over(task));
        let searching = status
            .searches
            .iter()
            .find(|search| search.state == "running");
        if open.is_none() && searching.is_none() && self.users.are_content() {
            self.check_status();
            self.count(&status);
            self.ending = Some(self.now);
            self.stop_at_end();
        } else if self.now > self.plan.calm + self.patience_ms() {
            let text = match open {
                Some(task) => format!("{task:?} is not over"),
                None if searching.is_some() => format!("{searching:?} is not over"),
                None => "a request was not answered".to_owned(),
            };
            self.fail(Invariant::Liveness, text);
        }
    }

    fn count(&mut self, status: &Status) {
        let tasks = &status.tasks;
        let count = |state| tasks.iter().filter(|task| task.state == state).count();
        (self.figures.finished, self.figures.failed) = (count("finished"), count("failed"));
        let cancelled = self.users.cancelled.clone();
        for index in self.users.submitted.clone() {
            let name = &self.plan.tasks[index].submission.name;
            let task = tasks.iter().find(|task| task.name == *name);
            let search = status.searches.iter().find(|search| search.name == *name);
            let found = task.map(|task| &task.state);
            let found = found.or_else(|| search.map(|search| &search.state));
            let is_wrong =
                found.is_none_or(|state| state == "cancelled" && !cancelled.contains(&index));
            if is_wrong {
                let text = format!("{name} was submitted, but ended as {found:?}");
                self.fail(Invariant::Submissions, text);
            }
        }
    }

    /// Time without faults, in milliseconds, within which all tasks must end. It is long enough to train all tasks
    /// twice, one after another, each on its minimum number of nodes.
    fn patience_ms(&self) -> Millis {
        let seconds = self.plan.tasks.iter().map(|task| {
            let least = task.least_rate();
            let jobs = task.search.as_ref().map_or(1.0, |search| {
                f64::from(search.trials.unwrap_or(1)) * search.rungs().len() as f64
            });
            jobs * (60.0 + 2.0 * task.work / (least * task.speed))
        });
        let seconds = 300.0 + seconds.sum::<f64>();
        let days = if self.plan.settings.node_hours_per_day.is_some() {
            30
        } else {
            0
        };
        days * DAY_MS + (seconds * 1000.0) as Millis
    }

    /// Checks that a replay of all events gives the same commands, recording and state.
    pub fn check_replay(&mut self) {
        let mut core = daemon::core(&self.plan, self.sabotage);
        let fault = self.replay(&mut core, 0);
        if let Some(fault) = fault {
            self.fail(Invariant::Replay, fault);
        } else if let Some(last) = &self.daemon.core
            && last.snapshot().unwrap() != core.snapshot().unwrap()
        {
            self.fail(Invariant::Replay, "the state differs".to_owned());
        }
        if core.take_recorded() != self.daemon.recorded {
            self.fail(Invariant::Replay, "the recording differs".to_owned());
        }
    }
}
