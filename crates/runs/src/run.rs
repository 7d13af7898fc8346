//! A run directory: run.json, summary.json, and the tables as CSV and Parquet.
//!
//! A directory holds one run. New files are first written under temporary names, next to the files of any earlier run.
//! [`RunDir::finish`] then marks the directory as unfinished, removes the earlier run's files, renames the new files
//! and writes the final `run.json`. If the process is killed before this replacement, the earlier run stays intact. If
//! the process is killed during the replacement, the directory is marked as unfinished.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::results::run::{Listed, RUN_FILE, RunFile, Seconds, fields};
use gleaner_domain::results::{Column, Table};
use gleaner_domain::words::counted;
use gleaner_io::SourceId;
use gleaner_io::files::{self, AtomicFile, ClosedFile, DirLock, Hashed};
use gleaner_io::source::TEXT_LIMIT;
use gleaner_io::table::WriteTable;

/// Subcommands that keep partial results for the next run in the same directory, each with the name that messages use
/// for these results.
const KEEPING: [(&str, &str); 2] = [("sweep", "runs of a sweep"), ("profile", "measurements")];

/// Maximum depth of folders in a run directory: `logs/VC` has a depth of 2.
const DEPTH: u32 = 2;

/// The fields of `run.json` that are known only at the end of a run.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// Every file that the run read.
    pub sources: &'a [SourceId],
    /// Whether the run finished.
    pub complete: bool,
    /// Wall times of reading, computing and writing, in seconds.
    pub seconds: Seconds,
}

/// The [`End`] that `run.json` records for a run in progress.
const NOTHING_YET: End<'static> = End {
    sources: &[],
    complete: false,
    seconds: Seconds {
        read: 0.0,
        compute: 0.0,
        write: 0.0,
    },
};

/// The fields that are read from the `run.json` of an earlier run, which another version may have written.
#[derive(Debug, Deserialize)]
struct Earlier {
    command: String,
    files: Vec<Listed>,
}

/// A directory for the results of one run. If this value is dropped before [`RunDir::finish`] is
/// called, the directory stays unchanged.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    command: &'static str,
    arguments: Map<String, Value>,
    /// The earlier run in the directory; `None` if the directory is new.
    earlier: Option<Earlier>,
    /// Whether the directory has a `run.json`.
    announced: Mutex<bool>,
    written: Mutex<BTreeMap<String, Written>>,
    _lock: DirLock,
}

/// A file that is complete, but not yet in place.
#[derive(Debug)]
struct Written {
    file: ClosedFile,
    listed: Listed,
}

impl RunDir {
    /// Opens `path` for a run of the subcommand `command`: creates the directory, or takes over
    /// the directory of an earlier run. `arguments` are listed in `run.json`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the directory holds files that no earlier run wrote, if another subcommand keeps
    /// results in it, or if its `run.json` is a symbolic link or cannot be parsed. The directory is then left
    /// unchanged. Returns [`Error::Run`] if another run is writing to the directory.
    pub fn open(path: &Path, command: &'static str, arguments: &impl Serialize) -> Result<Self> {
        let arguments = fields(arguments)?;
        refuse_strangers(path)?;
        refuse_links(path, RUN_FILE)?;
        fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        let lock = DirLock::acquire(path)?;
        let earlier = earlier(path)?;
        refuse_kept(path, earlier.as_ref(), command)?;
        remove_leftovers(path, DEPTH);
        Ok(RunDir {
            path: path.into(),
            command,
            arguments,
            announced: Mutex::new(earlier.is_some()),
            earlier,
            written: Mutex::default(),
            _lock: lock,
        })
    }

