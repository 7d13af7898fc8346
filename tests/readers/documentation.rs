//! The examples in dataset/README.md can be read, and those of one kind are equal.

use gleaner_driple::dataset::job::JobName;
use gleaner_formats::ingest::driple::table;
use gleaner_formats::ingest::{events, tasks};

use gleaner_sweep::Plan;

use crate::support::{file, log};

/// The fenced examples, each as extension, kind and text.
fn examples() -> Vec<(String, String, String)> {
    let path = gleaner_testing::workspace().join("dataset/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("\n```").skip(1).step_by(2);
    let example = |block: &str| {
        let (info, text) = block.split_once('\n').unwrap();
        let (extension, kind) = info.split_once(' ').unwrap();
        (extension.to_owned(), kind.to_owned(), format!("{text}\n"))
    };
    blocks.map(example).collect()
}

#[test]
fn examples_of_event_logs_are_the_same_log() {
    const START: f64 = 1_612_915_732.0;
    let expected = log(
        &["a01", "a02"],
        &[
            (START, &[(0, true)]),
            (START + 2396.0, &[(1, true)]),
            (START + 2598.0, &[]),
            (START + 2768.25, &[(0, false)]),
        ],
    );
    let mut found = 0;
    for (extension, _, text) in examples().iter().filter(|(_, kind, _)| kind == "events") {
        let (_folder, path) = file(&format!("log.{extension}"), text);
        assert_eq!(events::read(&path).unwrap().value, expected);
        found += 1;
    }
    assert_eq!(found, 2);
}

#[test]
fn examples_of_plans_are_sound() {
    let plans: Vec<_> = examples()
        .into_iter()
        .filter(|(_, kind, _)| kind == "plan")
        .map(|(_, _, text)| {
            let (_folder, path) = file("plan.toml", &text);
            gleaner_sweep::read(&path).unwrap().value
        })
        .collect();
    let [Plan::Replay(replays), Plan::Simulate(simulations)] = &plans[..] else {
        panic!("{plans:?}");
    };
    assert_eq!(replays.expand().len(), 2 * 2 * 3 * 2 * 2 * 3);
    assert_eq!(simulations.expand().len(), 3 * 2);
}

#[test]
fn examples_of_tasks_are_the_same_tasks() {
    let mut read = Vec::new();
    for (extension, _, text) in examples().iter().filter(|(_, kind, _)| kind == "tasks") {
        let (_folder, path) = file(&format!("tasks.{extension}"), text);
        read.push(tasks::read(&path, None, false).unwrap().value.tasks);
    }
    assert_eq!(read.len(), 3);
    assert_eq!(read[0].len(), 2);
    assert!(read.iter().all(|tasks| *tasks == read[0]));
    let priorities = [read[0][0].priority, read[0][1].priority];
    assert_eq!(priorities, [1.0, 2.0]);
}

#[test]
fn examples_of_tables_that_graphs_go_with_are_sound() {
    let of_kind = |kind: &str| {
        let (extension, _, text) = examples().into_iter().find(|(_, k, _)| k == kind).unwrap();
        file(&format!("table.{extension}"), &text)
    };
    let (_folder, path) = of_kind("measurements");
    let measured = table::measurements(&path).unwrap().value;
    let job = JobName::parse("V100_Cifar10_ResNet18_Async_b192-momentum_job0001.pbtxt").unwrap();
    assert_eq!(measured.labels(&job).unwrap()[..3], [0.0056, 0.0015, 23.5]);
    let (_folder, path) = of_kind("frequencies");
    let frequencies = table::frequencies(&path).unwrap().value;
    assert_eq!(frequencies.get("MatMul"), Some(0.012));
}
