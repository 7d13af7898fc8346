//! Runs pilots as processes on this machine, which simulates several nodes. A schedule determines when each node is
//! idle. The backend acts as a minimal batch scheduler, for tests and for trying harvest on a laptop.
//!
//! Pilots outlive the daemon. The next daemon recognises them by their command lines.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gleaner_domain::error::{Error, Fault, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::{Backend, Listed, Started, pilot_command};
use crate::config::LocalConfig;
use crate::core::{Millis, PilotId};
use crate::state_dir::StateDir;

/// Time between SIGTERM and SIGKILL when a node becomes busy. Pilots have a shorter grace period of their own.
const GRACE: Duration = Duration::from_secs(60);

/// Maximum number of nodes.
const MOST_NODES: usize = 1000;

/// A change of a node's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Seconds from the beginning of the schedule.
    pub at: f64,
    /// Index of the node.
    pub node: usize,
    /// Whether the node becomes idle (true) or busy (false).
    pub is_idle: bool,
}

/// The nodes, and the times at which they become idle or busy.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The class of each node; empty if there are no classes.
    pub classes: Vec<String>,
    /// The changes in ascending order of time. Until its first change, a node is in the state that this change ends. A
    /// node without changes is always idle.
    pub changes: Vec<Change>,
}

impl Schedule {
    /// A schedule of nodes named `local1`, `local2`, and so on.
    pub fn local(nodes: usize, changes: Vec<Change>) -> Self {
        let nodes = (1..=nodes).map(|node| format!("local{node}")).collect();
        Schedule {
            nodes,
            classes: Vec::new(),
            changes,
        }
    }

    /// Builds the schedule that `config` describes.
    ///
    /// # Errors
    /// The event log cannot be read, has too many nodes, or has a node whose name is not a valid host name.
    pub fn of(config: &LocalConfig) -> Result<Self> {
        let Some(path) = &config.events else {
            let nodes = config.nodes as usize;
            return Ok(Schedule {
                classes: repeated(&config.classes, nodes),
                ..Self::local(nodes, Vec::new())
            });
        };
        let log = gleaner_inputs::events::read(path)?.value;
        let nodes = log.nodes().to_vec();
        if nodes.len() > MOST_NODES {
            let expected = format!("at most {MOST_NODES} nodes on one machine");
            return Err(Fault::of(path, format!("{} nodes", nodes.len()), expected).into());
        }
        if let Some(name) = nodes.iter().find(|name| !crate::pilot::is_host_name(name)) {
            let found = format!("{name:?} as the name of a node");
            return Err(Fault::of(
                path,
                found,
                "letters, digits, dots, underscores and hyphens",
            )
            .into());
        }
        let start = log.times().first().map_or(0, |time| time.second());
        let changes = log.rows().flat_map(|(time, changes)| {
            let at = (time.second() - start) as f64 / config.speed;
            changes.iter().map(move |change| Change {
                at,
                node: change.node() as usize,
                is_idle: change.idle(),
            })
        });
        let classes = match log.classes() {
            Some(classes) => {
                let name = |class: &u16| classes.names()[usize::from(*class)].clone();
                classes.of_nodes().iter().map(name).collect()
            }
            None => repeated(&config.classes, nodes.len()),
        };
        Ok(Schedule {
            classes,
            changes: changes.collect(),
            nodes,
        })
    }

    /// Time of the last change, in seconds from the beginning of the schedule.
    fn end(&self) -> f64 {
        self.changes.last().map_or(0.0, |change| change.at)
    }

    /// Whether each node is idle at the beginning.
    fn first_states(&self) -> Vec<bool> {
        let mut states = vec![true; self.nodes.len()];
        for change in self.changes.iter().rev() {
            if let Some(state) = states.get_mut(change.node) {
                *state = !change.is_idle;
            }
        }
        states
    }
}

/// Assigns `classes` to `nodes` nodes in order. A list that is too short is repeated.
fn repeated(classes: &[String], nodes: usize) -> Vec<String> {
    classes.iter().cycle().take(nodes).cloned().collect()
}

/// The backend that runs pilots as processes on this machine.
#[derive(Debug)]
pub struct LocalBackend {
    state: Arc<StateDir>,
    program: PathBuf,
    schedule: Schedule,
    grace: Duration,
    /// Time at which the schedule began.
    begun: Millis,
    /// Number of changes that have been applied.
    next: usize,
    /// Whether each node is idle.
    is_idle: Vec<bool>,
    pilots: BTreeMap<PilotId, LocalPilot>,
    alarm: Option<String>,
}

