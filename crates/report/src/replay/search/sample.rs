//! A small search, and the replay that ran it.

use gleaner_domain::results::replay::Summary;
use gleaner_domain::results::search::{
    Losses, RungRow, SearchOutcome, SearchRow, TrialEvent, TrialRow, TrialState,
};
use gleaner_domain::{Local, Utc};
use gleaner_runs::read::ReplayRun;
use serde_json::{Value, json};

/// The summary of a replay without a search.
const SUMMARY: &str = r#"{
    "complete": true, "ended": "log_ended", "t_fwd": 120.0, "max_tasks": 10,
    "objective": "trial", "objective_expression": "1", "node_choice": "blocks",
    "solver": "exact", "formulation": null,
    "log_from": "2026-01-01 00:00:00", "log_to": "2026-01-01 05:00:00",
    "log_span_seconds": 18000.0, "log_idle_node_seconds": 90.0,
    "from": "2026-01-01 00:00:00", "to": "2026-01-01 05:00:00",
    "span_seconds": 18000.0, "active_seconds": 120.0, "nodes": 3, "events": 0,
    "events_optimal": 0, "events_kept": 0, "total_work": 200.0,
    "idle_node_seconds": 90.0, "unused_node_seconds": 30.0, "used_node_seconds": 60.0,
    "before_completion_node_seconds": 60.0, "after_completion_node_seconds": 0.0,
    "below_minimum_node_seconds": 0.0, "completion_events": true, "gross_work": 200.5,
    "rescale_loss": 0.5, "preemption_loss": 0.0, "after_completion_work": 0.0,
    "used_share": 0.6667, "useful_share": 0.9975, "tasks_hit_mean": null,
    "equivalent_nodes": 0.75, "dedicated_work": 20.0,
    "efficiency": null, "fluid_work": 21.0, "fluid_efficiency": 0.8, "tasks": 2,
    "rounds": 1, "tasks_endless": 1, "tasks_started": 1, "tasks_finished": 0,
    "completion_mean_s": null, "completion_median_s": null, "completion_last_s": null,
    "fairness_min": 0.25, "fairness_jain": 0.5
}"#;

/// A replay from 00:00 to 05:00 that did 200 units of work.
pub fn replay(search: Option<SearchOutcome>) -> ReplayRun {
    let mut value: Value = serde_json::from_str(SUMMARY).unwrap();
    if search.is_some() {
        let of_search = json!({
            "search": "asha", "trials_started": 6, "trials_stopped": 1, "trials_finished": 4,
            "trials_per_hour": 1.2, "first_rung_s": 1_800.0, "last_rung_s": 3_600.0,
            "best_loss": 0.25, "best_trial_s": 10_800.0, "regret": 0.0, "wasted_work": 50.0,
        });
        let fields = of_search.as_object().unwrap().clone();
        value.as_object_mut().unwrap().extend(fields);
    }
    let summary: Summary = serde_json::from_value(value).unwrap();
    ReplayRun {
        summary,
        steps: Vec::new(),
        tasks: Vec::new(),
        allocations: Vec::new(),
        nodes: Vec::new(),
        fragments: None,
        delays: None,
        class_of_node: None,
        classes: None,
        search,
    }
}

/// The time `minutes` minutes after the first event.
pub fn at(minutes: i64) -> Utc {
    let start: Local = "2026-01-01".parse().unwrap();
    start.from_offset(0).plus_whole(60 * minutes)
}

pub fn trial(trial: u32, state: TrialState, end: Option<i64>, loss: Option<f64>) -> TrialRow {
    TrialRow {
        trial,
        task: "net".to_owned(),
        bracket: 0,
        state,
        start: at(0),
        end: end.map(at),
        resource: 9.0,
        loss,
        final_loss: 0.25,
        work_done: 10.0,
        parameters: String::new(),
        parent: None,
        losses: Losses::default(),
        front: None,
    }
}

/// Trials 0, 1, 3 and 4 reach the last rung, after 1, 2, 3 and 3 hours. Trial 1 does not beat trial
/// 0, and trial 3 does not beat trial 4. Trial 2 is stopped after half an hour, and trial 5 is
/// still training.
pub fn outcome() -> SearchOutcome {
    let reached = |minutes, trial, resource| SearchRow {
        time: at(minutes),
        event: TrialEvent::Reached,
        trial,
        rung: 0,
        resource,
        loss: Some(1.0),
        losses: Losses::default(),
    };
    let rung = |resource, trials, first_s, median_s, best_loss| RungRow {
        resource,
        trials,
        first_s,
        median_s,
        best_loss,
    };
    let promoted = SearchRow {
        event: TrialEvent::Promoted,
        loss: None,
        ..reached(45, 0, 9.0)
    };
    SearchOutcome {
        events: vec![
            reached(30, 0, 3.0),
            reached(30, 2, 3.0),
            promoted,
            reached(60, 0, 9.0),
            reached(90, 1, 3.0),
        ],
        trials: vec![
            trial(0, TrialState::Finished, Some(60), Some(0.5)),
            trial(1, TrialState::Finished, Some(120), Some(0.75)),
            trial(2, TrialState::Stopped, Some(30), Some(0.125)),
            trial(3, TrialState::Finished, Some(180), Some(0.375)),
            trial(4, TrialState::Finished, Some(180), Some(0.25)),
            trial(5, TrialState::Training, None, None),
        ],
        rungs: vec![
            rung(3.0, 3, 1_800.0, 1_800.0, 0.875),
            rung(9.0, 1, 3_600.0, 3_600.0, 0.5),
        ],
    }
}
