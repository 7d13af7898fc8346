//! Tests `gleaner inspect` from the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs `gleaner inspect LINE` in `directory`. Returns the exit code, stdout and stderr.
fn gleaner(directory: &Path, line: &str) -> (Option<i32>, String, String) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_gleaner"))
        .current_dir(directory)
        .arg("inspect")
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn dataset() -> PathBuf {
    gleaner_testing::workspace().join("dataset")
}

#[test]
fn help_shows_examples() {
    let (code, out, _) = gleaner(&dataset(), "--help");
    assert_eq!(code, Some(0));
    assert!(
        out.contains("Examples") && out.contains("gleaner inspect dataset/idle.csv"),
        "{out}"
    );
}

#[test]
fn the_sample_reads_as_text() {
    let (code, out, err) = gleaner(&dataset(), "idle.csv --tasks tasks.toml");
    assert_eq!(code, Some(0), "{err}");
    for words in [
        "8.79 on average, maximum 17",
        "1–10 min",
        "idle nodes, mean",
        "not in the log",
        "Suspicious spans: none",
        "suggested --t-fwd ",
        "The tasks' rescale costs",
    ] {
        assert!(out.contains(words), "no {words:?} in:\n{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 110), "{out}");
}

#[test]
fn json_holds_what_text_shows_and_more() {
    let (code, out, err) = gleaner(&dataset(), "idle.csv --json");
    assert_eq!(code, Some(0), "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["nodes"], 100);
    assert_eq!(found["fragments"]["bins"].as_array().unwrap().len(), 6);
    assert_eq!(found["calendar"]["week"][6].as_array().unwrap().len(), 24);
    assert_eq!(found["suggestion"]["costs"]["up_s"], 18.0);
    assert!(found["suggestion"]["window"]["t_fwd_s"].as_f64().unwrap() > 0.0);
    let step = found["timeline"]["step_seconds"].as_f64().unwrap();
    let steps = found["timeline"]["idle_nodes"].as_array().unwrap();
    let area: f64 = steps.iter().map(|s| s.as_f64().unwrap() * step).sum();
    let total = found["idle_node_seconds"].as_f64().unwrap();
    assert!((area / total - 1.0).abs() < 1e-9, "{area} {total}");
}

#[test]
fn a_slice_is_inspected_as_replay_sees_it() {
    let (code, out, err) = gleaner(
        &dataset(),
        "idle.csv --skip-rows 100 --first-node 10 --nodes 20 --json",
    );
    assert_eq!(code, Some(0), "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    // The last row changes none of the selected nodes, but is kept as the end of the slice.
    assert_eq!(
        (&found["nodes"], &found["events_without_change"]),
        (&20.into(), &1.into())
    );
}

#[test]
fn wrong_usage_and_bad_input_have_their_exit_codes() {
    let directory = tempfile::tempdir().unwrap();
    let sample = dataset().join("idle.csv");
    let sample = sample.to_str().unwrap();
    fs::write(
        directory.path().join("bad.csv"),
        "time,node,state\n2026-01-01,n0,7\n",
    )
    .unwrap();
    for (line, code, words) in [
        ("", 2, "LOG"),
        (&format!("{sample} --max-tasks 0"), 2, "--max-tasks"),
        (&format!("{sample} --curves x.pkl"), 2, "--tasks"),
        ("missing.csv", 1, "missing.csv"),
        ("bad.csv", 3, "line 2"),
        (&format!("{sample} --skip-rows 999999"), 3, "--skip-rows"),
        (&format!("{sample} --tasks bad.csv"), 3, "bad.csv"),
    ] {
        let (found, out, err) = gleaner(directory.path(), line);
        assert_eq!(found, Some(code), "{line}: {err}");
        assert!(
            err.contains(words) && out.is_empty(),
            "{line}: no {words:?} in:\n{err}"
        );
    }
}

#[test]
fn without_idle_nodes_no_window_is_suggested() {
    let directory = tempfile::tempdir().unwrap();
    let rows = "time,node,state\n2026-01-01 00:00:00,n0,0\n2026-01-01 01:00:00,n0,0\n";
    fs::write(directory.path().join("busy.csv"), rows).unwrap();
    let (code, out, err) = gleaner(directory.path(), "busy.csv");
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("suggested --t-fwd  none: no node is ever idle"),
        "{out}"
    );
    assert!(out.contains("never idle      1 node: n0"), "{out}");
}
