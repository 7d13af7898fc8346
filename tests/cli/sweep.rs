//! Tests `gleaner sweep` from the command line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::runs::{Run, command, gleaner};

/// The command `gleaner LINE`, whose output can be read while it runs.
fn piped(directory: &Path, line: &str) -> Command {
    let mut command = command(directory, line);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[track_caller]
fn run(directory: &Path, line: &str, code: i32) -> (String, String) {
    let Run { out, err, .. } = gleaner(directory, line).expect(code);
    (out, err)
}

/// A directory with the sample log, tasks and plan from dataset/.
fn samples() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "tasks.toml", "sweep.toml"] {
        let from = gleaner_testing::workspace().join("dataset").join(name);
        fs::copy(from, directory.path().join(name)).unwrap();
    }
    directory
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn bytes(directory: &Path, out: &str) -> [Vec<u8>; 3] {
    let out = directory.join(out);
    ["sweep.csv", "sweep.parquet", "summary.json"].map(|name| fs::read(out.join(name)).unwrap())
}

/// Number of runs whose results are saved in the sweep directory `out`.
fn saved(directory: &Path, out: &str) -> usize {
    gleaner_testing::results(&directory.join(out))
}

/// A function that returns a changed copy of a line.
type Change = fn(&str) -> String;

/// Changes lines of the sweep's only segment. Each change applies to the result with the given index.
fn spoil(directory: &Path, out: &str, changes: &[(usize, Change)]) {
    let [segment] = &gleaner_testing::segments(&directory.join(out))[..] else {
        panic!("more than one segment");
    };
    let text = fs::read_to_string(segment).unwrap();
    let (mut changed, mut place) = (String::new(), 0);
    for line in text.lines() {
        let is_result = line.contains("{\"done\":");
        let change = changes.iter().find(|(at, _)| is_result && *at == place);
        changed += &change.map_or(line.to_owned(), |(_, change)| change(line));
        changed.push('\n');
        place += usize::from(is_result);
    }
    fs::write(segment, changed).unwrap();
}

#[test]
fn changed_results_are_not_reused() {
    let directory = samples();
    let at = directory.path();
    run(at, "sweep sweep.toml --out swept", 0);
    let before = bytes(at, "swept");
    spoil(
        at,
        "swept",
        &[
            (0, |line| {
                line.replace("\"total_work\":", "\"total_work\":1")
            }),
            (3, |line| {
                line.replace("\"efficiency\":", "\"inefficiency\":")
            }),
            (4, |line| {
                line.replace("\"settings\":{", "\"settings\":{\"a\":1,")
            }),
            // Removes the digest from the line.
            (7, |line| line[65..].to_owned()),
            // Removes a character of the line's digest.
            (9, |line| format!("{}{}", &line[..32], &line[33..])),
        ],
    );
    let (out, _) = run(at, "sweep sweep.toml --out swept", 0);
    assert!(out.contains("runs  24, 19 of them already done"), "{out}");
    assert_eq!(bytes(at, "swept"), before);
}

