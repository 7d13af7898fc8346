//! Node classes: the class of each node, the bounds and the curve of a task in each class, and the check that a run
//! stays in one class.

use gleaner_harvest::core::{Curve, InClass, Launch, PilotId, RunId, Submission};

use crate::checks::Invariant;
use crate::noise::{Draw, For, Noise};
use crate::plan::{Act, Plan, TaskPlan};
use crate::program::node_of;
use crate::sabotage::Sabotage;
use crate::world::World;

/// Names of the classes.
pub const NAMES: [&str; 3] = ["old", "new", "newest"];

/// The values that pilots can report instead of their class.
const WRONG: [Option<&str>; 2] = [None, Some("other")];

/// In some plans, divides the nodes into classes, and gives some tasks bounds and a curve for each class.
pub fn divide(plan: &mut Plan) {
    let mut draw = Noise(plan.seed).draw(For::Classes, &[]);
    if draw.percent(65) {
        return;
    }
    let kinds = draw.pick(&[2, 2, 3]);
    plan.settings.classes = NAMES[..kinds].iter().map(|&name| name.to_owned()).collect();
    plan.classes = (0..plan.nodes).map(|_| draw.below(kinds)).collect();
    // Regardless of which nodes have pilots, at least this many of them are in the same class.
    let most = plan.nodes.min(plan.settings.max_pilots).div_ceil(kinds) as u32;
    for task in &mut plan.tasks {
        give_terms(&mut task.submission, most, kinds, &mut draw);
    }
    for _ in 0..draw.between(0, 4) {
        let time = draw.between(plan.start, plan.calm);
        let node = draw.below(plan.nodes);
        let class = draw.pick(&WRONG);
        plan.acts.push((time, Act::Misreport { node, class }));
    }
    plan.acts.sort_by_key(|(time, _)| *time);
}

/// Limits the minimum of a task to `most` nodes. In some cases, also sets the task's cost of moving between classes,
/// and its bounds and curve for each class.
fn give_terms(task: &mut Submission, most: u32, kinds: usize, draw: &mut Draw) {
    task.min_nodes = task.min_nodes.min(most);
    if draw.percent(30) {
        task.classes.move_cost = Some(draw.between(0, 8) as f64);
    }
    if draw.percent(50) {
        return;
    }
    for name in &NAMES[..kinds] {
        let min_nodes = draw.between(1, i64::from(most.min(task.max_nodes))) as u32;
        let max_nodes = draw.between(min_nodes.into(), task.max_nodes.into()) as u32;
        let factor = draw.between(5, 20) as f64 / 10.0;
        let counts = 0..=max_nodes;
        let rates = task.curve.progress.iter().take(counts.clone().count());
        let progress: Vec<f64> = rates.map(|rate| rate * factor).collect();
        let curve = Curve {
            nodes: counts.collect(),
            objective: progress.clone(),
            progress,
        };
        let terms = InClass {
            min_nodes,
            max_nodes,
            curve,
        };
        task.classes.by_name.insert((*name).to_owned(), terms);
    }
}

impl TaskPlan {
    /// Bounds and curve of the task in a class.
    pub fn terms(&self, class: Option<usize>) -> InClass {
        let own = class.and_then(|class| self.submission.classes.by_name.get(NAMES[class]));
        own.cloned().unwrap_or_else(|| InClass {
            min_nodes: self.submission.min_nodes,
            max_nodes: self.submission.max_nodes,
            curve: self.submission.curve.clone(),
        })
    }

    /// The lowest rate on the minimum number of nodes, over all classes, in units of work per second.
    pub fn least_rate(&self) -> f64 {
        let classes = (0..NAMES.len()).map(Some);
        let rates = classes.map(|class| {
            let terms = self.terms(class);
            terms.curve.progress[terms.min_nodes as usize]
        });
        rates.fold(f64::INFINITY, f64::min)
    }
}

impl World {
    /// Index of a node's class.
    pub fn class_of(&self, node: usize) -> Option<usize> {
        self.plan.classes.get(node).copied()
    }

    /// The name of the class that a pilot reports for its node.
    pub fn reported_class(&mut self, pilot: PilotId, node: usize) -> Option<String> {
        let mut class = NAMES[self.class_of(node)?];
        if self.sabotage == Some(Sabotage::WrongClasses) {
            class = NAMES[pilot.0 as usize % 2];
        }
        let reported = self.misreports.remove(&node);
        reported.unwrap_or(Some(class)).map(str::to_owned)
    }

    /// Checks that all nodes of a run are in the same class.
    pub fn check_class(&mut self, run: RunId, nodes: &[String]) {
        let mut classes = nodes.iter().map(|name| self.class_of(node_of(name)));
        let first = classes.next();
        if !classes.all(|class| Some(class) == first) {
            let text = format!("{run} is on nodes of several classes: {nodes:?}");
            self.fail(Invariant::Classes, text);
        }
    }

    /// Checks the class of a run that is being started.
    pub fn check_class_of(&mut self, launch: &Launch) {
        self.check_class(launch.run, &launch.nodes);
        let class = self.class_of(node_of(&launch.nodes[0]));
        let class = class.map(|class| NAMES[class]);
        if launch.class.as_deref() != class {
            let text = format!("{} starts as {:?} on {class:?}", launch.run, launch.class);
            self.fail(Invariant::Classes, text);
        }
    }
}
