//! Runs a library in its own process, so that only the library's answer is lost if the process aborts, crashes or
//! hangs.
//!
//! The new process is a copy of this process (`fork`). It needs no executable of its own, so any
//! program can use this crate. The copy has only the calling thread, so the library need not be thread-safe.
//!
//! In the copy, a lock may be held by a thread that does not exist there. The C library makes its
//! own locks, including the allocator's, usable again in the copy. The copy takes none of this program's locks: it
//! computes, writes its answer to a pipe and exits without clean-up. The copy may nevertheless block on a lock, such as
//! a lock inside the library that another thread held. It is then killed after the deadline, as if the library hung.
#![expect(unsafe_code, reason = "there is no safe way to copy a process")]

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, FromRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Grace period between the deadline and the kill. The library checks its time limit only occasionally.
const GRACE: Duration = Duration::from_secs(2);

/// Interval between two checks of the stop flag while waiting for an answer.
const PULSE: Duration = Duration::from_millis(20);

/// Maximum number of bytes of the library's printed output to keep.
const KEPT: usize = 4096;

/// On systems that cannot close all files at once, a copy closes only the file descriptors below this number.
const MOST_FILES: i32 = 4096;

/// Signals that end a process after a fault.
const FATAL: [i32; 5] = [
    libc::SIGABRT,
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
];

/// The output of a copy, or the reason why there is none.
#[derive(Debug, PartialEq)]
pub(super) enum Ended {
    /// The copy ended normally, after it wrote these bytes.
    Wrote(Vec<u8>),
    /// The copy was killed: [`GRACE`] after the deadline, or when a stop was requested.
    Killed,
    /// The copy ended in another way, which the string describes.
    Failed(String),
}

/// Runs `work` in a copy of this process and returns the resulting bytes. The copy is killed once `stop`
/// is set.
pub(super) fn run(deadline: Instant, stop: &AtomicBool, work: impl FnOnce() -> Vec<u8>) -> Ended {
    match start(work) {
        Ok(copy) => copy.finish(deadline + GRACE, stop),
        Err(error) => Ended::Failed(format!("its process cannot be started: {error}")),
    }
}

/// A running copy.
struct Copied {
    id: libc::pid_t,
    answer: PipeReader,
    printed: PipeReader,
}

fn start(work: impl FnOnce() -> Vec<u8>) -> io::Result<Copied> {
    let (answer, answer_end) = pipe()?;
    let (printed, printed_end) = pipe()?;
    let parent = std::process::id();
    let signals = Blocked::all();
    // SAFETY: the copy runs only `become_copy`, which never returns. It allocates memory, which the C
    // library allows after a fork, and uses nothing that other threads may have been changing.
    let id = unsafe { libc::fork() };
    if id == 0 {
        become_copy(parent, work, &answer_end, &printed_end);
    }
    drop(signals);
    if id < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Copied {
        id,
        answer,
        printed,
    })
}

/// Blocks signals to this thread until this guard is dropped. The copy inherits the blocked signals, because this
/// program's signal handlers must not run in the copy.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn all() -> Self {
        // SAFETY: both sets are local variables, and any content of a set is valid.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set was returned by an earlier call to `pthread_sigmask`.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut());
        }
    }
}

/// Runs the work in the copy and ends the copy.
fn become_copy(
    parent: u32,
    work: impl FnOnce() -> Vec<u8>,
    answer: &PipeWriter,
    printed: &PipeWriter,
) -> ! {
    // SAFETY: system calls on local values. `_exit` ends the copy without the clean-up of the original
    // program.
    unsafe {
        for signal in FATAL {
            libc::signal(signal, libc::SIG_DFL);
        }
        // Disable core dumps: a copy of a large process would leave a large file behind.
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::dup2(printed.as_raw_fd(), libc::STDOUT_FILENO);
        libc::dup2(printed.as_raw_fd(), libc::STDERR_FILENO);
        libc::dup2(answer.as_raw_fd(), libc::STDIN_FILENO);
        close_others();
        #[cfg(target_os = "linux")]
        {
            // End the copy when the thread that waits for it ends, for whatever reason.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        if u32::try_from(libc::getppid()) != Ok(parent) {
            libc::_exit(1);
        }
        let done = catch_unwind(AssertUnwindSafe(work));
        let mut answer = File::from_raw_fd(libc::STDIN_FILENO);
        let is_written = done.is_ok_and(|bytes| answer.write_all(&bytes).is_ok());
        libc::_exit(i32::from(!is_written))
    }
}

/// Closes all file descriptors except the first three. The others include pipes to copies that other threads started.
/// If these pipes stayed open here, the threads that read them would also wait for this copy to end.
///
/// # Safety
/// After this call, no code may use any file descriptor except the first three.
unsafe fn close_others() {
    #[cfg(target_os = "linux")]
    let [first, last, flags]: [libc::c_ulong; 3] = [3, u32::MAX as libc::c_ulong, 0];
    // SAFETY: these system calls take only numbers.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, first, last, flags) == 0 {
            return;
        }
        for file in 3..MOST_FILES {
            libc::close(file);
        }
    }
}

