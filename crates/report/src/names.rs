//! Names of runs on a page.

use std::collections::BTreeMap;
use std::path::Path;

pub(super) use gleaner_document::names::{cut, short, slug};
use gleaner_runs::read::Run;

/// Names each run after the last part of its path. If an earlier run has the same name, a number is added.
pub(super) fn of(runs: &[Run]) -> Vec<String> {
    let stems: Vec<String> = runs.iter().map(|run| of_path(&run.info.path)).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let numbered = stems.iter().map(|stem| {
        let times = seen.entry(stem).or_default();
        *times += 1;
        match *times {
            1 => stem.clone(),
            times => format!("{stem} ({times})"),
        }
    });
    numbered.collect()
}

/// The last part of a path.
pub(super) fn of_path(path: &Path) -> String {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match absolute.file_name() {
        Some(name) => short(&name.to_string_lossy()),
        None => "run".to_owned(),
    }
}