#[test]
fn the_sample_plan_runs_and_its_rows_are_those_of_single_replays() {
    let directory = samples();
    let at = directory.path();
    let (out, _) = run(at, "sweep sweep.toml --out swept", 0);
    assert!(
        out.contains("runs  24, 0 of them already done") && out.contains("t_fwd"),
        "{out}"
    );
    let table = fs::read_to_string(at.join("swept/sweep.csv")).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(lines.len(), 25);
    let column = |name: &str| lines[0].iter().position(|c| *c == name).unwrap();
    for row in [&lines[1], &lines[12], &lines[24]] {
        let arguments = format!(
            "replay --events idle.csv --tasks tasks.toml --nodes 20 --t-fwd {} --max-tasks {} --objective {} \
             --seed {} --json",
            row[column("t_fwd")],
            row[column("max_tasks")],
            row[column("objective")],
            row[column("seed")]
        );
        let single: Value = serde_json::from_str(&run(at, &arguments, 0).0).unwrap();
        for name in [
            "total_work",
            "efficiency",
            "fairness_jain",
            "completion_mean_s",
        ] {
            assert_eq!(
                row[column(name)].parse::<f64>().unwrap(),
                single[name].as_f64().unwrap()
            );
        }
    }
    // The best value is the largest mean over the two seeds. The seed varies fastest, so the two runs with the same
    // settings are neighbours.
    let values = |name: &str| -> Vec<f64> {
        let cells = lines[1..].iter().map(|row| row[column(name)]);
        let cells: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
        let pairs = cells.chunks_exact(2);
        pairs.map(|pair| (pair[0] + pair[1]) / 2.0).collect()
    };
    let close = |found: &Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!(
            (found - expected).abs() <= 1e-12 * expected.abs(),
            "{found} {expected}"
        );
    };
    let summary = json(&at.join("swept/summary.json"));
    let greatest = values("total_work").into_iter().fold(0.0, f64::max);
    close(&summary["best"]["value"], greatest);
    // The settings affect the results: one combination is better than all others, and most totals differ.
    assert_eq!(summary["best"]["settings_as_good"], 1);
    let different: BTreeSet<String> = values("total_work").iter().map(f64::to_string).collect();
    assert!(different.len() >= 8, "{different:?}");
    let least = values("rescale_loss")
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    close(&summary["best_by_metric"]["rescale_loss"]["value"], least);
    // A metric that only describes a run has no best value.
    let goals = summary["best_by_metric"].as_object().unwrap();
    for name in ["events_optimal", "used_node_seconds", "tasks_started"] {
        assert!(!goals.contains_key(name), "{name}");
    }
    let settings = fs::read_to_string(at.join("swept/settings.csv")).unwrap();
    let rows: Vec<Vec<&str>> = settings.lines().map(|l| l.split(',').collect()).collect();
    let place = |name: &str| rows[0].iter().position(|c| *c == name);
    assert_eq!((rows.len(), place("seed")), (13, None));
    for (row, mean) in rows[1..].iter().zip(values("rescale_loss")) {
        let found: f64 = row[place("rescale_loss").unwrap()].parse().unwrap();
        assert!((found - mean).abs() <= 1e-12 * mean);
        assert_eq!(row[place("seeds").unwrap()], "2");
    }
    // The standard error of the mean of two values is half of their difference. The published 97.5th percentile of
    // Student's t with 1 degree of freedom is 12.706205.
    let errors: Vec<f64> = lines[1..]
        .chunks_exact(2)
        .map(|pair| [0, 1].map(|seed| pair[seed][column("rescale_loss")].parse::<f64>().unwrap()))
        .map(|[a, b]| (a - b).abs() / 2.0)
        .collect();
    let means = values("rescale_loss");
    for (table, reach) in [
        ("se", None),
        ("low", Some(-12.706_205)),
        ("high", Some(12.706_205)),
    ] {
        let text = fs::read_to_string(at.join(format!("swept/settings_{table}.csv"))).unwrap();
        assert_eq!(text.lines().next(), settings.lines().next());
        assert_eq!(text.lines().count(), 13);
        for (index, row) in text.lines().skip(1).enumerate() {
            let cells: Vec<&str> = row.split(',').collect();
            let found: f64 = cells[place("rescale_loss").unwrap()].parse().unwrap();
            let expected = reach.map_or(errors[index], |t| means[index] + t * errors[index]);
            assert!(
                (found - expected).abs() <= 1e-6 * means[index],
                "{table} {index}"
            );
        }
    }
    let best = &summary["best_by_metric"]["rescale_loss"];
    let number = |name: &str| best[name].as_f64().unwrap();
    let middle = (number("low") + number("high")) / 2.0;
    assert!((middle - number("value")).abs() <= 1e-9 * number("value"));
    let half = 12.706_205 * number("standard_error");
    assert!((number("high") - middle - half).abs() <= 1e-6 * number("value"));
    let info = json(&at.join("swept/run.json"));
    assert_eq!(info["complete"], true);
    assert_eq!(info["inputs"].as_array().unwrap().len(), 3);
}

#[test]
fn results_do_not_depend_on_threads_and_nothing_is_run_twice() {
    let directory = samples();
    let at = directory.path();
    run(at, "sweep sweep.toml --out one --jobs 1", 0);
    run(at, "sweep sweep.toml --out four --jobs 4", 0);
    assert_eq!(bytes(at, "one"), bytes(at, "four"));
    let before = bytes(at, "one");
    let (out, _) = run(at, "sweep sweep.toml --out one --best fairness_min", 0);
    assert!(
        out.contains("24 of them already done") && out.contains("fairness min"),
        "{out}"
    );
    assert_eq!(bytes(at, "one")[..2], before[..2]);
}

