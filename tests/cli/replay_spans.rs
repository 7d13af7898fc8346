//! Tests the output of `gleaner replay` about the log, the replayed part, and the settings.

use std::fs;
use std::path::Path;

use crate::support::{gleaner, json, samples};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml";

/// The line of the summary that begins with `name`.
fn line<'a>(out: &'a str, name: &str) -> &'a str {
    let line = out
        .lines()
        .find(|line| line.starts_with(&format!("{name}  ")));
    line.unwrap_or_else(|| panic!("no {name} in\n{out}"))
}

/// Writes the sample tasks to endless.toml, and makes the first `endless` of them endless.
fn with_endless(at: &Path, endless: usize) {
    let text = fs::read_to_string(at.join("tasks.toml")).unwrap();
    let mut left = endless;
    let lines = text.lines().map(|line| {
        if line.starts_with("work = ") && left > 0 {
            left -= 1;
            "work = \"endless\"\n".to_owned()
        } else {
            format!("{line}\n")
        }
    });
    let text: String = lines.collect();
    fs::write(at.join("endless.toml"), text).unwrap();
}

#[test]
fn the_summary_distinguishes_log_and_replay() {
    let directory = samples();
    let at = directory.path();
    let run = gleaner(at, &format!("{REPLAY} --t-fwd 120 --out run")).expect(0);
    let summary = json(&at.join("run/summary.json"));
    assert_eq!(summary["ended"], "tasks_finished");
    assert!(line(&run.out, "replayed").ends_with("until all tasks had finished"));
    let idle = |field: &str| summary[field].as_f64().unwrap() / 3600.0;
    let hours = format!("{:.1} idle node-hours", idle("log_idle_node_seconds"));
    assert!(line(&run.out, "log").ends_with(&hours), "{}", run.out);
    assert!(idle("idle_node_seconds") < idle("log_idle_node_seconds"));
    let [to, log_to] = ["to", "log_to"].map(|field| summary[field].as_str().unwrap());
    assert!(to < log_to && line(&run.out, "log").contains(log_to));
    assert!(line(&run.out, "replayed").contains(to));
    run.says(&["run: run.json and 11 other files"]);
    gleaner(at, "report run -o page.html")
        .expect(0)
        .says(&["page.html: the page"]);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("until all tasks had finished"));
    assert!(page.contains("Idle fragments of the whole log by length"));
}

#[test]
fn endless_and_repeated_tasks_run_to_the_end_of_the_log() {
    let directory = samples();
    let at = directory.path();
    with_endless(at, 1);
    let line_of = |tasks: &str| format!("replay --events idle.csv --tasks {tasks} --t-fwd 120");
    let run = gleaner(at, &(line_of("endless.toml") + " --out run")).expect(0);
    assert!(
        line(&run.out, "replayed").ends_with("the whole log, until its end"),
        "{}",
        run.out
    );
    assert!(line(&run.out, "tasks").ends_with("20 (1 endless)"));
    assert!(run.out.contains("  19 of 20 tasks\n"), "{}", run.out);
    let tasks = fs::read_to_string(at.join("run/tasks.csv")).unwrap();
    let work = tasks
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|c| c == "work");
    let cells: Vec<&str> = tasks
        .lines()
        .skip(1)
        .map(|l| l.split(',').nth(work.unwrap()).unwrap())
        .collect();
    assert_eq!(cells.iter().filter(|cell| cell.is_empty()).count(), 1);
    gleaner(at, "report run -o page.html").expect(0);

    let repeat = line_of("tasks.toml") + " --repeat-tasks --check --out again";
    let run = gleaner(at, &repeat).expect(0);
    assert!(
        line(&run.out, "replayed").ends_with("the whole log, until its end"),
        "{}",
        run.out
    );
    let summary = json(&at.join("again/summary.json"));
    let rounds = summary["rounds"].as_u64().unwrap();
    assert!(rounds > 1);
    assert_eq!(summary["tasks"], 20 * rounds);
    let tasks = fs::read_to_string(at.join("again/tasks.csv")).unwrap();
    assert!(tasks.contains("task0000#2,"), "{tasks:.300}");
    gleaner(at, "report again run -o page.html").expect(0);

    let run = gleaner(at, &(line_of("endless.toml") + " --repeat-tasks")).expect(2);
    run.says(&["endless", "--repeat-tasks"]);
}

#[test]
fn tasks_after_the_log_are_reported() {
    let directory = samples();
    let at = directory.path();
    let toml = fs::read_to_string(at.join("tasks.toml")).unwrap();
    let submitted = |time: &str, count: usize| {
        let line = "min_nodes = ";
        toml.replacen(line, &format!("submit = \"{time}\"\n{line}"), count)
    };
    assert!(!toml.contains("submit"));
    fs::write(at.join("late.toml"), submitted("2100-01-01", 20)).unwrap();
    let run = gleaner(at, "replay --events idle.csv --tasks late.toml").expect(0);
    let run = run.says(&["no task is submitted within the log", "2100-01-01 00:00:00"]);
    assert!(line(&run.out, "efficiency").ends_with("not applicable: no task was active"));
    fs::write(at.join("some.toml"), submitted("2100-01-01", 3)).unwrap();
    let run = gleaner(at, "replay --events idle.csv --tasks some.toml").expect(0);
    run.says(&["3 of 20 tasks are submitted after the log's end"]);
}

