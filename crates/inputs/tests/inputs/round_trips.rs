//! Tests that the readers read back exactly what the writers wrote.

use gleaner_domain::{Change, EventLog, EventLogBuilder, Utc};
use gleaner_inputs::events::read;
use gleaner_inputs::write::events::{Layout, write};
use proptest::prelude::*;

use super::support::log;

const FORMS: [(&str, Layout); 5] = [
    ("long.csv", Layout::Long),
    ("wide.csv", Layout::Wide),
    ("long.parquet", Layout::Long),
    ("wide.parquet", Layout::Wide),
    ("log.gev", Layout::Long),
];

fn assert_round_trips(log: &EventLog) {
    let folder = tempfile::tempdir().unwrap();
    for (name, layout) in FORMS {
        let path = folder.path().join(name);
        write(log, &path, layout, None).unwrap();
        assert_eq!(read(&path).unwrap().value, *log, "{name}");
    }
}

#[test]
fn rows_without_changes_and_equal_times_survive() {
    assert_round_trips(&log(
        &["never", "a", "b"],
        &[
            (5.0, &[]),
            (5.0, &[(1, true)]),
            (5.0, &[(1, false), (2, true)]),
            (6.25, &[]),
            (6.25, &[]),
            (7.0, &[(2, false)]),
        ],
    ));
}

#[test]
fn names_that_need_quotes_survive() {
    assert_round_trips(&log(
        &["a,b", "say \"hi\"", "two\nlines", "节点 1", " "],
        &[
            (0.0, &[(0, true), (4, true)]),
            (0.000_001, &[(1, true), (2, true), (3, true)]),
        ],
    ));
}

#[test]
fn no_flipped_bit_of_our_parquet_reads_as_another_log() {
    let changes: Vec<_> = (0..40).map(|row| vec![(row % 3, row % 6 < 3)]).collect();
    let rows: Vec<(f64, &[(u32, bool)])> = (0..)
        .zip(&changes)
        .map(|(at, changes)| (60.0 * f64::from(at), changes.as_slice()))
        .collect();
    let log = log(&["a", "b", "c"], &rows);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut found_by_digest = 0;
    for layout in [Layout::Long, Layout::Wide] {
        write(&log, &path, layout, None).unwrap();
        let sound = std::fs::read(&path).unwrap();
        for bit in (0..8 * sound.len()).step_by(13) {
            let mut damaged = sound.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, damaged).unwrap();
            match read(&path) {
                Ok(back) => assert_eq!(back.value, log, "{layout:?}, bit {bit}"),
                Err(error) => {
                    assert_eq!(error.exit_code(), 3);
                    let by_digest = error.to_string().contains("does not match its checksum");
                    found_by_digest += u32::from(by_digest);
                }
            }
        }
    }
    assert!(found_by_digest > 0);
}

/// A random log: some nodes, times with many ties, and rows in which random nodes change state.
fn any_log() -> impl Strategy<Value = EventLog> {
    let rows = |nodes: usize| {
        let step = prop_oneof![Just(0), 1i64..5, 1_000_000_000i64..100_000_000_000];
        prop::collection::vec(
            (
                step,
                prop::collection::vec(prop::bool::weighted(0.3), nodes),
            ),
            1..20,
        )
    };
    (1usize..8).prop_flat_map(rows).prop_map(|rows| {
        let nodes = rows[0].1.len();
        let mut log = EventLogBuilder::new((0..nodes).map(|n| format!("n{n}")).collect());
        let mut idle = vec![false; nodes];
        let mut time = Utc::from_seconds(1_600_000_000);
        for (step, flips) in rows {
            time = Utc(time.0 + step);
            let flipped = (0..nodes).filter(|node| flips[*node]);
            let changes: Vec<_> = flipped
                .map(|node| {
                    idle[node] = !idle[node];
                    Change::new(node as u32, idle[node])
                })
                .collect();
            log.push_row(time, changes);
        }
        log.finish().unwrap()
    })
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(64, 40))]

    #[test]
    fn any_log_survives_every_form(log in any_log()) {
        assert_round_trips(&log);
    }
}
