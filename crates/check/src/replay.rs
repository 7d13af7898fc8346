//! A replay's tables against each other, the log and the tasks.
//!
//! The allocations say which task held which node from when to when. From them, the log and the tasks
//! the accounts are kept once more, event by event: progress, preemptions, rescale costs, completions.
//! Every row of `steps` and `tasks` and every sum of `summary.json` must agree.
//!
//! Two things are not in the tables. What the last decision allocated has no length in time, so its
//! costs are not verified. Events at the same time as another one end the verification, as it cannot
//! be told which of them changed what; this is remarked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use gleaner_core::domain::{EventLog, TaskGroup, Time, TrainingTask};
use gleaner_core::results::Named;
use gleaner_core::results::replay::{
    AllocationRow, EventKind, StepRow, StepStatus, Summary, TaskRow,
};

/// What a replay wrote.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// `steps`.
    pub steps: &'a [StepRow],
    /// `tasks`.
    pub tasks: &'a [TaskRow],
    /// `allocations`, by indices into `tasks` and `nodes`.
    pub allocations: &'a [AllocationRow],
    /// Names of the nodes that allocations name.
    pub nodes: &'a [String],
    /// `summary.json`.
    pub summary: &'a Summary,
}

/// Verifies what a replay of `log` and `set`, with limits on groups of its tasks, wrote.
pub fn replay(
    log: &EventLog,
    set: &[TrainingTask],
    groups: &[TaskGroup],
    written: &Written<'_>,
) -> Findings {
    let mut findings = Findings::default();
    let Some(edges) = edges(log, written, &mut findings) else {
        return findings;
    };
    let Some(tasks) = definitions(set, written, &mut findings) else {
        return findings;
    };
    let mut ledger = Ledger::new(log, tasks, written, edges);
    ledger.groups = groups;
    ledger.begin(&mut findings);
    let is_whole = written
        .steps
        .iter()
        .enumerate()
        .all(|(index, row)| ledger.step(index, row, &mut findings));
    if is_whole {
        ledger.compare_tasks(&mut findings);
        ledger.compare_summary(&mut findings);
    }
    findings
}

/// A task gets or loses a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    time: Time,
    /// Ends of holds come before starts.
    starts: bool,
    /// Index in the log.
    node: u32,
    task: u32,
}

/// The starts and ends of all allocations in the order of time, with the nodes' indices in the log.
fn edges(log: &EventLog, written: &Written<'_>, findings: &mut Findings) -> Option<Vec<Edge>> {
    let by_name: BTreeMap<&str, u32> = log.nodes().iter().map(String::as_str).zip(0..).collect();
    let mut nodes = Vec::with_capacity(written.nodes.len());
    for name in written.nodes {
        match by_name.get(name.as_str()) {
            Some(&node) => nodes.push(node),
            None => findings.add(|| format!("allocations: node {name:?} is not in the log")),
        }
    }
    if nodes.len() < written.nodes.len() {
        return None;
    }
    let mut edges = Vec::with_capacity(2 * written.allocations.len());
    for (row, a) in written.allocations.iter().enumerate() {
        findings.holds(a.from < a.to, || {
            format!("allocations, row {row}: {} is not before {}", a.from, a.to)
        });
        let (node, task) = (nodes[a.node as usize], a.task);
        for (time, starts) in [(a.from, true), (a.to, false)] {
            edges.push(Edge {
                time,
                starts,
                node,
                task,
            });
        }
    }
    edges.sort_unstable();
    Some(edges)
}

/// The definition of every row's task. The task `a#2` is `a`, submitted again. In a search, `a#7.1` is the
/// training of trial 7, which trains `a`, up to rung 1: a part of the work of `a`.
fn definitions<'a>(
    set: &'a [TrainingTask],
    written: &Written<'_>,
    findings: &mut Findings,
) -> Option<Vec<Cow<'a, TrainingTask>>> {
    let (rows, is_search) = (written.tasks, written.summary.search.is_some());
    let by_name: BTreeMap<&str, &TrainingTask> =
        set.iter().map(|task| (task.name.as_str(), task)).collect();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let first = row.name.rsplit_once('#').map(|(name, _)| name);
        let known = by_name.get(row.name.as_str());
        match known.or_else(|| by_name.get(first?)) {
            Some(task) if is_search => {
                findings.holds(row.work <= task.work * (1.0 + 1e-9), || {
                    format!(
                        "tasks, {:?}: its work is more than that of {:?}",
                        row.name, task.name
                    )
                });
                found.push(Cow::Owned(TrainingTask {
                    work: row.work,
                    ..(*task).clone()
                }));
            }
            Some(task) => found.push(Cow::Borrowed(*task)),
            None => findings.add(|| format!("tasks: {:?} is not among the tasks", row.name)),
        }
    }
    (found.len() == rows.len()).then_some(found)
}

