//! A running program: lines in, lines out, and its end.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::command::Manifest;

/// Most bytes of a line that the program writes.
const LONGEST_LINE: u64 = 1 << 20;

/// Lines that wait to be read. A program that writes more has to wait.
const WAITING_LINES: usize = 16;

/// Bytes of the end of its standard error that are kept.
const KEPT_ERRORS: usize = 4096;

/// Time that a program has to end after it was asked to, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// Variable of the environment by which the program and all that it starts are known.
const MARK: &str = "GLEANER_SOLVER";

/// What comes from a program.
pub(crate) enum Event {
    /// A line.
    Line(Vec<u8>),
    /// The start of a line that is too long; the rest is dropped.
    LongLine,
    /// Its output is closed: it has ended, or soon will.
    Closed,
    /// Nothing until the deadline.
    Late,
}

/// A running program, in a process group of its own. Dropping it ends it and all that it started.
pub(crate) struct Program {
    child: Child,
    mark: String,
    /// To the thread that writes its input; `None` once that is closed.
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Event>,
    errors: Arc<Mutex<VecDeque<u8>>>,
}

impl Program {
    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(manifest: &Manifest) -> std::io::Result<Self> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        let mut command = Command::new(&manifest.command[0]);
        command
            .args(&manifest.command[1..])
            .envs(&manifest.environment)
            .env(MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(directory) = &manifest.directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn()?;
        let (line_sender, output) = sync_channel(WAITING_LINES);
        let (input, lines) = sync_channel(1);
        let errors = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write_lines(stdin, &lines));
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read_lines(stdout, &line_sender));
        }
        if let Some(stderr) = child.stderr.take() {
            let errors = Arc::clone(&errors);
            thread::spawn(move || keep_end(stderr, &errors));
        }
        Ok(Program {
            child,
            mark,
            input: Some(input),
            output,
            errors,
        })
    }

    /// Hands a line to the program. Returns false if it does not read its input.
    pub fn send(&self, line: Vec<u8>) -> bool {
        let Some(input) = &self.input else {
            return false;
        };
        match input.try_send(line) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }

    /// What comes next, until `deadline`.
    pub fn next(&self, deadline: Instant) -> Event {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.output.recv_timeout(left) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => Event::Late,
            Err(RecvTimeoutError::Disconnected) => Event::Closed,
        }
    }

    /// How the program ended, and the last line of its standard error.
    pub fn last_words(&mut self) -> String {
        let end = self.end();
        let end = end.unwrap_or_else(|| "it closed its output".into());
        match self.last_error() {
            Some(last) => format!("{end}; it wrote: {last}"),
            None => end,
        }
    }

    /// The last line of its standard error that is not empty.
    fn last_error(&self) -> Option<String> {
        // The end of the program may be seen before its last words are read.
        thread::sleep(Duration::from_millis(20));
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = errors.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let last = text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())?;
        Some(gleaner_core::words::printable(last).to_string())
    }

    /// How the program ended, once it has.
    pub fn end(&mut self) -> Option<String> {
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status.to_string());
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Ends the program: SIGTERM, then SIGKILL, to its whole group; then to what has left the group.
    pub fn kill(&mut self) {
        self.input = None;
        let group = Pid::from_child(&self.child);
        // A signal to a group that has no process left fails, which is what we want.
        let _ = kill_process_group(group, Signal::TERM);
        self.end();
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
        kill_marked(&self.mark);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A closed input asks the program to end.
        self.input = None;
        self.end();
        self.kill();
    }
}

/// Writes lines until there are none to come, or the program has closed its input.
fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for mut line in lines {
        line.push(b'\n');
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads lines until the output is closed.
fn read_lines(stdout: impl Read, events: &SyncSender<Event>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = stdout
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        let event = match read {
            Ok(0) | Err(_) => Event::Closed,
            Ok(_) if line.ends_with(b"\n") => Event::Line(line),
            Ok(count) if count as u64 == LONGEST_LINE => Event::LongLine,
            Ok(_) => Event::Line(line),
        };
        let is_long = matches!(event, Event::LongLine);
        let is_closed = matches!(event, Event::Closed);
        if events.send(event).is_err() || is_closed || (is_long && !skip_line(&mut stdout)) {
            return;
        }
    }
}

/// Drops the rest of a line. Returns false at the end of the output.
fn skip_line(stdout: &mut impl BufRead) -> bool {
    loop {
        let Ok(buffer) = stdout.fill_buf() else {
            return false;
        };
        if buffer.is_empty() {
            return false;
        }
        let newline = buffer.iter().position(|&byte| byte == b'\n');
        let used = newline.map_or(buffer.len(), |at| at + 1);
        stdout.consume(used);
        if newline.is_some() {
            return true;
        }
    }
}

/// Reads all, and keeps the end.
fn keep_end(mut stderr: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..count]);
        let surplus = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..surplus);
    }
}

/// Kills processes that the program has started outside its group. They are known by their
/// environment, where the system shows it (Linux).
fn kill_marked(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return;
    };
    for process in processes.flatten() {
        let name = process.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.parse().ok())
            .and_then(Pid::from_raw);
        let (Some(pid), Ok(environment)) = (pid, std::fs::read(process.path().join("environ")))
        else {
            continue;
        };
        if environment
            .split(|&byte| byte == 0)
            .any(|entry| entry == wanted.as_bytes())
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
