//! Reads classes from the output of `scontrol show nodes` or `sinfo -N -o "%N %G %f"`.
//!
//! The class of a node is the type of its GPUs, such as `a100` in `Gres=gpu:a100:4`. A node with GPUs of several types
//! has a class such as `a100+v100`. If a node has no GPUs, or if its GPUs have no type, its class is the first of the
//! chosen features that the node has.

use super::assignment::Assignment;
use super::{Choice, numbered};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::fault::Place;

/// The remedy for nodes without a class.
const REMEDY: &str =
    "use --class-feature to list the features that serve as classes, or write the classes as TOML";

/// Possible headers of the `sinfo` column that contains the names of the nodes.
const NAMES: [&str; 3] = ["NODELIST", "HOSTNAMES", "NODE_LIST"];

/// Possible headers of the `sinfo` column that contains the features of the nodes.
const FEATURES: [&str; 3] = ["AVAIL_FEATURES", "ACTIVE_FEATURES", "FEATURES"];

/// A node as Slurm describes it.
#[derive(Debug, Default)]
struct Node<'t> {
    /// The name of the node. In `slurm.conf`, it may be a list of names.
    names: &'t str,
    line: u64,
    resources: Option<&'t str>,
    available: Option<&'t str>,
    active: Option<&'t str>,
}

impl Node<'_> {
    /// The class of the node; `None` if it has neither GPUs with a type nor a chosen feature.
    fn class(&self, choice: &Choice<'_>) -> Option<String> {
        let resources = self.resources.unwrap_or_default();
        gpu_types(resources).or_else(|| {
            let lists = [self.active, self.available].into_iter().flatten();
            let has: Vec<&str> = lists.flat_map(|list| list.split(',')).collect();
            let is_held =
                |feature: &&String| !feature.is_empty() && has.contains(&feature.as_str());
            choice.features.iter().find(is_held).cloned()
        })
    }

    /// Assigns the node's class, if the description of the node states one.
    fn assign(&self, choice: &Choice<'_>, assignment: &mut Assignment<'_>) -> Result<()> {
        match self.class(choice) {
            None => Ok(()),
            Some(name) => {
                let place = Place::Line(self.line);
                let class = assignment.class(&name, place)?;
                assignment.list(class, self.names, place, "NodeName")
            }
        }
    }
}

/// The types of the GPUs in generic resources such as `gpu:a100:4(S:0-1),nic:2`, separated by `+`; `None` if no GPU has
/// a type.
fn gpu_types(resources: &str) -> Option<String> {
    let mut types: Vec<&str> = Vec::new();
    let mut depth = 0;
    // Commas within parentheses belong to a resource: `gpu:a100:4(S:0,2)`.
    let parts = resources.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    for part in parts {
        let part = part.split('(').next().unwrap_or_default();
        let mut words = part.trim().split(':');
        if words.next() != Some("gpu") {
            continue;
        }
        // In `gpu:4`, the second word is the number of GPUs.
        let kind = words.next().filter(|kind| !is_count(kind));
        if let Some(kind) = kind.filter(|kind| !types.contains(kind)) {
            types.push(kind);
        }
    }
    (!types.is_empty()).then(|| types.join("+"))
}

