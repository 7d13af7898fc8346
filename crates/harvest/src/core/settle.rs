//! Makes runs follow the allocator's decisions.
//!
//! After each event, the nodes of every run are compared with the nodes that the allocator assigns to its task. A run
//! whose nodes must change is stopped, or is notified of the change if its launch style can continue. A task without a
//! run is launched once everything is ready.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_domain::words::counted;

use super::tasks::{End, FailedRun, Rank, Removal, Run, Stopping, Task};
use super::{Command, Core, Launch, LaunchStyle, Mode, Order, PilotId, RunId, TaskState, Why};

/// Ports (end exclusive) from which the core chooses one for the ranks of a run to find each other. By default, Linux
/// uses the ports above this range for outgoing connections.
const PORTS: std::ops::Range<u16> = 20_000..32_768;

impl Core {
    /// Asks the ranks of a task's run to stop.
    pub(super) fn stop_run(&mut self, index: u32, why: Why, commands: &mut Vec<Command>) {
        let Some(id) = self.run_of(index) else {
            return;
        };
        let since = self.now;
        if let Some(run) = &mut self.tasks[index as usize].run
            && run.stopping.is_none()
        {
            run.stopping = Some(Stopping {
                since,
                why,
                is_killed: false,
                at_once: false,
            });
            self.order_stop(id, false, commands);
        }
    }

    /// Kills the ranks of a run whose grace period is over. If the whole run was asked to stop, all of its ranks are
    /// killed. Otherwise, only the ranks that are being removed from the run are killed.
    pub(super) fn end_grace(&mut self, id: RunId, commands: &mut Vec<Command>) {
        self.kill(id, commands);
        let (now, grace) = (self.now, self.settings.grace_ms());
        let task = self.tasks.get_mut(id.task as usize);
        let run = task.and_then(|task| task.run_with(id));
        let run = run.filter(|run| run.stopping.is_none());
        let killed = run.map(|run| run.kill_removed(now, grace));
        for pilot in killed.into_iter().flatten() {
            self.order(
                pilot,
                Order::Stop {
                    run: id,
                    kill: true,
                },
                commands,
            );
        }
    }

    /// Kills the ranks of a run that has been asked to stop.
    pub(super) fn kill(&mut self, id: RunId, commands: &mut Vec<Command>) {
        let task = self.tasks.get_mut(id.task as usize);
        if let Some(run) = task.and_then(|task| task.run_with(id))
            && let Some(stopping) = &mut run.stopping
            && !stopping.is_killed
        {
            stopping.is_killed = true;
            self.order_stop(id, true, commands);
        }
    }

    fn order_stop(&self, run: RunId, kill: bool, commands: &mut Vec<Command>) {
        let Some(found) = &self.tasks[run.task as usize].run else {
            return;
        };
        let ranks = found.ranks.values().filter(|rank| rank.end.is_none());
        let links = ranks.filter_map(|rank| self.pilots.link(rank.pilot));
        commands.extend(links.map(|link| Command::Order {
            link,
            order: Order::Stop { run, kill },
        }));
    }

    /// For each task, takes the next step towards a run on the nodes that the allocator assigns to it.
    pub(super) fn settle(&mut self, commands: &mut Vec<Command>) {
        for index in 0..self.tasks.len() as u32 {
            self.conclude(index);
        }
        self.report_trials();
        let is_current = self.idle == *self.pilots.available();
        let wanted = if is_current {
            self.wanted()
        } else {
            BTreeMap::new()
        };
        for index in 0..self.tasks.len() as u32 {
            let want = wanted.get(&index).map_or(&[][..], Vec::as_slice);
            let task = &self.tasks[index as usize];
            if task.run.is_some() {
                self.adjust(index, want, is_current, commands);
            } else if is_current && task.state == TaskState::Active {
                self.launch(index, want, commands);
            }
        }
    }

    /// The nodes that the allocator assigns to each task.
    pub(super) fn wanted(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut wanted: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for holding in self.allocator.holdings() {
            wanted.entry(holding.task).or_default().push(holding.node);
        }
        wanted
    }

    /// Updates a task after its run is over.
    fn conclude(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        let Some(run) = task.run.take_if(|run| run.is_over()) else {
            return;
        };
        // The work may be complete even though the run was stopped for another reason.
        let is_done = task.has_done_work();
        let why = run.stopping.map(|stopping| stopping.why);
        match why {
            _ if is_done => self.end_task(index, TaskState::Finished),
            None if run.succeeded() => self.end_task(index, TaskState::Finished),
            None | Some(Why::Failure) if !run.lost_nodes => self.fail(index, &run),
            _ => {}
        }
    }

