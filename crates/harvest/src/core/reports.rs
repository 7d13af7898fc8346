//! Handles the events of pilots, which connect, give back their nodes or fall silent, and of their ranks, which end or
//! report progress.

use std::collections::BTreeMap;

use super::tasks::{End, FailedRun, MeasuredLoss};
use super::{
    Command, Core, Hello, Link, Millis, Mode, Order, PilotId, PilotState, RankReport, RankState,
    Report, RunId, TaskState,
};

/// If a heterogeneous job is waiting, no pilots are requested for this time after a preemption. Each further preemption
/// restarts this period.
const HELD_BACK_MS: Millis = 60_000;

/// A failed run is attributed to a lost node if the run failed at most this many milliseconds, plus `silence`, before
/// the loss was noticed.
const NOTICED_MS: Millis = 5000;

impl Core {
    /// Requests a pilot.
    pub(super) fn request(&mut self, wall_s: u64, commands: &mut Vec<Command>) {
        self.is_released = false;
        let pilot = self.pilots.request(wall_s);
        commands.push(Command::Start { pilot, wall_s });
    }

    /// Handles the rejection of a pilot by the backend. If the pilot has already connected, it was started, so a late
    /// rejection changes nothing.
    pub(super) fn reject(&mut self, pilot: PilotId, reason: &str) {
        let found = self.pilots.open.get(&pilot);
        if found.is_some_and(|found| found.state == PilotState::Requested) {
            self.rejected = Some(self.now);
            self.lose(pilot, PilotState::Over);
            self.say(format!("{pilot} was rejected: {reason}"));
        }
    }

    /// Handles a pilot that connects, and compares the ranks that it reports with the ranks that it should have.
    pub(super) fn hello(&mut self, hello: &Hello, commands: &mut Vec<Command>) {
        let (link, name) = (hello.link, hello.node.as_str());
        let order = |order| Command::Order { link, order };
        let Some(pilot) = self.pilots.open.get(&link.pilot) else {
            self.say(format!(
                "{} on node {name} is dismissed: it is unknown or counts as ended",
                link.pilot
            ));
            commands.push(order(Order::Dismiss));
            return;
        };
        if link.session <= pilot.session {
            return;
        }
        let (state, dismissed, before) = (pilot.state, pilot.is_dismissed, pilot.node);
        // The class matters only when a pilot connects for the first time, because a pilot stays on its node.
        let found = match before.filter(|before| self.pilots.find(name) == Some(*before)) {
            Some(before) => Ok(before),
            None => self.node_index(name, hello.class.as_deref()),
        };
        let node = found.as_ref().ok().copied();
        let holder = node.and_then(|node| self.pilots.holder(node));
        let holder = holder.filter(|holder| *holder != link.pilot);
        // The batch scheduler can start a pilot on a node before the core learns that the previous pilot has ended.
        let is_going = holder.and_then(|holder| self.pilots.open.get(&holder));
        let is_going = is_going.is_none_or(|holder| holder.state != PilotState::Up);
        let place = node.filter(|&node| is_going && before.is_none_or(|before| before == node));
        if let Some(pilot) = self.pilots.open.get_mut(&link.pilot) {
            (pilot.session, pilot.ends) = (link.session, hello.ends);
            // The order to end can be lost. This flag makes the core repeat it.
            pilot.is_dismissed |= place.is_none();
        }
        let Some(place) = place else {
            let why = match found {
                Ok(_) => "it has another pilot, or this pilot was on another node".to_owned(),
                Err(why) => {
                    // The next pilot would probably be dismissed too, so requests pause for `retry_s`.
                    self.rejected = Some(self.now);
                    why
                }
            };
            self.say(format!(
                "{} is dismissed: node {name} cannot be used, because {why}",
                link.pilot
            ));
            self.lose(link.pilot, PilotState::Leaving);
            commands.push(order(Order::Dismiss));
            return;
        };
        if hello.leaving {
            self.leave(link, commands);
        } else if state != PilotState::Leaving {
            match holder {
                Some(_) => self.pilots.wait(link.pilot, place),
                None => self.pilots.go_up(link.pilot, place),
            }
        }
        if dismissed || self.mode == Mode::Stopping {
            self.dismiss(link.pilot, commands);
            if state == PilotState::Leaving {
                commands.push(order(Order::Dismiss));
            }
        }
        self.reconcile(link, &hello.ranks, commands);
    }

