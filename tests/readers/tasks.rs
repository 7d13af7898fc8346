//! Tasks in every format; small fixed examples.

use gleaner::domain::{ScalingCurve, Time, TrainingTask};
use gleaner::ingest::tasks::read;

use crate::support::{bounds_on_the_curve, file, fixture, fixtures};

/// The tasks that the fixtures hold.
fn expected() -> Vec<TrainingTask> {
    let nodes = vec![0, 1, 2, 4];
    let task = |name: &str, curve| TrainingTask {
        name: name.to_owned(),
        submit: Time::from_seconds(1_612_915_732),
        min_nodes: 1,
        max_nodes: 4,
        rescale_up: 20.0,
        rescale_down: 5.0,
        work: 1.5e9,
        priority: 1.0,
        curve,
    };
    let progress = vec![0.0, 2831.0, 5259.0, 9988.0];
    let first = ScalingCurve {
        nodes: nodes.clone(),
        objective: progress.clone(),
        progress,
    };
    let second = ScalingCurve {
        nodes,
        progress: vec![0.0, 10.5, 20.0, 30.0],
        objective: vec![0.0, 1.0, 1.5, 2.0],
    };
    vec![
        task("J00000", first),
        TrainingTask {
            submit: TrainingTask::FROM_START,
            min_nodes: 2,
            max_nodes: 3,
            rescale_up: 30.5,
            rescale_down: 7.25,
            work: 2.5e8,
            ..task("J00001", second)
        },
    ]
}

const TOML: &str = r#"
[curve.second]
nodes = [0, 1, 2, 4]
progress = [0, 10.5, 20.0, 30.0]
objective = [0, 1, 1.5, 2]

[[task]]
name = "J00000"
submit = 2021-02-10 00:08:52
min_nodes = 1
max_nodes = 4
rescale_up = 20
rescale_down = 5
work = 1.5e9
curve = { nodes = [0, 1, 2, 4], progress = [0, 2831, 5259, 9988] }

[[task]]
name = "J00001"
min_nodes = 2
max_nodes = 3
rescale_up = 30.5
rescale_down = 7.25
work = 250_000_000
curve = "second"
"#;

const JSON: &str = r#"{
  "task": [
    {"name": "J00000", "submit": "2021-02-10T00:08:52", "min_nodes": 1, "max_nodes": 4,
     "rescale_up": 20, "rescale_down": 5, "work": 1.5e9,
     "curve": {"nodes": [0, 1, 2, 4], "progress": [0, 2831, 5259, 9988], "objective": null}},
    {"name": "J00001", "submit": null, "min_nodes": 2, "max_nodes": 3,
     "rescale_up": 30.5, "rescale_down": 7.25, "work": 250000000, "curve": "second"}
  ],
  "curve": {"second": {"nodes": [0, 1, 2, 4], "progress": [0, 10.5, 20, 30], "objective": [0, 1, 1.5, 2]}}
}"#;

const CSV: &str = "\
curve_nodes,name,submit,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_progress,curve_objective
0;1;2;4,J00000,2021-02-10 00:08:52,1,4,20,5,1.5e9,0;2831;5259;9988,
0 1 2 4, J00001 ,,2,3,30.5,7.25,250000000,0 10.5 20 30,0; 1; 1.5; 2
";

#[test]
fn texts_of_every_format_give_the_tasks() {
    for (name, text) in [
        ("tasks.toml", TOML),
        ("tasks.json", JSON),
        ("tasks.csv", CSV),
        // Without an ending that tells, as from stdin.
        ("toml", TOML),
        ("json", JSON),
        ("csv", CSV),
    ] {
        let (_folder, path) = file(name, text);
        let loaded = read(&path, None, false).unwrap();
        assert_eq!(loaded.value.tasks, expected(), "{name}");
        assert_eq!(loaded.value.skipped.0, []);
    }
}

#[test]
fn parquet_of_other_programs_gives_the_tasks() {
    for path in fixtures("parquet", "tasks-", ".parquet") {
        let loaded = read(&path, None, false).unwrap();
        assert_eq!(loaded.value.tasks, expected(), "{}", path.display());
    }
}

#[test]
fn pickle_pairs_of_every_release_give_the_tasks() {
    for bounds in fixtures("pickle", "tasks-", ".pkl") {
        let name = bounds.file_name().unwrap().to_str().unwrap();
        let curves = fixture("pickle").join(name.replace("tasks-", "curves-"));
        let (_folder, sound) = file(name, bounds_on_the_curve(&bounds));
        let mut wanted = expected();
        // In the pickles both have a time, and the first an objective of its own.
        wanted[0].curve.objective = vec![0.0, 1.0, 1.857, 3.5];
        wanted[1].submit = Time::from_seconds(1_612_915_732 + 600);
        assert_eq!(
            read(&sound, Some(&curves), false).unwrap().value.tasks,
            wanted,
            "{name}"
        );

        // As they are, the tasks may use more nodes than their curves have.
        let message = read(&bounds, Some(&curves), false).unwrap_err().to_string();
        assert!(
            message.contains("(\"J00000\"), Jmax: found 64, expected at most 4"),
            "{message}"
        );
        assert!(
            message.contains("(\"J00001\"), Jmax: found 32, expected at most 4"),
            "{message}"
        );
    }
}
