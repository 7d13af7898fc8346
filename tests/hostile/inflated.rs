//! Tests that small files that decompress to very large files are rejected, or read in bounded memory.

use std::fs;

use crate::support::{attack, gzip, samples};

const GIB: u64 = 1 << 30;

// The attack: 1.1 MB of gzipped zeros, read as TOML, made the program allocate 7.9 GB. Another gzip file of 204 KB,
// read as measurements, made the program allocate 1.6 GB.
#[test]
fn text_that_inflates_without_end_is_refused_in_every_reader() {
    let directory = samples();
    let at = directory.path();
    let zeros = |name: &str| gzip(&at.join(name), "", b"\0", 3 * GIB, "");
    zeros("zeros.toml.gz");
    gzip(&at.join("lines.csv.gz"), "", b"0,0\n", GIB, "");
    // This file is for readers that stream a log. They process every line, so it has only ten million lines.
    gzip(&at.join("some.csv.gz"), "", b"0,0\n", 10_000_000, "");
    for line in [
        "replay --events idle.csv --tasks zeros.toml.gz",
        "replay --events idle.csv --tasks lines.csv.gz",
        "replay --events zeros.toml.gz --tasks tasks.toml",
        "replay --events lines.csv.gz --tasks tasks.toml",
        "replay --events idle.csv --tasks tasks.toml --scripted zeros.toml.gz",
        "inspect lines.csv.gz",
        "convert zeros.toml.gz -o x.csv",
        "sweep zeros.toml.gz --out swept",
        "solve zeros.toml.gz",
        "solve lines.csv.gz",
        "simulate --trace zeros.toml.gz --cluster trace/vc_config.csv --policy fifo",
        "simulate --trace trace/jobs.csv --cluster lines.csv.gz --policy fifo",
        "simulate --data trace --policy qssf --estimates lines.csv.gz",
        "simulate --data trace --policy lucid --profiler off --profiles lines.csv.gz",
        "simulate --data trace --policy lucid --profiler off --colocate zeros.toml.gz",
        "simulate --data trace --policy lucid --profiler off --forecast lines.csv.gz",
        "ingest slurm some.csv.gz -o x.gev",
        "ingest pbs zeros.toml.gz -o x.gev",
        "ingest cobalt some.csv.gz -o x.gev",
        "ingest djc zeros.toml.gz -o x.gev",
        "ingest swf some.csv.gz -o x.gev",
        "ingest philly zeros.toml.gz -o x.csv",
        "ingest batsim lines.csv.gz -o x.csv",
        "ingest helios lines.csv.gz -o x.csv",
        "ingest gavel zeros.toml.gz --throughputs logs/gavel-throughputs.json -o x.csv",
        "explain zeros.toml.gz",
        "predict zeros.toml.gz --data trace -o x.csv",
        "driple build --graphs logs --measured zeros.toml.gz -o x.safetensors",
        "driple build --graphs logs --measured lines.csv.gz -o x.safetensors",
        "driple predict --model zeros.toml.gz idle.csv",
        "driple profiles --model zeros.toml.gz --jobs lines.csv.gz -o x.csv",
    ] {
        let found = attack(at, line);
        assert_ne!(found.code, 0, "{line}\n{}", found.err);
        // No partial output is left.
        let left = fs::read_dir(at).unwrap().map(|e| e.unwrap().file_name());
        assert!(
            left.filter(|name| name.to_string_lossy().starts_with("x."))
                .count()
                == 0,
            "{line}"
        );
    }
}

// A reader that streams a log reads all of it if its beginning is valid.
#[test]
fn endless_valid_rows_are_read_in_bounded_memory() {
    let directory = samples();
    let at = directory.path();
    let head = "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n";
    let row = b"1|CANCELLED|2026-01-01T00:00:00|Unknown|2026-01-01T00:00:00|0|\n";
    gzip(&at.join("sacct.txt.gz"), head, row, 4_000_000, "");
    let job = "2|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T00:02:00|1|n1\n\
               3|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:03:00|2026-01-01T00:09:00|1|n2\n";
    gzip(&at.join("ends.txt.gz"), head, row, 1_000_000, job);
    attack(at, "ingest slurm sacct.txt.gz -o x.gev");
    assert_eq!(attack(at, "ingest slurm ends.txt.gz -o y.gev").code, 0);
    // The log repeats the same event thirty million times.
    let head = "time,node,state\n2026-01-01 00:00:00,a,1\n";
    gzip(
        &at.join("events.csv.gz"),
        head,
        b"2026-01-01 00:00:01,a,0\n",
        30_000_000,
        "",
    );
    attack(at, "inspect events.csv.gz");
    // This file has more rows than a log is allowed to have.
    let event = b"2026-01-01 00:00:00,,\n";
    gzip(&at.join("rows.csv.gz"), head, event, 70_000_000, "");
    let found = attack(at, "inspect rows.csv.gz");
    assert!(
        found.code == 3 && found.err.contains("at most 67108864 rows"),
        "{}",
        found.err
    );
}

// Attack: with /dev/zero as a topology, the program used all memory.
#[test]
fn endless_devices_are_read_up_to_a_limit() {
    let directory = samples();
    let at = directory.path();
    for files in [
        "--tasks tasks.toml --topology /dev/zero",
        "--tasks /dev/zero",
    ] {
        let found = attack(at, &format!("replay --events idle.csv {files}"));
        assert_eq!(found.code, 1, "{}", found.err);
        let words = "cannot read /dev/zero: more than 1 GiB from a pipe or a device";
        assert!(found.err.contains(words), "{}", found.err);
    }
}