/// The account of a task.
#[derive(Debug, Clone, Default)]
struct Account {
    held: u32,
    rate: f64,
    /// Rescale cost that the next event charges.
    pending: f64,
    /// Progress since the last event.
    progress: f64,
    work_done: f64,
    active_seconds: f64,
    node_seconds: f64,
    rescales_up: u32,
    rescales_down: u32,
    preemptions: u32,
    lost_up: f64,
    lost_down: f64,
    lost_preempted: f64,
    start: Option<Time>,
    end: Option<Time>,
}

/// The accounts of a replay, kept event by event.
struct Ledger<'a> {
    log: &'a EventLog,
    written: &'a Written<'a>,
    tasks: Vec<Cow<'a, TrainingTask>>,
    edges: Vec<Edge>,
    groups: &'a [TaskGroup],
    /// The first edge that is not applied yet.
    next_edge: usize,
    accounts: Vec<Account>,
    /// Indices of active tasks.
    active: Vec<u32>,
    /// Tasks that are not submitted yet, the latest first.
    future: Vec<(Time, u32)>,
    /// Tasks that are submitted and wait.
    waiting: BTreeSet<u32>,
    /// Whether each node is idle, and the task that holds it.
    idle: Vec<bool>,
    holder: Vec<Option<u32>>,
    idle_count: u32,
    now: Time,
    /// The log's row of the last event.
    event: usize,
    idle_node_seconds: f64,
    active_seconds: f64,
    rescale_loss: f64,
    preemption_loss: f64,
    /// Events at which nodes left while tasks were active, and the tasks that lost progress at them.
    hits: (u64, u64),
}

/// The figures of a row as they follow.
#[derive(Debug, Default)]
struct Expected {
    progress: f64,
    nodes_left: u32,
    nodes_joined: u32,
    tasks_preempted: u32,
    preemption_cost: f64,
    rescale_cost: f64,
}

impl<'a> Ledger<'a> {
    fn new(
        log: &'a EventLog,
        tasks: Vec<Cow<'a, TrainingTask>>,
        written: &'a Written<'a>,
        edges: Vec<Edge>,
    ) -> Self {
        let submissions = written.tasks.iter().map(|row| row.submit);
        let mut future: Vec<(Time, u32)> = submissions.zip(0..).collect();
        future.sort_unstable_by(|a, b| b.cmp(a));
        Ledger {
            log,
            written,
            accounts: vec![Account::default(); tasks.len()],
            tasks,
            edges,
            groups: &[],
            next_edge: 0,
            active: Vec::new(),
            future,
            waiting: BTreeSet::new(),
            idle: vec![false; log.nodes().len()],
            holder: vec![None; log.nodes().len()],
            idle_count: 0,
            now: log.times().first().copied().unwrap_or(Time(0)),
            event: 0,
            idle_node_seconds: 0.0,
            active_seconds: 0.0,
            rescale_loss: 0.0,
            preemption_loss: 0.0,
            hits: (0, 0),
        }
    }

    /// The accounts of the active tasks.
    fn active_accounts(&self) -> impl Iterator<Item = &Account> {
        let account = |&task: &u32| &self.accounts[task as usize];
        self.active.iter().map(account)
    }

    /// Event 0: the first tasks become active and hold their first nodes, each at the cost of a start.
    fn begin(&mut self, findings: &mut Findings) {
        for change in self.log.changes(0) {
            self.idle[change.node() as usize] = change.idle();
            self.idle_count += u32::from(change.idle());
        }
        self.admit();
        self.apply_edges("event 0", findings);
        self.compare_groups("event 0", findings);
        for &task in &self.active {
            let definition = &self.tasks[task as usize];
            let account = &mut self.accounts[task as usize];
            account.rate = rate(definition, account.held);
            account.pending = account.rate * definition.rescale_up;
            if account.rate > 0.0 {
                account.lost_up += definition.rescale_up;
            }
        }
    }