#[test]
fn a_changed_plan_uses_results_that_still_fit() {
    let directory = samples();
    let at = directory.path();
    run(at, "sweep sweep.toml --out swept", 0);
    let plan = fs::read_to_string(at.join("sweep.toml")).unwrap();
    fs::write(
        at.join("sweep.toml"),
        plan.replace("[30, 120, 600]", "[120, 240]"),
    )
    .unwrap();
    let (out, err) = run(at, "sweep sweep.toml --out swept --dry-run", 0);
    assert!(err.contains("16 runs"), "{err}");
    assert_eq!(
        out.lines().filter(|line| line.contains("  done")).count(),
        8
    );
    let (out, _) = run(at, "sweep sweep.toml --out swept", 0);
    assert!(out.contains("runs  16, 8 of them already done"), "{out}");
    // Runs with different tasks count as different runs, so no result is reused.
    let tasks = fs::read_to_string(at.join("tasks.toml")).unwrap();
    fs::write(at.join("tasks.toml"), format!("# changed\n{tasks}")).unwrap();
    let (out, _) = run(at, "sweep sweep.toml --out swept", 0);
    assert!(out.contains("runs  16, 0 of them already done"), "{out}");
}

#[test]
fn a_killed_sweep_continues_where_it_stopped() {
    let directory = samples();
    let at = directory.path();
    let plan = fs::read_to_string(at.join("sweep.toml")).unwrap();
    let seeds: Vec<String> = (0..20).map(|seed| seed.to_string()).collect();
    let seeds = format!("seed = [{}]", seeds.join(", "));
    fs::write(at.join("sweep.toml"), plan.replace("seed = [0, 1]", &seeds)).unwrap();
    run(at, "sweep sweep.toml --out whole", 0);
    let mut child = piped(at, "sweep sweep.toml --out killed --jobs 1")
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while saved(at, "killed") < 3 && begun.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = saved(at, "killed");
    assert!((3..240).contains(&kept), "{kept}");
    assert_eq!(json(&at.join("killed/run.json"))["complete"], false);
    assert!(!at.join("killed/sweep.csv").exists());
    // The directory has three faults: the temporary file of a killed write, a truncated result, and a forged result.
    fs::write(at.join("killed/runs/.0.records.part"), "{").unwrap();
    spoil(
        at,
        "killed",
        &[
            (0, |line| line[..100].to_owned()),
            (2, |line| {
                line.replace("\"total_work\":", "\"total_work\":1")
            }),
        ],
    );
    let (out, _) = run(at, "sweep sweep.toml --out killed", 0);
    assert!(
        out.contains(&format!("{} of them already done", kept - 2)),
        "{out}"
    );
    assert_eq!(bytes(at, "killed"), bytes(at, "whole"));
    assert_eq!(json(&at.join("killed/run.json"))["complete"], true);
}

