//! Tests of whole pilots: each pilot is a process that connects to a daemon in the test.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gleaner_search::Value;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{PilotArgs, run};
use crate::core::{Launch, Link, Loss, Order, PilotId, RankReport, RankState, RunId, Trial};
use crate::frames::{self, FrameReader};
use crate::state_dir::StateDir;
use crate::tls::server_config;
use crate::wire::{FromPilot, Greeting, LONGEST, Role, ToPilot, VERSION};

/// Environment variable that makes this program a pilot. Its value is the state directory.
const STATE: &str = "HARVEST_TEST_STATE";

/// Time after which a test fails, however busy the machine is.
const HANG: Duration = Duration::from_secs(60);

/// Time for which a test waits to check that nothing happens.
const QUIET: Duration = Duration::from_millis(300);

// This is not a test. The other tests run it in a separate process, which then acts as a pilot.
#[test]
fn acts_as_a_pilot() {
    let Some(state) = std::env::var_os(STATE) else {
        return;
    };
    let args = PilotArgs {
        state: state.into(),
        pilot: 7,
        node: Some("n1".to_owned()),
        class: None,
        wall_s: std::env::var("HARVEST_TEST_WALL")
            .ok()
            .map(|wall| wall.parse().unwrap()),
    };
    match run(&args) {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(i32::from(error.exit_code()));
        }
    }
}

/// A test daemon and its state directory.
struct Fixture {
    folder: TempDir,
    state: StateDir,
    runtime: Runtime,
    listener: TcpListener,
    /// The durations in the daemon's welcome, in seconds: lease, time between beats, and grace period.
    terms: (u64, u64, u64),
    /// Whether the daemon answers beats.
    is_answering: bool,
}

/// A pilot's process, which is killed when this value is dropped.
struct PilotProcess(Child);

/// The daemon's side of a connection.
struct Session {
    input: FrameReader<ReadHalf<TlsStream<TcpStream>>>,
    output: WriteHalf<TlsStream<TcpStream>>,
    link: Link,
    ranks: Vec<RankReport>,
    ends: Option<i64>,
}

impl Drop for PilotProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl PilotProcess {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Waits for the end of the process, and returns its exit code.
    #[track_caller]
    fn wait(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < HANG, "the pilot has not ended");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(&folder.path().join("state")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let fixture = Fixture {
            folder,
            state,
            runtime,
            listener,
            terms: (60, 1, 1),
            is_answering: true,
        };
        fixture.write_address();
        fixture
    }

    fn write_address(&self) {
        let address = self.listener.local_addr().unwrap();
        self.state.write_address(&address.to_string()).unwrap();
    }

    /// Moves the daemon to another port.
    fn relocate(&mut self) {
        let bound = self.runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        self.listener = bound.unwrap();
        self.write_address();
    }

    fn pilot(&self) -> PilotProcess {
        self.pilot_with(&[])
    }

    fn pilot_with(&self, variables: &[(&str, &str)]) -> PilotProcess {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["pilot::tests::acts_as_a_pilot", "--exact", "--nocapture"])
            .env(STATE, self.state.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        PilotProcess(command.spawn().unwrap())
    }

    /// Accepts the pilot's next connection and welcomes it.
    #[track_caller]
    fn accept(&self) -> Session {
        let mut session = self.greet();
        let (lease_s, beat_s, grace_s) = self.terms;
        let welcome = ToPilot::Welcome {
            lease_s,
            beat_s,
            grace_s,
        };
        self.send(&mut session, &welcome);
        session
    }

    /// Accepts the pilot's next connection and reads the greeting.
    #[track_caller]
    fn greet(&self) -> Session {
        let acceptor = TlsAcceptor::from(server_config(&self.state).unwrap());
        let accepted = self.limited(async {
            let (stream, _) = self.listener.accept().await.unwrap();
            let (input, output) = split(acceptor.accept(stream).await.unwrap());
            let mut input = FrameReader::new(input);
            let greeting: Greeting = input.read(frames::LONGEST_GREETING).await.unwrap();
            (input, output, greeting)
        });
        let (input, output, greeting) = accepted.expect("the pilot does not connect");
        assert!(self.state.secret().unwrap().matches(&greeting.secret));
        assert_eq!(greeting.version, VERSION);
        let Role::Pilot(hello) = greeting.role else {
            panic!("found a client");
        };
        assert_eq!((hello.link.pilot, hello.node.as_str()), (PilotId(7), "n1"));
        Session {
            input,
            output,
            link: hello.link,
            ranks: hello.ranks,
            ends: hello.ends,
        }
    }

