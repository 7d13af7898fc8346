//! Receives a rank's output and its reports of progress. Each source has its own thread.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use gleaner_domain::words::shortened;
use gleaner_process::{Line, read_lines};

use super::output::RankLog;
use super::progress::{Credit, Datagram, LONGEST_REPORT, Progress, Written, answer, parse_line};
use crate::core::{Launch, Report};

/// A line of the standard output that begins with this marker contains a report, which follows the marker.
const MARKER: &[u8] = b"gleaner-progress ";

/// Maximum number of simultaneous connections to the socket for reports.
const MOST_CONNECTIONS: usize = 64;

/// Time limit for reading the remaining output and reports of a rank that has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Pause after an error before the next attempt to receive something.
const PAUSE: Duration = Duration::from_millis(100);

/// Receives the output and the reports of a rank until the intake is closed.
#[derive(Debug)]
pub(super) struct Intake {
    desk: Arc<Desk>,
    socket: PathBuf,
    datagrams: UdpSocket,
    /// Each thread holds a copy while it runs. `None` once the intake is closed.
    alive: Option<Sender<()>>,
    gone: Receiver<()>,
}

/// State that all threads of a rank share.
#[derive(Debug)]
struct Desk {
    log: Arc<RankLog>,
    progress: Arc<Progress>,
    /// The answer to a program's question about its trial.
    answer: String,
    has_complained: AtomicBool,
    is_closing: AtomicBool,
    connections: AtomicUsize,
}

impl Desk {
    /// Handles a line from the program. An answer is written to `answers`, which is `None` if the line is not from a
    /// socket.
    fn hear(&self, line: &[u8], answers: Option<&UnixStream>) {
        match (parse_line(line), answers) {
            (Ok(Written::Report(report)), _) => self.progress.report(report),
            // A write error is ignored: a program that does not read the answer in time goes without it.
            (Ok(Written::Ask), Some(mut stream)) => {
                let _ = stream.write_all(self.answer.as_bytes());
            }
            (Ok(Written::Ask), None) => {
                let why = "questions are answered only on the socket GLEANER_PROGRESS";
                self.accept(Err(why.to_owned()), line);
            }
            (Err(why), _) => self.accept(Err(why), line),
        }
    }

    /// Passes on a valid report. Only the first invalid report is logged.
    fn accept(&self, report: Result<Option<f64>, String>, written: &[u8]) {
        match report {
            Ok(Some(done)) => self.progress.report(Report { done, loss: None }),
            Ok(None) => {}
            Err(why) if !self.has_complained.swap(true, Ordering::Relaxed) => {
                let text = String::from_utf8_lossy(&written[..written.len().min(LONGEST_REPORT)]);
                let text = shortened(text.trim());
                self.log.note(&format!(
                    "ignored the report {text:?}: {why}; further invalid reports are ignored without a note"
                ));
            }
            Err(_) => {}
        }
    }
}

impl Intake {
    /// Opens the socket at `socket`, and a port for datagrams. Reports are passed to `progress`. Credits of datagrams
    /// are added to the work that the task had done before this run.
    ///
    /// # Errors
    /// A socket cannot be opened, or a thread cannot be started.
    pub fn open(
        socket: PathBuf,
        log: Arc<RankLog>,
        progress: Arc<Progress>,
        launch: &Launch,
    ) -> io::Result<Self> {
        let (job, done) = (launch.task.clone(), launch.done);
        let listener = UnixListener::bind(&socket)?;
        let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (alive, gone) = channel();
        let desk = Arc::new(Desk {
            log,
            progress,
            answer: answer(launch.trial.as_ref()),
            has_complained: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        });
        let intake = Intake {
            desk,
            socket,
            datagrams,
            alive: Some(alive.clone()),
            gone,
        };
        intake.spawn(move |desk| accept_connections(&listener, desk, &alive))?;
        let port = intake.datagrams.try_clone()?;
        intake.spawn(move |desk| receive_datagrams(&port, desk, &job, done))?;
        Ok(intake)
    }