    /// Counts a failed run of a task. The task fails after `max_failures` failed runs in a row.
    fn fail(&mut self, index: u32, run: &Run) {
        let (now, most) = (self.now, self.settings.max_failures);
        let codes = run.ranks.values().find_map(|rank| match rank.end {
            Some(End::Exited(code)) if code != Some(0) => Some(code),
            _ => None,
        });
        let how = match codes.flatten() {
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal, or could not be started".to_owned(),
        };
        let task = &mut self.tasks[index as usize];
        task.failures += 1;
        let failures = task.failures;
        let pause_ms = self.settings.retry_s * 1000.0 * f64::from(failures);
        task.not_before = Some(now + pause_ms as i64);
        task.failed = Some(FailedRun {
            time: now,
            nodes: run.nodes.clone(),
        });
        let name = task.submission.name.clone();
        self.say(format!(
            "task {name}: run failed ({how}); failed runs in a row: {failures}"
        ));
        if failures >= most {
            self.end_task(index, TaskState::Failed(how));
        }
    }

    /// Stops a run that must end. Otherwise, and only if `is_current`, adapts the run to `want`, the nodes now assigned
    /// to its task. `is_current` is true if the allocator has been informed of all available nodes.
    fn adjust(&mut self, index: u32, want: &[u32], is_current: bool, commands: &mut Vec<Command>) {
        let task = &self.tasks[index as usize];
        let Some(run) = task.run.as_ref().filter(|run| run.stopping.is_none()) else {
            return;
        };
        let style = task.submission.launch;
        let is_failed =
            |rank: &Rank| matches!(rank.end, Some(End::Exited(code)) if code != Some(0));
        let why = if task.has_done_work() {
            Some(Why::Work)
        } else if task.state != TaskState::Active || self.mode == Mode::Stopping {
            Some(Why::End)
        } else if run.ranks.values().any(is_failed) {
            Some(Why::Failure)
        } else if style == LaunchStyle::Restart && run.lost_nodes {
            Some(Why::Nodes)
        } else {
            None
        };
        if let Some(why) = why {
            self.stop_run(index, why, commands);
        } else if is_current {
            self.follow(index, want, commands);
        }
    }

    /// Stops a run whose task has been assigned other nodes, or notifies the run of the change.
    fn follow(&mut self, index: u32, want: &[u32], commands: &mut Vec<Command>) {
        let task = &self.tasks[index as usize];
        let Some(run) = &task.run else {
            return;
        };
        let (now, next): (BTreeSet<u32>, BTreeSet<u32>) =
            (run.live_nodes().collect(), want.iter().copied().collect());
        // If these numbers differ, a node was taken away, and the ranks of an elastic run have not been notified yet.
        let is_known = run.nodes.len() == now.len();
        if now == next && is_known {
            return;
        }
        let style = task.submission.launch;
        let too_few = !self.is_enough(task, want);
        let is_first_lost = run.nodes.first().is_none_or(|first| {
            let is_kept = now.contains(first) && next.contains(first);
            !is_kept
        });
        // Replica groups can continue as long as one of them keeps its node.
        let is_headless = if style.needs_first_node() {
            is_first_lost
        } else {
            now.is_disjoint(&next)
        };
        // A Horovod driver does not report when it has given up a node, so the node becomes free only when the whole
        // run is over.
        let must_release = style == LaunchStyle::Horovod && !now.is_subset(&next);
        // A pilot never starts a rank of the same run twice.
        let mut added = next.difference(&now);
        let is_repeated = added.any(|node| {
            let rank = run.ranks.get(node);
            rank.is_some_and(|rank| self.pilots.holder(*node) == Some(rank.pilot))
        });
        let must_stop =
            !style.is_elastic() || too_few || is_headless || must_release || is_repeated;
        if must_stop {
            self.stop_run(index, Why::Nodes, commands);
        } else {
            self.rescale(index, &next, commands);
        }
    }

    /// Changes the nodes of a run that continues.
    fn rescale(&mut self, index: u32, next: &BTreeSet<u32>, commands: &mut Vec<Command>) {
        let free = next.iter().copied().filter(|node| self.is_free(*node));
        let free: Vec<u32> = free.take(self.room(index)).collect();
        let id = self.run_of(index);
        let pilots: Vec<Option<PilotId>> =
            free.iter().map(|node| self.pilots.holder(*node)).collect();
        let task = &mut self.tasks[index as usize];
        let style = task.submission.launch;
        let (Some(run), Some(id)) = (&mut task.run, id) else {
            return;
        };
        let now = self.now;
        let mut removed = Vec::new();
        for (node, rank) in &mut run.ranks {
            if !next.contains(node) && rank.end.is_none() && rank.removal.is_none() {
                let since = now;
                rank.removal = Some(Removal {
                    since,
                    is_killed: false,
                });
                removed.push(rank.pilot);
            }
        }
        let live: BTreeSet<u32> = run.live_nodes().collect();
        let before = run.nodes.len();
        run.nodes
            .retain(|node| next.contains(node) && live.contains(node));
        let mut is_changed = run.nodes.len() < before;
        let mut added = Vec::new();
        for (node, pilot) in free.into_iter().zip(pilots) {
            let Some(pilot) = pilot.filter(|_| !run.nodes.contains(&node)) else {
                continue;
            };
            run.nodes.push(node);
            is_changed = true;
            if style != LaunchStyle::Horovod {
                run.ranks.insert(node, Rank::new(pilot));
                added.push(node);
            }
        }
        if !is_changed {
            return;
        }
        for pilot in removed {
            self.order(
                pilot,
                Order::Stop {
                    run: id,
                    kill: false,
                },
                commands,
            );
        }
        for node in &added {
            if let (Some(pilot), Some(order)) =
                (self.pilots.holder(*node), self.launch_order(index, *node))
            {
                self.order(pilot, order, commands);
            }
        }
        self.order_nodes(id, commands);
    }

