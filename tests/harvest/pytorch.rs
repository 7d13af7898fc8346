//! Trains the model of docs/harvest/train.py on two nodes. One node is preempted, and the other fails. The tasks are
//! those of docs/HARVEST.md, with less work.

use std::collections::BTreeMap;
use std::fs;
use std::thread;

use gleaner_testing::{python_with_torch, workspace};

use crate::docs::blocks;
use crate::support::Harvest;

/// Number of samples on which each task trains.
const WORK: usize = 600 * BATCH;

/// Number of samples per step.
const BATCH: usize = 64;

/// Number of samples between two checkpoints.
const CHECKPOINT: usize = 20 * BATCH;

/// Number of steps that a test waits for after each change.
const FEW: usize = 5;

/// Largest relative difference between losses that rounding may cause. The order of additions, and thus the rounding,
/// depends on the number of processes.
const ROUNDING: f64 = 1e-3;

/// Names of the nodes. They are loopback addresses, so that the processes of a task can find each other by these names.
const NODES: [&str; 2] = ["127.0.0.1", "127.0.0.2"];

/// A line of the log that the script writes.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Process id of the first process.
    process: usize,
    /// Number of processes.
    processes: usize,
    /// First sample of the step.
    first: usize,
    /// The sample after the last sample of the step.
    last: usize,
    loss: f64,
}

/// A task that trains on two nodes.
struct Training {
    harvest: Harvest,
    task: &'static str,
}

impl Training {
    fn start(python: &str, task: &'static str) -> Self {
        let harvest = Harvest::with_config(|folder| {
            let rows = NODES.map(|node| format!("2026-01-01 00:00:00,{node},1\n"));
            let events = folder.join("nodes.csv");
            fs::write(&events, format!("time,node,state\n{}", rows.concat())).unwrap();
            format!(
                "backend = \"local\"\nmax_pilots = 2\nladder = [[60, 2]]\nretry = 1\npoll = 0.5\n\
                 [local]\nevents = {events:?}\n"
            )
        });
        // With this pause, a step takes a quarter of a second on one node, so that the training lasts long enough for
        // nodes to leave and join.
        fs::write(harvest.path("pause"), "0.004").unwrap();
        harvest.submit_text(&documented(&harvest, python, task));
        Training { harvest, task }
    }

    /// The complete lines of the script's log.
    fn steps(&self) -> Vec<Step> {
        let folder = self.harvest.state().join("tasks").join(self.task);
        let text = fs::read_to_string(folder.join("losses.csv")).unwrap_or_default();
        let lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        lines.map(Step::read).collect()
    }

    /// Waits for a few consecutive steps with this number of processes.
    fn await_processes(&self, processes: usize) {
        let what = format!("step of {} with {processes} processes", self.task);
        self.harvest.wait(&what, |_| {
            let steps = self.steps();
            let last = steps.iter().rev().take(FEW);
            last.filter(|step| step.processes == processes).count() == FEW
        });
    }

    fn generation(&self) -> u64 {
        self.harvest
            .task_field(self.task, "generation")
            .as_u64()
            .unwrap()
    }

    /// The first node of the task, according to the environment of its processes.
    fn first_node(&self) -> String {
        let folder = self.harvest.state().join("tasks").join(self.task);
        let mark = format!("GLEANER_CHECKPOINT={}", folder.display());
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment);
            if environment.split('\0').any(|variable| variable == mark) {
                let mut variables = environment.split('\0');
                let nodes = variables.find_map(|variable| variable.strip_prefix("GLEANER_NODES="));
                return nodes.unwrap().split(',').next().unwrap().to_owned();
            }
        }
        panic!("{} has no process", self.task);
    }

    /// Sends a signal to the pilot of a node. No other pilot replaces it until [`Training::give_back`].
    fn take(&self, node: &str, signal: &str) {
        self.harvest.text(&["drain"]);
        self.harvest.signal_pilot(node, signal);
    }

    fn give_back(&self) {
        self.harvest.text(&["drain", "--off"]);
    }
}

impl Step {
    fn read(line: &str) -> Self {
        let cells: Vec<&str> = line.trim().split(',').collect();
        let number = |place: usize| cells[place].parse().unwrap();
        Step {
            process: number(0),
            processes: number(1),
            first: number(2),
            last: number(3),
            loss: cells[4].parse().unwrap(),
        }
    }
}