    /// Makes `path` a directory for runs of `command`, to which several processes can add files. Creates the directory
    /// if it is missing, and marks a new directory as having a run in progress. Existing content is not changed.
    ///
    /// # Errors
    /// Same as [`RunDir::open`], except that a run that is writing to the directory is not an error.
    pub fn share(path: &Path, command: &'static str, arguments: &impl Serialize) -> Result<()> {
        refuse_strangers(path)?;
        refuse_links(path, RUN_FILE)?;
        fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        let earlier = earlier(path)?;
        refuse_kept(path, earlier.as_ref(), command)?;
        match earlier {
            Some(_) => Ok(()),
            None => write_info(path, &begun(command, fields(arguments)?)),
        }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a value as pretty-printed JSON into the file `name`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write(name, |out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            out.write_all(b"\n")
        })
    }

    /// Writes a table as CSV only.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_csv(&self, table: &Table<'_>) -> Result<()> {
        self.write(&format!("{}.csv", table.name), |out| table.write_csv(out))
    }

    /// Writes a table as CSV and Parquet.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_table(&self, table: &Table<'_>) -> Result<()> {
        self.write_csv(table)?;
        self.write_parquet(table)
    }

    /// Writes a table as Parquet only.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_parquet(&self, table: &Table<'_>) -> Result<()> {
        self.write(&format!("{}.parquet", table.name), |out| {
            table.write_parquet(out)
        })
    }

    /// Writes the faults in skipped data to `skipped.csv`, if there are any.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_skipped(&self, skipped: &Faults) -> Result<()> {
        if skipped.0.is_empty() {
            return Ok(());
        }
        let text = |of: fn(&Fault) -> &String| {
            Column::Texts(skipped.0.iter().map(|f| of(f).as_str().into()).collect())
        };
        let table = Table {
            name: "skipped",
            columns: vec![
                ("file", text(|f| &f.file)),
                ("place", text(|f| &f.place)),
                ("field", text(|f| &f.field)),
                ("found", text(|f| &f.found)),
                ("expected", text(|f| &f.expected)),
                ("remedy", text(|f| &f.remedy)),
            ],
        };
        self.write("skipped.csv", |out| table.write_csv(out))
    }

    /// Writes a file with the content that `fill` writes. The name may contain folders, which are created:
    /// `logs/vc1/fifo.csv`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Hashed<AtomicFile>) -> io::Result<()>,
    ) -> Result<()> {
        refuse_links(&self.path, name)?;
        self.announce()?;
        let path = self.path.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
        }
        let mut out = Hashed::new(AtomicFile::create(&path)?);
        let filled = fill(&mut out).and_then(|()| out.finish());
        let (file, bytes, sha256) = filled.map_err(|e| Error::io("write", &path, e))?;
        // The file is closed immediately, because a run can write more files than a process is allowed to keep open.
        let file = file.close()?;
        let listed = Listed {
            path: name.to_owned(),
            bytes,
            sha256: sha256.to_string(),
        };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(name.to_owned(), Written { file, listed });
        Ok(())
    }

    /// Writes a `run.json` before the first file of a new directory. If the process is then killed and leaves files
    /// behind, the next run recognises them by `run.json` as the files of an earlier run.
    fn announce(&self) -> Result<()> {
        let mut announced = self
            .announced
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !*announced {
            self.write_info(&NOTHING_YET, Map::new(), true, Vec::new())?;
            *announced = true;
        }
        Ok(())
    }

    /// Marks the directory as having a run in progress, and removes the results of an earlier run. Use this for runs,
    /// such as sweeps, that keep their finished parts if they are interrupted.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub fn begin(&self, sources: &[SourceId]) -> Result<()> {
        let end = End {
            sources,
            ..NOTHING_YET
        };
        self.write_info(&end, Map::new(), false, Vec::new())?;
        self.remove_all(self.earlier_names())
    }

    /// Replaces the files of an earlier run with the new files, and lists them in `run.json`. Returns a line that
    /// describes the new contents of the directory.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub fn finish(self, end: &End<'_>) -> Result<String> {
        self.finish_with(end, &Map::new())
    }

    /// Like [`RunDir::finish`], but also writes the fields of `more`, a struct or map, to `run.json`.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub fn finish_with(mut self, end: &End<'_>, more: &impl Serialize) -> Result<String> {
        let clock = Instant::now();
        let written = std::mem::take(&mut self.written);
        let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
        let files: Vec<Listed> = written.values().map(|file| file.listed.clone()).collect();
        // Until the final run.json is written, files of both runs can be present. The interim run.json lists all of
        // these files, so that the next run finds them if this process is killed.
        let earlier = self.earlier.iter().flat_map(|run| &run.files);
        let both = earlier.chain(&files).cloned().collect();
        self.write_info(end, Map::new(), true, both)?;
        let is_stale = |name: &&str| !written.contains_key(*name);
        self.remove_all(self.earlier_names().filter(is_stale))?;
        let mut folders = BTreeSet::new();
        for (name, file) in written {
            folders.extend(self.path.join(name).parent().map(Path::to_owned));
            file.file.place()?;
        }
        folders
            .iter()
            .for_each(|folder| files::sync_directory(folder));
        let seconds = Seconds {
            write: end.seconds.write + clock.elapsed().as_secs_f64(),
            ..end.seconds
        };
        let others = counted(files.len(), "other file");
        self.write_info(&End { seconds, ..*end }, fields(more)?, false, files)?;
        files::sync_directory(&self.path);
        Ok(format!("{}: run.json and {others}", self.path.display()))
    }

    /// Names of the earlier run's files.
    fn earlier_names(&self) -> impl Iterator<Item = &str> {
        let files = self.earlier.iter().flat_map(|run| &run.files);
        files.map(|file| file.path.as_str())
    }

    fn write_info(
        &self,
        end: &End<'_>,
        more: Map<String, Value>,
        unfinished: bool,
        files: Vec<Listed>,
    ) -> Result<()> {
        let info = RunFile {
            inputs: end.sources.iter().map(Listed::from).collect(),
            complete: end.complete && !unfinished,
            unfinished,
            seconds: end.seconds,
            more,
            files,
            ..begun(self.command, self.arguments.clone())
        };
        write_info(&self.path, &info)
    }

    /// Removes the files with these names that still exist, and folders that become empty.
    fn remove_all<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> Result<()> {
        names.try_for_each(|name| remove_file(&self.path, name))
    }
}

