//! Tests sweeps whose log is cut into windows or blocks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::runs::{command, gleaner};

/// A directory with samples and a plan. The plan repeats its tasks to the end of the log.
fn samples(plan: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "tasks.toml"] {
        let from = gleaner_testing::workspace().join("dataset").join(name);
        fs::copy(from, directory.path().join(name)).unwrap();
    }
    let head =
        "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\nrepeat_tasks = true\nt_fwd = 120\n";
    fs::write(directory.path().join("plan.toml"), format!("{head}{plan}")).unwrap();
    directory
}

/// A table of a sweep: its rows as maps from columns to cells.
fn table(at: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(at.join(name)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    let is_near = (found - expected).abs() <= 1e-6 * expected.abs();
    assert!(is_near, "found {found}, expected {expected}");
}

/// The rows of `idle.csv` from `start` to `end`, cut by hand: the states of all nodes at the start, the subsequent
/// changes, and a row without a node at the end.
fn cut_by_hand(log: &str, start: &str, end: &str) -> String {
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    let mut changes = String::new();
    for line in log.lines().skip(1) {
        let [time, node, state] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        if node.is_empty() || time > end {
            continue;
        }
        if time <= start {
            states.insert(node, state);
        } else {
            changes += &format!("{line}\n");
        }
    }
    let states = states
        .iter()
        .map(|(node, state)| format!("{start},{node},{state}\n"));
    format!(
        "time,node,state\n{}{changes}{end},,\n",
        states.collect::<String>()
    )
}

// The sample lasts two days, so four windows last 12 hours each.
#[test]
fn windows_are_replays_of_logs_that_were_cut_by_hand() {
    let directory = samples("seed = [0, 1]\n");
    let at = directory.path();
    gleaner(at, "sweep plan.toml --windows 4 --out swept").expect(0);
    let rows = table(at, "swept/sweep.csv");
    let log = fs::read_to_string(at.join("idle.csv")).unwrap();
    let bounds = [
        "2026-01-01 00:00:00",
        "2026-01-01 12:00:00",
        "2026-01-02 00:00:00",
        "2026-01-02 12:00:00",
        "2026-01-03 00:00:00",
    ];
    let mut seen = 0;
    for (window, ends) in (1..).zip(bounds.windows(2)) {
        let name = format!("window{window}.csv");
        fs::write(at.join(&name), cut_by_hand(&log, ends[0], ends[1])).unwrap();
        for seed in [0, 1] {
            let line = format!(
                "replay --events {name} --tasks tasks.toml --repeat-tasks --t-fwd 120 --seed {seed} --json"
            );
            let single: Value = serde_json::from_str(&gleaner(at, &line).expect(0).out).unwrap();
            let is_same = |row: &&BTreeMap<String, String>| {
                row["window"] == window.to_string() && row["seed"] == seed.to_string()
            };
            let row = rows.iter().find(is_same).unwrap();
            for figure in [
                "total_work",
                "idle_node_seconds",
                "used_node_seconds",
                "rescale_loss",
                "preemption_loss",
            ] {
                near(number(row, figure), single[figure].as_f64().unwrap());
            }
            seen += 1;
        }
    }
    assert_eq!((rows.len(), seen), (8, 8));
    // The idle node-times of the windows add up to that of the whole log.
    gleaner(at, "sweep plan.toml --out whole").expect(0);
    let whole = number(&table(at, "whole/sweep.csv")[0], "idle_node_seconds");
    let parts = rows.iter().filter(|row| row["seed"] == "0");
    near(
        parts.map(|row| number(row, "idle_node_seconds")).sum(),
        whole,
    );
}

#[test]
fn short_fragments_are_ignored_as_in_a_single_replay() {
    let directory = samples("min_fragment = 600\n");
    let at = directory.path();
    gleaner(at, "sweep plan.toml --out swept").expect(0);
    let line = "replay --events idle.csv --tasks tasks.toml --repeat-tasks --t-fwd 120 --min-fragment 600 --json";
    let single: Value = serde_json::from_str(&gleaner(at, line).expect(0).out).unwrap();
    let row = &table(at, "swept/sweep.csv")[0];
    let idle = number(row, "idle_node_seconds");
    near(idle, single["idle_node_seconds"].as_f64().unwrap());
    // For a fragment that a window cuts, its full length in the log is decisive, so the same fragments are ignored.
    gleaner(at, "sweep plan.toml --windows 7 --out windows").expect(0);
    let rows = table(at, "windows/sweep.csv");
    near(
        rows.iter()
            .map(|row| number(row, "idle_node_seconds"))
            .sum(),
        idle,
    );
}

// The published 97.5th percentile of Student's t with 4 degrees of freedom is 2.776445.
#[test]
fn intervals_are_over_windows_and_seeds_are_averaged_first() {
    let directory = samples("seed = [0, 1, 2]\nmax_tasks = [5, 10]\n");
    let at = directory.path();
    let out = gleaner(at, "sweep plan.toml --windows 5 --out swept")
        .expect(0)
        .out;
    assert!(
        out.contains("mean of 5 windows ± half of its 95 % interval"),
        "{out}"
    );
    let rows = table(at, "swept/sweep.csv");
    assert_eq!(rows.len(), 2 * 3 * 5);
    let names = ["", "_sd", "_se", "_low", "_high"];
    let tables = names.map(|name| table(at, &format!("swept/settings{name}.csv")));
    for (place, max_tasks) in ["5", "10"].iter().enumerate() {
        for figure in ["total_work", "used_node_seconds", "rescale_loss"] {
            let of_window = |window: usize| {
                let same = rows.iter().filter(|row| row["max_tasks"] == *max_tasks);
                let same = same.filter(|row| row["window"] == window.to_string());
                let values: Vec<f64> = same.map(|row| number(row, figure)).collect();
                assert_eq!(values.len(), 3);
                values.iter().sum::<f64>() / 3.0
            };
            let values: Vec<f64> = (1..=5).map(of_window).collect();
            let mean = values.iter().sum::<f64>() / 5.0;
            let variance = values
                .iter()
                .map(|value| (value - mean).powi(2))
                .sum::<f64>()
                / 4.0;
            let error = (variance / 5.0).sqrt();
            let half = 2.776_445 * error;
            let expected = [mean, variance.sqrt(), error, mean - half, mean + half];
            for (table, expected) in tables.iter().zip(expected) {
                near(number(&table[place], figure), expected);
            }
        }
        let row = &tables[0][place];
        assert_eq!((row["seeds"].as_str(), row["windows"].as_str()), ("3", "5"));
        assert!(!row.contains_key("window") && !row.contains_key("seed"));
    }
    let summary = json(&at.join("swept/summary.json"));
    assert_eq!(summary["intervals"]["over"], "windows");
    assert_eq!(
        (&summary["best"]["seeds"], &summary["best"]["windows"]),
        (&3.into(), &5.into())
    );
    assert!(summary["best"]["settings"].get("window").is_none());
    gleaner(at, "check swept").expect(0);
    gleaner(at, "check swept --again --sample 4").expect(0);
    gleaner(at, "report swept -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    for words in [
        "Figures are means over windows",
        "window (5 values)",
        "over the windows",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // In a sweep whose log is not cut, the column `window` is empty.
    gleaner(at, "sweep plan.toml --out plain").expect(0);
    assert!(
        table(at, "plain/sweep.csv")
            .iter()
            .all(|row| row["window"].is_empty())
    );
    assert!(
        table(at, "plain/settings.csv")
            .iter()
            .all(|row| row["windows"].is_empty())
    );
}

#[test]
fn four_windows_have_a_mean_and_no_interval() {
    let directory = samples("windows = 4\nmax_tasks = [5, 10]\n");
    let at = directory.path();
    let out = gleaner(at, "sweep plan.toml --out swept").expect(0).out;
    let why = "no 95 % interval, because 4 windows are too few: an interval needs at least 5";
    assert!(out.contains(why) && !out.contains('±'), "{out}");
    for name in ["_low", "_high"] {
        let rows = table(at, &format!("swept/settings{name}.csv"));
        assert!(
            rows.iter().all(|row| row["total_work"].is_empty()),
            "{name}"
        );
    }
    assert!(number(&table(at, "swept/settings.csv")[0], "total_work") > 0.0);
    let best = &json(&at.join("swept/summary.json"))["best"];
    assert!(best["low"].is_null() && best["standard_error"].is_number());
    gleaner(at, "check swept").expect(0);
    gleaner(at, "report swept -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(
        page.contains(why),
        "the page does not explain the missing intervals"
    );
}

/// The means of all resamples of `values`, in ascending order, with their probabilities. Resamples that contain the
/// same values equally often are counted together; their number is a multinomial coefficient.
fn resamples(values: &[f64]) -> Vec<(f64, f64)> {
    fn add(values: &[f64], left: usize, sum: f64, orders: f64, all: &mut Vec<(f64, f64)>) {
        let factorial = |number: usize| (1..=number).map(|factor| factor as f64).product::<f64>();
        match values {
            [] => {}
            [last] => all.push((sum + last * left as f64, orders / factorial(left))),
            [first, others @ ..] => {
                for times in 0..=left {
                    let (sum, orders) = (sum + first * times as f64, orders / factorial(times));
                    add(others, left - times, sum, orders, all);
                }
            }
        }
    }
    let count = values.len();
    let orders = (1..=count)
        .map(|factor| factor as f64 / count as f64)
        .product();
    let mut all = Vec::new();
    add(values, count, 0.0, orders, &mut all);
    all.iter_mut().for_each(|(sum, _)| *sum /= count as f64);
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The smallest mean whose cumulative probability reaches `share`.
fn quantile(means: &[(f64, f64)], share: f64) -> f64 {
    let mut sum = 0.0;
    let reaches = |(_, probability): &&(f64, f64)| {
        sum += probability;
        sum >= share
    };
    means.iter().find(reaches).unwrap().0
}

// Derived by formula: the interval from 10,000 drawn resamples approximates that of all possible resamples, which this
// test enumerates with their probabilities. The ends of the drawn interval have a standard error of 0.16 % in
// probability.
#[test]
fn bootstrap_intervals_are_percentiles_over_weeks() {
    let directory = samples("seed = [0, 1]\nmax_tasks = [4, 8]\nbootstrap = 10000\n");
    let at = directory.path();
    gleaner(at, "synth events --nodes 6 --days 59 --seed 1 -o long.csv").expect(0);
    let plan = fs::read_to_string(at.join("plan.toml")).unwrap();
    fs::write(at.join("plan.toml"), plan.replace("idle.csv", "long.csv")).unwrap();
    let run = gleaner(at, "sweep plan.toml --out swept").expect(0);
    assert!(
        run.out.contains("mean of 8 weeks; 95 % bootstrap interval"),
        "{}",
        run.out
    );
    let run = run.says(&[
        "the log is cut into 8 weeks; its last",
        "do not fill another week and are left out",
    ]);
    drop(run);
    let rows = table(at, "swept/sweep.csv");
    assert_eq!(rows.len(), 2 * 2 * 8);
    let [means, lows, highs] =
        ["", "_low", "_high"].map(|name| table(at, &format!("swept/settings{name}.csv")));
    for (place, max_tasks) in ["4", "8"].iter().enumerate() {
        for figure in ["total_work", "used_node_seconds", "preemption_loss"] {
            let of_week = |week: usize| {
                let same = rows.iter().filter(|row| row["max_tasks"] == *max_tasks);
                let same = same.filter(|row| row["window"] == week.to_string());
                same.map(|row| number(row, figure)).sum::<f64>() / 2.0
            };
            let values: Vec<f64> = (1..=8).map(of_week).collect();
            near(
                number(&means[place], figure),
                values.iter().sum::<f64>() / 8.0,
            );
            let all = resamples(&values);
            near(all.iter().map(|(_, probability)| probability).sum(), 1.0);
            let within = |found: f64, share: f64| {
                let (low, high) = (quantile(&all, share - 0.008), quantile(&all, share + 0.008));
                assert!(
                    low <= found && found <= high,
                    "{figure}: {found} is not in {low} to {high}"
                );
            };
            within(number(&lows[place], figure), 0.025);
            within(number(&highs[place], figure), 0.975);
        }
    }
    let intervals = &json(&at.join("swept/summary.json"))["intervals"];
    assert_eq!(
        (&intervals["block"], &intervals["resamples"]),
        (&"week".into(), &10_000.into())
    );
    gleaner(at, "check swept").expect(0);
    gleaner(at, "report swept -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("10000 bootstrap resamples of the weeks"));
}

#[test]
fn runs_of_other_windows_are_not_reused() {
    let directory = samples("max_tasks = [5, 10]\n");
    let at = directory.path();
    let done = |options: &str| {
        let line = format!("sweep plan.toml --out swept {options}");
        let out = gleaner(at, &line).expect(0).out;
        out.lines().next().unwrap().to_owned()
    };
    assert_eq!(done("--windows 5"), "runs  10, 0 of them already done");
    let tables = ["sweep.csv", "settings_low.csv", "summary.json"];
    let read = || tables.map(|name| fs::read(at.join("swept").join(name)).unwrap());
    let five = read();
    assert_eq!(done("--windows 6"), "runs  12, 0 of them already done");
    assert_eq!(done(""), "runs  2, 0 of them already done");
    // The sample lasts two days, so its two blocks are the same parts of the log as two windows.
    assert_eq!(done("--windows 2"), "runs  4, 0 of them already done");
    assert_eq!(done("--bootstrap 100"), "runs  4, 4 of them already done");
    assert_eq!(done("--windows 5"), "runs  10, 10 of them already done");
    assert_eq!(read(), five);
    // A sweep that is executed in parts writes the same tables.
    for part in ["1/2", "2/2"] {
        let line = format!("sweep plan.toml --out parts --windows 5 --part {part}");
        gleaner(at, &line).expect(0);
    }
    gleaner(at, "sweep plan.toml --out parts --windows 5 --collect").expect(0);
    let parts = tables.map(|name| fs::read(at.join("parts").join(name)).unwrap());
    assert_eq!(parts, five);
}

#[test]
fn a_killed_sweep_of_windows_continues() {
    let seeds: Vec<usize> = (0..20).collect();
    let directory = samples(&format!(
        "windows = 6\nmax_tasks = [5, 10]\nseed = {seeds:?}\n"
    ));
    let at = directory.path();
    gleaner(at, "sweep plan.toml --out whole").expect(0);
    let line = "sweep plan.toml --out killed --jobs 1 --quiet";
    let mut child = command(at, line).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let saved = || gleaner_testing::results(&at.join("killed"));
    while saved() < 3 && begun.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = saved();
    assert!((3..240).contains(&kept), "{kept}");
    let out = gleaner(at, "sweep plan.toml --out killed").expect(0).out;
    assert!(
        out.contains(&format!("{kept} of them already done")),
        "{out}"
    );
    for name in [
        "sweep.csv",
        "settings.csv",
        "settings_high.csv",
        "summary.json",
    ] {
        let [whole, killed] =
            ["whole", "killed"].map(|out| fs::read(at.join(out).join(name)).unwrap());
        assert_eq!(whole, killed, "{name}");
    }
}

#[test]
fn logs_that_cannot_be_cut_are_refused() {
    let directory = samples("");
    let at = directory.path();
    let refused = |options: &str, words: &[&str]| {
        let line = format!("sweep plan.toml --out swept {options}");
        gleaner(at, &line).expect(2).says(words);
        assert!(!at.join("swept").exists());
    };
    refused(
        "--windows 5 --bootstrap 1000",
        &["only one of them: --windows", "or --bootstrap"],
    );
    refused("--windows 1", &["--windows", "at least 2"]);
    refused("--bootstrap 10", &["--bootstrap", "from 100 to 10000"]);
    refused("--windows 200000", &["the log lasts 2 d", "fewer windows"]);
    let plan = fs::read_to_string(at.join("plan.toml")).unwrap();
    let slice = "window = { from = 2026-01-01, to = 2026-01-02 23:00:00 }\n";
    fs::write(at.join("plan.toml"), format!("{plan}{slice}")).unwrap();
    refused(
        "--bootstrap 100",
        &["the log lasts 1 d", "at least 2 days", "with --windows"],
    );
    fs::write(
        at.join("plan.toml"),
        format!("{plan}windows = 5\nbootstrap = 100\n"),
    )
    .unwrap();
    let line = "sweep plan.toml --out swept";
    gleaner(at, line)
        .expect(3)
        .says(&["windows and bootstrap", "only one of them: windows"]);
}
