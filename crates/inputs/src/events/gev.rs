//! Reads and writes `.gev` files, which are small caches of event logs that load quickly.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic: `89 47 45 56 0d 0a 1a 0a` |
//! | 2 | format version, little-endian |
//! | … | the file from which the cache was made: name, length, SHA-256 |
//! | … | names of nodes; first time; unit of time; number of rows; times; changes |
//! | … | in version 2: the clock |
//! | … | in version 3: the clock, the quality, and the batch queue, each of which may be missing |
//! | … | in version 4: everything in version 3, followed by the classes of the nodes |
//! | 32 | SHA-256 of all bytes before it |
//!
//! A log with classes of nodes has version 4. A log without classes has version 3 if it has a quality or a batch queue.
//! Any other log has version 2 if its clock is known, and version 1 if its clock is unknown. The clock is stored as its
//! first offset from UTC in seconds, followed by its changes. Each change consists of the time at which it takes
//! effect, in nanoseconds, and the new offset. All times in the file are ahead of UTC by the first offset: see
//! [`Clock::steady`](gleaner_domain::Clock::steady).
//!
//! The quality is a line of JSON, which is empty if the quality is missing. The queue begins with a byte, which is 0 if
//! the queue is missing. The byte is 1 if the queue records only which jobs took nodes, and 2 if it also records the
//! pending jobs. The rows of the queue ([`RowQueue`]) follow. If the queue records the pending jobs, each row begins
//! with the number of pending jobs and the number of nodes that they requested. Next come the number of jobs that took
//! nodes, the node count of each of these jobs, and, for each node that becomes busy, the job that took it.
//!
//! The classes are stored as the number of classes, their names, and the index of each node's class.
//!
//! All parts between the format version and the last digest are encoded with bincode 2, with variable-length integers.
//! Times are stored as steps from one row to the next. The unit of the steps is the largest number of nanoseconds that
//! divides all of them. For every row, the changes are the nodes whose state flips. Each node is stored as the number
//! of nodes between this node and the previous node of the row. Before the first row, every node is busy, so the states
//! follow from the flips. Before memory is allocated for a length, the length is checked against the number of
//! remaining bytes.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

use bincode::config::{Configuration, standard};
use bincode::{BorrowDecode, Encode};

use gleaner_domain::Digest;
use gleaner_domain::clock::MOST_OFFSET;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::events::{MAX_NODES, MAX_ROWS};
use gleaner_domain::node_classes::MAX_CLASSES;
use gleaner_domain::{
    Change, Clock, EventLog, EventLogBuilder, Local, NodeClasses, Pending, Quality, RowQueue, Utc,
};
use gleaner_io::files::{self, Hashed};
use gleaner_io::source::{GEV_MAGIC, SourceId};

/// Format version for logs whose clock is unknown.
const WITHOUT_CLOCK: u16 = 1;

/// Format version for logs whose clock is known.
const WITH_CLOCK: u16 = 2;

/// Format version for logs with a quality or a batch queue.
const WITH_QUEUE: u16 = 3;

/// Format version for logs with classes of nodes, which is the latest version.
pub const VERSION: u16 = 4;

/// The values of the first byte of the batch queue.
const NO_QUEUE: u8 = 0;
const TAKERS: u8 = 1;
const TAKERS_AND_PENDING: u8 = 2;

/// The encoding of all parts except the magic, the version and the last digest.
const CONFIG: Configuration = standard();
/// Length of a SHA-256 digest, in bytes.
const DIGEST: usize = 32;
const REMEDY: &str = "recreate it with `gleaner convert`";

/// The content of a `.gev` file.
#[derive(Debug, Clone, PartialEq)]
pub struct Cache {
    /// The event log.
    pub log: EventLog,
    /// Name of the source file, from which the cache was made, without its folder; empty if there was no source file.
    pub source_name: String,
    /// Length of the source file in bytes; 0 if there was no source file.
    pub source_length: u64,
    /// SHA-256 of the source file; zeros if there was no source file.
    pub source_sha256: Digest,
}

