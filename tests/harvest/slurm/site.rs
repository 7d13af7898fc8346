//! A Slurm cluster with a daemon that harvests its idle nodes.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use gleaner_testing::workspace;
use serde_json::Value;

use super::cluster::Cluster;
use super::worklog::Expected;
use crate::support::Harvest;

/// Slurm settings for two partitions: `normal` for normal jobs, and `scavenge`, whose jobs the normal jobs preempt.
pub const PARTITIONS: [&str; 5] = [
    "MinJobAge=10",
    "PreemptType=preempt/partition_prio",
    "PreemptMode=CANCEL",
    "PartitionName=normal Nodes=ALL Default=YES PriorityTier=10",
    "PartitionName=scavenge Nodes=ALL PriorityTier=1 GraceTime=8 MaxTime=60",
];

/// Settings of the daemon. Its times are shorter than the defaults, so that the tests are short.
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

/// A cluster with a daemon.
pub struct Site {
    pub cluster: Cluster,
    harvest: Harvest,
}

impl Deref for Site {
    type Target = Harvest;

    fn deref(&self) -> &Harvest {
        &self.harvest
    }
}

impl DerefMut for Site {
    fn deref_mut(&mut self) -> &mut Harvest {
        &mut self.harvest
    }
}

impl Site {
    /// Starts a cluster, and writes the settings of a daemon, which is not started yet. Returns `None` if Slurm is not
    /// installed.
    pub fn start() -> Option<Self> {
        let cluster = Cluster::start(&PARTITIONS)?;
        // With these environment variables, commands of Slurm use this cluster.
        let slurm = cluster.command("true");
        let set = slurm.get_envs();
        let set = set.filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
        let harvest = Harvest::within(cluster.work(), CONFIG, set.collect());
        Some(Site { cluster, harvest })
    }

    /// The log of the workers.
    pub fn worklog(&self) -> PathBuf {
        self.path("work.log")
    }

    /// Stops the daemon with all tasks and pilots, and checks that no jobs and no processes are left.
    pub fn stop(&mut self) {
        self.text(&["stop"]);
        let has_succeeded = self.await_end();
        assert!(has_succeeded, "{}", self.log());
        let states = "PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING";
        assert_eq!(self.pilots(states), Vec::<String>::new(), "jobs are left");
        let left = self.processes(|_| true);
        assert!(left.is_empty(), "processes are left: {left:?}");
    }

    /// Submits tasks. The error states why the daemon rejected the tasks or did not answer.
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

    /// Whether all tasks have ended.
    pub fn are_over(status: &Value) -> bool {
        let tasks = status["tasks"].as_array().unwrap();
        let mut states = tasks.iter().map(|task| &task["state"]);
        states.all(|state| state != "active" && state != "waiting")
    }

    /// Whether all tasks in `expected` have finished.
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

    /// The pilot jobs in a state such as `RUNNING`, or in any of several states separated by commas. Each element is
    /// the line that `squeue` prints for a job.
    pub fn pilots(&self, state: &str) -> Vec<String> {
        let line = format!("squeue --noheader --partition=scavenge --states={state}");
        self.cluster.run(&line).lines().map(str::to_owned).collect()
    }

    /// Ids and command lines of the processes of the daemon, the pilots and the tasks, if their arguments satisfy
    /// `is_wanted`. Slurm's own daemons are excluded.
    pub fn processes(&self, is_wanted: impl Fn(&[&str]) -> bool) -> Vec<(u32, String)> {
        // Each of these processes has the path of the state directory in its arguments or its environment.
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
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

impl Drop for Site {
    /// Kills the daemon, the pilots and the tasks, even after a failed test. The cluster, which is dropped next, ends
    /// its jobs.
    fn drop(&mut self) {
        for (pid, _) in self.processes(|_| true) {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
}
