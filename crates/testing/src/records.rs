//! The segments in which sweeps and profiles keep the results of single runs.

use std::fs;
use std::path::{Path, PathBuf};

/// The segments in the directory of a sweep or of profiles, ordered by name. The list is empty if no segment has been
/// written yet.
#[must_use]
pub fn segments(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("runs")).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "records");
    let mut segments: Vec<PathBuf> = paths.filter(is_segment).collect();
    segments.sort();
    segments
}

/// The records of all segments as JSON, without the digests before them. A record that a process is still writing is
/// left out.
#[must_use]
pub fn records(directory: &Path) -> Vec<String> {
    let texts = segments(directory).into_iter().flat_map(fs::read_to_string);
    let lines = texts.flat_map(|text| {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]).to_owned();
        whole.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let json = lines.filter_map(|line| Some(line.split_once(' ')?.1.to_owned()));
    json.collect()
}

/// Number of single runs whose results the segments contain.
#[must_use]
pub fn results(directory: &Path) -> usize {
    let all = records(directory);
    all.iter()
        .filter(|json| json.starts_with("{\"done\":"))
        .count()
}