impl Cache {
    /// Whether the cache was made from a file with the length and the digest in `id`.
    pub fn is_of(&self, id: &SourceId) -> bool {
        self.source_length == id.length && self.source_sha256 == id.sha256
    }

    /// The path of the file from which the cache was made, if that file is in the same folder as `cache`.
    pub fn origin_beside(&self, cache: &Path) -> Option<PathBuf> {
        let name = Path::new(&self.source_name);
        // This program writes only plain file names. A name with a folder is not trusted.
        if name.file_name()? != name.as_os_str() {
            return None;
        }
        let origin = cache.with_file_name(name);
        (origin.is_file() && origin != cache).then_some(origin)
    }
}

/// Writes a log as a `.gev` file, completely or not at all. `source` is the file from which the log was read.
///
/// # Errors
/// The file cannot be written.
pub fn write(log: &EventLog, path: &Path, source: Option<&SourceId>) -> Result<()> {
    files::write_bytes(path, &encode(log, source)?)
}

/// Encodes a log as the content of a `.gev` file.
///
/// # Errors
/// The log violates the rules of [`EventLog`], or does not fit in memory.
pub fn encode(log: &EventLog, source: Option<&SourceId>) -> Result<Vec<u8>> {
    let in_memory = |error| Error::Run(format!("cannot encode the event log: {error}"));
    let mut writer = Writer::new([(); 3].map(|()| Cursor::new(Vec::new())));
    for (row, (time, changes)) in log.rows().enumerate() {
        let written = writer.push_row(time, changes, log.queue(row));
        written.map_err(in_memory)?;
    }
    let mut out = Vec::new();
    let about = About {
        nodes: log.nodes(),
        clock: log.clock(),
        quality: log.quality(),
        classes: log.classes(),
        source,
    };
    writer.finish(&about, &mut out).map_err(in_memory)?;
    Ok(out)
}

/// The properties of a log that a file stores in addition to the rows.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Names of the nodes.
    pub nodes: &'a [String],
    /// The clock of the log.
    pub clock: &'a Clock,
    /// The quality of the log, if it is known.
    pub quality: Option<&'a Quality>,
    /// The classes of the nodes, if they have any.
    pub classes: Option<&'a NodeClasses>,
    /// The file from which the log was read, if any.
    pub source: Option<&'a SourceId>,
}

/// Writes a log row by row, without holding it in memory. The file contains all times, then all changes, then the
/// queue. All three are therefore spooled until the last row has been added.
#[derive(Debug)]
pub struct Writer<S: Write> {
    steps: BufWriter<S>,
    changes: BufWriter<S>,
    queue: BufWriter<S>,
    /// The first byte of the queue.
    has_queue: u8,
    /// Time of the first row; `None` before that row is added.
    first: Option<Utc>,
    /// Time of the last row so far.
    last: Utc,
    /// The largest number of nanoseconds that divides all steps between times so far; 0 if all steps so far are 0.
    unit: u64,
    rows: u64,
}

impl Writer<File> {
    /// Creates a writer that spools to temporary files.
    ///
    /// # Errors
    /// A temporary file cannot be created.
    pub fn spooled() -> io::Result<Self> {
        Ok(Writer::new([
            tempfile::tempfile()?,
            tempfile::tempfile()?,
            tempfile::tempfile()?,
        ]))
    }

    /// Writes the file, completely or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish_at(self, path: &Path, about: &About<'_>) -> Result<()> {
        files::write(path, |out| self.finish(about, out))
    }
}

impl<S: Read + Write + Seek> Writer<S> {
    fn new(spools: [S; 3]) -> Self {
        let [steps, changes, queue] = spools.map(|spool| BufWriter::with_capacity(1 << 16, spool));
        Writer {
            steps,
            changes,
            queue,
            has_queue: NO_QUEUE,
            first: None,
            last: Utc(0),
            unit: 0,
            rows: 0,
        }
    }

