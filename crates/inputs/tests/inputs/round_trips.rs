//! Tests that the readers read back exactly what the writers wrote.

use gleaner_domain::results::{Column, Table};
use gleaner_domain::{Change, EventLog, EventLogBuilder, Local, NodeClasses, Utc};
use gleaner_inputs::events::read;
use gleaner_inputs::write::events::{Layout, write};
use gleaner_io::table::WriteTable;
use proptest::prelude::*;

use super::support::{assert_has, fault_of, log, read_text};

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
        // Wide CSV cannot store classes.
        let expected = match name {
            "wide.csv" => log.clone().with_classes(None),
            _ => log.clone(),
        };
        assert_eq!(read(&path).unwrap().value, expected, "{name}");
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
fn classes_are_stated_in_the_rows_of_the_first_event() {
    let classes = NodeClasses::of_names(["v100", "a,100"]).unwrap();
    let log = log(
        &["a", "b"],
        &[(0.0, &[(1, true)]), (0.0, &[(1, false)]), (60.0, &[])],
    );
    let log = log.with_classes(Some(classes));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    write(&log, &path, Layout::Long, None).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "time,node,state,class\n\
         1970-01-01 00:00:00,a,0,v100\n\
         1970-01-01 00:00:00,b,1,\"a,100\"\n\
         1970-01-01 00:00:00,,,\n\
         1970-01-01 00:00:00,b,0,\n\
         1970-01-01 00:01:00,,,\n"
    );
    assert_round_trips(&log);
}

#[test]
fn a_parquet_table_of_another_program_may_have_the_column_class() {
    let read_classes = |classes: [&'static str; 3]| {
        let times = [0, 0, 60].map(Local::from_seconds).to_vec();
        let texts = |texts: [&'static str; 3]| Column::Texts(texts.map(Into::into).to_vec());
        let table = Table {
            name: "events",
            columns: vec![
                ("class", texts(classes)),
                ("time", Column::EveryTime(times)),
                ("node", texts(["a", "b", "a"])),
                ("state", Column::Integers(vec![1, 0, 0])),
            ],
        };
        let mut bytes = Vec::new();
        table.write_parquet(&mut bytes).unwrap();
        read_text("x.parquet", bytes)
    };
    let log = read_classes(["v100", "a100", "v100"]).unwrap();
    assert_eq!(
        log.classes(),
        NodeClasses::of_names(["v100", "a100"]).as_ref()
    );
    assert_has(
        &fault_of(read_classes(["v100", "a100", "a100"])),
        &["row 2 (counting from 0), class: found \"a100\" for node \"a\", but \"v100\" in row 0"],
    );
}

#[test]
fn classes_without_nodes_survive_in_parquet_and_gev() {
    let names = ["none", "v100", "other"].map(str::to_owned).to_vec();
    let classes = NodeClasses::new(names, vec![1, 1]).unwrap();
    let log = log(&["a", "b"], &[(0.0, &[(1, true)])]).with_classes(Some(classes));
    let folder = tempfile::tempdir().unwrap();
    for (name, layout) in FORMS
        .into_iter()
        .filter(|(name, _)| !name.ends_with(".csv"))
    {
        let path = folder.path().join(name);
        write(&log, &path, layout, None).unwrap();
        assert_eq!(read(&path).unwrap().value, log, "{name}");
    }
}

#[test]
fn no_flipped_bit_of_our_parquet_reads_as_another_log() {
    let changes: Vec<_> = (0..40).map(|row| vec![(row % 3, row % 6 < 3)]).collect();
    let rows: Vec<(f64, &[(u32, bool)])> = (0..)
        .zip(&changes)
        .map(|(at, changes)| (60.0 * f64::from(at), changes.as_slice()))
        .collect();
    let classes = NodeClasses::of_names(["v100", "a100", "v100"]).unwrap();
    let log = log(&["a", "b", "c"], &rows).with_classes(Some(classes));
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

/// A random log. Its nodes may have classes, many rows have the same time as the row before, and random nodes change
/// state in each row.
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
    let classes = prop::option::of(prop::collection::vec("[a-c,\" ]", 7));
    let log = (1usize..8).prop_flat_map(rows);
    (log, classes).prop_map(|(rows, classes)| {
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
        log.set_classes(classes.map(|classes| {
            let names = classes[..nodes].iter().map(String::as_str);
            NodeClasses::of_names(names).unwrap()
        }));
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
