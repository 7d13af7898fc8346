//! Tests `gleaner driple train`.

use std::fs;
use std::path::Path;

use gleaner_driple::inspector::{self, Inspector};
use gleaner_driple::model::{Convolution, Depth, Design, weights};
use gleaner_driple::train::Schedule;

use super::support::{BUILD, TINY, built, gleaner, trained};

fn train(here: &Path, more: &str, code: i32) -> crate::runs::Run {
    let line = format!("driple train --data data.safetensors {more}");
    gleaner(here, &line).expect(code)
}

fn model(here: &Path, name: &str) -> Inspector {
    inspector::read(&fs::read(here.join(name)).unwrap()).unwrap()
}

#[test]
fn models_contain_all_that_predictions_need() {
    let directory = built();
    let here = directory.path();
    let run = train(
        here,
        &format!("{TINY} --epochs 4 --history h.csv -o m.safetensors"),
        0,
    );
    for words in [
        "4 epochs in",
        "Test part, 5 jobs",
        "gpu_util.peak",
        "mse of mean",
        "saved as",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let card = model(here, "m.safetensors").card;
    assert_eq!(card.grouping.unwrap().groups, 20);
    assert!(card.scale.is_some() && card.frequencies.is_some());
    let origin = card.provenance.unwrap();
    assert_eq!((origin.epochs, origin.data.len()), (4, 64));
    let history = fs::read_to_string(here.join("h.csv")).unwrap();
    assert!(history.starts_with("epoch,train,val\n0,0."), "{history}");
    assert_eq!(history.lines().count(), 5);
    // The same seed gives the same bytes for any number of threads. Another seed gives different bytes.
    let again = |more: &str| {
        train(
            here,
            &format!("{TINY} --epochs 4 {more} -o again.safetensors"),
            0,
        );
        fs::read(here.join("again.safetensors")).unwrap()
    };
    let first = fs::read(here.join("m.safetensors")).unwrap();
    assert_eq!(again("--threads 1"), first);
    assert_ne!(again("--seed 1"), first);
}

#[test]
fn networks_are_built_as_requested() {
    let directory = built();
    let here = directory.path();
    for (name, convolution) in [
        ("gcn", Convolution::Gcn),
        ("gin", Convolution::Gin),
        ("gat", Convolution::Gat),
        ("mpnn", Convolution::Mpnn),
    ] {
        for compat in ["", "--compat"] {
            let line =
                format!("--network {name} {compat} {TINY} --layers 2 --epochs 1 -o m.safetensors");
            train(here, &line, 0);
            let card = model(here, "m.safetensors").card;
            assert_eq!(card.architecture.convolution, convolution);
            assert_eq!(card.architecture.depth, Depth::Fixed(3));
            assert_eq!(
                (card.architecture.hidden, card.architecture.readout_layers),
                (8, 2)
            );
            let original = compat == "--compat";
            assert_eq!(card.architecture.design == Design::Original, original);
            let constant = card.provenance.unwrap().plan.schedule == Schedule::Constant;
            assert_eq!(constant, original);
        }
    }
    train(here, "--hidden 7 -o m.safetensors", 2).says(&["multiple of 4"]);
    train(here, "--depth deep -o m.safetensors", 2).says(&["half, nodes, root, log"]);
    train(here, "--rate 0 -o m.safetensors", 2).says(&["above 0"]);
    train(here, "--epochs 0 -o m.safetensors", 2);
    train(here, "--learn readout -o m.safetensors", 2).says(&["--from"]);
    train(here, &format!("{TINY} --rate 1e30 -o m.safetensors"), 1)
        .says(&["diverged", "lower --rate"]);
}

#[test]
fn transfer_changes_the_readout_alone() {
    let directory = trained();
    let here = directory.path();
    gleaner(here, "synth graphs --count 10 --setup 2080Ti -o slow").expect(0);
    let line = BUILD.replace("jobs/", "slow/");
    gleaner(here, &format!("{line} -o data.safetensors")).expect(0);
    let line = "--from model.safetensors --learn readout --epochs 2 --quiet -o new.safetensors";
    train(here, line, 0);
    let (old, new) = (
        model(here, "model.safetensors"),
        model(here, "new.safetensors"),
    );
    let (before, after) = (weights(&old.parameters), weights(&new.parameters));
    let changed: Vec<&String> = before
        .keys()
        .filter(|name| before[*name] != after[*name])
        .collect();
    assert!(!changed.is_empty());
    assert!(
        changed
            .iter()
            .all(|name| name.starts_with("graph_read_out.mlp")),
        "{changed:?}"
    );
    assert_ne!(old.card.scale, new.card.scale);
    assert!(new.card.provenance.unwrap().started_from.is_some());
    let line = "--from model.safetensors --network gat --hidden 16 -o new.safetensors";
    train(here, line, 2).says(&["--network is gat, expected gcn", "--hidden is 16"]);
}

#[test]
fn wrong_files_are_reported() {
    let directory = trained();
    let here = directory.path();
    train(here, "--from data.safetensors -o m", 3).says(&["found a data set, expected a trained"]);
    train(here, "--resume model.safetensors -o m", 3).says(&["expected a checkpoint", "--from"]);
    train(here, "--from none -o m", 1).says(&["cannot read none"]);
    let gleaner =
        |line: &str, code| gleaner(here, &format!("driple train {line} -o m")).expect(code);
    gleaner("--data model.safetensors", 3).says(&["found a trained model, expected a data set"]);
    let bytes = fs::read(here.join("data.safetensors")).unwrap();
    fs::write(here.join("cut"), &bytes[..bytes.len() / 2]).unwrap();
    gleaner("--data cut", 3).says(&["cut: this is"]);
    fs::write(here.join("empty"), "").unwrap();
    gleaner("--data empty", 3).says(&["neither a safetensors file"]);
    fs::write(
        here.join("run.pkl"),
        b"\x80\x02cos\nsystem\n(S'touch hacked'\ntR.",
    )
    .unwrap();
    gleaner("--data run.pkl", 3).says(&["neither a safetensors file"]);
    assert!(!here.join("hacked").exists() && !here.join("m").exists());
}
