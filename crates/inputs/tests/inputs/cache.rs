//! Tests `.gev` caches that are stored in the same folder as the logs from which they were made.

use gleaner_inputs::events::{cache_path, read, read_cached};
use gleaner_inputs::write::events::{Layout, write};
use gleaner_io::source::Digest;

use super::support::{assert_has, fault_of, file};

const TEXT: &str = "time,a,b\n1,1,0\n2,0,1\n";

#[test]
fn the_cache_is_written_used_and_written_again() {
    let (_folder, path) = file("log.csv", TEXT);
    let cache = cache_path(&path);
    let fresh = read_cached(&path).unwrap();
    assert_has(&fresh.notes.join("\n"), &["wrote the cache", "log.csv.gev"]);
    assert_eq!(fresh.sources[0].sha256, Digest::of(TEXT.as_bytes()));

    let cached = read_cached(&path).unwrap();
    assert_eq!(cached.notes, Vec::<String>::new());
    assert_eq!(
        (&cached.value, &cached.sources),
        (&fresh.value, &fresh.sources)
    );

    let mut bytes = std::fs::read(&cache).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&cache, bytes).unwrap();
    let repaired = read_cached(&path).unwrap();
    assert_has(
        &repaired.notes.join("\n"),
        &["the cache is unusable", "wrote the cache"],
    );
    assert_eq!(repaired.value, fresh.value);

    std::fs::write(&path, TEXT.replace("2,0,1", "3,0,1")).unwrap();
    let changed = read_cached(&path).unwrap();
    assert_has(
        &changed.notes.join("\n"),
        &["made from another file", "wrote the cache"],
    );
    assert_ne!(changed.value, fresh.value);
    assert_eq!(read_cached(&path).unwrap().value, changed.value);
}

#[test]
fn a_cache_that_cannot_be_written_is_a_note() {
    let (_folder, path) = file("log.csv", TEXT);
    std::fs::create_dir(cache_path(&path)).unwrap();
    let loaded = read_cached(&path).unwrap();
    assert_has(&loaded.notes.join("\n"), &["continued without a cache"]);
    assert_eq!(loaded.value, read(&path).unwrap().value);
}

#[test]
fn a_cache_of_an_older_source_beside_it_is_refused() {
    let (folder, path) = file("log.csv", TEXT);
    let gev = folder.path().join("summit.gev");
    let loaded = read(&path).unwrap();
    write(&loaded.value, &gev, Layout::Long, loaded.sources.first()).unwrap();
    let from_gev = read(&gev).unwrap();
    assert_eq!(from_gev.value, loaded.value);
    assert_eq!(from_gev.notes, Vec::<String>::new());

    // The new text has the same length, so only the digest differs.
    std::fs::write(&path, TEXT.replace("2,0,1", "2,1,0")).unwrap();
    let message = fault_of(read(&gev));
    assert_has(
        &message,
        &["does not match", "log.csv", "run `gleaner convert"],
    );

    // A `.gev` file that is not in the folder of its source is read without this check.
    let (_other, moved) = file("moved.gev", std::fs::read(&gev).unwrap());
    assert_eq!(read(&moved).unwrap().value, loaded.value);
}

#[test]
fn a_source_path_that_leaves_the_directory_is_not_followed() {
    let (folder, path) = file("log.csv", TEXT);
    let loaded = read(&path).unwrap();
    let mut id = loaded.sources[0].clone();
    id.length += 1;
    id.path = std::path::PathBuf::from("..");
    let gev = folder.path().join("x.gev");
    write(&loaded.value, &gev, Layout::Long, Some(&id)).unwrap();
    assert_eq!(read(&gev).unwrap().value, loaded.value);
}
