//! The parts of the log that the runs of a sweep replay.

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::{Block, Bootstrap, Replication};
use gleaner_domain::words::{counted, duration};
use gleaner_domain::{EventLog, Observer, Utc};
use serde::Serialize;

use crate::plan::Cut;

/// Minimum number of weeks in a log whose blocks are weeks. A shorter log is resampled by days, because few blocks
/// have few different resamples: 2, 3 or 4 blocks have only 3, 10 or 35.
const MIN_WEEKS: usize = 8;
/// Minimum number of blocks. All resamples of a single block would be the same.
const MIN_BLOCKS: usize = 2;

/// A log that runs replay: a whole slice of the plan, or a part of a slice.
#[derive(Debug)]
pub(super) struct Part {
    /// The events of the part.
    pub log: EventLog,
    /// The place of the part in its slice; `None` for a whole slice.
    pub window: Option<Window>,
}

/// The place of a part in its slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Window {
    /// Number of the part, from 1.
    pub window: usize,
    /// Start and end of the part, in nanoseconds since 1970. They are part of the key of a run, because parts with the
    /// same number have different ends if the log is cut differently.
    pub ends: [i64; 2],
}

/// Cuts the slices of a plan into parts. Returns the parts of each slice, and the kind of repetitions for means and
/// intervals. Blocks are resampled from `seed`.
///
/// # Errors
/// [`Error::Usage`] if a slice is too short.
pub(super) fn parts(
    slices: Vec<EventLog>,
    cut: Cut,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<Vec<Part>>, Replication)> {
    match cut {
        Cut::Whole => {
            let whole = |log| vec![Part { log, window: None }];
            Ok((slices.into_iter().map(whole).collect(), Replication::Seeds))
        }
        Cut::Windows(count) => {
            let equal = |log: &EventLog| windows(log, count);
            let parts = slices.iter().map(equal).collect::<Result<_>>()?;
            Ok((parts, Replication::Windows))
        }
        Cut::Blocks { resamples } => {
            // All slices have blocks of the same length, so that the sweep has one description of its intervals.
            let has_weeks =
                |log: &EventLog| log.whole_blocks(Block::Week.seconds()).len() > MIN_WEEKS;
            let block = if slices.iter().all(has_weeks) {
                Block::Week
            } else {
                Block::Day
            };
            let blocks = |log: &EventLog| blocks(log, block, observer);
            let parts = slices.iter().map(blocks).collect::<Result<_>>()?;
            let bootstrap = Bootstrap {
                block,
                resamples,
                seed,
            };
            Ok((parts, Replication::Blocks(bootstrap)))
        }
    }
}

/// Seconds from the first to the last event.
fn length(log: &EventLog) -> f64 {
    let ends = log.times().first().zip(log.times().last());
    ends.map_or(0.0, |(first, last)| last.seconds_since(*first))
}

fn windows(log: &EventLog, count: usize) -> Result<Vec<Part>> {
    let seconds = length(log);
    if seconds < count as f64 {
        return Err(Error::Usage(format!(
            "{count} windows: the log lasts {}, expected at least a second for each window. Use fewer windows or a \
             longer log",
            duration(seconds)
        )));
    }
    Ok(numbered(log, &log.equal_parts(count)))
}

fn blocks(log: &EventLog, block: Block, observer: &dyn Observer) -> Result<Vec<Part>> {
    let (seconds, bounds) = (length(log), log.whole_blocks(block.seconds()));
    // The bounds are the start of the first block and the end of each block.
    let found = bounds.len().saturating_sub(1);
    if found < MIN_BLOCKS {
        return Err(Error::Usage(format!(
            "bootstrap: the log lasts {}, but resampling requires at least {}. Use a longer log, or cut this one into \
             equal parts with --windows",
            duration(seconds),
            counted(MIN_BLOCKS, block.noun())
        )));
    }
    let rest = seconds - found as f64 * f64::from(block.seconds());
    if rest > 0.0 {
        observer.remark(&[format!(
            "bootstrap: the log is cut into {}; its last {} do not fill another {} and are left out",
            counted(found, block.noun()),
            duration(rest),
            block.noun()
        )]);
    }
    Ok(numbered(log, &bounds))
}

