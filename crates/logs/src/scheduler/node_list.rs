//! Reads the nodes of a machine from a file: the output of `scontrol show nodes` or `sinfo -N`,
//! Philly's list of machines, or a plain list.

use std::path::Path;

use super::djc::whole;
use super::hostlist::HostlistError;
use super::node_set::{MAX_NODES, NodeSet};
use gleaner_domain::error::{Fault, Result};
use gleaner_io::Gatherer;
use gleaner_io::delimited::Dialect;
use gleaner_io::input::{Input, Line};

/// Commands that list the nodes, for messages.
pub const COMMANDS: &str = "`scontrol show nodes`, `sinfo -N` or `sinfo -h -o %N`";

/// The format of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The description of each node begins with `NodeName=…`.
    Scontrol,
    /// A table with a header. The value is the index of the column that contains the names.
    Sinfo(usize),
    /// Philly's list of machines: each row contains a machine's name, its number of GPUs, and their memory.
    Machines,
    /// Lists of nodes, separated by commas and line breaks.
    Plain,
}

/// Reads the names in file order. A repeated name counts once. If the file does not exist, a path with a bracket or
/// a comma is read as the list itself. If `gpu` is set, only nodes with GPUs are read. This requires the output of
/// `scontrol show nodes`.
///
/// # Errors
/// The file cannot be read or contains no nodes, or some lines are not lists of nodes. All such lines are reported
/// together.
pub fn read(path: &Path, gpu: bool) -> Result<NodeSet> {
    let list = path.to_str().filter(|text| text.contains(['[', ',']));
    if let Some(list) = list.filter(|_| !path.exists()) {
        return read_input(&mut Input::new(Path::new("--nodes"), list.as_bytes())?, gpu);
    }
    let mut input = Input::open(path)?;
    read_input(&mut input, gpu)
}

/// Reads the names from an open file.
pub(super) fn read_input(input: &mut Input<'_>, gpu: bool) -> Result<NodeSet> {
    let path = input.path().to_owned();
    let mut form = None;
    let mut nodes = NodeSet::default();
    let mut faults = Gatherer::default();
    // If `gpu` is set, the node whose lines are being read, until a line shows that it has GPUs.
    let mut described = None;
    while let Some(line) = input.next_line()? {
        if is_remark(&line.text) {
            continue;
        }
        let known = match form {
            Some(known) => known,
            None => {
                let (found, is_header) = form_of(&line.text);
                form = Some(found);
                if is_header {
                    continue;
                }
                found
            }
        };
        match (gpu, known) {
            (false, _) => take(&line, known, &mut nodes, &mut faults)?,
            (true, Form::Scontrol) if has_gpu(&line.text, &mut described) => {
                if let Some(name) = described.take() {
                    let text = format!("NodeName={name}").into();
                    take(&Line { text, ..line }, known, &mut nodes, &mut faults)?;
                }
            }
            (true, Form::Scontrol) => {}
            (true, _) => {
                let found = "a list that does not show which nodes have GPUs";
                let fault = Fault::of(&path, found, "the output of `scontrol show nodes` (--gpu)");
                return Err(fault.at(line.place.within()).into());
            }
        }
    }
    if nodes.len() == 0 && faults.is_empty() {
        let (found, expected) = if gpu {
            let expected = "nodes with gpu in Gres, from `scontrol show nodes`".to_owned();
            ("no nodes with GPUs", expected)
        } else {
            let expected = format!("the names of the nodes, from {COMMANDS}");
            ("no nodes", expected)
        };
        faults.add(Fault::of(&path, found, expected))?;
    }
    faults.finish(nodes.into_machine())
}

/// Whether a line names no nodes because it is a comment or the date that `sinfo -N -l` prints first.
fn is_remark(text: &str) -> bool {
    let days = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
    text.trim_start().starts_with('#')
        || days.iter().any(|day| text.starts_with(day)) && text.contains(':')
}

/// Detects the format from the first line of a file. Also returns whether that line is a header.
fn form_of(text: &str) -> (Form, bool) {
    if text.trim_start().starts_with("NodeName=") {
        return (Form::Scontrol, false);
    }
    let cells = Dialect::Csv.split(text);
    if let [name, gpus, memory] = cells.iter().collect::<Vec<_>>()[..]
        && (name.eq_ignore_ascii_case("machineId")
            || whole(gpus).is_some() && memory.ends_with("GB"))
    {
        return (Form::Machines, whole(gpus).is_none());
    }
    let mut words = text.split([' ', '|', '\t']).filter(|word| !word.is_empty());
    let column = words.position(|word| ["NODELIST", "HOSTNAMES", "NODE_LIST"].contains(&word));
    match column {
        Some(column) => (Form::Sinfo(column), true),
        None => (Form::Plain, false),
    }
}

