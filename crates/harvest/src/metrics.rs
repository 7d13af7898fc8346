//! Formats the daemon's state as metrics in the text format of Prometheus.

use std::fmt::{Display, Write};

use crate::status::{NodeStatus, Status};

/// The states of tasks, in the order in which they are written.
const STATES: [&str; 5] = ["waiting", "active", "finished", "failed", "cancelled"];

/// Formats a status as the text of all metrics.
pub fn text(status: &Status) -> String {
    let mut out = String::new();
    let help = "Nodes that pilots hold.";
    nodes(&mut out, status, "nodes_held", help, |_| true);
    let help = "Nodes assigned to tasks.";
    let is_used = |node: &NodeStatus| node.task.is_some();
    nodes(&mut out, status, "nodes_used", help, is_used);
    let pending = status.pilots_pending;
    gauge(
        &mut out,
        "pilots_pending",
        "Pilots that do not hold a node yet.",
        pending,
    );
    let help = "Pilots that ended because the batch scheduler took their node back.";
    counter(&mut out, "preemptions_total", help, status.preemptions);
    if let Some(handover) = status.handover {
        let help = "Longest time that a preempted pilot took to end, in seconds.";
        gauge(
            &mut out,
            "handover_longest_seconds",
            help,
            handover.longest_s,
        );
    }
    let help = "Node-seconds for which pilots held nodes.";
    counter(
        &mut out,
        "idle_node_seconds_total",
        help,
        status.idle_node_s,
    );
    let help = "Node-seconds for which tasks held nodes.";
    counter(
        &mut out,
        "used_node_seconds_total",
        help,
        status.used_node_s,
    );
    head(&mut out, "tasks", "gauge", "Tasks by state.");
    for state in STATES {
        let count = status.tasks.iter().filter(|t| t.state == state).count();
        line(&mut out, "tasks", &[("state", state)], count);
    }
    tasks(&mut out, status);
    searches(&mut out, status);
    out
}

/// Writes a metric that counts nodes, by class if there are classes.
fn nodes(
    out: &mut String,
    status: &Status,
    name: &str,
    help: &str,
    is_counted: impl Fn(&NodeStatus) -> bool,
) {
    head(out, name, "gauge", help);
    let counted = || status.nodes.iter().filter(|node| is_counted(node));
    if status.classes.is_empty() {
        line(out, name, &[], counted().count());
    }
    for class in &status.classes {
        let own = counted().filter(|node| node.class.as_ref() == Some(class));
        line(out, name, &[("class", class)], own.count());
    }
}

/// Writes the metrics of the tasks that have not ended.
fn tasks(out: &mut String, status: &Status) {
    let open = || {
        status
            .tasks
            .iter()
            .filter(|t| t.state == "waiting" || t.state == "active")
    };
    head(out, "task_nodes", "gauge", "Nodes assigned to a task.");
    for task in open() {
        line(out, "task_nodes", &[("task", &task.name)], task.nodes);
    }
    head(out, "task_done", "gauge", "Work that a task has reported.");
    for task in open() {
        line(out, "task_done", &[("task", &task.name)], task.done);
    }
    head(out, "task_runs_total", "counter", "Runs of a task so far.");
    for task in open() {
        line(
            out,
            "task_runs_total",
            &[("task", &task.name)],
            task.generation,
        );
    }
}

/// Writes the metrics of all searches.
fn searches(out: &mut String, status: &Status) {
    if status.searches.is_empty() {
        return;
    }
    let help = "Trials of a search that have been started, have reached the last rung, or have been stopped.";
    head(out, "search_trials", "gauge", help);
    for search in &status.searches {
        for (state, count) in [
            ("started", search.started),
            ("finished", search.finished),
            ("stopped", search.stopped),
        ] {
            let labels = [("search", search.name.as_str()), ("state", state)];
            line(out, "search_trials", &labels, count);
        }
    }
    let help = "Loss of the best trial of a search.";
    head(out, "search_best_loss", "gauge", help);
    for search in &status.searches {
        if let Some(best) = &search.best {
            line(
                out,
                "search_best_loss",
                &[("search", &search.name)],
                best.loss,
            );
        }
    }
}

fn gauge(out: &mut String, name: &str, help: &str, value: impl Display) {
    head(out, name, "gauge", help);
    line(out, name, &[], value);
}

fn counter(out: &mut String, name: &str, help: &str, value: impl Display) {
    head(out, name, "counter", help);
    line(out, name, &[], value);
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string never fails.
    let _ = writeln!(out, "# HELP gleaner_{name} {help}");
    let _ = writeln!(out, "# TYPE gleaner_{name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &[(&str, &str)], value: impl Display) {
    let labels: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}=\"{}\"", escaped(value)))
        .collect();
    let labels = match labels.as_slice() {
        [] => String::new(),
        labels => format!("{{{}}}", labels.join(",")),
    };
    let _ = writeln!(out, "gleaner_{name}{labels} {value}");
}

/// A label's value, escaped as the format requires.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{BestTrial, NodeStatus, SearchStatus, TaskStatus};

    #[test]
    fn each_metric_has_its_head_and_escaped_labels() {
        let node = |task: Option<&str>| NodeStatus {
            name: "n1".into(),
            class: None,
            task: task.map(Into::into),
            ends: None,
        };
        let task = TaskStatus {
            name: "a\"\\\n".into(),
            groups: Vec::new(),
            state: "active".into(),
            nodes: 1,
            running: 1,
            done: 2.5,
            work: None,
            generation: 3,
            rates: Vec::new(),
            reason: None,
        };
        let status = Status {
            nodes: vec![node(Some("a")), node(None)],
            tasks: vec![task],
            searches: vec![SearchStatus {
                name: "s".into(),
                algorithm: "asha".into(),
                state: "running".into(),
                trials: 9,
                started: 4,
                finished: 0,
                stopped: 0,
                best: Some(BestTrial {
                    trial: 1,
                    resource: 3.0,
                    loss: 0.5,
                    parameters: Default::default(),
                }),
            }],
            idle_node_s: 7.25,
            ..Status::default()
        };
        let classes = vec!["a100".to_owned(), "v100".to_owned()];
        let in_class = NodeStatus {
            class: Some(classes[1].clone()),
            ..node(Some("a"))
        };
        let in_classes = Status {
            classes,
            nodes: vec![in_class],
            ..Status::default()
        };
        let text_in_classes = text(&in_classes);
        let expected =
            "gleaner_nodes_used{class=\"a100\"} 0\ngleaner_nodes_used{class=\"v100\"} 1\n";
        assert!(text_in_classes.contains(expected), "{text_in_classes}");
        let text = text(&status);
        assert!(text.contains("# TYPE gleaner_nodes_held gauge\ngleaner_nodes_held 2\n"));
        assert!(text.contains("gleaner_nodes_used 1\n"));
        assert!(text.contains("gleaner_idle_node_seconds_total 7.25\n"));
        assert!(text.contains("gleaner_tasks{state=\"active\"} 1\n"));
        assert!(text.contains("gleaner_search_trials{search=\"s\",state=\"started\"} 4\n"));
        assert!(text.contains("gleaner_search_best_loss{search=\"s\"} 0.5\n"));
        assert!(text.contains("gleaner_task_done{task=\"a\\\"\\\\\\n\"} 2.5\n"));
        assert!(
            text.lines()
                .all(|line| line.starts_with("gleaner_") || line.starts_with("# "))
        );
    }
}