/// The parts between neighbouring bounds, numbered from 1.
fn numbered(log: &EventLog, bounds: &[Utc]) -> Vec<Part> {
    let ends = bounds.windows(2).map(|ends| [ends[0].0, ends[1].0]);
    let parts = (1..).zip(ends).zip(log.cut_at(bounds));
    let part = |((window, ends), log)| Part {
        log,
        window: Some(Window { window, ends }),
    };
    parts.map(part).collect()
}

#[cfg(test)]
mod tests {
    use gleaner_domain::{Change, EventLogBuilder, Unobserved};

    use super::*;

    const DAY: i64 = 24 * 3_600;

    /// A log of one node, which is idle for this number of seconds.
    fn idle_for(seconds: i64) -> EventLog {
        let mut log = EventLogBuilder::new(vec!["n".to_owned()]);
        log.push_row(Utc::from_seconds(0), [Change::new(0, true)]);
        log.push_row(Utc::from_seconds(seconds), [Change::new(0, false)]);
        log.finish().unwrap()
    }

    fn cut(seconds: i64, cut: Cut) -> Result<(Vec<Vec<Part>>, Replication)> {
        parts(vec![idle_for(seconds)], cut, 3, &Unobserved)
    }

    // Small fixed examples: logs of exactly eight weeks and of exactly two days, and logs that are slightly shorter.
    #[test]
    fn blocks_are_weeks_if_the_log_has_eight() {
        let blocks = Cut::Blocks { resamples: 200 };
        let of = |seconds| {
            let (parts, over) = cut(seconds, blocks).unwrap();
            let Replication::Blocks(bootstrap) = over else {
                panic!("{over:?}");
            };
            assert_eq!((bootstrap.resamples, bootstrap.seed), (200, 3));
            (parts[0].len(), bootstrap.block)
        };
        assert_eq!(of(8 * 7 * DAY), (8, Block::Week));
        assert_eq!(of(9 * 7 * DAY - 1), (8, Block::Week));
        assert_eq!(of(8 * 7 * DAY - 1), (55, Block::Day));
        assert_eq!(of(2 * DAY), (2, Block::Day));
        let Err(Error::Usage(why)) = cut(2 * DAY - 1, blocks) else {
            panic!("a single day is resampled");
        };
        assert!(
            why.contains("1 d 23 h") && why.contains("2 days") && why.contains("--windows"),
            "{why}"
        );
        // If one of two slices has fewer than eight weeks, both are cut into days.
        let both = vec![idle_for(8 * 7 * DAY), idle_for(3 * DAY)];
        let (both, _) = parts(both, blocks, 0, &Unobserved).unwrap();
        assert_eq!((both[0].len(), both[1].len()), (56, 3));
    }

    #[test]
    fn windows_are_numbered_and_last_at_least_a_second() {
        let (parts, over) = cut(10, Cut::Windows(4)).unwrap();
        assert_eq!(over, Replication::Windows);
        let windows: Vec<Window> = parts[0].iter().filter_map(|part| part.window).collect();
        let second = Window {
            window: 2,
            ends: [2_500_000_000, 5_000_000_000],
        };
        assert_eq!((windows.len(), windows[1]), (4, second));
        let Err(Error::Usage(why)) = cut(10, Cut::Windows(11)) else {
            panic!("windows shorter than a second are replayed");
        };
        assert!(
            why.contains("10 s") && why.contains("fewer windows"),
            "{why}"
        );
        let (whole, over) = cut(10, Cut::Whole).unwrap();
        assert_eq!(
            (whole[0].len(), whole[0][0].window, over),
            (1, None, Replication::Seeds)
        );
    }
}
