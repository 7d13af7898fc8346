//! Tests the manifests of the published crates, without contacting a registry.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use gleaner_testing::workspace;
use serde_json::Value;

/// Crates that are not published: `gleaner-python` is published as a Python package instead, and only tests use
/// `gleaner-testing`.
const UNPUBLISHED: [&str; 2] = ["gleaner-python", "gleaner-testing"];

/// Runs cargo in the workspace, and returns its output. This is the cargo binary that runs the tests.
fn cargo(arguments: &[&str]) -> String {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).args(["--offline", "--locked"]);
    let output = command.current_dir(workspace()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}\n{err}");
    String::from_utf8(output.stdout).unwrap()
}

/// The crates of the workspace, as `cargo metadata` describes them.
fn crates() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version=1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn is_published(package: &Value) -> bool {
    package["publish"] != Value::Array(Vec::new())
}

#[test]
fn every_other_crate_is_published() {
    let crates = crates();
    let unpublished = crates.iter().filter(|package| !is_published(package));
    let names: BTreeSet<&str> = unpublished.map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(UNPUBLISHED));
}

/// Published crates state the fields that a registry requires. If one is missing, cargo only warns, but a registry
/// rejects the crate.
#[test]
fn published_crates_describe_themselves() {
    for package in crates().iter().filter(|package| is_published(package)) {
        let name = &package["name"];
        for field in ["description", "license"] {
            let text = package[field].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{name}: {field} is missing");
        }
        for field in ["keywords", "categories"] {
            let words = package[field].as_array().unwrap();
            assert!((1..=5).contains(&words.len()), "{name}: {field}: {words:?}");
        }
        let keywords = package["keywords"].as_array().unwrap();
        let is_short = |word: &Value| word.as_str().unwrap().len() <= 20;
        assert!(keywords.iter().all(is_short), "{name}: {keywords:?}");
    }
}

/// All published crates can be packaged. Packaging fails if a dependency has no version or is not published, or if
/// dependencies form a cycle.
#[test]
fn published_crates_can_be_packaged() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().to_str().unwrap();
    let mut arguments = vec!["package", "--workspace", "--no-verify", "--allow-dirty"];
    arguments.extend(["--target-dir", target]);
    for name in UNPUBLISHED {
        arguments.extend(["--exclude", name]);
    }
    cargo(&arguments);
    let packages = directory.path().join("package").read_dir().unwrap();
    let paths = packages.map(|entry| entry.unwrap().path());
    let archives = paths.filter(|path| path.extension().is_some_and(|end| end == "crate"));
    assert_eq!(archives.count(), crates().len() - UNPUBLISHED.len());
}
