//! Tests pages about sweeps of 10,000 runs. The runs are artificial: their summaries are variations of the summary of a
//! single replay.

use std::path::Path;

use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::sweep::{Mode, Replication, RunOutcome, RunSummary};
use gleaner_runs::run::{End, RunDir};
use gleaner_runs::sweep;
use gleaner_runs::sweep::{Sweep, SweepRun};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Figures, assert_near, dataset, gleaner, json as read_json, numbers, page};
use crate::browser::check;

/// Maximum size of a page in bytes, small enough for an email attachment.
const MOST: usize = 5_000_000;

/// A pseudo-random number from 0 to 1 for the run `index`. Another `salt` gives another number.
fn noise(index: u32, salt: u32) -> f64 {
    let mixed = (index ^ (salt << 20)).wrapping_mul(0x9E37_79B1);
    f64::from((mixed ^ (mixed >> 15)).wrapping_mul(0x85EB_CA77)) / f64::from(u32::MAX)
}

/// A directory with a sweep of 10,000 replays in `swept`. `settings` returns the settings of each replay.
fn swept(settings: impl Fn(u32) -> Value) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let line = format!(
        "replay --events {} --tasks {} --out run",
        dataset("idle.csv").display(),
        dataset("tasks.toml").display()
    );
    gleaner(directory.path(), &line).expect(0);
    let summary = read_json(&directory.path().join("run/summary.json"));
    let runs: Vec<SweepRun> = (0..10_000)
        .map(|index| SweepRun {
            key: format!("{index:016x}"),
            settings: settings(index),
        })
        .collect();
    let results: Vec<RunOutcome> = (0..10_000)
        .map(|index| RunOutcome {
            summary: varied(&summary, index),
            program: None,
        })
        .collect();
    write(&directory.path().join("swept"), &runs, &results);
    directory
}

/// Changes the work, losses and times in the summary of a replay.
fn varied(summary: &Value, index: u32) -> RunSummary {
    let mut summary = summary.clone();
    for (salt, name) in (1..).zip(["total_work", "rescale_loss", "completion_mean_s"]) {
        summary[name] = json!(1e9 * (1.0 + noise(index, salt)));
    }
    serde_json::from_value(summary).unwrap()
}

fn write(path: &Path, runs: &[SweepRun], results: &[RunOutcome]) {
    let directory = RunDir::open(path, "sweep", &Value::Null).unwrap();
    let by = Mode::Replay.metric("total_work").unwrap();
    let sweep = Sweep::new(runs, results, Mode::Replay, by, Replication::Seeds);
    directory.write_table(&sweep::table(&sweep)).unwrap();
    for table in sweep::settings(&sweep) {
        directory.write_table(&table).unwrap();
    }
    let summary = sweep::summary(&sweep);
    directory.write_json("summary.json", &summary).unwrap();
    let end = End {
        sources: &[],
        complete: true,
        seconds: Seconds::default(),
    };
    directory.finish(&end).unwrap();
}

// The largest page: every run has its own settings, and points cover the whole chart.
#[test]
fn a_page_of_10_000_settings_is_small_and_works() {
    let directory =
        swept(|index| json!({"t_fwd": 10 + index / 100, "max_tasks": 1 + index % 100, "seed": 0}));
    let text = page(directory.path(), "swept");
    assert!(text.len() < MOST, "{} bytes", text.len());
    assert!(text.contains("10,000 replays that differ in t_fwd (100 values), max_tasks"));
    assert!(text.contains("The best 1,000 of 10,000 settings; settings.csv lists all of them"));
    let figures = Figures::of(&text);
    let values = figures.get("heat-swept")["marks"]["values"]
        .as_array()
        .unwrap();
    let cells = values.iter().map(|row| row.as_array().unwrap().len());
    assert_eq!((values.len(), cells.sum::<usize>()), (100, 10_000));
    let (drawn, _) = figures.curve("pareto-swept", "Settings");
    assert!((1_000..=3_000).contains(&drawn.len()), "{}", drawn.len());
    let left_out = 10_000 - drawn.len();
    let thousands = format!(
        "{},{:03} points hidden by others",
        left_out / 1_000,
        left_out % 1_000
    );
    assert!(text.contains(&thousands), "{thousands}");
    check(&[directory.path().join("page.html")]);
}

// The expected values come from the tables of the sweep.
#[test]
fn many_values_of_a_setting_are_lines_between_the_ends_of_their_intervals() {
    let directory = swept(|index| json!({"t_fwd": 10 + index / 10, "seed": index % 10}));
    let text = page(directory.path(), "swept");
    assert!(text.len() < MOST, "{} bytes", text.len());
    let figures = Figures::of(&text);
    let run = directory.path().join("swept");
    for (table, name) in [
        ("settings_low", "95 % interval, low"),
        ("settings_high", "95 % interval, high"),
        ("settings", "Mean"),
    ] {
        let (x, y) = figures.curve("heat-swept", name);
        let file = run.join(table).with_extension("csv");
        let (windows, works) = (numbers(&file, "t_fwd"), numbers(&file, "total_work"));
        assert_eq!((x.len(), windows.len()), (1_000, 1_000), "{name}");
        for (place, window) in windows.into_iter().enumerate() {
            assert_near(x[place], window);
            assert_near(y[place], works[place] / 1e9);
        }
    }
    let (ends, _) = figures.curve("pareto-swept", "95 % intervals");
    assert!(!ends.is_empty() && ends.len().is_multiple_of(4));
    check(&[directory.path().join("page.html")]);
}
