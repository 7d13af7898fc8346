//! Cut and changed files of every format: each is a fault with a message, or read; never
//! a panic, a hang or a large allocation. Also run at length by hand with
//! `GLEANER_CORRUPTIONS=20000 cargo test --release --test corruption`.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gleaner::domain::{Change, EventLogBuilder, Time};
use gleaner::ingest::{events, tasks};
use gleaner::output::events::{Layout, write};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

/// A sound small file, and how it is read.
struct Sample {
    name: String,
    bytes: Vec<u8>,
    read: fn(&Path) -> gleaner::Result<()>,
}

fn read_events(path: &Path) -> gleaner::Result<()> {
    events::read(path).map(drop)
}

fn read_tasks(path: &Path) -> gleaner::Result<()> {
    tasks::read(path, None, false).map(drop)
}

fn read_bounds(path: &Path) -> gleaner::Result<()> {
    tasks::read(path, Some(&fixture("pickle/curves-2.2.3-p5.pkl")), false).map(drop)
}

fn read_curves(path: &Path) -> gleaner::Result<()> {
    let bounds = path.with_file_name("bounds.pkl");
    if !bounds.exists() {
        std::fs::write(&bounds, self::bounds().bytes).unwrap();
    }
    tasks::read(&bounds, Some(path), false).map(drop)
}

/// A pickle of tasks, with the most nodes on the curves' last point, 4.
fn bounds() -> Sample {
    let mut sample = from_fixture("pickle/tasks-2.2.3-p5.pkl", read_bounds);
    let pair = |first: u64, second: u64| [first.to_le_bytes(), second.to_le_bytes()].concat();
    let at = sample
        .bytes
        .windows(16)
        .position(|found| found == pair(64, 32))
        .unwrap();
    sample.bytes[at..at + 16].copy_from_slice(&pair(4, 3));
    sample
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn from_fixture(name: &str, read: fn(&Path) -> gleaner::Result<()>) -> Sample {
    let path = fixture(name);
    Sample {
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        bytes: std::fs::read(path).unwrap(),
        read,
    }
}

/// A log written by this program.
fn written(name: &str, layout: Layout) -> Sample {
    let mut log = EventLogBuilder::new((0..5).map(|n| format!("node{n}")).collect());
    let mut idle = [false; 5];
    for row in 0..12usize {
        let node = row * 7 % 5;
        idle[node] = !idle[node];
        let time = Time::from_seconds(1_612_915_732 + 61 * row as i64);
        log.push_row(time, [Change::new(node as u32, idle[node])]);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&log.finish(), &path, layout, None).unwrap();
    Sample {
        name: name.to_owned(),
        bytes: std::fs::read(path).unwrap(),
        read: read_events,
    }
}

fn text(name: &str, text: &str) -> Sample {
    Sample {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
        read: read_tasks,
    }
}

fn gzipped(sample: Sample) -> Sample {
    use std::io::Write;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(&sample.bytes).unwrap();
    Sample {
        name: format!("{}.gz", sample.name),
        bytes: out.finish().unwrap(),
        ..sample
    }
}

/// Files of which every prefix is a fault.
fn strict() -> Vec<Sample> {
    vec![
        from_fixture("pickle/events-2.2.3-p4.pkl", read_events),
        from_fixture("pickle/events-1.5.3-p2.pkl", read_events),
        gzipped(from_fixture("pickle/events-3.1.1-p5.pkl", read_events)),
        bounds(),
        from_fixture("pickle/curves-2.2.3-p5.pkl", read_curves),
        from_fixture("parquet/wide-pandas-snappy.parquet", read_events),
        from_fixture("parquet/wide-pandas-gzip.parquet", read_events),
        from_fixture("parquet/wide-pandas-lz4.parquet", read_events),
        from_fixture("parquet/wide-fastparquet.parquet", read_events),
        from_fixture("parquet/wide-polars-bool.parquet", read_events),
        from_fixture("parquet/wide-pyarrow-v2-float.parquet", read_events),
        from_fixture("parquet/long-pandas-category.parquet", read_events),
        from_fixture("parquet/long-polars-text.parquet", read_events),
        from_fixture("parquet/long-pyarrow-delta-text.parquet", read_events),
        from_fixture("parquet/tasks-pandas-lists.parquet", read_tasks),
        from_fixture("parquet/tasks-polars-lists.parquet", read_tasks),
        written("ours-long.parquet", Layout::Long),
        written("ours-wide.parquet", Layout::Wide),
        written("ours.gev", Layout::Long),
        gzipped(written("ours-long.csv", Layout::Long)),
    ]
}

/// Texts, of which a prefix may be a shorter sound file.
fn lenient() -> Vec<Sample> {
    vec![
        written("long.csv", Layout::Long),
        written("wide.csv", Layout::Wide),
        text(
            "tasks.toml",
            "[curve.c]\nnodes = [0, 4]\nprogress = [0, 3.5]\n[[task]]\nname = \"a\"\nmin_nodes = 1\n\
             max_nodes = 4\nrescale_up = 1\nrescale_down = 2\nwork = 1e3\ncurve = \"c\"\n",
        ),
        text(
            "tasks.json",
            r#"{"task": [{"name": "a", "submit": 5, "min_nodes": 1, "max_nodes": 4, "rescale_up": 1,
            "rescale_down": 2, "work": 1e3, "curve": {"nodes": [0, 4], "progress": [0, 3.5]}}]}"#,
        ),
        text(
            "tasks.csv",
            "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress\n\
             a,1,4,1,2,1e3,0;4,0;3.5\nb,1,4,1,2,1e3,0 4,0 3.5\n",
        ),
    ]
}