/// The contents of the `run.json` of a run that has written nothing yet.
fn begun(command: &str, arguments: Map<String, Value>) -> RunFile {
    RunFile {
        command: command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments,
        inputs: Vec::new(),
        complete: false,
        unfinished: true,
        seconds: NOTHING_YET.seconds,
        more: Map::new(),
        files: Vec::new(),
    }
}

fn write_info(directory: &Path, info: &RunFile) -> Result<()> {
    files::write(&directory.join(RUN_FILE), |out| {
        serde_json::to_writer_pretty(&mut *out, info)?;
        out.write_all(b"\n")
    })
}

/// Removes a file of a run directory, and the folders above it that become empty.
fn remove_file(directory: &Path, name: &str) -> Result<()> {
    // The name comes from an untrusted file: it could point outside the directory, for example through a
    // symbolic link in place of a folder.
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    if !is_inside(name) || link_on_way(directory, folder).is_some() {
        return Ok(());
    }
    let path = directory.join(name);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", path, e)),
        _ => {}
    }
    let folders = Path::new(name).ancestors().skip(1);
    for folder in folders.filter(|folder| *folder != Path::new("")) {
        // Removing a folder fails, as it should, if the folder is not empty.
        let _ = fs::remove_dir(directory.join(folder));
    }
    Ok(())
}

/// Whether a path that `run.json` lists stays within the directory.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the first symbolic link on the path from a run directory to a file in it, including the
/// file.
fn link_on_way(directory: &Path, path: &Path) -> Option<PathBuf> {
    let mut way = directory.to_owned();
    path.components().find_map(|part| {
        way.push(part);
        way.is_symlink().then(|| way.clone())
    })
}

/// Returns an error if a file of a run directory is a symbolic link or is reached through a symbolic link. The run
/// would otherwise write outside the directory.
fn refuse_links(directory: &Path, name: &str) -> Result<()> {
    match link_on_way(directory, Path::new(name)) {
        None => Ok(()),
        Some(link) => Err(Error::Usage(format!(
            "{}: found a symbolic link in a run directory; links are not followed. Remove the link, or name \
             another directory",
            link.display()
        ))),
    }
}

/// Returns an error for a directory in which another subcommand keeps results.
fn refuse_kept(path: &Path, earlier: Option<&Earlier>, command: &str) -> Result<()> {
    let holder = earlier.map(|run| run.command.as_str());
    let kept = KEEPING.iter().find(|(keeper, _)| holder == Some(keeper));
    match kept.filter(|(keeper, _)| *keeper != command) {
        None => Ok(()),
        Some((_, what)) => Err(Error::Usage(format!(
            "--out {}: the directory holds the {what}; name another directory, or remove this one",
            path.display()
        ))),
    }
}

