//! Reads the records of a sweep. Each process of a sweep writes its records to a file of its own, a
//! *segment*, with one record per line.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use gleaner_domain::Digest;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::RunOutcome;
use serde::Deserialize;
use serde_json::Value;

use crate::Findings;

/// Number of hexadecimal digits in a digest.
const DIGITS: usize = 64;

/// Maximum length of a line in bytes.
const LONGEST: u64 = 64 << 20;

/// A finished run.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Done {
    /// The key of the run.
    pub run: String,
    /// The settings of the run.
    pub settings: Value,
    /// The recorded result.
    pub result: Value,
}

/// A line of a segment. Lines without `done` are other records, such as the start of a run, and are
/// ignored.
#[derive(Deserialize)]
struct Line {
    done: Option<Done>,
}

/// The finished runs, by key. Altered lines and conflicting results of a run are reported as wrong.
pub(super) fn read(directory: &Path, findings: &mut Findings) -> Result<BTreeMap<String, Done>> {
    let mut found: BTreeMap<String, Done> = BTreeMap::new();
    for path in segments(&directory.join("runs"))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = File::open(&path).map_err(|error| Error::io("read", &path, error))?;
        let mut lines = BufReader::new(file);
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = (&mut lines).take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(|error| Error::io("read", &path, error))? == 0 {
                break;
            }
            number += 1;
            let Some(parsed) = parse(&line) else {
                findings.add(|| format!("runs/{name}, line {number}: the line is damaged"));
                continue;
            };
            findings.verified += 1;
            let Some(done) = parsed.done else { continue };
            if let Some(other) = found.get(&done.run) {
                findings.holds(other.result == done.result, || {
                    format!(
                        "runs/{name}, line {number}: the line conflicts with an earlier result of run {}",
                        done.run
                    )
                });
            } else {
                found.insert(done.run.clone(), done);
            }
        }
    }
    Ok(found)
}

/// The segments, sorted by name. Only regular files are opened.
fn segments(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))?;
    let mut paths = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let is_segment = path.extension().is_some_and(|ending| ending == "records");
        if is_segment && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The record in a line; `None` if the line was altered or cut off, so that it does not match its digest.
fn parse(line: &[u8]) -> Option<Line> {
    let line = line.strip_suffix(b"\n")?;
    let (digest, rest) = line.split_at_checked(DIGITS)?;
    let json = rest.strip_prefix(b" ")?;
    let is_whole = digest == Digest::of(json).to_string().as_bytes();
    is_whole.then(|| serde_json::from_slice(json).ok())?
}

impl Done {
    /// The result; `None` if the result is not in the format of this version.
    pub fn outcome(&self) -> Option<RunOutcome> {
        serde_json::from_value(self.result.clone()).ok()
    }
}
