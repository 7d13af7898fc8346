//! A daemon, and the commands that talk to it.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use gleaner_testing::workspace;
use serde_json::Value;
use tempfile::TempDir;

/// Time limit for every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// A daemon, whether it is running or not, and its folder.
pub struct Harvest {
    /// The folder that contains the settings, the state directory and the logs.
    folder: PathBuf,
    /// Environment variables for the daemon and for all commands.
    environment: Vec<(OsString, OsString)>,
    daemon: Option<Child>,
    /// Removes the folder when this value is dropped. `None` if the folder belongs to the caller.
    _temporary: Option<TempDir>,
}

impl Harvest {
    /// Starts a daemon with `nodes` local nodes that are always idle.
    pub fn start(nodes: u32) -> Self {
        Self::with_config(|_| {
            format!(
                "backend = \"local\"\nt_fwd = 20\nladder = [[60, {nodes}]]\ngrace = 2\nlead = 2\nsilence = 4\n\
                 lease = 20\nretry = 0.5\npoll = 0.5\n[local]\nnodes = {nodes}\n"
            )
        })
    }

    /// Starts a daemon in a temporary folder. Its configuration may depend on the path of this folder.
    pub fn with_config(config: impl FnOnce(&Path) -> String) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().to_owned();
        let mut harvest = Self::within(folder.clone(), &config(&folder), Vec::new());
        harvest._temporary = Some(temporary);
        harvest.serve();
        harvest
    }

    /// Writes the settings of a daemon into a folder, but does not start the daemon.
    pub fn within(folder: PathBuf, config: &str, environment: Vec<(OsString, OsString)>) -> Self {
        fs::write(folder.join("harvest.toml"), config).unwrap();
        Harvest {
            folder,
            environment,
            daemon: None,
            _temporary: None,
        }
    }

    /// Starts the daemon, and waits until it answers.
    pub fn serve(&mut self) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("daemon.log"))
            .unwrap();
        let child = gleaner(&["serve"])
            .envs(self.environment.iter().cloned())
            .arg("--config")
            .arg(self.path("harvest.toml"))
            .arg("--state")
            .arg(self.state())
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.daemon = Some(child);
        self.wait("an answer", |harvest| {
            harvest.run(&["status"]).status.success()
        });
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("daemon.log")).unwrap_or_default()
    }

    /// Kills the daemon with SIGKILL.
    pub fn kill_daemon(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// Waits for the daemon to end, and returns whether it exited successfully.
    pub fn await_end(&mut self) -> bool {
        let mut daemon = self.daemon.take().unwrap();
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = daemon.try_wait().unwrap() {
                return status.success();
            }
            sleep(Duration::from_millis(50));
        }
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        panic!("the daemon has not ended\n{}", self.log());
    }

    /// Runs a subcommand that talks to the daemon.
    pub fn run(&self, words: &[&str]) -> Output {
        let mut command = gleaner(words);
        command.envs(self.environment.iter().cloned());
        command.arg("--state").arg(self.state());
        command.output().unwrap()
    }

    /// Runs a subcommand that must succeed, and returns its output.
    pub fn text(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {err}\n{}", self.log());
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a subcommand that must fail, and returns its message.
    pub fn failure(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(!output.status.success(), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Submits tasks that count instead of training. Each element states a task's name, its minimum and maximum number
    /// of nodes, and the number to which it counts.
    pub fn submit(&self, tasks: &[(&str, u32, u32, u32)]) -> String {
        let text: String = tasks.iter().map(|task| self.task(*task)).collect();
        self.submit_text(&text)
    }

    /// Submits the tasks of a task file.
    pub fn submit_text(&self, text: &str) -> String {
        let file = self.path("tasks.toml");
        fs::write(&file, text).unwrap();
        self.text(&["submit", file.to_str().unwrap()])
    }

    fn task(&self, (name, least, most, work): (&str, u32, u32, u32)) -> String {
        let worker = workspace().join("scripts/demo-harvest-worker.sh");
        let log = self.path("work.log");
        format!(
            "[[task]]\nname = \"{name}\"\nmin_nodes = {least}\nmax_nodes = {most}\nrescale_up = 1\nrescale_down = 1\n\
             work = {work}\ncommand = [{worker:?}, {log:?}, \"{work}\"]\n\
             [task.curve]\nnodes = [0, 1, 2, 4, 8]\nprogress = [0, 45, 90, 160, 240]\n"
        )
    }

    pub fn status(&self) -> Value {
        serde_json::from_str(&self.text(&["status", "--json"])).unwrap()
    }

    /// A field of a task in the daemon's status.
    pub fn task_field(&self, name: &str, field: &str) -> Value {
        let status = self.status();
        let tasks = status["tasks"].as_array().unwrap();
        let task = tasks.iter().find(|task| task["name"] == name);
        task.unwrap_or_else(|| panic!("no task {name}"))[field].clone()
    }

    /// Sends a signal to the pilot of a local node.
    pub fn signal_pilot(&self, node: &str, signal: &str) {
        let is_pilot = |pid: &&u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&format!("--node\0{node}\0"))
        };
        let pid = *self.processes().iter().find(is_pilot).unwrap();
        let status = Command::new("kill")
            .args([signal, &pid.to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    pub fn await_state(&self, name: &str, state: &str) {
        self.wait(&format!("{name} is {state}"), |harvest| {
            harvest.task_field(name, "state") == state
        });
    }

    /// Number of lines in the log of the workers.
    pub fn steps(&self) -> usize {
        let log = fs::read_to_string(self.path("work.log"));
        log.unwrap_or_default().lines().count()
    }

    pub fn wait(&self, what: &str, is_reached: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_reached(self) {
            assert!(Instant::now() < end, "no {what}\n{}", self.log());
            sleep(Duration::from_millis(100));
        }
    }

    /// Sends an HTTP request to the status page, and returns the response.
    pub fn http(&self, method: &str, path: &str, host: &str) -> String {
        let url = fs::read_to_string(self.state().join("page")).unwrap();
        let address = url
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ids of all processes whose command lines contain the path of this harvest's folder.
    pub fn processes(&self) -> Vec<u32> {
        let path = self.folder.to_str().unwrap().to_owned();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let pid = entry.file_name().to_string_lossy().parse();
            if let Ok(pid) = pid
                && String::from_utf8_lossy(&line).contains(&path)
            {
                found.push(pid);
            }
        }
        found
    }
}

impl Drop for Harvest {
    /// Kills the daemon, the pilots and the tasks, even after a failed test.
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        for pid in self.processes() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
}

pub fn gleaner(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.arg("harvest").args(words);
    command
}
