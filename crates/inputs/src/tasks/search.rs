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
//!
//! [search.space]         # hyperparameters, optional; a distribution or a list of values
//! lr = { log-uniform = { low = 1e-4, high = 0.1 } }
//! ```
//!
//! Each trial trains one of the tasks in the task file. The file of learning curves can name the task of each trial. If
//! there is no such file, or if it does not name the tasks, each trial's task is drawn at random.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gleaner_search::{Algorithm, Family, LearningCurves, Parameter, Plan, Space};

use super::TaskSet;
use super::fields::{Fields, Report};
use super::node::Node;
use crate::learning_curves;
use crate::learning_curves::MeasuredCurves;
use crate::rows::Number;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::words::counted;
use gleaner_domain::{TrainingTask, TrialSearch};
use gleaner_io::{Gatherer, SourceId};

/// An amount of the resource. [`Plan`] checks its range.
const RESOURCE: Number = Number {
    what: "a number",
    range: f64::NEG_INFINITY..=f64::INFINITY,
};

/// A search as described by its file, with the faults found so far.
pub(super) struct SearchDraft<'a> {
    plan: Option<Plan>,
    curves: CurvesDraft,
    space: Space,
    report: Report<'a>,
}

/// The source of the learning curves.
enum CurvesDraft {
    Family(Family),
    File(PathBuf),
}

/// Reads the table `[search]`.
pub(super) fn read(path: &Path, search: Node) -> SearchDraft<'_> {
    let mut fields = match Fields::of_table(path, "search", "search".to_owned(), search) {
        Ok(fields) => fields,
        Err(report) => {
            return SearchDraft {
                plan: None,
                curves: CurvesDraft::Family(Family::default()),
                space: Space::default(),
                report,
            };
        }
    };
    let (curves, space) = (fields.take("curves"), fields.take("space"));
    let plan = plan(&mut fields);
    let mut report = fields.finish();
    SearchDraft {
        plan,
        curves: self::curves(curves, path, &mut report),
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

/// Reads the source of the learning curves, and adds faults to the report.
fn curves(node: Option<Node>, path: &Path, report: &mut Report<'_>) -> CurvesDraft {
    let family = match node {
        None => Family::default(),
        Some(Node::Text(name)) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            return CurvesDraft::File(folder.join(name));
        }
        Some(table @ Node::Table(_)) => {
            serde_json::from_value(table.into_json()).unwrap_or_else(|error| {
                let expected = "the parameters described in docs/SEARCHES.md";
                report.add("curves", error.to_string(), expected);
                Family::default()
            })
        }
        Some(other) => {
            let expected =
                "the name of a file of learning curves, or a table of a family's parameters";
            report.add("curves", other.to_string(), expected);
            Family::default()
        }
    };
    if family.seed != 0 {
        let found = family.seed.to_string();
        let expected = "no seed, because the losses are drawn with the replay's --seed";
        report.add("curves.seed", found, expected);
    }
    for fault in family.validate().err().unwrap_or_default() {
        let field = format!("curves.{}", fault.field);
        report.add(&field, fault.found, fault.expected);
    }
    CurvesDraft::Family(family)
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
    /// learning curves, reads the file and adds it to `sources`. Adds remarks for the user to `notes`.
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
        let measured = match &self.curves {
            CurvesDraft::File(file) if self.report.faults.is_empty() => {
                let loaded = learning_curves::read(file)?;
                sources.extend(loaded.sources);
                Some(loaded.value)
            }
            _ => None,
        };
        let tasks = match &measured {
            Some(measured) => self.trained(measured, set),
            None => Vec::new(),
        };
        let faults = std::mem::take(&mut self.report.faults);
        let is_sound = faults.is_empty();
        faults
            .into_iter()
            .try_for_each(|fault| gatherer.add(fault))?;
        let curves = match (measured, self.curves) {
            (Some(measured), _) => Some(LearningCurves::Table(measured.table)),
            (None, CurvesDraft::Family(family)) => Some(LearningCurves::Family(family)),
            (None, CurvesDraft::File(_)) => None,
        };
        let whole = self.plan.zip(curves).filter(|_| is_sound);
        let search = whole.map(|(plan, curves)| TrialSearch {
            plan,
            space: self.space,
            curves,
            tasks,
        });
        for fault in search.iter().flat_map(TrialSearch::faults) {
            let found = Fault::of(&set.file, fault.found, fault.expected);
            gatherer.add(found.field(&fault.field).at("search"))?;
        }
        notes.extend(search.as_ref().and_then(late_curves));
        set.search = search;
        Ok(())
    }

    /// For each trial of measured learning curves, the index of the task that the trial trains.
    fn trained(&mut self, measured: &MeasuredCurves, set: &TaskSet) -> Vec<u32> {
        let names = set.tasks.iter().map(|task| task.name.as_str());
        let indices: BTreeMap<&str, u32> = names.zip(0..).collect();
        let index_of = |name: &String| indices.get(name.as_str()).copied();
        let unknown = measured
            .tasks
            .iter()
            .position(|name| index_of(name).is_none());
        if let Some(trial) = unknown {
            let name = &measured.tasks[trial];
            let found = format!("task {name:?} of trial {trial} in the learning curves");
            self.report
                .add("curves", found, "the name of a task in the file");
        }
        measured.tasks.iter().filter_map(index_of).collect()
    }
}

/// Returns a remark if measured learning curves start after the first rung. At the first rung, the loss of such a
/// curve's first point is used.
fn late_curves(search: &TrialSearch) -> Option<String> {
    let LearningCurves::Table(table) = &search.curves else {
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
    Some(format!(
        "{} start after their first rung, so the loss of their first point is used at that rung: the curve of trial \
         {trial} starts at {start}, and its first rung is at {rung}",
        counted(late.len(), "learning curve"),
    ))
}

/// The faults that make a task unsuitable for the trials of a search. Each fault states the field, what was found and
/// what was expected.
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