/// Returns an error for a directory that holds anything but a run or the remains of a killed run.
fn refuse_strangers(path: &Path) -> Result<()> {
    // The search for other files comes first. Another process writes its run.json before any other file, so its other
    // files are never found without a run.json.
    if holds_files(path, DEPTH) && !path.join(RUN_FILE).is_file() {
        return Err(Error::Usage(format!(
            "--out {}: the directory holds files that no earlier run wrote; name a new directory",
            path.display()
        )));
    }
    Ok(())
}

/// Whether there are files other than those that a killed run left under temporary names.
fn holds_files(path: &Path, depth: u32) -> bool {
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() && depth > 0 => holds_files(&entry.path(), depth - 1),
        _ => !files::is_unfinished(&entry.file_name()),
    })
}

/// The contents of the directory's `run.json`; `None` if there is no such file.
fn earlier(path: &Path) -> Result<Option<Earlier>> {
    let file = path.join(RUN_FILE);
    let bytes = match files::read_regular(&file, TEXT_LIMIT) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io("read", file, e)),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        Error::Usage(format!(
            "--out {}: this version cannot read the directory's run.json ({error}); name a new directory, or remove \
             this one",
            path.display()
        ))
    })
}

/// Removes temporary files that a killed run left in the directory or its folders.
fn remove_leftovers(path: &Path, depth: u32) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A file that cannot be removed does no harm.
        if is_folder && depth > 0 {
            remove_leftovers(&entry.path(), depth - 1);
        } else if files::is_unfinished(&entry.file_name()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<RunDir> {
        RunDir::open(path, "replay", &serde_json::json!({"seed": 1}))
    }

    fn end(complete: bool) -> End<'static> {
        End {
            sources: &[],
            complete,
            seconds: Seconds::default(),
        }
    }

    fn write(run: &RunDir, names: &[&str]) {
        for name in names {
            run.write(name, |out| out.write_all(name.as_bytes()))
                .unwrap();
        }
    }

    /// Every file in a directory and its folders, as a path.
    fn names(path: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(path).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() {
                found.extend(names(&entry.path()).iter().map(|n| format!("{name}/{n}")))
            } else {
                found.push(name)
            }
        }
        found.sort();
        found
    }

    fn info(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path.join(RUN_FILE)).unwrap()).unwrap()
    }

    #[test]
    fn a_directory_holds_one_run_and_lists_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let run = open(&path).unwrap();
        write(&run, &["steps.csv", "logs/a/x.csv", "logs/b/x.csv"]);
        run.finish(&end(true)).unwrap();
        let run = open(&path).unwrap();
        write(&run, &["steps.csv", "logs/b/y.csv"]);
        fs::write(path.join("notes.txt"), "mine").unwrap();
        run.finish_with(&end(true), &serde_json::json!({"start": 7}))
            .unwrap();
        assert_eq!(
            names(&path),
            ["logs/b/y.csv", "notes.txt", "run.json", "steps.csv"]
        );
        assert!(!path.join("logs/a").exists());
        let info = info(&path);
        assert_eq!(info["files"][1]["path"], "steps.csv");
        assert_eq!(info["files"][1]["bytes"], 9);
        let digest = gleaner_domain::Digest::of(b"steps.csv").to_string();
        assert_eq!(info["files"][1]["sha256"], digest.as_str());
        assert_eq!(
            (&info["start"], &info["arguments"]["seed"]),
            (&7.into(), &1.into())
        );
        assert_eq!(
            (&info["complete"], &info["unfinished"]),
            (&true.into(), &Value::Null)
        );
    }

    #[test]
    fn a_run_that_fails_leaves_the_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let run = open(folder.path()).unwrap();
        write(&run, &["steps.csv"]);
        run.finish(&end(true)).unwrap();
        let before = fs::read(folder.path().join(RUN_FILE)).unwrap();
        let run = open(folder.path()).unwrap();
        write(&run, &["steps.csv", "tasks.csv"]);
        drop(run);
        assert_eq!(names(folder.path()), ["run.json", "steps.csv"]);
        assert_eq!(fs::read(folder.path().join(RUN_FILE)).unwrap(), before);
    }

    #[test]
    fn files_left_by_a_killed_run_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        // If the process is killed while the first run is writing, temporary files, folders and an unfinished run.json
        // remain.
        fs::create_dir_all(path.join("logs/a")).unwrap();
        fs::write(path.join("logs/a/.x.csv.abcdef.part"), "half").unwrap();
        fs::write(path.join(".steps.csv.abcdef.part"), "half").unwrap();
        fs::write(path.join("logs/notes.txt"), "mine").unwrap();
        let refused = open(path).unwrap_err();
        assert_eq!(refused.exit_code(), 2, "a file there is somebody else's");
        fs::remove_file(path.join("logs/notes.txt")).unwrap();
        let run = open(path).unwrap();
        write(&run, &["logs/a/x.csv"]);
        assert_eq!(info(path)["unfinished"], true);
        std::mem::forget(run.written);
        fs::write(path.join("logs/a/.y.csv.abcdef.part"), "half").unwrap();
        drop(run._lock);
        // If the process is killed while the second run is renaming its files, only some of them are in place. run.json
        // lists all files of both runs.
        let run = open(path).unwrap();
        run.write_info(
            &end(true),
            Map::new(),
            true,
            vec![listed("old.csv"), listed("../x")],
        )
        .unwrap();
        fs::write(path.join("old.csv"), "old").unwrap();
        fs::write(folder.path().join("x"), "not listed").unwrap();
        drop(run);
        let run = open(path).unwrap();
        write(&run, &["steps.csv"]);
        run.finish(&end(false)).unwrap();
        assert_eq!(names(path), ["run.json", "steps.csv", "x"]);
        assert_eq!(info(path)["complete"], false);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_run_directory_are_not_followed() {
        use std::os::unix::fs::symlink;
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path();
        let run = open(path).unwrap();
        write(&run, &["steps.csv", "logs/a.csv"]);
        run.finish(&end(true)).unwrap();
        for name in ["a.csv", "steps.csv", "x.json"] {
            fs::write(outside.path().join(name), "mine").unwrap();
        }
        // Replace the folder and a table with links that point outside the directory.
        fs::remove_dir_all(path.join("logs")).unwrap();
        symlink(outside.path(), path.join("logs")).unwrap();
        let run = open(path).unwrap();
        let refused = run.write("logs/a.csv", |_| Ok(())).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        write(&run, &["steps.csv"]);
        run.finish(&end(true)).unwrap();
        fs::remove_file(path.join("steps.csv")).unwrap();
        symlink(outside.path().join("steps.csv"), path.join("steps.csv")).unwrap();
        assert!(open(path).unwrap().write("steps.csv", |_| Ok(())).is_err());
        // If the run only has to remove a file that is now a link, the run removes the link and leaves the link's
        // target.
        open(path).unwrap().finish(&end(true)).unwrap();
        assert_eq!(names(outside.path()), ["a.csv", "steps.csv", "x.json"]);
        assert!(!path.join("steps.csv").is_symlink());
        fs::remove_file(path.join(RUN_FILE)).unwrap();
        symlink(outside.path().join("x.json"), path.join(RUN_FILE)).unwrap();
        assert_eq!(open(path).unwrap_err().exit_code(), 2);
        for name in names(outside.path()) {
            assert_eq!(fs::read(outside.path().join(name)).unwrap(), b"mine");
        }
    }

    fn listed(name: &str) -> Listed {
        Listed {
            path: name.to_owned(),
            bytes: 0,
            sha256: String::new(),
        }
    }

    #[test]
    fn two_runs_do_not_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path()).unwrap();
        let message = open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("another run is writing"), "{message}");
        drop(first);
        open(folder.path()).unwrap();
    }

    #[test]
    fn the_runs_of_a_sweep_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let sweep = || RunDir::open(folder.path(), "sweep", &Value::Null);
        sweep().unwrap().begin(&[]).unwrap();
        let message = open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("holds the runs of a sweep"), "{message}");
        sweep().unwrap();
    }

    #[test]
    fn paths_that_leave_the_directory_are_not_followed() {
        for name in ["", "/etc/passwd", "../x", "a/../../x", "./x"] {
            assert!(!is_inside(name), "{name}");
        }
        assert!(is_inside("logs/a/x.csv"));
    }
}
