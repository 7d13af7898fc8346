//! Compares the files of a run directory with the list in `run.json`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::results::run::{Listed, RUN_FILE};
use gleaner_io::files::Hashed;

use crate::Findings;

/// Maximum depth to which the subfolders of a run directory are searched for files.
const DEPTH: u32 = 4;

/// Maximum number of unlisted files that are reported by name.
const SHOWN: usize = 100;

/// Compares every listed file with its recorded length and digest, and reports files that are not listed. Files in the
/// folders `kept` are not reported, because the files in these folders contain their own digests. Progress is reported
/// to the observer as the number of files compared so far.
///
/// # Errors
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the check is stopped.
pub fn files(
    directory: &Path,
    listed: &[Listed],
    kept: &[&str],
    observer: &dyn Observer,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut known = BTreeSet::from([PathBuf::from(RUN_FILE)]);
    for (index, file) in listed.iter().enumerate() {
        check_stop(observer)?;
        observer.progress(index, listed.len());
        compare(directory, file, &mut findings);
        if !known.insert(PathBuf::from(&file.path)) {
            findings.add(|| format!("{RUN_FILE}: files: {:?} is listed twice", file.path));
        }
    }
    findings.covers(RUN_FILE, ["files"]);
    let mut found = Vec::new();
    walk(directory, Path::new(""), DEPTH, &mut found);
    found.retain(|path| {
        !known.contains(path) && !kept.iter().any(|folder| path.starts_with(folder))
    });
    found.sort();
    for path in found.iter().take(SHOWN) {
        let name = path.display().to_string();
        findings.not_verified(name, Findings::WHOLE, "run.json does not list this file");
    }
    if found.len() > SHOWN {
        let others = format!("{} other files", found.len() - SHOWN);
        findings.not_verified(others, Findings::WHOLE, "run.json does not list them");
    }
    Ok(findings)
}

/// Compares the inputs of a run with their recorded lengths and digests. Progress is reported to the observer as the
/// number of files compared so far.
///
/// # Errors
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the check is stopped.
pub fn inputs(listed: &[Listed], observer: &dyn Observer) -> Result<Findings> {
    let mut findings = Findings::default();
    for (index, input) in listed.iter().enumerate() {
        check_stop(observer)?;
        observer.progress(index, listed.len());
        same(Path::new(&input.path), input, &mut findings);
    }
    findings.covers(RUN_FILE, ["inputs"]);
    Ok(findings)
}

/// Checks that a listed file is inside the run directory, and compares the file with its recorded length and digest.
fn compare(directory: &Path, listed: &Listed, findings: &mut Findings) {
    let name = &listed.path;
    let mut parts = Path::new(name).components();
    let is_inside = !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)));
    findings.holds(is_inside, || {
        format!("{RUN_FILE}: files: {name:?} is outside the run directory")
    });
    if !is_inside {
        return;
    }
    same(&directory.join(name), listed, findings);
}

/// Compares the file at a path with its recorded length and digest.
fn same(path: &Path, listed: &Listed, findings: &mut Findings) {
    let name = &listed.path;
    match digest(path) {
        Err(error) => findings.add(|| format!("{name}: the file cannot be read: {error}")),
        Ok((bytes, sha256)) => {
            findings.holds(bytes == listed.bytes && sha256 == listed.sha256, || {
                format!(
                    "{name}: length or digest differs from run.json (the file has {bytes} bytes)"
                )
            });
        }
    }
}

/// The length and digest of a regular file.
fn digest(path: &Path) -> io::Result<(u64, String)> {
    // Opening a pipe would block until something writes to it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut hashed = Hashed::new(io::sink());
    io::copy(&mut File::open(path)?, &mut hashed)?;
    let (_, bytes, sha256) = hashed.finish()?;
    Ok((bytes, sha256.to_string()))
}

/// Collects the files of a folder and its subfolders. Links are listed but not followed.
fn walk(directory: &Path, folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory.join(folder));
    for entry in entries.into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 {
            walk(directory, &path, depth - 1, found);
        } else {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::Digest;
    use gleaner_domain::{Error, Unobserved};
    use gleaner_testing::StopAfter;

    fn listed(path: &str, content: &[u8]) -> Listed {
        Listed {
            path: path.to_owned(),
            bytes: content.len() as u64,
            sha256: Digest::of(content).to_string(),
        }
    }

    #[test]
    fn changed_missing_and_foreign_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::create_dir_all(at.join("logs/a")).unwrap();
        fs::create_dir_all(at.join("runs")).unwrap();
        for (name, content) in [
            ("run.json", "{}"),
            ("same.csv", "x"),
            ("changed.csv", "y"),
            ("longer.csv", "xx"),
            ("logs/a/b.csv", "x"),
            ("mine.txt", "x"),
            ("runs/a.records", "x"),
        ] {
            fs::write(at.join(name), content).unwrap();
        }
        let names = [
            "same.csv",
            "changed.csv",
            "longer.csv",
            "logs/a/b.csv",
            "missing.csv",
            "../x",
        ];
        let list: Vec<Listed> = names.iter().map(|name| listed(name, b"x")).collect();
        let findings = files(at, &list, &["runs"], &Unobserved).unwrap();
        assert_eq!(findings.wrong_count, 4, "{findings}");
        for (name, sentence) in ["changed.csv", "longer.csv", "missing.csv", "\"../x\""]
            .iter()
            .zip(&findings.wrong)
        {
            assert!(sentence.contains(name), "{sentence}");
        }
        let unlisted: Vec<&str> = findings.unverified().map(|(file, ..)| file).collect();
        assert_eq!(unlisted, ["mine.txt"]);

        let observer = StopAfter::new(2);
        let stopped = files(at, &list, &["runs"], &observer);
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        assert_eq!(observer.progress(), [(0, 6), (1, 6)]);
    }
}
