//! Tests that the files named in the recipes of ARCHITECTURE.md and CONTRIBUTING.md exist. The target `make recipes`
//! also follows some of these recipes.

use std::collections::BTreeSet;
use std::fs;

use gleaner_testing::workspace;

/// The sections that contain recipes.
const SECTIONS: [(&str, &str); 4] = [
    ("ARCHITECTURE.md", "## Recipes"),
    ("CONTRIBUTING.md", "## A policy"),
    ("CONTRIBUTING.md", "## A placer"),
    ("CONTRIBUTING.md", "## Inputs"),
];

/// The text below a heading, up to the next heading of the same level.
fn section(document: &str, heading: &str) -> String {
    let text = fs::read_to_string(workspace().join(document)).unwrap();
    let (_, rest) = text.split_once(&format!("\n{heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The paths in a text: words with a slash in backticks, and targets of links.
fn paths(text: &str) -> BTreeSet<&str> {
    let code = text.split('`').skip(1).step_by(2);
    let words = code.filter(|code| code.contains('/') && !code.contains(char::is_whitespace));
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let files = links.filter_map(|target| target.split('#').next());
    words.chain(files).collect()
}

#[test]
fn files_that_recipes_name_exist() {
    let mut count = 0;
    for (document, heading) in SECTIONS {
        let text = section(document, heading);
        for path in paths(&text) {
            let exists = workspace().join(path).exists();
            assert!(exists, "{document}, {heading}: {path} does not exist");
            count += 1;
        }
    }
    assert!(count > 50, "{count} paths");
}