    /// Compares the ranks that a pilot reports with the ranks that it should have, and corrects the differences.
    fn reconcile(&mut self, link: Link, reports: &[RankReport], commands: &mut Vec<Command>) {
        let mut expected = self.ranks_of(link.pilot);
        for report in reports {
            let is_expected = expected.remove(&report.run).is_some();
            match report.state {
                // A rank that has ended is treated as running here. After the welcome, the pilot repeats the rank's
                // last report of progress, and then its end. The end must not be handled before this report, because
                // the end can finish the run, and reports of finished runs are ignored.
                RankState::Running | RankState::Exited { .. } if is_expected => {
                    self.repeat_orders(link, report.run, commands);
                }
                RankState::Exited { code } => self.exited(link, report.run, code, commands),
                RankState::Running => {
                    let order = Order::Stop {
                        run: report.run,
                        kill: false,
                    };
                    commands.push(Command::Order { link, order });
                }
            }
        }
        let pilot = self.pilots.open.get(&link.pilot);
        let is_up = pilot.is_some_and(|pilot| pilot.state == PilotState::Up);
        // These ranks never started: the order to launch them was lost with an earlier connection.
        for (run, node) in expected {
            let task = &self.tasks[run.task as usize];
            let stops = task.run.as_ref().is_some_and(|found| {
                found.stopping.is_some()
                    || found
                        .ranks
                        .get(&node)
                        .is_some_and(|rank| rank.removal.is_some())
            });
            if stops || !is_up {
                self.exited(link, run, None, commands);
            } else if let Some(order) = self.launch_order(run.task, node) {
                commands.push(Command::Order { link, order });
            }
        }
    }

    /// The runs with a rank on this pilot that has not ended, each with the rank's node.
    fn ranks_of(&self, pilot: PilotId) -> BTreeMap<RunId, u32> {
        let runs = (0..).zip(&self.tasks).filter_map(|(task, found)| {
            let generation = found.generation;
            found
                .run
                .as_ref()
                .map(|run| (RunId { task, generation }, run))
        });
        runs.flat_map(|(id, run)| {
            let ranks = run.ranks.iter();
            let own = ranks.filter(move |(_, rank)| rank.pilot == pilot && rank.end.is_none());
            own.map(move |(node, _)| (id, *node))
        })
        .collect()
    }

    /// Repeats the last order to stop a rank or to change its nodes.
    fn repeat_orders(&mut self, link: Link, run: RunId, commands: &mut Vec<Command>) {
        let now = self.now;
        let Some(found) = self.tasks[run.task as usize].run.as_mut() else {
            return;
        };
        let mut removed = false;
        for rank in found.ranks.values_mut() {
            if rank.pilot == link.pilot
                && let Some(removal) = &mut rank.removal
            {
                (removal.since, removal.is_killed) = (now, false);
                removed = true;
            }
        }
        if let Some(stopping) = &mut found.stopping
            && !stopping.at_once
        {
            // The first order may have been lost, so the grace period restarts.
            (stopping.since, stopping.is_killed) = (now, false);
        }
        let kill = found.stopping.is_some_and(|stopping| stopping.at_once);
        if removed || found.stopping.is_some() {
            let order = Order::Stop { run, kill };
            commands.push(Command::Order { link, order });
        } else if let Some(found) = &self.tasks[run.task as usize].run
            && self.tasks[run.task as usize].submission.launch.is_elastic()
        {
            let nodes = self.node_names_of(found);
            let order = Order::Nodes { run, nodes };
            commands.push(Command::Order { link, order });
        }
    }

    /// Handles a pilot that gives back its node.
    pub(super) fn leave(&mut self, link: Link, commands: &mut Vec<Command>) {
        let Some(pilot) = self.pilots.at(link) else {
            return;
        };
        if pilot.state == PilotState::Up {
            self.accounts.preemptions += 1;
            pilot.preempted = Some(self.now);
            let node = pilot.node;
            let name = node.map_or("", |node| self.pilots.name(node)).to_owned();
            self.say(format!("{} gives back node {name}", link.pilot));
            if self.has_heterogeneous_job {
                self.hold_back(commands);
            }
        }
        self.lose(link.pilot, PilotState::Leaving);
    }

    /// Cancels the pilots in the queue, and requests no more for a while: the node of a preempted pilot may be meant
    /// for a heterogeneous job. Such a job starts only if the nodes of all of its parts are free at the same time, but
    /// the scheduler takes back one node after another. A pilot in the queue would take a node that is already free,
    /// and the job would never start.
    fn hold_back(&mut self, commands: &mut Vec<Command>) {
        self.held_back = Some(self.now + HELD_BACK_MS);
        let waiting = self.pilots.open.iter();
        let waiting = waiting.filter(|(_, pilot)| pilot.state == PilotState::Requested);
        let waiting: Vec<PilotId> = waiting.map(|(id, _)| *id).collect();
        for pilot in waiting {
            self.dismiss(pilot, commands);
        }
    }

