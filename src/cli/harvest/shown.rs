//! The state of the daemon as text.

use gleaner_domain::words::counted;
use gleaner_harvest::status::{
    BestTrial, HandoverStatus, NodeStatus, SearchStatus, Status, TaskStatus,
};

/// The terms of the summary.
pub const TERMS: [(&str, &str); 5] = [
    ("held", "idle nodes that pilots hold"),
    ("used", "nodes that are given to tasks"),
    ("pending", "requested pilots that do not hold a node yet"),
    (
        "handover",
        "how long preempted pilots kept their nodes: an upper bound on the delay of normal jobs",
    ),
    (
        "harvested",
        "node-hours that tasks used, out of the node-hours that pilots held",
    ),
];

/// The summary of the daemon's state. The last line reports the harvested node-hours.
pub fn summary(status: &Status, url: &str) -> String {
    let count = |state: &str| {
        let tasks = status.tasks.iter();
        tasks.filter(|task| task.state == state).count()
    };
    let states = ["active", "waiting", "finished", "failed", "cancelled"];
    let states = states.map(|state| format!("{} {state}", count(state)));
    let lines = [
        ("mode", status.mode.clone()),
        ("nodes", held(status.nodes.iter())),
        ("classes", classes(status)),
        (
            "pilots",
            format!(
                "{} pending, {} preempted",
                status.pilots_pending, status.preemptions
            ),
        ),
        ("handover", status.handover.map_or(String::new(), handover)),
        ("tasks", states.join(", ")),
        ("page", url.to_owned()),
    ];
    let lines = lines.iter().filter(|(_, text)| !text.is_empty());
    let lines: String = lines
        .map(|(name, text)| format!("{name:<10}{text}\n"))
        .collect();
    let searches = status.searches.iter();
    let searches: String = searches
        .map(|found| format!("{:<10}{}\n", "search", search(found)))
        .collect();
    format!(
        "{lines}{searches}{}\n",
        harvested(status, count("finished"))
    )
}

/// The number of held nodes and the number of used nodes.
fn held<'s>(nodes: impl Iterator<Item = &'s NodeStatus> + Clone) -> String {
    let used = nodes.clone().filter(|node| node.task.is_some());
    format!("{} held, {} used", nodes.count(), used.count())
}

/// The numbers of held and used nodes in each class. The text is empty if there are no classes.
fn classes(status: &Status) -> String {
    let classes = status.classes.iter().map(|class| {
        let own = status.nodes.iter();
        let own = own.filter(|node| node.class.as_ref() == Some(class));
        format!("{class}: {}", held(own))
    });
    classes.collect::<Vec<_>>().join("; ")
}

/// A line that describes a search.
fn search(search: &SearchStatus) -> String {
    let SearchStatus {
        name,
        algorithm,
        state,
        trials,
        started,
        finished,
        stopped,
        best,
    } = search;
    let best = best.as_ref().map_or(String::new(), self::best);
    format!(
        "{name} ({algorithm}, {state}): {started} of {trials} trials started, {stopped} stopped, \
         {finished} finished{best}"
    )
}

fn best(best: &BestTrial) -> String {
    let parameters = best.parameters.iter();
    let parameters: String = parameters
        .map(|(name, value)| format!(", {name} = {value}"))
        .collect();
    let (trial, loss, resource) = (best.trial, best.loss, best.resource);
    format!("; best: trial {trial} with loss {loss} at {resource}{parameters}")
}

fn handover(handover: HandoverStatus) -> String {
    let HandoverStatus { mean_s, longest_s } = handover;
    format!("{mean_s:.1} s on average, {longest_s:.1} s at most")
}

fn harvested(status: &Status, finished: usize) -> String {
    let hours = |seconds: f64| format!("{:.3}", seconds / 3600.0);
    let share = if status.idle_node_s > 0.0 {
        100.0 * status.used_node_s / status.idle_node_s
    } else {
        0.0
    };
    format!(
        "harvested {} of {} idle node-hours ({share:.1} %), {} finished",
        hours(status.used_node_s),
        hours(status.idle_node_s),
        counted(finished, "task")
    )
}