#[test]
fn bad_plans_are_refused_before_anything_runs() {
    let directory = samples();
    let at = directory.path();
    let good = "[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\n";
    let cases: [(&str, i32, &[&str]); 11] = [
        ("", 3, &["plan.toml", "[replay] or [simulate]"]),
        (
            "[replay]\ntasks = 't'\n",
            3,
            &["line 1", "missing field `events`"],
        ),
        ("t_fwdd = 3\n", 3, &["line 4", "t_fwdd", "unknown field"]),
        (
            "t_fwd = \"x\"\n",
            3,
            &[
                "line 4",
                "t_fwd: found \"x\"",
                "expected a number of seconds from",
                "or auto",
            ],
        ),
        ("t_fwd = [60,\n", 3, &["plan.toml, line"]),
        (
            "seed = [1, 2, 1]\nmax_tasks = 0\n",
            3,
            &[
                "2 faults",
                "line 4, seed: found 1 a second time",
                "line 5, max_tasks",
            ],
        ),
        (
            "objective = 'fair'\n",
            3,
            &["line 4", "column 1: found `fair`", "share-fair"],
        ),
        (
            "window = { nods = 3 }\n",
            3,
            &["line 4", "unknown field `nods`"],
        ),
        (
            "window = { skip_rows = 10000000 }\n",
            3,
            &["idle.csv", "the window { skip_rows = 10000000 }"],
        ),
        (
            "[simulate]\ntrace = 'a'\ncluster = 'b'\npolicy = 'fifo'\n",
            3,
            &["one of the two"],
        ),
        ("solver = 'simplex'\n", 3, &["line 4", "equal-share"]),
    ];
    for (text, code, words) in cases {
        let whole = if text.is_empty() || text.starts_with("[replay]") {
            text.to_owned()
        } else {
            format!("{good}{text}")
        };
        fs::write(at.join("plan.toml"), &whole).unwrap();
        let (_, err) = run(at, "sweep plan.toml --out never", code);
        for word in words {
            assert!(err.contains(word), "no {word:?} for {whole:?} in:\n{err}");
        }
        assert!(!at.join("never").exists());
    }
    let (_, err) = run(at, "sweep sweep.toml --out never --best speed", 2);
    assert!(
        err.contains("--best is \"speed\"") && err.contains("fairness_jain"),
        "{err}"
    );
    run(at, "sweep sweep.toml", 2);
}

/// A tiny trace of five jobs in two virtual clusters.
const TRACE: &str = "job_id,vc,gpu_num,submit_time,duration\n\
    a,x,8,0,5000\nb,x,8,10,100\nc,x,4,20,50\nd,y,8,30,700\ne,y,2,40,60\n";

#[test]
fn simulations_are_swept_too() {
    let directory = samples();
    let at = directory.path();
    fs::write(at.join("jobs.csv"), TRACE).unwrap();
    fs::write(at.join("vcs.csv"), "vc,num\nx,1\ny,1\n").unwrap();
    let plan = "[simulate]\ntrace = 'jobs.csv'\ncluster = 'vcs.csv'\n\
                policy = ['fifo', 'sjf']\nplacer = ['consolidate', 'random']\ncheck = true\n";
    fs::write(at.join("plan.toml"), plan).unwrap();
    let (out, _) = run(at, "sweep plan.toml --out swept", 0);
    assert!(
        out.contains("runs  4, 0 of") && out.contains("average JCT"),
        "{out}"
    );
    let summary = json(&at.join("swept/summary.json"));
    assert_eq!(summary["best"]["settings"]["policy"], "sjf");
    run(
        at,
        "simulate --trace jobs.csv --cluster vcs.csv --policy sjf --out single",
        0,
    );
    let single = json(&at.join("single/summary.json"));
    assert_eq!(
        summary["best"]["value"],
        single["policies"]["sjf"]["avg_jct_s"]
    );
    // If a policy that needs another input is added to the plan, the results of the other policies stay valid.
    let more = plan.replace("'sjf']", "'sjf', 'qssf']") + "estimates = 'oracle'\n";
    fs::write(at.join("plan.toml"), more).unwrap();
    let (out, _) = run(at, "sweep plan.toml --out swept", 0);
    assert!(out.contains("runs  6, 4 of them already done"), "{out}");
    fs::write(at.join("plan.toml"), plan.replace("'sjf'", "'best'")).unwrap();
    let (_, err) = run(at, "sweep plan.toml --out swept", 3);
    assert!(
        err.contains("line 4, policy") && err.contains("tiresias"),
        "{err}"
    );
}

