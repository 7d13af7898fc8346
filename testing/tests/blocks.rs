//! All blocks of property tests of the workspace, as their sources are written.

#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

use gleaner_testing::SavedCases;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The Rust files of the workspace, but for build products and hidden folders.
fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    add(workspace(), &mut files);
    files
}

fn add(folder: &Path, files: &mut Vec<PathBuf>) {
    // Cargo marks the folders of its products with this file.
    if folder.join("CACHEDIR.TAG").exists() {
        return;
    }
    for path in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let hidden = path.file_name().unwrap().to_string_lossy().starts_with('.');
        if path.is_dir() && !hidden {
            add(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_block_takes_its_settings_from_here() {
    let mut blocks = 0;
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().map(str::trim);
        let code: Vec<&str> = code.filter(|line| !line.starts_with("//")).collect();
        for (at, _) in code
            .iter()
            .enumerate()
            .filter(|(_, l)| **l == "proptest! {")
        {
            blocks += 1;
            assert!(
                code[at + 1].starts_with("#![proptest_config(gleaner_testing::cases("),
                "{}: the block of property tests `{}`: begin it with \
                 #![proptest_config(gleaner_testing::cases(256))]",
                path.display(),
                code[at + 1..]
                    .iter()
                    .find(|line| line.starts_with("fn "))
                    .unwrap_or(&"")
            );
        }
        for other in ["ProptestConfig", "TestRunner::default", "rand::rng()"] {
            assert!(
                path.ends_with("testing/tests/blocks.rs") || !text.contains(other),
                "{}: {other} draws at random",
                path.display()
            );
        }
    }
    assert!(blocks > 40, "{blocks}");
}

/// `file!()` is the path within the workspace, for tests within `src/` as beside it.
#[test]
fn every_source_has_a_file_of_its_own_that_git_ignores() {
    let saved = SavedCases::in_workspace();
    let folder = workspace().join("proptest-regressions");
    assert_eq!(saved.file(file!()), folder.join("testing/tests/blocks.txt"));
    assert_eq!(
        saved.file("driple/src/nn/product.rs"),
        folder.join("driple/src/nn/product.txt")
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