    /// Address of the port for datagrams.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.datagrams.local_addr()
    }

    /// Reads the standard output of the rank's program.
    pub fn read_output(&self, output: ChildStdout) -> io::Result<()> {
        self.spawn(move |desk| {
            read_lines(output, |line| {
                match line {
                    Line::Text(text) => {
                        desk.log.write(&text);
                        if let Some(report) = text.strip_prefix(MARKER) {
                            desk.hear(report, None);
                        }
                    }
                    Line::Long => desk.log.note("dropped a line of more than 1 MiB"),
                    Line::Closed => {}
                }
                true
            });
        })
    }

    /// Reads the standard error of the rank's program.
    pub fn read_errors(&self, mut errors: ChildStderr) -> io::Result<()> {
        self.spawn(move |desk| {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = errors.read(&mut buffer) {
                desk.log.write(&buffer[..count]);
            }
        })
    }

    /// Stops receiving, after the rank has ended. Everything that the rank wrote before its end is received.
    pub fn close(mut self) {
        self.wake();
        self.alive = None;
        // A thread may wait for a process that has escaped from the rank.
        let _ = self.gone.recv_timeout(LAST_WORDS);
    }

    /// Wakes the threads that wait for input. They first receive everything that arrived earlier.
    fn wake(&self) {
        self.desk.is_closing.store(true, Ordering::SeqCst);
        let _ = UnixStream::connect(&self.socket);
        if let Ok(address) = self.address() {
            let _ = self.datagrams.send_to(&[], address);
        }
    }

    fn spawn(&self, work: impl FnOnce(&Arc<Desk>) + Send + 'static) -> io::Result<()> {
        let alive = self.alive.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        spawn(&self.desk, alive, work)
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.wake();
    }
}

fn spawn(
    desk: &Arc<Desk>,
    alive: &Sender<()>,
    work: impl FnOnce(&Arc<Desk>) + Send + 'static,
) -> io::Result<()> {
    let (desk, alive) = (Arc::clone(desk), alive.clone());
    let started = thread::Builder::new().spawn(move || {
        work(&desk);
        drop(alive);
    });
    started.map(drop)
}

/// Reads the lines of each connection. Once the intake is closing, only connections that are already waiting are read.
fn accept_connections(listener: &UnixListener, desk: &Arc<Desk>, alive: &Sender<()>) {
    loop {
        let connection = listener.accept();
        let is_closing = desk.is_closing.load(Ordering::SeqCst);
        match connection {
            Ok((connection, _)) => read_connection(connection, desk, alive),
            Err(_) if is_closing => return,
            // The pilot may have no free file descriptors for a while.
            Err(_) => thread::sleep(PAUSE),
        }
        if is_closing && listener.set_nonblocking(true).is_err() {
            return;
        }
    }
}

