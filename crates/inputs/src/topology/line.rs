//! Parses the lines of a topology, each of which describes a switch or a block.

use super::EXPECTED;
use crate::hosts::is_nothing;
use gleaner_io::fault::show;

/// A switch or a block, as described in a line.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of the line that describes the switch or block.
    pub line: u64,
    pub is_block: bool,
    pub name: String,
    /// The list of the nodes directly below the switch or block.
    pub nodes: Option<String>,
    /// The list of the switches below the switch. A switch with such a list has no nodes directly
    /// below it.
    pub switches: Option<String>,
}

/// The lines without their comments, each with its number. A line that ends with a backslash is
/// continued on the next line.
pub(super) struct Lines<I>(pub I);

impl<'t, I: Iterator<Item = (&'t str, u64)>> Iterator for Lines<I> {
    type Item = (u64, String);

    fn next(&mut self) -> Option<(u64, String)> {
        let (mut line, number) = self.0.next()?;
        let mut joined = String::new();
        loop {
            let text = line.split('#').next().unwrap_or_default().trim_end();
            let Some(text) = text.strip_suffix('\\') else {
                joined.push_str(text);
                return Some((number, joined));
            };
            joined.push_str(text);
            match self.0.next() {
                Some((next, _)) => line = next,
                None => return Some((number, joined)),
            }
        }
    }
}

/// A fault in a line: the field, the value found, and the value expected.
pub(super) type LineFault = (&'static str, String, &'static str);

/// Reads the switch or block in a line; `None` if the line has neither.
pub(super) fn group(line: u64, text: &str) -> Result<Option<Group>, LineFault> {
    let mut name = None;
    let [mut nodes, mut switches] = [None, None];
    let mut is_printed = false;
    let mut rest = text.trim_start();
    let mut is_first = true;
    while let Some((key, value)) = field(&mut rest)? {
        let key = key.to_ascii_lowercase();
        let named = matches!(key.as_str(), "switchname" | "blockname");
        if std::mem::take(&mut is_first) && !named {
            return match key.as_str() {
                // `BlockSizes` begins a line with the sizes of groups of blocks. `AggregatedBlock` begins a line that
                // `scontrol` prints for such a group.
                "blocksizes" | "aggregatedblock" => Ok(None),
                _ => Err(("", show(text.trim().as_bytes()), EXPECTED)),
            };
        }
        let (known, earlier) = match key.as_str() {
            _ if named => {
                let earlier = name.replace((key == "blockname", value.to_owned()));
                ("SwitchName or BlockName", earlier.is_some())
            }
            "nodes" => ("Nodes", nodes.replace(value.to_owned()).is_some()),
            "switches" => ("Switches", switches.replace(value.to_owned()).is_some()),
            _ => {
                // Only `scontrol` prints these keys. It omits `Nodes` if there are no nodes.
                is_printed |= key == "level" || key == "blockindex";
                continue;
            }
        };
        if earlier {
            return Err((known, "the field a second time".to_owned(), "once per line"));
        }
    }
    let Some((is_block, name)) = name else {
        return Ok(None);
    };
    if name.is_empty() {
        return Err(("", "no name".to_owned(), EXPECTED));
    }
    if nodes.is_none() && switches.is_none() && !is_printed {
        let found = format!("{} without Nodes= or Switches=", show(name.as_bytes()));
        return Err(("Nodes", found, "Nodes= or Switches="));
    }
    Ok(Some(Group {
        line,
        is_block,
        name,
        nodes,
        switches: switches.filter(|list| !is_block && !is_nothing(list)),
    }))
}

/// Takes the next `key=value` from a line; `None` at the end of the line. There may be spaces
/// around the equals sign, and quotes around the value.
fn field<'t>(rest: &mut &'t str) -> Result<Option<(&'t str, &'t str)>, LineFault> {
    if rest.is_empty() {
        return Ok(None);
    }
    let invalid = |text: &str| ("", show(text.as_bytes()), EXPECTED);
    let (key, after) = rest.split_once('=').ok_or_else(|| invalid(rest))?;
    let key = key.trim_end();
    if key.is_empty() || key.contains(char::is_whitespace) {
        return Err(invalid(rest));
    }
    let text = after.trim_start();
    let (value, after) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or_else(|| invalid(text))?,
        None => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            let (word, more) = text.split_at(end);
            // In `Nodes= Level=0`, the word after the space is the next key, not a value.
            if text.len() < after.len() && word.contains('=') {
                ("", text)
            } else {
                (word, more)
            }
        }
    };
    *rest = after.trim_start();
    Ok(Some((key, value)))
}
