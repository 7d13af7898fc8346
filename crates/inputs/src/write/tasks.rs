//! Writes task sets as TOML or JSON, in the format that [`crate::tasks`] reads.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_classes::Counts;
use gleaner_search::Plan;
use serde::Serialize;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::tasks::ENDLESS;
use gleaner_domain::{ScalingCurve, TaskGroup, Terms, TrainingTask};
use gleaner_io::files;

use crate::tasks::COUNTS;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchTable>,
    curve: BTreeMap<String, ByClass<'a, Curve<'a>>>,
    task: Vec<Task<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    group: Vec<Group<'a>>,
}

/// One value for all classes of nodes, or a value for each class.
#[derive(Serialize)]
#[serde(untagged)]
enum ByClass<'a, T> {
    Same(T),
    Each(BTreeMap<&'a str, T>),
}

/// The `[search]` table of a task file.
#[derive(Debug, Clone, Serialize)]
pub struct SearchTable {
    /// The algorithm and its settings.
    #[serde(flatten)]
    pub plan: Plan,
    /// Name of the file of learning curves, which is in the same folder as the task file; `None` if losses are drawn at
    /// random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curves: Option<String>,
}

#[derive(Serialize)]
struct Curve<'a> {
    nodes: &'a [u32],
    progress: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<&'a [f64]>,
}

#[derive(Serialize)]
struct Task<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    submit: Option<String>,
    min_nodes: ByClass<'a, u32>,
    max_nodes: ByClass<'a, u32>,
    rescale_up: f64,
    rescale_down: f64,
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    move_cost: Option<f64>,
    work: Work,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<&'static str>,
    curve: String,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    tasks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    min_nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_nodes: Option<ByClass<'a, u32>>,
}

/// An amount of work: a number, or the word `endless`.
#[derive(Serialize)]
#[serde(untagged)]
enum Work {
    Number(f64),
    Word(&'static str),
}

impl Work {
    fn of(task: &TrainingTask) -> Self {
        if task.is_endless() {
            Work::Word(ENDLESS)
        } else {
            Work::Number(task.work)
        }
    }
}

/// Writes tasks to `path`, whose extension is `.toml` or `.json`. Equal curves are written once.
///
/// # Errors
/// [`Error::Usage`] if the path has another extension, and another error if the file cannot be written.
pub fn write(tasks: &[TrainingTask], path: &Path) -> Result<()> {
    write_document(&document(tasks, &[], None), path)
}

/// Like [`write()`], but also writes the groups of the tasks.
///
/// # Errors
/// The extension is neither `.toml` nor `.json`, or the file cannot be written.
pub fn write_grouped(tasks: &[TrainingTask], groups: &[TaskGroup], path: &Path) -> Result<()> {
    write_document(&document(tasks, groups, None), path)
}

/// Like [`write()`], but also writes the search whose trials train the tasks.
///
/// # Errors
/// The extension is neither `.toml` nor `.json`, or the file cannot be written.
pub fn write_search(tasks: &[TrainingTask], search: SearchTable, path: &Path) -> Result<()> {
    write_document(&document(tasks, &[], Some(search)), path)
}

/// The format of a task file.
#[derive(Debug, Clone, Copy)]
enum Form {
    Toml,
    Json,
}

/// The format that a path's extension indicates.
fn form(path: &Path) -> Result<Form> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("toml") => Ok(Form::Toml),
        Some("json") => Ok(Form::Json),
        _ => Err(Error::Usage(format!(
            "cannot tell the format of {}: expected a name ending in .toml or .json",
            path.display()
        ))),
    }
}

/// Checks that [`write()`] supports the extension of a path. Callers use this function to check a
/// path before they have tasks to write.
///
/// # Errors
/// [`Error::Usage`] if the extension is neither `.toml` nor `.json`.
pub fn check_path(path: &Path) -> Result<()> {
    form(path).map(drop)
}

fn write_document(document: &Document<'_>, path: &Path) -> Result<()> {
    let text = match form(path)? {
        Form::Toml => toml::to_string(document).map_err(|e| Error::Run(e.to_string()))?,
        Form::Json => {
            serde_json::to_string_pretty(document).map_err(|e| Error::Run(e.to_string()))? + "\n"
        }
    };
    files::write_bytes(path, text.as_bytes())
}

