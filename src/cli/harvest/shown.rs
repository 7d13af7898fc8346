//! The state of the daemon as text.

use gleaner_domain::words::counted;
use gleaner_harvest::status::{Status, TaskStatus};

/// The terms of the summary.
pub const TERMS: [(&str, &str); 4] = [
    ("held", "idle nodes that pilots hold"),
    ("used", "nodes that are given to tasks"),
    ("pending", "pilots that were requested and hold no node yet"),
    (
        "harvested",
        "node-hours that tasks used, of those that pilots held",
    ),
];

/// A summary. Its last line states what was harvested.
pub fn summary(status: &Status, url: &str) -> String {
    let used = status.nodes.iter().filter(|node| node.task.is_some());
    let count = |state: &str| {
        let tasks = status.tasks.iter();
        tasks.filter(|task| task.state == state).count()
    };
    let states = ["active", "waiting", "finished", "failed", "cancelled"];
    let states = states.map(|state| format!("{} {state}", count(state)));
    let lines = [
        ("mode", status.mode.clone()),
        (
            "nodes",
            format!("{} held, {} used", status.nodes.len(), used.count()),
        ),
        (
            "pilots",
            format!(
                "{} pending, {} preempted",
                status.pilots_pending, status.preemptions
            ),
        ),
        ("tasks", states.join(", ")),
        ("page", url.to_owned()),
    ];
    let lines = lines.iter().filter(|(_, text)| !text.is_empty());
    let lines: String = lines
        .map(|(name, text)| format!("{name:<8}{text}\n"))
        .collect();
    format!("{lines}{}\n", harvested(status, count("finished")))
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

/// The nodes of a task, as `4`, or as `2/4` if it runs on fewer nodes than it is given.
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
    use gleaner_harvest::status::NodeStatus;

    fn task(name: &str, state: &str, reason: Option<&str>) -> TaskStatus {
        TaskStatus {
            name: name.into(),
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
                task: Some("a".into()),
                ends: None,
            }],
            tasks: vec![task("a", "finished", None), task("b", "active", None)],
            idle_node_s: 7200.0,
            used_node_s: 5400.0,
            ..Status::default()
        };
        let text = summary(&status, "http://127.0.0.1:1/");
        let expected = "mode    running\n\
                        nodes   1 held, 1 used\n\
                        pilots  0 pending, 0 preempted\n\
                        tasks   1 active, 0 waiting, 1 finished, 0 failed, 0 cancelled\n\
                        page    http://127.0.0.1:1/\n\
                        harvested 1.500 of 2.000 idle node-hours (75.0 %), 1 task finished\n";
        assert_eq!(text, expected);
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
