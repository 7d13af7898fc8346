//! Tests measurements with real processes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gleaner_domain::Unobserved;
use gleaner_profile::plan::{self, Plan};
use gleaner_profile::tables::Tables;
use gleaner_profile::{Machine, Options, Session};
use gleaner_runs::run::RunDir;
use gleaner_store::Store;
use gleaner_testing::StopAfter;
use tempfile::TempDir;

/// Minimum percentage of a core that a process gets on an otherwise idle host.
const ALONE: f64 = 85.0;

/// Each test in this file holds this lock while it measures, so that tests do not disturb each other.
static QUIET: Mutex<()> = Mutex::new(());

/// A folder for a plan and its results.
struct Bench {
    folder: TempDir,
    _quiet: MutexGuard<'static, ()>,
}

impl Bench {
    fn new() -> Self {
        Bench {
            folder: tempfile::tempdir().unwrap(),
            _quiet: QUIET.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the text of a plan to the folder, and reads the plan.
    fn plan(&self, text: &str) -> Plan {
        fs::write(self.path("plan.toml"), text).unwrap();
        plan::read(&self.path("plan.toml")).unwrap().value
    }

    /// Makes the missing measurements of a plan. Returns the tables and the number of measurements loaded from earlier
    /// sessions.
    fn run(&self, plan: &Plan, machine: &mut Machine) -> (Tables, usize) {
        let directory = RunDir::open(&self.path("out"), "profile", &()).unwrap();
        directory.begin(&[]).unwrap();
        let store = Store::at(directory.path());
        let mut session = Session::new(plan).unwrap();
        let found = session.load(&store).unwrap();
        let is_over = session.run_missing(machine, &store.writer(None), &Unobserved);
        assert!(is_over.unwrap());
        (Tables::of(&session), found)
    }
}

/// The machine of a plan, with control groups if they are available.
fn open(plan: &Plan) -> Machine {
    Machine::open(&plan.settings, &Options::default()).unwrap()
}

/// The command of a Python program, in the syntax of a plan.
fn python(program: &str, arguments: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    format!(
        "[\"python3\", \"{}\"{arguments}]",
        folder.join(program).display()
    )
}

fn workload(name: &str, command: &str) -> String {
    format!(
        "[[workload]]\nname = \"{name}\"\nmodel = \"{name}\"\ndataset = \"none\"\n\
         command = {command}\n"
    )
}

/// A workload that runs a shell command line.
fn shell(name: &str, line: &str) -> String {
    workload(name, &format!("[\"sh\", \"-c\", '''{line}''']"))
}

/// Whether Python can be run. Prints a note if it cannot.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: cannot run python3");
    }
    found
}