    fn limited<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.within(HANG, future)
    }

    fn within<T>(&self, limit: Duration, future: impl Future<Output = T>) -> Option<T> {
        self.runtime
            .block_on(async { tokio::time::timeout(limit, future).await.ok() })
    }

    #[track_caller]
    fn send(&self, session: &mut Session, message: &ToPilot) {
        let sent = self.limited(frames::write(&mut session.output, message));
        sent.unwrap().unwrap();
    }

    #[track_caller]
    fn order(&self, session: &mut Session, order: Order) {
        self.send(session, &ToPilot::Order(order));
    }

    /// The next message other than a beat; `None` if none arrives within `limit`, or if the connection ends. Beats are
    /// answered.
    fn next_within(&self, session: &mut Session, limit: Duration) -> Option<FromPilot> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.within(left, session.input.read(LONGEST))?.ok()? {
                FromPilot::Beat { number } => {
                    if self.is_answering {
                        let answer = ToPilot::Beat { number };
                        let _ = self.within(left, frames::write(&mut session.output, &answer));
                    }
                }
                message => return Some(message),
            }
        }
    }

    #[track_caller]
    fn next(&self, session: &mut Session) -> FromPilot {
        let next = self.next_within(session, HANG);
        next.expect("nothing was received")
    }

    /// Waits for a report with the progress `done`. Reports with less progress are skipped.
    #[track_caller]
    fn expect_progress(&self, session: &mut Session, run: RunId, done: f64) {
        loop {
            match self.next(session) {
                FromPilot::Progress {
                    run: found,
                    done: sum,
                    ..
                } if found == run && sum < done => {}
                message => {
                    let FromPilot::Progress {
                        run: found,
                        done: sum,
                        ..
                    } = message
                    else {
                        panic!("no progress: {message:?}");
                    };
                    assert_eq!((found, sum), (run, done));
                    return;
                }
            }
        }
    }

    /// Checks that the pilot sends nothing but beats for a while.
    #[track_caller]
    fn expect_nothing(&self, session: &mut Session) {
        assert_eq!(self.next_within(session, QUIET), None);
    }

    fn launch(&self, run: RunId, script: &str) -> Order {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        Order::Launch(Box::new(self.launch_of(run, command)))
    }

    fn launch_of(&self, run: RunId, command: Vec<String>) -> Launch {
        let work = self.folder.path().to_str().unwrap().to_owned();
        Launch {
            run,
            task: "resnet".to_owned(),
            rank: 1,
            nodes: vec!["n0".to_owned(), "n1".to_owned()],
            class: Some("a100".to_owned()),
            port: 29500,
            command,
            environment: BTreeMap::from([("WORK".to_owned(), work)]),
            done: 1000.0,
            trial: None,
        }
    }

    /// Path of a file that tasks write.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn log(&self, generation: u32) -> String {
        let name = format!("resnet.{generation}.1.log");
        fs::read_to_string(self.state.log_path(&name)).unwrap_or_default()
    }
}

fn run_of(generation: u32) -> RunId {
    RunId {
        task: 3,
        generation,
    }
}

