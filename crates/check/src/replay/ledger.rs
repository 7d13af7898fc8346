//! Recomputes the accounts of a replay, event by event.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::ClassAccounts;
use super::edges::Edge;
use super::rates::BestRates;
use super::supply::{Known, Supply};
use super::{Inputs, Written, minimums};
use crate::Findings;
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::results::replay::{EventKind, StepRow, StepStatus};
use gleaner_domain::{TrainingTask, Utc};

/// The account of a task.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    pub held: u32,
    /// The class of the task's nodes; if the task holds no nodes, the class of the nodes that it held last.
    pub class: usize,
    pub rate: f64,
    /// Rescale cost, in units of work, that will be charged at the next event.
    pub pending: f64,
    /// Progress since the last event.
    pub progress: f64,
    pub work_done: f64,
    pub active_seconds: f64,
    pub rescales_up: u32,
    pub rescales_down: u32,
    pub preemptions: u32,
    pub lost_up: f64,
    pub lost_down: f64,
    pub lost_preempted: f64,
    pub start: Option<Utc>,
    pub end: Option<Utc>,
    /// Number of nodes that the task has held since the last event.
    held_before: u32,
    /// Node-time and work since the task became active.
    pub spent: Spent,
}

/// The breakdown of node-time and gross work.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub used: f64,
    /// Node-time between the task's completion and the event at which the completion was detected.
    pub after: f64,
    /// Node-time during which the task held fewer nodes than its minimum.
    pub below: f64,
    /// Rate times duration, before costs.
    pub gross: f64,
    pub rescale: f64,
    pub preemption: f64,
    pub after_work: f64,
}

impl Spent {
    /// Node-time during which the task made progress.
    pub fn before(&self) -> f64 {
        self.used - self.after - self.below
    }

    pub fn add(&mut self, other: &Spent) {
        self.used += other.used;
        self.after += other.after;
        self.below += other.below;
        self.gross += other.gross;
        self.rescale += other.rescale;
        self.preemption += other.preemption;
        self.after_work += other.after_work;
    }
}

/// The accounts of a replay, recomputed event by event.
pub(super) struct Ledger<'a> {
    pub inputs: Inputs<'a>,
    pub written: &'a Written<'a>,
    /// The tasks submitted so far.
    pub tasks: Vec<Known>,
    edges: Vec<Edge>,
    /// Index of the first edge that has not yet been applied.
    next_edge: usize,
    pub accounts: Vec<Account>,
    /// Indices of the active tasks.
    pub active: Vec<u32>,
    pub supply: Supply<'a>,
    /// Whether the tables list tasks other than those that follow from the inputs. If so, the accounts cannot be
    /// recomputed any further.
    is_lost: bool,
    /// The class of each node; 0 for all nodes if there are no classes.
    node_class: Vec<usize>,
    /// The accounts by class; `None` if the log has only one class.
    pub classes: Option<ClassAccounts>,
    /// Whether each node is idle.
    idle: Vec<bool>,
    /// The task that holds each node.
    holder: Vec<Option<u32>>,
    pub idle_count: u32,
    /// Number of idle nodes of each class.
    pub idle_by_class: Vec<u32>,
    pub start: Utc,
    pub now: Utc,
    /// Index, in the log, of the last event that was processed.
    pub event: usize,
    /// Whether the replay ended because no tasks remained.
    pub is_over: bool,
    pub idle_node_seconds: f64,
    pub active_seconds: f64,
    /// Idle node-time of each class while tasks were active.
    pub active_idle: Vec<f64>,
    /// Node-time and work of all tasks.
    pub spent: Spent,
    /// Number of events at which nodes left while tasks were active, and number of tasks that lost progress at these
    /// events.
    pub hits: (u64, u64),
    /// Number of events at which the groups' minimum numbers of nodes could not be met; `None` if unknown.
    pub short: Option<usize>,
    pub rates: BestRates,
    /// The work that the active tasks would have done if they had always worked at the best total rate on the idle
    /// nodes. `None` if the rates take too long to compute.
    pub fluid_work: Option<f64>,
    /// For each set of tasks, the number of seconds during which these tasks, and no others, were active. The key lists
    /// the tasks' indices in the file, in ascending order.
    pub spans: BTreeMap<Vec<u32>, f64>,
}

