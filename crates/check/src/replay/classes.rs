//! Compares the tables `classes`, `moves` and `class_totals` with the recomputed accounts.

use std::collections::BTreeMap;

use gleaner_domain::NodeClasses;
use gleaner_domain::results::Record;
use gleaner_domain::results::classes::{ClassRow, ClassTotal, MoveRow};
use gleaner_domain::results::replay::{AllocationRow, StepRow};

use super::ledger::Ledger;
use crate::Findings;

/// The recomputed accounts of all classes.
pub(super) struct ClassAccounts {
    names: Vec<String>,
    sizes: Vec<u32>,
    /// The figures of each class since the last row of `steps`.
    step: Vec<Figures>,
    totals: Vec<Figures>,
    /// Number of rows of `classes` compared so far.
    rows: usize,
    /// Number of rows of `moves` compared so far.
    moves: usize,
    /// The moves since the last row of `steps`: the task, and its nodes (class and number) before and after the move.
    moved: Vec<(String, Nodes, Nodes)>,
    /// For each class, the integral of the recorded price over time, and the number of seconds
    /// during which a price was recorded.
    prices: Vec<(f64, f64)>,
    /// For each class, the price in its last row of `classes`.
    price: Vec<Option<f64>>,
}

/// The class and the number of a task's nodes.
type Nodes = (usize, u32);

/// The figures of a class, over one step or over the whole replay.
#[derive(Debug, Clone, Default)]
struct Figures {
    joined: u32,
    left: u32,
    preempted: u32,
    /// Preemptions, including those that cost no progress.
    all_preempted: u32,
    progress: f64,
    idle_node_seconds: f64,
    used_node_seconds: f64,
    moved_in: u32,
    moved_out: u32,
}

impl ClassAccounts {
    pub fn new(classes: &NodeClasses) -> Self {
        let count = classes.names().len();
        ClassAccounts {
            names: classes.names().to_vec(),
            sizes: classes.sizes(),
            step: vec![Figures::default(); count],
            totals: vec![Figures::default(); count],
            rows: 0,
            moves: 0,
            moved: Vec::new(),
            prices: vec![(0.0, 0.0); count],
            price: vec![None; count],
        }
    }

    /// Adds the `seconds` since the last row to the accounts. `idle` is the number of idle nodes of each class during
    /// these seconds.
    pub fn accrue(&mut self, seconds: f64, idle: &[u32]) {
        for (class, idle) in idle.iter().enumerate() {
            self.totals[class].idle_node_seconds += seconds * f64::from(*idle);
            if let Some(price) = self.price[class] {
                let (sum, time) = &mut self.prices[class];
                *sum += price * seconds;
                *time += seconds;
            }
        }
    }

    /// Adds the node-time of a task to the account of its class.
    pub fn hold(&mut self, class: usize, node_seconds: f64) {
        self.totals[class].used_node_seconds += node_seconds;
    }

    pub fn change(&mut self, class: usize, joined: bool) {
        let figures = &mut self.step[class];
        figures.joined += u32::from(joined);
        figures.left += u32::from(!joined);
    }

    pub fn preempt(&mut self, class: usize, costs: bool) {
        self.step[class].preempted += u32::from(costs);
        self.totals[class].all_preempted += 1;
    }

    pub fn progress(&mut self, class: usize, work: f64) {
        self.step[class].progress += work;
        self.totals[class].progress += work;
    }

    /// Records that a task moves to another class.
    pub fn go(&mut self, task: &str, from: Nodes, to: Nodes) {
        self.totals[from.0].moved_out += 1;
        self.totals[to.0].moved_in += 1;
        self.moved.push((task.to_owned(), from, to));
    }
}