/// Starts a thread that reads from a connection.
fn read_connection(connection: UnixStream, desk: &Arc<Desk>, alive: &Sender<()>) {
    if desk.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
        desk.connections.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let answers = connection.try_clone().ok();
    if let Some(answers) = &answers {
        let _ = answers.set_write_timeout(Some(LAST_WORDS));
    }
    let started = spawn(desk, alive, move |desk| {
        read_lines(connection, |line| {
            match line {
                Line::Text(text) => desk.hear(&text, answers.as_ref()),
                Line::Long => desk.accept(Err("it is longer than 1 MiB".to_owned()), b""),
                Line::Closed => {}
            }
            true
        });
        desk.connections.fetch_sub(1, Ordering::Relaxed);
    });
    if started.is_err() {
        desk.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Adds up the credits of datagrams. Once the intake is closing, only datagrams that have already arrived are read.
fn receive_datagrams(port: &UdpSocket, desk: &Desk, job: &str, done: f64) {
    let mut credit = Credit::new(done);
    let mut buffer = [0; LONGEST_REPORT];
    loop {
        let received = port.recv_from(&mut buffer);
        let is_closing = desk.is_closing.load(Ordering::SeqCst);
        match received {
            Ok((0, _)) => {}
            Ok((count, sender)) => {
                let bytes = &buffer[..count];
                desk.accept(credit_of(bytes, sender, job, &mut credit), bytes);
            }
            Err(_) if is_closing => return,
            Err(_) => thread::sleep(PAUSE),
        }
        if is_closing && port.set_nonblocking(true).is_err() {
            return;
        }
    }
}

/// The work that the task has done, including the credit of a datagram. `None` if the datagram has already been
/// counted.
fn credit_of(
    bytes: &[u8],
    sender: SocketAddr,
    job: &str,
    credit: &mut Credit,
) -> Result<Option<f64>, String> {
    if !sender.ip().is_loopback() {
        return Err(format!(
            "it came from {sender}, expected a sender on this node"
        ));
    }
    let datagram = Datagram::parse(bytes)?;
    if datagram.job != job {
        let found = datagram.job;
        return Err(format!("jobname: found {found:?}, expected {job:?}"));
    }
    Ok(credit.add(sender, &datagram))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader};
    use std::time::Instant;

    use gleaner_search::Value;

    use crate::core::{RunId, Trial};

    struct Fixture {
        folder: tempfile::TempDir,
        progress: Arc<Progress>,
        intake: Intake,
    }

    fn launch() -> Launch {
        Launch {
            run: RunId {
                task: 0,
                generation: 1,
            },
            task: "resnet".to_owned(),
            rank: 0,
            nodes: vec!["n1".to_owned()],
            class: None,
            port: 29500,
            command: Vec::new(),
            environment: BTreeMap::new(),
            done: 1000.0,
            trial: Some(Trial {
                of: "resnet".to_owned(),
                number: 3,
                rung: 1,
                resource: 9.0,
                parameters: [("lr".to_owned(), Value::Number(0.25))].into(),
                done: 1000.0,
            }),
        }
    }

    fn open() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(RankLog::create(&folder.path().join("log")).unwrap());
        let progress = Arc::<Progress>::default();
        let intake = Intake::open(
            folder.path().join("progress"),
            log,
            Arc::clone(&progress),
            &launch(),
        );
        Fixture {
            intake: intake.unwrap(),
            folder,
            progress,
        }
    }

    impl Fixture {
        /// Closes the intake. Returns the last report and the log.
        fn close(self) -> (Option<f64>, String) {
            self.intake.close();
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
            let last = self.progress.take(Instant::now(), true);
            (last.map(|report| report.done), log)
        }
    }

    #[test]
    fn reports_before_the_end_are_received() {
        for _ in 0..20 {
            let fixture = open();
            let mut stream = UnixStream::connect(&fixture.intake.socket).unwrap();
            stream.write_all(b"{\"done\": 1}\n{\"done\": 2}\n").unwrap();
            drop(stream);
            assert_eq!(fixture.close().0, Some(2.0));
        }
    }

    #[test]
    fn a_program_can_ask_what_to_train() {
        let fixture = open();
        let mut stream = UnixStream::connect(&fixture.intake.socket).unwrap();
        stream.write_all(b"{\"ask\": true}\n").unwrap();
        let mut answer = String::new();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        answers.read_line(&mut answer).unwrap();
        let expected = r#"{"trial":3,"rung":1,"resource":9.0,"parameters":{"lr":0.25}}"#;
        assert_eq!(answer.trim_end(), expected);
        stream
            .write_all(b"{\"done\": 1200, \"loss\": 0.5}\n")
            .unwrap();
        drop((stream, answers));
        assert_eq!(fixture.close().0, Some(1200.0));
    }

    #[test]
    fn only_the_first_invalid_report_is_noted() {
        let fixture = open();
        let mut stream = UnixStream::connect(&fixture.intake.socket).unwrap();
        stream.write_all(b"nonsense\n{}\n{\"done\": 7}\n").unwrap();
        stream.write_all(&[b'x'; 2 << 20]).unwrap();
        drop(stream);
        let (done, log) = fixture.close();
        assert_eq!(done, Some(7.0));
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.contains("ignored the report \"nonsense\""), "{log}");
    }

    #[test]
    fn datagrams_of_other_tasks_are_refused() {
        let fixture = open();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let send = |text: &str| {
            let address = fixture.intake.address().unwrap();
            sender.send_to(text.as_bytes(), address).unwrap();
        };
        send("id:0 time:1.5 rank_size:1 credit:64 jobname:resnet");
        send("id:1 time:1.6 rank_size:1 credit:64 jobname:other");
        send("");
        send("id:1 time:1.7 rank_size:1 credit:32 jobname:resnet");
        send("id:1 time:1.7 rank_size:1 credit:32 jobname:resnet");
        let (done, log) = fixture.close();
        assert_eq!(done, Some(1096.0));
        assert!(
            log.contains("jobname: found \"other\", expected \"resnet\""),
            "{log}"
        );
    }

    #[test]
    fn connections_that_stay_open_do_not_delay_the_end_for_long() {
        let fixture = open();
        let stream = UnixStream::connect(&fixture.intake.socket).unwrap();
        let start = Instant::now();
        fixture.close();
        assert!(start.elapsed() < 10 * LAST_WORDS);
        drop(stream);
    }
}
