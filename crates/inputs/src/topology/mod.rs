//! Reads the order of the nodes from the topology of a network: Slurm's `topology.conf`, or the
//! output of `scontrol show topology`.
//!
//! A line describes a switch and its nodes, a switch and the switches below it, or a block and its nodes. The nodes are
//! ordered by a depth-first walk over the tree of switches. Root switches and blocks are visited in the order of the
//! file. The switches or nodes below a switch are visited in the order of its list. Slurm accepts a switch that is
//! below several other switches. Such a switch is visited only once, where the walk first reaches it.
//!
//! For a switch above other switches, `scontrol` also lists all nodes below the switch. Such lists
//! are ignored.

mod line;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use crate::hosts::{MAX_NAMES, expand};
use gleaner_domain::NodeOrder;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::fault::Place;
use gleaner_io::source::{Source, TEXT_LIMIT};
use gleaner_io::{Gatherer, Loaded};
use line::{Group, Lines, group};

/// The expected contents of the file, for messages.
pub const EXPECTED: &str =
    "lines such as SwitchName=s0 Nodes=n[0-17], from topology.conf or `scontrol show topology`";

/// Reads the order of the nodes from the file `path`.
///
/// # Errors
/// The file cannot be read, contains neither a switch nor a block, or has faults, which are reported together. It is a
/// fault if a line does not describe a topology, a list is invalid or too long, or a node occurs twice. It is also a
/// fault if a switch has no line of its own or is above itself.
pub fn read(path: &Path) -> Result<Loaded<NodeOrder>> {
    let source = Source::open(path)?;
    let bytes = source.read_up_to(TEXT_LIMIT)?;
    Ok(Loaded {
        value: parse(path, &bytes)?,
        sources: vec![source.id().clone()],
        notes: Vec::new(),
    })
}

/// Like [`read`], but parses `bytes`, the content of the file `path`.
///
/// # Errors
/// `bytes` contains neither a switch nor a block, or has faults; see [`read`].
pub fn parse(path: &Path, bytes: &[u8]) -> Result<NodeOrder> {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader {
        path,
        groups: Vec::new(),
        faults: Gatherer::default(),
    };
    for (number, line) in Lines(text.lines().zip(1..)) {
        reader.line(number, &line)?;
    }
    if reader.groups.is_empty() && reader.faults.is_empty() {
        let fault = Fault::of(path, "no switch and no block", EXPECTED);
        reader.faults.add(fault)?;
    }
    let below = reader.below()?;
    let leaves = reader.leaves(&below)?;
    let order = reader.nodes(&leaves)?;
    reader.faults.finish(order)
}

struct Reader<'p> {
    path: &'p Path,
    /// The switches and blocks, in the order of the file.
    groups: Vec<Group>,
    faults: Gatherer,
}

