//! Tests the GPU sampler with a stub of the driver's library that replays traces. No real GPU is measured.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gleaner_domain::Unobserved;
use gleaner_domain::error::Error;
use gleaner_profile::plan::{self, Plan};
use gleaner_profile::sampler::Reading;
use gleaner_profile::tables::Tables;
use gleaner_profile::{Machine, Options, Session};
use gleaner_runs::run::RunDir;
use gleaner_store::Store;
use tempfile::TempDir;

const TRACE: &str = "idle 0 0 500\nidle 2 1 500\nbusy 40 10 2500\nbusy 80 30 2600\n";

/// A stub library, and a plan to measure with it.
struct Stub {
    folder: TempDir,
    library: PathBuf,
    plan: Plan,
}

impl Stub {
    /// Compiles a stub that replays a trace. Without a C compiler, prints a note and returns `None`.
    fn new(trace: &str, flags: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("trace"), trace).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/nvml_stub.c");
        let compiled = Command::new("cc")
            .args([
                "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
            ])
            .arg(at("stub.so"))
            .arg(format!("-DTRACE=\"{}\"", at("trace").display()))
            .arg(format!("-DPIDS=\"{}\"", at("pids").display()))
            .args(flags)
            .arg(source)
            .output();
        let Ok(output) = compiled else {
            eprintln!("skipped: no C compiler");
            return None;
        };
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let line = "echo $$ >> pids; echo gleaner warm; i=0; while :; do i=$((i+1)); \
                    echo gleaner samples $i; sleep 0.02; done";
        let workload = |name: &str| {
            format!(
                "[[workload]]\nname = \"{name}\"\nmodel = \"{name}\"\ndataset = \"d\"\n\
                 command = [\"sh\", \"-c\", \"{line}\"]\n"
            )
        };
        let text = format!(
            "sampler = \"nvml\"\nseconds = 2.5\nidle_seconds = 1\npairs = [[\"a\", \"b\"]]\n{}{}",
            workload("a"),
            workload("b")
        );
        fs::write(at("plan.toml"), text).unwrap();
        let plan = plan::read(&at("plan.toml")).unwrap().value;
        Some(Stub {
            library: at("stub.so"),
            plan,
            folder,
        })
    }

    fn machine(&self) -> Machine {
        let options = Options {
            nvml_library: Some(self.library.clone()),
            ..Options::default()
        };
        Machine::open(&self.plan.settings, &options).unwrap()
    }

    fn idle(&self, machine: &mut Machine) -> Result<Reading, Error> {
        let reading = machine.idle(&self.plan.settings, false, &Unobserved)?;
        Ok(reading.unwrap())
    }

    fn run(&self, machine: &mut Machine) -> Tables {
        let directory = RunDir::open(&self.folder.path().join("out"), "profile", &()).unwrap();
        let store = Store::at(directory.path());
        let mut session = Session::new(&self.plan).unwrap();
        let is_over = session.run_missing(machine, &store.writer(None), &Unobserved);
        assert!(is_over.unwrap());
        Tables::of(&session)
    }
}

#[test]
fn a_trace_is_played_back_into_the_tables() {
    let Some(stub) = Stub::new(TRACE, &[]) else {
        return;
    };
    let mut machine = stub.machine();
    assert_eq!(
        machine.describe(),
        "GPU 0 (Stub), through NVML, driver 0.stub"
    );
    let idle = stub.idle(&mut machine).unwrap();
    assert!(
        idle.util.unwrap() <= 2.0 && idle.memory == 500.0,
        "{idle:?}"
    );
    let tables = stub.run(&mut machine);
    assert_eq!(tables.failures, []);
    for row in &tables.singles {
        // There are about fifteen samples, which alternate between 40 and 80.
        assert!((50.0..70.0).contains(&row.gpu_util.unwrap()), "{row:?}");
        assert!((15.0..25.0).contains(&row.gmem_util.unwrap()), "{row:?}");
        // The driver reports 1000 MiB for the process.
        assert_eq!((row.gmem, row.gpu_num), (1000.0, 1));
    }
    let pair = &tables.pairs[0];
    assert!((50.0..70.0).contains(&pair.gpu_util.unwrap()), "{pair:?}");
    for part in [pair.gpu_util1, pair.gpu_util2] {
        assert!((15.0..45.0).contains(&part.unwrap()), "{pair:?}");
    }
    assert_eq!(pair.gmem, 1000.0);
}

