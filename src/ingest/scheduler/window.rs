//! From when to when the event log is.

use std::path::Path;

use super::Options;
use super::clock::{Clock, Local};
use super::intake::Intake;
use crate::domain::Time;
use crate::error::{Error, Result};
use crate::occupancy::Window;

/// The span of the event log, as the options say or else as the log does.
pub(super) fn window(
    intake: &mut Intake,
    options: &Options,
    whole: Window,
    first: &Path,
) -> Result<Window> {
    let complete = intake.span.complete().unwrap_or(whole);
    let from = given("--from", options.from.as_deref(), &intake.clock)?;
    let to = given("--to", options.to.as_deref(), &intake.clock)?;
    let window = Window {
        from: from.unwrap_or(complete.from),
        to: to.unwrap_or(complete.to),
    };
    let offset = intake.clock.offset(window.from);
    let show = |window: Window| {
        let at = |second: i64| Time::from_seconds(second.saturating_add(offset));
        format!("{} to {}", at(window.from), at(window.to))
    };
    if window.from >= window.to && from.is_none() && to.is_none() {
        let expected = "jobs that start and end at different times";
        return Err(intake.tally.nothing_left(expected, first));
    }
    if window.from >= window.to {
        return Err(Error::Usage(format!(
            "the event log would be from {}, and the logs tell of {}: see --from and --to",
            show(window),
            show(whole)
        )));
    }
    let early = from.is_none() && complete.from > whole.from;
    if early || to.is_none() && complete.to < whole.to {
        intake.notes.push(format!(
            "the logs tell of jobs from {}, but are complete only from {}, where the event log \
             begins and ends unless --from and --to say otherwise",
            show(whole),
            show(complete)
        ));
    }
    Ok(window)
}

/// A time that the user gave.
fn given(flag: &str, text: Option<&str>, clock: &Clock) -> Result<Option<i64>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let time = Local::parse(text).ok_or_else(|| {
        Error::Usage(format!(
            "{flag} {text}: expected a time such as 2026-01-31T08:00:00 or seconds since 1970"
        ))
    })?;
    Ok(Some(clock.second(time)))
}
