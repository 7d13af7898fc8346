//! A one-sentence description of a replay for the provider of the machine.

use std::collections::BTreeMap;

use gleaner_document::numbers::{count, hours, large, number};
use gleaner_domain::results::replay::{Summary, TaskRow};
use gleaner_domain::words::{counted, duration, printable};

/// Maximum number of tasks that the sentence names. All rounds of a task count as one task.
const NAMED: usize = 3;

/// The rest of a sentence that begins with "The replay is". The text states how many dedicated nodes would have done
/// the same work, and what was trained. It also states the used part of the idle node-time, and the delays of batch
/// jobs. For example: equal to 31.8 dedicated nodes; 279 training runs of resnet50; 5,120
/// node-hours of 5,400 idle (30,720 GPU-hours, 12,288 kWh, 2,458 EUR); at most 10 s of delay for each of 35 batch jobs.
pub fn meaning(s: &Summary, tasks: &[TaskRow]) -> String {
    let nodes = s.efficiency.map(|efficiency| {
        let nodes = number(efficiency * s.equivalent_nodes);
        format!("equal to {nodes} dedicated nodes")
    });
    let used = format!(
        "{} node-hours of {} idle{}",
        hours(s.used_node_seconds),
        hours(s.idle_node_seconds),
        consumed(s)
    );
    let parts = [nodes, trained(s, tasks), Some(used), delay(s)];
    let sentence = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    // Task names can contain any characters.
    printable(&sentence).into_owned()
}

/// Describes the finished training runs and the work of endless tasks. The rounds `a`, `a#2` and `a#3` of a task count
/// as training runs of `a`, and so do the rounds of its copies `a 1` and `a 2`.
fn trained(s: &Summary, tasks: &[TaskRow]) -> Option<String> {
    if let Some(trials) = s.trials_finished {
        return Some(format!("{} trained to the end", counted(trials, "trial")));
    }
    let mut finished: BTreeMap<&str, usize> = BTreeMap::new();
    let mut endless: Vec<(&str, f64)> = Vec::new();
    for task in tasks {
        let name = training(&task.name);
        if task.end.is_some() {
            *finished.entry(name).or_default() += 1;
        } else if task.work == f64::INFINITY && task.work_done > 0.0 {
            endless.push((name, task.work_done));
        }
    }
    let mut finished: Vec<(&str, usize)> = finished.into_iter().collect();
    finished.sort_by_key(|(_, trainings)| std::cmp::Reverse(*trainings));
    let trainings = finished
        .iter()
        .enumerate()
        .map(|(index, (name, trainings))| match index {
            0 => format!("{} of {name}", counted(*trainings, "training run")),
            _ => format!("{} of {name}", count(*trainings)),
        });
    endless.sort_by(|a, b| b.1.total_cmp(&a.1));
    let work = endless
        .iter()
        .map(|(name, work)| format!("{} units of work of {name}", large(*work)));
    let all: Vec<String> = trainings.chain(work).collect();
    let more = all.len().saturating_sub(NAMED);
    let mut named = all[..all.len().min(NAMED)].join(", ");
    if more > 0 {
        named += &format!(" and {}", counted(more, "other task"));
    }
    (!named.is_empty()).then_some(named)
}

/// The GPU-hours, the energy and its cost, in parentheses; empty if all of them are unknown.
fn consumed(s: &Summary) -> String {
    let currency = s.currency.as_deref().unwrap_or("in energy costs");
    let figures = [
        (s.gpu_hours, "GPU-hours"),
        (s.energy_kwh, "kWh"),
        (s.energy_cost, currency),
    ];
    let known = figures.iter();
    let known = known.filter_map(|(figure, unit)| Some(format!("{} {unit}", number((*figure)?))));
    let known: Vec<String> = known.collect();
    if known.is_empty() {
        String::new()
    } else {
        format!(" ({})", known.join(", "))
    }
}

/// The number of delayed batch jobs and their maximum delay, as text; `None` if they were not counted.
fn delay(s: &Summary) -> Option<String> {
    let seconds = duration(s.hand_back_seconds?);
    let are_events = s.delayed_jobs_are_events == Some(true);
    Some(match s.delayed_jobs? {
        0 => "no batch job was delayed".to_owned(),
        events if are_events => format!(
            "at most {seconds} of delay for the batch jobs of {}",
            counted(events, "event")
        ),
        1 => format!("at most {seconds} of delay for a batch job"),
        jobs => format!(
            "at most {seconds} of delay for each of {} batch jobs",
            count(jobs)
        ),
    })
}

/// The name under which a task was submitted: `a` for its rounds `a`, `a#2` and `a#3`.
pub(crate) fn submitted_name(name: &str) -> &str {
    name.split_once('#').map_or(name, |(name, _)| name)
}

/// The name of a task without the numbers of its round and its copy: `a` for `a 1`, `a 2` and `a 2#3`.
fn training(name: &str) -> &str {
    let name = submitted_name(name);
    let is_number = |copy: &str| !copy.is_empty() && copy.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once(' ') {
        Some((training, copy)) if is_number(copy) => training,
        _ => name,
    }
}