impl Reader<'_> {
    fn fault(
        &mut self,
        line: u64,
        field: &str,
        found: impl Into<String>,
        expected: &str,
    ) -> Result<()> {
        let fault = Fault::of(self.path, found, expected).field(field);
        self.faults.add(fault.at(Place::Line(line)))
    }

    fn line(&mut self, number: u64, text: &str) -> Result<()> {
        match group(number, text) {
            Ok(Some(group)) => {
                self.groups.push(group);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err((field, found, expected)) => self.fault(number, field, found, expected),
        }
    }

    /// The switches below each switch, as indices.
    fn below(&mut self) -> Result<Vec<Vec<usize>>> {
        let mut indices = BTreeMap::new();
        let mut twice = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            let key = (group.is_block, group.name.clone());
            if let Some(first) = indices.insert(key, index) {
                twice.push((first, index));
            }
        }
        for (first, second) in twice {
            let Group { line, name, .. } = &self.groups[second];
            let found = format!("{name} again, after line {}", self.groups[first].line);
            self.fault(*line, "", found, "one line for each name")?;
        }
        let mut left = MAX_NAMES;
        let mut below = Vec::with_capacity(self.groups.len());
        for index in 0..self.groups.len() {
            let mut known = Vec::new();
            let mut unknown = Examples::default();
            let Group { line, switches, .. } = &self.groups[index];
            let (line, list) = (*line, switches.as_deref().unwrap_or_default());
            let expanded = expand(list, &mut left, |name| {
                match indices.get(&(false, name.to_owned())) {
                    Some(index) => known.push(*index),
                    None => unknown.add(|| name.to_owned()),
                }
            });
            if let Err(found) = expanded {
                self.fault(line, "Switches", found, "a list of switches such as s[0-2]")?;
            }
            if let Some(found) = unknown.shown() {
                let expected = "switches that have a line of their own";
                self.fault(line, "Switches", found, expected)?;
            }
            below.push(known);
        }
        Ok(below)
    }

    /// The indices of the switches and blocks that have nodes, in depth-first order.
    fn leaves(&mut self, below: &[Vec<usize>]) -> Result<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            /// The walk has reached this switch but has not yet visited all switches below it.
            Open,
            Done,
        }
        let mut is_root = vec![true; below.len()];
        for &index in below.iter().flatten() {
            is_root[index] = false;
        }
        let roots = (0..below.len()).filter(|&index| is_root[index]);
        // Switches that cannot be reached from a root are in a cycle or below a cycle. The walk also starts from these
        // switches, so that cycles are reported.
        let starts: Vec<usize> = roots.chain(0..below.len()).collect();
        let mut state = vec![State::New; below.len()];
        let mut leaves = Vec::new();
        // The path from the start to the current switch. Each entry consists of a switch and the
        // number of switches below it that have been visited. The stack is explicit, because the depth
        // of a recursion would depend on the file.
        let mut way: Vec<(usize, usize)> = Vec::new();
        for start in starts {
            if state[start] == State::New {
                way.push((start, 0));
            }
            while let Some((index, visited)) = way.last_mut() {
                let index = *index;
                if *visited == 0 {
                    state[index] = State::Open;
                    if self.groups[index].switches.is_none() {
                        leaves.push(index);
                    }
                }
                let Some(&next) = below[index].get(*visited) else {
                    state[index] = State::Done;
                    way.pop();
                    continue;
                };
                *visited += 1;
                match state[next] {
                    State::New => way.push((next, 0)),
                    State::Done => {}
                    State::Open => {
                        let line = self.groups[index].line;
                        let found =
                            format!("{}, which is above this switch", self.groups[next].name);
                        self.fault(line, "Switches", found, "a tree of switches")?;
                    }
                }
            }
        }
        Ok(leaves)
    }

    /// The nodes of the switches and blocks in `leaves`, in this order.
    fn nodes(&mut self, leaves: &[usize]) -> Result<NodeOrder> {
        let mut order = NodeOrder::default();
        let mut left = MAX_NAMES;
        let mut bytes_left = TEXT_LIMIT;
        // For each list, the position of its first node in the order, and the list's line.
        let mut starts: Vec<(u32, u64)> = Vec::with_capacity(leaves.len());
        for &leaf in leaves {
            let Group { line, nodes, .. } = &self.groups[leaf];
            let (line, list) = (*line, nodes.as_deref().unwrap_or_default());
            starts.push((order.len() as u32, line));
            let mut twice = Examples::default();
            let mut is_too_long = false;
            let expanded = expand(list, &mut left, |name| {
                match bytes_left.checked_sub(name.len() as u64) {
                    None => is_too_long = true,
                    Some(less) => {
                        bytes_left = less;
                        if let Err(place) = order.push(name) {
                            let after = starts.partition_point(|(first, _)| *first <= place);
                            let line = starts[after.saturating_sub(1)].1;
                            twice.add(|| format!("{name}, which is also on line {line}"));
                        }
                    }
                }
            });
            let too_long = is_too_long.then(|| "more than 64 MiB of names".to_owned());
            if let Some(found) = expanded.err().or(too_long) {
                self.fault(line, "Nodes", found, "a list of nodes such as n[0-17]")?;
            }
            if let Some(found) = twice.shown() {
                self.fault(line, "Nodes", found, "each node only once")?;
            }
        }
        Ok(order)
    }
}

/// Collects names for a message, which shows the first name and the number of other names.
#[derive(Default)]
struct Examples {
    first: Option<String>,
    others: usize,
}

impl Examples {
    fn add(&mut self, name: impl FnOnce() -> String) {
        match self.first {
            None => self.first = Some(name()),
            Some(_) => self.others += 1,
        }
    }

    /// The names as a string; `None` if there are no names.
    fn shown(self) -> Option<String> {
        let first = self.first?;
        Some(match self.others {
            0 => first,
            others => format!("{first}, and {others} more"),
        })
    }
}
