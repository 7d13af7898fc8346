use std::fs;
use std::path::Path;

use gleaner_domain::results::Table;
use gleaner_domain::results::replay::AllocationRow;
use gleaner_frames::{Error, frame, open};

use crate::support::{
    counts, floats, names, replay, texts, wholes, write_replay, write_simulation, write_sweep,
};

#[test]
fn a_replay_has_the_frames_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows = replay();
    write_replay(folder.path(), &rows);
    let run = open(folder.path()).unwrap();
    assert_eq!(run.info.arguments["seed"], 0);
    let frames = run.into_replay().unwrap();
    let allocations = AllocationRow::table(&rows.allocations, &rows.tasks, &rows.nodes, None);
    let search = frames.search.as_ref().unwrap();
    let expected = [
        (Some(&frames.steps), Table::of("steps", &rows.steps)),
        (Some(&frames.tasks), Table::of("tasks", &rows.tasks)),
        (
            frames.fragments.as_ref(),
            Table::of("fragments", &rows.fragments),
        ),
        (Some(&frames.allocations), allocations),
        (Some(&search.events), Table::of("search", &rows.search)),
        (Some(&search.trials), Table::of("trials", &rows.trials)),
        (Some(&search.rungs), Table::of("rungs", &rows.rungs)),
    ];
    for (found, table) in expected {
        let expected = frame(&table).unwrap();
        assert!(found.unwrap().equals_missing(&expected), "{}", table.name);
        assert!(found.unwrap().height() > 0);
    }
    assert_eq!(floats(&frames.tasks, "work"), [None, Some(10.0)]);
    assert_eq!(wholes(&frames.tasks, "start"), [None, Some(60_000_000_000)]);
    assert_eq!(floats(&frames.steps, "gap"), [Some(0.0), None]);
}

#[test]
fn the_summary_of_a_replay_is_one_row() {
    let folder = tempfile::tempdir().unwrap();
    write_replay(folder.path(), &replay());
    let summary = open(folder.path()).unwrap().into_replay().unwrap().summary;
    assert_eq!(summary.height(), 1);
    assert_eq!(floats(&summary, "total_work"), [Some(17.5)]);
    assert_eq!(floats(&summary, "efficiency"), [None]);
    assert_eq!(wholes(&summary, "events"), [Some(2)]);
    assert_eq!(texts(&summary, "solver"), [Some("exact".to_owned())]);
    assert_eq!(texts(&summary, "formulation"), [None]);
    let complete = summary.column("complete").unwrap().bool().unwrap();
    assert_eq!(complete.get(0), Some(true));
}

#[test]
fn a_simulation_has_a_row_for_each_policy_and_job() {
    let folder = tempfile::tempdir().unwrap();
    let figures = write_simulation(folder.path());
    let frames = open(folder.path()).unwrap().into_simulation().unwrap();
    let policies = &frames.policies;
    assert_eq!(texts(policies, "policy"), [Some("fifo".to_owned())]);
    assert_eq!(counts(policies, "gpus"), [Some(figures.gpus)]);
    assert_eq!(floats(policies, "avg_jct_s"), [Some(figures.all.avg_jct_s)]);
    assert_eq!(wholes(policies, "makespan_s"), [Some(100)]);
    assert_eq!(floats(policies, "large_avg_jct_s"), [None]);
    assert_eq!(floats(&frames.vcs, "avg_queue_s"), [Some(15.0), None]);
    assert_eq!(wholes(&frames.vcs, "jobs"), [Some(2), None]);
    assert!(frames.policy("lucid").is_none());
    let fifo = frames.policy("fifo").unwrap();
    assert_eq!(
        names(&fifo.jobs),
        [
            "job_id",
            "vc",
            "gpu_num",
            "submit_time",
            "duration",
            "start_time",
            "end_time",
            "queue",
            "jct",
            "ckpt_times",
            "nodes"
        ]
    );
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(texts(&fifo.jobs, "job_id"), [text("11"), text("12")]);
    assert_eq!(texts(&fifo.jobs, "vc"), [text("vc1"), text("vc2")]);
    assert_eq!(counts(&fifo.jobs, "gpu_num"), [Some(1), Some(16)]);
    assert_eq!(wholes(&fifo.jobs, "submit_time"), [Some(0), Some(10)]);
    assert_eq!(wholes(&fifo.jobs, "start_time"), [Some(0), Some(40)]);
    assert_eq!(wholes(&fifo.jobs, "end_time"), [Some(100), Some(90)]);
    assert_eq!(wholes(&fifo.jobs, "queue"), [Some(0), Some(30)]);
    assert_eq!(wholes(&fifo.jobs, "jct"), [Some(100), Some(80)]);
    assert_eq!(counts(&fifo.jobs, "ckpt_times"), [Some(0), Some(1)]);
    assert_eq!(wholes(&fifo.hours, "start"), [Some(0)]);
}

