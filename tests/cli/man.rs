//! Tests the content of the pages of `gleaner man`, and that troff accepts them without warnings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::subcommands::{self, Shown};
use crate::support::gleaner;

fn page_name(command: &Shown) -> String {
    let words = std::iter::once("gleaner").chain(command.words.iter().map(String::as_str));
    words.collect::<Vec<_>>().join("-") + ".1"
}

/// Removes the troff marks that occur inside words.
fn plain(page: &str) -> String {
    let plain = page.replace("\\-", "-");
    ["\\fB", "\\fI", "\\fR"]
        .iter()
        .fold(plain, |plain, mark| plain.replace(mark, ""))
}

#[test]
fn every_command_has_a_page_that_names_its_flags() {
    let directory = tempfile::tempdir().unwrap();
    let run = gleaner(directory.path(), "man pages/man1").expect(0);
    let commands = subcommands::all();
    run.says(&[&format!("pages/man1: {} manual pages", commands.len())]);
    let pages = directory.path().join("pages/man1");
    let written: BTreeSet<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(written, commands.iter().map(page_name).collect());
    for command in &commands {
        let name = page_name(command);
        let page = plain(&fs::read_to_string(pages.join(&name)).unwrap());
        let stem = name.trim_end_matches(".1");
        let version = env!("CARGO_PKG_VERSION");
        let title = format!(".TH {stem} 1 \"\" \"Gleaner {version}\" \"Gleaner Manual\"");
        assert!(page.lines().any(|line| line == title), "{name}: no {title}");
        let flags = command.flags();
        assert!(!flags.is_empty(), "{name}");
        for (_, flag) in flags {
            // A line that explains a flag begins with the flag, unlike the lines of the synopsis.
            let is_explained = |line: &str| {
                let mut words = line.split([' ', ',', '[', '=']);
                line.starts_with('-') && words.any(|word| word == flag)
            };
            assert!(page.lines().any(is_explained), "{name}: no {flag}");
        }
        for below in command.subcommands() {
            let below = format!("{stem}-{below}(1)");
            assert!(page.lines().any(|line| line == below), "{name}: no {below}");
        }
    }
}

#[test]
fn examples_keep_their_lines() {
    let directory = tempfile::tempdir().unwrap();
    gleaner(directory.path(), "man .").expect(0);
    let mut literal = 0;
    for command in subcommands::all() {
        let name = page_name(&command);
        let page = plain(&fs::read_to_string(directory.path().join(&name)).unwrap());
        let lines: Vec<&str> = page.lines().collect();
        let blocks = lines.iter().filter(|line| **line == ".EX").count();
        let ends = lines.iter().filter(|line| **line == ".EE").count();
        assert_eq!(blocks, ends, "{name}");
        for example in command
            .help
            .lines()
            .filter(|line| line.starts_with("  gleaner "))
        {
            let expected = example.trim().replace('\\', "\\\\").replace('\'', "\\*(Aq");
            assert!(lines.contains(&expected.as_str()), "{name}: {example}");
            literal += 1;
        }
    }
    assert!(literal > 60, "{literal} examples");
}

/// With all warnings enabled, groff warns about a faulty page, but about no page of the program.
#[test]
fn troff_has_no_warning() {
    let directory = tempfile::tempdir().unwrap();
    gleaner(directory.path(), "man .").expect(0);
    fs::write(directory.path().join("faulty.1"), ".TH a 1\n.nonsense\n").unwrap();
    let Some(warnings) = troff(directory.path(), "faulty.1") else {
        return;
    };
    assert!(warnings.contains("nonsense"), "{warnings}");
    for command in subcommands::all() {
        let name = page_name(&command);
        assert_eq!(
            troff(directory.path(), &name).as_deref(),
            Some(""),
            "{name}"
        );
    }
}

/// The text that groff writes to stderr for a page. Returns `None`, with a message on stderr, if
/// groff is not installed.
fn troff(directory: &Path, page: &str) -> Option<String> {
    let mut command = Command::new("groff");
    command.args(["-ww", "-man", "-Kutf8", "-Tutf8", page]);
    command.current_dir(directory).stdout(Stdio::null());
    match command.stderr(Stdio::piped()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: groff is not installed");
            None
        }
        output => Some(String::from_utf8_lossy(&output.unwrap().stderr).into_owned()),
    }
}

/// Common options are listed under a fitting heading. In the declaration of a command, a heading applies to all options
/// after it, so they could end up under a foreign one.
#[test]
fn common_options_are_not_under_a_foreign_heading() {
    let common = [
        "--output", "--out", "--json", "--quiet", "--check", "--help",
    ];
    for command in subcommands::all() {
        for (heading, flag) in command.flags() {
            let is_fine = !common.contains(&flag) || ["Options", "Output"].contains(&heading);
            assert!(is_fine, "{:?}: {flag} is under {heading}", command.words);
        }
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    let run = gleaner(directory.path(), "man file/man1").expect(1);
    run.says(&["file/man1"]);
}
