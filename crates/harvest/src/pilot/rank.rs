//! A rank: the part of a run on this node. A thread starts the rank's program and waits for its end.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use gleaner_domain::words::printable;
use gleaner_process::{Cgroup, Cgroups, Process};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::folder::RunFolder;
use super::intake::Intake;
use super::output::RankLog;
use super::progress::Progress;
use crate::core::Launch;
use crate::state_dir::StateDir;

/// Environment variable that identifies a rank and all processes that it starts.
const MARK: &str = "GLEANER_HARVEST";

/// A message to a rank's thread.
#[derive(Debug)]
enum Wish {
    /// Send SIGTERM, and kill the rank after the grace period.
    Terminate(Duration),
    /// Kill the rank.
    Kill,
    /// Rewrite the host discovery script with these nodes.
    Nodes(Vec<String>),
    /// The rank's program has ended.
    Ended,
}

/// A rank that has been started.
#[derive(Debug)]
pub(super) struct Rank {
    wishes: Sender<Wish>,
}

impl Rank {
    /// Starts a rank, and calls `report` with the program's exit code when all processes of the rank have ended. The
    /// code is `None` if a signal ended the rank, or if the rank could not be started. The reason for a failed start is
    /// logged.
    pub fn start(
        launch: Launch,
        state: Arc<StateDir>,
        progress: Arc<Progress>,
        report: impl Fn(Option<i32>) + Send + Clone + 'static,
    ) -> Self {
        let (wishes, received) = channel();
        let (ended, last_resort) = (wishes.clone(), report.clone());
        let started = thread::Builder::new().spawn(move || {
            report(keep(&launch, &state, &progress, ended, &received));
        });
        if started.is_err() {
            last_resort(None);
        }
        Rank { wishes }
    }

    /// Sends SIGTERM to the rank's process group, and kills the rank after the grace period.
    pub fn terminate(&self, grace: Duration) {
        self.send(Wish::Terminate(grace));
    }

    /// Kills the rank and all processes that it started.
    pub fn kill(&self) {
        self.send(Wish::Kill);
    }

    /// Changes the nodes that the host discovery script prints.
    pub fn set_nodes(&self, nodes: Vec<String>) {
        self.send(Wish::Nodes(nodes));
    }

    fn send(&self, wish: Wish) {
        // If the rank has ended, so has its thread, and the message is dropped.
        let _ = self.wishes.send(wish);
    }
}

/// Starts a rank and waits until all of its processes have ended.
fn keep(
    launch: &Launch,
    state: &StateDir,
    progress: &Arc<Progress>,
    ended: Sender<Wish>,
    wishes: &Receiver<Wish>,
) -> Option<i32> {
    let run = launch.run;
    let name = format!("{}.{}.{}.log", launch.task, run.generation, launch.rank);
    // The name of the task is checked before it becomes part of a path.
    let folder = match &launch.trial {
        Some(trial) if trial.task() == launch.task => state.trial_dir(&trial.of, trial.number),
        _ => state.task_dir(&launch.task),
    };
    let log = folder.as_ref().ok().and_then(|_| {
        let log = RankLog::create(&state.log_path(&name));
        log.map(Arc::new).ok()
    });
    let (Ok(folder), Some(log)) = (folder, log) else {
        super::say(&format!(
            "cannot start {run}: its directory or its log cannot be created"
        ));
        return None;
    };
    match Running::start(launch, folder, &log, progress) {
        Ok(running) => {
            match running.notify(ended) {
                Ok(()) => running.obey(wishes, &log),
                Err(error) => log.note(&format!(
                    "killed the program, because waiting for it failed: {error}"
                )),
            }
            running.end()
        }
        Err(error) => {
            let program = launch.command.first().map_or("", String::as_str);
            let why = format!("cannot start {}: {error}", printable(program));
            log.note(&why);
            super::say(&format!("{run}: {why}"));
            None
        }
    }
}

/// A running rank.
struct Running {
    process: Process,
    intake: Intake,
    folder: RunFolder,
    /// Number of slots of each node in the host discovery script.
    slots: u32,
}