#[derive(Debug)]
struct LocalPilot {
    wall_s: u64,
    /// Index of the pilot's node; `None` while the pilot waits.
    node: Option<usize>,
    process: Option<Process>,
    /// Time at which SIGTERM was sent.
    terminated: Option<Instant>,
}

#[derive(Debug)]
enum Process {
    /// A child of this daemon.
    Child(Child),
    /// A process that an earlier daemon started with these arguments.
    Adopted(Pid, Vec<String>),
}

/// The content of `pilots.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    begun: Millis,
    pilots: Vec<SavedPilot>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedPilot {
    pilot: PilotId,
    wall_s: u64,
    /// Name of the node; `None` while the pilot waits.
    node: Option<String>,
}

impl LocalBackend {
    /// Creates the backend, and recognises the pilots that an earlier daemon started. The schedule begins now. If an
    /// earlier daemon began the schedule and the schedule is not over yet, it continues instead.
    ///
    /// # Errors
    /// `pilots.json` in the state directory cannot be read or written.
    pub fn new(state: Arc<StateDir>, program: PathBuf, schedule: Schedule) -> Result<Self> {
        let path = file(&state);
        let saved = match fs::read(&path) {
            Ok(bytes) => Some(serde_json::from_slice::<Saved>(&bytes).map_err(|error| {
                let fault = Fault::of(
                    &path,
                    error.to_string(),
                    "a daemon's list of pilots in JSON",
                );
                Error::from(fault.remedy("delete the file while no pilot is running"))
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let now = now();
        let begun = saved.as_ref().map(|saved| saved.begun).filter(|&begun| {
            let passed_s = (now - begun) as f64 / 1000.0;
            (0.0..schedule.end()).contains(&passed_s)
        });
        let mut backend = LocalBackend {
            state,
            program,
            grace: GRACE,
            begun: begun.unwrap_or(now),
            next: 0,
            is_idle: schedule.first_states(),
            schedule,
            pilots: BTreeMap::new(),
            alarm: None,
        };
        for saved in saved.into_iter().flat_map(|saved| saved.pilots) {
            backend.adopt(saved)?;
        }
        backend.save()?;
        Ok(backend)
    }

    /// Takes over a pilot of an earlier daemon, unless the pilot has ended.
    fn adopt(&mut self, saved: SavedPilot) -> Result<()> {
        let (pilot, wall_s) = (saved.pilot, saved.wall_s);
        let mut local = LocalPilot {
            wall_s,
            node: None,
            process: None,
            terminated: None,
        };
        if let Some(name) = saved.node {
            let words = self.words(pilot, wall_s)?;
            let nodes = &self.schedule.nodes;
            local.node = nodes.iter().position(|node| *node == name);
            local.process = find(&words[1..]).map(|pid| Process::Adopted(pid, words));
            if local.node.is_none() || local.process.is_none() {
                return Ok(());
            }
        }
        self.pilots.insert(pilot, local);
        Ok(())
    }

    fn words(&self, pilot: PilotId, wall_s: u64) -> Result<Vec<String>> {
        pilot_command(&self.program, self.state.path(), pilot, wall_s)
    }

    fn save(&self) -> Result<()> {
        let pilots = self.pilots.iter().map(|(&pilot, local)| SavedPilot {
            pilot,
            wall_s: local.wall_s,
            node: local.node.map(|node| self.schedule.nodes[node].clone()),
        });
        let saved = Saved {
            begun: self.begun,
            pilots: pilots.collect(),
        };
        let bytes = serde_json::to_vec(&saved);
        let bytes = bytes.map_err(|error| Error::Run(format!("pilots.json: {error}")))?;
        self.state.write_private(&file(&self.state), &bytes)
    }

    /// Applies the scheduled changes that are due.
    fn pass_time(&mut self) {
        let passed_s = (now() - self.begun) as f64 / 1000.0;
        while let Some(change) = self.schedule.changes.get(self.next)
            && change.at <= passed_s
        {
            if let Some(is_idle) = self.is_idle.get_mut(change.node) {
                *is_idle = change.is_idle;
            }
            self.next += 1;
        }
    }

    /// Ends pilots whose nodes have become busy, and kills those that do not end within the grace period.
    fn preempt(&mut self) {
        for local in self.pilots.values_mut() {
            if local.node.is_some_and(|node| !self.is_idle[node]) {
                local.terminate();
            }
            if local
                .terminated
                .is_some_and(|at| at.elapsed() >= self.grace)
            {
                local.signal(Signal::KILL);
            }
        }
    }

    /// Starts the longest-waiting pilots on the idle nodes that have no pilot.
    fn start_waiting(&mut self) -> Result<()> {
        let mut free = self.is_idle.clone();
        for node in self.pilots.values().filter_map(|local| local.node) {
            free[node] = false;
        }
        let mut free = (0..free.len()).filter(|&node| free[node]);
        let mut started = Vec::new();
        for (&pilot, local) in self
            .pilots
            .iter_mut()
            .filter(|(_, local)| local.node.is_none())
        {
            let Some(node) = free.next() else {
                break;
            };
            local.node = Some(node);
            started.push((pilot, local.wall_s, node));
        }
        if started.is_empty() {
            return Ok(());
        }
        // The list is saved before the pilots start. If the daemon is killed before it has started all of them, the
        // next daemon counts those that it does not find as ended, and starts none of them twice.
        self.save()?;
        for (pilot, wall_s, node) in started {
            match self.spawn(pilot, wall_s, node) {
                Ok(child) => {
                    if let Some(local) = self.pilots.get_mut(&pilot) {
                        local.process = Some(Process::Child(child));
                    }
                }
                Err(error) => {
                    self.pilots.remove(&pilot);
                    self.alarm = Some(error.to_string());
                }
            }
        }
        self.save()
    }

    fn spawn(&self, pilot: PilotId, wall_s: u64, node: usize) -> Result<Child> {
        let name = &self.schedule.nodes[node];
        let class = self.schedule.classes.get(node);
        let log = self.state.log_path(&format!("pilot-{}.log", pilot.0));
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        let output = options
            .open(&log)
            .map_err(|error| Error::io("create", &log, error))?;
        let errors = output
            .try_clone()
            .map_err(|error| Error::io("open", &log, error))?;
        let words = self.words(pilot, wall_s)?;
        let mut command = Command::new(&self.program);
        command
            .args(&words[1..])
            .args(["--node", name])
            .args(class.into_iter().flat_map(|class| ["--class", class]))
            .current_dir(self.state.path())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // Ctrl-C ends the daemon, but not the pilots.
            .process_group(0);
        let failed = |error| Error::Run(format!("cannot start {pilot} on {name}: {error}"));
        command.spawn().map_err(failed)
    }

    fn step(&mut self) -> Result<()> {
        self.pass_time();
        let before = self.pilots.len();
        self.pilots
            .retain(|_, local| local.process.as_mut().is_none_or(Process::is_alive));
        if self.pilots.len() < before {
            self.save()?;
        }
        self.preempt();
        self.start_waiting()
    }
}

impl LocalPilot {
    fn terminate(&mut self) {
        if self.terminated.is_none() {
            self.terminated = Some(Instant::now());
            self.signal(Signal::TERM);
        }
    }

    /// Sends a signal to a pilot that was alive when it was last checked.
    fn signal(&mut self, signal: Signal) {
        let pid = match &mut self.process {
            // A child that has ended keeps its process id until `try_wait` notices the end.
            Some(Process::Child(child)) => Pid::from_child(child),
            Some(Process::Adopted(pid, _)) => *pid,
            None => return,
        };
        let _ = kill_process(pid, signal);
    }
}

impl Process {
    fn is_alive(&mut self) -> bool {
        match self {
            Process::Child(child) => matches!(child.try_wait(), Ok(None)),
            Process::Adopted(pid, words) => is_pilot(*pid, &words[1..]),
        }
    }
}

impl Backend for LocalBackend {
    fn start(&mut self, pilot: PilotId, wall_s: u64) -> Started {
        let waiting = LocalPilot {
            wall_s,
            node: None,
            process: None,
            terminated: None,
        };
        // A repeated request must not start a second process.
        self.pilots.entry(pilot).or_insert(waiting);
        match self.save() {
            Ok(()) => Started::Accepted(job(pilot)),
            Err(error) => {
                self.pilots.remove(&pilot);
                Started::Rejected(error.to_string())
            }
        }
    }

    fn cancel(&mut self, pilot: PilotId, _job: Option<&str>) -> Result<()> {
        match self.pilots.get_mut(&pilot) {
            Some(local) if local.node.is_some() => local.terminate(),
            Some(_) => {
                self.pilots.remove(&pilot);
            }
            None => return Ok(()),
        }
        self.save()
    }

    fn list(&mut self) -> Result<Vec<Listed>> {
        let pilots = self.pilots.iter();
        let listed = pilots.map(|(&pilot, local)| Listed {
            pilot,
            job: job(pilot),
            node: local.node.map(|node| self.schedule.nodes[node].clone()),
            has_ended: false,
            reserved_in_s: None,
        });
        Ok(listed.collect())
    }

    fn tick(&mut self) {
        if let Err(error) = self.step() {
            self.alarm = Some(error.to_string());
        }
    }

    fn alarm(&mut self) -> Option<String> {
        self.alarm.take()
    }
}

fn job(pilot: PilotId) -> String {
    format!("local-{}", pilot.0)
}

fn file(state: &StateDir) -> PathBuf {
    state.path().join("pilots.json")
}

/// The time in milliseconds since 1970.
fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Millis::try_from(since.unwrap_or_default().as_millis()).unwrap_or(Millis::MAX)
}

/// Finds the process that was started with these arguments.
fn find(arguments: &[String]) -> Option<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids = processes.filter_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(pid)
    });
    pids.find(|&pid| is_pilot(pid, arguments))
}

