//! Kills the daemon, pilots, tasks and Slurm's controller at random moments, and checks that no submitted task and no
//! checkpoint is lost.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::proxy::Proxy;
use super::site::Site;
use super::worklog::{self, Expected};

/// An event of a run: a disturbance or a submission. The order of the events depends on the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// The daemon is killed and restarted.
    Daemon,
    /// A pilot is killed.
    Pilot,
    /// A process of a task is killed.
    Task,
    /// Slurm's controller is killed and restarted.
    Controller,
    /// The network between the daemon and everything else is cut for a while.
    Network,
    /// A normal job takes a node.
    Job,
    /// A task is submitted, and the daemon is killed as soon as it has acknowledged the task.
    Submission,
}

/// Events of a run, before they are shuffled. After the last event, [`Run::kill_all`] kills a pilot, a process of a
/// task, the controller and the daemon in quick succession.
const EVENTS: [Event; 9] = [
    Event::Daemon,
    Event::Pilot,
    Event::Pilot,
    Event::Task,
    Event::Controller,
    Event::Network,
    Event::Job,
    Event::Job,
    Event::Submission,
];

/// Tasks of a run. The last task is submitted by [`Event::Submission`]; the others are submitted before the first
/// event.
const TASKS: [Expected; 4] = [
    Expected {
        name: "one",
        min_nodes: 1,
        max_nodes: 2,
        work: 2000,
    },
    Expected {
        name: "two",
        min_nodes: 1,
        max_nodes: 3,
        work: 3000,
    },
    Expected {
        name: "three",
        min_nodes: 2,
        max_nodes: 4,
        work: 2000,
    },
    Expected {
        name: "four",
        min_nodes: 1,
        max_nodes: 4,
        work: 1200,
    },
];