/// The cells of a column of a CSV file; `None` for an empty cell.
fn cells(file: &Path, name: &str) -> Vec<Option<f64>> {
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let place = heads.iter().position(|head| *head == name).unwrap();
    let cell = |row: Vec<&str>| match row[place] {
        "" => None,
        number => Some(number.parse().unwrap()),
    };
    lines.map(cell).collect()
}

// The program aggregates sweeps without data frames, so the two results are independent.
#[test]
fn the_tables_of_a_sweep_equal_its_aggregation() {
    let folder = tempfile::tempdir().unwrap();
    let works = [2.0, 4.0, 9.0, 4.5, 4.25];
    let rows = works.iter().zip(0..);
    let mut rows: Vec<_> = rows.map(|(&work, seed)| (30.0, seed, work)).collect();
    rows.push((60.5, 0, 4.0));
    write_sweep(folder.path(), &rows);
    let sweep = open(folder.path()).unwrap().into_sweep().unwrap();
    let means = sweep.aggregate("total_work").unwrap();
    for (table, column) in [
        ("settings", "mean"),
        ("settings_se", "standard_error"),
        ("settings_low", "low"),
        ("settings_high", "high"),
    ] {
        let file = folder.path().join(table).with_extension("csv");
        assert_eq!(cells(&file, "seeds"), [Some(5.0), Some(1.0)]);
        let (found, expected) = (cells(&file, "total_work"), floats(&means, column));
        assert_eq!(found.len(), 2, "{table}");
        for (found, expected) in found.into_iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some(), "{table}");
            let difference = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
            assert!(difference.abs() < 1e-12, "{table}: {difference}");
        }
    }
}

#[test]
fn a_sweep_has_a_row_for_each_run() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(
        folder.path(),
        &[(30.0, 0, 5.0), (30.0, 1, 7.0), (60.5, 0, 4.0)],
    );
    let sweep = open(folder.path()).unwrap().into_sweep().unwrap();
    assert_eq!(sweep.by.name, "total_work");
    assert_eq!(
        floats(&sweep.runs, "t_fwd"),
        [Some(30.0), Some(30.0), Some(60.5)]
    );
    assert_eq!(wholes(&sweep.runs, "seed"), [Some(0), Some(1), Some(0)]);
    assert_eq!(texts(&sweep.runs, "solver"), [None, None, None]);
    assert_eq!(
        floats(&sweep.runs, "total_work"),
        [Some(5.0), Some(7.0), Some(4.0)]
    );
    assert_eq!(wholes(&sweep.runs, "events"), [Some(2); 3]);
    assert_eq!(sweep.varied().unwrap(), ["t_fwd"]);
}

#[test]
fn a_run_of_another_subcommand_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path(), &[(30.0, 0, 5.0)]);
    let error = open(folder.path()).unwrap().into_replay().unwrap_err();
    assert!(matches!(error, Error::Command { .. }));
    assert_eq!(
        error.to_string(),
        "found a run of gleaner sweep; name a run directory of gleaner replay"
    );
}
