//! Tests the inspection of the published log, and compares the window that the inspection suggests
//! with a grid of windows.

use crate::support::{options, published_tasks, replay, shared, solver, summit};
use gleaner_domain::Unobserved;
use gleaner_domain::{EventLog, TrainingTask, Utc};
use gleaner_inspect::{Inspection, RescaleCosts, SuspicionKind, inspect};
use gleaner_solvers::SolverKind;
use gleaner_synth::events::{EventOptions, FragmentLength};
use gleaner_synth::tasks::TaskOptions;

const SUMMIT: &str = "bftrainer/ndstat-10sdn6-evt.tar.gz";

fn whole_summit() -> Option<Inspection> {
    let log = gleaner_inputs::events::read(&shared(SUMMIT)?)
        .unwrap()
        .value;
    Some(inspect(&log, RescaleCosts::typical(10), &Unobserved).unwrap())
}

// Golden values: there are 423,502 fragments, and 8.3 % of the node-time is idle. Fragments shorter than 10 minutes
// make up 56 % of the fragments and 11 % of the idle node-time.
#[test]
fn the_published_log_has_its_published_figures() {
    let Some(found) = whole_summit() else { return };
    assert_eq!((found.nodes, found.events), (4734, 23_883));
    assert_eq!(found.fragments.lengths.count, 423_502);
    assert_eq!(
        (found.fragments.cut_at_start, found.fragments.cut_at_end),
        (0, 148)
    );
    let (count, time) = found.fragments.under_ten_minutes();
    assert!((count - 0.558_465).abs() < 1e-6, "{count}");
    assert!((time - 0.108_512).abs() < 1e-6, "{time}");
    assert_eq!(found.idle_node_seconds, 504_656_231.0);
    assert_eq!(found.fragments.lengths.sum_s, 504_656_231.0);
    assert!((found.idle_share - 0.082_674).abs() < 1e-6);
    assert_eq!(found.from, "2021-02-10 00:08:52");
    assert_eq!(found.never_idle.count, 54);
}

// Golden values: the log starts with all nodes busy, and its longest suspicious period lasts 12,176 s (3 h 22 min).
#[test]
fn the_published_log_starts_suspiciously() {
    let Some(found) = whole_summit() else { return };
    let first = |kind| found.suspicions.iter().find(|s| s.kind == kind).unwrap();
    assert_eq!(first(SuspicionKind::AllBusy).from, found.from);
    let longest = found
        .suspicions
        .iter()
        .map(|s| s.seconds)
        .fold(0.0, f64::max);
    assert_eq!(longest, 12_176.0);
}

/// Tasks that do not finish on any log, so that differences in total work depend only on the
/// windows.
fn endless(mut tasks: Vec<TrainingTask>, count: usize) -> Vec<TrainingTask> {
    tasks.truncate(count);
    for task in &mut tasks {
        task.work = 1e18;
        task.submit = TrainingTask::FROM_START;
    }
    tasks
}

/// The work done with the suggested window, divided by the largest work with any window of the
/// grid.
fn suggestion_against_grid(log: &EventLog, tasks: &[TrainingTask]) -> f64 {
    let costs = RescaleCosts::of(tasks, tasks.len());
    let window = inspect(log, costs, &Unobserved)
        .unwrap()
        .suggestion
        .window
        .unwrap();
    let work = |t_fwd: f64| {
        let options = options(t_fwd, tasks.len());
        let outcome = replay(log, tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
        outcome.summary.total_work
    };
    let grid = [
        5.0, 10.0, 20.0, 40.0, 80.0, 120.0, 200.0, 400.0, 1000.0, 4000.0,
    ];
    let best = grid.into_iter().map(work).fold(0.0, f64::max);
    work(window.t_fwd_s) / best
}

fn generated_log(nodes: u32, fragment: FragmentLength, idle_share: f64) -> EventLog {
    gleaner_synth::events::generate(
        &EventOptions {
            nodes,
            days: 3.0,
            start: Utc::from_seconds(1_767_225_600),
            idle_share,
            fragment,
            poll: 10,
            seed: 11,
        },
        &Unobserved,
    )
    .unwrap()
}

fn generated_tasks(count: u32) -> Vec<TrainingTask> {
    let tasks = gleaner_synth::tasks::generate(&TaskOptions {
        count,
        models: 4,
        max_nodes: 16,
        hours: 12.0,
        start: None,
        submit_every: 0.0,
        seed: 3,
    });
    endless(tasks.unwrap(), count as usize)
}

#[test]
fn the_suggestion_is_near_the_best_window_on_the_published_log() {
    for (nodes, set, suffix, count) in [
        (100, "ImageNet-imgps", "1001J", 10),
        (400, "ImageNet-imgps", "1001J", 5),
        (400, "hps-shufflenet", "10J", 10),
    ] {
        let (Some(log), Some(tasks)) = (summit(Some(nodes)), published_tasks(set, suffix)) else {
            return;
        };
        let share = suggestion_against_grid(&log, &endless(tasks, count));
        assert!(share > 0.98, "{nodes} nodes, {count} of {set}: {share}");
    }
}

#[test]
fn the_suggestion_is_near_the_best_window_on_generated_logs() {
    let exponential = |mean| FragmentLength::Exponential { mean };
    let usual = FragmentLength::LogNormal {
        median: 490.0,
        sigma: 1.37,
    };
    let heavy = FragmentLength::LogNormal {
        median: 900.0,
        sigma: 2.2,
    };
    for (nodes, fragment, idle_share) in [
        (100, usual, 0.087),
        (300, usual, 0.087),
        (200, exponential(1800.0), 0.1),
        (200, exponential(200.0), 0.2),
        (200, FragmentLength::Fixed { seconds: 600.0 }, 0.1),
        (200, heavy, 0.1),
    ] {
        let log = generated_log(nodes, fragment, idle_share);
        let share = suggestion_against_grid(&log, &generated_tasks(8));
        assert!(share > 0.95, "{nodes} nodes, {fragment:?}: {share}");
    }
}