impl Copied {
    /// Reads the copy's output until the copy ends, `deadline` passes or `stop` is set.
    fn finish(mut self, deadline: Instant, stop: &AtomicBool) -> Ended {
        let (mut answer, mut printed) = (Vec::new(), Vec::new());
        let (mut is_open, mut prints) = (true, true);
        while is_open {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                self.end(true);
                return Ended::Killed;
            }
            let [answers, prints_more] = readable(
                [
                    is_open.then_some(&self.answer),
                    prints.then_some(&self.printed),
                ],
                left.min(PULSE),
            );
            if prints_more {
                prints = more(&mut self.printed, &mut printed);
                printed.drain(..printed.len().saturating_sub(KEPT));
            }
            if answers {
                is_open = more(&mut self.answer, &mut answer);
            }
        }
        let status = self.end(false);
        if status == Some(0) {
            return Ended::Wrote(answer);
        }
        // The last output may not have been read yet.
        while prints && more(&mut self.printed, &mut printed) {}
        Ended::Failed(told(status, &printed))
    }

    /// Kills the copy if `kill` is set, waits for it to end, and returns its status.
    fn end(&self, kill: bool) -> Option<i32> {
        // SAFETY: the process was started here and has not been waited for yet, and the memory is local.
        unsafe {
            if kill {
                libc::kill(self.id, libc::SIGKILL);
            }
            let mut status = 0;
            loop {
                if libc::waitpid(self.id, &mut status, 0) == self.id {
                    return Some(status);
                }
                if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                    return None;
                }
            }
        }
    }
}

/// Waits until a pipe has data or is closed, but for at most `left`. Returns, for each of the two
/// pipes, whether it has data or is closed.
fn readable(pipes: [Option<&PipeReader>; 2], left: Duration) -> [bool; 2] {
    let mut polled = pipes.map(|pipe| libc::pollfd {
        // `poll` ignores negative file descriptors.
        fd: pipe.map_or(-1, AsRawFd::as_raw_fd),
        events: libc::POLLIN,
        revents: 0,
    });
    let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: the length passed is the length of the list. A failure leaves `revents` unchanged.
    unsafe {
        libc::poll(polled.as_mut_ptr(), 2, milliseconds.saturating_add(1));
    }
    polled.map(|pipe| pipe.revents != 0)
}

/// Reads the available bytes. Returns false at the end of the output or after an error other than an interruption.
fn more(pipe: &mut PipeReader, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 1 << 16];
    match pipe.read(&mut buffer) {
        Ok(0) => false,
        Ok(count) => {
            into.extend_from_slice(&buffer[..count]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

/// Describes how a process ended, including the last line that it printed.
fn told(status: Option<i32>, printed: &[u8]) -> String {
    let end = match status {
        Some(status) if libc::WIFSIGNALED(status) => {
            format!(
                "its process was killed by signal {}",
                libc::WTERMSIG(status)
            )
        }
        Some(_) | None => "its process ended without an answer".to_owned(),
    };
    let printed = String::from_utf8_lossy(printed);
    let last = printed
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty());
    match last {
        Some(last) => format!("{end}; it printed: {last}"),
        None => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// Runs the work without ever requesting a stop.
    fn finish(deadline: Instant, work: impl FnOnce() -> Vec<u8>) -> Ended {
        run(deadline, &AtomicBool::new(false), work)
    }

    #[test]
    fn the_bytes_of_the_work_come_back() {
        let bytes: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
        assert_eq!(
            finish(soon(), || bytes.clone()),
            Ended::Wrote(bytes.clone())
        );
        assert_eq!(finish(soon(), Vec::new), Ended::Wrote(vec![]));
    }

    #[test]
    fn an_abort_and_a_panic_are_failures() {
        let aborted = finish(soon(), || {
            // SAFETY: the string ends in NUL, and the file is open.
            unsafe { libc::write(2, c"line 7: it does not hold\n".as_ptr().cast(), 25) };
            std::process::abort()
        });
        let expected = "its process was killed by signal 6; it printed: line 7: it does not hold";
        assert_eq!(aborted, Ended::Failed(expected.to_owned()));
        let panicked = finish(soon(), || std::panic::resume_unwind(Box::new(())));
        let expected = "its process ended without an answer";
        assert_eq!(panicked, Ended::Failed(expected.to_owned()));
    }

    #[test]
    fn what_hangs_is_killed_some_time_after_the_deadline() {
        let hang = || loop {
            std::thread::sleep(Duration::from_secs(1));
        };
        let before = Instant::now().checked_sub(GRACE).unwrap();
        assert_eq!(finish(before, hang), Ended::Killed);
    }

    #[test]
    fn what_hangs_is_killed_at_a_stop() {
        let hang = || loop {
            std::thread::sleep(Duration::from_secs(1));
        };
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                stop.store(true, Ordering::Relaxed);
            });
            let century = Instant::now() + Duration::from_secs(3_000_000_000);
            assert_eq!(run(century, &stop, hang), Ended::Killed);
        });
    }

    // Several threads can run copies at the same time, because each copy has a single thread.
    #[test]
    fn many_threads_may_ask_at_a_time() {
        std::thread::scope(|scope| {
            for thread in 0..8_u8 {
                scope.spawn(move || {
                    for round in 0..20_u8 {
                        let work = || vec![thread ^ round; 1000];
                        assert_eq!(
                            finish(soon(), work),
                            Ended::Wrote(vec![thread ^ round; 1000])
                        );
                    }
                });
            }
        });
    }

    // If a copy kept another copy's pipe open, the reader of that pipe would have to wait for both copies to end.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_copy_holds_no_files_of_others() {
        let others = [pipe().unwrap(), pipe().unwrap()];
        let count = || {
            let files = std::fs::read_dir("/proc/self/fd").unwrap();
            vec![files.count() as u8]
        };
        // The first three files, and the directory that is being listed.
        assert_eq!(finish(soon(), count), Ended::Wrote(vec![4]));
        drop(others);
    }

    #[test]
    fn what_the_work_prints_does_not_stop_it() {
        let noisy = || {
            let line = [b'x'; 100];
            for _ in 0..10_000 {
                // SAFETY: the memory is local, and the file is open.
                unsafe { libc::write(1, line.as_ptr().cast(), line.len()) };
            }
            vec![1]
        };
        assert_eq!(finish(soon(), noisy), Ended::Wrote(vec![1]));
    }
}
