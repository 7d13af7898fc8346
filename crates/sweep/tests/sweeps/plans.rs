//! Tests the plans in dataset/README.md.

use gleaner_sweep::plan::{self, Plan};

#[test]
fn examples_of_plans_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    let examples = gleaner_testing::examples("dataset/README.md");
    let examples = examples.iter().filter(|example| example.kind == "plan");
    let plans: Vec<Plan> = examples
        .map(|example| {
            std::fs::write(&path, &example.text).unwrap();
            plan::read(&path).unwrap().value
        })
        .collect();
    let [Plan::Replay(replays), Plan::Simulate(simulations)] = &plans[..] else {
        panic!("{plans:?}");
    };
    assert_eq!(replays.count(), 2 * 2 * 3 * 2 * 2 * 3);
    assert_eq!(simulations.expand().len(), 3 * 2);
}
