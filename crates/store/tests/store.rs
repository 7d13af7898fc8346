//! Tests stores to which several writers add, some of which are killed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use gleaner_domain::error::Error;
use gleaner_store::{Ended, Found, PartName, RunKey, Store, Tracker};
use proptest::prelude::*;
use serde_json::json;

fn key(name: &str) -> RunKey {
    RunKey::of(name.as_bytes())
}

fn read(store: &Store) -> Found<f64> {
    store.read(|_| true).unwrap()
}

fn segments(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("runs")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_writers_add_is_found_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    assert!(read(&store).results.is_empty(), "there is no folder yet");
    let part = |part| {
        let batch = "b".to_owned();
        Some(PartName { batch, part })
    };
    let (one, two) = (store.writer(part(1)), store.writer(part(2)));
    for name in ["a", "b", "c"] {
        one.begin(key(name)).unwrap();
    }
    one.save(key("a"), &json!({"seed": 1}), &0.1, 2.5).unwrap();
    one.fail(key("b"), &Error::Run("no nodes".into())).unwrap();
    two.begin(key("b")).unwrap();
    two.save(key("b"), &json!({}), &7.0, 1.0).unwrap();
    let ended = Ended {
        code: 1,
        message: "c".into(),
    };
    one.fail(key("c"), &Error::Run("no tasks".into())).unwrap();
    one.end(ended.clone()).unwrap();
    let mut tracker = Tracker::default();
    tracker.update(&store).unwrap();
    let found = read(&store);
    assert_eq!(found.results[&key("a")].result, 0.1);
    assert_eq!(found.results[&key("a")].seconds, 2.5);
    assert_eq!(found.results[&key("b")].result, 7.0);
    let failed: Vec<_> = found.failures.iter().collect();
    assert_eq!(failed.len(), 1, "a run that is done has not failed");
    assert_eq!((failed[0].0, failed[0].1.code), (&key("c"), 1));
    assert!(failed[0].1.message.contains("no tasks"));
    assert_eq!(found.begun_again(), 1);
    let ends: Vec<_> = found
        .parts
        .iter()
        .map(|p| (p.name.part, &p.ended))
        .collect();
    assert!(ends.contains(&(1, &Some(ended))) && ends.contains(&(2, &None)));
    assert!(tracker.is_done(&key("b")) && !tracker.has_failed(&key("b")));
    assert!(tracker.has_failed(&key("c")));
    assert!(found.running.is_empty(), "all started runs have ended");
    two.begin(key("d")).unwrap();
    let running: Vec<_> = read(&store).running.into_iter().collect();
    assert_eq!(running, [key("d")]);
    // Runs that `is_wanted` rejects are not read.
    let some: Found<f64> = store.read(|run| *run == key("a")).unwrap();
    assert_eq!(
        (some.results.len(), some.failures.len(), some.begun.len()),
        (1, 0, 1)
    );
    // A merge after both writers are dropped leaves one file with the same results.
    store.merge(|_| true).unwrap();
    assert_eq!(segments(folder.path()).len(), 2, "both writers may append");
    drop((one, two));
    assert!(
        read(&store).running.is_empty(),
        "their processes have ended"
    );
    store.merge(|run| *run != key("c")).unwrap();
    assert_eq!(segments(folder.path()).len(), 2, "a run of another plan");
    store.merge(|_| true).unwrap();
    assert_eq!(segments(folder.path()).len(), 1);
    let merged = read(&store);
    assert_eq!(merged.results, found.results);
    assert_eq!((merged.begun_again(), merged.damaged), (1, 0));
    store.merge(|_| true).unwrap();
    tracker.update(&store).unwrap();
    assert!(tracker.is_done(&key("a")));
}

#[test]
fn a_writer_with_nothing_to_say_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    drop(store.writer(None));
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn a_tracker_reads_a_line_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    store.writer(None).save(key("a"), &(), &1.0, 0.0).unwrap();
    let segment = &segments(folder.path())[0];
    let line = fs::read(segment).unwrap();
    fs::write(segment, &line[..40]).unwrap();
    let mut tracker = Tracker::default();
    tracker.update(&store).unwrap();
    assert!(!tracker.is_done(&key("a")));
    let mut rest = OpenOptions::new().append(true).open(segment).unwrap();
    rest.write_all(&line[40..]).unwrap();
    tracker.update(&store).unwrap();
    assert!(tracker.is_done(&key("a")));
}

#[test]
fn other_results_and_other_files_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    store
        .writer(None)
        .save(key("a"), &(), &"text", 0.0)
        .unwrap();
    fs::write(folder.path().join("runs/.x.records.part"), "half").unwrap();
    fs::write(folder.path().join("runs/notes.txt"), "mine").unwrap();
    let found = read(&store);
    assert_eq!((found.results.len(), found.damaged), (0, 1));
}

#[test]
fn what_is_not_a_regular_file_is_refused_and_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    for name in ["a", "b"] {
        store.writer(None).save(key(name), &(), &1.0, 0.0).unwrap();
    }
    // If the folder is a symbolic link, nothing is removed.
    let linking = tempfile::tempdir().unwrap();
    symlink(folder.path().join("runs"), linking.path().join("runs")).unwrap();
    let linked = Store::at(linking.path());
    assert_eq!(read(&linked).results.len(), 2);
    linked.merge(|_| true).unwrap();
    assert_eq!(segments(folder.path()).len(), 2);
    // No process writes to the pipe, so a reader that opens it would wait forever.
    let pipe = folder.path().join("runs/x.records");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reads = [
        store.read::<f64>(|_| true).map(drop),
        store.merge(|_| true),
        Tracker::default().update(&store),
    ];
    for refused in reads {
        let error = refused.unwrap_err();
        assert_eq!(error.exit_code(), 3);
        let message = error.to_string();
        assert!(
            message.contains("x.records") && message.contains("expected a regular file"),
            "{message}"
        );
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    // A segment that is truncated at any byte keeps the records before that byte. A changed byte loses one record, or
    // two records if the byte is a line ending.
    #[test]
    fn a_cut_or_changed_segment_keeps_the_rest(cut in 0.0f64..1.0, change in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let writer = store.writer(None);
        let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        for (number, name) in names.iter().enumerate() {
            writer.save(key(name), &json!({"n": number}), &(number as f64), 0.5).unwrap();
        }
        let segment = &segments(folder.path())[0];
        let mut bytes = fs::read(segment).unwrap();
        let place = ((bytes.len() - 1) as f64 * cut) as usize;
        let before = bytes[..place].iter().filter(|byte| **byte == b'\n').count();
        if change {
            bytes[place] ^= 0x41;
        } else {
            bytes.truncate(place);
        }
        fs::write(segment, &bytes).unwrap();
        let found = read(&store);
        for (number, name) in names.iter().enumerate() {
            let kept = found.results.get(&key(name)).map(|kept| kept.result);
            if number < before || (change && number > before + 1) {
                prop_assert_eq!(kept, Some(number as f64));
            } else if let Some(result) = kept {
                prop_assert_eq!(result, number as f64);
            }
        }
        let least = if change { 8 } else { before };
        prop_assert!(found.results.len() >= least);
    }
}
