//! A running program.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::marked::kill_marked;

/// Time between two looks at whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Time that a dropped program has to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// The programs that run, as their process groups, with the entry of their environment.
static RUNNING: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

fn running() -> MutexGuard<'static, BTreeMap<u32, String>> {
    // The map is valid whatever a thread was doing when it panicked.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every program that was started and all that they have started, without a grace. From then
/// on none can be started: the process is about to end.
pub fn kill_all() {
    let programs = running();
    for (&group, mark) in programs.iter() {
        signal(group, Signal::KILL);
        kill_marked(mark);
    }
    std::mem::forget(programs);
}

/// A running program, in a process group of its own. Dropping it ends it and all that it started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The entry of its environment by which it and all that it starts are known.
    mark: String,
    is_over: bool,
}

impl Process {
    /// Starts a program. `variable` is the name of a variable that is added to its environment, to
    /// find what it starts.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &mut Command, variable: &str) -> io::Result<Self> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}-{number}", std::process::id());
        command.env(variable, &value).process_group(0);
        let mark = format!("{variable}={value}");
        // The lock is held until the program is listed, so that `kill_all` finds every program.
        let mut programs = running();
        let child = command.spawn()?;
        programs.insert(child.id(), mark.clone());
        Ok(Process {
            child,
            mark,
            is_over: false,
        })
    }

    /// Its process id, which is also that of its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, if it is a pipe that was not taken yet.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its standard output, if it is a pipe that was not taken yet.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its standard error, if it is a pipe that was not taken yet.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// How the program ended; `None` if it still runs after the time `within`.
    pub fn end(&mut self, within: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::sleep(left.min(PAUSE));
        }
    }

    /// Ends the program: SIGTERM to its whole group, and SIGKILL when it has ended or the time
    /// `grace` is over; then SIGKILL to what has left the group.
    pub fn kill(&mut self, grace: Duration) {
        if self.is_over {
            return;
        }
        let group = self.child.id();
        signal(group, Signal::TERM);
        self.end(grace);
        signal(group, Signal::KILL);
        let _ = self.child.wait();
        kill_marked(&self.mark);
        self.is_over = true;
        running().remove(&group);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill(GRACE);
    }
}

/// Sends a signal to a group. It fails if no process of the group is left, which is what we want.
fn signal(group: u32, signal: Signal) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}