    /// One row of `steps`. Returns false where the verification cannot go on.
    fn step(&mut self, index: usize, row: &StepRow, findings: &mut Findings) -> bool {
        let place = format!("steps, row {index} ({})", row.time);
        if row.time <= self.now {
            let why =
                "several events are at the same time, so what each of them changed is unknown";
            findings.remark = Some(format!(
                "{place}: {why}; the rows from here on are not verified"
            ));
            return false;
        }
        if !self.is_next_event(&place, row, findings) {
            return false;
        }
        let rate_before: f64 = self.active_accounts().map(|account| account.rate).sum();
        self.accrue(row.time);
        let mut expected = Expected::default();
        if row.kind == EventKind::Nodes {
            self.take_changes(&mut expected);
        }
        self.settle(row.kind, &mut expected);
        self.admit();
        let is_last = index + 1 == self.written.steps.len();
        let before: Vec<u32> = self.active_accounts().map(|account| account.held).collect();
        self.apply_edges(&place, findings);
        let is_over = self.active.is_empty() && self.waiting.is_empty() && self.future.is_empty();
        // All holds end with the replay: they are no rescaling.
        if !is_last {
            self.charge(&before, &mut expected);
        }
        self.compare_counts(&place, row, &expected, findings);
        if is_over && is_last {
            findings.number(format_args!("{place}: Rate"), row.rate, rate_before);
        } else if !is_last {
            self.compare_allocation(&place, row, &expected, findings);
        }
        true
    }

    /// Whether the row is of the next event of the log, or of a completion before that.
    fn is_next_event(&mut self, place: &str, row: &StepRow, findings: &mut Findings) -> bool {
        let expected = match row.kind {
            EventKind::Nodes => self.event + 1,
            EventKind::Completion => self.event,
        };
        findings.equal(format_args!("{place}: evt"), row.event, expected);
        let time = self.log.times().get(row.event).copied();
        let is_at_its_time = match row.kind {
            EventKind::Nodes => time == Some(row.time),
            EventKind::Completion => true,
        };
        findings.holds(is_at_its_time, || {
            format!("{place}: the log has no event {} at this time", row.event)
        });
        self.event = row.event;
        row.event == expected && is_at_its_time
    }

    /// Books the time since the last event.
    fn accrue(&mut self, time: Time) {
        let seconds = time.seconds_since(self.now);
        self.idle_node_seconds += seconds * f64::from(self.idle_count);
        if !self.active.is_empty() {
            self.active_seconds += seconds;
        }
        for &task in &self.active {
            let account = &mut self.accounts[task as usize];
            account.progress = seconds * account.rate - account.pending;
            account.active_seconds += seconds;
            account.node_seconds += seconds * f64::from(account.held);
            self.rescale_loss += account.pending;
        }
        self.now = time;
    }

    /// Nodes leave and join. A task that loses nodes pays once.
    fn take_changes(&mut self, expected: &mut Expected) {
        let mut preempted = BTreeSet::new();
        for change in self.log.changes(self.event) {
            let node = change.node() as usize;
            self.idle[node] = change.idle();
            if change.idle() {
                expected.nodes_joined += 1;
                self.idle_count += 1;
                continue;
            }
            expected.nodes_left += 1;
            self.idle_count -= 1;
            if let Some(task) = self.holder[node].take() {
                self.accounts[task as usize].held -= 1;
                preempted.insert(task);
            }
        }
        for task in preempted {
            let seconds = self.tasks[task as usize].rescale_down;
            let account = &mut self.accounts[task as usize];
            let cost = seconds * account.rate;
            account.progress -= cost;
            account.preemptions += 1;
            if cost > 0.0 {
                account.lost_preempted += seconds;
                expected.tasks_preempted += 1;
                expected.preemption_cost += cost;
            }
        }
        self.preemption_loss += expected.preemption_cost;
        self.hits.0 += u64::from(expected.nodes_left > 0 && !self.active.is_empty());
        self.hits.1 += u64::from(expected.tasks_preempted);
    }