fn is_running(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat"));
    // State Z means that a process has ended but its parent has not waited for it yet.
    status.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Asserts that the sampler measures the CPU usage of a burner that uses half a core. The burner reports the CPU time
/// that it has used. Its speed is therefore the value that the sampler must measure, however busy the host is.
fn assert_half_a_core(machine: &mut Machine, bench: &Bench, plan: &Plan) {
    let (tables, _) = bench.run(plan, machine);
    assert_eq!(tables.failures, []);
    let row = &tables.singles[0];
    let (util, used) = (row.gpu_util.unwrap(), row.speed / 1e4);
    assert!(
        (util - used).abs() < 3.0,
        "{util} % measured, {used} % used"
    );
    if (used - 50.0).abs() < 1.0 {
        assert!((util - 50.0).abs() < 3.0, "{util} %")
    } else {
        eprintln!("note: the host left {used:.1} % of a core to the burner, not 50 %")
    }
    // A Python process uses several MiB of memory.
    assert!((2.0..500.0).contains(&row.gmem), "{} MiB", row.gmem);
    assert!((1.9..4.0).contains(&row.time), "{} s", row.time);
}

#[test]
fn a_workload_that_burns_half_a_core_is_measured() {
    if !has_python() {
        return;
    }
    let bench = Bench::new();
    let burner = workload("burner", &python("burn.py", ", \"0.5\""));
    let plan = bench.plan(&format!(
        "seconds = 2\ncores = \"0\"\npairs = \"none\"\n{burner}"
    ));
    assert_half_a_core(&mut open(&plan), &bench, &plan);
    drop(bench);
    let bench = Bench::new();
    let plan = bench.plan(&format!(
        "seconds = 2\ncores = \"0\"\npairs = \"none\"\n{burner}"
    ));
    assert_half_a_core(&mut Machine::without_cgroups(&plan.settings), &bench, &plan);
}

#[test]
fn work_in_short_lived_children_is_measured() {
    if !has_python() {
        return;
    }
    let worker = workload("children", &python("children.py", ""));
    let text = format!("seconds = 2\ncores = \"0\"\npairs = \"none\"\n{worker}");
    for by_groups in [true, false] {
        let bench = Bench::new();
        let plan = bench.plan(&text);
        let mut machine = if by_groups {
            open(&plan)
        } else {
            Machine::without_cgroups(&plan.settings)
        };
        let (tables, _) = bench.run(&plan, &mut machine);
        assert_eq!(tables.failures, []);
        let util = tables.singles[0].gpu_util.unwrap();
        // On an idle host, the workload uses the whole core, and its children account for almost all of the usage.
        assert!(
            (20.0..103.0).contains(&util),
            "{}: {util} %",
            machine.describe()
        );
    }
}

/// Runs two CPU-bound workloads on the given cores, each able to use a whole core. Returns their relative speeds and
/// the tables, or `None` if the host is too busy for a meaningful result.
fn relative_speeds(cores: &str) -> Option<(f64, f64, Tables)> {
    let bench = Bench::new();
    let (one, two) = (
        python("burn.py", ", \"1\""),
        python("burn.py", ", \"1\", \"2\""),
    );
    let (one, two) = (workload("one", &one), workload("two", &two));
    let plan = bench.plan(&format!(
        "seconds = 2\ncores = \"{cores}\"\npairs = [[\"one\", \"two\"]]\n{one}{two}"
    ));
    let (tables, _) = bench.run(&plan, &mut open(&plan));
    assert_eq!(tables.failures, []);
    let count = plan.settings.cores.len() as f64;
    let row = &tables.pairs[0];
    // The two burners together cannot use more than the cores provide.
    assert!(row.raw_speed1 + row.raw_speed2 < 1.03e6 * count, "{row:?}");
    let least = tables
        .singles
        .iter()
        .map(|row| row.gpu_util.unwrap() * count);
    let least = least.fold(f64::INFINITY, f64::min);
    let both = row.gpu_util.unwrap();
    if least < ALONE || both < ALONE {
        eprintln!("skipped: the host is busy: {least:.0} % alone, {both:.0} % together");
        return None;
    }
    Some((row.speed1, row.speed2, tables))
}

#[test]
fn two_on_one_core_are_half_as_fast_and_share_badly() {
    if !has_python() {
        return;
    }
    let Some((first, second, tables)) = relative_speeds("0") else {
        return;
    };
    for speed in [first, second] {
        assert!((0.35..0.65).contains(&speed), "{first} and {second}");
    }
    let labels: Vec<Option<f64>> = tables.singles.iter().map(|row| row.label).collect();
    assert_eq!(labels, [Some(2.0), Some(2.0)]);
}

#[test]
fn two_on_two_cores_are_as_fast_as_alone() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if !has_python() || cores < 2 {
        eprintln!("skipped: this host has a single core");
        return;
    }
    if let Some((first, second, tables)) = relative_speeds("0-1") {
        for speed in [first, second] {
            assert!((0.85..1.15).contains(&speed), "{first} and {second}");
        }
        for row in &tables.singles {
            // Whether the label is 0 or 1 depends on the host.
            assert!(row.label.unwrap() <= 1.0, "{row:?}");
        }
    }
}

/// A shell script that reports a sample every hundredth of a second.
const SOUND: &str = "echo gleaner warm; i=0; while :; do i=$((i+1)); echo gleaner samples $i; \
                     sleep 0.01; done";

