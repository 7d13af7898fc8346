//! The polls that HPC-Whisk's monitor writes: a block for every poll.
//!
//! ```text
//! 1647471604
//! invokers: p2165,p1739
//! lowprio      up   12:00:00      1   idle p0016
//! ----
//! ```
//!
//! A block begins with its time in seconds since 1970. A line that begins with a word and a colon lists the nodes of
//! pilots. The list can be empty. The other rows are the output of `sinfo` with its six default columns, limited to
//! states that contain "idle". All other nodes are busy.

use crate::scheduler::epoch;

/// The content of a line in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockLine<'l> {
    /// The start of a block, with its time in seconds since 1970.
    Begin(i64),
    /// The nodes of pilots; an empty list if there are none.
    Pilots(&'l str),
    /// A list of nodes, with their state.
    Nodes { state: &'l str, list: &'l str },
    /// The header of `sinfo`'s table, which contains the column names.
    Header,
    /// The end of a block.
    End,
}

impl<'l> BlockLine<'l> {
    /// Parses a line. The error describes the fault.
    pub fn parse(text: &'l str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(time) = begin(text) {
            return Ok(BlockLine::Begin(time));
        }
        if text == "----" {
            return Ok(BlockLine::End);
        }
        let word = text.split_whitespace().next().unwrap_or_default();
        if let Some((_, list)) = text.split_once(':').filter(|_| word.ends_with(':')) {
            return Ok(BlockLine::Pilots(list.trim()));
        }
        let mut cells = text.split_whitespace().skip(4);
        match [cells.next(), cells.next(), cells.next()] {
            [Some("STATE"), Some("NODELIST"), None] => Ok(BlockLine::Header),
            [Some(state), Some(list), None] => Ok(BlockLine::Nodes { state, list }),
            _ => Err("a line other than a time, pilots, a row of sinfo or ----".to_owned()),
        }
    }
}

/// The time in the first line of a block; `None` if the line is not a whole number of seconds.
pub(super) fn begin(text: &str) -> Option<i64> {
    let text = text.trim();
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    epoch(text).filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_block_are_told_apart() {
        let nodes = |state, list| BlockLine::Nodes { state, list };
        for (text, expected) in [
            ("1647471604", BlockLine::Begin(1_647_471_604)),
            ("invokers: p1,p2", BlockLine::Pilots("p1,p2")),
            ("pilots:", BlockLine::Pilots("")),
            (
                "lowprio up 12:00:00 2 idle~ p[1-2]",
                nodes("idle~", "p[1-2]"),
            ),
            (
                "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST",
                BlockLine::Header,
            ),
            ("----", BlockLine::End),
        ] {
            assert_eq!(BlockLine::parse(text), Ok(expected), "{text}");
        }
        for text in ["lowprio up 12:00:00 1 idle", "16474716x4", "---"] {
            assert!(BlockLine::parse(text).is_err(), "{text}");
        }
    }
}
