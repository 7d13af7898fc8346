use super::*;
use crate::{ClassTerms, ScalingCurve, TrainingTask, Utc};

fn task(min_nodes: u32, progress: [f64; 3]) -> TrainingTask {
    TrainingTask {
        name: "t".into(),
        submit: TrainingTask::FROM_START,
        min_nodes,
        max_nodes: 4,
        rescale_up: 0.0,
        rescale_down: 0.0,
        work: 1000.0,
        priority: 3.0,
        deadline: None,
        rung: 2,
        classes: ClassTerms::default(),
        curve: ScalingCurve {
            nodes: [0, 2, 4].into(),
            progress: progress.into(),
            objective: [0.0, 1.0, 1.5].into(),
        },
    }
}

const STATE: TaskState = TaskState {
    done: 600.0,
    left: 400.0,
    waited: 50.0,
    deadline: f64::INFINITY,
};

fn objective(text: &str) -> Objective {
    text.parse().unwrap()
}

/// The values of the objective `text` at the points of the task's curve.
fn values_in(text: &str, task: &TrainingTask, state: TaskState) -> Result<Vec<f64>, String> {
    let objective = objective(text);
    let list = objective.values(task, &objective.constants(task), &state);
    let list = list.map_err(|fault| fault.to_string())?;
    Ok(list.rates.iter().map(|rate| list.weight * rate).collect())
}

fn values(text: &str, task: &TrainingTask) -> Vec<f64> {
    values_in(text, task, STATE).unwrap()
}

#[test]
fn values_follow_the_expression() {
    let task = task(2, [0.0, 100.0, 160.0]);
    for (text, expected) in [
        ("file", [0.0, 1.0, 1.5]),
        ("throughput", [0.0, 100.0, 160.0]),
        ("speedup", [0.0, 2.0, 3.2]),
        ("priority-weighted", [0.0, 3.0, 4.5]),
        ("share-fair", [0.0, 100.0, 160.0]),
        ("trial", [0.0, 3.0 * 100.0 / 400.0, 3.0 * 160.0 / 400.0]),
        ("deadline", [0.0, 0.1 * 2.0, 0.1 * 3.2]),
        ("rate / 2", [0.0, 50.0, 80.0]),
        ("rate + 1", [0.0, 101.0, 161.0]),
        ("nodes", [0.0, 2.0, 4.0]),
        ("max_nodes * nodes + min_nodes + waited", [0.0, 60.0, 68.0]),
        ("min(rate, 120) * best_rate", [0.0, 16_000.0, 19_200.0]),
        ("done / left", [0.0, 1.5, 1.5]),
        ("objective * speedup", [0.0, 2.0, 4.8]),
        ("max-min: objective", [0.0, 1.0, 1.5]),
    ] {
        let found = values(text, &task);
        let near = found
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() <= 1e-12 * b);
        assert!(near, "{text}: {found:?}, expected {expected:?}");
    }
}

// The task must do 400 units of work in 5 s, at half of its best rate of 160 units per second.
#[test]
fn tasks_with_less_slack_are_worth_more_until_they_are_hopeless() {
    let task = task(2, [0.0, 100.0, 160.0]);
    let best = |deadline| values_in("deadline", &task, TaskState { deadline, ..STATE }).unwrap()[2];
    assert!((best(5.0) - 3.2 * 0.6).abs() < 1e-12);
    assert!(best(2.6) > best(5.0) && best(5.0) > best(50.0));
    for hopeless in [2.5, 0.0, -1.0] {
        assert!((best(hopeless) - 0.32).abs() < 1e-12);
    }
    let state = TaskState {
        left: f64::INFINITY,
        deadline: 5.0,
        ..STATE
    };
    let endless = TrainingTask {
        work: f64::INFINITY,
        ..task
    };
    assert!((values_in("deadline", &endless, state).unwrap()[2] - 0.32).abs() < 1e-12);
}

#[test]
fn a_task_without_progress_at_its_minimum_has_a_speedup() {
    assert_eq!(
        values("speedup", &task(1, [0.0, 0.0, 80.0])),
        [0.0, 0.0, 4.0]
    );
    assert_eq!(values("speedup", &task(1, [0.0; 3])), [0.0; 3]);
}

#[test]
fn a_list_times_a_factor_shares_the_tasks_own_list() {
    let task = task(2, [0.0, 100.0, 160.0]);
    for (text, is_shared) in [
        ("rate * priority / left", true),
        ("speedup", true),
        ("rate + 0", false),
    ] {
        let objective = objective(text);
        let list = objective
            .values(&task, &objective.constants(&task), &STATE)
            .unwrap();
        let own = list.rates.as_ptr() == task.curve.progress.as_ptr();
        assert_eq!(own, is_shared, "{text}");
    }
}