impl Running {
    fn start(
        launch: &Launch,
        directory: PathBuf,
        log: &Arc<RankLog>,
        progress: &Arc<Progress>,
    ) -> io::Result<Self> {
        let folder = RunFolder::create()?;
        let slots = slots(|name| std::env::var(name).ok());
        folder.write_hosts(&launch.nodes, slots)?;
        let intake = Intake::open(
            folder.socket(),
            Arc::clone(log),
            Arc::clone(progress),
            launch,
        )?;
        let cgroup = Cgroups::find().and_then(|cgroups| cgroups.create().ok());
        let mut command = command(launch, cgroup.as_ref())?;
        command
            .envs(&launch.environment)
            .envs(variables(launch, &directory, &folder, intake.address()?))
            .current_dir(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = Process::start(&mut command, MARK, cgroup)?;
        if let Some(output) = process.take_stdout() {
            intake.read_output(output)?;
        }
        if let Some(errors) = process.take_stderr() {
            intake.read_errors(errors)?;
        }
        Ok(Running {
            process,
            intake,
            folder,
            slots,
        })
    }

    /// Sends [`Wish::Ended`] when the program ends. A thread waits for the program without polling. It does not reap
    /// the program, so [`Process`] can still read the exit status.
    fn notify(&self, ended: Sender<Wish>) -> io::Result<()> {
        let pid = pid(&self.process).ok_or(io::ErrorKind::NotFound)?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let waiter = thread::Builder::new().spawn(move || {
            while waitid(WaitId::Pid(pid), options).is_err_and(|error| error == Errno::INTR) {}
            let _ = ended.send(Wish::Ended);
        });
        waiter.map(drop)
    }

    /// Handles messages until the rank must be killed or its program has ended.
    fn obey(&self, wishes: &Receiver<Wish>, log: &RankLog) {
        let mut deadline = None;
        loop {
            let wish = match deadline {
                None => wishes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => {
                    wishes.recv_timeout(Instant::saturating_duration_since(&end, Instant::now()))
                }
            };
            match wish {
                Ok(Wish::Terminate(grace)) => {
                    let end = Instant::now() + grace;
                    // A second SIGTERM could end a program that is writing a checkpoint in response to the first.
                    if deadline.is_none() {
                        let group = pid(&self.process);
                        let _ = group.map(|group| kill_process_group(group, Signal::TERM));
                    }
                    deadline = Some(deadline.map_or(end, |earlier| end.min(earlier)));
                }
                Ok(Wish::Nodes(nodes)) => {
                    if let Err(error) = self.folder.write_hosts(&nodes, self.slots) {
                        log.note(&format!("cannot write the host discovery script: {error}"));
                    }
                }
                Ok(Wish::Kill | Wish::Ended) => return,
                Err(RecvTimeoutError::Timeout) => {
                    log.note("killed the program, because its grace period is over");
                    return;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Kills the remaining processes of the rank. Returns the program's exit code once all of them have ended.
    fn end(mut self) -> Option<i32> {
        self.process.kill(Duration::ZERO);
        let status = self.process.end(Duration::ZERO);
        // Dropping the process removes the control group, and therefore waits until all processes in the group have
        // ended.
        drop(self.process);
        self.intake.close();
        status.and_then(|status| status.code())
    }
}

fn pid(process: &Process) -> Option<Pid> {
    i32::try_from(process.id()).ok().and_then(Pid::from_raw)
}

/// The command of a rank. No shell interprets its words.
fn command(launch: &Launch, cgroup: Option<&Cgroup>) -> io::Result<Command> {
    let found = launch.command.split_first();
    let (program, arguments) = found.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(match cgroup {
        Some(cgroup) => cgroup.command(program, arguments),
        None => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    })
}

/// The environment variables of a rank, in addition to the pilot's and the task's.
fn variables(
    launch: &Launch,
    directory: &Path,
    folder: &RunFolder,
    datagrams: SocketAddr,
) -> Vec<(&'static str, std::ffi::OsString)> {
    let master = launch.nodes.first().cloned().unwrap_or_default();
    let mut variables = vec![
        ("GLEANER_TASK", launch.task.clone().into()),
        ("GLEANER_NODES", launch.nodes.join(",").into()),
        ("GLEANER_NODE_RANK", launch.rank.to_string().into()),
        ("GLEANER_NODE_COUNT", launch.nodes.len().to_string().into()),
        ("GLEANER_MASTER", master.into()),
        ("GLEANER_PORT", launch.port.to_string().into()),
        ("GLEANER_CHECKPOINT", directory.into()),
        ("GLEANER_PROGRESS", folder.socket().into()),
        ("GLEANER_HOSTS", folder.hosts().into()),
        ("GLEANER_UDP", datagrams.to_string().into()),
    ];
    if let Some(class) = &launch.class {
        variables.push((super::class::VARIABLE, class.into()));
    }
    if let Some(trial) = &launch.trial {
        // Serialisation always succeeds, because all keys are strings.
        let parameters = serde_json::to_string(&trial.parameters).unwrap_or_default();
        variables.extend([
            ("GLEANER_TRIAL", trial.number.to_string().into()),
            ("GLEANER_RUNG", trial.rung.to_string().into()),
            ("GLEANER_RESOURCE", trial.resource.to_string().into()),
            ("GLEANER_PARAMETERS", parameters.into()),
        ]);
    }
    variables
}

/// Number of slots of a node, as reported by Slurm: the number of its GPUs or, if it has none, the number of its CPUs.
/// Without Slurm, a node has 1 slot.
fn slots(variable: impl Fn(&str) -> Option<String>) -> u32 {
    let number = |name: &str| {
        let value: u32 = variable(name)?.trim().parse().ok()?;
        Some(value).filter(|&value| value > 0)
    };
    let all = ["SLURM_GPUS_ON_NODE", "SLURM_CPUS_ON_NODE"];
    all.into_iter().find_map(number).unwrap_or(1)
}