/// Reads bytes as a file of the sample's name; whether they were sound.
fn is_sound(folder: &TempDir, sample: &Sample, bytes: &[u8]) -> bool {
    let path = folder.path().join(&sample.name);
    // Overwriting a file makes some file systems flush it to disk first.
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, bytes).unwrap();
    let start = Instant::now();
    let outcome = (sample.read)(&path);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{}: {:?}",
        sample.name,
        start.elapsed()
    );
    if let Err(error) = &outcome {
        assert_eq!(error.exit_code(), 3, "{}: {error}", sample.name);
        assert!(!error.to_string().is_empty());
    }
    outcome.is_ok()
}

/// Changes up to four places: bits, bytes, gaps and repetitions.
fn corrupt(rng: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..6) {
            0 => bytes[at] = 0xff,
            1 => bytes[at] = 0,
            2 => bytes[at] ^= 1 << rng.random_range(0..8),
            3 => bytes[at] = rng.random(),
            4 if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => bytes.insert(at, bytes[at]),
        }
    }
}

#[test]
fn the_samples_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    for sample in strict().iter().chain(&lenient()) {
        // It states an encoding that is not read, and its pieces are worth reading all the same.
        let refused = sample.name.contains("delta-text");
        assert_eq!(
            is_sound(&folder, sample, &sample.bytes),
            !refused,
            "{}",
            sample.name
        );
    }
}

#[test]
fn every_prefix_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    for sample in strict() {
        for length in 0..sample.bytes.len() {
            let sound = is_sound(&folder, &sample, &sample.bytes[..length]);
            assert!(!sound, "{} cut to {length} bytes was read", sample.name);
        }
    }
}

#[test]
fn every_prefix_of_a_text_is_a_fault_or_a_shorter_file() {
    let folder = tempfile::tempdir().unwrap();
    for sample in lenient() {
        for length in 0..sample.bytes.len() {
            is_sound(&folder, &sample, &sample.bytes[..length]);
        }
    }
}

#[test]
fn changed_bytes_are_a_fault_or_read() {
    let count = std::env::var("GLEANER_CORRUPTIONS")
        .ok()
        .and_then(|n| n.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    for sample in strict().iter().chain(&lenient()) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut faults = 0;
        let count: usize = count.unwrap_or(200);
        for _ in 0..count {
            let mut bytes = sample.bytes.clone();
            corrupt(&mut rng, &mut bytes);
            faults += usize::from(!is_sound(&folder, sample, &bytes));
        }
        eprintln!("{}: {faults} faults in {count} changed files", sample.name);
        assert!(faults > 0, "{}", sample.name);
    }
}
