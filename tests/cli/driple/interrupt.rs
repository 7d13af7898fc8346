//! Tests that interrupted training runs continue as if they had not been interrupted.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::support::{BUILD, Run, built, command, gleaner};

/// A training run that takes a second or more.
const TRAIN: &str =
    "driple train --data data.safetensors --hidden 8 --depth 6 --epochs 300 --quiet";

/// Starts the training run, and waits for its first checkpoint.
fn begun(here: &Path) -> Child {
    let line = format!("{TRAIN} --checkpoint c --checkpoint-every 1 --history h.csv -o part");
    let mut started = command(here, &line);
    let pipes = started
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = pipes.spawn().unwrap();
    let clock = Instant::now();
    while !here.join("c").exists() && clock.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(2));
    }
    child
}

/// Starts a training run and, after its first checkpoint, calls `end` to stop it. `end` returns whether the training
/// was still running. If it was not, a new run is started.
fn ended(here: &Path, mut end: impl FnMut(Child) -> bool) {
    for _ in 0..20 {
        if end(begun(here)) {
            return;
        }
        for file in ["c", "h.csv", "part"] {
            let _ = fs::remove_file(here.join(file));
        }
    }
    panic!("every training finished before it could be stopped");
}

/// Resumes the training, and compares its model and history with those of an uninterrupted run.
fn assert_resumed_as_uninterrupted(here: &Path) {
    gleaner(here, &format!("{TRAIN} --resume c --history h.csv -o end")).expect(0);
    gleaner(here, &format!("{TRAIN} --history whole.csv -o whole")).expect(0);
    let bytes = |name: &str| fs::read(here.join(name)).unwrap();
    assert_eq!(bytes("end"), bytes("whole"));
    assert_eq!(bytes("h.csv"), bytes("whole.csv"));
}

#[cfg(unix)]
#[test]
fn interrupted_trainings_save_their_best_and_can_be_resumed() {
    let directory = built();
    let here = directory.path();
    ended(here, |child| {
        // `kill` fails if the training has already finished.
        let _ = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        let run: Run = child.wait_with_output().unwrap().into();
        if run.code == Some(0) {
            return false;
        }
        run.expect(130)
            .says(&["continue with --resume c", "interrupted"]);
        true
    });
    gleaner(here, "driple predict --model part --data data.safetensors").expect(0);
    assert_resumed_as_uninterrupted(here);
}

#[test]
fn killed_trainings_are_resumed_from_their_checkpoint() {
    let directory = built();
    let here = directory.path();
    ended(here, |mut child| {
        child.kill().unwrap();
        !child.wait().unwrap().success()
    });
    assert!(!here.join("part").exists());
    assert_resumed_as_uninterrupted(here);
    // The training in the checkpoint `c` is now finished, so resuming it only writes the model.
    gleaner(
        here,
        "driple train --data data.safetensors --resume c -o again",
    )
    .expect(0);
    assert_eq!(
        fs::read(here.join("again")).unwrap(),
        fs::read(here.join("end")).unwrap()
    );
    // The checkpoint can be converted into the model of its best epoch.
    gleaner(here, "driple convert c -o best").expect(0);
    let predict = |model: &str| {
        let line = format!("driple predict --model {model} --data data.safetensors --json");
        gleaner(here, &line).expect(0).out
    };
    assert_eq!(predict("best"), predict("end"));
}

#[test]
fn other_data_and_options_are_refused() {
    let directory = built();
    let here = directory.path();
    let short = TRAIN.replace("300", "2");
    gleaner(here, &format!("{short} --checkpoint c -o m")).expect(0);
    let resume = "driple train --data data.safetensors --resume c -o m";
    let run = gleaner(
        here,
        &format!("{resume} --epochs 9 --rate 0.1 --network gin --compat"),
    )
    .expect(2);
    run.says(&[
        "options contradict --resume c",
        "--epochs is 9, expected 2",
        "--rate",
    ]);
    let run = gleaner(
        here,
        &format!("{resume} --hidden 16 --network gin --compat"),
    )
    .expect(2);
    run.says(&["--hidden is 16, expected 8", "--network is gin", "--compat"]);
    gleaner(here, &format!("{resume} --epochs 2 --hidden 8 --seed 0")).expect(0);
    gleaner(here, &format!("{BUILD} --seed 7 -o data.safetensors")).expect(0);
    gleaner(here, resume)
        .expect(3)
        .says(&["other data (SHA-256 ", "the data on which c was trained"]);
    let bytes = fs::read(here.join("c")).unwrap();
    fs::write(here.join("c"), &bytes[..bytes.len() - 9]).unwrap();
    gleaner(here, resume)
        .expect(3)
        .says(&["c: this is neither"]);
}