fn exited(run: RunId, code: Option<i32>) -> FromPilot {
    FromPilot::Exited { run, code }
}

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < HANG, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    // A zombie, which was killed but not reaped yet, no longer runs any code.
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_rank_has_the_environment_of_its_run() {
    let fixture = Fixture::new();
    let pilot = fixture.pilot_with(&[("SLURM_GPUS_ON_NODE", "4"), ("OWN", "inherited")]);
    let mut session = fixture.accept();
    assert_eq!((session.link.session, session.ends), (1, None));
    let script = "env > $WORK/environment; pwd > $WORK/directory; ulimit -c > /dev/null\n\
                  $GLEANER_HOSTS > $WORK/hosts; echo out; echo err >&2; exit 3";
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, script));
    assert_eq!(fixture.next(&mut session), exited(run, Some(3)));
    let environment = fixture.lines("environment");
    let checkpoint = fixture.state.path().join("tasks/resnet");
    for expected in [
        "GLEANER_TASK=resnet",
        "GLEANER_NODES=n0,n1",
        "GLEANER_NODE_RANK=1",
        "GLEANER_NODE_COUNT=2",
        "GLEANER_MASTER=n0",
        "GLEANER_PORT=29500",
        "GLEANER_CLASS=a100",
        &format!("GLEANER_CHECKPOINT={}", checkpoint.display()),
        "OWN=inherited",
    ] {
        assert!(
            environment.iter().any(|line| line == expected),
            "{expected}\n{environment:?}"
        );
    }
    assert_eq!(fixture.lines("directory"), [checkpoint.to_str().unwrap()]);
    assert_eq!(fixture.lines("hosts"), ["n0:4", "n1:4"]);
    assert_eq!(fixture.log(1).lines().collect::<Vec<_>>().len(), 2);
    drop(pilot);
}

#[test]
fn a_trial_learns_what_to_train_and_reports_its_loss() {
    let fixture = Fixture::new();
    let _pilot = fixture.pilot();
    let mut session = fixture.accept();
    let script = "env > $WORK/environment; echo 'gleaner-progress {\"done\": 1100, \"loss\": 0.5}'\n\
                  perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => $ENV{GLEANER_PROGRESS}) or die; \
                  $s->autoflush; print $s qq({\"ask\": true}\\n); print scalar <$s>' > $WORK/answer";
    let run = run_of(1);
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let trial = Trial {
        of: "resnet".to_owned(),
        number: 3,
        rung: 1,
        resource: 9.0,
        parameters: [("depth".to_owned(), Value::Whole(4))].into(),
        done: 1000.0,
    };
    let launch = Launch {
        task: trial.task(),
        trial: Some(trial),
        ..fixture.launch_of(run, command)
    };
    fixture.order(&mut session, Order::Launch(Box::new(launch)));
    let loss = Some(Loss::Finite(0.5));
    let done = 1100.0;
    assert_eq!(
        fixture.next(&mut session),
        FromPilot::Progress { run, done, loss }
    );
    assert_eq!(fixture.next(&mut session), exited(run, Some(0)));
    let answer = r#"{"trial":3,"rung":1,"resource":9.0,"parameters":{"depth":4}}"#;
    assert_eq!(fixture.lines("answer"), [answer]);
    let environment = fixture.lines("environment");
    // All rungs of a trial share the directory of its checkpoints.
    let checkpoint = fixture.state.path().join("tasks/resnet/3");
    for expected in [
        "GLEANER_TASK=resnet#3.1",
        "GLEANER_TRIAL=3",
        "GLEANER_RUNG=1",
        "GLEANER_RESOURCE=9",
        "GLEANER_PARAMETERS={\"depth\":4}",
        &format!("GLEANER_CHECKPOINT={}", checkpoint.display()),
    ] {
        assert!(
            environment.iter().any(|line| line == expected),
            "{expected}\n{environment:?}"
        );
    }
}

#[test]
fn a_run_is_started_once_and_reported_until_it_is_forgotten() {
    let mut fixture = Fixture::new();
    let _pilot = fixture.pilot();
    let mut session = fixture.accept();
    let (one, two) = (run_of(1), run_of(2));
    let script = "echo x >> $WORK/started; exit 5";
    fixture.order(&mut session, fixture.launch(one, script));
    fixture.order(&mut session, fixture.launch(two, "exec sleep 600"));
    assert_eq!(fixture.next(&mut session), exited(one, Some(5)));
    fixture.order(&mut session, fixture.launch(one, script));
    assert_eq!(fixture.next(&mut session), exited(one, Some(5)));
    // The daemon is killed and restarts at another address.
    drop(session);
    fixture.relocate();
    let mut session = fixture.accept();
    assert_eq!(session.link.session, 2);
    let state = RankState::Exited { code: Some(5) };
    let running = RankState::Running;
    assert_eq!(
        session.ranks,
        [
            RankReport { run: one, state },
            RankReport {
                run: two,
                state: running
            }
        ]
    );
    // The pilot keeps reporting the end until the daemon has recorded it.
    assert_eq!(fixture.next(&mut session), exited(one, Some(5)));
    fixture.order(&mut session, Order::Forget { run: one });
    fixture.order(&mut session, Order::Forget { run: two });
    // Neither a forgotten run nor an unknown run that was stopped is started.
    fixture.order(&mut session, fixture.launch(one, script));
    let three = run_of(3);
    fixture.order(
        &mut session,
        Order::Stop {
            run: three,
            kill: false,
        },
    );
    loop {
        let message = fixture.next(&mut session);
        if message == exited(three, None) {
            break;
        }
        assert_eq!(message, exited(one, Some(5)));
    }
    fixture.order(&mut session, fixture.launch(three, script));
    assert_eq!(fixture.next(&mut session), exited(three, None));
    fixture.order(
        &mut session,
        Order::Stop {
            run: two,
            kill: true,
        },
    );
    while fixture.next(&mut session) != exited(two, None) {}
    assert_eq!(fixture.lines("started"), ["x"]);
}