/// Whether a line of `scontrol show nodes`, such as one with `Gres=gpu:a100:4`, states that the node has GPUs. A line
/// with `NodeName=` begins the description of the next node.
fn has_gpu(text: &str, described: &mut Option<String>) -> bool {
    if let Some(rest) = text.trim().strip_prefix("NodeName=") {
        *described = rest.split_whitespace().next().map(str::to_owned);
    }
    let mut words = text.split_whitespace();
    words.any(|word| {
        let resources = word.strip_prefix("Gres=").unwrap_or_default();
        let mut names = resources
            .split(',')
            .map(|name| name.split([':', '=']).next());
        names.any(|name| name == Some("gpu"))
    })
}

/// Adds the nodes of a line.
fn take(line: &Line<'_>, form: Form, nodes: &mut NodeSet, faults: &mut Gatherer) -> Result<()> {
    let text = line.text.trim();
    let cells;
    let list = match form {
        Form::Scontrol => match text.strip_prefix("NodeName=") {
            // The line only describes a node that an earlier line names.
            None => return Ok(()),
            Some(rest) => rest.split_whitespace().next().unwrap_or_default(),
        },
        Form::Sinfo(column) => {
            let mut words = text.split([' ', '|', '\t']).filter(|word| !word.is_empty());
            words.nth(column).unwrap_or_default()
        }
        Form::Machines => {
            cells = Dialect::Csv.split(text);
            cells.get(0).unwrap_or_default()
        }
        Form::Plain => text,
    };
    if let Err(error) = add(list, nodes) {
        let found = format!("{:?}, which is {error}", shown(list));
        let expected = format!("node names, or lists of nodes such as n[01-16], from {COMMANDS}");
        let fault = Fault::of(line.place.file, found, expected);
        faults.add(fault.at(line.place.within()))?;
    }
    Ok(())
}

/// The reason why a line is not a list of nodes.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("more than one word")]
    Words,
    #[error("a list with {0}")]
    Hostlist(#[from] HostlistError),
    #[error("a list that increases the number of nodes to more than {MAX_NODES}")]
    TooMany,
}

fn add(list: &str, nodes: &mut NodeSet) -> Result<(), ListError> {
    let joined = list.replace(", ", ",");
    if joined.contains(char::is_whitespace) {
        return Err(ListError::Words);
    }
    let joined = joined.trim_end_matches(',');
    match nodes.look_up([joined], None)?.unknown {
        0 => Ok(()),
        _ => Err(ListError::TooMany),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>> {
        let mut input = Input::new(Path::new("nodes"), text.as_bytes())?;
        Ok(read_input(&mut input, false)?.names())
    }

    #[test]
    fn nodes_come_from_any_of_the_commands() {
        let scontrol = "NodeName=n01 Arch=x86_64 CoresPerSocket=32\n   CPUAlloc=0 State=IDLE\n\n\
                        NodeName=n02 Arch=x86_64\n   Comment=NodeName=n09\n";
        let sinfo = "NODELIST   NODES PARTITION STATE \nn01            1    debug* idle  \n\
                     n01            1     long idle\nn02            1    debug* down*\n";
        let long = format!("Fri Nov 20 18:00:00 2026\n{sinfo}");
        for text in [
            scontrol,
            sinfo,
            &long,
            "n[01-02]\n",
            "# all\nn01,\nn02\nn01\n",
            "n01, n02",
            "machineId,number of GPUs,single GPU mem\nn01,8, 24GB\nn02,2, 12GB\n",
            "n01,8, 24GB\nn02,2, 12GB\n",
        ] {
            assert_eq!(names(text).unwrap(), ["n01", "n02"], "{text}");
        }
    }

    #[test]
    fn nodes_with_gpus_can_be_selected() {
        let names = |text: &str| {
            let mut input = Input::new(Path::new("nodes"), text.as_bytes())?;
            Ok::<_, gleaner_domain::Error>(read_input(&mut input, true)?.names())
        };
        let scontrol = "NodeName=g1 Arch=x86_64\n   Gres=gpu:a100:4(S:0-1)\n\n\
                        NodeName=c1 Arch=x86_64\n   Gres=(null)\n\n\
                        NodeName=g2 Arch=x86_64 Gres=nic:1,gpu:2 State=IDLE\n\
                        NodeName=c2 Gres=gpumem:2\n";
        assert_eq!(names(scontrol).unwrap(), ["g1", "g2"]);
        let message = names("n1\nn2\n").unwrap_err().to_string();
        assert!(
            message.contains("expected the output of `scontrol show nodes`"),
            "{message}"
        );
        let message = names("NodeName=c1 Gres=(null)\n").unwrap_err().to_string();
        assert!(message.contains("found no nodes with GPUs"), "{message}");
    }

    #[test]
    fn an_invalid_list_of_nodes_is_reported() {
        for (text, part) in [
            ("", "nodes: found no nodes, expected the names of the nodes"),
            (
                "n1 1 debug idle\n",
                "nodes, line 1: found \"n1 1 debug idle\", which is more than one word",
            ),
            (
                "n1\nn[2\n",
                "nodes, line 2: found \"n[2\", which is a list with brackets",
            ),
        ] {
            let message = names(text).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
