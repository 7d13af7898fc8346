//! Tests that the daemon does not answer programs that lack the secret or send malformed messages, and starts nothing
//! for them.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gleaner_domain::error::Result;
use gleaner_harvest::client::Client;
use gleaner_harvest::config::Config;
use gleaner_harvest::core::{Curve, LaunchStyle, SearchSubmission, Submission};
use gleaner_harvest::daemon::{self, Log};
use gleaner_harvest::frames::LONGEST_GREETING;
use gleaner_harvest::state_dir::StateDir;
use gleaner_harvest::tls::Destination;
use gleaner_harvest::wire::{Greeting, LONGEST, Request, Response, Role, VERSION};
use gleaner_search::{Algorithm, Plan, Space};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

/// A daemon in a thread of this process. Without tasks, it starts no pilots.
struct Daemon {
    folder: TempDir,
    lines: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<Result<()>>,
}

impl Daemon {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("harvest.toml");
        std::fs::write(&file, "backend = \"local\"\n").unwrap();
        let config = Config::read(&file).unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log: Log = Arc::new(move |line: &str| kept.lock().unwrap().push(line.to_owned()));
        let state = folder.path().join("state");
        let thread = thread::spawn(move || daemon::serve(&config, &state, &log));
        let daemon = Daemon {
            folder,
            lines,
            thread,
        };
        daemon.wait(|daemon| daemon.state().join("address").exists());
        daemon
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn wait(&self, is_reached: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_reached(self) {
            assert!(Instant::now() < end, "{:?}", self.lines.lock().unwrap());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn request(&self, request: &Request) -> Result<Response> {
        Client::new(&self.state())?.request(request)
    }

    fn stop(self) -> Vec<String> {
        self.request(&Request::Stop { at_once: true }).unwrap();
        self.thread.join().unwrap().unwrap();
        self.lines.lock().unwrap().clone()
    }
}

/// Sends bytes after the TLS handshake, and returns the answer. The daemon must close the connection.
fn send(state: &Path, bytes: &[u8]) -> Vec<u8> {
    let state = StateDir::open(state).unwrap();
    Runtime::new().unwrap().block_on(async {
        let mut stream = Destination::read(&state).unwrap().connect().await.unwrap();
        // The daemon may close the connection before it has read everything.
        let _ = stream.write_all(bytes).await;
        let _ = stream.flush().await;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        let closed = tokio::time::timeout(Duration::from_secs(5), read).await;
        assert!(closed.is_ok(), "the connection is still open");
        answer
    })
}

/// A client's greeting with the secret of a state directory.
fn greeting(state: &Path, version: u32) -> Vec<u8> {
    let secret = StateDir::open(state).unwrap().secret().unwrap();
    let greeting = Greeting {
        version,
        secret: secret.text().to_owned(),
        role: Role::Client,
    };
    let mut line = serde_json::to_vec(&greeting).unwrap();
    line.push(b'\n');
    line
}

/// A state directory whose secret, certificate and address come from different daemons.
fn mixed(secret_of: &Daemon, certificate_of: &Daemon, address_of: &Daemon) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let sources = [
        ("secret", secret_of),
        ("cert.pem", certificate_of),
        ("address", address_of),
    ];
    for (name, daemon) in sources {
        std::fs::copy(daemon.state().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn a_wrong_secret_or_certificate_gives_no_answer() {
    let (daemon, other) = (Daemon::start(), Daemon::start());
    let stranger = mixed(&daemon, &other, &daemon);
    let client = Client::new(stranger.path()).unwrap();
    let error = client.request(&Request::Status).unwrap_err().to_string();
    assert!(error.contains("cannot connect"), "{error}");
    let stranger = mixed(&other, &daemon, &daemon);
    let hello = [
        greeting(stranger.path(), VERSION),
        b"{\"request\":\"status\"}\n".to_vec(),
    ];
    assert_eq!(send(stranger.path(), &hello.concat()), b"");
    let secret = StateDir::open(stranger.path()).unwrap().secret().unwrap();
    other.stop();
    let lines = daemon.stop();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("refused a connection from 127.0.0.1:"))
    );
    assert!(!lines.concat().contains(secret.text()));
}

#[test]
fn malformed_messages_close_the_connection() {
    let daemon = Daemon::start();
    let state = daemon.state();
    let hello = greeting(&state, VERSION);
    let after = |bytes: &[u8]| [hello.as_slice(), bytes].concat();
    let cases: [Vec<u8>; 10] = [
        b"\n".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"{}\n".to_vec(),
        [vec![b'['; 50_000], vec![b'\n']].concat(),
        vec![b'x'; LONGEST_GREETING + 1],
        greeting(&state, VERSION + 1),
        after(b"{\"request\":\"launch\"}\n"),
        after(b"{\"request\":\"submit\",\"id\":1,\"tasks\":[]}\n"),
        after(b"\xff\xfe\n"),
        after(&vec![b' '; LONGEST + 1]),
    ];
    for bytes in &cases {
        let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
        assert_eq!(send(&state, bytes), b"", "{begin}");
    }
    // If a connection does not use TLS, the daemon answers with at most a TLS alert.
    let address = std::fs::read_to_string(state.join("address")).unwrap();
    let mut plain = TcpStream::connect(address.trim()).unwrap();
    plain.write_all(&hello).unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(answer.len() < 16, "{answer:?}");
    let status = daemon.request(&Request::Status).unwrap();
    assert!(matches!(status, Response::Status(_)));
    let lines = daemon.stop();
    let refused = lines
        .iter()
        .filter(|line| line.starts_with("refused a connection"));
    // The log is limited to one such line every 5 seconds.
    assert!((1..5).contains(&refused.count()), "{lines:?}");
}

fn task(name: &str) -> Submission {
    Submission {
        name: name.to_owned(),
        min_nodes: 1,
        max_nodes: 1,
        rescale_up: 0.0,
        rescale_down: 0.0,
        work: None,
        priority: 1.0,
        deadline: None,
        curve: Curve {
            nodes: vec![0, 1],
            progress: vec![0.0, 1.0],
            objective: vec![0.0, 1.0],
        },
        command: vec!["true".to_owned()],
        launch: LaunchStyle::Restart,
        environment: Default::default(),
        classes: Default::default(),
        trial: None,
    }
}

#[test]
fn harmful_submissions_are_refused() {
    let daemon = Daemon::start();
    let mut nul = task("a");
    nul.command.push("\0".to_owned());
    let mut no_program = task("a");
    no_program.command.clear();
    let mut variable = task("a");
    variable
        .environment
        .insert("A;rm".to_owned(), "x".to_owned());
    let mut curve = task("a");
    curve.curve.nodes = vec![0];
    let mut bounds = task("a");
    (bounds.min_nodes, bounds.max_nodes) = (5, 2);
    let named = ["../../x", "a/b", "$(touch x)", "", ".", "a b", "a\nb"].map(task);
    for task in named
        .into_iter()
        .chain([nul, no_program, variable, curve, bounds])
    {
        let shown = format!("{task:?}");
        let id = "x".to_owned();
        let tasks = vec![task];
        let response = daemon
            .request(&Request::Submit {
                id,
                tasks,
                search: None,
                groups: Vec::new(),
            })
            .unwrap();
        assert!(
            matches!(response, Response::Refused { .. }),
            "{shown}: {response:?}"
        );
    }
    let search = |name: &str, task: Submission| SearchSubmission {
        name: name.to_owned(),
        plan: Plan {
            trials: Some(1),
            ..Plan::new(Algorithm::Random, 1.0)
        },
        seed: 0,
        space: Space::default(),
        tasks: vec![task],
    };
    let searches = [
        search("a/b", task("a")),
        search("a", task("../a")),
        // If the task has no `work`, the work of a rung is unknown.
        search("a", task("a")),
    ];
    for search in searches {
        let shown = format!("{search:?}");
        let submit = Request::Submit {
            id: "x".to_owned(),
            tasks: Vec::new(),
            search: Some(Box::new(search)),
            groups: Vec::new(),
        };
        let response = daemon.request(&submit).unwrap();
        assert!(
            matches!(response, Response::Refused { .. }),
            "{shown}: {response:?}"
        );
    }
    let Response::Status(status) = daemon.request(&Request::Status).unwrap() else {
        panic!("no status");
    };
    assert_eq!(status.tasks, []);
    daemon.stop();
}
