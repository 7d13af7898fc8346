//! Tests that the journal, the core and the memory use of the process do not grow while a task trains for days.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_harvest::core::{
    Capture, Command, Core, Curve, Entry, Event, Hello, LaunchStyle, Link, Millis, Order, PilotId,
    RunId, Settings, Submission,
};
use gleaner_harvest::daemon;
use gleaner_harvest::journal::{Journal, MOST_ENTRIES};
use gleaner_replay::SolverDecider;
use gleaner_solvers::Limits;

const DAY_MS: Millis = 86_400_000;

fn settings() -> Settings {
    Settings {
        t_fwd_s: 120.0,
        max_tasks: 10,
        max_nodes: 16,
        max_pilots: 1,
        ladder: Vec::new(),
        node_hours_per_day: None,
        grace_s: 20.0,
        silence_s: 15.0,
        lease_s: 60.0,
        retry_s: 1.0,
        max_failures: 3,
        lead_s: 0.0,
        classes: Vec::new(),
    }
}

fn task() -> Submission {
    let progress = vec![0.0, 800.0];
    Submission {
        name: "resnet50".to_owned(),
        min_nodes: 1,
        max_nodes: 1,
        rescale_up: 20.0,
        rescale_down: 10.0,
        work: None,
        priority: 1.0,
        deadline: None,
        curve: Curve {
            nodes: vec![0, 1],
            objective: progress.clone(),
            progress,
        },
        classes: Default::default(),
        command: vec!["train".to_owned()],
        launch: LaunchStyle::Restart,
        environment: BTreeMap::new(),
        trial: None,
    }
}

/// A daemon without connections to pilots or clients.
struct Daemon {
    core: Core,
    journal: Journal,
    decider: SolverDecider,
    entries: Vec<Entry>,
    /// Total length of the JSON of all entries so far, in bytes.
    bytes: usize,
}

impl Daemon {
    fn handle(&mut self, time: Millis, event: Event) -> Vec<Command> {
        let mut capture = Capture::of(&mut self.decider);
        let commands = self.core.handle(time, &event, &mut capture).unwrap();
        let decision = capture.kept;
        let entry = Entry {
            time,
            event,
            decision,
        };
        self.bytes += serde_json::to_vec(&entry).unwrap().len();
        self.entries.push(entry);
        // A real daemon writes each batch of events immediately. This test writes larger batches, which is faster.
        if self.entries.len() >= 50 {
            self.append();
        }
        commands
    }

    fn append(&mut self) {
        let (entries, recorded) = (std::mem::take(&mut self.entries), self.core.take_recorded());
        let snapshot = || self.core.snapshot();
        self.journal.append(&entries, &recorded, snapshot).unwrap();
    }

    /// Starts the task on a node. Returns the task's run.
    fn start(&mut self) -> RunId {
        let submit = Event::Submit {
            id: "1".to_owned(),
            tasks: vec![task()],
            search: None,
            groups: Vec::new(),
        };
        self.handle(0, submit);
        self.handle(0, Event::Request { wall_s: 1_000_000 });
        let link = Link {
            pilot: PilotId(1),
            session: 1,
        };
        self.handle(
            0,
            Event::Hello(Hello {
                link,
                node: "n1".to_owned(),
                class: None,
                ends: None,
                ranks: Vec::new(),
                leaving: false,
            }),
        );
        let commands = self.handle(1000, Event::Decide);
        let launched = commands.into_iter().find_map(|command| match command {
            Command::Order {
                order: Order::Launch(launch),
                ..
            } => Some(launch.run),
            _ => None,
        });
        launched.unwrap()
    }

    /// Makes the task report its progress for a day. Its speed changes by up to 3.5 % from report to report.
    fn train(&mut self, run: RunId, day: i64) {
        for step in 1..=DAY_MS / 5000 {
            let time = day * DAY_MS + step * 5000;
            let wave = ((time / 5000) % 7) as f64;
            let done = 0.8 * time as f64 + 20.0 * wave + 0.123_456_7;
            let loss = None;
            self.handle(time, Event::Progress { run, done, loss });
            for event in self.core.due(&Default::default(), time) {
                if event == Event::Decide {
                    self.handle(time, event);
                }
            }
        }
        self.append();
    }
}

/// Resident memory of this process, in bytes. `None` on systems without `/proc`.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

#[test]
fn the_journal_and_the_core_do_not_grow_with_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.redb");
    let mut daemon = Daemon {
        core: Core::new(settings(), 0).unwrap(),
        journal: Journal::open(&path, &settings(), 0).unwrap(),
        decider: daemon::exact(&settings(), Limits::default()).unwrap(),
        entries: Vec::new(),
        bytes: 0,
    };
    let run = daemon.start();
    let (mut sizes, mut memory) = (Vec::new(), Vec::new());
    for day in 0..3 {
        let before = daemon.bytes;
        daemon.train(run, day);
        let (state, events) = (daemon.core.snapshot().unwrap().len(), daemon.bytes - before);
        println!(
            "day {day}: {events} bytes of events, the file has {}, {} entries, the core {state}",
            length(&path),
            daemon.journal.len()
        );
        assert!(daemon.journal.len() < MOST_ENTRIES);
        sizes.push((length(&path), state));
        println!("resident memory: {:?} bytes", resident());
        memory.extend(resident());
    }
    let [(first, small), .., (last, large)] = sizes[..] else {
        panic!("there are three days");
    };
    assert!(last <= first + 256 * 1024, "{first} to {last} bytes");
    assert!(large <= small + 100, "{small} to {large} bytes");
    if let [first, .., last] = memory[..] {
        assert!(last <= first + (1 << 20), "{first} to {last} bytes");
    }
    let restored = Core::restore(&daemon.core.snapshot().unwrap()).unwrap();
    assert_eq!(restored.status(0), daemon.core.status(0));
}
