//! Tests the checker on small hand-made schedules. Valid schedules pass, and each broken schedule is rejected with the
//! violation that was introduced.

use super::*;
use gleaner_domain::results::schedule::{JobOutcome, JobRun, NodeLife, Samples, State};

/// Defines tests that break a valid schedule and expect the checker to report a violation of the given kind.
macro_rules! broken {
    ($($name:ident: $example:ident, $break:expr, $violation:pat $(if $guard:expr)?,)*) => {$(
        #[test]
        fn $name() {
            let mut example = $example();
            let spoil: fn(&mut Example) = $break;
            spoil(&mut example);
            assert!(rejected(&example, |v| matches!(v, $violation $(if $guard)?)));
        }
    )*};
}

mod accounts;
mod placements;
mod samples;

const GPUS_PER_NODE: u32 = 4;

fn job(id: &str, gpus: u32, submit: i64, duration: i64) -> Job {
    Job {
        id: id.into(),
        user: String::new(),
        vc: 0,
        name: String::new(),
        gpus,
        cpus: 0.0,
        state: String::new(),
        submit,
        duration,
        workload: None,
        usage: Default::default(),
    }
}

fn run(job: usize, from: i64, until: i64, placement: &[(u32, u64)]) -> JobRun {
    JobRun {
        job,
        from,
        until,
        placement: placement.to_vec(),
        speeds: vec![(from, 1.0)],
        last: true,
    }
}

fn outcome(start: i64, end: i64, queue: i64, nodes: &[(u32, u64)]) -> JobOutcome {
    JobOutcome {
        start,
        end,
        queue,
        checkpoints: 0,
        nodes: nodes.to_vec(),
        priority: None,
        remain: 0.0,
        speed: 1.0,
        exclusive: true,
        colocated: 0,
        delocated: 0,
    }
}

fn nodes(number: u32) -> Vec<NodeLife> {
    let node = |name| NodeLife {
        name,
        from: i64::MIN,
        until: i64::MAX,
    };
    (0..number).map(node).collect()
}

/// A sample of the state at second `first`, with the number of free GPUs out of eight, the number of running jobs, and
/// the number of GPUs of each waiting job.
fn sample(first: i64, idle_gpus: u64, running_jobs: u32, waiting: &[u64]) -> Samples {
    let state = State {
        total_gpus: 8,
        idle_gpus,
        pending_gpus: waiting.iter().sum(),
        running_jobs,
        pending_jobs: waiting.len() as u32,
        pending_small_jobs: waiting.len() as u32,
        nodes: 2,
        // In the example, no node has two jobs at a whole minute.
        single_nodes: running_jobs,
        ..State::default()
    };
    Samples {
        first,
        count: 1,
        state,
    }
}

struct Example {
    jobs: Vec<Job>,
    schedule: Schedule,
    nodes: u32,
    sharing: bool,
    split: bool,
    notice: i64,
    entries: Option<Vec<i64>>,
    queued: Option<Vec<i64>>,
}

impl Example {
    fn check(&self) -> Vec<Violation> {
        let jobs: Vec<&Job> = self.jobs.iter().collect();
        let terms = Terms {
            jobs: &jobs,
            gpus_per_node: GPUS_PER_NODE,
            nodes: self.nodes,
            start: 0,
            sharing: self.sharing,
            split: self.split,
            notice: self.notice,
            due: &|job| job.duration,
            overhead: &|_| 40,
            entries: self.entries.as_deref(),
            queued: self.queued.as_deref(),
        };
        check(&self.schedule, &terms)
    }
}

/// A valid schedule without sharing on two nodes. `b` is preempted in favour of `c`, and `d` needs both nodes.
fn exclusive() -> Example {
    let jobs = vec![
        job("a", 2, 5, 100),
        job("b", 4, 10, 50),
        job("c", 4, 35, 30),
        job("d", 6, 60, 20),
    ];
    let mut preempted = run(1, 10, 40, &[(1, 0b1111)]);
    preempted.last = false;
    let mut b = outcome(10, 130, 30, &[(1, 0b1111)]);
    b.checkpoints = 1;
    let both = [(0, 0b1111), (1, 0b0011)];
    let schedule = Schedule {
        jobs: vec![
            outcome(5, 105, 0, &[(0, 0b0011)]),
            b,
            outcome(40, 70, 5, &[(1, 0b1111)]),
            outcome(130, 150, 70, &both),
        ],
        runs: vec![
            run(0, 5, 105, &[(0, 0b0011)]),
            preempted,
            run(2, 40, 70, &[(1, 0b1111)]),
            run(1, 70, 130, &[(1, 0b1111)]),
            run(3, 130, 150, &both),
        ],
        nodes: nodes(2),
        samples: vec![
            sample(0, 8, 0, &[]),
            sample(60, 2, 2, &[4, 6]),
            sample(120, 4, 1, &[6]),
        ],
        busy_gpu_seconds: 2 * 100 + 4 * (30 + 30 + 60) + 6 * 20,
        ..Schedule::default()
    };
    Example {
        jobs,
        schedule,
        nodes: 2,
        sharing: false,
        split: false,
        notice: 0,
        entries: None,
        queued: None,
    }
}