#[test]
fn what_fails_is_listed_and_the_others_go_on() {
    let bench = Bench::new();
    let cold = shell("cold", "echo loading data; sleep 60");
    let ends = shell("ends", "echo out of memory >&2; exit 3");
    let dies = shell(
        "dies",
        "echo gleaner warm; sleep 0.3; echo boom; kill -9 $$",
    );
    let liar = shell(
        "liar",
        "echo gleaner warm; echo gleaner samples many; sleep 60",
    );
    let mute = shell("mute", "echo gleaner warm; sleep 60");
    let stuck = shell(
        "stuck",
        "echo gleaner warm; echo gleaner samples 1; sleep 60",
    );
    let sound = shell("sound", SOUND);
    let plan = bench.plan(&format!(
        "seconds = 1\nwarm_seconds = 1.5\npairs = [[\"sound\", \"sound\"], [\"dies\", \"sound\"]]\n\
         {cold}{ends}{dies}{liar}{mute}{stuck}{sound}"
    ));
    let (tables, _) = bench.run(&plan, &mut open(&plan));
    let told: Vec<(&str, &str, &str)> = tables
        .failures
        .iter()
        .map(|row| {
            (
                row.first.as_str(),
                row.problem.as_str(),
                row.output.as_str(),
            )
        })
        .collect();
    let expected = [
        (
            "cold:1:0",
            "did not report `gleaner warm` within 2 s",
            "loading data",
        ),
        (
            "ends:1:0",
            "ended before the window began: exit status: 3",
            "out of memory",
        ),
        (
            "dies:1:0",
            "died during the window: signal: 9",
            "gleaner warm | boom",
        ),
        (
            "liar:1:0",
            "invalid report: \"gleaner samples many\"",
            "gleaner warm",
        ),
        ("mute:1:0", "no `gleaner samples`", "gleaner warm"),
        ("stuck:1:0", "`gleaner samples`", "gleaner samples 1"),
        ("dies:1:0", "dies:1:0 could not be measured alone", ""),
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (found, (name, problem, output)) in told.iter().zip(expected) {
        assert_eq!(found.0, name);
        assert!(found.1.contains(problem), "{found:?}");
        assert!(found.2.contains(output), "{found:?}");
    }
    assert_eq!((tables.singles.len(), tables.pairs.len()), (1, 1));
    let row = &tables.singles[0];
    // A pause of 0.01 s after each sample allows at most 100 samples per second.
    assert!((5.0..105.0).contains(&row.speed), "{row:?}");
}

/// A Python program that reports to the socket and prints other lines.
const TO_SOCKET: &str = r#"
import json, os, socket, time
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["GLEANER_PROGRESS"])
def report(**fields):
    connection.sendall(json.dumps(fields).encode() + b"\n")
report(warm=True, rank=0)
print("gleaner", flush=True)
for count in range(100000):
    report(samples=count * 10)
    time.sleep(0.01)
"#;

#[test]
fn reports_may_come_through_a_socket() {
    if !has_python() {
        return;
    }
    let bench = Bench::new();
    fs::write(bench.path("to_socket.py"), TO_SOCKET).unwrap();
    let text = workload("a", "[\"python3\", \"to_socket.py\"]");
    let plan = bench.plan(&format!("seconds = 0.5\npairs = \"none\"\n{text}"));
    let (tables, _) = bench.run(&plan, &mut open(&plan));
    assert_eq!(tables.failures, []);
    // The workload reports ten samples every 0.01 s, or fewer on a busy host.
    let speed = tables.singles[0].speed;
    assert!((10.0..1000.0).contains(&speed), "{speed}");
}

#[test]
fn one_of_a_pair_that_fails_is_named() {
    let bench = Bench::new();
    let sound = shell("sound", SOUND);
    // The workload succeeds when it runs alone. As the second workload of a pair, it fails, because the directory
    // `lock` exists.
    let lock = "mkdir lock || exit 7; trap 'rmdir lock; exit 0' TERM";
    let lonely = shell("lonely", &format!("{lock}; {SOUND}"));
    let plan = bench.plan(&format!(
        "seconds = 1\npairs = [[\"sound\", \"lonely\"], [\"lonely\", \"lonely\"]]\n{sound}{lonely}"
    ));
    let (tables, _) = bench.run(&plan, &mut open(&plan));
    assert_eq!((tables.singles.len(), tables.pairs.len()), (2, 1));
    let [failure] = &tables.failures[..] else {
        panic!("{:?}", tables.failures)
    };
    assert!(
        failure.problem.starts_with("lonely:1:0: it ended"),
        "{failure:?}"
    );
    assert!(!bench.path("lock").exists());
}

