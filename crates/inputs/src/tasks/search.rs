//! Reads the search from a TOML or JSON task file.
//!
//! ```toml
//! [search]
//! algorithm = "asha"     # random, successive-halving, asha, hyperband, median, pbt or bohb
//! trials = 64            # not for hyperband, which derives it from the resources
//! eta = 3                # the best 1/eta of each rung are promoted; default: 3
//! min_resource = 1       # resource of the first rung; default: 1
//! max_resource = 27      # resource of the last rung; the `work` of a task is the work for this resource
//! curves = "losses.csv"  # measured learning curves; or a table of the family's parameters, which are optional
//! losses = ["loss"]      # names of several losses; `curves` is then a table with an entry for each loss
//!
//! [search.space]         # hyperparameters, optional; a distribution or a list of values
//! lr = { log-uniform = { low = 1e-4, high = 0.1 } }
//! ```
//!
//! Each trial trains one of the tasks in the task file. The file of learning curves can name the task of each trial. If
//! there is no such file, or if it does not name the tasks, each trial's task is drawn at random.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_search::{Algorithm, LearningCurves, Parameter, Plan, Space};

use super::TaskSet;
use super::fields::{Fields, Report};
use super::losses::{self, LossDraft};
use super::node::Node;
use crate::rows::Number;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::words::counted;
use gleaner_domain::{TrainingTask, TrialLoss, TrialSearch};
use gleaner_io::{Gatherer, SourceId};

/// An amount of the resource. [`Plan`] checks its range.
const RESOURCE: Number = Number {
    what: "a number",
    range: f64::NEG_INFINITY..=f64::INFINITY,
};

/// A search as described in its file, with the faults found so far.
pub(super) struct SearchDraft<'a> {
    plan: Option<Plan>,
    losses: Vec<LossDraft>,
    space: Space,
    report: Report<'a>,
}

/// Reads the table `[search]`.
pub(super) fn read(path: &Path, search: Node) -> SearchDraft<'_> {
    let mut fields = match Fields::of_table(path, "search", "search".to_owned(), search) {
        Ok(fields) => fields,
        Err(report) => {
            return SearchDraft {
                plan: None,
                losses: Vec::new(),
                space: Space::default(),
                report,
            };
        }
    };
    let (names, curves) = (fields.take("losses"), fields.take("curves"));
    let space = fields.take("space");
    let plan = plan(&mut fields);
    let mut report = fields.finish();
    SearchDraft {
        plan,
        losses: losses::read(names, curves, path, &mut report),
        space: self::space(space, &mut report),
        report,
    }
}

/// Reads the plan. If a field of the plan has a fault, adds the fault to the report and returns `None`.
fn plan(fields: &mut Fields<'_>) -> Option<Plan> {
    let names = Algorithm::ALL.map(|algorithm| algorithm.as_str());
    let expected = format!("one of {}", names.join(", "));
    let algorithm = fields.read("algorithm", expected, |node| match &node {
        Node::Text(name) => name.parse::<Algorithm>().map_err(|_| node),
        _ => Err(node),
    });
    let mut whole =
        |name: &str| fields.maybe(name, |fields, name| fields.whole(name, 0, "a whole number"));
    let (trials, eta) = (whole("trials"), whole("eta"));
    let max_resource = fields.number("max_resource", &RESOURCE);
    let min_resource = fields.maybe("min_resource", |fields, name| {
        fields.number(name, &RESOURCE)
    });
    let defaults = Plan::new(Algorithm::Random, 1.0);
    Some(Plan {
        algorithm: algorithm?,
        trials: trials?,
        eta: eta?.unwrap_or(defaults.eta),
        min_resource: min_resource?.unwrap_or(defaults.min_resource),
        max_resource: max_resource?,
    })
}

/// Reads the hyperparameters, and adds faults to the report.
fn space(node: Option<Node>, report: &mut Report<'_>) -> Space {
    let parameters = match node.map(Node::into_json) {
        None => return Space::default(),
        Some(serde_json::Value::Object(parameters)) => parameters,
        Some(other) => {
            report.add("space", other.to_string(), "a table of hyperparameters");
            return Space::default();
        }
    };
    let mut read = Space::default();
    for (name, value) in parameters {
        match serde_json::from_value::<Parameter>(value.clone()) {
            Ok(parameter) => {
                read.0.insert(name, parameter);
            }
            Err(_) => {
                let expected = "a distribution such as { uniform = { low = 0, high = 1 } }, or a list of values";
                report.add(&format!("space.{name}"), value.to_string(), expected);
            }
        }
    }
    read
}

