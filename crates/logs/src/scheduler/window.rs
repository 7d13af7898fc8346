//! Chooses the start and end of the event log.

use super::Options;
use super::clock::stamp;
use super::collector::Log;
use super::span::Span;
use crate::occupancy::Window;
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Stamp, Utc};

/// The window of the event log, whose start and end the options can set. By default, it is the period for which the
/// logs are complete.
pub(super) fn window(
    log: &mut Log,
    span: &Span,
    options: &Options,
    whole: Window,
) -> Result<Window> {
    let complete = span.complete().unwrap_or(whole);
    let (from, to) = given(log, options.from.as_deref(), options.to.as_deref(), whole)?;
    let window = Window {
        from: from.unwrap_or(complete.from),
        to: to.unwrap_or(complete.to),
    };
    let clock = log.clock.in_window(whole);
    let show = |window: Window| {
        let at = |second: i64| clock.show(Utc::from_seconds(second));
        format!("{} to {}", at(window.from), at(window.to))
    };
    if window.from >= window.to && from.is_none() && to.is_none() {
        let expected = "jobs that start and end at different times";
        return Err(log.counts.nothing_left(expected, log.first_file()));
    }
    if window.from >= window.to {
        return Err(Error::Usage(format!(
            "the event log would cover {}, but the logs cover {}: change --from or --to",
            show(window),
            show(whole)
        )));
    }
    let early = from.is_none() && complete.from > whole.from;
    if early || to.is_none() && complete.to < whole.to {
        log.notes.push(format!(
            "the logs have jobs from {}, but are complete only from {}; the event log covers the \
             complete part unless --from and --to are set",
            show(whole),
            show(complete)
        ));
    }
    Ok(window)
}

/// The times of `--from` and `--to` in seconds since 1970, if the user gave them. `whole` is the span of the log.
///
/// # Errors
/// A value is not a time, or the time cannot be represented on the log's clock.
pub fn given(
    log: &Log,
    from: Option<&str>,
    to: Option<&str>,
    whole: Window,
) -> Result<(Option<i64>, Option<i64>)> {
    let given = |flag: &str, text: Option<&str>, occurrence| {
        let stamp = text.map(|text| parse(flag, text)).transpose()?;
        let second = stamp.map(|stamp| log.clock.given(stamp, occurrence, whole));
        second.transpose()
    };
    Ok((
        given("--from", from, Occurrence::First)?,
        given("--to", to, Occurrence::Second)?,
    ))
}

/// Parses a time that the user gave with this flag.
pub fn parse(flag: &str, text: &str) -> Result<Stamp> {
    stamp(text).ok_or_else(|| {
        Error::Usage(format!(
            "{flag} {text}: expected a time such as 2026-01-31T08:00:00 or seconds since 1970"
        ))
    })
}
