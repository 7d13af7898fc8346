//! Reads groups of tasks from TOML or JSON.
//!
//! A group has a `name`, a list `tasks` of names, and `min_nodes`, `max_nodes` or both: the fewest and
//! the most nodes that its tasks hold together.

use std::collections::BTreeSet;
use std::path::Path;

use super::fields::{Fields, Labels, Report};
use super::node::Node;
use gleaner_core::domain::TaskGroup;
use gleaner_core::domain::task_group::MAX_GROUPS;
use gleaner_core::error::Fault;
use gleaner_solvers::range::short;

/// A group of a file, with the faults found so far.
pub(super) struct GroupDraft<'a> {
    group: TaskGroup,
    report: Report<'a>,
}

/// Reads the groups of a document. Faults of the list as a whole go to `whole`.
pub(super) fn read<'a>(
    path: &'a Path,
    groups: Vec<Node>,
    whole: &mut Report<'_>,
) -> Vec<GroupDraft<'a>> {
    if groups.len() > MAX_GROUPS {
        let found = format!("{} groups", groups.len());
        whole.add("group", found, format!("at most {MAX_GROUPS}"));
        return Vec::new();
    }
    let mut names = BTreeSet::new();
    let mut drafts = Vec::new();
    for (number, group) in (1..).zip(groups) {
        let mut draft = draft(path, number, group);
        let name = &draft.group.name;
        if !name.is_empty() && !names.insert(name.clone()) {
            let found = format!("{name:?}, which an earlier group has");
            draft.report.add("name", found, "every name once");
        }
        drafts.push(draft);
    }
    drafts
}

/// Reads the group with this number.
fn draft(path: &Path, number: usize, group: Node) -> GroupDraft<'_> {
    let mut report = Report::new(path, format!("group {number}"), &Labels::OURS);
    let mut empty = TaskGroup {
        name: String::new(),
        tasks: Vec::new(),
        min_nodes: None,
        max_nodes: None,
    };
    let Node::Table(values) = group else {
        report.add("group", group.to_string(), "a table of fields");
        return GroupDraft {
            group: empty,
            report,
        };
    };
    if let Some((_, Node::Text(name))) = values.iter().find(|(key, _)| key == "name") {
        report.place = format!("group {number} ({name:?})");
    }
    let mut fields = Fields::new(values, report);
    empty.name = fields.text("name").unwrap_or_default();
    empty.tasks = names(&mut fields);
    empty.min_nodes = limit(&mut fields, "min_nodes");
    empty.max_nodes = limit(&mut fields, "max_nodes");
    GroupDraft {
        group: empty,
        report: fields.finish(),
    }
}

/// The names of the group's tasks.
fn names(fields: &mut Fields<'_>) -> Vec<String> {
    const EXPECTED: &str = "a list of names of tasks";
    let Some(Node::List(nodes)) = fields.take("tasks").or(Some(Node::Null)).filter(is_list) else {
        fields.report.add("tasks", "no list of names", EXPECTED);
        return Vec::new();
    };
    let mut names = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Text(name) => names.push(name),
            other => fields.report.add("tasks", other.to_string(), EXPECTED),
        }
    }
    names
}

fn is_list(node: &Node) -> bool {
    matches!(node, Node::List(_))
}

/// A limit on nodes; `None` if there is none, or if it has a fault.
fn limit(fields: &mut Fields<'_>, name: &str) -> Option<u32> {
    if !fields.has(name) {
        return None;
    }
    let value = fields.number(name)?;
    let is_whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    if !is_whole {
        fields
            .report
            .add(name, short(value), "a whole number of nodes");
    }
    is_whole.then_some(value as u32)
}

impl GroupDraft<'_> {
    /// The group, and all of its faults. `tasks` are the names of the tasks of the file.
    pub fn check(mut self, tasks: &BTreeSet<String>) -> (Option<TaskGroup>, Vec<Fault>) {
        let (group, report) = (&self.group, &mut self.report);
        let mut seen = BTreeSet::new();
        for name in &group.tasks {
            if !tasks.contains(name) {
                report.add(
                    "tasks",
                    format!("{name:?}"),
                    "the name of a task of the file",
                );
            } else if !seen.insert(name) {
                report.add(
                    "tasks",
                    format!("{name:?} a second time"),
                    "every task once",
                );
            }
        }
        match (group.min_nodes, group.max_nodes) {
            (None, None) if report.faults.is_empty() => {
                report.add("max_nodes", "no limit", "min_nodes, max_nodes or both");
            }
            (Some(min), Some(max)) if min > max => {
                let expected = format!("at most max_nodes, {max}");
                report.add("min_nodes", min.to_string(), expected);
            }
            _ => {}
        }
        match self.report.faults.is_empty() {
            true => (Some(self.group), Vec::new()),
            false => (None, self.report.faults),
        }
    }
}