/// A task of the example in docs/HARVEST.md, with other paths and numbers. Whenever the task starts, it reads the pause
/// from a file.
fn documented(harvest: &Harvest, python: &str, task: &str) -> String {
    let blocks = blocks("toml");
    let mut tasks = blocks.iter().flat_map(|block| block.split("\n\n"));
    let found = tasks.find(|text| text.contains(&format!("name = \"{task}\"")));
    let script = workspace().join("docs/harvest/train.py");
    let (script, pause) = (script.display(), harvest.path("pause"));
    let script = format!(
        "{script} --samples {WORK} --pause $(cat {})",
        pause.display()
    );
    let restart = format!(r#""sh", "-c", "exec {python} {script}""#);
    // PyTorch 1.13 with Python 3.11, as in Debian 12, cannot parse the default values of the first two options.
    let options = format!(
        "--redirects=1 --tee=1 --log_dir={}",
        harvest.path("agents").display()
    );
    let agent = format!("exec {python} -m torch.distributed.run {options}");
    let work = format!("work = {WORK}");
    let changes = [
        (
            r#""python3", "/home/me/train.py", "--samples", "1e6""#,
            restart.as_str(),
        ),
        ("/home/me/train.py --samples 1e6", &script),
        ("exec torchrun", &agent),
        ("nnodes=1:8", "nnodes=1:2"),
        ("max_nodes = 8", "max_nodes = 2"),
        ("rescale_up = 20", "rescale_up = 1"),
        ("rescale_down = 20", "rescale_down = 1"),
        ("work = 1e6", &work),
    ];
    let text = changes
        .iter()
        .fold(found.unwrap().to_owned(), |text, (page, test)| {
            text.replace(page, test)
        });
    format!("{text}\nenvironment = {{ OMP_NUM_THREADS = \"1\", GLOO_SOCKET_IFNAME = \"lo\" }}\n")
}

/// Trains a task while nodes leave and join, and returns its steps.
fn train(python: &str, task: &'static str, is_elastic: bool) -> Vec<Step> {
    let training = Training::start(python, task);
    training.await_processes(2);
    let begin = training.generation();
    let first = training.first_node();
    let other = NODES.iter().find(|node| **node != first).unwrap();
    training.take(other, "-TERM");
    training.await_processes(1);
    training.give_back();
    training.await_processes(2);
    let generation = training.generation();
    assert_eq!(generation == begin, is_elastic, "{generation}");
    // An elastic run ends if its first node fails, because its agents coordinate through this node.
    fs::write(training.harvest.path("pause"), "0").unwrap();
    training.take(&training.first_node(), "-KILL");
    training.harvest.await_state(task, "finished");
    assert_eq!(training.generation(), generation + 1);
    assert_eq!(training.harvest.task_field(task, "done"), WORK as f64);
    training.steps()
}

/// Checks that the steps lead from the first sample to the last. Steps may be repeated only after the failure of a
/// node, and only those after the last checkpoint.
fn check(steps: &[Step]) {
    assert_eq!((steps[0].first, steps.last().unwrap().last), (0, WORK));
    let mut repetitions = 0;
    for pair in steps.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        assert_eq!(after.last - after.first, BATCH);
        if before.process == after.process {
            assert_eq!(
                (after.first, after.processes),
                (before.last, before.processes)
            );
        } else {
            // A node can fail after a step and before the checkpoint that follows the step.
            let checkpoint = (before.last - 1) / CHECKPOINT * CHECKPOINT;
            let possible = checkpoint..=before.last;
            assert!(possible.contains(&after.first), "{before:?} {after:?}");
            repetitions += usize::from(after.first < before.last);
        }
    }
    assert!(repetitions <= 1, "{repetitions}");
    let mut sizes: Vec<usize> = steps.iter().map(|step| step.processes).collect();
    sizes.dedup();
    assert!(sizes.ends_with(&[2, 1, 2, 1]), "{sizes:?}");
    let (begin, end) = (steps[0].loss, steps.last().unwrap().loss);
    assert!(end < begin / 10.0, "{begin} {end}");
}

#[test]
fn a_model_is_trained_on_nodes_that_come_and_go() {
    let Some(python) = python_with_torch() else {
        return;
    };
    let [restarted, elastic] = thread::scope(|scope| {
        let tasks = [("restarted", false), ("elastic", true)];
        let threads = tasks.map(|(task, is_elastic)| {
            let python = &python;
            scope.spawn(move || train(python, task, is_elastic))
        });
        threads.map(|thread| thread.join().unwrap())
    });
    check(&restarted);
    check(&elastic);
    // The result depends neither on restarts nor on the number of nodes. Both tasks must therefore have the same loss
    // in each step, and a repeated step must have its earlier loss again.
    let mut losses = BTreeMap::new();
    for step in restarted.iter().chain(&elastic) {
        let earlier = *losses.entry(step.first).or_insert(step.loss);
        let difference = (step.loss - earlier).abs();
        assert!(difference <= ROUNDING * earlier, "{step:?} {earlier}");
    }
    assert_eq!(losses.len(), WORK / BATCH);
}
