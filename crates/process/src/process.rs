//! A running program.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::cgroup::{self, Cgroup};
use crate::marked::kill_marked;
use crate::watcher::Watcher;

/// Time between two checks of whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Time limit for a dropped program to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// Marks by which the processes of a program are found even if they have left the program's process group.
struct Signs {
    /// The marker entry in the program's environment.
    mark: String,
    /// The folder of the program's control group.
    cgroup: Option<PathBuf>,
}

impl Signs {
    /// Kills all processes that have the mark or belong to the control group.
    fn kill(&self) {
        self.cgroup.as_deref().map(cgroup::kill);
        kill_marked(&self.mark);
    }
}

/// The running programs, by process group.
static RUNNING: Mutex<BTreeMap<u32, Signs>> = Mutex::new(BTreeMap::new());

fn running() -> MutexGuard<'static, BTreeMap<u32, Signs>> {
    // The map stays valid even if a thread panicked while it held the lock.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills all running programs and everything that they have started, without a grace period. No program can be started
/// afterwards, because this process is about to end.
pub fn kill_all() {
    let programs = running();
    for (&group, signs) in programs.iter() {
        signal(group, Signal::KILL);
        signs.kill();
    }
    std::mem::forget(programs);
}

/// A running program in its own process group. Dropping this value ends the program and everything
/// that the program started. If this process is killed, a watcher ends the program instead.
#[derive(Debug)]
pub struct Process {
    child: Child,
    watcher: Watcher,
    /// The program's control group. It is removed on drop, after its processes have ended.
    cgroup: Option<Cgroup>,
    is_over: bool,
}

/// Returns a value that no other program has in its environment. The value is not a prefix of any other such value. The
/// watcher can therefore search for it without looking for the end of an entry.
fn unique() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = since.unwrap_or_default().as_nanos();
    format!("{}-{number}-{nanos:x}.", std::process::id())
}

impl Process {
    /// Starts a program. `variable` is the name of an environment variable that is added to identify the processes that
    /// the program starts. If the command enters a control group, the group must be passed too.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(
        command: &mut Command,
        variable: &str,
        cgroup: Option<Cgroup>,
    ) -> io::Result<Self> {
        let value = unique();
        command.env(variable, &value).process_group(0);
        let folder = cgroup.as_ref().map(|group| group.path().to_owned());
        let signs = Signs {
            mark: format!("{variable}={value}"),
            cgroup: folder,
        };
        let mut watcher = Watcher::start(&signs.mark, signs.cgroup.as_deref());
        // The lock is held until the program is listed, so that `kill_all` finds every program.
        let mut programs = running();
        let child = command.spawn().inspect_err(|_| watcher.dismiss())?;
        watcher.watch(child.id());
        programs.insert(child.id(), signs);
        Ok(Process {
            child,
            watcher,
            cgroup,
            is_over: false,
        })
    }

    /// The program's control group, if it has one.
    pub fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// Process id of the program, which is also the id of its process group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The program's standard input, if it is a pipe that has not been taken yet.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The program's standard output, if it is a pipe that has not been taken yet.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The program's standard error, if it is a pipe that has not been taken yet.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits up to `within` for the program to end. Returns the program's exit status, or `None` if the program is
    /// still running.
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

    /// Ends the program. The program's whole group receives SIGTERM. Once the program has ended or the time `grace`
    /// has passed, the group and the processes that left it receive SIGKILL. A process that left the group is missed
    /// only if its environment lacks the mark and the program has no control group.
    pub fn kill(&mut self, grace: Duration) {
        if self.is_over {
            return;
        }
        let group = self.child.id();
        signal(group, Signal::TERM);
        self.end(grace);
        signal(group, Signal::KILL);
        let _ = self.child.wait();
        self.is_over = true;
        let signs = running().remove(&group);
        if let Some(signs) = signs {
            signs.kill();
        }
        self.watcher.dismiss();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill(GRACE);
    }
}

/// Sends a signal to a group. Ignores a failure, because a failure means that the group has no
/// processes left.
fn signal(group: u32, signal: Signal) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}
