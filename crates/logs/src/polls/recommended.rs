//! The recommended format of polls: a line for every state, `EPOCH STATE HOSTLIST`.
//!
//! Lines with the same time form one poll. A node that a poll does not mention keeps its state.

use crate::scheduler::epoch;

/// The content of a line: at `time`, in seconds since 1970, the nodes of `list` were in `state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateLine<'l> {
    pub time: i64,
    pub state: &'l str,
    pub list: &'l str,
}

impl<'l> StateLine<'l> {
    /// Parses a line. The list of nodes can be in quotes. The error describes the fault.
    pub fn parse(text: &'l str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let all = [words.next(), words.next(), words.next(), words.next()];
        let [Some(time), Some(state), Some(list), None] = all else {
            return Err("a line other than EPOCH STATE NODES".to_owned());
        };
        let seconds = epoch(time);
        let time = seconds.ok_or_else(|| format!("{time:?} instead of seconds since 1970"))?;
        let list = unquoted(list)?;
        Ok(StateLine { time, state, list })
    }
}

/// Removes the quotes around a list, if there are any.
fn unquoted(list: &str) -> Result<&str, String> {
    let inner = list.strip_prefix('"');
    let inner = inner.and_then(|inner| inner.strip_suffix('"'));
    match inner.unwrap_or(list) {
        inner if inner.contains('"') => Err(format!("{list} with quotes that do not match")),
        inner => Ok(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_time_a_state_and_nodes() {
        let line = StateLine::parse("1795453200 idle m[1-3,7]").unwrap();
        assert_eq!(
            (line.time, line.state, line.list),
            (1_795_453_200, "idle", "m[1-3,7]")
        );
        let quoted = StateLine::parse("1795453200 idle \"m[1-3,7]\"");
        assert_eq!(quoted, Ok(line));
        for (text, part) in [
            ("5 idle \"m1,m", "\"m1,m with quotes that do not match"),
            ("5 idle m1\"", "quotes that do not match"),
            ("5 idle \"", "quotes that do not match"),
            ("1795453200 idle", "other than"),
            ("1795453200 idle m1 m2", "other than"),
            ("-5 idle m1", "\"-5\" instead of seconds"),
            ("idle 5 m1", "\"idle\" instead of seconds"),
        ] {
            assert!(StateLine::parse(text).unwrap_err().contains(part), "{text}");
        }
    }
}
