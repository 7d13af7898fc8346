//! The program as a user runs it: exit codes, messages, files.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A finished run of the program.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Asserts that every word is in what the user is told.
    #[track_caller]
    fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in:\n{}", self.err);
        }
        self
    }
}

fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.current_dir(directory).args(line.split_whitespace());
    command
}

/// Runs `gleaner LINE` in `directory`.
fn gleaner(directory: &Path, line: &str) -> Run {
    command(directory, line)
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into()
}

fn with_stdin(directory: &Path, line: &str, text: &str) -> Run {
    fs::write(directory.join("stdin"), text).unwrap();
    let stdin = fs::File::open(directory.join("stdin")).unwrap();
    command(directory, line)
        .stdin(stdin)
        .output()
        .unwrap()
        .into()
}

/// A directory with the samples of dataset/ in it.
fn samples() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "tasks.toml", "problems.jsonl"] {
        fs::copy(dataset().join(name), directory.path().join(name)).unwrap();
    }
    directory
}

fn dataset() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dataset")
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

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
fn every_help_shows_examples() {
    let directory = samples();
    for name in [
        "replay",
        "solve",
        "compare",
        "sweep",
        "convert",
        "synth events",
        "synth tasks",
        "synth problems",
    ] {
        let run = gleaner(directory.path(), &format!("{name} --help")).expect(0);
        let example = format!("gleaner {name} ");
        assert!(
            run.out.contains("Example") && run.out.contains(&example),
            "{}",
            run.out
        );
    }
}