/// The expected figures of a row of `steps`.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub progress: f64,
    pub nodes_left: u32,
    pub nodes_joined: u32,
    pub tasks_preempted: u32,
    pub preemption_cost: f64,
    pub rescale_cost: f64,
    /// Idle node-time since the previous row.
    pub idle: f64,
    /// The breakdown of node-time and work since the previous row.
    pub spent: Spent,
    /// Whether the decision changed a task's number of nodes.
    pub is_changed: bool,
}

impl<'a> Ledger<'a> {
    pub fn new(inputs: &Inputs<'a>, written: &'a Written<'a>, edges: Vec<Edge>) -> Self {
        let log = inputs.log;
        let start = log.times().first().copied().unwrap_or(Utc(0));
        let nodes = 0..log.nodes().len() as u32;
        let classes = inputs.classes;
        let node_class: Vec<usize> = nodes
            .map(|node| classes.map_or(0, |classes| classes.of(node)))
            .collect();
        let most = most_idle(inputs, &node_class);
        let several = classes.filter(|classes| classes.names().len() > 1);
        Ledger {
            classes: several.map(ClassAccounts::new),
            node_class,
            idle_by_class: vec![0; most.len()],
            inputs: *inputs,
            written,
            tasks: Vec::new(),
            edges,
            next_edge: 0,
            accounts: vec![Account::default(); written.tasks.len()],
            active: Vec::new(),
            supply: Supply::new(inputs, written.search, start),
            is_lost: false,
            idle: vec![false; log.nodes().len()],
            holder: vec![None; log.nodes().len()],
            idle_count: 0,
            start,
            now: start,
            event: 0,
            is_over: false,
            idle_node_seconds: 0.0,
            active_seconds: 0.0,
            active_idle: vec![0.0; most.len()],
            spent: Spent::default(),
            hits: (0, 0),
            short: Some(0),
            rates: BestRates::new(most.into_iter().map(|most| most + 1).collect()),
            fluid_work: Some(0.0),
            spans: BTreeMap::new(),
        }
    }

    /// The accounts of the active tasks.
    pub fn active_accounts(&self) -> impl Iterator<Item = &Account> {
        let account = |&task: &u32| &self.accounts[task as usize];
        self.active.iter().map(account)
    }

