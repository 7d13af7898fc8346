//! Tests of searches whose trials are the tasks of a replay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gleaner_check::replay::Inputs;
use gleaner_domain::results::replay::{Ended, Outcome};
use gleaner_domain::results::search::{SearchOutcome, SearchRow, TrialEvent, TrialRow, TrialState};
use gleaner_domain::{
    ClassTerms, EventLog, ScalingCurve, TrainingTask, TrialLoss, TrialSearch, Utc,
};
use gleaner_replay::{Initial, Options};
use gleaner_search::{
    Algorithm, Draw, Family, LearningCurves, Parameter, Plan, Point, Space, Table,
};
use gleaner_solvers::{BigM, SolverKind};

use crate::audit::{inputs, it_follows};
use crate::support::{options, replay, solver};

fn log() -> EventLog {
    let path = gleaner_testing::workspace().join("dataset/idle.csv");
    gleaner_inputs::events::read(&path).unwrap().value
}

/// A task that does one unit of work per second on each of up to four nodes.
fn network(name: &str, work: f64) -> TrainingTask {
    TrainingTask {
        name: name.into(),
        submit: TrainingTask::FROM_START,
        min_nodes: 1,
        max_nodes: 4,
        rescale_up: 5.0,
        rescale_down: 5.0,
        work,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: [0, 4].into(),
            progress: [0.0, 4.0].into(),
            objective: [0.0, 4.0].into(),
        },
    }
}

fn plan(algorithm: Algorithm, trials: u32) -> Plan {
    Plan {
        trials: (!algorithm.derives_trials()).then_some(trials),
        ..Plan::new(algorithm, 9.0)
    }
}

/// Replays a search, with completions as events, and verifies the run.
fn run(log: &EventLog, tasks: &[TrainingTask], search: TrialSearch, seed: u64) -> Outcome {
    let options = Options {
        search: Some(Arc::new(search)),
        initial: Initial::Solve,
        completion_events: true,
        seed,
        ..options(120.0, 5)
    };
    let mut decider = solver(SolverKind::Exact).checked(BigM::Corrected);
    let outcome = replay(log, tasks, &options, &mut decider).unwrap();
    let inputs = Inputs {
        search: options.search.as_deref(),
        seed,
        ..inputs(log, tasks, &[])
    };
    it_follows(&inputs, &outcome);
    outcome
}

fn drawn(plan: Plan) -> TrialSearch {
    let rate = Draw::LogUniform {
        low: 1e-4,
        high: 0.1,
    };
    let space = [("lr".to_owned(), Parameter::Draw(rate))];
    let has_space = matches!(plan.algorithm, Algorithm::Pbt | Algorithm::Bohb);
    TrialSearch {
        plan,
        space: Space(space.into_iter().filter(|_| has_space).collect()),
        losses: TrialLoss::only(LearningCurves::Family(Family::default())),
        tasks: Vec::new(),
    }
}

/// The events of each trial, and the rungs at which they happened.
fn courses(search: &SearchOutcome) -> BTreeMap<u32, Vec<(TrialEvent, u32)>> {
    let mut courses: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for row in &search.events {
        courses
            .entry(row.trial)
            .or_default()
            .push((row.event, row.rung));
    }
    courses
}

/// Asserts that every trial starts, reaches its rungs in order, and ends at most once.
fn courses_are_sound(search: &SearchOutcome) {
    for (trial, course) in courses(search) {
        // A copy starts above the bottom rung.
        let start = course[0].1;
        assert!(start == 0 || search.trials[trial as usize].parent.is_some());
        let mut expected = vec![(TrialEvent::Started, start)];
        let reached = course
            .iter()
            .filter(|(event, _)| *event == TrialEvent::Reached)
            .count() as u32;
        for rung in start..start + reached {
            expected.push((TrialEvent::Reached, rung));
            expected.push((TrialEvent::Promoted, rung + 1));
        }
        expected.truncate(course.len());
        let (&last, before) = course.split_last().unwrap();
        let is_end = matches!(last.0, TrialEvent::Stopped | TrialEvent::Finished);
        let checked = if is_end { before } else { &course[..] };
        assert_eq!(
            checked,
            &expected[..checked.len()],
            "trial {trial}: {course:?}"
        );
        let state = search.trials[trial as usize].state;
        let ends = match last.0 {
            TrialEvent::Stopped => TrialState::Stopped,
            TrialEvent::Finished => TrialState::Finished,
            TrialEvent::Reached => TrialState::Waiting,
            TrialEvent::Started | TrialEvent::Promoted => TrialState::Training,
        };
        assert!(
            state == ends || last.0 == TrialEvent::Promoted,
            "trial {trial}: {state:?}"
        );
    }
}

/// The resource that the parent of a trial had consumed when the trial started. It equals the target of the trial's
/// first job minus a step of 1.
fn copied_resource(search: &SearchOutcome, trial: &TrialRow) -> f64 {
    let mut events = search.events.iter();
    let first = events.find(|row| row.trial == trial.trial).unwrap();
    trial.parent.map_or(0.0, |_| first.resource - 1.0)
}

