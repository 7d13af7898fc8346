//! Helpers that write run directories and read the values of columns.

use std::path::Path;

use gleaner_domain::Utc;
use gleaner_domain::results::replay::{
    AllocationRow, EventKind, FragmentRow, StepRow, StepStatus, Summary, TaskRow,
};
use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::search::{
    Losses, RungRow, SearchRow, TrialEvent, TrialRow, TrialState,
};
use gleaner_domain::results::simulate::{self, ByName, Delays, PolicyFigures};
use gleaner_domain::results::states::{IDLE_GPUS, JobRow, PENDING_JOBS, TIME, TOTAL_GPUS};
use gleaner_domain::results::sweep::{Mode, Replication, RunOutcome, RunSummary};
use gleaner_domain::results::{Column, Table};
use gleaner_frames::polars::prelude::DataFrame;
use gleaner_runs::run::{End, RunDir};
use gleaner_runs::sweep;
use gleaner_runs::sweep::SweepRun;
use serde_json::{Value, json};

/// The values of a column of numbers.
pub fn floats(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    let values = frame.column(column).unwrap().f64().unwrap();
    values.iter().collect()
}

/// The values of a column of whole numbers.
pub fn wholes(frame: &DataFrame, column: &str) -> Vec<Option<i64>> {
    let values = frame.column(column).unwrap().i64().unwrap();
    values.iter().collect()
}

/// The values of a column of counts.
pub fn counts(frame: &DataFrame, column: &str) -> Vec<Option<u64>> {
    let values = frame.column(column).unwrap().u64().unwrap();
    values.iter().collect()
}

/// The values of a column of strings.
pub fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let values = frame.column(column).unwrap().str().unwrap();
    let values = values.iter();
    values.map(|text| text.map(str::to_owned)).collect()
}

/// The names of all columns.
pub fn names(frame: &DataFrame) -> Vec<&str> {
    let names = frame.get_column_names().into_iter();
    names.map(|name| name.as_str()).collect()
}

/// The rows of a small replay, which are not necessarily consistent with each other.
pub struct Replay {
    pub steps: Vec<StepRow>,
    pub tasks: Vec<TaskRow>,
    pub allocations: Vec<AllocationRow>,
    pub fragments: Vec<FragmentRow>,
    pub nodes: Vec<String>,
    pub search: Vec<SearchRow>,
    pub trials: Vec<TrialRow>,
    pub rungs: Vec<RungRow>,
    pub summary: Summary,
}

