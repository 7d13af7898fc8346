//! Measures the throughput of the engines: replay, simulation and ingest.
//!
//! The inputs are generated with fixed seeds, or are samples from `dataset/`. Each bench measures a library call. The
//! measurement excludes program start-up and the writing of result files.
//!
//! `cargo bench --bench engines -- replay` runs only the replay.
#![expect(
    clippy::unwrap_used,
    reason = "a bench whose generated input is refused may panic"
)]

mod ingest;
mod replay;
mod simulate;

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

/// A group whose benches take a few seconds each.
fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(200));
    group.measurement_time(Duration::from_secs(2));
    group.sample_size(10);
    group
}

criterion_group!(benches, replay::benches, simulate::benches, ingest::benches);
criterion_main!(benches);