#[test]
fn every_algorithm_runs_to_its_end() {
    let (log, tasks) = (log(), [network("small", 900.0), network("large", 2700.0)]);
    for algorithm in Algorithm::ALL {
        let outcome = run(&log, &tasks, drawn(plan(algorithm, 27)), 3);
        let (summary, search) = (&outcome.summary, outcome.search.as_ref().unwrap());
        courses_are_sound(search);
        assert_eq!(summary.ended, Ended::TasksFinished, "{algorithm}");
        assert_eq!(summary.search.as_deref(), Some(algorithm.as_str()));
        let states: BTreeSet<&str> = search
            .trials
            .iter()
            .map(|t| gleaner_domain::results::Named::name(t.state))
            .collect();
        assert!(
            states.is_subset(&["finished", "stopped"].into()),
            "{algorithm}: {states:?}"
        );
        assert_eq!(summary.trials_started, Some(search.trials.len()));
        let ended = summary.trials_stopped.unwrap() + summary.trials_finished.unwrap();
        assert_eq!(ended, search.trials.len());
        // The jobs together do the work of all trials.
        let of_trials: f64 = search.trials.iter().map(|t| t.work_done).sum();
        assert!(
            (of_trials - summary.total_work).abs() < 1e-6 * of_trials,
            "{algorithm}"
        );
        for trial in &search.trials {
            let full = if trial.task == "small" { 900.0 } else { 2700.0 };
            let copied = copied_resource(search, trial);
            let expected = full * (trial.resource - copied) / 9.0;
            assert!(
                (trial.work_done - expected).abs() < 1e-6 * expected,
                "{trial:?}"
            );
        }
        let wasted: f64 = search
            .trials
            .iter()
            .filter(|t| t.state == TrialState::Stopped)
            .map(|t| t.work_done)
            .sum();
        assert_eq!(summary.wasted_work, Some(wasted));
        assert_eq!(wasted == 0.0, algorithm == Algorithm::Random);
    }
}

#[test]
fn all_algorithms_see_the_same_trials() {
    let (log, tasks) = (log(), [network("small", 900.0), network("large", 2700.0)]);
    let of = |algorithm| {
        run(&log, &tasks, drawn(plan(algorithm, 27)), 3)
            .search
            .unwrap()
    };
    let random = of(Algorithm::Random);
    for algorithm in [Algorithm::SuccessiveHalving, Algorithm::Asha] {
        for (own, other) in of(algorithm).trials.iter().zip(&random.trials) {
            assert_eq!((&own.task, own.final_loss), (&other.task, other.final_loss));
        }
    }
    let elsewhere = run(&log, &tasks, drawn(plan(Algorithm::Random, 27)), 4)
        .search
        .unwrap();
    assert_ne!(random.trials[0].final_loss, elsewhere.trials[0].final_loss);
}

/// With more training, the loss of each trial falls towards the trial's number. Trial 0 begins with the worst loss, and
/// every other trial begins at its number plus one.
fn table(trials: u32) -> LearningCurves {
    let curve = |trial: u32| {
        let last = f64::from(trial);
        let first = if trial == 0 { 100.0 } else { last + 1.0 };
        let points = [(1.0, first), (9.0, last)];
        points
            .map(|(resource, loss)| Point { resource, loss })
            .to_vec()
    };
    LearningCurves::Table(Table::new((0..trials).map(|t| (t, curve(t))).collect()).unwrap())
}