    /// Adds a row, which must follow the rules of [`EventLog`]. Either all rows have a queue, or no row has one.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn push_row(
        &mut self,
        time: Utc,
        changes: &[Change],
        queue: Option<RowQueue<'_>>,
    ) -> io::Result<()> {
        if self.first.is_some() {
            // Two ordered `i64` differ by at most `u64::MAX`.
            let step = time.0.abs_diff(self.last.0);
            self.unit = greatest_common_divisor(self.unit, step);
            put(&mut self.steps, step)?;
        }
        self.first.get_or_insert(time);
        self.last = time;
        self.rows += 1;
        put(&mut self.changes, changes.len())?;
        let mut next = 0;
        for change in changes {
            put(&mut self.changes, change.node() - next)?;
            next = change.node() + 1;
        }
        match queue {
            Some(queue) => self.push_queue(changes, &queue),
            None => Ok(()),
        }
    }

    fn push_queue(&mut self, changes: &[Change], queue: &RowQueue<'_>) -> io::Result<()> {
        self.has_queue = match queue.pending {
            None => TAKERS,
            Some(pending) => {
                put(&mut self.queue, (pending.jobs, pending.nodes))?;
                TAKERS_AND_PENDING
            }
        };
        put(&mut self.queue, queue.jobs)?;
        let takers = changes.iter().zip(queue.takers);
        let mut of_busy = takers.filter(|(change, _)| !change.idle());
        of_busy.try_for_each(|(_, taker)| put(&mut self.queue, *taker))
    }

    /// Writes the parts of the file in order, with the spooled times, changes and queue.
    fn finish(self, about: &About<'_>, out: &mut impl Write) -> io::Result<()> {
        let About {
            nodes,
            clock,
            quality,
            classes,
            source,
        } = *about;
        let mut out = Hashed::new(out);
        out.write_all(&GEV_MAGIC)?;
        let version = if classes.is_some() {
            VERSION
        } else if quality.is_some() || self.has_queue != NO_QUEUE {
            WITH_QUEUE
        } else if clock.is_known() {
            WITH_CLOCK
        } else {
            WITHOUT_CLOCK
        };
        out.write_all(&version.to_le_bytes())?;
        let name = source.and_then(|s| s.path.file_name()).unwrap_or_default();
        put(&mut out, name.to_string_lossy().as_ref())?;
        put(&mut out, source.map_or(0, |s| s.length))?;
        put(&mut out, source.map_or([0; DIGEST], |s| s.sha256.0))?;
        put(&mut out, nodes)?;
        put(&mut out, self.first.map_or(0, |time| clock.steady(time).0))?;
        let unit = self.unit.max(1);
        put(&mut out, unit)?;
        put(&mut out, self.rows)?;
        let mut steps = rewound(self.steps)?;
        for _ in 1..self.rows {
            let step: u64 = bincode::decode_from_std_read(&mut steps, CONFIG).map_err(other)?;
            put(&mut out, step / unit)?;
        }
        io::copy(&mut rewound(self.changes)?, &mut out)?;
        if version >= WITH_QUEUE {
            put(&mut out, clock.is_known())?;
        }
        if clock.is_known() {
            put_clock(&mut out, clock)?;
        }
        if version >= WITH_QUEUE {
            put(&mut out, quality.map(Quality::to_text).unwrap_or_default())?;
            put(&mut out, self.has_queue)?;
            io::copy(&mut rewound(self.queue)?, &mut out)?;
        }
        if let Some(classes) = classes {
            put(&mut out, classes.names())?;
            for class in classes.of_nodes() {
                put(&mut out, *class)?;
            }
        }
        let (out, _, digest) = out.finish()?;
        out.write_all(&digest.0)
    }
}

/// Rewinds a spool, and returns a reader that starts at the beginning of the spool.
fn rewound<S: Read + Write + Seek>(spool: BufWriter<S>) -> io::Result<BufReader<S>> {
    let mut spool = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    spool.rewind()?;
    Ok(BufReader::with_capacity(1 << 16, spool))
}

fn put(out: &mut impl Write, value: impl Encode) -> io::Result<()> {
    bincode::encode_into_std_write(value, out, CONFIG)
        .map(drop)
        .map_err(other)
}