#[test]
fn a_window_ends_with_the_first_of_a_pair() {
    let bench = Bench::new();
    let sound = shell("sound", SOUND);
    let short = shell(
        "short",
        "echo gleaner warm; for i in 1 2 3 4 5 6 7 8; do echo gleaner samples $i; sleep 0.1; done",
    );
    let plan = bench.plan(&format!(
        "seconds = 20\npairs = [[\"sound\", \"short\"]]\n{short}{sound}"
    ));
    let text = fs::read_to_string(bench.path("plan.toml")).unwrap();
    // Shorten the window to 3 s, because `sound` runs for the whole window when it is measured
    // alone.
    let plan = Plan {
        settings: plan::Settings {
            seconds: 3.0,
            ..plan.settings.clone()
        },
        ..plan
    };
    assert!(text.contains("seconds = 20"));
    let (tables, _) = bench.run(&plan, &mut open(&plan));
    assert_eq!(tables.failures, []);
    assert!(
        (0.5..2.9).contains(&tables.pairs[0].time),
        "{:?}",
        tables.pairs
    );
    assert!(
        (0.5..2.9).contains(&tables.singles[0].time),
        "{:?}",
        tables.singles
    );
    assert!(
        (2.9..9.0).contains(&tables.singles[1].time),
        "{:?}",
        tables.singles
    );
}

#[test]
fn nothing_is_left_of_a_workload_that_forks() {
    if !has_python() {
        return;
    }
    for by_groups in [true, false] {
        let bench = Bench::new();
        let pids = bench.path("pids");
        let arguments = format!(", \"{}\"", pids.display());
        let forks = workload("forks", &python("forks.py", &arguments));
        let plan = bench.plan(&format!("seconds = 1\npairs = \"none\"\n{forks}"));
        let mut machine = if by_groups {
            open(&plan)
        } else {
            Machine::without_cgroups(&plan.settings)
        };
        let (tables, _) = bench.run(&plan, &mut machine);
        assert_eq!(tables.failures, []);
        let pids = fs::read_to_string(pids).unwrap();
        let left: Vec<&str> = pids.split_whitespace().skip(1).collect();
        assert_eq!(left.len(), 2);
        let patience = Instant::now() + Duration::from_secs(5);
        while left.iter().any(|pid| is_running(pid)) && Instant::now() < patience {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(
            !left.iter().any(|pid| is_running(pid)),
            "{left:?}, groups: {by_groups}"
        );
    }
}

#[test]
fn what_is_measured_is_not_measured_again_and_gives_the_same_rows() {
    let bench = Bench::new();
    let text = format!(
        "seconds = 0.5\nrepeats = 2\npairs = \"all\"\n{}{}",
        shell("a", SOUND),
        shell("b", SOUND)
    );
    let plan = bench.plan(&text);
    let mut machine = open(&plan);
    // The first session is interrupted.
    let directory = RunDir::open(&bench.path("out"), "profile", &()).unwrap();
    directory.begin(&[]).unwrap();
    let store = Store::at(directory.path());
    let mut session = Session::new(&plan).unwrap();
    // Progress is reported before each measurement, so six are complete at the seventh report.
    let observer = StopAfter::new(7);
    let is_over = session.run_missing(&mut machine, &store.writer(None), &observer);
    assert!(!is_over.unwrap());
    let part = Tables::of(&session);
    assert_eq!((part.singles.len(), part.pairs.len()), (2, 2));
    drop(directory);
    // The second session makes the remaining measurements.
    let (whole, found) = bench.run(&plan, &mut machine);
    assert_eq!((found, whole.singles.len(), whole.pairs.len()), (6, 2, 3));
    for (before, after) in part.singles.iter().zip(&whole.singles) {
        assert_eq!((before.speed, before.gmem), (after.speed, after.gmem));
    }
    // The third session finds no missing measurements, and returns the same rows.
    let (again, found) = bench.run(&plan, &mut machine);
    assert_eq!((found, &again), (10, &whole));
    // If the record of one measurement is removed, only that measurement is repeated.
    let segment = &gleaner_testing::segments(&bench.path("out"))[0];
    let kept = fs::read_to_string(segment).unwrap();
    let at = kept.find("\"speed\":").unwrap();
    fs::write(segment, format!("{}1{}", &kept[..at + 8], &kept[at + 8..])).unwrap();
    let (_, found) = bench.run(&plan, &mut machine);
    assert_eq!(found, 9);
    // If the length of the window changes, all measurements are repeated.
    let plan = bench.plan(&text.replace("seconds = 0.5", "seconds = 0.6"));
    let mut session = Session::new(&plan).unwrap();
    assert_eq!(session.load(&Store::at(&bench.path("out"))).unwrap(), 0);
}
