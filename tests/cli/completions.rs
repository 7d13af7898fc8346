//! Tests the scripts of `gleaner completions`, and the completions that shells offer with them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::subcommands;
use crate::support::gleaner;

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

fn script(shell: &str) -> String {
    gleaner(Path::new("."), &format!("completions {shell}"))
        .expect(0)
        .out
}

/// A directory with the completion script of `shell` in the file `script`.
fn saved(shell: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("script"), script(shell)).unwrap();
    directory
}

/// Runs a command in `directory` with `input` as its standard input. Returns `None`, with a message
/// on stderr, if the command is not installed.
fn try_run(directory: &Path, line: &[&str], input: &str) -> Option<Output> {
    fs::write(directory.join("input"), input).unwrap();
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(directory);
    // The command must not use the user's settings or history.
    command.env("HOME", directory).env("INPUTRC", "/dev/null");
    command.env_remove("HISTFILE");
    command.stdin(Stdio::from(
        fs::File::open(directory.join("input")).unwrap(),
    ));
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {} is not installed", line[0]);
            None
        }
        output => Some(output.unwrap()),
    }
}

#[test]
fn scripts_name_every_subcommand() {
    let commands = subcommands::all();
    for shell in SHELLS {
        let script = script(shell);
        for command in &commands {
            let Some(last) = command.words.last() else {
                continue;
            };
            let is_word = |word: &str| word.trim_matches(|c: char| "\"'();,:=".contains(c)) == last;
            let named = script.lines().any(|line| {
                let mut words = line.split(|c: char| c.is_whitespace() || "\"'(),:;".contains(c));
                words.any(is_word)
            });
            assert!(named, "{shell}: no {last}");
        }
    }
}

#[test]
fn shells_accept_their_scripts() {
    for shell in SHELLS {
        let directory = saved(shell);
        let Some(output) = try_run(directory.path(), &[shell, "-n", "script"], "") else {
            continue;
        };
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && err.is_empty(), "{shell}: {err}");
    }
}

/// Types lines that contain tabs into an interactive bash. The shell runs in its own session, so that it does not take
/// over the terminal.
#[test]
fn bash_completes_subcommands_flags_and_values() {
    let directory = saved("bash");
    let typed = "source ./script\n\
                 gleaner() { printf '<%s>' \"$@\"; echo; }\n\
                 gleaner repl\t--obj\tthrou\t\n\
                 gleaner ingest sl\t--delim\t\n\
                 gleaner driple tra\t--data scr\t\n\
                 gleaner compl\tfi\t\n";
    let line = ["setsid", "bash", "--norc", "--noprofile", "-i"];
    let Some(output) = try_run(directory.path(), &line, typed) else {
        return;
    };
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let expected = [
        "<replay><--objective><throughput>",
        "<ingest><slurm><--delimiter>",
        "<driple><train><--data><script>",
        "<completions><fish>",
    ];
    let completed: Vec<&str> = out.lines().collect();
    assert_eq!(completed, expected, "{err}");
}

#[test]
fn fish_completes_subcommands_flags_and_values() {
    let directory = saved("fish");
    let completed = |line: &str| {
        let command = format!("source ./script; complete --do-complete '{line}'");
        let output = try_run(directory.path(), &["fish", "-c", &command], "")?;
        assert!(output.status.success(), "{output:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        let words = out.lines().filter_map(|line| line.split('\t').next());
        Some(words.map(str::to_owned).collect::<Vec<_>>())
    };
    for (line, expected) in [
        ("gleaner repl", "replay"),
        ("gleaner replay --obj", "--objective"),
        ("gleaner replay --objective thr", "throughput"),
        ("gleaner ingest sl", "slurm"),
    ] {
        let Some(words) = completed(line) else {
            return;
        };
        assert_eq!(words, [expected], "{line}");
    }
}

#[test]
fn another_shell_is_wrong_usage() {
    let run = gleaner(Path::new("."), "completions tcsh").expect(2);
    run.says(&["tcsh", "bash", "zsh", "fish"]);
}
