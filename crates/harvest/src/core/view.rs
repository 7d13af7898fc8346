//! Converts the state of the core to the status that users see.

use super::tasks::Task;
use super::{Core, Millis, Mode, PilotState, TaskState};
use crate::status::{HandoverStatus, NodeStatus, RateStatus, Status, TaskStatus};

impl Core {
    /// The measured rates of a task.
    fn rates(&self, task: &Task) -> Vec<RateStatus> {
        let rates = task.learner.rates().into_iter();
        let shown = rates.map(|(place, rate)| RateStatus {
            class: self.settings.classes.get(place.class).cloned(),
            nodes: place.nodes,
            rate,
        });
        shown.collect()
    }

    fn group_names(&self, task: &Task) -> Vec<String> {
        let names = task.groups.iter().map(|group| self.groups.name(*group));
        names.map(str::to_owned).collect()
    }

    /// The status that users see.
    pub fn status(&self, now: Millis) -> Status {
        let wanted = self.wanted();
        let task_of = |node: u32| {
            let mut given = wanted.iter();
            let found = given.find(|(_, nodes)| nodes.contains(&node));
            found.map(|(task, _)| self.task_name(*task).to_owned())
        };
        let passed = (now - self.now).max(0) as f64;
        let nodes = self.pilots.available().iter();
        let nodes = nodes.map(|&node| NodeStatus {
            name: self.pilots.name(node).to_owned(),
            class: self.settings.class_name(node).map(str::to_owned),
            task: task_of(node),
            ends: self
                .pilots
                .holder(node)
                .and_then(|pilot| self.pilots.open.get(&pilot)?.ends),
        });
        let nodes: Vec<NodeStatus> = nodes.collect();
        let idle = self.accounts.idle + passed * nodes.len() as f64;
        let used = self.accounts.used + passed * self.used_nodes() as f64;
        let tasks = (0..).zip(&self.tasks).map(|(index, task)| TaskStatus {
            name: task.submission.name.clone(),
            groups: self.group_names(task),
            state: task.state.name().to_owned(),
            // The allocator is informed of the end of a task only at the next decision.
            nodes: match wanted.get(&index) {
                Some(nodes) if !task.state.is_over() => nodes.len() as u32,
                _ => 0,
            },
            running: task.run.as_ref().map_or(0, |run| run.nodes.len() as u32),
            done: task.done,
            work: task.submission.work,
            generation: task.generation,
            rates: self.rates(task),
            reason: match &task.state {
                TaskState::Failed(reason) => Some(reason.clone()),
                _ => None,
            },
        });
        Status {
            now,
            since: self.since,
            mode: match self.mode {
                Mode::Running => "running",
                Mode::Draining => "draining",
                Mode::Stopping => "stopping",
            }
            .to_owned(),
            classes: self.settings.classes.clone(),
            nodes,
            pilots_pending: self.pilots.count(PilotState::Requested) as u64,
            preemptions: self.accounts.preemptions,
            handover: self.handover(),
            tasks: tasks.collect(),
            searches: self.search_status(),
            decisions: self.decisions.clone(),
            idle_node_s: idle / 1000.0,
            used_node_s: used / 1000.0,
        }
    }

    /// The times for which preempted pilots kept their nodes; `None` if no preempted pilot has ended.
    fn handover(&self) -> Option<HandoverStatus> {
        let accounts = &self.accounts;
        let seconds = |ms: Millis| ms as f64 / 1000.0;
        (accounts.handovers > 0).then(|| HandoverStatus {
            mean_s: seconds(accounts.handover_ms) / accounts.handovers as f64,
            longest_s: seconds(accounts.longest_handover_ms),
        })
    }
}
