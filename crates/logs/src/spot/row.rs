//! The rows of a trace.

use crate::scheduler::{MAX_NODES, Moment, moment};
use gleaner_domain::words::counted;

/// Maximum length of a node's name, in bytes.
const MAX_NAME: usize = 255;

/// The format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Milliseconds since the start, and a node that joins or leaves.
    Named,
    /// Milliseconds since the start, and a number of nodes.
    Counted,
    /// Local time, and a number of nodes.
    Dated,
}

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event<'l> {
    /// A node joins or leaves.
    Node { name: &'l str, is_there: bool },
    /// The number of nodes that are present after the line's time.
    Count(u32),
}

/// The time of a line, in the form that the trace uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Milliseconds(i64),
    Written(Moment),
}

/// Parses a line. The error describes the fault.
pub(super) fn parse(text: &str) -> Result<(Form, Time, Event<'_>), String> {
    let mut cells = text.split(',').map(str::trim);
    let all = [cells.next(), cells.next(), cells.next(), cells.next()];
    match all {
        [Some(time), Some("add"), Some(name), None] => node_event(time, name, true),
        [Some(time), Some("remove"), Some(name), None] => node_event(time, name, false),
        [Some(time), Some(number), None, None] => {
            Ok((Form::Counted, milliseconds(time)?, count(number)?))
        }
        [Some(date), Some(time), Some(number), None] => {
            let written = format!("{date} {time}");
            let found = moment(&written).ok_or_else(|| format!("{written:?} instead of a time"))?;
            Ok((Form::Dated, Time::Written(found), count(number)?))
        }
        _ => Err(format!(
            "{}, not 2 or 3",
            counted(text.split(',').count(), "cell")
        )),
    }
}

fn node_event<'l>(
    time: &str,
    name: &'l str,
    is_there: bool,
) -> Result<(Form, Time, Event<'l>), String> {
    if !(1..=MAX_NAME).contains(&name.len()) {
        return Err(format!(
            "{name:?} is not a valid node name (1 to {MAX_NAME} bytes)"
        ));
    }
    let event = Event::Node { name, is_there };
    Ok((Form::Named, milliseconds(time)?, event))
}

fn milliseconds(text: &str) -> Result<Time, String> {
    /// The last accepted millisecond, in the year 2261. Nanoseconds since 1970 fit in 64 bits only until April 2262.
    const LAST: i64 = 9_200_000_000_000;
    let time = text.parse().ok().filter(|time| (0..=LAST).contains(time));
    let time = time.ok_or_else(|| format!("{text:?} instead of milliseconds since the start"))?;
    Ok(Time::Milliseconds(time))
}

fn count(text: &str) -> Result<Event<'static>, String> {
    let count = text
        .parse()
        .ok()
        .filter(|count| *count as usize <= MAX_NODES);
    let count = count
        .ok_or_else(|| format!("{text:?} instead of a number of nodes, at most {MAX_NODES}"))?;
    Ok(Event::Count(count))
}