fn put_clock(out: &mut impl Write, clock: &Clock) -> io::Result<()> {
    put(out, clock.first_offset())?;
    put(out, clock.changes().len())?;
    for (from, offset) in clock.changes() {
        put(out, (clock.steady(*from).0, *offset))?;
    }
    Ok(())
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(error)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Decodes the bytes of a `.gev` file. `path` is used only in messages.
///
/// # Errors
/// The bytes are not a `.gev` file, have an unknown version, or are truncated or damaged.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<Cache> {
    let fault = |found: &str, expected: &str| Fault::of(path, found, expected).remedy(REMEDY);
    let Some(rest) = bytes.strip_prefix(&GEV_MAGIC) else {
        return Err(fault("no .gev signature at the start of the file", "a .gev file").into());
    };
    let Some((version, _)) = rest.split_first_chunk() else {
        return Err(fault("a truncated file", "a complete .gev file").into());
    };
    let version = u16::from_le_bytes(*version);
    if !(WITHOUT_CLOCK..=VERSION).contains(&version) {
        let expected = format!("a version from 1 to {VERSION}");
        return Err(fault(&format!("format version {version}"), &expected).into());
    }
    let Some((content, digest)) = bytes.split_last_chunk::<DIGEST>() else {
        return Err(fault("a truncated file", "a complete .gev file").into());
    };
    if Digest::of(content).0 != *digest {
        return Err(fault("a damaged file", "content that matches its checksum").into());
    }
    let body = Body {
        version,
        rest: content.get(GEV_MAGIC.len() + 2..).unwrap_or_default(),
    };
    body.cache()
        .ok_or_else(|| fault("content that violates the format's rules", "a .gev file").into())
}

/// The part of a `.gev` file that has not been read yet. Methods return `None` if this part violates the rules of the
/// format.
struct Body<'a> {
    version: u16,
    rest: &'a [u8],
}

impl<'a> Body<'a> {
    fn cache(mut self) -> Option<Cache> {
        let source_name = self.take::<&str>()?.to_owned();
        let source_length = self.take()?;
        let source_sha256 = Digest(self.take()?);
        let nodes = self.nodes()?;
        let times = self.times()?;
        let mut log = self.log(nodes, &times)?;
        let has_clock = match self.version {
            WITHOUT_CLOCK => false,
            WITH_CLOCK => true,
            _ => self.take()?,
        };
        if has_clock {
            let clock = self.clock()?;
            log.shift(-i64::from(clock.first_offset()));
            log.set_clock(clock);
        }
        if self.version > WITH_CLOCK {
            log.set_quality(self.quality()?);
            self.queue(&mut log)?;
        }
        if self.version > WITH_QUEUE {
            let classes = self.classes(log.nodes().len())?;
            log.set_classes(Some(classes));
        }
        let log = log.finish().ok()?;
        self.rest.is_empty().then_some(Cache {
            log,
            source_name,
            source_length,
            source_sha256,
        })
    }