// Derived by hand: of nine trials, trials 1, 2 and 3 reach the second rung. Trial 1 reaches the
// last rung, although trial 0 would be the best.
#[test]
fn halving_stops_a_trial_that_begins_badly() {
    let search = TrialSearch {
        plan: plan(Algorithm::SuccessiveHalving, 9),
        space: Space::default(),
        losses: TrialLoss::only(table(9)),
        tasks: [0, 1, 0, 0, 0, 0, 0, 0, 0].into(),
    };
    let tasks = [network("small", 900.0), network("large", 2700.0)];
    let outcome = run(&log(), &tasks, search, 0);
    let search = outcome.search.unwrap();
    let reached: Vec<f64> = search.trials.iter().map(|trial| trial.resource).collect();
    assert_eq!(reached, [1.0, 9.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let trained: Vec<&str> = search.trials.iter().map(|t| t.task.as_str()).collect();
    assert_eq!(trained[..3], ["small", "large", "small"]);
    let summary = &outcome.summary;
    assert_eq!((summary.best_loss, summary.regret), (Some(1.0), Some(1.0)));
    let rungs: Vec<(f64, u64, f64)> = search
        .rungs
        .iter()
        .map(|r| (r.resource, r.trials, r.best_loss))
        .collect();
    assert_eq!(rungs, [(1.0, 9, 2.0), (3.0, 3, 1.75), (9.0, 1, 1.0)]);
    let first = search
        .events
        .iter()
        .find(|row| row.event == TrialEvent::Reached)
        .unwrap();
    let start = log().times()[0];
    assert_eq!(summary.first_rung_s, Some(first.time.seconds_since(start)));
    let finished = |row: &&SearchRow| row.event == TrialEvent::Finished;
    let end = search
        .events
        .iter()
        .find(finished)
        .unwrap()
        .time
        .seconds_since(start);
    assert_eq!(
        (summary.last_rung_s, summary.best_trial_s),
        (Some(end), Some(end))
    );
}

/// A search with two losses, drawn from the default family.
fn with_two_losses(plan: Plan) -> TrialSearch {
    let loss = |name: &str| TrialLoss {
        name: name.to_owned(),
        curves: LearningCurves::Family(Family::default()),
    };
    TrialSearch {
        losses: vec![loss("error"), loss("latency")],
        ..drawn(plan)
    }
}

#[test]
fn trials_with_several_losses_are_ranked_by_fronts() {
    let algorithms = [
        Algorithm::SuccessiveHalving,
        Algorithm::Asha,
        Algorithm::Hyperband,
        Algorithm::Random,
    ];
    for algorithm in algorithms {
        let plan = plan(algorithm, 40);
        let tasks = [network("n", 500.0)];
        let one = run(&log(), &tasks, drawn(plan.clone()), 3);
        // `run` compares the decisions with those of the checker.
        let two = run(&log(), &tasks, with_two_losses(plan), 3);
        let (one, several) = (one.search.unwrap(), two.search.unwrap());
        // The second loss does not change the first one.
        let first = |search: &SearchOutcome| {
            let rows = search.events.iter();
            let first = rows.filter(|row| row.event == TrialEvent::Reached && row.rung == 0);
            first
                .map(|row| (row.trial, row.loss.unwrap().to_bits()))
                .collect::<BTreeMap<_, _>>()
        };
        assert_eq!(first(&one), first(&several));
        assert_eq!(
            (one.trials[0].front, &one.trials[0].losses.0[..]),
            (None, &[][..])
        );
        let finished = |row: &&TrialRow| row.state == TrialState::Finished;
        let finished: Vec<&TrialRow> = several.trials.iter().filter(finished).collect();
        let is_better = |a: &TrialRow, b: &TrialRow| {
            let losses = a.losses.0.iter().zip(&b.losses.0);
            a.losses != b.losses && losses.into_iter().all(|(a, b)| a.1 <= b.1)
        };
        for row in &finished {
            let is_dominated = finished.iter().any(|other| is_better(other, row));
            assert_eq!(row.front == Some(0), !is_dominated);
        }
        let on_front = finished.iter().filter(|row| row.front == Some(0)).count();
        assert_eq!(two.summary.front_trials, Some(on_front));
        assert_eq!(finished[0].losses.0[1].0, "latency");
        assert!(on_front > 0);
    }
}

#[test]
fn a_search_that_the_log_cuts_short_says_what_its_trials_do() {
    let mut tasks = [network("large", 1e6)];
    tasks[0].max_nodes = 4;
    let outcome = run(&log(), &tasks, drawn(plan(Algorithm::Asha, 500)), 1);
    let search = outcome.search.unwrap();
    courses_are_sound(&search);
    assert_eq!(outcome.summary.ended, Ended::LogEnded);
    let training = search
        .trials
        .iter()
        .filter(|t| t.state == TrialState::Training);
    assert_eq!(training.count(), 5);
    assert!(search.trials.len() < 500);
}

#[test]
fn rungs_are_seen_by_objectives() {
    let (log, tasks) = (log(), [network("small", 9000.0)]);
    let median = |text: &str| {
        let options = Options {
            search: Some(Arc::new(drawn(plan(Algorithm::Asha, 60)))),
            objective: text.parse().unwrap(),
            completion_events: true,
            ..options(120.0, 20)
        };
        let outcome = replay(&log, &tasks, &options, &mut solver(SolverKind::Exact)).unwrap();
        outcome.search.unwrap().rungs.last().unwrap().first_s
    };
    // The first objective favours trials at higher rungs, which therefore reach the last rung sooner.
    assert!(median("pow(100, rung) * rate") < median("pow(0.01, rung) * rate"));
}

#[test]
fn times_of_a_search_do_not_go_back() {
    let outcome = run(
        &log(),
        &[network("n", 2000.0)],
        drawn(plan(Algorithm::Hyperband, 0)),
        5,
    );
    let times: Vec<Utc> = outcome
        .search
        .unwrap()
        .events
        .iter()
        .map(|row| row.time)
        .collect();
    assert!(times.is_sorted());
    // Hyperband at R = 9 and eta = 3: brackets of 9, 5 and 3 trials.
    assert_eq!(outcome.summary.trials_started, Some(17));
}
