//! A running workload.

use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gleaner_process::{Cgroup, Cgroups, Process};

use crate::cores;
use crate::log::Log;
use crate::plan::{Config, Plan, device_environment};
use crate::progress::ProgressSocket;

/// Environment variable that identifies a workload and all processes that it started.
const MARK: &str = "GLEANER_PROFILE";

/// Environment variable with the path of the socket for reports.
const PROGRESS: &str = "GLEANER_PROGRESS";

/// Time within which a workload must end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

/// A running workload. Dropping this value ends the workload and all processes that the workload started.
#[derive(Debug)]
pub(crate) struct Running {
    process: Process,
    _socket: ProgressSocket,
    pub log: Arc<Log>,
    pub started: Instant,
}

impl Running {
    /// Starts a workload with the given number of processes, pinned to the cores of the plan.
    ///
    /// # Errors
    /// The workload cannot be started.
    pub fn start(
        plan: &Plan,
        config: Config,
        processes: u32,
        cgroups: Option<&Cgroups>,
    ) -> std::io::Result<Self> {
        let words = plan.command(config, processes);
        let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let cgroup = cgroups.map(Cgroups::create).transpose()?;
        let mut command = match &cgroup {
            Some(cgroup) => cgroup.command(program, arguments),
            None => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        let log = Arc::new(Log::new());
        let socket = ProgressSocket::open(&log)?;
        command
            .env(PROGRESS, socket.path())
            .envs(device_environment(&plan.settings))
            .envs(&plan.workload(config).environment)
            .current_dir(plan.directory(config))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = Instant::now();
        let mut process = start_on(&plan.settings.cores, &mut command, cgroup)?;
        if let Some(output) = process.take_stdout() {
            let log = Arc::clone(&log);
            thread::spawn(move || log.read_output(output));
        }
        if let Some(errors) = process.take_stderr() {
            let log = Arc::clone(&log);
            thread::spawn(move || log.read_errors(errors));
        }
        Ok(Running {
            process,
            _socket: socket,
            log,
            started,
        })
    }

    /// Exit status of the workload; `None` while it is running.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.end(Duration::ZERO)
    }

    /// Process id of the workload.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The workload's control group, if it has one.
    pub fn cgroup(&self) -> Option<&Cgroup> {
        self.process.cgroup()
    }

    /// Ends the workload and all processes that it started.
    pub fn stop(&mut self) {
        self.process.kill(GRACE);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts a command on the given cores. A separate thread is pinned to these cores and starts the command, because a
/// command inherits the pinning of the thread that starts it.
fn start_on(
    cores: &[usize],
    command: &mut Command,
    cgroup: Option<Cgroup>,
) -> std::io::Result<Process> {
    thread::scope(|scope| {
        let starter = scope.spawn(|| {
            cores::pin(cores)?;
            Process::start(command, MARK, cgroup)
        });
        let failed = || std::io::Error::other("the thread that starts the workload has panicked");
        starter.join().unwrap_or_else(|_| Err(failed()))
    })
}