    pub(super) fn fall_silent(&mut self, pilot: PilotId) {
        if self
            .pilots
            .open
            .get(&pilot)
            .is_some_and(|found| found.state == PilotState::Up)
        {
            self.say(format!("{pilot} is silent"));
            self.lose(pilot, PilotState::Silent);
        }
    }

    /// Makes a pilot's node unavailable. If the pilot has ended, its ranks count as ended too.
    pub(super) fn lose(&mut self, pilot: PilotId, state: PilotState) {
        let Some(found) = self.pilots.open.get(&pilot) else {
            return;
        };
        let is_worse = match found.state {
            PilotState::Requested | PilotState::Waiting | PilotState::Up | PilotState::Silent => {
                true
            }
            PilotState::Leaving => state == PilotState::Over,
            PilotState::Over => false,
        };
        if !is_worse {
            return;
        }
        let (node, was_up, preempted) =
            (found.node, found.state == PilotState::Up, found.preempted);
        if let Some(node) = node.filter(|_| was_up) {
            self.excuse(node);
        }
        if let Some(since) = preempted.filter(|_| state == PilotState::Over) {
            self.accounts.hand_over(self.now - since);
        }
        self.pilots.go_down(pilot, state);
        if let Some(node) = node.filter(|_| state == PilotState::Over) {
            self.pilots.promote(node);
        }
        let runs = self.tasks.iter_mut().filter_map(|task| task.run.as_mut());
        for run in runs {
            // If the run has no rank on this node, a rank on another node may have started processes on this node.
            run.lost_nodes |=
                node.is_some_and(|node| !run.ranks.contains_key(&node) && run.occupies(node));
            for rank in run.ranks.values_mut().filter(|rank| rank.pilot == pilot) {
                if rank.end.is_none() {
                    run.lost_nodes = true;
                    if state == PilotState::Over {
                        rank.end = Some(End::Taken);
                    }
                }
            }
        }
    }

    /// Stops counting failures that the loss of a node explains. When a node disappears, the programs on the other
    /// nodes of the run may fail before the core notices that the node is lost. Such a failure does not count.
    fn excuse(&mut self, node: u32) {
        let latest = (self.settings.silence_s * 1000.0) as Millis + NOTICED_MS;
        let now = self.now;
        let is_cause =
            |failed: &FailedRun| failed.nodes.contains(&node) && now - failed.time <= latest;
        for task in self.tasks.iter_mut().filter(|task| !task.state.is_over()) {
            if task.failed.take_if(|failed| is_cause(failed)).is_some() {
                task.failures = task.failures.saturating_sub(1);
                task.not_before = None;
            }
        }
    }

    /// Handles the end of a rank.
    pub(super) fn exited(
        &mut self,
        link: Link,
        run: RunId,
        code: Option<i32>,
        commands: &mut Vec<Command>,
    ) {
        let Some(pilot) = self.pilots.at(link) else {
            return;
        };
        let is_taken = pilot.state != PilotState::Up;
        let order = Order::Forget { run };
        commands.push(Command::Order { link, order });
        let task = self.tasks.get_mut(run.task as usize);
        let Some(found) = task.and_then(|task| task.run_with(run)) else {
            return;
        };
        let rank = found
            .ranks
            .values_mut()
            .find(|rank| rank.pilot == link.pilot);
        if let Some(rank) = rank.filter(|rank| rank.end.is_none()) {
            rank.end = Some(if rank.removal.is_some() {
                End::Removed
            } else if is_taken {
                End::Taken
            } else {
                End::Exited(code)
            });
        }
    }

    /// Handles a task's report of its progress. Reports of earlier runs are ignored, so that no work counts twice.
    pub(super) fn progress(&mut self, run: RunId, report: Report) {
        let (now, done) = (self.now, report.done);
        let Some(task) = self.tasks.get_mut(run.task as usize) else {
            return;
        };
        if !(done.is_finite() && done >= 0.0) || task.state != TaskState::Active {
            return;
        }
        let settings = &self.settings;
        let Some(place) = task.run_with(run).map(|run| run.place(settings)) else {
            return;
        };
        // Work done after the last checkpoint, lost, and then repeated does not count as progress.
        if done > task.best {
            (task.best, task.failures) = (done, 0);
        }
        task.done = done;
        if let Some(loss) = report.loss {
            let generation = run.generation;
            task.measure(MeasuredLoss {
                loss,
                generation,
                done,
            });
        }
        task.learner.report(now, run.generation, place, done);
    }
}
