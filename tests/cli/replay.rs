//! Tests `gleaner replay` and `gleaner convert`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Run, command, gleaner, json, samples, stable_files};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml --t-fwd 120";

#[test]
fn replay_without_arguments_explains_what_it_needs() {
    let directory = samples();
    let run = gleaner(directory.path(), "replay").expect(2);
    run.says(&[
        "--events",
        "--tasks",
        "gleaner synth events",
        "gleaner replay --events",
    ]);
}

#[test]
fn a_run_directory_holds_everything() {
    let directory = samples();
    let run = gleaner(directory.path(), &format!("{REPLAY} --check --out run")).expect(0);
    assert!(
        run.out.contains("efficiency") && run.out.contains("  20 of 20 tasks\n"),
        "{}",
        run.out
    );
    let at = |name: &str| directory.path().join("run").join(name);
    for table in ["steps", "tasks", "allocations", "timings"] {
        let csv = fs::read_to_string(at(&format!("{table}.csv"))).unwrap();
        assert!(csv.lines().count() > 20, "{table}");
        assert!(fs::metadata(at(&format!("{table}.parquet"))).unwrap().len() > 100);
    }
    let steps = fs::read_to_string(at("steps.csv")).unwrap();
    let header = "evtTime,Thr,Rate,ReScost,evt,Nleft,Npre,Njoin,nJob,nNd,nJrun,nNrun,PreCost,";
    assert!(steps.starts_with(header), "{steps:.200}");
    let summary = json(&at("summary.json"));
    for field in [
        "events",
        "events_optimal",
        "total_work",
        "idle_node_seconds",
        "used_node_seconds",
        "rescale_loss",
        "preemption_loss",
        "efficiency",
        "tasks_finished",
        "completion_mean_s",
        "completion_median_s",
        "completion_last_s",
    ] {
        assert!(summary[field].is_number(), "{field} in {summary}");
    }
    assert_eq!(summary["complete"], true);
    let info = json(&at("run.json"));
    assert_eq!(info["arguments"]["t_fwd"], 120.0);
    assert_eq!(info["inputs"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(info["seconds"]["compute"].is_number());
}

#[test]
fn the_summary_states_hindsight_and_events_without_jobs() {
    let directory = samples();
    let line = format!("{REPLAY} --hand-back 20 --min-fragment 60 --check --out run");
    let run = gleaner(directory.path(), &line).expect(0);
    for text in [
        "idle fragments shorter than 1 min are ignored, which requires hindsight",
        "by 20 s each (events at which tasks lost nodes: the log does not name jobs)",
    ] {
        assert!(run.out.contains(text), "{text}: {}", run.out);
    }
    run.says(&["counts as one delayed batch job"]);
    let summary = json(&directory.path().join("run/summary.json"));
    assert_eq!(summary["delayed_jobs_are_events"], true);
    gleaner(directory.path(), "report run -o run.html").expect(0);
    let page = fs::read_to_string(directory.path().join("run.html")).unwrap();
    assert!(page.contains("are ignored, which requires hindsight"));
}

#[test]
fn the_consumption_of_the_used_nodes_is_told() {
    let directory = samples();
    let rates = "--gpus-per-node 8 --node-power 2500 --price 0.2 --currency EUR";
    let run = gleaner(directory.path(), &format!("{REPLAY} {rates} --out run")).expect(0);
    let summary = json(&directory.path().join("run/summary.json"));
    let of = |field: &str| summary[field].as_f64().unwrap();
    let hours = of("used_node_seconds") / 3600.0;
    assert!((of("gpu_hours") - 8.0 * hours).abs() < 1e-6);
    assert!((of("energy_kwh") - 2.5 * hours).abs() < 1e-6);
    assert!((of("energy_cost") - 0.5 * hours).abs() < 1e-6);
    for text in ["GPU-hours", "kWh", " EUR)"] {
        assert!(run.out.contains(text), "{text}: {}", run.out);
    }
    gleaner(directory.path(), "check run").expect(0);
    gleaner(directory.path(), "report run -o run.html").expect(0);
    let page = fs::read_to_string(directory.path().join("run.html")).unwrap();
    assert!(page.contains("cost of the energy"));
    gleaner(
        directory.path(),
        &format!("{REPLAY} --price 0.2 --out other"),
    )
    .expect(2);
    gleaner(
        directory.path(),
        &format!("{REPLAY} --node-power=-1 --out other"),
    )
    .expect(2)
    .says(&["at least 0"]);
}

#[test]
fn the_bound_with_hindsight_is_told_where_it_is_asked_for() {
    let directory = samples();
    let number = |out: &str, field: &str| {
        let summary = json(&directory.path().join(out).join("summary.json"));
        summary[field].as_f64()
    };
    let plain = gleaner(directory.path(), &format!("{REPLAY} --out plain")).expect(0);
    assert!(!plain.out.contains("hindsight"), "{}", plain.out);
    assert_eq!(number("plain", "bound_work"), None);
    for rule in ["arrival", "blocks", "learned"] {
        let line = format!("{REPLAY} --node-choice {rule} --bound --out {rule}");
        let run = gleaner(directory.path(), &line).expect(0);
        assert!(
            run.out.contains("% of the bound with hindsight"),
            "{}",
            run.out
        );
        let of = |field: &str| number(rule, field).unwrap();
        assert!(of("total_work") <= of("bound_work") && of("bound_work") <= of("fluid_work"));
        assert_eq!(of("bound_efficiency"), of("total_work") / of("bound_work"));
        gleaner(directory.path(), &format!("check {rule}")).expect(0);
        gleaner(directory.path(), &format!("report {rule} -o {rule}.html")).expect(0);
        let page = fs::read_to_string(directory.path().join(format!("{rule}.html"))).unwrap();
        assert!(page.contains("of the bound with hindsight"));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_does_not() {
    let directory = samples();
    for (seed, out) in [(1, "a"), (1, "b"), (2, "c")] {
        gleaner(
            directory.path(),
            &format!("{REPLAY} --seed {seed} --out {out}"),
        )
        .expect(0);
    }
    let [a, b, c] = ["a", "b", "c"].map(|out| stable_files(&directory.path().join(out)));
    assert_eq!(a.len(), 9);
    assert_eq!(a, b);
    let deal =
        |files: &[(String, Vec<u8>)]| files.iter().find(|f| f.0 == "allocations.csv").cloned();
    assert_ne!(deal(&a), deal(&c));
}

#[test]
fn the_originals_flags_do_the_same() {
    let directory = samples();
    gleaner(
        directory.path(),
        &format!(
            "{REPLAY} --max-tasks 5 --nodes 50 --node-choice arrival --no-completion-events \
             --drop-end-row --out ours"
        ),
    )
    .expect(0);
    let theirs = "replay -ndmap idle.csv -bdfn tasks.toml -Tfwd 120 -maxJ 5 -nN 50 -nis 0 -optTL 10 \
                  -mip 1 -print 0 -name theirs";
    gleaner(directory.path(), theirs).expect(0);
    let [ours, theirs] =
        ["ours", "theirs-itrOut"].map(|out| stable_files(&directory.path().join(out)));
    assert_eq!(ours, theirs);
    gleaner(
        directory.path(),
        &format!("{REPLAY} -mip 0 --out heuristic"),
    )
    .expect(0);
    let steps = fs::read_to_string(directory.path().join("heuristic/steps.csv")).unwrap();
    assert!(steps.contains(",equal-share,feasible,"));
}

#[test]
fn completions_are_events_but_not_with_the_originals_flags() {
    let directory = samples();
    let at = directory.path();
    let completions = |words: &str| {
        gleaner(at, &format!("{REPLAY} {words} --out run")).expect(0);
        let steps = fs::read_to_string(at.join("run/steps.csv")).unwrap();
        let info = json(&at.join("run/run.json"));
        let summary = json(&at.join("run/summary.json"));
        let is_on = steps.contains(",completion,");
        assert_eq!(summary["completion_events"], is_on);
        assert_eq!(info["arguments"]["completion_events"], is_on);
        is_on
    };
    for words in [
        "",
        "--completion-events",
        "--no-completion-events --completion-events",
        "-maxJ 5 --completion-events",
    ] {
        assert!(completions(words), "{words}");
    }
    for words in [
        "--no-completion-events",
        "--completion-events --no-completion-events",
        "-maxJ 5",
        "-print 1",
        "-nis=0",
    ] {
        assert!(!completions(words), "{words}");
    }
}

// The expected values are computed by hand: a node is idle from 0 to 100 s, and from 200 s to the end of the log.
#[test]
fn the_last_row_ends_the_log_everywhere() {
    let directory = samples();
    let at = directory.path();
    let text = "time,node,state\n0,n1,1\n100,n1,0\n150,,\n200,n1,1\n86400,,\n";
    fs::write(at.join("log.csv"), text).unwrap();
    fs::write(
        at.join("still.csv"),
        "time,node,state\n0,n1,1\n100,,\n200,,\n",
    )
    .unwrap();
    fs::write(
        at.join("task.toml"),
        "[[task]]\nname = 'a'\nmin_nodes = 1\nmax_nodes = 1\nrescale_up = 0\nrescale_down = 0\n\
         work = 'endless'\ncurve = { nodes = [0, 1], progress = [0, 2] }\n",
    )
    .unwrap();
    for name in ["log.gev", "log.parquet", "wide.csv --layout wide"] {
        gleaner(at, &format!("convert log.csv -o {name}")).expect(0);
    }
    let summary = |file: &str, more: &str| {
        let line = format!("replay --events {file} --tasks task.toml {more} --json");
        let run = gleaner(at, &line).expect(0);
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        ["span_seconds", "idle_node_seconds", "total_work", "events"]
            .map(|field| summary[field].as_f64().unwrap())
    };
    for file in ["log.csv", "log.gev", "log.parquet", "wide.csv"] {
        let idle = 100.0 + 86_200.0;
        assert_eq!(summary(file, ""), [86_400.0, idle, 2.0 * idle, 3.0]);
        assert_eq!(summary(file, "-maxJ 10"), [200.0, 100.0, 200.0, 2.0]);
        assert_eq!(
            summary(file, "--to 1970-01-01T00:02:30"),
            [150.0, 100.0, 200.0, 2.0]
        );
        let run = gleaner(at, &format!("inspect {file} --json")).expect(0);
        let inspected: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(inspected["span_seconds"], 86_400.0, "{file}");
    }
    assert_eq!(summary("still.csv", ""), [200.0, 200.0, 400.0, 1.0]);
}

#[test]
fn wrong_usage_exits_with_2() {
    let directory = samples();
    let at = directory.path();
    for (line, words) in [
        (format!("{REPLAY} --no-such-flag"), "--no-such-flag"),
        (format!("{REPLAY} --t-fwd 0"), "--t-fwd"),
        (format!("{REPLAY} --max-tasks 0"), "--max-tasks"),
        (format!("{REPLAY} --gap=-1"), "--gap"),
        (format!("{REPLAY} --time-limit=-1"), "--time-limit"),
        (format!("{REPLAY} --formulation paper"), "--formulation"),
        (format!("{REPLAY} --out ."), "--out"),
        (format!("{REPLAY} --curves tasks.toml"), "curves"),
        ("convert idle.csv -o idle.xyz".into(), ".gev"),
        (
            "synth events --idle-share 2 -o x.csv".into(),
            "--idle-share",
        ),
        ("synth tasks -o x.xyz".into(), ".toml"),
        ("compare".into(), "--problems"),
        (
            "compare --problems problems.jsonl --solvers nobody".into(),
            "nobody",
        ),
        ("solve problems.jsonl --write-model m.txt".into(), ".lp"),
    ] {
        gleaner(at, &line).expect(2).says(&[words]);
    }
}

#[test]
fn a_missing_file_exits_with_1() {
    let directory = samples();
    let run = gleaner(
        directory.path(),
        "replay --events none.csv --tasks tasks.toml",
    )
    .expect(1);
    run.says(&["none.csv", "cannot"]);
}

#[test]
fn invalid_data_exits_with_3_and_names_the_place() {
    let directory = samples();
    let at = directory.path();
    fs::write(
        at.join("bad.csv"),
        "time,node,state\n2021-01-01,a,1\n2021-01-02,a,7\n2020-01-01,a,0\n",
    )
    .unwrap();
    gleaner(at, "replay --events bad.csv --tasks tasks.toml")
        .expect(3)
        .says(&["bad.csv", "line 3", "7", "line 4"]);
    gleaner(at, "convert bad.csv -o x.gev").expect(3);
    let tasks = fs::read_to_string(at.join("tasks.toml")).unwrap();
    fs::write(
        at.join("bad.toml"),
        tasks.replacen("min_nodes = 1", "min_nodes = 99", 1),
    )
    .unwrap();
    gleaner(at, "replay --events idle.csv --tasks bad.toml")
        .expect(3)
        .says(&["bad.toml", "task0000", "99"]);
    gleaner(at, &format!("{REPLAY} --skip-rows 99999"))
        .expect(3)
        .says(&["--skip-rows"]);
    gleaner(at, &format!("{REPLAY} --first-node 100"))
        .expect(3)
        .says(&["--first-node"]);
    gleaner(at, "replay --events tasks.toml --tasks idle.csv").expect(3);
    gleaner(at, &format!("{REPLAY} --scripted idle.csv"))
        .expect(3)
        .says(&["idle.csv", "line 1"]);
}

#[test]
fn scripts_that_cannot_be_carried_out_are_invalid_data() {
    let directory = samples();
    let at = directory.path();
    let head = fs::read_to_string(at.join("idle.csv")).unwrap();
    let first = head.lines().nth(1).unwrap().split(',').nth(1).unwrap();
    for (line, found) in [
        // A script must not assign a node twice. The first script assigns a node twice to one task; the second assigns
        // it to two tasks.
        (
            format!(r#"{{"event": 0, "allocation": {{"task0000": [{first:?}, {first:?}]}}}}"#),
            "line 1: found node",
        ),
        (
            format!(
                r#"{{"event": 0, "allocation": {{"task0000": [{first:?}], "task0001": [{first:?}]}}}}"#
            ),
            "a second time",
        ),
        (
            r#"{"event": 0, "allocation": {"task0000": ["nobody"]}}"#.to_owned(),
            "found node nobody",
        ),
        (
            r#"{"event": 0, "allocation": {"nobody": ["node000"]}}"#.to_owned(),
            "script.jsonl",
        ),
    ] {
        fs::write(at.join("script.jsonl"), line).unwrap();
        gleaner(at, &format!("{REPLAY} --scripted script.jsonl"))
            .expect(3)
            .says(&["script.jsonl", found]);
    }
}

#[test]
fn faulty_tasks_can_be_left_out() {
    let directory = samples();
    let at = directory.path();
    let tasks = fs::read_to_string(at.join("tasks.toml")).unwrap();
    fs::write(
        at.join("bad.toml"),
        tasks.replacen("min_nodes = 1", "min_nodes = 99", 1),
    )
    .unwrap();
    let line = "replay --events idle.csv --tasks bad.toml --skip-invalid --out run";
    let run = gleaner(at, line).expect(0).says(&["left out", "task0000"]);
    assert!(run.out.contains(" of 19 tasks\n"), "{}", run.out);
    let skipped = fs::read_to_string(at.join("run/skipped.csv")).unwrap();
    assert!(
        skipped.contains("bad.toml") && skipped.contains("99"),
        "{skipped}"
    );
}

#[test]
fn tasks_that_suit_neither_log_nor_window_are_noted() {
    let directory = samples();
    let at = directory.path();
    let task = |min: u32, max: u32, up: f64, name: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\nmin_nodes = {min}\nmax_nodes = {max}\nwork = 1e9\n\
             rescale_up = {up}\nrescale_down = 5.0\ncurve = {{ nodes = [0, 1, 128], progress = [0.0, 1.0, 40.0] }}\n"
        )
    };
    let replay = |tasks: &str, options: &str| {
        fs::write(at.join("own.toml"), tasks).unwrap();
        let line = format!("replay --events idle.csv --tasks own.toml --t-fwd 120 {options}");
        gleaner(at, &line).expect(0)
    };
    let [fitting, small, big] = [(1, 64, "a"), (1, 2, "b"), (99, 128, "c")]
        .map(|(min, max, name)| task(min, max, 10.0, name));
    let run = replay(&fitting, "");
    assert!(
        !run.err.contains("idle on average") && !run.err.contains("rescale_up"),
        "{}",
        run.err
    );
    replay(&small, "").says(&[
        "can use at most 2 nodes",
        "add tasks, or raise their max_nodes",
    ]);
    let two = small.clone() + &task(1, 3, 10.0, "d");
    replay(&two, "--max-tasks 1").says(&["can use at most 3 nodes", "raise --max-tasks"]);
    replay(&big, "").says(&["no task can start: each needs at least 99 nodes, but at most"]);
    let mixed = format!("{fitting}{big}");
    replay(&mixed, "").says(&["1 of 2 tasks can never start: each needs at least 99 nodes"]);
    let slow = task(1, 64, 240.0, "e");
    replay(&slow, "").says(&[
        "rescale_up of 1 task exceeds the forward window of 2 min",
        "4 min in task e",
    ]);
}

#[test]
fn a_converted_log_gives_the_same_replay_and_names_its_source() {
    let directory = samples();
    let at = directory.path();
    gleaner(at, &format!("{REPLAY} --out csv")).expect(0);
    for name in ["idle.gev", "idle.parquet", "wide.csv --layout wide"] {
        gleaner(at, &format!("convert idle.csv -o {name}")).expect(0);
        let file = name.split(' ').next().unwrap();
        gleaner(
            at,
            &format!("replay --events {file} --tasks tasks.toml --t-fwd 120 --out other"),
        )
        .expect(0);
        assert_eq!(
            stable_files(&at.join("csv")),
            stable_files(&at.join("other")),
            "{file}"
        );
    }
    let longer = fs::read_to_string(at.join("idle.csv")).unwrap() + "2027-01-01,n00,1\n";
    fs::write(at.join("idle.csv"), longer).unwrap();
    gleaner(at, "replay --events idle.gev --tasks tasks.toml")
        .expect(3)
        .says(&["idle.gev", "gleaner convert"]);
}

#[test]
fn a_cache_is_written_and_used() {
    let directory = samples();
    let line = format!("{REPLAY} --cache");
    let first = gleaner(directory.path(), &line).expect(0);
    first.says(&["wrote the cache"]);
    let again = gleaner(directory.path(), &line).expect(0);
    assert!(!again.err.contains("wrote the cache"), "{}", again.err);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_writes_its_partial_results() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    gleaner(at, "synth events --nodes 2000 --days 60 -o long.gev").expect(0);
    gleaner(at, "synth tasks --count 400 --hours 9999 -o tasks.toml").expect(0);
    let line = "replay --events long.gev --tasks tasks.toml --max-tasks 200 --out run";
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let run = stopped(at, line, signal)
            .expect(code)
            .says(&["interrupted"]);
        assert!(run.out.contains("INCOMPLETE"), "{}", run.out);
        assert_eq!(json(&at.join("run/summary.json"))["complete"], false);
        assert_eq!(json(&at.join("run/run.json"))["complete"], false);
        fs::remove_dir_all(at.join("run")).unwrap();
    }
}

/// Sends a signal to a replay that has made at least one step. If the signal arrives before the first step, repeats the
/// replay with twice the wait before the signal.
fn stopped(at: &Path, line: &str, signal: &str) -> Run {
    let mut wait = Duration::from_millis(250);
    loop {
        let child = command(at, line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(wait);
        let kill = ["-s", signal, &child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        let run = Run::from(child.wait_with_output().unwrap());
        assert_ne!(run.code, Some(0), "the replay was over before the signal");
        // If the signal arrives before the first step, `steps.csv` has no rows.
        let steps = fs::read_to_string(at.join("run/steps.csv")).unwrap_or_default();
        if steps.lines().count() > 1 {
            return run;
        }
        wait *= 2;
    }
}

/// The path of a sample log in `dataset/logs`.
fn scheduler_log(name: &str) -> String {
    let path = gleaner_testing::workspace().join("dataset/logs").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn ingest_writes_a_log_and_reports_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = scheduler_log("sacct.txt");
    let run = gleaner(folder.path(), &format!("ingest slurm {jobs} -o log.csv")).expect(0);
    let run = run.says(&[
        "read      9 lines of 1 file",
        "used      6 jobs, 1 of them without an end",
        "left out  2 that never started",
        "problem   1 on a node that was already running a job",
        "nodes     4",
        "from      2026-01-01 09:00:00",
        "to        2026-01-01 11:00:00",
        "idle      56.25 % of node-time, 43.75 % running",
    ]);
    let log = fs::read_to_string(folder.path().join("log.csv")).unwrap();
    assert!(
        log.starts_with("time,node,state\n2026-01-01 09:00:00,n01,0\n"),
        "{log}"
    );
    run.says(&["only .gev stores how many jobs waited"]);
    gleaner(folder.path(), "convert log.csv -o log.gev").expect(0);
    let gev = format!("ingest slurm {jobs} -o queue.gev");
    let run = gleaner(folder.path(), &gev).expect(0);
    assert!(!run.err.contains("only .gev stores"), "{}", run.err);
    gleaner(folder.path(), "convert queue.gev -o queue.parquet")
        .expect(0)
        .says(&["only .gev stores how many jobs waited"]);
    let pbs = scheduler_log("pbs.txt");
    gleaner(
        folder.path(),
        &format!("ingest pbs {pbs} {pbs} -o twice.gev"),
    )
    .expect(0);
}

#[test]
fn ingest_reports_invalid_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let (jobs, pbs) = (scheduler_log("sacct.txt"), scheduler_log("pbs.txt"));
    let line = |line: &str| gleaner(folder.path(), line);
    line(&format!("ingest slurm {pbs} -o log.gev"))
        .expect(3)
        .says(&[
            "expected a header with the columns JobIDRaw, State",
            "sacct -a -X -P -D",
        ]);
    line(&format!("ingest pbs {jobs} -o log.gev"))
        .expect(3)
        .says(&["none usable", "line 1: a line without the three semicolons"]);
    line(&format!("ingest slurm {jobs} -o log.txt"))
        .expect(2)
        .says(&["expected a name ending in .csv, .parquet or .gev"]);
    line(&format!("ingest slurm {jobs} --timezone Mars -o log.gev"))
        .expect(2)
        .says(&["--timezone Mars: expected a zone of the IANA database"]);
    line("ingest slurm missing.txt -o log.gev")
        .expect(1)
        .says(&["cannot read missing.txt"]);
    assert!(!folder.path().join("log.gev").exists());
}

#[test]
fn a_generated_month_is_ingested_from_stdin_as_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let synth = "synth slurm --nodes 40 --days 3 -o jobs.txt --node-list nodes.txt \
                 --outages events.txt --truth truth.csv";
    gleaner(folder.path(), synth).expect(0);
    let ingest = "ingest slurm - --nodes nodes.txt --events events.txt --strict \
                  --from 2026-01-01 --to 2026-01-04 -o log.csv";
    let mut command = command(folder.path(), ingest);
    command.stdin(fs::File::open(folder.path().join("jobs.txt")).unwrap());
    Run::from(command.output().unwrap()).expect(0);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("log.csv") == read("truth.csv"));
}