    /// Adds the progress to the work done. Tasks that have done their work are over.
    fn settle(&mut self, kind: EventKind, expected: &mut Expected) {
        for &task in &self.active {
            let work = self.tasks[task as usize].work;
            let account = &mut self.accounts[task as usize];
            account.work_done += account.progress;
            // The time of a completion is a whole number of nanoseconds.
            let slack = match kind {
                EventKind::Completion if work.is_finite() => 1e-9 * work,
                _ => 0.0,
            };
            if account.work_done + slack >= work {
                account.progress -= account.work_done - work;
                account.work_done = work;
                account.end = Some(self.now);
            }
            expected.progress += account.progress;
        }
        let accounts = &self.accounts;
        self.active
            .retain(|&task| accounts[task as usize].end.is_none());
    }

    /// Submitted tasks become active in file order while there is room.
    fn admit(&mut self) {
        while let Some((_, task)) = self.future.pop_if(|(submit, _)| *submit <= self.now) {
            self.waiting.insert(task);
        }
        while self.active.len() < self.written.summary.max_tasks
            && let Some(task) = self.waiting.pop_first()
        {
            self.active.push(task);
        }
    }

    /// Applies what the allocations say of the present time.
    fn apply_edges(&mut self, place: &str, findings: &mut Findings) {
        while let Some(&edge) = self.edges.get(self.next_edge)
            && edge.time <= self.now
        {
            self.next_edge += 1;
            findings.holds(edge.time == self.now, || {
                format!(
                    "{place}: an allocation changes before, at {}, where there is no event",
                    edge.time
                )
            });
            let (node, name) = (edge.node as usize, &self.log.nodes()[edge.node as usize]);
            let task = &self.written.tasks[edge.task as usize].name;
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
                    format!("{place}: task {task:?} gets node {name}, but is not active")
                });
                self.holder[node] = Some(edge.task);
                account.held += 1;
                account.start.get_or_insert(self.now);
            } else if self.holder[node] == Some(edge.task) {
                self.holder[node] = None;
                account.held -= 1;
            } else {
                // A node that left was taken away above.
                findings.holds(!self.idle[node], || {
                    format!("{place}: task {task:?} loses node {name}, which it does not hold")
                });
            }
        }
    }

    /// Costs of rescaling and the new rates.
    fn charge(&mut self, before: &[u32], expected: &mut Expected) {
        for (&task, &before) in self.active.iter().zip(before) {
            let definition = &self.tasks[task as usize];
            let account = &mut self.accounts[task as usize];
            let speed = definition.curve.progress_at(before);
            account.pending = 0.0;
            if account.held > before {
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
            account.rate = rate(definition, account.held);
            expected.rescale_cost += account.pending;
        }
    }

    /// What follows without the decision of this event.
    fn compare_counts(
        &self,
        place: &str,
        row: &StepRow,
        expected: &Expected,
        findings: &mut Findings,
    ) {
        findings.number(
            format_args!("{place}: Thr"),
            row.progress,
            expected.progress,
        );
        findings.number(
            format_args!("{place}: PreCost"),
            row.preemption_cost,
            expected.preemption_cost,
        );
        findings.equal(
            format_args!("{place}: Nleft"),
            row.nodes_left,
            expected.nodes_left,
        );
        findings.equal(
            format_args!("{place}: Njoin"),
            row.nodes_joined,
            expected.nodes_joined,
        );
        findings.equal(
            format_args!("{place}: Npre"),
            row.tasks_preempted,
            expected.tasks_preempted,
        );
        findings.equal(
            format_args!("{place}: nJob"),
            row.tasks_active as usize,
            self.active.len(),
        );
        findings.equal(
            format_args!("{place}: nNd"),
            row.nodes_idle,
            self.idle_count,
        );
    }

    /// What follows from the decision of this event.
    fn compare_allocation(
        &self,
        place: &str,
        row: &StepRow,
        expected: &Expected,
        findings: &mut Findings,
    ) {
        let rate: f64 = self.active_accounts().map(|account| account.rate).sum();
        let used: u32 = self.active_accounts().map(|account| account.held).sum();
        let running = self
            .active_accounts()
            .filter(|account| account.held > 0)
            .count();
        findings.number(format_args!("{place}: Rate"), row.rate, rate);
        findings.number(
            format_args!("{place}: ReScost"),
            row.rescale_cost,
            expected.rescale_cost,
        );
        findings.equal(format_args!("{place}: nNrun"), row.nodes_used, used);
        findings.equal(
            format_args!("{place}: nJrun"),
            row.tasks_running as usize,
            running,
        );
        findings.holds(used <= self.idle_count, || {
            format!(
                "{place}: {used} nodes are held, but {} are idle",
                self.idle_count
            )
        });
        self.compare_groups(place, findings);
        for &task in &self.active {
            let (definition, held) = (
                &self.tasks[task as usize],
                self.accounts[task as usize].held,
            );
            let is_cut = held < definition.min_nodes && row.status == StepStatus::Kept;
            let is_allowed = held == 0
                || is_cut
                || (definition.min_nodes..=definition.max_nodes).contains(&held);
            findings.holds(is_allowed, || {
                format!(
                    "{place}: task {:?} holds {held} nodes, its bounds are {} to {} ({})",
                    definition.name,
                    definition.min_nodes,
                    definition.max_nodes,
                    row.status.name()
                )
            });
        }
    }

    /// No group holds more nodes than it may. Fewest nodes are not verified, as they may be out of
    /// reach.
    fn compare_groups(&self, place: &str, findings: &mut Findings) {
        for group in self.groups {
            let members: BTreeSet<&str> = group.tasks.iter().map(String::as_str).collect();
            let is_member = |task: &&u32| members.contains(&*self.tasks[**task as usize].name);
            let active = self.active.iter().filter(is_member);
            let held: u32 = active.map(|&task| self.accounts[task as usize].held).sum();
            findings.holds(group.max_nodes.is_none_or(|most| held <= most), || {
                format!(
                    "{place}: group {:?} holds {held} nodes, its most are {}",
                    group.name,
                    group.max_nodes.unwrap_or(u32::MAX)
                )
            });
        }
    }

    /// The rows of `tasks`. The last decision may have rescaled tasks once more.
    fn compare_tasks(&self, findings: &mut Findings) {
        let rows = self.written.tasks.iter().zip(&self.accounts);
        for ((row, account), definition) in rows.zip(&self.tasks) {
            let name = |field: &str| format!("tasks, {:?}: {field}", row.name);
            findings.number(name("work_done"), row.work_done, account.work_done);
            findings.number(name("node_seconds"), row.node_seconds, account.node_seconds);
            findings.number(name("active_s"), row.active_seconds, account.active_seconds);
            findings.number(
                name("lost_preempted_s"),
                row.lost_preempted,
                account.lost_preempted,
            );
            findings.equal(name("preemptions"), row.preemptions, account.preemptions);
            let time =
                |time: Option<Time>| time.map_or("missing".to_owned(), |time| time.to_string());
            findings.equal(name("end"), time(row.end), time(account.end));
            if row.name == definition.name {
                findings.equal(
                    name("deadline"),
                    time(row.deadline),
                    time(definition.deadline),
                );
            }
            let is_start = row.start == account.start
                || (account.start.is_none() && row.start == Some(self.now));
            findings.holds(is_start, || {
                format!(
                    "{}: {}, but the allocations give {}",
                    name("start"),
                    time(row.start),
                    time(account.start)
                )
            });
            for (field, written, found) in [
                ("rescales_up", row.rescales_up, account.rescales_up),
                ("rescales_down", row.rescales_down, account.rescales_down),
            ] {
                findings.holds((found..=found + 1).contains(&written), || {
                    format!(
                        "{} is {written}, but the allocations give {found}, or one more at the last event",
                        name(field)
                    )
                });
            }
        }
    }

    /// The sums of `summary.json`.
    fn compare_summary(&self, findings: &mut Findings) {
        let s = self.written.summary;
        let name = |field: &str| format!("summary.json: {field}");
        let sum = |of: fn(&Account) -> f64| self.accounts.iter().map(of).sum::<f64>();
        findings.equal(name("events"), s.events, self.written.steps.len());
        findings.equal(name("tasks"), s.tasks, self.written.tasks.len());
        let finished = self
            .accounts
            .iter()
            .filter(|account| account.end.is_some())
            .count();
        findings.equal(name("tasks_finished"), s.tasks_finished, finished);
        self.compare_deadlines(findings);
        findings.number(
            name("total_work"),
            s.total_work,
            sum(|account| account.work_done),
        );
        findings.number(
            name("used_node_seconds"),
            s.used_node_seconds,
            sum(|account| account.node_seconds),
        );
        findings.number(
            name("idle_node_seconds"),
            s.idle_node_seconds,
            self.idle_node_seconds,
        );
        findings.number(
            name("active_seconds"),
            s.active_seconds,
            self.active_seconds,
        );
        findings.number(name("rescale_loss"), s.rescale_loss, self.rescale_loss);
        findings.number(
            name("preemption_loss"),
            s.preemption_loss,
            self.preemption_loss,
        );
        let (events, tasks) = self.hits;
        findings.option(
            name("tasks_hit_mean"),
            s.tasks_hit_mean,
            (events > 0).then(|| tasks as f64 / events as f64),
        );
        let start = self.log.times().first().copied().unwrap_or(self.now);
        findings.number(
            name("span_seconds"),
            s.span_seconds,
            self.now.seconds_since(start),
        );
        let share = |of: f64| (of > 0.0).then(|| s.total_work / of);
        findings.option(name("efficiency"), s.efficiency, share(s.dedicated_work));
        findings.option(
            name("fluid_efficiency"),
            s.fluid_efficiency,
            share(s.fluid_work),
        );
        findings.holds(s.total_work <= s.fluid_work * (1.0 + 1e-9), || {
            format!(
                "summary.json: total_work is {}, more than the costless bound {}",
                s.total_work, s.fluid_work
            )
        });
        findings.option(
            name("bound_efficiency"),
            s.bound_efficiency,
            s.bound_work.and_then(share),
        );
        if let Some(bound) = s.bound_work {
            findings.holds(s.total_work <= bound * (1.0 + 1e-9), || {
                format!(
                    "summary.json: total_work is {}, more than the bound with hindsight {bound}",
                    s.total_work
                )
            });
        }
        self.compare_completions(start, findings);
    }

    fn compare_deadlines(&self, findings: &mut Findings) {
        let rows = self.written.tasks.iter().zip(&self.accounts);
        let due = rows.filter_map(|(row, account)| Some((row.deadline?, account.end)));
        let due: Vec<(Time, Option<Time>)> = due.collect();
        let is_met = |(deadline, end): &&(Time, Option<Time>)| end.is_some_and(|e| e <= *deadline);
        let met = due.iter().filter(is_met).count();
        let expected = |count: usize| (!due.is_empty()).then_some(count as f64);
        let written = |count: Option<usize>| count.map(|count| count as f64);
        let s = self.written.summary;
        findings.option(
            "summary.json: deadlines",
            written(s.deadlines),
            expected(due.len()),
        );
        findings.option(
            "summary.json: deadlines_met",
            written(s.deadlines_met),
            expected(met),
        );
    }

    fn compare_completions(&self, start: Time, findings: &mut Findings) {
        let s = self.written.summary;
        let rows = self.written.tasks.iter().zip(&self.accounts);
        let ended = rows.filter_map(|(row, account)| Some((row.submit, account.end?)));
        let ended: Vec<(Time, Time)> = ended.collect();
        let mut seconds: Vec<f64> = ended
            .iter()
            .map(|(submit, end)| end.seconds_since(*submit))
            .collect();
        seconds.sort_by(f64::total_cmp);
        let count = seconds.len();
        let mean = (count > 0).then(|| seconds.iter().sum::<f64>() / count as f64);
        let median = (count > 0).then(|| (seconds[(count - 1) / 2] + seconds[count / 2]) / 2.0);
        let last = ended
            .iter()
            .map(|(_, end)| end.seconds_since(start))
            .reduce(f64::max);
        findings.option("summary.json: completion_mean_s", s.completion_mean_s, mean);
        findings.option(
            "summary.json: completion_median_s",
            s.completion_median_s,
            median,
        );
        findings.option("summary.json: completion_last_s", s.completion_last_s, last);
    }
}

/// Work a second on this many nodes; none below the task's minimum.
fn rate(task: &TrainingTask, count: u32) -> f64 {
    match count >= task.min_nodes {
        true => task.curve.progress_at(count),
        false => 0.0,
    }
}
