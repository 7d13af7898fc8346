//! Writes event logs event by event, so that a log need not fit in memory.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::parquet::Descriptions;
use super::{Format, LongRows, csv, parquet};
use crate::events::gev;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Change, Clock, Fingerprint, NodeClasses, Quality, RowQueue, Utc};
use gleaner_io::files::AtomicFile;

/// Writes the events of a log, one by one, as long CSV, long Parquet or `.gev`.
///
/// The file is identical, byte for byte, to the file that [`super::write`] writes for the whole log.
pub struct EventWriter {
    path: PathBuf,
    nodes: Vec<String>,
    clock: Clock,
    classes: Option<NodeClasses>,
    rows: LongRows,
    fingerprint: Fingerprint,
    sink: Sink,
}

enum Sink {
    Csv(Box<csv::LongWriter<AtomicFile>>),
    Parquet(Box<parquet::LongWriter<AtomicFile>>),
    Gev(gev::Writer<File>),
}

impl EventWriter {
    /// Creates the file of a log with these nodes and an unknown clock. The extension of `path` determines the format.
    ///
    /// # Errors
    /// The extension is unknown, or the file cannot be written.
    pub fn create(path: &Path, nodes: &[String]) -> Result<Self> {
        Self::create_on(path, nodes, &Clock::UNKNOWN, None)
    }

    /// Like [`EventWriter::create`], but for a log with this clock and these classes of nodes.
    ///
    /// # Errors
    /// The extension is unknown, or the file cannot be written.
    pub fn create_on(
        path: &Path,
        nodes: &[String],
        clock: &Clock,
        classes: Option<&NodeClasses>,
    ) -> Result<Self> {
        let format = Format::of(path)?;
        let sink = Sink::create(format, path, nodes, clock, classes)?;
        Ok(EventWriter {
            path: path.to_owned(),
            nodes: nodes.to_vec(),
            clock: clock.clone(),
            classes: classes.cloned(),
            rows: LongRows::new(nodes.len()),
            fingerprint: Fingerprint::new(nodes, parquet::described(clock).as_deref()),
            sink,
        })
    }

    /// Adds an event. The events must follow the rules of [`gleaner_domain::EventLog`]. Only `.gev` stores the queue.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(
        &mut self,
        time: Utc,
        changes: &[Change],
        queue: Option<RowQueue<'_>>,
    ) -> Result<()> {
        let nodes = &self.nodes;
        let mut rows = self.rows.of_event(time, changes);
        let written = match &mut self.sink {
            Sink::Csv(writer) => rows.try_for_each(|change| writer.push(nodes, time, change)),
            Sink::Parquet(writer) => {
                self.fingerprint.push_row(time.0, changes);
                rows.try_for_each(|change| writer.push(time, change))
            }
            Sink::Gev(writer) => writer.push_row(time, changes, queue),
        };
        written.map_err(|e| Error::io("write", &self.path, e))
    }

    /// Ends the log. The file appears at `path` only at this point. CSV does not store the quality.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self, quality: Option<&Quality>) -> Result<()> {
        let written = match self.sink {
            Sink::Csv(writer) => writer.finish(),
            Sink::Parquet(writer) => {
                let descriptions = Descriptions::of(quality, self.classes.as_ref());
                descriptions
                    .texts()
                    .for_each(|text| self.fingerprint.describe(text));
                writer.finish(self.fingerprint.finish(), descriptions)
            }
            Sink::Gev(writer) => {
                let about = gev::About {
                    nodes: &self.nodes,
                    clock: &self.clock,
                    quality,
                    classes: self.classes.as_ref(),
                    source: None,
                };
                return writer.finish_at(&self.path, &about);
            }
        };
        written
            .map_err(|e| Error::io("write", &self.path, e))?
            .finish()
    }
}

impl Sink {
    fn create(
        format: Format,
        path: &Path,
        nodes: &[String],
        clock: &Clock,
        classes: Option<&NodeClasses>,
    ) -> Result<Self> {
        let sink = match format {
            Format::Csv => {
                let file = AtomicFile::create(path)?;
                let table = csv::LongWriter::new(clock, classes.cloned(), file);
                table.map(|table| Sink::Csv(Box::new(table)))
            }
            Format::Parquet => {
                let file = AtomicFile::create(path)?;
                let table = parquet::LongWriter::new(nodes, clock, classes.is_some(), file);
                table.map(|table| Sink::Parquet(Box::new(table)))
            }
            Format::Gev => gev::Writer::spooled().map(Sink::Gev),
        };
        sink.map_err(|e| Error::io("create", path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, write};
    use super::*;
    use gleaner_domain::{EventLog, EventLogBuilder};
    use proptest::prelude::*;

    fn log(rows: &[(i64, Vec<bool>)], clock: &Clock) -> EventLog {
        let mut log = EventLogBuilder::new(vec!["a".into(), "b".into(), "c,d".into()]);
        log.set_clock(clock.clone());
        let mut idle = [false; 3];
        let mut time = -5;
        for (step, flips) in rows {
            time += step;
            let flipped = (0..3).filter(|node| flips[*node]);
            let changes: Vec<_> = flipped
                .map(|node| {
                    idle[node] = !idle[node];
                    Change::new(node as u32, idle[node])
                })
                .collect();
            log.push_row(Utc::from_seconds(time), changes);
        }
        log.finish().unwrap()
    }

    proptest! {
        #![proptest_config(gleaner_testing::slow_cases(256, 40))]

        #[test]
        fn streamed_bytes_are_those_of_the_whole_log(
            rows in prop::collection::vec((0i64..4, prop::collection::vec(any::<bool>(), 3)), 1..12),
            known: bool,
            classes in prop::option::of(prop::sample::subsequence(vec![0, 1, 2], 1..=3)),
        ) {
            let changed = Clock::new(-6 * 3600, [(3, -5 * 3600)]);
            let clock = if known { changed } else { Clock::UNKNOWN };
            let classes = classes.map(|classes| {
                let names = (0..3).map(|node| format!("class \"{}\"", classes[node % classes.len()]));
                NodeClasses::of_names(names.collect::<Vec<_>>().iter().map(String::as_str)).unwrap()
            });
            let log = log(&rows, &clock).with_classes(classes);
            let folder = tempfile::tempdir().unwrap();
            for name in ["x.csv", "x.parquet", "x.gev"] {
                let (whole, streamed) = (folder.path().join(name), folder.path().join(format!("s{name}")));
                write(&log, &whole, Layout::Long, None).unwrap();
                let mut writer = EventWriter::create_on(&streamed, log.nodes(), &clock, log.classes()).unwrap();
                for (row, (time, changes)) in log.rows().enumerate() {
                    writer.push(time, changes, log.queue(row)).unwrap();
                }
                writer.finish(log.quality()).unwrap();
                prop_assert!(std::fs::read(whole).unwrap() == std::fs::read(streamed).unwrap(), "{}", name);
            }
        }
    }
}
