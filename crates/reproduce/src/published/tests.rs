//! Tests that the file of published values is well formed, and that malformed files are rejected.

use super::*;

#[test]
fn every_system_has_values_with_sources() {
    let all = all().unwrap();
    for system in System::ALL {
        let own: Vec<_> = all.iter().filter(|a| a.system == *system).collect();
        assert!(!own.is_empty(), "{system:?}");
        for artifact in own {
            assert!(artifact.id.starts_with(system.name()), "{}", artifact.id);
            // A source names a repository, a document, or the code that was run.
            let told = [
                "repository",
                "https://",
                "run",
                "computed",
                "formulation",
                "not available",
            ];
            let source = artifact.source.as_str();
            assert!(told.iter().any(|word| source.contains(word)), "{source}");
            let is_missing = source.starts_with("not available");
            assert_eq!(is_missing, artifact.is_empty(), "{}", artifact.id);
        }
    }
    // Golden value: the figures of FIFO that Lucid's reproduction prints.
    let table = all
        .iter()
        .find(|artifact| artifact.id == "sysu-table-1")
        .unwrap();
    assert_eq!(table.given("FIFO", 0).unwrap().value, 65720.0);
}

impl PublishedArtifact {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.impossible.is_empty() && self.left_out.is_empty()
    }
}

#[test]
fn remarks_are_about_values_that_there_are() {
    for artifact in all().unwrap() {
        for note in &artifact.notes {
            let known = |name: &String| artifact.columns.iter().any(|c| c.name == *name);
            assert!(
                note.column.iter().all(known),
                "{}: {}",
                artifact.id,
                note.text
            );
        }
    }
}

const GOOD: &str = r#"
[[artifact]]
id = "a-1"
system = "sysu"
title = "A"
text = "B."
source = "C"
basis = "published"
columns = [{ name = "x", unit = "s", decimals = 1 }]
rows = [["r", [1.5]]]
"#;

#[test]
fn faulty_files_are_refused() {
    assert_eq!(parse(GOOD).unwrap().len(), 1);
    let twice = format!("{GOOD}{GOOD}");
    assert_eq!(parse(&twice).unwrap_err(), "a-1 occurs twice");
    let faults = [
        (
            "\"a-1\"",
            "\"A 1\"",
            "the id is empty or contains characters other than",
        ),
        ("\"sysu\"", "\"gavel\"", "unknown name"),
        ("\"published\"", "\"rumour\"", "unknown name"),
        ("\"C\"", "\" \"", "source is empty"),
        (
            "[1.5]",
            "[1.55]",
            "found 1.55, expected a number (maximum number of decimals: 1)",
        ),
        ("[1.5]", "[nan]", "found NaN, expected a number"),
        (
            "[1.5]",
            "[1.5, 2.5]",
            "found 2 values, expected 1 (one per column)",
        ),
        (
            "[[\"r\", [1.5]]]",
            "[[\"r\", [1.5]], [\"r\", [1.5]]]",
            "occurs twice",
        ),
        ("basis", "bases", "bases"),
    ];
    for (from, to, told) in faults {
        let error = parse(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}
