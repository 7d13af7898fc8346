//! Tests that HiGHS and CBC read and solve exported models. Unlike all other tests, these tests call CBC in the test
//! process itself, not in a forked child. They are therefore in a separate test program, in which no other thread uses
//! CBC.
#![cfg(all(feature = "highs", feature = "cbc"))]
#![expect(
    clippy::unwrap_used,
    reason = "clippy excuses test functions but not their helpers"
)]

use std::path::Path;

use gleaner_solvers::{
    BigM, Formulation, GroupLimit, Limits, Problem, SolverKind, SolverSpec, formulations, synthetic,
};

/// A small problem with two nested groups.
fn grouped() -> Problem {
    let mut problem = synthetic::problem(4, 9, 2);
    let group = |name: &str, tasks: &[&str], min_total, max_total| GroupLimit {
        name: name.to_owned(),
        tasks: tasks.iter().map(|&task| task.to_owned()).collect(),
        min_total,
        max_total,
    };
    problem.groups = vec![
        group("a", &["task0", "task1"], None, Some(4)),
        group("b", &["task0", "task1", "task3"], Some(1), Some(7)),
    ];
    problem
}

/// The optimum according to the exact solver, which exports no models.
fn optimum(problem: &Problem) -> f64 {
    let mut exact = SolverSpec::new(SolverKind::Exact).build().unwrap();
    let answer = exact.solve(problem, &Limits::default()).unwrap();
    answer.objective.unwrap()
}

/// The optimum that HiGHS finds for a model file.
#[expect(
    unsafe_code,
    reason = "the highs crate has no safe call that reads a file"
)]
fn highs_optimum(path: &Path) -> f64 {
    let mut model = highs::Model::new(highs::RowProblem::default());
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the pointer belongs to a live HiGHS instance, and the name ends in NUL.
    let status = unsafe { highs_sys::Highs_readModel(model.as_mut_ptr(), name.as_ptr()) };
    assert_eq!(status, highs_sys::STATUS_OK, "{}", path.display());
    model.set_option("threads", 1);
    model.set_option("mip_rel_gap", 1e-9);
    let solved = model.solve();
    assert_eq!(solved.status(), highs::HighsModelStatus::Optimal);
    solved.objective_value()
}

/// The optimum that CBC finds for an .mps file.
fn cbc_optimum(path: &Path) -> f64 {
    let mut model = coin_cbc::raw::Model::new();
    model.set_log_level(0);
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    model.read_mps(&name);
    model.set_parameter(c"log", c"0");
    model.set_parameter(c"ratiogap", c"1e-9");
    model.solve();
    assert!(model.is_proven_optimal());
    model.obj_value()
}

#[test]
fn exported_files_keep_the_optimum() {
    let dir = std::env::temp_dir().join(format!("gleaner-export-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let plain = synthetic::problem(4, 12, 9);
    let grouped = grouped();
    for (problem, formulation) in [
        (&plain, Formulation::Counts),
        (&plain, Formulation::Paper),
        (&grouped, Formulation::Counts),
    ] {
        let optimum = optimum(problem);
        let model = formulations::build(problem, formulation, BigM::Corrected).unwrap();
        let (lp, mps) = (dir.join("model.lp"), dir.join("model.mps"));
        let mut text = Vec::new();
        formulations::export::write_lp(&model, &mut text).unwrap();
        std::fs::write(&lp, &text).unwrap();
        text.clear();
        formulations::export::write_mps(&model, &mut text).unwrap();
        std::fs::write(&mps, &text).unwrap();
        for (reader, found) in [
            ("HiGHS, lp", highs_optimum(&lp)),
            ("HiGHS, mps", -highs_optimum(&mps)),
            ("CBC, mps", -cbc_optimum(&mps)),
        ] {
            let gap = (found / optimum - 1.0).abs();
            assert!(
                gap < 1e-6,
                "{reader}, {formulation:?}: {found}, expected {optimum}"
            );
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