// The bound for endless tasks depends only on the log and the tasks.
#[test]
fn a_sweep_tells_the_share_of_the_bound_that_each_rule_reached() {
    let directory = samples();
    let at = directory.path();
    let tasks = fs::read_to_string(at.join("tasks.toml")).unwrap();
    let endless = tasks.lines().map(|line| {
        if line.starts_with("work = ") {
            "work = \"endless\"\n".to_owned()
        } else {
            format!("{line}\n")
        }
    });
    fs::write(at.join("tasks.toml"), endless.collect::<String>()).unwrap();
    let plan = "[replay]\nevents = \"idle.csv\"\ntasks = \"tasks.toml\"\nt_fwd = 120\nbound = true\n\
                max_tasks = 100\nnode_choice = [\"arrival\", \"blocks\", \"learned\"]\n";
    fs::write(at.join("plan.toml"), plan).unwrap();
    run(at, "sweep plan.toml --out swept", 0);
    let rows = table(&at.join("swept/sweep.csv"));
    let column = |name: &str| {
        let place = rows[0].iter().position(|head| head == name).unwrap();
        rows[1..]
            .iter()
            .map(|row| row[place].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(column("node_choice"), ["arrival", "blocks", "learned"]);
    let bounds = column("bound_work");
    assert!(bounds.iter().all(|bound| *bound == bounds[0]), "{bounds:?}");
    for share in column("bound_efficiency") {
        assert!(
            (0.5..=1.0).contains(&share.parse::<f64>().unwrap()),
            "{share}"
        );
    }
}

/// The cells of a CSV table, row by row.
fn table(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(cells).collect()
}

#[test]
fn simulations_take_directories_presets_and_models() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    run(
        at,
        "synth jobs --vcs 2 --nodes 6 --days 9 --seed 3 -o trace",
        0,
    );
    let plan = |more: &str| {
        format!(
            "[simulate]\ndata = 'trace'\nprofiler = 'off'\npolicy = ['fifo', 'qssf', 'lucid']\n{more}"
        )
    };
    // The metrics of each run equal those of a single simulation with the corresponding flags.
    for (name, more, flags) in [
        ("files", "", ""),
        ("learnt", "models = 'train'\n", "--models train"),
        ("history", "estimates = 'history'\n", "--estimates history"),
    ] {
        fs::write(at.join("plan.toml"), plan(more)).unwrap();
        run(at, &format!("sweep plan.toml --out {name}"), 0);
        let line = "simulate --data trace --profiler off --policy fifo,qssf,lucid --quiet";
        run(at, &format!("{line} {flags} --out single-{name}"), 0);
        let single = json(&at.join(format!("single-{name}/summary.json")));
        let rows = table(&at.join(name).join("sweep.csv"));
        let column = |wanted: &str| rows[0].iter().position(|c| c == wanted).unwrap();
        let (policy, jct) = (column("policy"), column("avg_jct_s"));
        assert_eq!(rows.len(), 4);
        for row in &rows[1..] {
            let wanted = single["policies"][&row[policy]]["avg_jct_s"]
                .as_f64()
                .unwrap();
            assert_eq!(row[jct].parse::<f64>().unwrap(), wanted, "{name} {row:?}");
        }
    }
    // If the settings in the plan differ, no stored result is reused.
    fs::write(at.join("plan.toml"), plan("models = 'train'\n")).unwrap();
    let (out, _) = run(at, "sweep plan.toml --out files", 0);
    assert!(out.contains("runs  3, 0 of them already done"), "{out}");
    for (text, code, words) in [
        (
            "[simulate]\npolicy = 'fifo'\n",
            3,
            "data (a directory), or the files",
        ),
        (
            "[simulate]\ntrace = 'a'\npolicy = 'fifo'\n",
            3,
            "no virtual clusters",
        ),
        (
            "[simulate]\ndata = 'trace'\npreset = 'mars'\npolicy = 'fifo'\n",
            3,
            "venus-sept",
        ),
        ("[simulate]\ndata = 'none'\npolicy = 'fifo'\n", 1, "none"),
    ] {
        fs::write(at.join("plan.toml"), text).unwrap();
        let (_, err) = run(at, "sweep plan.toml --out never", code);
        assert!(err.contains(words), "{err}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_keeps_its_finished_runs() {
    let directory = samples();
    let at = directory.path();
    let plan = fs::read_to_string(at.join("sweep.toml")).unwrap();
    let seeds: Vec<String> = (0..200).map(|seed| seed.to_string()).collect();
    let seeds = format!("seed = [{}]", seeds.join(", "));
    fs::write(at.join("sweep.toml"), plan.replace("seed = [0, 1]", &seeds)).unwrap();
    let child = piped(at, "sweep sweep.toml --out stopped --jobs 1")
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while saved(at, "stopped") < 2 && begun.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("interrupted")
    );
    assert!((2..2400).contains(&saved(at, "stopped")));
    assert_eq!(json(&at.join("stopped/run.json"))["complete"], false);
}