impl SearchDraft<'_> {
    /// Checks the search against the tasks of the set, and adds it to the set. If the search refers to a file of
    /// learning curves, reads the file and adds it to `sources`. Adds notes for the user to `notes`.
    pub fn check(
        mut self,
        set: &mut TaskSet,
        gatherer: &mut Gatherer,
        sources: &mut Vec<SourceId>,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        for (task, origin) in set.tasks.iter().zip(&set.origins) {
            for (field, found, expected) in faults_of(task) {
                let fault = Fault::of(&set.file, found, expected).field(field);
                self.report.faults.push(fault.at(origin.place.as_str()));
            }
        }
        let drafts = std::mem::take(&mut self.losses);
        let (mut losses, mut tasks) = (Vec::new(), Vec::new());
        if self.report.faults.is_empty() {
            for draft in drafts {
                let (loss, names) = draft.load(sources)?;
                tasks = self.trained(&loss.name, tasks, &names, set);
                losses.push(loss);
            }
        }
        let faults = std::mem::take(&mut self.report.faults);
        let is_sound = faults.is_empty();
        faults
            .into_iter()
            .try_for_each(|fault| gatherer.add(fault))?;
        let plan = self.plan.filter(|_| is_sound);
        let search = plan.map(|plan| TrialSearch {
            plan,
            space: self.space,
            losses,
            tasks,
        });
        for fault in search.iter().flat_map(TrialSearch::faults) {
            let found = Fault::of(&set.file, fault.found, fault.expected);
            gatherer.add(found.field(&fault.field).at("search"))?;
        }
        notes.extend(search.iter().flat_map(late_curves));
        set.search = search;
        Ok(())
    }

    /// For each trial of measured learning curves, the index of the task that the trial trains. `names` are the tasks
    /// named in the curves of this loss, if any. `others` are the tasks named in the curves of earlier losses.
    fn trained(
        &mut self,
        loss: &str,
        others: Vec<u32>,
        names: &[String],
        set: &TaskSet,
    ) -> Vec<u32> {
        let indices: BTreeMap<&str, u32> = set
            .tasks
            .iter()
            .map(|task| task.name.as_str())
            .zip(0..)
            .collect();
        let index_of = |name: &String| indices.get(name.as_str()).copied();
        if let Some(trial) = names.iter().position(|name| index_of(name).is_none()) {
            let name = &names[trial];
            let found = format!("task {name:?} of trial {trial} in the learning curves");
            let expected = "the name of a task in the file";
            self.report.add("curves", found, expected);
        }
        let tasks: Vec<u32> = names.iter().filter_map(index_of).collect();
        let differs = |(own, other): (&u32, &u32)| own != other;
        if let Some(trial) = tasks.iter().zip(&others).position(differs) {
            let found = format!("task {:?} of trial {trial} for {loss}", names[trial]);
            let expected = "the same task as in the learning curves of earlier losses";
            self.report.add("curves", found, expected);
        }
        if tasks.len() > others.len() {
            tasks
        } else {
            others
        }
    }
}

/// Returns a note for each loss whose measured learning curves start after the first rung. At the first rung, the loss
/// at such a curve's first point is used.
fn late_curves(search: &TrialSearch) -> Vec<String> {
    let losses = search.losses.iter();
    losses
        .filter_map(|loss| late_curves_of(loss, search))
        .collect()
}

fn late_curves_of(loss: &TrialLoss, search: &TrialSearch) -> Option<String> {
    let LearningCurves::Table(table) = &loss.curves else {
        return None;
    };
    // Hyperband's brackets have different first rungs, and trials are numbered bracket by bracket.
    let brackets = search.plan.brackets().into_iter();
    let first_rungs = brackets.filter_map(|bracket| bracket.rungs.first().copied());
    let rungs =
        first_rungs.flat_map(|rung| std::iter::repeat_n(rung.resource, rung.trials as usize));
    let late = (0..table.trials()).zip(rungs).filter_map(|(trial, rung)| {
        let start = table.start(trial).filter(|start| *start > rung)?;
        Some((trial, start, rung))
    });
    let late: Vec<_> = late.collect();
    let (trial, start, rung) = late.first()?;
    let of = match search.losses.as_slice() {
        [_] => String::new(),
        _ => format!(" of {}", loss.name),
    };
    Some(format!(
        "the first rung is before the start of {}{of}, so the loss of the first point is used at that rung: the curve \
         of trial {trial} starts at {start}, and its first rung is at {rung}",
        counted(late.len(), "learning curve"),
    ))
}

/// The faults that make a task unsuitable for the trials of a search. Each fault consists of the field, the value found
/// and the value expected.
fn faults_of(
    task: &TrainingTask,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let endless = (
        "work",
        "endless",
        "the work of a complete training run, because the file has a search",
    );
    let submit = (
        "submit",
        "a time",
        "no time, because the search decides when trials start",
    );
    let deadline = (
        "deadline",
        "a time",
        "no time, because trials of a search have no deadline",
    );
    [
        task.is_endless().then_some(endless),
        (task.submit != TrainingTask::FROM_START).then_some(submit),
        task.deadline.map(|_| deadline),
    ]
    .into_iter()
    .flatten()
}