    /// Reads a value. Strings are borrowed, so no memory is allocated for their stated length.
    fn take<T: BorrowDecode<'a, ()>>(&mut self) -> Option<T> {
        let (value, read) = bincode::borrow_decode_from_slice(self.rest, CONFIG).ok()?;
        self.rest = self.rest.get(read..)?;
        Some(value)
    }

    /// Reads the number of values that follow. This number must not exceed the number of remaining bytes, because each
    /// value takes at least one byte.
    fn length(&mut self) -> Option<usize> {
        let length = usize::try_from(self.take::<u64>()?).ok()?;
        (length <= self.rest.len()).then_some(length)
    }

    /// Reads the names of the nodes.
    fn nodes(&mut self) -> Option<Vec<String>> {
        let count = self.length().filter(|count| *count <= MAX_NODES)?;
        (0..count).map(|_| self.take().map(str::to_owned)).collect()
    }

    /// Reads the times of the rows. If the file has a clock, the times are ahead of UTC by the clock's first offset.
    fn times(&mut self) -> Option<Vec<Utc>> {
        let mut time: i64 = self.take()?;
        let unit: u64 = self.take()?;
        // The first row has no step, so the number of rows can exceed the number of remaining bytes by one.
        let count = usize::try_from(self.take::<u64>()?).ok()?;
        if count > self.rest.len() + 1 || count > MAX_ROWS {
            return None;
        }
        let mut times = Vec::with_capacity(count);
        for row in 0..count {
            if row > 0 {
                let step = self.take::<u64>()?.checked_mul(unit)?;
                time = time.checked_add_unsigned(step)?;
            }
            times.push(Utc(time));
        }
        Some(times)
    }

    /// Reads the changes of every row into a log.
    fn log(&mut self, nodes: Vec<String>, times: &[Utc]) -> Option<EventLogBuilder> {
        let mut idle = vec![false; nodes.len()];
        let mut log = EventLogBuilder::new(nodes);
        let mut changes = Vec::new();
        for time in times {
            changes.clear();
            let mut next = 0u32;
            for _ in 0..self.length()? {
                let node = next.checked_add(self.take()?)?;
                let state = idle.get_mut(node as usize)?;
                *state = !*state;
                changes.push(Change::new(node, *state));
                next = node + 1;
            }
            log.push_row(*time, changes.iter().copied());
            if log.is_too_large() {
                return None;
            }
        }
        Some(log)
    }

    /// Reads the clock. Returns `None` if the changes of the clock are not in chronological order.
    fn clock(&mut self) -> Option<Clock> {
        let mut clock = Clock::new(self.offset()?, []);
        let mut last = Utc(i64::MIN);
        for _ in 0..self.length()? {
            let from = clock.of_steady(Local(self.take()?));
            if from <= last {
                return None;
            }
            clock.change(from, self.offset()?);
            last = from;
        }
        Some(clock)
    }

    /// Reads the quality, which may be missing.
    fn quality(&mut self) -> Option<Option<Quality>> {
        match self.take()? {
            "" => Some(None),
            text => Quality::from_text(text).map(Some),
        }
    }

    /// Reads the batch queue into the rows of the log. The queue may be missing.
    fn queue(&mut self, log: &mut EventLogBuilder) -> Option<()> {
        let has_pending = match self.take()? {
            NO_QUEUE => return Some(()),
            TAKERS => false,
            TAKERS_AND_PENDING => true,
            _ => return None,
        };
        let (mut jobs, mut takers) = (Vec::new(), Vec::new());
        for row in 0..log.len() {
            let pending = if has_pending {
                let (jobs, nodes) = self.take()?;
                Some(Pending { jobs, nodes })
            } else {
                None
            };
            jobs.clear();
            for _ in 0..self.length()? {
                jobs.push(self.take()?);
            }
            takers.clear();
            for change in log.changes(row) {
                takers.push(if change.idle() { 0 } else { self.take()? });
            }
            log.push_queue(RowQueue {
                pending,
                jobs: &jobs,
                takers: &takers,
            });
        }
        Some(())
    }

    /// Reads the classes of `nodes` nodes.
    fn classes(&mut self, nodes: usize) -> Option<NodeClasses> {
        let count = self.length().filter(|count| *count <= MAX_CLASSES)?;
        let names: Option<_> = (0..count).map(|_| self.take().map(str::to_owned)).collect();
        let of_node: Option<_> = (0..nodes).map(|_| self.take()).collect();
        NodeClasses::new(names?, of_node?)
    }

    /// Reads an offset from UTC in seconds.
    fn offset(&mut self) -> Option<i32> {
        let offset: i32 = self.take()?;
        (offset.abs() <= MOST_OFFSET).then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> EventLog {
        let mut log = EventLogBuilder::new(vec!["a".into(), "b".into(), "c".into()]);
        log.push_row(
            Utc::from_seconds(100),
            [Change::new(0, true), Change::new(2, true)],
        );
        log.push_row(Utc::from_seconds(160), []);
        log.push_row(Utc::from_seconds(160), [Change::new(2, false)]);
        log.finish().unwrap()
    }

    fn path() -> &'static Path {
        Path::new("x.gev")
    }

    #[test]
    fn the_source_is_kept() {
        let id = SourceId {
            path: PathBuf::from("logs/x.tar.gz"),
            length: 12,
            sha256: Digest::of(b"hello world!"),
        };
        let cache = decode(path(), &encode(&sample(), Some(&id)).unwrap()).unwrap();
        assert_eq!(cache.log, sample());
        assert_eq!(cache.source_name, "x.tar.gz");
        assert!(cache.is_of(&id));
        assert!(!cache.is_of(&SourceId { length: 13, ..id }));
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_detected() {
        let bytes = encode(&sample(), None).unwrap();
        for length in 0..bytes.len() {
            decode(path(), &bytes[..length]).unwrap_err();
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            decode(path(), &damaged).unwrap_err();
        }
    }

    #[test]
    fn another_version_is_reported() {
        let mut bytes = encode(&sample(), None).unwrap();
        bytes[8] = 9;
        let message = decode(path(), &bytes).unwrap_err().to_string();
        assert!(
            message.contains("format version 9, expected a version from 1 to 4"),
            "{message}"
        );
        assert!(message.contains("gleaner convert"), "{message}");
    }

    #[test]
    fn the_clock_is_kept_and_without_one_version_1_is_written() {
        let mut log = EventLogBuilder::new(vec!["a".into()]);
        log.push_row(Utc::from_seconds(100), [Change::new(0, true)]);
        let unknown = encode(&log.clone().finish().unwrap(), None).unwrap();
        assert_eq!(unknown[8], 1);
        let clock = Clock::new(-6 * 3600, [(120, -5 * 3600), (180, -6 * 3600)]);
        log.set_clock(clock);
        let log = log.finish().unwrap();
        let bytes = encode(&log, None).unwrap();
        assert_eq!(bytes[8], 2);
        assert_eq!(decode(path(), &bytes).unwrap().log, log);
    }

    fn with_queue(has_pending: bool) -> EventLog {
        let mut log = EventLogBuilder::new(vec!["a".into(), "b".into()]);
        log.set_quality(Some(Quality::certain(7200)));
        let pending = |jobs, nodes| has_pending.then_some(Pending { jobs, nodes });
        log.push_row(
            Utc::from_seconds(0),
            [Change::new(0, true), Change::new(1, true)],
        );
        log.push_queue(RowQueue {
            pending: pending(0, 0),
            jobs: &[],
            takers: &[0, 0],
        });
        log.push_row(
            Utc::from_seconds(3600),
            [Change::new(0, false), Change::new(1, false)],
        );
        log.push_queue(RowQueue {
            pending: pending(2, 300),
            jobs: &[4, 1],
            takers: &[2, 0],
        });
        log.finish().unwrap()
    }

    #[test]
    fn the_quality_and_the_queue_are_kept_in_version_3() {
        for has_pending in [false, true] {
            let log = with_queue(has_pending);
            let bytes = encode(&log, None).unwrap();
            assert_eq!(bytes[8], 3);
            let read = decode(path(), &bytes).unwrap().log;
            assert_eq!(read, log);
            let queue = read.queue(1).unwrap();
            assert_eq!((queue.jobs, queue.takers), (&[4, 1][..], &[2, 0][..]));
            let expected = has_pending.then_some(Pending {
                jobs: 2,
                nodes: 300,
            });
            assert_eq!(queue.pending, expected);
        }
    }

    #[test]
    fn the_classes_are_kept_in_version_4() {
        for log in [sample(), with_queue(false)] {
            let names = vec!["v100".to_owned(), "none".to_owned(), "a100".to_owned()];
            let of_node = (0..log.nodes().len() as u16).map(|node| 2 * (node % 2));
            let classes = NodeClasses::new(names, of_node.collect()).unwrap();
            let without = encode(&log, None).unwrap();
            let log = log.with_classes(Some(classes));
            let bytes = encode(&log, None).unwrap();
            assert_eq!((without[8] < 4, bytes[8]), (true, 4));
            assert_eq!(decode(path(), &bytes).unwrap().log, log);
            for length in 0..bytes.len() {
                decode(path(), &bytes[..length]).unwrap_err();
            }
        }
    }

    #[test]
    fn classes_of_other_nodes_are_refused() {
        // The part of a version 4 file that precedes the classes. The file has one node and one row.
        let body = [&[0, 0][..], &[0; 32], &[1, 1, b'a', 0, 1, 1, 1, 0, 0, 0, 0]].concat();
        let with = |classes: &[u8]| decode(path(), &signed_as(VERSION, &[&body, classes].concat()));
        assert!(with(&[1, 1, b'x', 0]).is_ok());
        let huge = [253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        for wrong in [
            &[][..],
            &[1, 1, b'x'],
            &[1, 1, b'x', 1],
            &[1, 1, b'x', 0, 0],
            &[1, 0, 0],
            &[2, 1, b'x', 1, b'x', 0],
            &[0],
            &huge,
        ] {
            assert!(with(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_queue_of_other_rows_is_refused() {
        let mut log = EventLogBuilder::new(vec!["a".into()]);
        for (second, taker) in [(0, 0), (60, 1)] {
            log.push_row(Utc::from_seconds(second), [Change::new(0, taker == 0)]);
            log.push_queue(RowQueue {
                pending: None,
                jobs: &[],
                takers: &[taker],
            });
        }
        let bytes = encode(&log.finish_trusted(), None).unwrap();
        decode(path(), &bytes).unwrap_err();
    }

    /// A file with the given content and a valid checksum.
    fn signed(body: &[u8]) -> Vec<u8> {
        signed_as(WITHOUT_CLOCK, body)
    }

    fn signed_as(version: u16, body: &[u8]) -> Vec<u8> {
        let mut out = [&GEV_MAGIC[..], &version.to_le_bytes(), body].concat();
        out.extend(Digest::of(&out).0);
        out
    }

    // Tests fixed examples of invalid content that has a valid checksum.
    #[test]
    fn lengths_beyond_the_file_allocate_nothing() {
        let huge = [253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        decode(path(), &signed(&huge)).unwrap_err();
        let head = [&[0, 0][..], &[0; 32]].concat();
        decode(path(), &signed(&[&head[..], &huge].concat())).unwrap_err();
        decode(path(), &signed(&[&head[..], &[0, 0, 1], &huge].concat())).unwrap_err();
        decode(path(), &signed(&[&head[..], &[0, 0, 1, 1], &huge].concat())).unwrap_err();
        // One node, one row, and a change of node 1, which does not exist.
        decode(
            path(),
            &signed(&[&head[..], &[1, 1, b'a', 0, 1, 1, 1, 1]].concat()),
        )
        .unwrap_err();
        decode(
            path(),
            &signed(&[&head[..], &[1, 1, b'a', 0, 1, 1, 1, 0]].concat()),
        )
        .unwrap();
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn any_body_with_a_correct_checksum_is_read_or_refused(body: Vec<u8>) {
            let head = [&[0, 0][..], &[0; 32], &body].concat();
            // One node, one row, a change of node 0, and then random bytes in place of the clock.
            let clock = [&[0, 0][..], &[0; 32], &[1, 1, b'a', 0, 1, 1, 1, 0], &body].concat();
            // The same row, an unknown clock, no quality, and then random bytes in place of the queue.
            let queue = [&[0, 0][..], &[0; 32], &[1, 1, b'a', 0, 1, 1, 1, 0, 0, 0, 1], &body].concat();
            let _ = decode(path(), &signed_as(VERSION, &queue));
            // The same row, an unknown clock, no quality, no queue, and then random bytes in place of the classes.
            let classes = [&[0, 0][..], &[0; 32], &[1, 1, b'a', 0, 1, 1, 1, 0, 0, 0, 0], &body].concat();
            let _ = decode(path(), &signed_as(VERSION, &classes));
            for version in [WITHOUT_CLOCK, WITH_CLOCK, WITH_QUEUE, VERSION] {
                let _ = decode(path(), &signed_as(version, &body));
                let _ = decode(path(), &signed_as(version, &head));
                let _ = decode(path(), &signed_as(version, &clock));
            }
        }
    }
}
