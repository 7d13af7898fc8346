//! Tests that the files in docs/HARVEST.md are valid, and that its commands exist.

use std::fs;

use gleaner_harvest::config::Config;
use gleaner_harvest::task_file;
use gleaner_testing::workspace;

use crate::support::gleaner;

/// The fenced blocks of this kind on the page, without their indentation.
pub fn blocks(kind: &str) -> Vec<String> {
    let page = fs::read_to_string(workspace().join("docs/HARVEST.md")).unwrap();
    let (mut found, mut block) = (Vec::new(), None);
    for line in page
        .lines()
        .map(|line| line.strip_prefix("   ").unwrap_or(line))
    {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(info)) => block = Some((info == kind, String::new())),
            (Some((is_wanted, text)), Some(_)) => {
                if *is_wanted {
                    found.push(std::mem::take(text));
                }
                block = None;
            }
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

#[test]
fn the_files_of_the_page_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let [tasks, group, pytorch, search, config, classes, in_classes] = &blocks("toml")[..] else {
        panic!("seven blocks are expected")
    };
    let path = folder.path().join("tasks.toml");
    let grouped = [tasks.as_str(), group].concat();
    for tasks in [tasks, &grouped, pytorch, search, in_classes] {
        fs::write(&path, tasks).unwrap();
        task_file::read(&path).unwrap();
    }
    // The test cannot resolve the name of the site's login node.
    let path = folder.path().join("harvest.toml");
    for config in [config, classes] {
        fs::write(&path, config.replace("login1", "127.0.0.1")).unwrap();
        Config::read(&path).unwrap();
    }
}

#[test]
fn the_commands_of_the_page_exist() {
    let commands = blocks("sh site").concat();
    let commands: Vec<&str> = commands.lines().collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[..2], ["gleaner", "harvest"], "{command}");
        // Even with --help, the arguments before it are checked.
        let output = gleaner(&words[2..]).arg("--help").output().unwrap();
        assert!(output.status.success(), "{command}");
    }
}
