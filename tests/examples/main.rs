//! Tests that the programs in examples/ run.

use std::env;

#[path = "../../examples/own_objective.rs"]
mod own_objective;
#[path = "../../examples/own_policy.rs"]
mod own_policy;
#[path = "../../examples/own_search.rs"]
mod own_search;
#[path = "../../examples/own_solver.rs"]
mod own_solver;
#[path = "../../examples/read_run.rs"]
mod read_run;
#[path = "../../examples/replay.rs"]
mod replay;
#[path = "../../examples/sweep.rs"]
mod sweep;

/// Runs an example from the root of the repository.
#[expect(clippy::unwrap_used, reason = "a test")]
fn succeeds(example: fn() -> gleaner::Result<()>) {
    env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    example().unwrap();
}

#[test]
fn replays_a_log() {
    succeeds(replay::main);
}

#[test]
fn has_an_objective_of_its_own() {
    succeeds(own_objective::main);
}

#[test]
fn has_a_solver_of_its_own() {
    succeeds(own_solver::main);
}

#[test]
fn has_a_search_of_its_own() {
    succeeds(own_search::main);
}

#[test]
fn has_a_policy_of_its_own() {
    succeeds(own_policy::main);
}

#[test]
fn reads_a_run() {
    succeeds(read_run::main);
}

#[test]
fn sweeps() {
    succeeds(sweep::main);
}
