//! Writers of event logs, in the formats that [`crate::events`] reads.

use std::path::Path;

use crate::events::gev;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Change, EventLog, Quality, Utc};
use gleaner_io::SourceId;
use gleaner_io::files;

mod csv;
mod parquet;
mod stream;

pub use stream::EventWriter;

/// The layout of a table of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// A row for every change. This layout is smaller than the wide layout.
    #[default]
    Long,
    /// A row for every event and a column for every node, as in the original's table.
    Wide,
}

/// The file format of an event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// This program's cache, which has a single layout.
    Gev,
}

impl Format {
    /// The format indicated by a path's extension.
    ///
    /// # Errors
    /// [`Error::Usage`] if the path has no extension or an unknown extension.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("csv") => Ok(Format::Csv),
            Some("parquet") => Ok(Format::Parquet),
            Some("gev") => Ok(Format::Gev),
            _ => Err(Error::Usage(format!(
                "cannot tell the format of {}: expected a name ending in .csv, .parquet or .gev",
                path.display()
            ))),
        }
    }

    /// Notes about information in the source that a log in this format does not store. `quality` and `has_queue`
    /// describe the source.
    pub fn losses(self, quality: Option<&Quality>, has_queue: bool) -> Vec<String> {
        let is_unsure = quality.is_some_and(|quality| !quality.sentences().is_empty());
        let mut losses = Vec::new();
        if self == Format::Csv && is_unsure {
            losses.push(
                "CSV does not store the notes on what is unknown about the nodes, so inspect and replay cannot report \
                 them: write .gev or .parquet to keep them"
                    .to_owned(),
            );
        }
        if self != Format::Gev && has_queue {
            losses.push(
                "only .gev stores how many jobs waited and which job took which node: without it, replay --hand-back \
                 counts each event at which tasks lose nodes as one job"
                    .to_owned(),
            );
        }
        losses
    }
}

/// Writes a log in the format indicated by `path`'s extension.
///
/// A `.gev` file also records the file from which the log was read, so that a stale cache can be detected.
///
/// # Errors
/// The extension is unknown, or the file cannot be written.
pub fn write(log: &EventLog, path: &Path, layout: Layout, source: Option<&SourceId>) -> Result<()> {
    let format = Format::of(path)?;
    if format == Format::Gev {
        return gev::write(log, path, source);
    }
    files::write(path, |out| match (format, layout) {
        (Format::Parquet, Layout::Long) => parquet::write_long(log, out),
        (Format::Parquet, Layout::Wide) => parquet::write_wide(log, out),
        (_, Layout::Long) => csv::write_long(log, out),
        (_, Layout::Wide) => csv::write_wide(log, out),
    })
}

/// Creates the rows of the long form. Each row has a time. A row with a node also has the node's state.
///
/// The first event has a row for every node. A row without a node represents an event without changes, and also
/// separates two events at the same time.
#[derive(Debug)]
struct LongRows {
    nodes: u32,
    last: Option<Utc>,
}

impl LongRows {
    /// Creates the state before the first event of a log with this number of nodes.
    fn new(nodes: usize) -> Self {
        LongRows {
            nodes: nodes as u32,
            last: None,
        }
    }

    /// The rows of the next event.
    fn of_event(
        &mut self,
        time: Utc,
        changes: &[Change],
    ) -> impl Iterator<Item = Option<Change>> + use<> {
        let mentioned = match self.last {
            None => all_states(self.nodes, changes),
            Some(_) => changes.to_vec(),
        };
        let again = self.last.replace(time) == Some(time);
        let marker = (again || mentioned.is_empty()).then_some(None);
        marker.into_iter().chain(mentioned.into_iter().map(Some))
    }
}

/// Returns the rows of a whole log in the long form, with their times. `None` is a row without a node, which begins an
/// event that has no changes, or that has the same time as the previous event.
pub fn long_rows(log: &EventLog) -> impl Iterator<Item = (Utc, Option<Change>)> {
    let mut rows = LongRows::new(log.nodes().len());
    log.rows().flat_map(move |(time, changes)| {
        let rows = rows.of_event(time, changes);
        rows.map(move |change| (time, change))
    })
}

/// The state of every node after the first event, which consists of `changes`.
fn all_states(nodes: u32, changes: &[Change]) -> Vec<Change> {
    let mut states: Vec<_> = (0..nodes).map(|node| Change::new(node, false)).collect();
    for change in changes {
        states[change.node() as usize] = *change;
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_depend_on_the_format_and_the_source() {
        let certain = Quality::certain(3600);
        let unsure = Quality {
            unreadable_lines: 1,
            ..Quality::certain(3600)
        };
        let count = |format: Format, quality, has_queue| format.losses(quality, has_queue).len();
        assert_eq!(count(Format::Csv, Some(&unsure), true), 2);
        assert_eq!(count(Format::Csv, Some(&certain), false), 0);
        assert_eq!(count(Format::Csv, None, false), 0);
        assert_eq!(count(Format::Parquet, Some(&unsure), true), 1);
        assert_eq!(count(Format::Gev, Some(&unsure), true), 0);
    }
}
