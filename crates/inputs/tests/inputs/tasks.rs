//! Tests that tasks are read correctly from every format.

use std::sync::Arc;

use gleaner_domain::{ClassTerms, ScalingCurve, TrainingTask, Utc};
use gleaner_inputs::tasks::read;
use gleaner_solvers::Rates;

use super::support::{bounds_on_the_curve, file, fixture, fixtures, published};

/// The tasks in the fixtures.
fn expected() -> Vec<TrainingTask> {
    let nodes: Arc<[u32]> = [0, 1, 2, 4].into();
    let task = |name: &str, curve| TrainingTask {
        name: name.to_owned(),
        submit: Utc::from_seconds(1_612_915_732),
        min_nodes: 1,
        max_nodes: 4,
        rescale_up: 20.0,
        rescale_down: 5.0,
        work: 1.5e9,
        priority: 1.0,
        deadline: None,
        rung: 0,
        classes: ClassTerms::default(),
        curve,
    };
    let progress = Rates::from([0.0, 2831.0, 5259.0, 9988.0]);
    let first = ScalingCurve {
        nodes: nodes.clone(),
        objective: progress.clone(),
        progress,
    };
    let second = ScalingCurve {
        nodes,
        progress: [0.0, 10.5, 20.0, 30.0].into(),
        objective: [0.0, 1.0, 1.5, 2.0].into(),
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
        // These paths have no extension, like the path of stdin, so the format is recognised by the content.
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
        // In the pickles, both tasks have a submission time, and the first task has its own
        // objective.
        wanted[0].curve.objective = [0.0, 1.0, 1.857, 3.5].into();
        wanted[1].submit = Utc::from_seconds(1_612_915_732 + 600);
        assert_eq!(
            read(&sound, Some(&curves), false).unwrap().value.tasks,
            wanted,
            "{name}"
        );

        // In the original pickle, the tasks may use more nodes than their curves cover.
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

/// Whether all tasks share the same lists in memory, instead of having equal copies.
fn share_one_curve(tasks: &[TrainingTask]) -> bool {
    let first = &tasks[0].curve;
    tasks.iter().all(|task| {
        let own = &task.curve;
        Arc::ptr_eq(&own.nodes, &first.nodes)
            && Arc::ptr_eq(own.progress.list(), first.progress.list())
            && Arc::ptr_eq(own.objective.list(), first.objective.list())
    })
}

#[test]
fn equal_curves_are_one_in_every_format() {
    let toml_task = |i, curve: &str| {
        format!(
            "[[task]]\nname = 't{i}'\nmin_nodes = 1\nmax_nodes = 2\nrescale_up = 1\n\
             rescale_down = 1\nwork = 1\ncurve = {curve}\n"
        )
    };
    let own = "{ nodes = [0, 2], progress = [0, 3] }";
    let named = format!(
        "[curve.c]\nnodes = [0, 2]\nprogress = [0, 3]\n{}{}{}",
        toml_task(0, "'c'"),
        toml_task(1, "'c'"),
        toml_task(2, own)
    );
    let inline = [toml_task(0, own), toml_task(1, own)].concat();
    let json_task = |i| {
        format!(
            "{{\"name\": \"t{i}\", \"min_nodes\": 1, \"max_nodes\": 2, \"rescale_up\": 1, \
             \"rescale_down\": 1, \"work\": 1, \"curve\": {{\"nodes\": [0, 2], \"progress\": [0, 3]}}}}"
        )
    };
    let json = format!("{{\"task\": [{}, {}]}}", json_task(0), json_task(1));
    let header = "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress";
    let csv = format!("{header}\na,1,2,1,1,1,0;2,0;3\nb,1,2,1,1,1,0 2,0 3\n");
    for (name, text) in [
        ("named.toml", named),
        ("inline.toml", inline),
        ("tasks.json", json),
        ("tasks.csv", csv),
    ] {
        let (_folder, path) = file(name, text);
        let tasks = read(&path, None, false).unwrap().value.tasks;
        assert!(tasks.len() > 1 && share_one_curve(&tasks), "{name}");
    }
}

#[test]
fn curves_of_published_pickles_are_shared() {
    let (Some(bounds), Some(curves)) = (
        published("hps-shufflenet-Jbnd-1000J.pkl"),
        published("hps-shufflenet-JNPs-1000J.pkl"),
    ) else {
        return;
    };
    let tasks = read(&bounds, Some(&curves), false).unwrap().value.tasks;
    assert!(tasks.len() == 1000 && share_one_curve(&tasks));
}