#[test]
fn a_driver_without_processes_gives_the_memory_beyond_the_idle_gpu() {
    let Some(stub) = Stub::new(TRACE, &["-DPROCESS_ERROR=3"]) else {
        return;
    };
    let mut machine = stub.machine();
    stub.idle(&mut machine).unwrap();
    let tables = stub.run(&mut machine);
    assert_eq!(tables.failures, []);
    assert_eq!(tables.singles[0].gmem, 2100.0);
    assert_eq!(tables.pairs[0].gpu_util1, None);
}

#[test]
fn a_driver_without_samples_is_asked_once_a_second() {
    let Some(stub) = Stub::new(TRACE, &["-DALWAYS_ERROR=3"]) else {
        return;
    };
    let mut machine = stub.machine();
    let tables = stub.run(&mut machine);
    assert_eq!(tables.failures, []);
    let util = tables.singles[0].gpu_util.unwrap();
    assert!((40.0..=80.0).contains(&util), "{util}");
}

#[test]
fn a_partitioned_gpu_has_no_utilisation() {
    let Some(stub) = Stub::new(TRACE, &["-DMIG=1"]) else {
        return;
    };
    let mut machine = stub.machine();
    let idle = stub.idle(&mut machine).unwrap();
    assert!(
        idle.notes[0].contains("GPU 0 (Stub) is partitioned (MIG)"),
        "{idle:?}"
    );
    let tables = stub.run(&mut machine);
    assert_eq!(tables.failures, []);
    let row = &tables.singles[0];
    assert_eq!(
        (row.gpu_util, row.gmem_util, row.gmem),
        (None, None, 1000.0)
    );
    assert!(tables.pairs[0].speed1 > 0.0);
}

#[test]
fn a_gpu_that_is_lost_or_silent_fails_the_measurement() {
    for (flag, words) in [
        ("-DMEMORY_ERROR=15", "device fell off the bus"),
        ("-DSAMPLES_ERROR=999", "an internal driver error occurred"),
    ] {
        let Some(stub) = Stub::new(TRACE, &[flag]) else {
            return;
        };
        let mut machine = stub.machine();
        stub.idle(&mut machine).unwrap();
        let tables = stub.run(&mut machine);
        assert_eq!((tables.singles.len(), tables.failures.len()), (0, 3));
        let told = &tables.failures[0].problem;
        assert!(
            told.contains("could not be sampled: GPU 0 (Stub)"),
            "{told}"
        );
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn a_busy_gpu_is_refused() {
    let trace = TRACE.replace("idle 0 0", "idle 70 0");
    let Some(stub) = Stub::new(&trace, &[]) else {
        return;
    };
    let told = stub.idle(&mut stub.machine()).unwrap_err().to_string();
    assert!(
        told.contains("% in use before any workload was started"),
        "{told}"
    );
    assert!(told.contains("--busy-ok"), "{told}");
}

#[test]
fn a_gpu_or_library_that_is_missing_is_named() {
    let Some(stub) = Stub::new(TRACE, &[]) else {
        return;
    };
    let open = |plan: &Plan, library: &Path| {
        let options = Options {
            nvml_library: Some(library.to_owned()),
            ..Options::default()
        };
        let opened = Machine::open(&plan.settings, &options);
        opened.err().map(|error| error.to_string()).unwrap()
    };
    let missing = stub.folder.path().join("none.so");
    assert!(open(&stub.plan, &missing).contains("none.so"));
    let settings = plan::Settings {
        devices: vec![3],
        ..stub.plan.settings.clone()
    };
    let plan = Plan {
        settings,
        ..stub.plan.clone()
    };
    assert!(open(&plan, &stub.library).contains("NVML: GPU 3:"));
}
