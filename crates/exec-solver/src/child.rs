//! A running solver program: its input and output lines, and its end.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use gleaner_process::{
    Cgroup, Cgroups, Line, Process, Tail, find_program, is_executable, read_lines,
};

use crate::command::Manifest;

/// Maximum number of unread output lines. A program that writes more lines is blocked.
const WAITING_LINES: usize = 16;

/// Maximum number of queued input lines. A program receives at most one request and one `cancel` at a
/// time, so a program that reads its input never reaches this limit.
const WAITING_REQUESTS: usize = 16;

/// Number of bytes kept from the end of the program's standard error.
const KEPT_ERRORS: usize = 4096;

/// Grace period for the program to end after its input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// Environment variable that identifies the program and all processes that it starts.
const MARK: &str = "GLEANER_SOLVER";

/// An event from a program.
pub(crate) enum Event {
    /// A line of the program's output.
    Line(Vec<u8>),
    /// A line that was dropped because it is too long.
    LongLine,
    /// The program's output is closed: the program has ended, or will end soon.
    Closed,
    /// No event occurred before the deadline.
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

/// A running program. Dropping this value ends the program and all processes that it started.
pub(crate) struct Program {
    process: Process,
    /// Sends lines to the thread that writes the program's input; `None` once the input is closed.
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Event>,
    errors: Arc<Tail>,
}

impl Program {
    /// Starts the program.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(manifest: &Manifest) -> io::Result<Self> {
        let cgroup = Cgroups::find().and_then(|place| place.create().ok());
        let mut command = command(manifest, cgroup.as_ref())?;
        command
            .envs(&manifest.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &manifest.directory {
            command.current_dir(directory);
        }
        let mut process = Process::start(&mut command, MARK, cgroup)?;
        let (line_sender, output) = sync_channel(WAITING_LINES);
        let (input, lines) = sync_channel(WAITING_REQUESTS);
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

    /// Queues a line for the program.
    ///
    /// # Errors
    /// Returns a message if the program does not read its input. In that case, the line is lost, and the program is no
    /// longer usable.
    pub fn send(&self, line: Vec<u8>) -> Result<(), &'static str> {
        let sent = self.input.as_ref().map(|input| input.try_send(line));
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(TrySendError::Full(_))) => Err("it does not read its input"),
            Some(Err(TrySendError::Disconnected(_))) | None => Err("it has closed its input"),
        }
    }

    /// Waits for the next event, up to `deadline`. After the deadline, queued lines are ignored.
    /// Otherwise, a program that writes lines faster than they are read could postpone its deadline.
    pub fn next(&self, deadline: Instant) -> Event {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Event::Late;
        }
        match self.output.recv_timeout(left) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => Event::Late,
            Err(RecvTimeoutError::Disconnected) => Event::Closed,
        }
    }

    /// A description of the program's end, with the last line of its standard error.
    pub fn last_words(&mut self) -> String {
        let end = self.end();
        let end = end.unwrap_or_else(|| "it closed its output".into());
        match self.last_error() {
            Some(last) => format!("{end}; it wrote: {last}"),
            None => end,
        }
    }

    /// The last non-empty line of the program's standard error.
    fn last_error(&self) -> Option<String> {
        // The end of the program may be noticed before its last output has been read.
        thread::sleep(Duration::from_millis(20));
        let text = self.errors.text();
        let last = text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())?;
        Some(gleaner_domain::words::printable(last).to_string())
    }

    /// A description of the program's end; `None` while the program is running.
    pub fn end(&mut self) -> Option<String> {
        let status = self.process.end(GRACE)?;
        Some(status.to_string())
    }

    /// Ends the program and all processes that it started.
    pub fn kill(&mut self) {
        self.input = None;
        self.process.kill(GRACE);
    }
}

/// The command that starts a program, in the control group `cgroup` if there is one.
fn command(manifest: &Manifest, cgroup: Option<&Cgroup>) -> io::Result<Command> {
    let (program, arguments) = manifest.command.split_first().ok_or(ErrorKind::NotFound)?;
    let Some(cgroup) = cgroup else {
        let mut command = Command::new(program);
        command.args(arguments);
        return Ok(command);
    };
    // Check first that the program exists and is executable. Otherwise, the shell that enters the group would report
    // the fault in its own words.
    let directory = manifest.directory.as_deref().unwrap_or(Path::new(""));
    let has_own_path = manifest.environment.contains_key("PATH");
    if !has_own_path {
        let file = find_program(program, directory).ok_or(ErrorKind::NotFound)?;
        if !is_executable(&file) {
            return Err(ErrorKind::PermissionDenied.into());
        }
    }
    Ok(cgroup.command(program, arguments))
}

impl Drop for Program {
    fn drop(&mut self) {
        // Closing the input asks the program to end.
        self.input = None;
        self.end();
        self.kill();
    }
}

/// Writes lines until the sender is dropped or the program has closed its input.
fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for mut line in lines {
        line.push(b'\n');
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SolverCommand;

    fn program(script: &str) -> Program {
        let command: SolverCommand = format!("exec:sh -c '{script}'").parse().unwrap();
        Program::start(command.manifest()).unwrap()
    }

    // No line is lost, even if the program reads late.
    #[test]
    fn lines_wait_for_a_program_that_reads_late() {
        let program = program("sleep 0.2; cat");
        let lines = (0..WAITING_REQUESTS).map(|i| format!("line {i}"));
        for line in lines.clone() {
            program.send(line.into_bytes()).unwrap();
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        for line in lines {
            let Event::Line(text) = program.next(deadline) else {
                panic!("{line} is lost");
            };
            assert_eq!(String::from_utf8(text).unwrap(), line + "\n");
        }
    }

    #[test]
    fn a_line_that_cannot_wait_is_an_error() {
        let program = program("sleep 600");
        let sent = (0..1000).map(|_| program.send(vec![b'x'; 1 << 16]));
        let failed = sent.take_while(Result::is_ok).count();
        assert!(failed <= WAITING_REQUESTS + 3, "{failed}");
        assert_eq!(program.send(vec![]), Err("it does not read its input"));
    }

    #[test]
    fn nothing_comes_after_the_deadline() {
        let program = program("echo early; sleep 600");
        let late = Instant::now() + Duration::from_secs(60);
        assert!(matches!(program.next(late), Event::Line(_)));
        assert!(matches!(program.next(Instant::now()), Event::Late));
    }
}