    /// Sends the names of the run's nodes to all of its remaining ranks.
    fn order_nodes(&self, id: RunId, commands: &mut Vec<Command>) {
        let Some(run) = &self.tasks[id.task as usize].run else {
            return;
        };
        let names = self.node_names_of(run);
        for rank in run
            .ranks
            .values()
            .filter(|rank| rank.end.is_none() && rank.removal.is_none())
        {
            let (run, nodes) = (id, names.clone());
            self.order(rank.pilot, Order::Nodes { run, nodes }, commands);
        }
    }

    /// The names of a run's nodes, by rank.
    pub(super) fn node_names_of(&self, run: &Run) -> Vec<String> {
        let nodes = run.nodes.iter();
        nodes
            .map(|node| self.pilots.name(*node).to_owned())
            .collect()
    }

    fn order(&self, pilot: PilotId, order: Order, commands: &mut Vec<Command>) {
        commands.extend(
            self.pilots
                .link(pilot)
                .map(|link| Command::Order { link, order }),
        );
    }

    /// Whether a node is available and no run occupies it.
    fn is_free(&self, node: u32) -> bool {
        let mut runs = self.tasks.iter().filter_map(|task| task.run.as_ref());
        self.pilots.available().contains(&node) && runs.all(|run| !run.occupies(node))
    }

    /// Whether a task can run on these nodes, which are all of one class.
    fn is_enough(&self, task: &Task, nodes: &[u32]) -> bool {
        let Some(first) = nodes.first() else {
            return false;
        };
        let least = task.training.min_nodes_in(self.settings.class_of(*first));
        least.is_some_and(|least| nodes.len() >= least as usize)
    }

    /// Starts a task on the nodes `want`, if everything is ready.
    fn launch(&mut self, index: u32, want: &[u32], commands: &mut Vec<Command>) {
        let task = &self.tasks[index as usize];
        let is_ready = self.mode != Mode::Stopping
            && !self.is_capped(self.now)
            && self.is_enough(task, want)
            && task.not_before.is_none()
            && want.len() <= self.room(index)
            && want.iter().all(|node| self.is_free(*node));
        if !is_ready {
            return;
        }
        let style = task.submission.launch;
        let ranks = want[..style.ranks(want.len())].iter().filter_map(|node| {
            let pilot = self.pilots.holder(*node)?;
            Some((*node, Rank::new(pilot)))
        });
        let run = Run {
            ranks: ranks.collect(),
            nodes: want.to_vec(),
            stopping: None,
            lost_nodes: false,
        };
        let nodes: Vec<u32> = run.ranks.keys().copied().collect();
        let task = &mut self.tasks[index as usize];
        task.generation += 1;
        task.failed = None;
        task.run = Some(run);
        let (name, generation) = (task.submission.name.clone(), task.generation);
        let nodes_text = counted(want.len(), "node");
        self.say(format!(
            "task {name}: run {generation} starts on {nodes_text}"
        ));
        for node in nodes {
            if let (Some(pilot), Some(order)) =
                (self.pilots.holder(node), self.launch_order(index, node))
            {
                self.order(pilot, order, commands);
            }
        }
    }

    /// The order to launch the rank of a task's run on a node.
    pub(super) fn launch_order(&self, index: u32, node: u32) -> Option<Order> {
        let task = &self.tasks[index as usize];
        let run = task.run.as_ref()?;
        let names = run
            .nodes
            .iter()
            .map(|node| self.pilots.name(*node).to_owned());
        let id = self.run_of(index)?;
        let count = u32::from(PORTS.end - PORTS.start);
        // Consecutive runs of a task have different ports, because the previous run may still occupy its port. Daemons
        // that start within milliseconds of each other on the same machine start from widely separated ports.
        let own = (self.since as u32).wrapping_mul(7919);
        let port = index.wrapping_mul(101).wrapping_add(id.generation);
        let port = own.wrapping_add(port) % count;
        Some(Order::Launch(Box::new(Launch {
            run: id,
            task: task.submission.name.clone(),
            rank: run.nodes.iter().position(|own| *own == node)?,
            nodes: names.collect(),
            class: self.settings.class_name(node).map(str::to_owned),
            port: PORTS.start + u16::try_from(port).ok()?,
            command: task.submission.command.clone(),
            environment: task.submission.environment.clone(),
            done: task.done,
            trial: task.submission.trial.clone(),
        })))
    }
}
