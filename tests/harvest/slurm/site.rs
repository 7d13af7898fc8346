//! A Slurm cluster with a daemon that harvests it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use gleaner_testing::workspace;
use serde_json::Value;

use super::cluster::Cluster;
use super::worklog::Expected;
use crate::support::gleaner;

/// Time limit for every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// Settings of a cluster with a partition for normal jobs, and one whose jobs are preempted by them.
pub const PARTITIONS: [&str; 5] = [
    "MinJobAge=10",
    "PreemptType=preempt/partition_prio",
    "PreemptMode=CANCEL",
    "PartitionName=normal Nodes=ALL Default=YES PriorityTier=10",
    "PartitionName=scavenge Nodes=ALL PriorityTier=1 GraceTime=8 MaxTime=60",
];

/// Times are short, because a test has no time for the defaults.
const CONFIG: &str = r#"backend = "slurm"
t_fwd = 20
max_pilots = 8
ladder = [[20, 4]]
grace = 3
lead = 5
silence = 4
lease = 15
retry = 1
poll = 1
missing = 15

[slurm]
partition = "scavenge"
"#;

/// A cluster and a daemon.
pub struct Site {
    pub cluster: Cluster,
    daemon: Option<Child>,
}

impl Site {
    /// Starts a cluster with a directory for a daemon. `None` if Slurm is not installed.
    pub fn start() -> Option<Self> {
        let cluster = Cluster::start(&PARTITIONS)?;
        let daemon = None;
        let site = Site { cluster, daemon };
        fs::write(site.path("harvest.toml"), CONFIG).unwrap();
        Some(site)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.cluster.work().join(name)
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The log of the workers.
    pub fn worklog(&self) -> PathBuf {
        self.path("work.log")
    }

    /// Starts the daemon, and waits until it answers.
    pub fn serve(&mut self) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("daemon.log"));
        let mut command = self.gleaner(&["serve", "--config"]);
        command
            .arg(self.path("harvest.toml"))
            .arg("--state")
            .arg(self.state())
            .stdin(Stdio::null())
            .stderr(log.unwrap());
        self.daemon = Some(command.spawn().unwrap());
        self.wait("an answer", |site| site.run(&["status"]).status.success());
    }

    /// A subcommand of `gleaner harvest` whose environment selects the cluster.
    fn gleaner(&self, words: &[&str]) -> Command {
        let slurm = self.cluster.command("true");
        let set = slurm
            .get_envs()
            .filter_map(|(key, value)| Some((key, value?)));
        let mut command = gleaner(words);
        command.envs(set);
        command
    }

    /// Kills the daemon with SIGKILL.
    pub fn kill_daemon(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// Stops everything, and checks that nothing is left.
    pub fn stop(&mut self) {
        self.text(&["stop"]);
        let mut daemon = self.daemon.take().unwrap();
        let end = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = daemon.try_wait().unwrap() {
                break status;
            }
            assert!(
                Instant::now() < end,
                "the daemon has not ended\n{}",
                self.log()
            );
            sleep(Duration::from_millis(50));
        };
        assert!(status.success(), "{}", self.log());
        let states = "PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING";
        assert_eq!(self.pilots(states), Vec::<String>::new(), "jobs are left");
        let left = self.processes(|_| true);
        assert!(left.is_empty(), "processes are left: {left:?}");
    }

    /// Runs a subcommand that talks to the daemon.
    pub fn run(&self, words: &[&str]) -> Output {
        let mut command = self.gleaner(words);
        command.arg("--state").arg(self.state()).output().unwrap()
    }

    /// Runs a subcommand that must succeed, and returns its output.
    pub fn text(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {err}\n{}", self.log());
        String::from_utf8(output.stdout).unwrap()
    }

    /// Submits tasks. Returns the daemon's refusal, or why it did not answer.
    pub fn submit(&self, tasks: &[Expected]) -> Result<(), String> {
        let file = self.path(&format!("{}.toml", tasks[0].name));
        let text: String = tasks.iter().map(|task| self.task(task)).collect();
        fs::write(&file, text).unwrap();
        let output = self.run(&["submit", file.to_str().unwrap()]);
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8(output.stderr).unwrap())
        }
    }

    fn task(&self, task: &Expected) -> String {
        let work = task.work;
        let worker = workspace().join("tests/harvest/slurm/worker.sh");
        let log = self.worklog();
        task.replayed() + &format!("command = [{worker:?}, {log:?}, \"{work}\"]\n")
    }

    /// The state of the daemon; `None` if it does not answer.
    pub fn try_status(&self) -> Option<Value> {
        let output = self.run(&["status", "--json"]);
        output
            .status
            .success()
            .then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// The state of the daemon.
    pub fn status(&self) -> Value {
        self.try_status()
            .unwrap_or_else(|| panic!("no status\n{}", self.log()))
    }

    /// Whether all tasks are over.
    pub fn are_over(status: &Value) -> bool {
        let tasks = status["tasks"].as_array().unwrap();
        let mut states = tasks.iter().map(|task| &task["state"]);
        states.all(|state| state != "active" && state != "waiting")
    }

    /// Whether these tasks have finished.
    pub fn have_finished(&self, expected: &[Expected]) -> bool {
        let status = self.status();
        let tasks = status["tasks"].as_array().unwrap();
        let finished = tasks.iter().filter(|task| task["state"] == "finished");
        let names: Vec<&str> = finished
            .map(|task| task["name"].as_str().unwrap())
            .collect();
        expected.iter().all(|task| names.contains(&task.name))
    }

    /// Checks that there are `count` tasks, and that all of them have finished.
    pub fn check_finished(&self, count: usize) {
        let status = self.status();
        let tasks = status["tasks"].as_array().unwrap();
        assert_eq!(tasks.len(), count);
        let has_finished = tasks.iter().all(|task| task["state"] == "finished");
        assert!(has_finished, "{}\n{}", self.text(&["tasks"]), self.log());
    }

    /// The jobs of pilots in a state, such as `RUNNING`.
    pub fn pilots(&self, state: &str) -> Vec<String> {
        let line = format!("squeue --noheader --partition=scavenge --states={state}");
        self.cluster.run(&line).lines().map(str::to_owned).collect()
    }

    /// Ids and command lines of the processes of the daemon, the pilots and the tasks whose arguments are chosen by
    /// `is_wanted`. The daemons of Slurm are left out.
    pub fn processes(&self, is_wanted: impl Fn(&[&str]) -> bool) -> Vec<(u32, String)> {
        // The path of the state directory is an argument or in the environment of all of them.
        let state = self.state();
        let ours = state.as_os_str().as_bytes();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
                continue;
            };
            let read = |name| fs::read(entry.path().join(name)).unwrap_or_default();
            let (line, environment) = (read("cmdline"), read("environ"));
            let is_ours = contains(&line, ours) || contains(&environment, ours);
            if !is_ours || read("comm").starts_with(b"slurm") {
                continue;
            }
            let line = String::from_utf8_lossy(&line);
            let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
            if is_wanted(&words) {
                found.push((pid, words.join(" ")));
            }
        }
        found
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("daemon.log")).unwrap_or_default()
    }

    pub fn wait(&self, what: &str, is_reached: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_reached(self) {
            assert!(Instant::now() < end, "no {what}\n{}", self.log());
            sleep(Duration::from_millis(200));
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

impl Drop for Site {
    /// Ends everything, even after a failed test. The cluster then ends its jobs.
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        for (pid, _) in self.processes(|_| true) {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
        if let Some(folder) = std::env::var_os("KEEP_SITE") {
            let _ = Command::new("cp")
                .arg("-rT")
                .arg(self.cluster.work().parent().unwrap())
                .arg(folder)
                .status();
        }
    }
}
