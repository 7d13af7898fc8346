//! Checks the classes of tasks against the classes of a log.

use std::collections::BTreeSet;

use gleaner_domain::error::Result;
use gleaner_domain::objective::Situation;
use gleaner_domain::words::counted;
use gleaner_domain::{EventLog, NodeClasses, Objective, TrainingTask};
use gleaner_replay::Options;

/// Checks that the options support the classes of the log and the tasks. Returns notes about classes that the log
/// lacks, and about tasks that cannot run.
///
/// # Errors
/// Returns [`gleaner_domain::Error::Usage`] if the options do not support classes, or if tasks or groups refer to
/// classes but the log has none.
pub(super) fn check_classes(
    options: &Options,
    tasks: &[TrainingTask],
    log: &EventLog,
) -> Result<Vec<String>> {
    let Some(classes) = options.classes(log, tasks)? else {
        return Ok(Vec::new());
    };
    let known: BTreeSet<&str> = classes.names().iter().map(String::as_str).collect();
    let named = tasks.iter().flat_map(|task| task.classes.by_name.keys());
    let unknown: BTreeSet<&str> = named
        .map(String::as_str)
        .filter(|name| !known.contains(name))
        .collect();
    let mut remarks = Vec::new();
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.into_iter().collect();
        remarks.push(format!(
            "tasks have curves for classes that the log does not have: {} (the log has {})",
            names.join(", "),
            classes.names().join(", ")
        ));
    }
    let idle = |task: &&TrainingTask| {
        let by_name = &task.classes.by_name;
        !by_name.is_empty() && !by_name.keys().any(|name| known.contains(name.as_str()))
    };
    let stranded: Vec<&TrainingTask> = tasks.iter().filter(idle).collect();
    if let Some(first) = stranded.first() {
        remarks.push(format!(
            "{} cannot run, because the log has no nodes of their classes; the first is {}",
            counted(stranded.len(), "task"),
            first.name
        ));
    }
    Ok(remarks)
}

/// Checks that the objective's values are in range for every task in each class that the task uses.
///
/// # Errors
/// Returns [`gleaner_domain::Error::Usage`] if a value is out of range.
pub(super) fn check_objective_in(
    classes: Option<&NodeClasses>,
    objective: &Objective,
    tasks: &[TrainingTask],
    situation: Situation,
) -> Result<()> {
    let Some(classes) = classes else {
        return objective.check(tasks, situation);
    };
    let placed = tasks.iter().map(|task| task.in_classes(classes.names()));
    let placed: Vec<TrainingTask> = placed.flat_map(|task| task.in_each_class()).collect();
    objective.check(&placed, situation)
}
