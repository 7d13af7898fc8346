//! Helpers that read logs and format events as short strings.

use std::path::{Path, PathBuf};

use gleaner_domain::{Result, UnknownNodes};
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Input, Options, Summary};

/// The path of a sample in `dataset/logs`.
pub fn sample(name: &str) -> PathBuf {
    gleaner_testing::workspace().join("dataset/logs").join(name)
}

/// The content of a sample.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(sample(name)).unwrap()
}

/// The events of a log, such as `2026-01-01 08:00:00 +n01 -n02`; `+` means idle.
pub fn events(log: &[u8], options: &Options) -> Result<(Vec<String>, Summary)> {
    let input = Input::new(Path::new("log"), log);
    let holds = scheduler::read_inputs([input], options)?;
    let (nodes, clock) = (holds.nodes().to_vec(), holds.clock().clone());
    let mut rows = Vec::new();
    let summary = holds.sweep(UnknownNodes::Deal, |event| {
        let (time, changes) = (event.time, event.changes);
        let mut row = clock.steady(time).to_string();
        for change in changes {
            let sign = if change.idle() { " +" } else { " -" };
            row.push_str(sign);
            row.push_str(&nodes[change.node() as usize]);
        }
        rows.push(row);
        Ok(())
    })?;
    Ok((rows, summary))
}

/// The events of a sample.
pub fn events_of(name: &str, options: &Options) -> (Vec<String>, Summary) {
    events(&std::fs::read(sample(name)).unwrap(), options).unwrap()
}

/// Options that limit the event log to the window from `from` to `to`.
pub fn between(format: Format, from: &str, to: &str) -> Options {
    Options {
        from: Some(from.to_owned()),
        to: Some(to.to_owned()),
        ..Options::new(format)
    }
}

/// Converts a time such as `2026-01-31 08:00:00`, or the same time with a `T`, to the format
/// `01/31/2026 08:00:00`.
pub fn month_first(text: &str) -> String {
    format!(
        "{}/{}/{} {}",
        &text[5..7],
        &text[8..10],
        &text[..4],
        &text[11..]
    )
}