#[test]
fn what_cannot_be_started_is_reported_and_logged() {
    let fixture = Fixture::new();
    let _pilot = fixture.pilot();
    let mut session = fixture.accept();
    let program = vec!["/nowhere/train".to_owned()];
    let launches = [
        fixture.launch_of(run_of(1), program),
        fixture.launch_of(run_of(2), Vec::new()),
        Launch {
            task: "../../etc".to_owned(),
            ..fixture.launch_of(run_of(3), vec!["true".to_owned()])
        },
        Launch {
            nodes: vec!["$(id)".to_owned()],
            ..fixture.launch_of(run_of(4), vec!["true".to_owned()])
        },
    ];
    for launch in launches {
        let run = launch.run;
        fixture.order(&mut session, Order::Launch(Box::new(launch)));
        let FromPilot::Exited { run: found, code } = fixture.next(&mut session) else {
            panic!("expected the end of a rank");
        };
        assert_eq!(found, run);
        // In a control group, a shell starts the program, and exits with code 127 if the start fails.
        assert!(code.is_none_or(|code| code == 127), "{code:?}");
        fixture.order(&mut session, Order::Forget { run });
    }
    assert!(
        fixture.log(1).contains("/nowhere/train"),
        "{}",
        fixture.log(1)
    );
    assert!(fixture.log(4).contains("$(id)"), "{}", fixture.log(4));
}

#[test]
fn a_stop_reaches_the_whole_group_and_kills_the_whole_tree() {
    let fixture = Fixture::new();
    let _pilot = fixture.pilot();
    let mut session = fixture.accept();
    // The first task ends by itself after SIGTERM. Its child process also receives SIGTERM. Each of the two receives
    // the signal only once.
    let polite = "trap 'echo parent >> $WORK/signals; sleep 0.3; exit 9' TERM\n\
                  sh -c 'trap \"echo child >> $WORK/signals; exit\" TERM; while :; do sleep 0.02; done' &\n\
                  echo > $WORK/ready; while :; do sleep 0.02; done";
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, polite));
    wait_until("the task runs", || fixture.file("ready").exists());
    for _ in 0..3 {
        fixture.order(&mut session, Order::Stop { run, kill: false });
    }
    assert_eq!(fixture.next(&mut session), exited(run, Some(9)));
    let mut signals = fixture.lines("signals");
    signals.sort();
    assert_eq!(signals, ["child", "parent"]);
    fixture.order(&mut session, Order::Forget { run });
    // The second task ignores SIGTERM, and one of its processes runs in a separate session.
    let stubborn = "trap '' TERM; echo $$ > $WORK/pids\n\
                    setsid sh -c 'trap \"\" TERM; echo $$ >> $WORK/pids; while :; do sleep 0.02; done' &\n\
                    while :; do sleep 0.02; done";
    let run = run_of(2);
    fixture.order(&mut session, fixture.launch(run, stubborn));
    wait_until("both processes run", || fixture.lines("pids").len() == 2);
    fixture.order(&mut session, Order::Stop { run, kill: false });
    fixture.expect_nothing(&mut session);
    // The rank is killed after the grace period of one second.
    assert_eq!(fixture.next(&mut session), exited(run, None));
    for pid in fixture.lines("pids") {
        assert!(!is_running(&pid), "{pid}");
    }
    assert!(
        fixture.log(2).contains("grace period"),
        "{}",
        fixture.log(2)
    );
}