impl Ledger<'_> {
    /// Compares the rows of `classes` and `moves` for the event of one row of `steps` with recomputed values. No time
    /// passes after the decision at the last event, so the rows of that event are only partly verified.
    pub(super) fn compare_classes(
        &mut self,
        place: &str,
        row: &StepRow,
        is_last: bool,
        findings: &mut Findings,
    ) {
        let (Some(mut own), Some(written)) = (self.classes.take(), self.written.classes) else {
            return;
        };
        for class in 0..own.names.len() {
            match written.rows.get(own.rows) {
                Some(found) => {
                    self.compare_class(place, row, (class, is_last), &own, found, findings)
                }
                None => findings.add(|| format!("{place}: classes has no row for this event")),
            }
            own.price[class] = written.rows.get(own.rows).and_then(|found| found.price);
            own.rows += 1;
        }
        for (task, from, to) in std::mem::take(&mut own.moved) {
            let expected = MoveRow {
                time: row.time,
                event: row.event,
                task: task.as_str().into(),
                from: own.names[from.0].as_str().into(),
                nodes_before: from.1,
                to: own.names[to.0].as_str().into(),
                nodes_after: to.1,
            };
            let found = written.moves.get(own.moves);
            findings.holds(found == Some(&expected), || {
                format!(
                    "{place}: row {} of moves is {found:?}, expected {expected:?}",
                    own.moves
                )
            });
            own.moves += 1;
        }
        own.step.fill(Figures::default());
        self.classes = Some(own);
    }

    fn compare_class(
        &self,
        place: &str,
        row: &StepRow,
        (class, is_last): (usize, bool),
        own: &ClassAccounts,
        found: &ClassRow,
        findings: &mut Findings,
    ) {
        let (name, figures) = (&own.names[class], &own.step[class]);
        let at = |column: &str| format!("{place}: classes, {name}: {column}");
        findings.equal(at("class"), &*found.class, name.as_str());
        findings.time(at("time"), Some(found.time), Some(row.time));
        findings.equal(at("evt"), found.event, row.event);
        for (column, written, expected) in [
            ("idle", found.nodes_idle, self.idle_by_class[class]),
            ("joined", found.nodes_joined, figures.joined),
            ("left", found.nodes_left, figures.left),
            ("preempted", found.tasks_preempted, figures.preempted),
        ] {
            findings.equal(at(column), written, expected);
        }
        findings.number(at("work"), found.progress, figures.progress);
        findings.holds(found.nodes_used <= found.nodes_idle, || {
            format!("{}: found more used nodes than idle nodes", at("used"))
        });
        let is_price = |price: f64| price >= 0.0 && found.nodes_idle > 0;
        findings.holds(found.price.is_none_or(is_price), || {
            format!(
                "{}: found a negative price, or a price without idle nodes",
                at("price")
            )
        });
        if is_last {
            return;
        }
        let here = || {
            self.active_accounts()
                .filter(|account| account.class == class)
        };
        let used: u32 = here().map(|account| account.held).sum();
        findings.equal(at("used"), found.nodes_used, used);
        let running = here().filter(|account| account.held > 0).count();
        findings.equal(at("tasks"), found.tasks_running as usize, running);
        let cost: f64 = here().map(|account| account.pending).sum();
        findings.number(at("rescale_cost"), found.rescale_cost, cost);
    }

    /// Compares the rows of `class_totals` with the recomputed totals.
    pub(super) fn compare_class_totals(&self, findings: &mut Findings) {
        let (own, written) = match (&self.classes, self.written.classes) {
            (Some(own), Some(written)) => (own, written),
            (None, None) => return,
            (Some(_), None) => {
                return findings
                    .add(|| "classes.parquet is missing, but the log has several classes".into());
            }
            (None, Some(_)) => {
                return findings
                    .add(|| "classes.parquet exists, but the log has only one class".into());
            }
        };
        findings.equal("classes: rows", written.rows.len(), own.rows);
        findings.equal("class_totals: rows", written.totals.len(), own.names.len());
        let mut later = written.moves.iter().skip(own.moves);
        findings.holds(later.all(|row| row.time == self.now), || {
            "moves: found moves that do not appear in the allocations".to_owned()
        });
        let all: f64 = own.totals.iter().map(|figures| figures.progress).sum();
        for (class, found) in written.totals.iter().enumerate().take(own.names.len()) {
            compare_total(own, class, all, found, findings);
        }
        let by_name: BTreeMap<&str, u32> = self
            .inputs
            .log
            .nodes()
            .iter()
            .map(String::as_str)
            .zip(0..)
            .collect();
        let classes = self.written.class_of_node.unwrap_or_default();
        for (node, class) in self.written.nodes.iter().zip(classes) {
            let expected = by_name.get(node.as_str()).zip(self.inputs.classes);
            let expected =
                expected.map_or("", |(node, classes)| &classes.names()[classes.of(*node)]);
            findings.equal(
                format_args!("allocations, node {node:?}: class"),
                class.as_str(),
                expected,
            );
        }
        cover(findings);
    }
}

fn compare_total(
    own: &ClassAccounts,
    class: usize,
    all: f64,
    found: &ClassTotal,
    findings: &mut Findings,
) {
    let (name, figures) = (&own.names[class], &own.totals[class]);
    let at = |column: &str| format!("class_totals, {name}: {column}");
    findings.equal(at("class"), &*found.class, name.as_str());
    findings.equal(at("nodes"), found.nodes, own.sizes[class]);
    for (column, written, expected) in [
        (
            "idle_node_seconds",
            found.idle_node_seconds,
            figures.idle_node_seconds,
        ),
        (
            "used_node_seconds",
            found.used_node_seconds,
            figures.used_node_seconds,
        ),
        ("work", found.work, figures.progress),
    ] {
        findings.number(at(column), written, expected);
    }
    let share = (all > 0.0).then(|| figures.progress / all);
    findings.option(at("work_share"), found.work_share, share);
    findings.equal(at("preemptions"), found.preemptions, figures.all_preempted);
    // The decision at the last event may have moved more tasks, but no allocation shows these moves.
    let is_near = |written: u32, expected: u32| written >= expected;
    findings.holds(
        is_near(found.moved_in, figures.moved_in) && is_near(found.moved_out, figures.moved_out),
        || {
            format!(
                "{} and moved_out: fewer moves than the allocations show",
                at("moved_in")
            )
        },
    );
    let (sum, time) = own.prices[class];
    let price = (time > 0.0).then(|| sum / time);
    findings.option(at("mean_price"), found.mean_price, price);
}

fn cover(findings: &mut Findings) {
    let names = ClassRow::FIELDS.iter().map(|field| field.name);
    findings.covers("classes", names.filter(|name| *name != "price"));
    let why = "only the solver's proof determines the price; the check verifies only that it is at least 0 and that \
               the class has idle nodes";
    findings.not_verified("classes", "price", why);
    findings.covers("allocations", [AllocationRow::CLASS.name]);
    findings.covers("moves", MoveRow::FIELDS.iter().map(|field| field.name));
    findings.covers(
        "class_totals",
        ClassTotal::FIELDS.iter().map(|field| field.name),
    );
}