/// Random numbers that depend only on the seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    /// A random time between `least` and `most` seconds.
    fn seconds(&mut self, least: f64, most: f64) -> Duration {
        let part = self.below(1001) as f64 / 1000.0;
        Duration::from_secs_f64(least + (most - least) * part)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// A run during which processes are killed and the network is cut.
struct Run {
    site: Site,
    proxy: Proxy,
    random: Random,
    begin: Instant,
}

impl Run {
    fn say(&self, text: &str) {
        println!("{:5.1} s: {text}", self.begin.elapsed().as_secs_f64());
    }

    fn happen(&mut self, event: Event) {
        self.say(&format!("{event:?}"));
        match event {
            Event::Daemon => self.restart_daemon(),
            Event::Pilot => self
                .kill_one(|words| words[0].ends_with("/gleaner") && words.get(2) == Some(&"pilot")),
            Event::Task => self.kill_one(|words| {
                words
                    .get(1)
                    .is_some_and(|script| script.ends_with("worker.sh"))
            }),
            Event::Controller => {
                self.site.cluster.kill_controller();
                sleep(self.random.seconds(1.0, 4.0));
                self.site.cluster.start_daemon("slurmctld");
            }
            Event::Network => {
                let during = self.random.seconds(5.0, 8.0);
                self.proxy.cut(during);
            }
            Event::Job => {
                let options = "--partition=normal --exclusive --output=/dev/null";
                let job = self.site.cluster.submit(options, "sleep 4");
                // A controller that is killed before it has saved this job forgets it. It can then reuse the job's id
                // for a pilot, and drain a node to which both jobs were assigned.
                self.site.cluster.wait_until_saved(&job);
            }
            Event::Submission => {
                self.site.submit(&TASKS[3..]).unwrap();
                self.restart_daemon();
            }
        }
    }

    fn restart_daemon(&mut self) {
        self.site.kill_daemon();
        sleep(self.random.seconds(0.0, 3.0));
        self.site.serve();
    }

    /// Kills a pilot, a process of a task, the controller and the daemon in quick succession. While the controller and
    /// the daemon are down, the network is cut for a while. Then both are restarted.
    fn kill_all(&mut self) {
        self.happen(Event::Pilot);
        self.happen(Event::Task);
        // A job step that ends while no controller is running keeps its node for another minute. During this pause, the
        // steps of the killed processes end.
        sleep(Duration::from_secs(1));
        self.site.cluster.kill_controller();
        self.site.kill_daemon();
        self.happen(Event::Network);
        self.site.serve();
        self.site.cluster.start_daemon("slurmctld");
        self.say("the daemon and the controller run again");
    }

    /// Sends SIGKILL to a random process whose arguments satisfy `is_wanted`.
    fn kill_one(&mut self, is_wanted: impl Fn(&[&str]) -> bool) {
        let found = self.site.processes(is_wanted);
        if found.is_empty() {
            self.say("nothing to kill");
            return;
        }
        let (pid, line) = &found[self.random.below(found.len())];
        self.say(&format!("kill {pid}: {line}"));
        self.site.cluster.run(&format!("kill -9 {pid}"));
    }

    /// Waits until tasks use the nodes of all pilots, and each active task runs on as many nodes as the daemon has
    /// decided. Also returns if all tasks have finished.
    fn settle(&self) {
        self.site.wait("use of all nodes", |site| {
            let status = site.status();
            let is_running = self.end_drain(&status);
            let nodes = status["nodes"].as_array().unwrap().len() as u64;
            let jobs = self.site.pilots("RUNNING").len() as u64;
            let tasks = status["tasks"].as_array().unwrap();
            let active = || tasks.iter().filter(|task| task["state"] == "active");
            let running = active().map(|task| task["running"].as_u64().unwrap());
            let is_over = tasks.iter().all(|task| task["state"] == "finished");
            let is_used = nodes > 0 && jobs == nodes && running.sum::<u64>() == nodes;
            let is_decided = active().all(|task| task["running"] == task["nodes"]);
            is_running && (is_over || is_used && is_decided)
        });
    }

    /// Does an operator's work while the daemon is draining: resumes the nodes that Slurm has drained, and ends the
    /// daemon's drain once no node is drained. Slurm can drain a node if the killed controller forgot a job and then
    /// reused the job's id. Returns `false` as long as the daemon is draining.
    fn end_drain(&self, status: &Value) -> bool {
        if status["mode"] != "draining" {
            return true;
        }
        let cluster = &self.site.cluster;
        let drained = cluster.run("sinfo --noheader --Node --states=drain --format=%N,%E");
        for line in drained.lines() {
            self.say(&format!("drained: {line}"));
            let (node, reason) = line.split_once(',').unwrap();
            assert!(["Duplicate jobid", "test"].contains(&reason), "{drained}");
            // As long as the node does not answer, the update fails. The next call then repeats it.
            let update = format!("update nodename={node} state=RESUME reason=test");
            let _ = cluster.command("scontrol").args(update.split(' ')).output();
        }
        if drained.is_empty() {
            self.site.text(&["drain", "--off"]);
        }
        drained.is_empty()
    }

    fn await_tasks(&self) {
        self.site.wait("end of the tasks", |site| {
            let status = site.status();
            self.end_drain(&status) && Site::are_over(&status)
        });
        self.say("all tasks have ended");
        self.site.check_finished(TASKS.len());
    }
}

#[test]
fn kills_on_slurm() {
    let Some(site) = Site::start() else {
        return;
    };
    let seed = std::env::var("GLEANER_KILLS_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("seed {seed} (GLEANER_KILLS_SEED)");
    let mut run = Run {
        proxy: Proxy::start(site.state().join("address")),
        site,
        random: Random(seed * 2 + 1),
        begin: Instant::now(),
    };
    run.site.serve();
    run.site.submit(&TASKS[..3]).unwrap();
    run.settle();
    run.say("all nodes are used");
    let mut events = EVENTS;
    run.random.shuffle(&mut events);
    for event in events {
        sleep(run.random.seconds(0.5, 4.0));
        run.end_drain(&run.site.status());
        run.happen(event);
    }
    run.kill_all();
    let end = Instant::now();
    run.settle();
    println!("settled after {:.1} s", end.elapsed().as_secs_f64());
    run.await_tasks();
    run.site.stop();
    run.say("stopped");
    let summary = worklog::check(&run.site.worklog(), &TASKS);
    println!(
        "{} runs; {} of {} units of work were repeated",
        summary.runs, summary.lost, summary.work
    );
}