pub fn replay() -> Replay {
    let time = Utc::from_seconds;
    let task = |name: &str, work: f64| TaskRow {
        name: name.to_owned(),
        submit: time(0),
        start: (name == "b").then_some(time(60)),
        end: None,
        work,
        work_done: 2.5,
        node_seconds: 60.0,
        rescales_up: 1,
        rescales_down: 0,
        preemptions: 2,
        lost_up: 0.5,
        lost_down: 0.0,
        lost_preempted: 1.0,
        active_seconds: 120.0,
        normalised_progress: (name == "b").then_some(0.25),
        deadline: None,
        before_completion_node_seconds: 60.0,
        after_completion_node_seconds: 0.0,
        below_minimum_node_seconds: 0.0,
        gross_work: 3.5,
        rescale_loss: 0.5,
        preemption_loss: 0.5,
        after_completion_work: 0.0,
    };
    let step = |second: i64, gap: Option<f64>| StepRow {
        time: Utc(second * 1_000_000_000 + 5_000_000),
        progress: 1.5 * second as f64,
        rate: 2.0,
        rescale_cost: 0.25,
        event: second as usize,
        nodes_left: 1,
        tasks_preempted: 0,
        nodes_joined: 2,
        tasks_active: 2,
        nodes_idle: 3,
        tasks_running: 1,
        nodes_used: 3,
        preemption_cost: 0.0,
        kind: EventKind::Nodes,
        solver: "exact".into(),
        status: StepStatus::Optimal,
        gap,
        idle_node_seconds: 90.0,
        unused_node_seconds: 30.0,
        used_node_seconds: 60.0,
        before_completion_node_seconds: 60.0,
        after_completion_node_seconds: 0.0,
        below_minimum_node_seconds: 0.0,
        gross_work: 2.0,
        rescale_loss: 0.5,
        after_completion_work: 0.0,
    };
    let fragment = |from_s: f64, to_s: Option<f64>| FragmentRow {
        from_s,
        to_s,
        fragments: 3,
        node_seconds: 90.0,
    };
    Replay {
        steps: vec![step(1, Some(0.0)), step(2, None)],
        tasks: vec![task("a", f64::INFINITY), task("b", 10.0)],
        allocations: vec![AllocationRow {
            task: 1,
            node: 0,
            from: time(60),
            to: time(120),
        }],
        fragments: vec![fragment(0.0, Some(60.0)), fragment(60.0, None)],
        nodes: vec!["n7".to_owned()],
        search: vec![SearchRow {
            time: time(60),
            event: TrialEvent::Reached,
            trial: 3,
            rung: 0,
            resource: 9.0,
            loss: Some(0.5),
            losses: Losses::default(),
        }],
        trials: vec![TrialRow {
            trial: 3,
            task: "b".to_owned(),
            bracket: 0,
            state: TrialState::Finished,
            start: time(0),
            end: Some(time(60)),
            resource: 9.0,
            loss: Some(0.5),
            final_loss: 0.25,
            work_done: 2.5,
            parameters: r#"{"lr":0.1}"#.to_owned(),
            parent: Some(0),
            losses: Losses::from_json(r#"{"error":0.5,"latency":null}"#).unwrap(),
            front: Some(1),
        }],
        rungs: vec![RungRow {
            resource: 9.0,
            trials: 1,
            first_s: 60.0,
            median_s: 60.0,
            best_loss: 0.5,
        }],
        summary: summary(17.5),
    }
}

/// The summary of a replay whose total work is `work`.
pub fn summary(work: f64) -> Summary {
    let value = json!({
        "complete": true, "ended": "log_ended", "t_fwd": 120.0, "max_tasks": 10,
        "objective": "throughput", "objective_expression": "rate", "node_choice": "blocks", "solver": "exact", "formulation": null,
        "log_from": "1970-01-01 00:00:00", "log_to": "1970-01-01 00:02:00",
        "log_span_seconds": 120.0, "log_idle_node_seconds": 90.0,
        "from": "1970-01-01 00:00:00", "to": "1970-01-01 00:02:00",
        "span_seconds": 120.0, "active_seconds": 120.0, "nodes": 3, "events": 2,
        "events_optimal": 2, "events_kept": 0, "total_work": work,
        "idle_node_seconds": 90.0, "unused_node_seconds": 30.0, "used_node_seconds": 60.0,
        "before_completion_node_seconds": 60.0, "after_completion_node_seconds": 0.0,
        "below_minimum_node_seconds": 0.0, "completion_events": true, "gross_work": work + 0.5,
        "rescale_loss": 0.5, "preemption_loss": 0.0, "after_completion_work": 0.0, "tasks_hit_mean": null,
        "equivalent_nodes": 0.75, "dedicated_work": 20.0,
        "efficiency": null, "fluid_work": 21.0, "fluid_efficiency": 0.8, "tasks": 2,
        "rounds": 1, "tasks_endless": 1, "tasks_started": 1, "tasks_finished": 0,
        "completion_mean_s": null, "completion_median_s": null, "completion_last_s": null,
        "fairness_min": 0.25, "fairness_jain": 0.5,
    });
    serde_json::from_value(value).unwrap()
}

pub fn write_replay(path: &Path, replay: &Replay) {
    let dir = RunDir::open(path, "replay", &json!({"seed": 0})).unwrap();
    let allocations = AllocationRow::table(&replay.allocations, &replay.tasks, &replay.nodes, None);
    let tables = [
        Table::of("steps", &replay.steps),
        Table::of("tasks", &replay.tasks),
        Table::of("fragments", &replay.fragments),
        Table::of("search", &replay.search),
        Table::of("trials", &replay.trials),
        Table::of("rungs", &replay.rungs),
        allocations,
    ];
    for table in &tables {
        dir.write_parquet(table).unwrap();
    }
    dir.write_json("summary.json", &replay.summary).unwrap();
    finish(dir);
}

/// Writes the run directory of a simulation of two jobs under `fifo`.
pub fn write_simulation(path: &Path) -> PolicyFigures {
    let dir = RunDir::open(path, "simulate", &Value::Null).unwrap();
    let first = JobRow {
        id: "11".into(),
        vc: "vc1".into(),
        gpus: 1,
        submit: 0,
        duration: 100,
        start: 0,
        end: 100,
        queue: 0,
        jct: 100,
        checkpoints: 0,
        nodes: "[{0: [0]}]".into(),
    };
    let second = JobRow {
        id: "12".into(),
        vc: "vc2".into(),
        gpus: 16,
        submit: 10,
        duration: 50,
        start: 40,
        end: 90,
        queue: 30,
        jct: 80,
        checkpoints: 1,
        nodes: "[{1: [0, 1]}]".into(),
    };
    let jobs = [first, second];
    let jobs = Table::of("fifo_jobs", &jobs);
    dir.write_parquet(&jobs).unwrap();
    let whole = |values: [i64; 2]| Column::Whole(values.to_vec());
    let states = [TIME, TOTAL_GPUS, IDLE_GPUS, PENDING_JOBS];
    let columns = [
        whole([0, 60]),
        whole([16, 16]),
        whole([15, 0]),
        whole([0, 1]),
    ];
    dir.write_parquet(&Table::named("fifo_seq", &states, columns))
        .unwrap();
    let delays = |jobs: u64| Delays {
        avg_jct_s: 90.0,
        avg_queue_s: 15.0,
        p999_queue_s: 30.0,
        jobs,
    };
    let vcs = vec![
        ("vc1".to_owned(), Some(delays(2))),
        ("vc2".to_owned(), None),
    ];
    let figures = PolicyFigures {
        all: delays(2),
        makespan_s: 100,
        gpus: 16,
        gpu_utilisation: 0.5,
        checkpoints: 1,
        small: Some(delays(1)),
        large: None,
        vcs: ByName(vcs),
        sha256: None,
        ..PolicyFigures::default()
    };
    let summary = simulate::Summary {
        policies: ByName(vec![("fifo".to_owned(), figures.clone())]),
        seq_step_s: 60,
        ..simulate::Summary::default()
    };
    dir.write_json("summary.json", &summary).unwrap();
    finish(dir);
    figures
}

/// Writes the run directory of a sweep of replays. Each row holds the window, the seed and the work of a replay.
pub fn write_sweep(path: &Path, rows: &[(f64, i64, f64)]) {
    let dir = RunDir::open(path, "sweep", &Value::Null).unwrap();
    let run = |(window, seed, _): &(f64, i64, f64)| SweepRun {
        key: format!("{window}-{seed}"),
        settings: json!({"t_fwd": window, "seed": seed, "objective": "throughput"}),
    };
    let runs: Vec<SweepRun> = rows.iter().map(run).collect();
    let results = rows.iter().map(|row| RunOutcome {
        summary: RunSummary::Replay(Box::new(summary(row.2))),
        program: None,
    });
    let results: Vec<RunOutcome> = results.collect();
    let by = Mode::Replay.metric("total_work").unwrap();
    let swept = sweep::Sweep::new(&runs, &results, Mode::Replay, by, Replication::Seeds);
    dir.write_table(&sweep::table(&swept)).unwrap();
    for table in sweep::settings(&swept) {
        dir.write_table(&table).unwrap();
    }
    dir.write_json("summary.json", &sweep::summary(&swept))
        .unwrap();
    finish(dir);
}

pub fn finish(dir: RunDir) {
    let end = End {
        sources: &[],
        complete: true,
        seconds: Seconds::default(),
    };
    dir.finish(&end).unwrap();
}
