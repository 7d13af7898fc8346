//! Tests that files written by pandas, polars, pyarrow and fastparquet are read correctly.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use gleaner_inputs::events::read;

use super::support::{assert_has, fault_of, file, fixture, fixture_log, fixtures, read_text};

#[test]
fn pickles_of_every_release_and_protocol_give_the_log() {
    assert_all_give_the_log("pickle", "events-", ".pkl");
}

#[test]
fn parquet_files_of_every_program_give_the_log() {
    for prefix in ["wide-", "long-pandas", "long-polars"] {
        assert_all_give_the_log("parquet", prefix, ".parquet");
    }
}

fn assert_all_give_the_log(folder: &str, prefix: &str, extension: &str) {
    for path in fixtures(folder, prefix, extension) {
        let log = read(&path).unwrap().value;
        assert_eq!(log, fixture_log(), "{}", path.display());
    }
}

#[test]
fn an_encoding_that_is_not_read_is_named() {
    let message = fault_of(read(&fixture("parquet/long-pyarrow-delta-text.parquet")));
    assert_has(
        &message,
        &["node: found strings in a delta encoding", "dictionary"],
    );
}

#[test]
fn parquet_faults_name_column_and_row() {
    for (name, words) in [
        (
            "list-of-states",
            vec!["b: found lists, expected single values"],
        ),
        (
            "list-of-times",
            vec!["time: found lists, expected single values"],
        ),
        ("struct", vec!["a: found a nested column other than a list"]),
        (
            "values",
            vec![
                "8 faults",
                "row 1 (counting from 0), time: found 1970-01-01 00:00:01, expected 1970-01-01 00:00:02",
                "row 2 (counting from 0), time: found nothing, expected a time such as",
                "row 1 (counting from 0), a: found 0.5, expected 0 (busy) or 1 (idle)",
                "row 2 (counting from 0), a: found nothing",
                "row 3 (counting from 0), b: found \"1\"",
            ],
        ),
    ] {
        let path = fixture(&format!("parquet/refused-{name}.parquet"));
        assert_has(&fault_of(read(&path)), &words);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        out.append_data(&mut header, name, *bytes).unwrap();
    }
    out.into_inner().unwrap()
}

fn pickle() -> Vec<u8> {
    std::fs::read(fixture("pickle/events-2.2.3-p4.pkl")).unwrap()
}

#[test]
fn gzip_and_tar_are_unwrapped() {
    let archive = tar(&[
        ("folder/readme.txt", b"hello"),
        ("folder/log.pkl", &pickle()),
    ]);
    for (name, content) in [
        ("log.pkl.gz", gzip(&pickle())),
        ("log", gzip(&pickle())),
        ("log.tar", archive.clone()),
        ("log.tar.gz", gzip(&archive)),
        ("log.tgz", gzip(&archive)),
        ("anything.bin", gzip(&archive)),
        ("single.tar", tar(&[("unnamed", &pickle())])),
    ] {
        assert_eq!(read_text(name, content).unwrap(), fixture_log(), "{name}");
    }
}

#[test]
fn csv_in_gzip_is_read() {
    let text = "time,a\n1,1\n2,0\n";
    assert_eq!(
        read_text("log.csv.gz", gzip(text.as_bytes())).unwrap(),
        read_text("log.csv", text).unwrap()
    );
}

#[test]
fn states_in_csv_may_be_written_as_other_programs_do() {
    let wide = |one: &str, zero: &str| {
        let text = format!("time,a,b\n1,{one},{zero}\n2,{zero},{one}\n");
        read_text("wide.csv", text).unwrap()
    };
    let long = |one: &str, zero: &str| {
        let text = format!("time,node,state\n1,a,{one}\n2,a,{zero}\n2,b,{one}\n");
        read_text("long.csv", text).unwrap()
    };
    for (one, zero) in [("1.0", "0.0"), ("True", "False"), ("true", "FALSE")] {
        assert_eq!(wide(one, zero), wide("1", "0"), "{one}");
        assert_eq!(long(one, zero), long("1", "0"), "{one}");
    }
    let message = fault_of(read_text("half.csv", "time,a\n1,0.5\n"));
    assert_has(
        &message,
        &["line 2, a: found \"0.5\", expected 0 (busy) or 1 (idle)"],
    );
}

#[test]
fn archives_without_a_log_are_refused_with_a_remedy() {
    let two = tar(&[("a.txt", b"hello"), ("b.txt", b"world")]);
    let message = fault_of(read_text("two.tar.gz", gzip(&two)));
    assert_has(&message, &["2 files in an archive, none named .pkl"]);
    let message = fault_of(read_text("log.pkl.xz", b"\xfd7zXZ\x00 and more"));
    assert_has(&message, &["xz data", "decompress the file first"]);
}

#[test]
fn every_prefix_of_wrapped_files_is_a_fault() {
    let archive = tar(&[("log.pkl", &pickle())]);
    let wrapped = gzip(&archive);
    for length in 0..wrapped.len() {
        fault_of(read_text("log.tar.gz", &wrapped[..length]));
    }
    let within = archive.iter().rposition(|byte| *byte != 0).unwrap();
    for length in (0..within).step_by(7) {
        fault_of(read_text("log.tar", &archive[..length]));
    }
}

#[test]
fn pickles_that_would_run_code_are_refused_by_name() {
    for path in fixtures("pickle", "hostile-", ".pkl") {
        let message = fault_of(read(&path));
        assert_has(&message, &["nothing was executed"]);
    }
    assert!(!std::path::Path::new("pickle-was-executed").exists());
}

#[test]
fn faults_in_a_pickle_name_row_and_node() {
    let mut bytes = pickle();
    let rows = [1u8, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0];
    let at = bytes.windows(rows.len()).position(|w| w == rows).unwrap();
    bytes[at + 4] = 2;
    let message = fault_of(read_text("log.pkl", &bytes));
    assert_has(
        &message,
        &["row 1 (counting from 0), a02n02: found 2, expected 0 (busy) or 1 (idle)"],
    );
}

#[test]
fn the_content_gives_the_format_before_the_name() {
    let (_folder, path) = file("log.csv", pickle());
    assert_eq!(read(&path).unwrap().value, fixture_log());
}