impl<'a> Curve<'a> {
    fn of(curve: &'a ScalingCurve) -> Self {
        Curve {
            nodes: &curve.nodes,
            progress: &curve.progress,
            objective: (curve.objective != curve.progress).then_some(&curve.objective),
        }
    }
}

/// The curves of a task, each with its class name (`None` for a plain curve). In the file, they are stored together
/// under one curve name.
type CurveKey<'a> = Vec<(Option<&'a str>, &'a ScalingCurve)>;

fn curve_key(task: &TrainingTask) -> CurveKey<'_> {
    let by_name = &*task.classes.by_name;
    if by_name.is_empty() {
        return vec![(None, &task.curve)];
    }
    let curves = by_name.iter();
    curves
        .map(|(class, terms)| (Some(class.as_str()), &terms.curve))
        .collect()
}

impl<'a> ByClass<'a, Curve<'a>> {
    fn of(key: CurveKey<'a>) -> Self {
        match key[..] {
            [(None, curve)] => ByClass::Same(Curve::of(curve)),
            _ => {
                let curves = key.into_iter();
                let named = curves.filter_map(|(class, curve)| Some((class?, Curve::of(curve))));
                ByClass::Each(named.collect())
            }
        }
    }
}

impl<'a> ByClass<'a, u32> {
    /// A bound of a task. It is written as one number if it is the same in all classes.
    fn bound(task: &'a TrainingTask, own: u32, of: fn(&Terms) -> u32) -> Self {
        let by_name = &*task.classes.by_name;
        if by_name.values().all(|terms| of(terms) == own) {
            return ByClass::Same(own);
        }
        let bounds = by_name
            .iter()
            .map(|(class, terms)| (class.as_str(), of(terms)));
        ByClass::Each(bounds.collect())
    }
}

/// The value of the field `counts`, which states the node counts that the task may hold; `None` for the default.
fn counts(task: &TrainingTask) -> Option<&'static str> {
    let counts = task.classes.counts;
    let word = COUNTS.iter().find(|(_, known)| *known == counts)?;
    (counts != Counts::default()).then_some(word.0)
}

impl<'a> Group<'a> {
    fn of(group: &'a TaskGroup) -> Self {
        let by_class = group.max_by_class.iter();
        let by_class = by_class.map(|(class, most)| (class.as_str(), *most));
        let max_nodes = if group.max_by_class.is_empty() {
            group.max_nodes.map(ByClass::Same)
        } else {
            Some(ByClass::Each(by_class.collect()))
        };
        Group {
            name: &group.name,
            tasks: &group.tasks,
            min_nodes: group.min_nodes,
            max_nodes,
        }
    }
}

fn document<'a>(
    tasks: &'a [TrainingTask],
    groups: &'a [TaskGroup],
    search: Option<SearchTable>,
) -> Document<'a> {
    let mut names: BTreeMap<CurveKey<'a>, usize> = BTreeMap::new();
    let task = tasks
        .iter()
        .map(|task| {
            let next = names.len();
            let index = *names.entry(curve_key(task)).or_insert(next);
            Task {
                name: &task.name,
                submit: (task.submit > TrainingTask::FROM_START)
                    .then(|| task.submit.at_offset(0).to_string()),
                min_nodes: ByClass::bound(task, task.min_nodes, |terms| terms.min_nodes),
                max_nodes: ByClass::bound(task, task.max_nodes, |terms| terms.max_nodes),
                rescale_up: task.rescale_up,
                rescale_down: task.rescale_down,
                move_cost: task.classes.move_cost,
                work: Work::of(task),
                priority: (task.priority != 1.0).then_some(task.priority),
                deadline: task
                    .deadline
                    .map(|deadline| deadline.at_offset(0).to_string()),
                counts: counts(task),
                curve: curve_name(index),
            }
        })
        .collect();
    let curve = names
        .into_iter()
        .map(|(key, index)| (curve_name(index), ByClass::of(key)))
        .collect();
    Document {
        search,
        curve,
        task,
        group: groups.iter().map(Group::of).collect(),
    }
}

fn curve_name(index: usize) -> String {
    format!("model{index:02}")
}