#[test]
fn a_signal_ends_the_pilot_after_its_ranks() {
    let fixture = Fixture::new();
    let mut pilot = fixture.pilot();
    let mut session = fixture.accept();
    let script = "trap 'echo saved > $WORK/checkpoint; exit 0' TERM; echo > $WORK/ready\n\
                  while :; do sleep 0.02; done";
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, script));
    wait_until("the task runs", || fixture.file("ready").exists());
    pilot.signal(Signal::TERM);
    assert_eq!(fixture.next(&mut session), FromPilot::Leaving);
    assert_eq!(fixture.next(&mut session), exited(run, Some(0)));
    assert_eq!(fixture.lines("checkpoint"), ["saved"]);
    // No more ranks are started, and the pilot ends once the end of its rank has been recorded.
    fixture.order(&mut session, fixture.launch(run_of(2), script));
    assert_eq!(fixture.next(&mut session), exited(run_of(2), None));
    for generation in [1, 2] {
        let run = run_of(generation);
        fixture.order(&mut session, Order::Forget { run });
    }
    assert_eq!(pilot.wait(), Some(0));
    assert_eq!(fixture.next(&mut session), FromPilot::Bye);
    assert_eq!(fixture.next_within(&mut session, QUIET), None);
}

#[test]
fn a_dismissed_pilot_ends() {
    let fixture = Fixture::new();
    let mut pilot = fixture.pilot();
    let mut session = fixture.accept();
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, "exec sleep 600"));
    fixture.order(&mut session, Order::Dismiss);
    assert_eq!(fixture.next(&mut session), exited(run, None));
    // The pilot ends although the daemon does not order it to forget the run.
    assert_eq!(pilot.wait(), Some(0));
}

#[test]
fn without_answers_the_lease_ends_and_so_do_the_ranks() {
    let mut fixture = Fixture::new();
    fixture.terms = (3, 1, 1);
    fixture.is_answering = false;
    let mut pilot = fixture.pilot();
    let mut session = fixture.accept();
    let begun = Instant::now();
    let script = "trap '' TERM; echo $$ > $WORK/pids; while :; do sleep 0.02; done";
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, script));
    assert_eq!(fixture.next(&mut session), FromPilot::Leaving);
    // The pilot may close the connection before its rank has ended.
    let last = fixture.next_within(&mut session, HANG);
    assert!(last.is_none_or(|last| last == exited(run, None)));
    // The daemon answered only the greeting, so the lease began when the greeting was sent, shortly before `begun`.
    assert!(
        begun.elapsed() > Duration::from_millis(2500),
        "{:?}",
        begun.elapsed()
    );
    assert!(!is_running(&fixture.lines("pids")[0]));
    assert_eq!(pilot.wait(), Some(1));
}

#[test]
fn answered_beats_extend_the_lease() {
    let mut fixture = Fixture::new();
    fixture.terms = (3, 1, 1);
    let mut pilot = fixture.pilot();
    let mut session = fixture.accept();
    let end = Instant::now() + Duration::from_millis(3500);
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        assert_eq!(fixture.next_within(&mut session, left), None);
    }
    assert!(pilot.0.try_wait().unwrap().is_none());
}

#[test]
fn the_wall_time_ends_the_pilot() {
    let fixture = Fixture::new();
    let mut pilot = fixture.pilot_with(&[("HARVEST_TEST_WALL", "2")]);
    let mut session = fixture.accept();
    assert!(session.ends.is_some());
    assert_eq!(fixture.next(&mut session), FromPilot::Leaving);
    assert_eq!(pilot.wait(), Some(0));
}

#[test]
fn a_killed_pilot_leaves_no_processes() {
    let fixture = Fixture::new();
    let mut pilot = fixture.pilot();
    let mut session = fixture.accept();
    let script = "echo $$ > $WORK/pids; setsid sh -c 'echo $$ >> $WORK/pids; exec sleep 600' & exec sleep 600";
    fixture.order(&mut session, fixture.launch(run_of(1), script));
    wait_until("both processes run", || fixture.lines("pids").len() == 2);
    pilot.signal(Signal::KILL);
    pilot.wait();
    for pid in fixture.lines("pids") {
        wait_until("the process has ended", || !is_running(&pid));
    }
}