/// Whether the process `pid` is running and was started with these arguments. A process that has ended has an empty
/// command line.
fn is_pilot(pid: Pid, arguments: &[String]) -> bool {
    let line = command_line(pid);
    let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
    let arguments: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
    words
        .windows(arguments.len())
        .any(|window| window == arguments)
}

/// The command line of a process; empty if the process has ended. For a moment after its start, a process has a program
/// but no command line. In this case, the function waits for the command line.
fn command_line(pid: Pid) -> Vec<u8> {
    let of = |file: &str| format!("/proc/{}/{file}", pid.as_raw_pid());
    let mut line = Vec::new();
    for _ in 0..100 {
        line = fs::read(of("cmdline")).unwrap_or_default();
        if !line.is_empty() || fs::read_link(of("exe")).is_err() {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A pilot that ends on SIGTERM, unless the file `stubborn` exists.
    const PILOT: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$@\" >> started\n\
                         [ -e stubborn ] && trap '' TERM\nwhile :; do sleep 0.02; done\n";

    struct Fixture {
        folder: tempfile::TempDir,
        backend: Option<LocalBackend>,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("pilot");
            fs::write(&program, PILOT).unwrap();
            fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
            Fixture {
                folder,
                backend: None,
            }
        }

        /// Starts the backend again, as a restarted daemon does after a crash.
        fn open(&mut self, schedule: Schedule) -> &mut LocalBackend {
            self.backend = None;
            let state = StateDir::create(&self.folder.path().join("state")).unwrap();
            let program = self.folder.path().join("pilot");
            let backend = LocalBackend::new(Arc::new(state), program, schedule).unwrap();
            self.backend.insert(backend)
        }

        fn started(&self) -> Vec<String> {
            let started = fs::read_to_string(self.folder.path().join("started"));
            started
                .unwrap_or_default()
                .lines()
                .map(str::to_owned)
                .collect()
        }
    }

    impl Drop for Fixture {
        fn drop(&mut self) {
            let pilots = self
                .backend
                .iter_mut()
                .flat_map(|backend| backend.pilots.values_mut());
            for pilot in pilots {
                pilot.signal(Signal::KILL);
            }
        }
    }

    /// Calls `tick` until a condition is true.
    #[track_caller]
    fn tick_until(backend: &mut LocalBackend, mut condition: impl FnMut(&LocalBackend) -> bool) {
        let start = Instant::now();
        loop {
            backend.tick();
            assert_eq!(backend.alarm(), None);
            if condition(backend) {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{backend:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn listed(backend: &LocalBackend) -> Vec<u64> {
        backend.pilots.keys().map(|pilot| pilot.0).collect()
    }

    fn change(at: f64, node: usize, is_idle: bool) -> Change {
        Change { at, node, is_idle }
    }

    #[test]
    fn nodes_are_idle_before_they_become_busy_for_the_first_time() {
        let changes = vec![
            change(1.0, 0, false),
            change(2.0, 1, true),
            change(3.0, 0, true),
        ];
        let schedule = Schedule::local(3, changes);
        assert_eq!(schedule.nodes, ["local1", "local2", "local3"]);
        assert_eq!(schedule.first_states(), [true, false, true]);
        assert_eq!(schedule.end(), 3.0);
    }

    #[test]
    fn a_log_is_played_at_the_given_speed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.csv");
        let text = "time,n1,n2\n2020-01-01 00:00:00,1,0\n2020-01-01 00:01:00,0,1\n";
        fs::write(&path, text).unwrap();
        let config = LocalConfig {
            nodes: 7,
            events: Some(path),
            speed: 10.0,
            classes: vec!["a".to_owned()],
        };
        let schedule = Schedule::of(&config).unwrap();
        assert_eq!(schedule.nodes, ["n1", "n2"]);
        assert_eq!(schedule.classes, ["a", "a"]);
        let expected = [
            change(0.0, 0, true),
            change(6.0, 0, false),
            change(6.0, 1, true),
        ];
        assert_eq!(schedule.changes, expected);
    }

    #[test]
    fn a_pilot_runs_while_its_node_is_idle() {
        let mut fixture = Fixture::new();
        let changes = vec![
            change(0.0, 0, true),
            change(0.3, 0, false),
            change(0.5, 1, true),
        ];
        let backend = fixture.open(Schedule::local(2, changes));
        for pilot in [1, 2] {
            let accepted = Started::Accepted(format!("local-{pilot}"));
            assert_eq!(backend.start(PilotId(pilot), 90), accepted);
        }
        // The first pilot runs on the first node until that node becomes busy. The second pilot runs on the other node.
        tick_until(backend, |backend| listed(backend) == [2]);
        tick_until(backend, |backend| {
            backend.pilots[&PilotId(2)].node == Some(1)
        });
        backend.cancel(PilotId(2), None).unwrap();
        tick_until(backend, |backend| listed(backend).is_empty());
        backend.cancel(PilotId(2), None).unwrap();
        let state = fixture.folder.path().join("state");
        let arguments = |pilot, node| {
            let state = state.display();
            format!("harvest pilot --state {state} --pilot {pilot} --wall 90 --node local{node}")
        };
        let started = fixture.started();
        assert_eq!(started[0], arguments(1, 1));
        assert!(
            started.len() == 1 || started[1] == arguments(2, 2),
            "{started:?}"
        );
    }

    #[test]
    fn a_pilot_that_ignores_sigterm_is_killed() {
        let mut fixture = Fixture::new();
        fs::write(fixture.folder.path().join("stubborn"), "").unwrap();
        let started = fixture.folder.path().join("started");
        let backend = fixture.open(Schedule::local(1, Vec::new()));
        backend.grace = Duration::from_millis(200);
        backend.start(PilotId(1), 90);
        backend.start(PilotId(2), 90);
        tick_until(backend, |_| started.exists());
        // A waiting pilot is withdrawn at once.
        backend.cancel(PilotId(2), None).unwrap();
        assert_eq!(listed(backend), [1]);
        thread::sleep(Duration::from_millis(50));
        backend.cancel(PilotId(1), None).unwrap();
        backend.tick();
        assert_eq!(listed(backend), [1]);
        tick_until(backend, |backend| listed(backend).is_empty());
    }

    #[test]
    fn pilots_survive_a_restart_and_are_not_started_twice() {
        let mut fixture = Fixture::new();
        let schedule = Schedule::local(2, vec![change(3600.0, 0, false)]);
        let backend = fixture.open(schedule.clone());
        for pilot in 1..=3 {
            backend.start(PilotId(pilot), 90);
        }
        backend.start(PilotId(1), 90);
        tick_until(backend, |_| true);
        let begun = backend.begun;
        // Children of this process become zombies when they end, and a zombie counts as ended.
        let started = fixture.folder.path().join("started");
        let backend = fixture.open(schedule.clone());
        assert_eq!(backend.begun, begun);
        assert_eq!(listed(backend), [1, 2, 3]);
        tick_until(backend, |_| {
            fs::read_to_string(&started).is_ok_and(|text| text.lines().count() == 2)
        });
        backend.cancel(PilotId(1), None).unwrap();
        tick_until(backend, |backend| {
            listed(backend) == [2, 3] && backend.pilots[&PilotId(3)].node == Some(0)
        });
        // A pilot that ended while no daemon was running is reported as ended.
        backend.cancel(PilotId(2), None).unwrap();
        thread::sleep(Duration::from_millis(200));
        let backend = fixture.open(schedule);
        assert_eq!(listed(backend), [3]);
        tick_until(backend, |_| true);
    }
}