/// A valid schedule with sharing on one node. `q` joins `p`, which ends first and leaves `q` at reduced speed. `r` runs
/// on other GPUs. A second node exists from second 50 to 100 and runs `s`.
fn shared() -> Example {
    let jobs = vec![
        job("p", 2, 0, 10),
        job("q", 2, 2, 10),
        job("r", 2, 4, 3),
        job("s", 4, 45, 9),
    ];
    let mut p = run(0, 0, 14, &[(0, 0b0011)]);
    p.speeds.push((2, 0.75));
    let mut q = run(1, 2, 23, &[(0, 0b0011)]);
    q.speeds = vec![(2, 0.5)];
    let mut nodes = nodes(2);
    nodes[1] = NodeLife {
        name: 9999,
        from: 50,
        until: 100,
    };
    let schedule = Schedule {
        jobs: vec![
            outcome(0, 14, 0, &[(0, 0b0011)]),
            outcome(2, 23, 0, &[(0, 0b0011)]),
            outcome(4, 8, 0, &[(0, 0b1100)]),
            outcome(50, 60, 5, &[(9999, 0b1111)]),
        ],
        runs: vec![
            p,
            q,
            run(2, 4, 8, &[(0, 0b1100)]),
            run(3, 50, 60, &[(1, 0b1111)]),
        ],
        nodes,
        busy_gpu_seconds: 2 * 23 + 2 * 4 + 4 * 10,
        ..Schedule::default()
    };
    Example {
        jobs,
        schedule,
        nodes: 1,
        sharing: true,
        split: false,
        notice: 1,
        entries: None,
        queued: None,
    }
}

#[test]
fn sound_schedules_pass() {
    assert_eq!(exclusive().check(), []);
    assert_eq!(shared().check(), []);
    let empty = Example {
        jobs: Vec::new(),
        schedule: Schedule {
            nodes: nodes(2),
            ..Schedule::default()
        },
        ..exclusive()
    };
    assert_eq!(empty.check(), []);
}

#[test]
fn time_queued_in_the_profiler_counts_as_queuing() {
    let mut example = exclusive();
    example.queued = Some(vec![7, 0, 0, 0]);
    example.schedule.jobs[0].queue += 7;
    assert_eq!(example.check(), []);
}

/// A job that is profiled until second 3 joins the queue at second 3.
#[test]
fn a_job_starts_and_waits_from_its_entry_on() {
    let mut example = exclusive();
    example.entries = Some(vec![3, 10, 35, 60]);
    example.schedule.jobs[0].queue = 2;
    assert_eq!(example.check(), []);
    example.entries = Some(vec![6, 10, 35, 60]);
    example.schedule.jobs[0].queue = -1;
    let is_early = |v: &Violation| matches!(v, Violation::Early { arrival: 6, .. });
    assert!(rejected(&example, is_early));
}

#[test]
fn a_spread_job_passes_where_jobs_may_be_split() {
    let mut example = exclusive();
    spread(&mut example);
    assert!(rejected(&example, |v| matches!(
        v,
        Violation::Split {
            found: 2,
            most: 1,
            ..
        }
    )));
    example.split = true;
    assert_eq!(example.check(), []);
}

/// Keeps only the first job, `a`, and spreads it over both nodes.
fn spread(example: &mut Example) {
    let schedule = &mut example.schedule;
    schedule.samples.clear();
    example.jobs.truncate(1);
    schedule.jobs.truncate(1);
    schedule.runs.truncate(1);
    schedule.runs[0].placement = vec![(0, 0b0001), (1, 0b1000)];
    schedule.jobs[0].nodes = vec![(1, 0b1000), (0, 0b0001)];
    schedule.busy_gpu_seconds = 200;
}

/// Whether the checker reports a violation for which `wanted` returns true. Prints all reported violations.
fn rejected(example: &Example, wanted: impl Fn(&Violation) -> bool) -> bool {
    let found = example.check();
    for violation in &found {
        println!("{violation}");
    }
    found.iter().any(wanted)
}

#[test]
fn absurd_times_are_violations_not_panics() {
    for time in [i64::MIN, i64::MAX] {
        let mut example = exclusive();
        example.schedule.runs[0].from = time;
        example.schedule.runs[1].until = time;
        example.schedule.jobs[2].end = time;
        example.schedule.samples[2].first = time;
        example.jobs[3].duration = i64::MAX;
        assert!(!example.check().is_empty());
    }
}

#[test]
fn violations_are_bounded() {
    let mut example = exclusive();
    let repeated = vec![example.schedule.runs[0].clone(); 3000];
    example.schedule.runs = repeated;
    assert_eq!(example.check().len(), MOST_VIOLATIONS);
}