#[test]
fn progress_is_received_in_three_ways() {
    let fixture = Fixture::new();
    let _pilot = fixture.pilot();
    let mut session = fixture.accept();
    let reports = [
        "echo 'gleaner-progress {\"done\": 1001.5}'; echo 'gleaner-progress nonsense'",
        "perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => $ENV{GLEANER_PROGRESS}) or die; \
         print $s qq({\"done\": 1002, \"loss\": 0.5}\\n)'",
        "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Proto => \"udp\", PeerAddr => $ENV{GLEANER_UDP}) \
         or die; for $i (0, 1) { $s->send(\"id:$i time:1.5 rank_size:2 credit:32 jobname:$ENV{GLEANER_TASK}\") }'",
    ];
    for (generation, (report, done)) in (1..).zip(reports.iter().zip([1001.5, 1002.0, 1064.0])) {
        let run = run_of(generation);
        fixture.order(&mut session, fixture.launch(run, report));
        // The last report arrives before the end of the rank, although the task ends at once.
        fixture.expect_progress(&mut session, run, done);
        assert_eq!(fixture.next(&mut session), exited(run, Some(0)));
        fixture.order(&mut session, Order::Forget { run });
    }
    assert!(
        fixture.log(1).contains("ignored the report"),
        "{}",
        fixture.log(1)
    );
}

#[test]
fn progress_is_kept_while_there_is_no_daemon() {
    let mut fixture = Fixture::new();
    let _pilot = fixture.pilot();
    let mut session = fixture.accept();
    let script = "while [ ! -e $WORK/go ]; do sleep 0.02; done\n\
                  for i in 1 2 3 4 5; do echo \"gleaner-progress {\\\"done\\\": $i}\"; done; exit 4";
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, script));
    fixture.expect_nothing(&mut session);
    drop(session);
    fs::write(fixture.file("go"), "").unwrap();
    wait_until("the task has reported", || fixture.log(1).contains("5"));
    fixture.relocate();
    let mut session = fixture.accept();
    fixture.expect_progress(&mut session, run, 5.0);
    assert_eq!(fixture.next(&mut session), exited(run, Some(4)));
}

#[test]
fn a_run_that_rescales_sees_its_new_nodes() {
    let fixture = Fixture::new();
    let _pilot = fixture.pilot_with(&[("SLURM_CPUS_ON_NODE", "2")]);
    let mut session = fixture.accept();
    let script = "while ! $GLEANER_HOSTS | grep -q n5:2; do $GLEANER_HOSTS >> $WORK/hosts; sleep 0.02; done\n\
                  $GLEANER_HOSTS > $WORK/last";
    let run = run_of(1);
    fixture.order(&mut session, fixture.launch(run, script));
    wait_until("the task has seen its nodes", || {
        fixture.lines("hosts").len() >= 2
    });
    let nodes = vec!["n1".to_owned(), "n5".to_owned()];
    fixture.order(&mut session, Order::Nodes { run, nodes });
    assert_eq!(fixture.next(&mut session), exited(run, Some(0)));
    assert_eq!(fixture.lines("hosts")[..2], ["n0:2", "n1:2"]);
    assert_eq!(fixture.lines("last"), ["n1:2", "n5:2"]);
}

#[test]
fn a_daemon_that_does_not_welcome_is_tried_again() {
    let fixture = Fixture::new();
    let pilot = fixture.pilot();
    // The daemon closes the connection without an answer, as it does after a wrong secret.
    drop(fixture.greet());
    let session = fixture.accept();
    assert_eq!(session.link.session, 2);
    drop(pilot);
}

#[test]
fn a_state_directory_that_others_may_read_is_refused() {
    let fixture = Fixture::new();
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(fixture.state.path(), mode).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["pilot::tests::acts_as_a_pilot", "--exact", "--nocapture"])
        .env(STATE, fixture.state.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut pilot = PilotProcess(command.spawn().unwrap());
    assert_eq!(pilot.wait(), Some(3));
    let mut errors = String::new();
    let mut pipe = pilot.0.stderr.take().unwrap();
    pipe.read_to_string(&mut errors).unwrap();
    assert!(errors.contains("chmod 700"), "{errors}");
}
