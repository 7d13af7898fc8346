//! Reads classes from the output of `pbsnodes -av`. The class of a node is the value of a resource.
//!
//! ```text
//! n01
//!      Mom = n01.cluster
//!      state = free
//!      resources_available.gputype = a100
//! ```

use super::assignment::Assignment;
use super::{Choice, numbered};
use gleaner_domain::error::Result;
use gleaner_io::fault::{Place, show};

/// The prefix of resource names.
const PREFIX: &str = "resources_available.";

/// Maximum number of resources that a message lists.
const SHOWN: usize = 20;

/// Whether a line begins the description of a node. Such a line contains only the node's name.
pub(super) fn is_node(line: &str) -> bool {
    let is_name = |c: char| !c.is_whitespace() && !matches!(c, ',' | '=' | '|');
    !line.is_empty() && line.trim_end().chars().all(is_name)
}

/// The name and the value of an attribute of a node; `None` for any other line.
pub(super) fn attribute(line: &str) -> Option<(&str, &str)> {
    if !line.starts_with([' ', '\t']) {
        return None;
    }
    let (name, value) = line.split_once('=')?;
    Some((name.trim(), value.trim()))
}

/// Reads the classes of the nodes. Returns the remedy that a message about nodes without a class
/// suggests.
pub(super) fn read(
    text: &str,
    choice: &Choice<'_>,
    assignment: &mut Assignment<'_>,
) -> Result<String> {
    let Some(resource) = choice.resource else {
        return Err(assignment.whole_fault(
            "a list of PBS nodes",
            "an option that names the resource whose value is the class",
            "add the option, such as --class-resource gputype",
        ));
    };
    let short = resource.strip_prefix(PREFIX).unwrap_or(resource);
    let is_it = |name: &str| name == resource || name.strip_prefix(PREFIX) == Some(short);
    let mut node = None;
    let mut is_found = false;
    for (line, text) in numbered(text) {
        match attribute(text) {
            None if is_node(text) => node = Some(text.trim_end()),
            None => {
                let expected = "the name of a node, or an indented NAME = VALUE";
                assignment.fault(Place::Line(line), "", show(text.as_bytes()), expected)?;
            }
            Some((name, value)) if is_it(name) && !value.is_empty() => {
                is_found = true;
                if let Some(node) = node {
                    let class = assignment.class(value, Place::Line(line))?;
                    assignment.node(class, node);
                }
            }
            Some(_) => {}
        }
    }
    if is_found {
        return Ok(format!(
            "set {resource} on the node, or write the classes as TOML"
        ));
    }
    Err(assignment.whole_fault(
        &format!("no node with the resource {resource}"),
        &format!("a resource of the nodes: {}", resources(text)),
        "name another resource with --class-resource",
    ))
}

/// The names of the resources of the first node.
fn resources(text: &str) -> String {
    let lines = numbered(text).skip(1);
    let attributes = lines.map_while(|(_, line)| attribute(line));
    let mut names: Vec<&str> = attributes
        .filter_map(|(name, _)| name.strip_prefix(PREFIX))
        .take(SHOWN + 1)
        .collect();
    if names.len() > SHOWN {
        names[SHOWN] = "…";
    }
    names.join(", ")
}