#[test]
fn a_run_directory_holds_everything() {
    let directory = samples();
    let run = gleaner(directory.path(), &format!("{REPLAY} --check --out run")).expect(0);
    assert!(
        run.out.contains("efficiency") && run.out.contains("20 of 20 finished"),
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

/// All files of a run but those that hold wall times.
fn stable_files(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|e| {
            (
                e.file_name().into_string().unwrap(),
                fs::read(e.path()).unwrap(),
            )
        })
        .filter(|(name, _)| name != "run.json" && !name.starts_with("timings"))
        .collect();
    files.sort();
    files
}

#[test]
fn same_seed_same_bytes_another_seed_another_deal() {
    let directory = samples();
    for (seed, out) in [(1, "a"), (1, "b"), (2, "c")] {
        gleaner(
            directory.path(),
            &format!("{REPLAY} --seed {seed} --out {out}"),
        )
        .expect(0);
    }
    let [a, b, c] = ["a", "b", "c"].map(|out| stable_files(&directory.path().join(out)));
    assert_eq!(a.len(), 7);
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
        &format!("{REPLAY} --max-tasks 5 --nodes 50 --out ours"),
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
fn invalid_data_exits_with_3_and_says_where() {
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
    assert!(run.out.contains("of 19 finished"), "{}", run.out);
    let skipped = fs::read_to_string(at.join("run/skipped.csv")).unwrap();
    assert!(
        skipped.contains("bad.toml") && skipped.contains("99"),
        "{skipped}"
    );
}

#[test]
fn a_hostile_pickle_is_refused_by_name_and_not_run() {
    let directory = samples();
    for (name, global) in [
        ("hostile-system.pkl", "system"),
        ("hostile-eval.pkl", "eval"),
    ] {
        let pickle = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/pickle")
            .join(name);
        let line = format!("convert {} -o x.gev", pickle.display());
        gleaner(directory.path(), &line)
            .expect(3)
            .says(&[global, name]);
    }
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_converted_log_replays_alike_and_knows_its_source() {
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
fn a_cache_is_made_used_and_rebuilt() {
    let directory = samples();
    let at = directory.path();
    let line = format!("{REPLAY} --cache");
    gleaner(at, &line).expect(0).says(&["wrote the cache"]);
    let again = gleaner(at, &line).expect(0);
    assert!(!again.err.contains("wrote the cache"), "{}", again.err);
    let cache = at.join("idle.csv.gev");
    let mut bytes = fs::read(&cache).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&cache, &bytes).unwrap();
    gleaner(at, &line).expect(0).says(&["wrote the cache"]);
    fs::write(&cache, &bytes).unwrap();
    gleaner(at, "replay --events idle.csv.gev --tasks tasks.toml")
        .expect(3)
        .says(&["idle.csv.gev"]);
}

const PROBLEM: &str = r#"{"nodes": 4, "t_fwd": 10, "tasks": [{"name": "a", "min_nodes": 1, "max_nodes": 4,
    "rescale_up": 1, "rescale_down": 1, "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}]}"#;

#[test]
fn solve_answers_one_json_line_a_problem() {
    let directory = samples();
    let run = with_stdin(directory.path(), "solve --solver exact --check", PROBLEM).expect(0);
    let head = r#"{"id":"1","solver":"exact","status":"optimal","objective":390.0,"bound":390.0,"gap":0.0,"counts":[4],"microseconds":"#;
    assert!(run.out.starts_with(head), "{}", run.out);
    let all = gleaner(directory.path(), "solve problems.jsonl").expect(0);
    let ids: Vec<Value> = all
        .out
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids.len(), 12);
}

#[test]
fn solve_refuses_bad_problems() {
    let directory = samples();
    let at = directory.path();
    with_stdin(at, "solve", "").expect(3).says(&["no problem"]);
    with_stdin(at, "solve", "{\"nodes\": 4,\n nonsense")
        .expect(3)
        .says(&["line 2"]);
    with_stdin(
        at,
        "solve",
        &PROBLEM.replace("\"min_nodes\": 1", "\"min_nodes\": 9"),
    )
    .expect(3)
    .says(&["min_nodes 9"]);
    let grouped = PROBLEM.replacen(
        '{',
        r#"{"groups": [{"name": "g", "tasks": ["a"], "max_total": 2}], "#,
        1,
    );
    with_stdin(at, "solve --solver exact", &grouped)
        .expect(1)
        .says(&["side constraints", "group g"]);
}

#[test]
fn solve_writes_models_for_other_solvers() {
    let directory = samples();
    let at = directory.path();
    with_stdin(at, "solve --write-model one.lp", PROBLEM).expect(0);
    assert!(
        fs::read_to_string(at.join("one.lp"))
            .unwrap()
            .contains("Maximize")
    );
    gleaner(
        at,
        "solve problems.jsonl --write-model all.mps --formulation paper",
    )
    .expect(0);
    assert!(
        fs::read_to_string(at.join("all-synthetic-1.mps"))
            .unwrap()
            .contains("ROWS")
    );
}

#[test]
fn compare_tells_the_heuristic_from_the_optimum() {
    let directory = samples();
    let at = directory.path();
    let line = "compare --problems problems.jsonl --solvers exact,equal-share --out compared";
    let run = gleaner(at, line).expect(0);
    assert_eq!(run.out.lines().count(), 3, "{}", run.out);
    let solvers = fs::read_to_string(at.join("compared/solvers.csv")).unwrap();
    assert!(
        solvers.contains("\nexact,12,0,12,0,") && solvers.contains("\nequal-share,12,0,0,0,"),
        "{solvers}"
    );
    let line = "compare --events idle.csv --tasks tasks.toml --every 200 --solvers exact";
    gleaner(at, line).expect(0).says(&["problems"]);
}

#[test]
fn the_samples_are_what_the_script_makes() {
    let directory = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/make-dataset.sh");
    let made = Command::new("bash")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_gleaner"))
        .arg(directory.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut size = 0;
    for name in ["idle.csv", "tasks.toml", "problems.jsonl"] {
        let kept = fs::read(dataset().join(name)).unwrap();
        size += kept.len();
        assert_eq!(
            kept,
            fs::read(directory.path().join(name)).unwrap(),
            "{name}: run make dataset"
        );
    }
    assert!(size < 300_000, "{size} bytes of samples");
}

#[cfg(unix)]
#[test]
fn an_interrupt_writes_what_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    gleaner(at, "synth events --nodes 2000 --days 60 -o long.gev").expect(0);
    gleaner(at, "synth tasks --count 400 --hours 9999 -o tasks.toml").expect(0);
    let line = "replay --events long.gev --tasks tasks.toml --max-tasks 200 --out run";
    let child = command(at, line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    // The directory is made when the inputs are read and the handler is in place.
    while !at.join("run").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "the replay does not begin"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let run = Run::from(child.wait_with_output().unwrap())
        .expect(130)
        .says(&["interrupted"]);
    assert!(run.out.contains("INCOMPLETE"), "{}", run.out);
    assert_eq!(json(&at.join("run/summary.json"))["complete"], false);
    assert_eq!(json(&at.join("run/run.json"))["complete"], false);
    assert!(
        fs::read_to_string(at.join("run/steps.csv"))
            .unwrap()
            .lines()
            .count()
            > 1
    );
}
