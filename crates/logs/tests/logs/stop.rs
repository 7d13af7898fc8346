//! Stopping a reader of logs.

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
