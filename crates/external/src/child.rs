//! A running solver: lines in, lines out, and its end.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use gleaner_process::{Line, Process, Tail, read_lines};

use crate::command::Manifest;

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

impl From<Line> for Event {
    fn from(line: Line) -> Self {
        match line {
            Line::Text(text) => Event::Line(text),
            Line::Long => Event::LongLine,
            Line::Closed => Event::Closed,
        }
    }
}

/// A running program. Dropping it ends it and all that it started.
pub(crate) struct Program {
    process: Process,
    /// To the thread that writes its input; `None` once that is closed.
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Event>,
    errors: Arc<Tail>,
}

impl Program {
    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(manifest: &Manifest) -> std::io::Result<Self> {
        let mut command = Command::new(&manifest.command[0]);
        command
            .args(&manifest.command[1..])
            .envs(&manifest.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &manifest.directory {
            command.current_dir(directory);
        }
        let mut process = Process::start(&mut command, MARK)?;
        let (line_sender, output) = sync_channel(WAITING_LINES);
        let (input, lines) = sync_channel(1);
        let errors = Arc::new(Tail::new(KEPT_ERRORS));
        if let Some(stdin) = process.take_stdin() {
            thread::spawn(move || write_lines(stdin, &lines));
        }
        if let Some(stdout) = process.take_stdout() {
            thread::spawn(move || {
                read_lines(stdout, |line| line_sender.send(line.into()).is_ok());
            });
        }
        if let Some(stderr) = process.take_stderr() {
            let errors = Arc::clone(&errors);
            thread::spawn(move || errors.read(stderr));
        }
        Ok(Program {
            process,
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
        let text = self.errors.text();
        let last = text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())?;
        Some(gleaner_core::words::printable(last).to_string())
    }

    /// How the program ended, once it has.
    pub fn end(&mut self) -> Option<String> {
        let status = self.process.end(GRACE)?;
        Some(status.to_string())
    }

    /// Ends the program and all that it started.
    pub fn kill(&mut self) {
        self.input = None;
        self.process.kill(GRACE);
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
