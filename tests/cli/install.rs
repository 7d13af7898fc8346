//! Tests `make install`: the script that copies the files, and the arguments that make passes to the script.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gleaner_testing::workspace;

use crate::support::gleaner;

fn script(arguments: &[&str]) -> Output {
    let mut command = Command::new(workspace().join("scripts/install.sh"));
    command.args(arguments).output().unwrap()
}

/// Paths of the files below a directory, relative to the directory.
fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![directory.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(directory).unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn installed_files_work_and_are_uninstalled() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("a prefix");
    let at = prefix.to_str().unwrap();
    let others = prefix.join("share/man/man1/gleaner-other.1");
    fs::create_dir_all(others.parent().unwrap()).unwrap();
    fs::write(&others, "of another program").unwrap();

    let installed = script(&["install", at, env!("CARGO_BIN_EXE_gleaner")]);
    assert!(installed.status.success(), "{installed:?}");
    let pages = tempfile::tempdir().unwrap();
    gleaner(pages.path(), "man .").expect(0);
    let man = Path::new("share/man/man1");
    let mut expected: BTreeSet<PathBuf> = files(pages.path())
        .iter()
        .map(|page| man.join(page))
        .collect();
    expected.insert(man.join("gleaner-other.1"));
    expected.extend(
        [
            "bin/gleaner",
            "share/bash-completion/completions/gleaner",
            "share/zsh/site-functions/_gleaner",
            "share/fish/vendor_completions.d/gleaner.fish",
        ]
        .map(PathBuf::from),
    );
    let workloads = workspace().join("workloads");
    let shipped = files(&workloads).into_iter();
    let shipped = shipped.filter(|file| file.extension().is_some_and(|name| name != "pyc"));
    expected.extend(shipped.map(|file| Path::new("share/gleaner/workloads").join(file)));
    assert_eq!(files(&prefix), expected);
    for file in &expected {
        let mode = fs::metadata(prefix.join(file))
            .unwrap()
            .permissions()
            .mode();
        let runs = file == Path::new("bin/gleaner");
        assert!(
            runs == (mode & 0o111 == 0o111),
            "{}: {mode:o}",
            file.display()
        );
        assert_eq!(mode & 0o444, 0o444, "{}: {mode:o}", file.display());
    }
    let version = Command::new(prefix.join("bin/gleaner"))
        .arg("--version")
        .output();
    assert!(version.unwrap().status.success());
    let mut list = Command::new(prefix.join("bin/gleaner"));
    list.args(["profile", "--plan", "lucid", "--dry-run"]);
    // The plan starts python3, and is rejected if python3 is missing.
    if Command::new("python3").arg("--version").output().is_ok() {
        let listed = list.current_dir(pages.path()).output().unwrap();
        assert!(listed.status.success(), "{listed:?}");
        let lines = String::from_utf8(listed.stdout).unwrap().lines().count();
        assert_eq!(lines, 66 + 1388);
    }

    let again = script(&["install", at, env!("CARGO_BIN_EXE_gleaner")]);
    assert!(again.status.success(), "{again:?}");
    let removed = script(&["uninstall", at]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(files(&prefix), [man.join("gleaner-other.1")].into());

    let nothing = script(&["uninstall", at]);
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(said.contains(at), "{said}");
}

#[test]
fn a_script_without_a_prefix_is_wrong_usage() {
    for arguments in [&["install", "", "x"][..], &["install", "x"], &["uninstall"]] {
        let output = script(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

#[test]
fn make_installs_under_prefix_and_destdir() {
    let printed = |arguments: &[&str]| {
        let mut make = Command::new("make");
        make.arg("-n").args(arguments).current_dir(workspace());
        let output = make.env_remove("PREFIX").env_remove("DESTDIR").output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let installed = printed(&["install", "PREFIX=/opt/g", "DESTDIR=/tmp/tree"]);
    assert!(
        installed.contains("install.sh install \"/tmp/tree/opt/g\" "),
        "{installed}"
    );
    assert!(installed.contains("build --release"), "{installed}");
    let installed = printed(&["install"]);
    assert!(
        installed.contains("install.sh install \"/usr/local\" "),
        "{installed}"
    );
    let removed = printed(&["uninstall", "PREFIX=/opt/g"]);
    assert!(
        removed.contains("install.sh uninstall \"/opt/g\""),
        "{removed}"
    );
    assert!(!removed.contains("build"), "{removed}");
}
