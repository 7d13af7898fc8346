//! Hand-made schedules (fixed examples): sound ones pass, each broken one is rejected
//! with the violation that was put into it.

use super::*;
use crate::lucid::schedule::{JobOutcome, NodeLife, Run, Samples, State};

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

fn run(job: usize, from: i64, until: i64, placement: &[(u32, u64)]) -> Run {
    Run {
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

/// Free GPUs of eight, running jobs, and the GPUs of each waiting job, at a second.
fn sample(first: i64, idle_gpus: u64, running_jobs: u32, waiting: &[u64]) -> Samples {
    let state = State {
        total_gpus: 8,
        idle_gpus,
        pending_gpus: waiting.iter().sum(),
        running_jobs,
        pending_jobs: waiting.len() as u32,
        pending_small_jobs: waiting.len() as u32,
        nodes: 2,
        // In the example no two jobs are on a node at a whole minute.
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
    queued: Option<Vec<i64>>,
}

impl Example {
    fn check(&self) -> Vec<Violation> {
        let jobs: Vec<&Job> = self.jobs.iter().collect();
        let terms = Terms {
            jobs: &jobs,
            gpus_per_node: GPUS_PER_NODE,
            nodes: self.nodes,
            sharing: self.sharing,
            split: self.split,
            notice: self.notice,
            due: &|job| job.duration,
            overhead: &|_| 40,
            queued: self.queued.as_deref(),
        };
        check(&self.schedule, &terms)
    }
}

/// Two nodes; `b` is preempted for `c`, and `d` needs both nodes.
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
        queued: None,
    }
}

/// One node; `q` joins `p`, which ends first and leaves it slow; `r` is beside them.
/// A second node is there from second 50 to 100 and takes `s`.
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
fn a_wait_elsewhere_counts_as_queue() {
    let mut example = exclusive();
    example.queued = Some(vec![7, 0, 0, 0]);
    example.schedule.jobs[0].queue += 7;
    assert_eq!(example.check(), []);
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

/// Spreads `a` over both nodes, and moves `c` so that it fits beside it.
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

/// Whether a violation like this is told, and all of them can be written out.
fn rejected(example: &Example, wanted: impl Fn(&Violation) -> bool) -> bool {
    let found = example.check();
    for violation in &found {
        println!("{violation}");
    }
    found.iter().any(wanted)
}

/// A deliberately broken schedule must be rejected with a violation of this kind.
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

broken! {
    a_missing_outcome: exclusive,
        |e| drop(e.schedule.jobs.pop()),
        Violation::Jobs { found: 3, expected: 4 },
    a_run_of_no_job: exclusive,
        |e| e.schedule.runs[4].job = 9,
        Violation::NoSuchJob { run: 4, job: 9 },
    a_job_that_never_runs: exclusive,
        |e| drop(e.schedule.runs.pop()),
        Violation::NoRun { job } if job == "d",
    runs_out_of_order: exclusive,
        |e| e.schedule.runs.swap(0, 1),
        Violation::RunOrder { run: 1, from: 5 },
    a_run_without_time: exclusive,
        |e| e.schedule.runs[2].until = 40,
        Violation::EmptyRun { job, from: 40, until: 40 } if job == "c",
    too_few_gpus: exclusive,
        |e| e.schedule.runs[0].placement = vec![(0, 0b0001)],
        Violation::Gang { job, found: 1, expected: 2, .. } if job == "a",
    too_many_gpus: exclusive,
        |e| e.schedule.runs[0].placement = vec![(0, 0b0111)],
        Violation::Gang { job, found: 3, expected: 2, .. } if job == "a",
    a_split_gang: exclusive,
        |e| e.schedule.runs[0].placement = vec![(0, 0b0001), (1, 0b0001)],
        Violation::Split { job, found: 2, most: 1, .. } if job == "a",
    a_gpu_beyond_the_node: exclusive,
        |e| e.schedule.runs[0].placement = vec![(0, 0b10001)],
        Violation::Mask { job, gpus: 0b10001, .. } if job == "a",
    a_node_without_gpus: exclusive,
        |e| e.schedule.runs[0].placement.push((1, 0)),
        Violation::Mask { job, gpus: 0, .. } if job == "a",
    a_node_listed_twice: exclusive,
        |e| e.schedule.runs[0].placement = vec![(0, 0b0001), (0, 0b0010)],
        Violation::SlotTwice { job, .. } if job == "a",
    a_node_that_does_not_exist: exclusive,
        |e| e.schedule.runs[0].placement = vec![(2, 0b0011)],
        Violation::NoSuchSlot { job, slot: 2, .. } if job == "a",
    a_run_before_its_node_is_there: shared,
        |e| e.schedule.nodes[1].from = 51,
        Violation::DeadNode { job, from: 50, .. } if job == "s",
    a_run_on_a_node_taken_away: shared,
        |e| e.schedule.nodes[1].until = 59,
        Violation::DeadNode { job, until: 60, .. } if job == "s",
    more_gpus_than_there_are: exclusive,
        |e| e.schedule.nodes[0].until = 20,
        Violation::Capacity { time: 20, held: 6, gpus: 4 },
    too_many_nodes_at_the_start: exclusive,
        |e| e.schedule.nodes.extend(nodes(1)),
        Violation::StartNodes { found: 3, expected: 2 },
    a_gpu_held_twice: exclusive,
        |e| e.schedule.runs[2].placement = vec![(0, 0b1111)],
        Violation::Held { job, gpu: 0, time: 40, held: Held(held), .. }
            if job == "c" && held == &["a"],
    a_gpu_taken_a_second_too_early: exclusive,
        |e| e.schedule.runs[3].from = 69,
        Violation::Held { job, time: 69, .. } if job == "b",
    three_jobs_on_a_gpu: shared,
        |e| e.schedule.runs[2].placement = vec![(0, 0b0011)],
        Violation::Held { job, gpu: 0, held: Held(held), .. }
            if job == "r" && held == &["p", "q"],
    sharing_where_none_is_allowed: shared,
        |e| e.sharing = false,
        Violation::Held { job, gpu: 0, held: Held(held), .. } if job == "q" && held == &["p"],
    sharing_only_some_gpus: shared,
        |e| e.schedule.runs[1].placement = vec![(0, 0b0110)],
        Violation::Unequal { job, gpu: 1, other, .. } if job == "q" && other == "p",
    a_start_before_submission: exclusive,
        |e| e.jobs[2].submit = 41,
        Violation::Early { job, start: 40, submit: 41 } if job == "c",
    a_wrong_start: exclusive,
        |e| e.schedule.jobs[1].start = 70,
        Violation::Outcome { job, field: "start", found: 70, expected: 10 } if job == "b",
    a_wrong_end: exclusive,
        |e| e.schedule.jobs[1].end = 40,
        Violation::Outcome { job, field: "end", found: 40, expected: 130 } if job == "b",
    a_wrong_queue: exclusive,
        |e| e.schedule.jobs[1].queue = 0,
        Violation::Outcome { job, field: "queue", found: 0, expected: 30 } if job == "b",
    a_checkpoint_too_many: exclusive,
        |e| e.schedule.jobs[0].checkpoints = 1,
        Violation::Outcome { job, field: "checkpoints", found: 1, expected: 0 } if job == "a",
    overlapping_runs: exclusive,
        |e| e.schedule.runs[1].until = 75,
        Violation::Overlap { job, from: 70, until: 75 } if job == "b",
    two_last_runs: exclusive,
        |e| e.schedule.runs[1].last = true,
        Violation::LastRun { job, runs: 2, marked: 2 } if job == "b",
    no_last_run: exclusive,
        |e| e.schedule.runs[0].last = false,
        Violation::LastRun { job, runs: 1, marked: 0 } if job == "a",
    the_wrong_last_run: exclusive,
        |e| {
            e.schedule.runs[1].last = true;
            e.schedule.runs[3].last = false;
        },
        Violation::LastRun { job, runs: 2, marked: 1 } if job == "b",
    other_final_nodes: exclusive,
        |e| e.schedule.jobs[0].nodes = vec![(0, 0b0110)],
        Violation::FinalNodes { job, .. } if job == "a",
    a_second_short_of_service: exclusive,
        |e| e.jobs[0].duration += 1,
        Violation::Service { job, found: 100.0, expected: 101.0 } if job == "a",
    a_second_of_service_too_much: exclusive,
        |e| e.jobs[0].duration -= 1,
        Violation::Service { job, found: 100.0, expected: 99.0 } if job == "a",
    a_checkpoint_without_overhead: exclusive,
        |e| e.schedule.runs[3].until = 90,
        Violation::Service { job, found: 50.0, expected: 90.0 } if job == "b",
    a_slow_job_a_step_short: shared,
        |e| e.schedule.runs[0].until = 13,
        Violation::Service { job, found: 9.5, .. } if job == "p",
    a_slow_job_a_step_too_long: shared,
        |e| e.schedule.runs[0].until = 15,
        Violation::Service { job, found: 11.0, .. } if job == "p",
    a_slow_job_that_never_shares: shared,
        |e| e.schedule.runs[2].speeds = vec![(4, 0.9)],
        Violation::Speed { job, why, .. } if job == "r" && why.contains("never shares"),
    a_speed_of_nothing: shared,
        |e| e.schedule.runs[0].speeds[1].1 = 0.0,
        Violation::Speed { job, time: 2, why: "not a positive number", .. } if job == "p",
    a_speed_that_is_no_number: shared,
        |e| e.schedule.runs[0].speeds[1].1 = f64::NAN,
        Violation::Speed { job, time: 2, why: "not a positive number", .. } if job == "p",
    a_run_without_speed: shared,
        |e| e.schedule.runs[0].speeds.clear(),
        Violation::Speed { job, why: "no speed is given", .. } if job == "p",
    a_speed_late: shared,
        |e| e.schedule.runs[1].speeds[0].0 = 3,
        Violation::Speed { job, time: 3, .. } if job == "q",
    speeds_out_of_order: shared,
        |e| e.schedule.runs[0].speeds.push((2, 1.0)),
        Violation::Speed { job, time: 2, why: "not after the speed before it", .. } if job == "p",
    a_speed_after_the_end: shared,
        |e| e.schedule.runs[0].speeds.push((14, 1.0)),
        Violation::Speed { job, time: 14, why: "after the run's end", .. } if job == "p",
    busy_seconds_counted_twice: shared,
        |e| e.schedule.busy_gpu_seconds += 2 * 12,
        Violation::BusySeconds { found: 118, expected: 94 },
    an_idle_gpu_too_many: exclusive,
        |e| e.schedule.samples[1].state.idle_gpus = 3,
        Violation::Sample { time: 60, field: "idle GPUs", found: 3, expected: 2 },
    a_total_that_is_wrong: exclusive,
        |e| e.schedule.samples[1].state.total_gpus = 12,
        Violation::Sample { time: 60, field: "total GPUs", found: 12, expected: 8 },
    a_running_job_forgotten: exclusive,
        |e| e.schedule.samples[1].state.running_jobs = 1,
        Violation::Sample { time: 60, field: "running jobs", found: 1, expected: 2 },
    a_waiting_job_forgotten: exclusive,
        |e| e.schedule.samples[2].state.pending_jobs = 0,
        Violation::Sample { time: 120, field: "pending jobs", found: 0, expected: 1 },
    a_shared_node_that_is_none: exclusive,
        |e| e.schedule.samples[1].state.shared_nodes = 1,
        Violation::Sample { time: 60, field: "nodes with several jobs", .. },
    a_state_that_lasts_too_long: exclusive,
        |e| {
            e.schedule.samples[0].count = 2;
            e.schedule.samples.remove(1);
        },
        Violation::Sample { time: 60, field: "running jobs", found: 0, expected: 2 },
    a_minute_missing: exclusive,
        |e| e.schedule.samples.retain(|samples| samples.first != 60),
        Violation::SampleTimes { first: 120, count: 1, .. },
    samples_off_the_minute: exclusive,
        |e| e.schedule.samples[0].first = 1,
        Violation::SampleTimes { first: 1, count: 1, .. },
    samples_that_stop_early: exclusive,
        |e| e.schedule.samples.truncate(2),
        Violation::SampleTimes { first: 60, .. },
    samples_that_start_late: exclusive,
        |e| drop(e.schedule.samples.drain(..2)),
        Violation::SampleTimes { first: 120, .. },
}

#[test]
fn absurd_times_are_told_not_panicked_over() {
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
