//! Tests that the checker rejects the engine's schedules after changes that make them invalid.

use gleaner_domain::results::schedule::{JobOutcome, JobRun, NodeLife, Samples, Schedule};
use gleaner_simulate::policies;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::plain::cases::case;
use crate::plain::sound::{promise, violations};
use crate::product::schedule;

/// A change that makes a valid schedule invalid.
#[derive(Clone, Copy)]
enum Spoil {
    /// Changes a randomly chosen run.
    JobRun(fn(&mut JobRun)),
    /// Changes the outcome of a randomly chosen job.
    Job(fn(&mut JobOutcome)),
    /// Changes randomly chosen samples, if there are any.
    Sample(fn(&mut Samples)),
    /// Changes the node of a randomly chosen run.
    Node(fn(&mut NodeLife, &JobRun)),
    /// Changes another part of the schedule.
    Whole(fn(&mut Schedule)),
}

use Spoil::{Job, JobRun as OfRun, Node, Sample, Whole};

const SPOILS: [(&str, Spoil); 43] = [
    ("a run starts early", OfRun(|run| run.from -= 1)),
    ("a run starts late", OfRun(|run| run.from += 1)),
    ("a run stops early", OfRun(|run| run.until -= 1)),
    ("a run stops late", OfRun(|run| run.until += 1)),
    ("a run never stops", OfRun(|run| run.until = i64::MAX)),
    (
        "a run ends before it starts",
        OfRun(|run| run.until = run.from - 1),
    ),
    ("a run on other GPUs", OfRun(|run| run.placement[0].1 ^= 1)),
    ("a run on no GPU", OfRun(|run| run.placement.clear())),
    (
        "a run that lists a node twice",
        OfRun(|run| run.placement.extend_from_within(..1)),
    ),
    (
        "a run on a missing node",
        OfRun(|run| run.placement[0].0 += 100),
    ),
    ("a run of a missing job", OfRun(|run| run.job = usize::MAX)),
    (
        "a wrong mark of the last run",
        OfRun(|run| run.last ^= true),
    ),
    ("a run without speeds", OfRun(|run| run.speeds.clear())),
    (
        "a run whose speed is not a number",
        OfRun(|run| run.speeds[0].1 = f64::NAN),
    ),
    ("a run at speed 0", OfRun(|run| run.speeds[0].1 = 0.0)),
    ("a run with a late speed", OfRun(|run| run.speeds[0].0 += 1)),
    (
        "a run with one speed too many",
        OfRun(|run| run.speeds.push((run.until, 1.0))),
    ),
    ("a wrong start", Job(|job| job.start += 1)),
    ("a wrong end", Job(|job| job.end -= 1)),
    ("a longer wait", Job(|job| job.queue += 1)),
    ("one more checkpoint", Job(|job| job.checkpoints += 1)),
    ("an outcome without nodes", Job(|job| job.nodes.clear())),
    ("an outcome with other GPUs", Job(|job| job.nodes[0].1 ^= 1)),
    (
        "one more GPU in total",
        Sample(|sample| sample.state.total_gpus += 1),
    ),
    (
        "one more idle GPU",
        Sample(|sample| sample.state.idle_gpus += 1),
    ),
    (
        "one more GPU requested",
        Sample(|sample| sample.state.pending_gpus += 1),
    ),
    (
        "one more running job",
        Sample(|sample| sample.state.running_jobs += 1),
    ),
    (
        "one more waiting job",
        Sample(|sample| sample.state.pending_jobs += 1),
    ),
    (
        "one more small waiting job",
        Sample(|sample| sample.state.pending_small_jobs += 1),
    ),
    ("one more node", Sample(|sample| sample.state.nodes += 1)),
    (
        "one more node with one job",
        Sample(|sample| sample.state.single_nodes += 1),
    ),
    (
        "one more node with several jobs",
        Sample(|sample| sample.state.shared_nodes += 1),
    ),
    ("a minute sampled twice", Sample(|sample| sample.count += 1)),
    ("samples off the minute", Sample(|sample| sample.first += 1)),
    (
        "a node is added late",
        Node(|node, run| node.from = run.from + 1),
    ),
    (
        "a node is removed early",
        Node(|node, run| node.until = run.until - 1),
    ),
    (
        "a run listed twice",
        Whole(|schedule| schedule.runs.extend_from_within(..1)),
    ),
    ("a run missing", Whole(|schedule| drop(schedule.runs.pop()))),
    ("a job missing", Whole(|schedule| drop(schedule.jobs.pop()))),
    (
        "a node missing",
        Whole(|schedule| schedule.nodes[0].from = 0),
    ),
    (
        "a node too many",
        Whole(|schedule| schedule.nodes.extend_from_within(..1)),
    ),
    (
        "runs out of order",
        Whole(|schedule| schedule.runs.sort_by_key(|run| -run.from)),
    ),
    (
        "a GPU busy for longer",
        Whole(|schedule| schedule.busy_gpu_seconds += 1),
    ),
];

impl Spoil {
    fn apply(self, schedule: &mut Schedule, which: Index) {
        match self {
            OfRun(spoil) => spoil(which.get_mut(&mut schedule.runs)),
            Job(spoil) => spoil(which.get_mut(&mut schedule.jobs)),
            Sample(_) if schedule.samples.is_empty() => {}
            Sample(spoil) => spoil(which.get_mut(&mut schedule.samples)),
            Node(spoil) => {
                let run = which.get(&schedule.runs);
                spoil(&mut schedule.nodes[run.placement[0].0 as usize], run);
            }
            Whole(spoil) => spoil(schedule),
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(128))]

    #[test]
    fn no_corrupted_schedule_passes(case in case(), which: Index) {
        for policy in policies::ALL {
            let mut world = case.world();
            if policy.profiled {
                world.queued = case.queued.clone();
            }
            let sound = schedule(&case, policy).unwrap();
            let promise = promise(policy.name);
            prop_assert_eq!(violations(&sound, &world, promise), []);
            for (what, spoil) in SPOILS {
                let mut spoilt = sound.clone();
                spoil.apply(&mut spoilt, which);
                let rejected = !violations(&spoilt, &world, promise).is_empty();
                prop_assert!(rejected || spoilt == sound, "{}: {}", policy.name, what);
            }
        }
    }
}
