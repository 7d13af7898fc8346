//! Tests that an observer can stop a reader of logs.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use gleaner_domain::Error;
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Options};
use gleaner_testing::StopAfter;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A log of 1.3 MiB that contains only comments.
fn comments() -> String {
    let (mut random, mut text) = (ChaCha8Rng::seed_from_u64(1), String::new());
    for _ in 0..40_000 {
        let [a, b] = random.random::<[u64; 2]>();
        writeln!(text, "; {a:016x}{b:016x}").unwrap();
    }
    text
}

#[test]
fn the_reading_of_a_long_log_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = ["log.swf", "log.swf.gz"].map(|name| folder.path().join(name));
    let text = comments();
    fs::write(&plain, &text).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    fs::write(&packed, encoder.finish().unwrap()).unwrap();
    for file in [plain, packed] {
        for reports in 0..3 {
            let observer = StopAfter::new(reports);
            let read = scheduler::read(
                std::slice::from_ref(&file),
                &Options::new(Format::Swf),
                &observer,
            );
            assert!(matches!(read, Err(Error::Stopped)), "{}", file.display());
            assert_eq!(observer.progress().len(), reports);
        }
    }
}

#[test]
fn the_reading_of_node_events_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let [log, outages] = ["log", "events"].map(|name| folder.path().join(name));
    let job = "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n\
               1|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|1|a\n";
    fs::write(&log, job).unwrap();
    let row = "a|2026-01-01T00:00:00|2026-01-01T00:10:00|DOWN\n";
    let table = format!("NodeName|TimeStart|TimeEnd|State\n{}", row.repeat(40_000));
    fs::write(&outages, table).unwrap();
    let alone = Options::new(Format::Slurm);
    let with_events = Options {
        events: Some(outages),
        ..alone.clone()
    };
    let read = |options: &Options, observer: &StopAfter| {
        scheduler::read(std::slice::from_ref(&log), options, observer)
    };
    let observer = StopAfter::new(usize::MAX);
    read(&alone, &observer).unwrap();
    let of_log = observer.progress().len();
    for reports in [of_log + 1, of_log + 2] {
        let observer = StopAfter::new(reports);
        let stopped = read(&with_events, &observer);
        assert!(matches!(stopped, Err(Error::Stopped)), "{reports}");
        assert_eq!(observer.progress().len(), reports);
    }
}