#[test]
fn points_that_no_number_of_nodes_needs_are_not_evaluated() {
    let of = |min_nodes, max_nodes, nodes: &[u32]| {
        let rates: Vec<f64> = nodes.iter().map(|&n| f64::from(n)).collect();
        let curve = ScalingCurve {
            nodes: nodes.into(),
            progress: rates.clone().into(),
            objective: rates.into(),
        };
        let task = TrainingTask {
            min_nodes,
            max_nodes,
            curve,
            ..task(1, [0.0; 3])
        };
        values("rate + 1", &task)
    };
    assert_eq!(of(2, 4, &[0, 1, 2, 4, 8]), [0.0, 0.0, 3.0, 5.0, 0.0]);
    assert_eq!(of(3, 5, &[0, 1, 2, 4, 8]), [0.0, 0.0, 3.0, 5.0, 9.0]);
    assert_eq!(of(1, 8, &[0, 4, 8]), [0.0, 5.0, 9.0]);
    assert_eq!(of(8, 8, &[0, 4, 8]), [0.0, 0.0, 9.0]);
}

#[test]
fn values_out_of_range_are_refused_with_what_led_to_them() {
    let task = task(2, [0.0, 100.0, 160.0]);
    for (text, part) in [
        (
            "rate - 120",
            "is -20 for task \"t\" on 2 nodes with done = 600, left = 400",
        ),
        ("rate / 0", "is inf"),
        ("-rate", "is -100"),
        ("rate * (0 / 0)", "is NaN"),
        ("rate * 1e99", "expected 0, or 1e-100 to 1e100"),
    ] {
        let fault = values_in(text, &task, STATE).unwrap_err();
        assert!(fault.contains(part), "{text}: {fault}");
    }
    assert_eq!(values("rate * 1e-200", &task), [0.0; 3]);
    assert_eq!(values("0 * rate", &task), [0.0; 3]);
}

/// The result of checking the objective on a log of 100 s.
fn checked(text: &str, task: TrainingTask) -> Result<(), String> {
    let situation = Situation {
        start: Utc::from_seconds(1000),
        end: Utc::from_seconds(1100),
        max_tasks: 1,
    };
    let checked = objective(text).check(&[task], situation);
    checked.map_err(|error| error.to_string())
}

#[test]
fn a_check_finds_what_goes_wrong_only_later() {
    let due = |deadline| TrainingTask {
        deadline: Some(Utc::from_seconds(deadline)),
        ..task(2, [0.0, 100.0, 160.0])
    };
    assert_eq!(checked("rate / deadline", due(1200)), Ok(()));
    let fault = checked("rate / deadline", due(1050)).unwrap_err();
    assert!(fault.contains("deadline = -50"), "{fault}");
    assert_eq!(
        checked("rate * left / done", due(1050)).map_err(|e| e.contains("done = 0,")),
        Err(true)
    );
    assert_eq!(
        checked("rate * (50 - waited)", due(1050)).map_err(|e| e.contains("waited = 100")),
        Err(true)
    );
    assert_eq!(
        checked("rate * (left - 1)", due(1050))
            .map_err(|e| e.contains("left = 1.0000000000000002e-6")),
        Err(true)
    );
    let endless = TrainingTask {
        work: f64::INFINITY,
        ..due(1200)
    };
    assert_eq!(checked("rate / left", endless.clone()), Ok(()));
    assert!(checked("rate * left", endless).is_err());
}

#[test]
fn names_stand_for_their_expressions() {
    for named in NAMED {
        let objective = objective(named.name);
        assert_eq!(
            (objective.as_str(), objective.goal()),
            (named.name, named.goal)
        );
        let again: Objective = objective.expression().parse().unwrap();
        assert_eq!(again.goal(), named.goal);
        let tasks = [task(2, [0.0, 100.0, 160.0]), task(1, [0.0, 3.0, 2.0])];
        for task in tasks {
            assert_eq!(values(named.name, &task), values(again.as_str(), &task));
        }
    }
    assert_eq!(Objective::default().as_str(), "file");
}

#[test]
fn texts_that_are_no_objective_are_refused_with_the_place() {
    for (text, part) in [
        ("fair", "column 1: found `fair`"),
        ("max-min: rat", "column 10: found `rat`"),
        ("rate *", "column 7"),
        ("", "an objective is one of file, throughput"),
    ] {
        let fault = text.parse::<Objective>().unwrap_err();
        assert!(fault.contains(part), "{text}: {fault}");
    }
}

#[test]
fn objectives_survive_json() {
    for text in ["file", "rate / left", "max-min: rate"] {
        let json = serde_json::to_string(&objective(text)).unwrap();
        assert_eq!(json, format!("{text:?}"));
        assert_eq!(
            serde_json::from_str::<Objective>(&json).unwrap(),
            objective(text)
        );
    }
    let fault = serde_json::from_str::<Objective>("\"rat\"").unwrap_err();
    assert!(fault.to_string().contains("column 1"));
}

#[test]
fn only_what_changes_with_time_varies() {
    for (text, varies) in [
        ("file", false),
        ("priority * rung", false),
        ("deadline", true),
        ("rate / left", true),
    ] {
        assert_eq!(objective(text).varies(), varies, "{text}");
    }
}
