//! Starts a Slurm cluster for a test.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

/// Time limit for every wait. If the condition is still false after this time, the test fails. The limit is long enough
/// for a busy machine.
const HANG: Duration = Duration::from_secs(180);

/// Time between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(100);

/// Exit code of the script if Slurm is not installed.
const UNAVAILABLE: i32 = 77;

/// A cluster with the nodes n1 to n4, which have 2 CPUs each, and the partitions `test` (the default) and `other`. The
/// daemons and all jobs end when the cluster is dropped or this process ends.
pub struct Cluster {
    /// Contains the folder `cluster`, which the script deletes, and the folder `work`.
    directory: TempDir,
}

impl Cluster {
    /// Starts a cluster. Each setting replaces lines of `slurm.conf`, for example `MaxArraySize=11`.
    /// Returns `None`, with a message on stderr, if Slurm is not installed.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Self { directory };
        fs::create_dir(cluster.work()).unwrap();
        let owner = std::process::id().to_string();
        let mut command = script();
        command
            .args(["start", "--owner", &owner])
            .arg(cluster.home());
        let output = command.args(settings).output().unwrap();
        if output.status.code() == Some(UNAVAILABLE) && env::var_os("GLEANER_NEED_SLURM").is_none()
        {
            eprint!("skipped: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        success(&output, "slurm.sh start");
        Some(cluster)
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("cluster")
    }

    /// The directory in which commands and jobs run. All nodes have access to it.
    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// A command whose environment selects this cluster.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.home().join("slurm.conf"));
        command.current_dir(self.work());
        command
    }

    /// Runs a command that must succeed, and returns its stdout.
    #[track_caller]
    pub fn run(&self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let mut command = self.command(words.next().unwrap());
        success(&command.args(words).output().unwrap(), line)
    }

    /// Submits a batch script with the given options of `sbatch`. Returns the job's number.
    #[track_caller]
    pub fn submit(&self, options: &str, script: &str) -> String {
        let mut command = self.command("sbatch");
        command.arg("--parsable").args(options.split_whitespace());
        let output = command.arg("--wrap").arg(script).output().unwrap();
        success(&output, "sbatch").trim().to_owned()
    }

    /// The state of each task of a job, by the task's name in Slurm, such as `1_0`.
    #[track_caller]
    pub fn states(&self, job: &str) -> BTreeMap<String, String> {
        let line = format!("squeue --noheader --array --states=all --jobs={job} --format=%i,%T");
        self.run(&line)
            .lines()
            .map(|line| line.split_once(',').unwrap())
            .map(|(task, state)| (task.to_owned(), state.to_owned()))
            .collect()
    }

    /// Number of tasks of a job in a state, such as `RUNNING`.
    #[track_caller]
    pub fn count(&self, job: &str, state: &str) -> usize {
        let states = self.states(job);
        states.values().filter(|found| *found == state).count()
    }

    /// Sets a node's state, such as `DOWN` or `RESUME`.
    #[track_caller]
    pub fn set_state(&self, node: &str, state: &str) {
        self.run(&format!(
            "scontrol update nodename={node} state={state} reason=test"
        ));
    }

    /// Waits until the controller has saved the state of all jobs, including `job`. It does so at most once every 5 s.
    /// A controller that is killed before it has saved a job forgets that it started the job, and holds the job after a
    /// restart.
    #[track_caller]
    pub fn wait_until_saved(&self, job: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mark = format!("saved-{}", now.as_nanos());
        self.run(&format!("scontrol update jobid={job} admincomment={mark}"));
        let file = self.home().join("state/job_state");
        wait_until("the state of jobs is saved", || {
            let state = fs::read(&file).unwrap_or_default();
            state
                .windows(mark.len())
                .any(|part| part == mark.as_bytes())
        });
    }

    /// Kills the controller with SIGKILL. The nodes and their tasks continue.
    #[track_caller]
    pub fn kill_controller(&self) {
        let pid = fs::read_to_string(self.home().join("slurmctld.pid")).unwrap();
        self.run(&format!("kill -9 {pid}"));
    }

    /// Restarts a killed daemon: `slurmctld`, or the daemon of a node such as `n1`.
    #[track_caller]
    pub fn start_daemon(&self, name: &str) {
        let output = script()
            .arg("daemon")
            .arg(self.home())
            .arg(name)
            .output()
            .unwrap();
        success(&output, name);
        wait_until("the controller answers", || {
            self.command("sinfo").output().unwrap().status.success()
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = fs::read_to_string(self.home().join("slurmctld.log"));
            eprintln!("log of the controller:\n{}", log.unwrap_or_default());
        }
        let stopped = script().arg("stop").arg(self.home()).status();
        if !stopped.is_ok_and(|status| status.success()) {
            eprintln!("the cluster in {} was not stopped", self.home().display());
        }
    }
}

/// The script that starts and stops clusters.
pub fn script() -> Command {
    Command::new(gleaner_testing::workspace().join("scripts/slurm.sh"))
}

/// Makes a command and its children use a `squeue` that logs its calls. Each call appends a line to the file `calls`,
/// with the time in seconds since 1970 and the arguments.
pub fn count_squeue(command: &mut Command, calls: &Path) {
    let counting = gleaner_testing::workspace().join("tests/slurm/counting");
    let path = env::var_os("PATH").unwrap();
    let folders = [counting].into_iter().chain(env::split_paths(&path));
    command.env("PATH", env::join_paths(folders).unwrap());
    command.env("SQUEUE_CALLS", calls);
}

/// Waits until a condition is true. Fails after [`HANG`].
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < HANG,
            "timed out while waiting for: {what}"
        );
        thread::sleep(PAUSE);
    }
}

#[track_caller]
fn success(output: &Output, what: &str) -> String {
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {}\n{err}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
