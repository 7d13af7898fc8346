//! Tests the help of the subcommands, and the samples of `dataset/`.

use std::fs;
use std::process::Command;

use crate::support::{dataset, gleaner, samples};

#[test]
fn every_help_shows_examples() {
    let directory = samples();
    for name in [
        "replay",
        "solve",
        "compare",
        "convert",
        "synth events",
        "synth tasks",
        "synth problems",
        "synth jobs",
        "simulate",
    ] {
        let run = gleaner(directory.path(), &format!("{name} --help")).expect(0);
        let example = format!("gleaner {name} ");
        assert!(
            run.out.contains("Example") && run.out.contains(&example),
            "{}",
            run.out
        );
    }
}

#[test]
fn the_samples_equal_the_output_of_the_script() {
    let directory = tempfile::tempdir().unwrap();
    let script = gleaner_testing::workspace().join("scripts/make-dataset.sh");
    let made = Command::new("bash")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_gleaner"))
        .arg(directory.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut size = 0;
    let cluster = [
        "jobs",
        "vc_config",
        "single_data",
        "colocate_info",
        "throughput_pred",
        "duration_estimate",
    ];
    let cluster = cluster.map(|name| format!("cluster/{name}.csv"));
    let names = [
        "idle.csv",
        "tasks.toml",
        "class-tasks.toml",
        "endless.toml",
        "problems.jsonl",
        "class-problems.jsonl",
        "nas.toml",
        "nas-losses.csv",
    ]
    .map(str::to_owned);
    for name in names.into_iter().chain(cluster) {
        let kept = fs::read(dataset().join(&name)).unwrap();
        size += kept.len();
        assert_eq!(
            kept,
            fs::read(directory.path().join(&name)).unwrap(),
            "{name}: run make dataset"
        );
    }
    assert!(size < 300_000, "{size} bytes of samples");
}
