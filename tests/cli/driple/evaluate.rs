//! Tests `gleaner driple evaluate`.

use std::fs;

use gleaner_driple::inspector;

use super::support::{gleaner, json, numbers, trained};

#[test]
fn models_are_compared_with_baselines() {
    let directory = trained();
    let here = directory.path();
    let line = "driple evaluate --model model.safetensors --data data.safetensors";
    let run = gleaner(
        here,
        &format!("{line} --against model.safetensors -o s.csv"),
    )
    .expect(0);
    for words in [
        "5 jobs of the test part",
        "training mean",
        "ridge on graph statistics",
        "R²",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    // The table has a row for each of the twelve metrics of each of the four predictors.
    let table = fs::read_to_string(here.join("s.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4 * 12);
    assert!(table.starts_with("model,metric,mse,mae,relative,r2,rank\n"));
    // The test error equals the error that training recorded in the model.
    let scores = json(&gleaner(here, &format!("{line} --json")).expect(0).out);
    let model = inspector::read(&fs::read(here.join("model.safetensors")).unwrap()).unwrap();
    let noted = model.card.provenance.unwrap().test.unwrap();
    for (told, noted) in numbers(&scores["scores"][0]["mse"]).iter().zip(noted) {
        assert!(
            (told - noted).abs() < 1e-5 * noted.max(1e-3),
            "{told} {noted}"
        );
    }
    // The training mean explains none of the variance of the training set: its R² is 0.
    let scores = json(
        &gleaner(here, &format!("{line} --part train --json"))
            .expect(0)
            .out,
    );
    assert_eq!(scores["jobs"], 14);
    assert!(
        numbers(&scores["scores"][1]["r2"])
            .iter()
            .all(|r2| r2.abs() < 1e-9)
    );
    assert!(scores["scores"][1]["rank"][0].is_null());
    gleaner(here, "driple evaluate --model none --data data.safetensors").expect(1);
    gleaner(here, &format!("{line} -o s.txt")).expect(2);
}
