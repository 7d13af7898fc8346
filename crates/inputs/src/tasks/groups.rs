//! Reads groups of tasks from TOML or JSON.
//!
//! A group has a `name`, a list `tasks` of task names, and `min_nodes`, `max_nodes` or both, which limit the total
//! number of nodes that the group's tasks hold. `max_nodes` may also be a table with the maximum for each class of
//! nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::by_class::ByClass;
use super::fields::{Fields, Report};
use super::node::Node;
use gleaner_domain::TaskGroup;
use gleaner_domain::error::Fault;
use gleaner_domain::task_group::MAX_GROUPS;

/// A group in a file, with the faults found so far.
pub(super) struct GroupDraft<'a> {
    group: TaskGroup,
    report: Report<'a>,
}

/// Reads the groups of a document. Faults of the list as a whole are added to `whole`.
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
            let found = format!("{name:?}, the name of an earlier group");
            draft.report.add("name", found, "unique names");
        }
        drafts.push(draft);
    }
    drafts
}

/// Reads a group. `number` is the group's position in the file, counted from 1.
fn draft(path: &Path, number: usize, node: Node) -> GroupDraft<'_> {
    let mut group = TaskGroup::default();
    let report = match Fields::of_table(path, "group", format!("group {number}"), node) {
        Ok(mut fields) => {
            group = TaskGroup {
                name: fields.text("name").unwrap_or_default(),
                tasks: fields
                    .read("tasks", "a list of task names", names)
                    .unwrap_or_default(),
                min_nodes: fields.maybe("min_nodes", limit).flatten(),
                ..TaskGroup::default()
            };
            (group.max_nodes, group.max_by_class) = max_nodes(&mut fields);
            fields.finish()
        }
        Err(report) => report,
    };
    GroupDraft { group, report }
}

/// Reads a list of names.
///
/// # Errors
/// The node is not a list, or a member of the list is not a name. The error contains the invalid node or member.
fn names(node: Node) -> Result<Vec<String>, Node> {
    let Node::List(nodes) = node else {
        return Err(node);
    };
    let name = |node| match node {
        Node::Text(name) => Ok(name),
        other => Err(other),
    };
    nodes.into_iter().map(name).collect()
}

/// Reads a limit on the number of nodes; `None` if it has a fault.
fn limit(fields: &mut Fields<'_>, name: &str) -> Option<u32> {
    fields.whole(name, 0, "a whole number of nodes")
}

/// Reads the maximum over all classes, and the maximum for each class. Both are empty if the group has no maximum or an
/// invalid maximum.
fn max_nodes(fields: &mut Fields<'_>) -> (Option<u32>, BTreeMap<String, u32>) {
    let limit = |fields: &mut Fields<'_>, name: &str| fields.by_class(name, limit);
    match fields.maybe("max_nodes", limit).flatten() {
        Some(ByClass::Same(limit)) => (Some(limit), BTreeMap::new()),
        Some(ByClass::Each(limits)) => (None, limits),
        None => (None, BTreeMap::new()),
    }
}

impl GroupDraft<'_> {
    /// The group, and all of its faults. `tasks` contains the names of all tasks in the file.
    pub fn check(mut self, tasks: &BTreeSet<String>) -> (Option<TaskGroup>, Vec<Fault>) {
        let (group, report) = (&self.group, &mut self.report);
        let mut seen = BTreeSet::new();
        for name in &group.tasks {
            if !tasks.contains(name) {
                report.add(
                    "tasks",
                    format!("{name:?}"),
                    "the name of a task in the file",
                );
            } else if !seen.insert(name) {
                report.add(
                    "tasks",
                    format!("{name:?} a second time"),
                    "each task only once",
                );
            }
        }
        match (group.min_nodes, group.max_nodes) {
            (None, None) if report.faults.is_empty() && group.max_by_class.is_empty() => {
                report.add("max_nodes", "no limit", "min_nodes, max_nodes or both");
            }
            (Some(min), Some(max)) if min > max => {
                let expected = format!("at most {max}, which is max_nodes");
                report.add("min_nodes", min.to_string(), expected);
            }
            _ => {}
        }
        let faults = self.report.faults;
        (faults.is_empty().then_some(self.group), faults)
    }
}