/// Whether a word of a resource is a number of GPUs, such as `4`, rather than a type. Types such as `1g.5gb` may begin
/// with a digit.
fn is_count(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a line begins a node's description in the output of `scontrol show nodes`.
pub(super) fn is_scontrol(line: &str) -> bool {
    line.trim_start().starts_with("NodeName=")
}

/// Reads the output of `scontrol show nodes`. Returns the remedy that a message about nodes without a class suggests.
pub(super) fn read_scontrol(
    text: &str,
    choice: &Choice<'_>,
    assignment: &mut Assignment<'_>,
) -> Result<String> {
    let mut node: Option<Node<'_>> = None;
    for (line, text) in numbered(text) {
        if is_scontrol(text)
            && let Some(node) = node.replace(Node {
                line,
                ..Node::default()
            })
        {
            node.assign(choice, assignment)?;
        }
        if let Some(node) = &mut node {
            describe(text, node);
        }
    }
    node.map_or(Ok(()), |node| node.assign(choice, assignment))?;
    Ok(REMEDY.to_owned())
}

/// Reads the `KEY=VALUE` words of a line, up to the first key with free text, such as `Reason`.
fn describe<'t>(text: &'t str, node: &mut Node<'t>) {
    for word in text.split_whitespace() {
        let Some((key, value)) = word.split_once('=') else {
            continue;
        };
        match key {
            "Reason" | "Comment" | "Extra" => return,
            "NodeName" => node.names = value,
            "Gres" => node.resources = node.resources.or(Some(value)),
            "ActiveFeatures" => node.active = node.active.or(Some(value)),
            "AvailableFeatures" | "Features" | "Feature" => {
                node.available = node.available.or(Some(value));
            }
            _ => {}
        }
    }
}

/// The positions of columns in a table that `sinfo` prints, counted from 0.
struct Columns {
    name: usize,
    resources: Option<usize>,
    features: Option<usize>,
}

impl Columns {
    /// Finds the columns in a header; `None` if the line is not such a header.
    fn of(header: &str) -> Option<Self> {
        let find = |names: &[&str]| words(header).position(|word| names.contains(&word));
        let columns = Columns {
            name: find(&NAMES)?,
            resources: find(&["GRES"]),
            features: find(&FEATURES),
        };
        (columns.resources.is_some() || columns.features.is_some()).then_some(columns)
    }

    /// Minimum number of words in a row.
    fn width(&self) -> usize {
        let others = [self.resources, self.features];
        let last = others.into_iter().flatten().fold(self.name, usize::max);
        last + 1
    }
}

/// The words of a line printed by `sinfo`.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '|', '\t']).filter(|word| !word.is_empty())
}

/// Whether a line is the header of a table of node resources or features printed by `sinfo`.
pub(super) fn is_sinfo(line: &str) -> bool {
    Columns::of(line).is_some()
}

/// Reads the output of `sinfo -N` with a header. Returns the remedy that a message about nodes without a class
/// suggests.
pub(super) fn read_sinfo(
    text: &str,
    choice: &Choice<'_>,
    assignment: &mut Assignment<'_>,
) -> Result<String> {
    let mut lines = numbered(text);
    let columns = lines.next().and_then(|(_, header)| Columns::of(header));
    let Some(columns) = columns else {
        return Ok(REMEDY.to_owned());
    };
    for (line, text) in lines {
        let row: Vec<&str> = words(text).collect();
        if row.len() < columns.width() {
            let found = counted(row.len(), "word");
            let expected = format!("at least {}, as in the header", columns.width());
            assignment.fault(Place::Line(line), "", found, expected)?;
            continue;
        }
        let node = Node {
            names: row[columns.name],
            line,
            resources: columns.resources.map(|column| row[column]),
            available: columns.features.map(|column| row[column]),
            active: None,
        };
        node.assign(choice, assignment)?;
    }
    Ok(REMEDY.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_gpus_are_found_in_generic_resources() {
        for (resources, types) in [
            ("gpu:a100:4", Some("a100")),
            ("gpu:a100:4(S:0-1)", Some("a100")),
            ("nic:2,gpu:v100:4(S:0,2),gpu:v100:2", Some("v100")),
            ("gpu:a100:2,gpu:1g.5gb:14", Some("a100+1g.5gb")),
            ("gpu:a100", Some("a100")),
            ("gpu:4", None),
            ("gpu", None),
            ("gpumem:a100:4", None),
            ("(null)", None),
            ("", None),
        ] {
            assert_eq!(gpu_types(resources).as_deref(), types, "{resources}");
        }
    }
}
