//! Checks all blocks of property tests in the sources of the workspace.

#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

use gleaner_testing::{SavedCases, workspace};

/// The Rust files of the workspace, except build products, hidden folders and links.
fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    add(&workspace(), &mut files);
    files
}

fn add(folder: &Path, files: &mut Vec<PathBuf>) {
    // Cargo puts this file into its target directories, which contain no sources.
    if folder.join("CACHEDIR.TAG").exists() {
        return;
    }
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && !name.starts_with('.') {
            add(&path, files);
        } else if kind.is_file() && name.ends_with(".rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_proptest_block_uses_the_shared_settings() {
    let mut blocks = 0;
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().map(str::trim);
        let code: Vec<&str> = code.filter(|line| !line.starts_with("//")).collect();
        for lines in code.windows(3).filter(|lines| lines[0] == "proptest! {") {
            blocks += 1;
            let shared = ["cases(", "slow_cases("]
                .map(|name| format!("#![proptest_config(gleaner_testing::{name}"));
            assert!(
                shared.iter().any(|start| lines[1].starts_with(start)),
                "{}: begin the block `{} {}` with #![proptest_config(gleaner_testing::cases(256))]",
                path.display(),
                lines[1],
                lines[2]
            );
        }
        for other in ["ProptestConfig", "TestRunner::default", "rand::rng()"] {
            assert!(
                path.ends_with("testing/tests/blocks.rs") || !text.contains(other),
                "{}: replace {other}, which does not use the fixed seed",
                path.display()
            );
        }
    }
    assert!(blocks > 40, "{blocks}");
}

/// `file!()` is the path within the workspace, for tests both in `src/` and in `tests/`.
#[test]
fn every_source_has_its_own_regression_file_that_git_ignores() {
    let saved = SavedCases::in_workspace();
    let folder = workspace().join("proptest-regressions");
    assert_eq!(
        saved.file(file!()),
        folder.join("crates/testing/tests/blocks.txt")
    );
    assert_eq!(
        saved.file("crates/driple/src/nn/product.rs"),
        folder.join("crates/driple/src/nn/product.txt")
    );
    let sources = sources();
    let mut files: Vec<PathBuf> = sources
        .iter()
        .map(|path| saved.file(path.to_str().unwrap()))
        .collect();
    assert!(files.iter().all(|file| file.starts_with(&folder)));
    files.sort();
    files.dedup();
    assert_eq!(files.len(), sources.len());
    let ignored = fs::read_to_string(workspace().join(".gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "/proptest-regressions/"));
}