/// A table of tasks.
pub fn tasks(tasks: &[TaskStatus]) -> String {
    if tasks.is_empty() {
        return "no tasks\n".to_owned();
    }
    let names = tasks.iter().map(|task| task.name.len());
    let width = names.max().unwrap_or_default().max("task".len());
    let head = format!("{:<width$}  state      nodes  runs  done\n", "task");
    let rows = tasks.iter().map(|task| {
        let reason = task.reason.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!("  {reason}"));
        format!(
            "{:<width$}  {:<9}  {:>5}  {:>4}  {}{reason}\n",
            task.name,
            task.state,
            nodes(task),
            task.generation,
            done(task),
        )
    });
    head + &rows.collect::<String>()
}

/// The number of nodes of a task: `4`, or `2/4` if it currently runs on 2 nodes, and is given 4.
fn nodes(task: &TaskStatus) -> String {
    if task.nodes == task.running {
        task.nodes.to_string()
    } else {
        format!("{}/{}", task.running, task.nodes)
    }
}

fn done(task: &TaskStatus) -> String {
    match task.work {
        Some(work) => format!("{:.1} % of {work}", 100.0 * task.done / work),
        None => task.done.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_search::Value;

    fn task(name: &str, state: &str, reason: Option<&str>) -> TaskStatus {
        TaskStatus {
            name: name.into(),
            groups: Vec::new(),
            state: state.into(),
            nodes: 4,
            running: 2,
            done: 25.0,
            work: Some(200.0),
            generation: 3,
            rates: Vec::new(),
            reason: reason.map(Into::into),
        }
    }

    #[test]
    fn the_summary_ends_with_what_was_harvested() {
        let status = Status {
            mode: "running".into(),
            nodes: vec![NodeStatus {
                name: "n1".into(),
                class: None,
                task: Some("a".into()),
                ends: None,
            }],
            tasks: vec![task("a", "finished", None), task("b", "active", None)],
            preemptions: 3,
            handover: Some(HandoverStatus {
                mean_s: 1.5,
                longest_s: 2.0,
            }),
            idle_node_s: 7200.0,
            used_node_s: 5400.0,
            ..Status::default()
        };
        let text = summary(&status, "http://127.0.0.1:1/");
        let expected = "mode      running\n\
                        nodes     1 held, 1 used\n\
                        pilots    0 pending, 3 preempted\n\
                        handover  1.5 s on average, 2.0 s at most\n\
                        tasks     1 active, 0 waiting, 1 finished, 0 failed, 0 cancelled\n\
                        page      http://127.0.0.1:1/\n\
                        harvested 1.500 of 2.000 idle node-hours (75.0 %), 1 task finished\n";
        assert_eq!(text, expected);
        let in_classes = Status {
            classes: vec!["a100".into(), "v100".into()],
            nodes: vec![NodeStatus {
                name: "n1".into(),
                class: Some("v100".into()),
                task: None,
                ends: None,
            }],
            ..Status::default()
        };
        let text = summary(&in_classes, "");
        let expected = "\nclasses   a100: 0 held, 0 used; v100: 1 held, 0 used\n";
        assert!(text.contains(expected), "{text}");
        let searching = Status {
            searches: vec![SearchStatus {
                name: "tuning".into(),
                algorithm: "asha".into(),
                state: "running".into(),
                trials: 9,
                started: 5,
                finished: 0,
                stopped: 1,
                best: Some(BestTrial {
                    trial: 3,
                    resource: 9.0,
                    loss: 0.5,
                    parameters: [("depth".into(), Value::Whole(4))].into(),
                }),
            }],
            ..Status::default()
        };
        let expected = "search    tuning (asha, running): 5 of 9 trials started, 1 stopped, 0 finished; \
                        best: trial 3 with loss 0.5 at 9, depth = 4\n";
        let text = summary(&searching, "");
        assert!(text.contains(expected), "{text}");
        let idle = summary(&Status::default(), "");
        assert!(
            idle.ends_with("harvested 0.000 of 0.000 idle node-hours (0.0 %), 0 tasks finished\n")
        );
    }

    #[test]
    fn tasks_are_aligned() {
        let table = tasks(&[
            task("a", "active", None),
            task("longer", "failed", Some("exit code 1")),
        ]);
        let expected = "task    state      nodes  runs  done\n\
                        a       active       2/4     3  12.5 % of 200\n\
                        longer  failed       2/4     3  12.5 % of 200  exit code 1\n";
        assert_eq!(table, expected);
        assert_eq!(tasks(&[]), "no tasks\n");
    }
}