#[test]
fn the_window_is_what_inspect_suggests() {
    let directory = samples();
    let at = directory.path();
    let inspected = gleaner(at, "inspect idle.csv --tasks tasks.toml --json")
        .expect(0)
        .out;
    let inspected: serde_json::Value = serde_json::from_str(&inspected).unwrap();
    let suggested = &inspected["suggestion"]["window"]["t_fwd_s"];
    let run = gleaner(at, &format!("{REPLAY} --out auto")).expect(0);
    assert_eq!(json(&at.join("auto/summary.json"))["t_fwd"], *suggested);
    let seconds = suggested.as_f64().unwrap();
    let window = format!("{seconds} s, at most 10 tasks at once");
    assert!(
        line(&run.out, "planning window").contains(&window),
        "{}",
        run.out
    );
    let run = run.says(&["--t-fwd auto is", "s to grow"]);
    assert!(line(&run.out, "solver").ends_with("  exact"));
    // With the original's flags, the window is still 10 s, as in the original.
    let run = gleaner(at, "replay -ndmap idle.csv --tasks tasks.toml -nN 50").expect(0);
    assert!(
        line(&run.out, "planning window").contains("10 s"),
        "{}",
        run.out
    );
    // If growing costs nothing, no window is suggested.
    let toml = fs::read_to_string(at.join("tasks.toml")).unwrap();
    let free: String = toml
        .lines()
        .map(|line| {
            if line.starts_with("rescale_up") {
                "rescale_up = 0\n".to_owned()
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    fs::write(at.join("free.toml"), free).unwrap();
    let run = gleaner(at, "replay --events idle.csv --tasks free.toml").expect(0);
    run.says(&["--t-fwd auto is 10 s: growing costs nothing"]);
    let run = gleaner(at, &format!("{REPLAY} --t-fwd soon")).expect(2);
    run.says(&[
        "--t-fwd",
        "expected a number of seconds from 1e-6 to 1e12, or auto",
    ]);
}

#[test]
fn sweeps_and_comparisons_suggest_windows() {
    let directory = samples();
    let at = directory.path();
    let plan = |t_fwd: &str| {
        format!("[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\n{t_fwd}max_tasks = [1, 10]\n")
    };
    let windows = |name: &str| {
        let table = fs::read_to_string(at.join(name).join("sweep.csv")).unwrap();
        let mut rows = table
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let head = rows.next().unwrap();
        let column = head.iter().position(|name| *name == "t_fwd").unwrap();
        let mut found: Vec<String> = rows.map(|row| row[column].to_owned()).collect();
        found.sort();
        found
    };
    fs::write(at.join("plan.toml"), plan("")).unwrap();
    let run = gleaner(at, "sweep plan.toml --out auto").expect(0);
    run.says(&[
        "tasks.toml: --t-fwd auto is",
        "active tasks: 1)",
        "active tasks: 10)",
        "auto: run.json and",
    ]);
    let found = windows("auto");
    assert_eq!(found.len(), 2);
    assert_ne!(found[0], found[1]);
    // If a plan lists both `auto` and the window that `auto` selects for some runs, that window is replayed only once
    // for them.
    let t_fwd = format!("t_fwd = ['auto', {}]\n", found[0]);
    fs::write(at.join("plan.toml"), plan(&t_fwd)).unwrap();
    gleaner(at, "sweep plan.toml --out both").expect(0);
    assert_eq!(windows("both").len(), 3);
    let line = "compare --events idle.csv --tasks tasks.toml --every 50 --solvers exact";
    gleaner(at, line).expect(0).says(&["--t-fwd auto is"]);
}

#[test]
fn slices_beyond_the_log_are_reported() {
    let directory = samples();
    let at = directory.path();
    let run = gleaner(at, &format!("{REPLAY} --nodes 5000")).expect(0);
    run.says(&["5000 nodes are requested, but the log has only 100, so all of these are used"]);
    let run = gleaner(at, "inspect idle.csv --nodes 60 --first-node 50").expect(0);
    run.says(&["60 nodes are requested, but the log has only 50 starting at node 50"]);
    let span = "2026-01-01";
    for edge in ["--from 1999-01-01", "--to 2100-01-01"] {
        let run = gleaner(at, &format!("{REPLAY} {edge}")).expect(0);
        run.says(&["extends beyond the log, which runs from", span]);
    }
    for outside in ["--from 2100-01-01", "--to 1999-01-01"] {
        let run = gleaner(at, &format!("{REPLAY} {outside}")).expect(3);
        run.says(&["rows from", span, "100 nodes"]);
    }
}