    /// The entry of the task file from which a task of the replay is derived.
    pub fn definition(&self, task: u32) -> &'a TrainingTask {
        &self.inputs.set[self.tasks[task as usize].origin as usize]
    }

    /// Recomputes the accounts row by row, and compares them with `steps`. Returns false if the verification cannot
    /// continue.
    ///
    /// # Errors
    /// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the check is stopped.
    pub fn follow(&mut self, observer: &dyn Observer, findings: &mut Findings) -> Result<bool> {
        self.begin(findings);
        let steps = self.written.steps;
        let mut is_followed = !self.is_lost;
        for (index, row) in steps.iter().enumerate() {
            check_stop(observer)?;
            observer.progress(index, steps.len());
            is_followed = is_followed && self.step(index, row, findings) && !self.is_lost;
            if !is_followed {
                break;
            }
        }
        if is_followed {
            self.cover_steps(findings);
            let left = self.edges.len() - self.next_edge;
            findings.holds(left == 0, || {
                format!(
                    "allocations: found {left} starts and ends after the last event ({})",
                    self.now.at_offset(0)
                )
            });
            findings.equal("tasks: rows", self.written.tasks.len(), self.tasks.len());
        }
        Ok(is_followed && self.written.tasks.len() == self.tasks.len())
    }

    /// Processes event 0: the first tasks become active and get their first nodes. Each of these tasks pays the cost of
    /// a start.
    fn begin(&mut self, findings: &mut Findings) {
        for change in self.inputs.log.changes(0) {
            let node = change.node() as usize;
            self.idle[node] = change.idle();
            self.idle_count += u32::from(change.idle());
            self.idle_by_class[self.node_class[node]] += u32::from(change.idle());
        }
        self.open_round(findings);
        self.admit(findings);
        self.apply_edges("event 0", findings);
        self.compare_groups("event 0", findings);
        for &task in &self.active {
            let definition = &self.inputs.set[self.tasks[task as usize].origin as usize];
            let account = &mut self.accounts[task as usize];
            account.rate = definition.rate_in(account.class, account.held);
            account.pending = account.rate * definition.rescale_up;
            if account.rate > 0.0 {
                account.lost_up += definition.rescale_up;
            }
        }
    }

    /// Recomputes the accounts up to one row of `steps` and compares them with the row. Returns false if the
    /// verification cannot continue.
    fn step(&mut self, index: usize, row: &StepRow, findings: &mut Findings) -> bool {
        let place = format!("steps, row {index} ({})", row.time.at_offset(0));
        if row.time <= self.now {
            let why = "several events happen at the same time, so the effect of each is unknown";
            findings.not_verified("steps", format!("row {index} and later"), why);
            return false;
        }
        if !self.is_next_event(&place, row, findings) {
            return false;
        }
        let rate_before: f64 = self.active_accounts().map(|account| account.rate).sum();
        let mut expected = Expected::default();
        if let Some(classes) = &mut self.classes {
            classes.accrue(row.time.seconds_since(self.now), &self.idle_by_class);
        }
        self.accrue(row.time, &mut expected);
        if row.kind == EventKind::Nodes {
            self.take_changes(&mut expected);
        }
        self.settle(row.kind, &mut expected);
        self.spent.add(&expected.spent);
        self.admit(findings);
        self.repeat(findings);
        let is_last = index + 1 == self.written.steps.len();
        let before: Vec<(u32, usize)> = self
            .active_accounts()
            .map(|account| (account.held, account.class))
            .collect();
        self.apply_edges(&place, findings);
        self.is_over = self.active.is_empty() && self.supply.is_empty();
        // All allocations end with the replay. These ends are not rescalings.
        if !is_last {
            self.charge(&before, &mut expected);
        }
        self.compare_classes(&place, row, is_last, findings);
        self.compare_counts(&place, row, &expected, findings);
        self.compare_status(&place, row, is_last, &expected, findings);
        if self.is_over {
            findings.holds(is_last, || {
                format!("{place}: no task remains, but more rows follow")
            });
            findings.number(format_args!("{place}: Rate"), row.rate, rate_before);
            self.compare_nothing(&place, row, findings);
        } else if !is_last {
            self.compare_allocation(&place, row, &expected, findings);
        } else if row.status == StepStatus::Trivial {
            findings.number(format_args!("{place}: Rate"), row.rate, 0.0);
            self.compare_nothing(&place, row, findings);
        } else {
            let why = "the decision at the last event has no duration, so no allocation shows it";
            for column in ["Rate", "ReScost", "nJrun", "nNrun"] {
                findings.not_verified("steps", format!("last row: {column}"), why);
            }
        }
        true
    }

    /// Counts this decision if the groups' minimum numbers of nodes could not be met.
    pub fn count_short(&mut self) {
        let groups = self.inputs.groups;
        if self.idle_count == 0 || groups.iter().all(|group| group.min_nodes.is_none()) {
            return;
        }
        let active: Vec<&TrainingTask> = self.active.iter().map(|&t| self.definition(t)).collect();
        let can = match self.inputs.classes {
            None => minimums::can_be_had(groups, &active, self.idle_count),
            Some(_) => None,
        };
        self.short = self
            .short
            .zip(can)
            .map(|(short, can)| short + usize::from(!can));
    }

    /// Adds the time and the work since the last event to the accounts.
    fn accrue(&mut self, time: Utc, expected: &mut Expected) {
        let seconds = time.seconds_since(self.now);
        expected.idle = seconds * f64::from(self.idle_count);
        self.idle_node_seconds += expected.idle;
        if !self.active.is_empty() {
            self.active_seconds += seconds;
            for (sum, idle) in self.active_idle.iter_mut().zip(&self.idle_by_class) {
                *sum += seconds * f64::from(*idle);
            }
            self.book_best(seconds);
        }
        for &task in &self.active {
            let definition = &self.inputs.set[self.tasks[task as usize].origin as usize];
            let account = &mut self.accounts[task as usize];
            account.progress = seconds * account.rate - account.pending;
            account.active_seconds += seconds;
            account.held_before = account.held;
            let used = seconds * f64::from(account.held);
            let least = definition.min_nodes_in(account.class);
            let is_below = least.is_none_or(|least| account.held < least);
            if let Some(classes) = &mut self.classes {
                classes.hold(account.class, used);
            }
            let spent = Spent {
                used,
                below: if is_below { used } else { 0.0 },
                gross: seconds * account.rate,
                rescale: account.pending,
                ..Spent::default()
            };
            account.spent.add(&spent);
            expected.spent.add(&spent);
        }
        self.now = time;
    }

    /// Adds to `fluid_work` the largest amount of work that the active tasks could do in `seconds`.
    fn book_best(&mut self, seconds: f64) {
        let members = self.active.iter();
        let mut members: Vec<u32> = members.map(|&t| self.tasks[t as usize].origin).collect();
        members.sort_unstable();
        let rates = self.rates.of(self.inputs.set, &members);
        let best = rates.map(|rates| rates.at(&self.idle_by_class));
        self.fluid_work = self
            .fluid_work
            .zip(best)
            .map(|(work, best)| work + best * seconds);
        *self.spans.entry(members).or_default() += seconds;
    }

    /// Processes the nodes that become busy or idle at the current event. A task pays the cost of a preemption once,
    /// regardless of how many nodes it loses.
    fn take_changes(&mut self, expected: &mut Expected) {
        let mut preempted = BTreeSet::new();
        for change in self.inputs.log.changes(self.event) {
            let node = change.node() as usize;
            self.idle[node] = change.idle();
            let class = self.node_class[node];
            if let Some(classes) = &mut self.classes {
                classes.change(class, change.idle());
            }
            if change.idle() {
                expected.nodes_joined += 1;
                self.idle_count += 1;
                self.idle_by_class[class] += 1;
                continue;
            }
            expected.nodes_left += 1;
            self.idle_count -= 1;
            self.idle_by_class[class] -= 1;
            if let Some(task) = self.holder[node].take() {
                self.accounts[task as usize].held -= 1;
                preempted.insert(task);
            }
        }
        for task in preempted {
            let seconds = self.definition(task).rescale_down;
            let account = &mut self.accounts[task as usize];
            let cost = seconds * account.rate;
            account.progress -= cost;
            account.preemptions += 1;
            account.spent.preemption += cost;
            expected.spent.preemption += cost;
            if let Some(classes) = &mut self.classes {
                classes.preempt(account.class, cost > 0.0);
            }
            if cost > 0.0 {
                account.lost_preempted += seconds;
                expected.tasks_preempted += 1;
                expected.preemption_cost += cost;
            }
        }
        self.hits.0 += u64::from(expected.nodes_left > 0 && !self.active.is_empty());
        self.hits.1 += u64::from(expected.tasks_preempted);
    }

    /// Adds the progress to the work done. Tasks that have done all their work finish.
    fn settle(&mut self, kind: EventKind, expected: &mut Expected) {
        let mut finished = Vec::new();
        for &task in &self.active {
            let work = self.tasks[task as usize].work;
            let account = &mut self.accounts[task as usize];
            account.work_done += account.progress;
            // Completion times are rounded to whole nanoseconds, so the work done may be slightly below the total.
            let slack = match kind {
                EventKind::Completion if work.is_finite() => 1e-9 * work,
                _ => 0.0,
            };
            if account.work_done + slack >= work {
                let more = account.work_done - work;
                account.progress -= more;
                account.work_done = work;
                account.end = Some(self.now);
                finished.push(task);
                let mut spent = Spent {
                    after_work: more,
                    ..Spent::default()
                };
                if account.rate > 0.0 {
                    spent.after = f64::from(account.held_before) * (more / account.rate);
                }
                account.spent.add(&spent);
                expected.spent.add(&spent);
            }
            expected.progress += account.progress;
            if let Some(classes) = &mut self.classes {
                classes.progress(account.class, account.progress);
            }
        }
        if let Supply::Search(trials) = &mut self.supply {
            for &task in &finished {
                if let Some(more) = trials.finish(task, self.now) {
                    self.tasks[task as usize].work += more;
                    self.accounts[task as usize].end = None;
                }
            }
        }
        let accounts = &self.accounts;
        self.active
            .retain(|&task| accounts[task as usize].end.is_none());
    }

    /// Activates waiting tasks until the maximum number of active tasks is reached.
    fn admit(&mut self, findings: &mut Findings) {
        while !self.is_lost && self.active.len() < self.written.summary.max_tasks {
            let next = match &mut self.supply {
                Supply::Listed(listed) => listed.next(self.now),
                Supply::Search(trials) => {
                    let coming = trials.next(self.now);
                    coming.map(|coming| {
                        let known = Known {
                            origin: coming.origin,
                            name: coming.name,
                            submit: self.now,
                            deadline: self.inputs.set[coming.origin as usize].deadline,
                            work: coming.work,
                        };
                        self.learn(vec![known], findings);
                        self.tasks.len() as u32 - 1
                    })
                }
            };
            match next {
                Some(task) if !self.is_lost => self.active.push(task),
                _ => break,
            }
        }
    }

    /// Opens the next round once all tasks of the previous round have been admitted and there is
    /// room for more active tasks.
    fn repeat(&mut self, findings: &mut Findings) {
        let set = self.inputs.set.len();
        let most = self.written.summary.max_tasks.min(set);
        let has_room = self.supply.is_empty() && self.active.len() < most;
        if self.inputs.repeat && has_room && self.open_round(findings) {
            self.admit(findings);
        }
    }

    /// Adds the tasks of a new round. Returns false if there are no tasks left to add.
    fn open_round(&mut self, findings: &mut Findings) -> bool {
        let next = self.tasks.len() as u32;
        let Supply::Listed(listed) = &mut self.supply else {
            return false;
        };
        let Some(round) = listed.round(self.now, next) else {
            return false;
        };
        self.learn(round, findings);
        true
    }

    /// Adds tasks, which must match the next rows of the table `tasks`.
    fn learn(&mut self, tasks: Vec<Known>, findings: &mut Findings) {
        for task in tasks {
            let row = self.written.tasks.get(self.tasks.len());
            let name = row.map(|row| row.name.as_str());
            if name != Some(task.name.as_str()) {
                self.is_lost = true;
                let place = self.tasks.len();
                findings.add(|| {
                    format!(
                        "tasks, row {place}: task is {}, expected {:?}, which is submitted at {}",
                        name.map_or("missing".to_owned(), |name| format!("{name:?}")),
                        task.name,
                        task.submit.at_offset(0)
                    )
                });
            }
            self.tasks.push(task);
        }
    }

    /// Processes the allocations that start or end now.
    fn apply_edges(&mut self, place: &str, findings: &mut Findings) {
        while let Some(&edge) = self.edges.get(self.next_edge)
            && edge.time <= self.now
        {
            self.next_edge += 1;
            findings.holds(edge.time == self.now, || {
                format!(
                    "{place}: an allocation begins or ends before this row, at {}, but there is no event at that time",
                    edge.time.at_offset(0)
                )
            });
            let (node, name) = (
                edge.node as usize,
                &self.inputs.log.nodes()[edge.node as usize],
            );
            let task = &self.written.tasks[edge.task as usize].name;
            if edge.task as usize >= self.tasks.len() {
                self.is_lost = true;
                findings
                    .add(|| format!("{place}: task {task:?} gets a node before it is submitted"));
                return;
            }
            let account = &mut self.accounts[edge.task as usize];
            if edge.starts {
                findings.holds(self.idle[node] && self.holder[node].is_none(), || {
                    let why = if self.idle[node] {
                        "held by another task"
                    } else {
                        "busy"
                    };
                    format!("{place}: task {task:?} gets node {name}, which is {why}")
                });
                findings.holds(self.active.contains(&edge.task), || {
                    format!("{place}: task {task:?} gets node {name}, but the task is not active")
                });
                let class = self.node_class[node];
                findings.holds(account.held == 0 || account.class == class, || {
                    format!("{place}: task {task:?} gets node {name}, but the task holds nodes of another class")
                });
                self.holder[node] = Some(edge.task);
                account.held += 1;
                account.class = class;
                account.start.get_or_insert(self.now);
            } else if self.holder[node] == Some(edge.task) {
                self.holder[node] = None;
                account.held -= 1;
            } else {
                // A node that became busy has already been taken from its task.
                findings.holds(!self.idle[node], || {
                    format!("{place}: task {task:?} loses node {name}, which it does not hold")
                });
            }
        }
    }

    /// Computes the tasks' rescaling costs and new rates after a decision.
    fn charge(&mut self, before: &[(u32, usize)], expected: &mut Expected) {
        for (&task, &(before, class_before)) in self.active.iter().zip(before) {
            let definition = &self.inputs.set[self.tasks[task as usize].origin as usize];
            let account = &mut self.accounts[task as usize];
            let moves = before > 0 && account.held > 0 && account.class != class_before;
            expected.is_changed |= moves || account.held != before;
            let speed = definition.progress_in(class_before, before);
            account.pending = 0.0;
            if moves {
                account.pending = speed * definition.move_seconds();
                account.rescales_up += 1;
                if account.pending > 0.0 {
                    account.lost_up += definition.move_seconds();
                }
                if let Some(classes) = &mut self.classes {
                    let name = &self.tasks[task as usize].name;
                    classes.go(name, (class_before, before), (account.class, account.held));
                }
            } else if account.held > before {
                account.pending = speed * definition.rescale_up;
                account.rescales_up += 1;
                if account.pending > 0.0 {
                    account.lost_up += definition.rescale_up;
                }
            } else if account.held < before {
                account.pending = speed * definition.rescale_down;
                account.rescales_down += 1;
                if account.pending > 0.0 {
                    account.lost_down += definition.rescale_down;
                }
            }
            account.rate = definition.rate_in(account.class, account.held);
            expected.rescale_cost += account.pending;
        }
    }
}

/// For each class, the largest number of its nodes that are idle at the same time. `node_class` lists the class of each
/// node.
fn most_idle(inputs: &Inputs<'_>, node_class: &[usize]) -> Vec<u32> {
    let classes = inputs.classes.map_or(1, |classes| classes.names().len());
    let (mut idle, mut most) = (vec![0u32; classes], vec![0; classes]);
    for (_, changes) in inputs.log.rows() {
        for change in changes {
            let idle = &mut idle[node_class[change.node() as usize]];
            if change.idle() {
                *idle += 1;
            } else {
                *idle = idle.saturating_sub(1);
            }
        }
        for (most, idle) in most.iter_mut().zip(&idle) {
            *most = (*most).max(*idle);
        }
    }
    most
}
