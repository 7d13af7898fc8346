//! Reads the subcommands and flags from the output of --help.

use std::path::Path;

use crate::support::gleaner;

/// A command as described by `--help`.
pub struct Shown {
    /// The words after `gleaner`; empty for the program itself.
    pub words: Vec<String>,
    /// The output of `--help`.
    pub help: String,
}

impl Shown {
    /// Names of the subcommands of this command.
    pub fn subcommands(&self) -> Vec<String> {
        // The top-level help lists the commands by purpose, in several sections between the usage and the options.
        let lines = self.help.lines();
        let listed = lines.skip_while(|line| match &self.words[..] {
            [] => !line.starts_with("Usage:"),
            _ => *line != "Commands:",
        });
        let listed = listed.skip(1).take_while(|line| *line != "Options:");
        let listed = listed.filter(|line| line.starts_with("  "));
        // Continuation lines of descriptions are indented further than names.
        let names = listed.filter(|line| !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next());
        names
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    }

    /// Every flag, with the heading under which it is listed, such as `("Options", "--seed")`.
    pub fn flags(&self) -> Vec<(&str, &str)> {
        let mut heading = "";
        let mut flags = Vec::new();
        for line in self.help.lines() {
            if let Some(name) = line.strip_suffix(':').filter(|n| !n.starts_with(' ')) {
                heading = name;
            }
            let indent = line.len() - line.trim_start().len();
            // A flag begins in the third column, or in the seventh if it has no short form.
            if line.trim_start().starts_with('-') && (indent == 2 || indent == 6) {
                let words = line.split_whitespace();
                let words = words.take_while(|word| word.starts_with('-'));
                flags.extend(words.map(|word| (heading, name(word))));
            }
        }
        flags
    }
}

/// The name in a word such as `--corrected[=<WHICH>]` or `-o,`.
fn name(word: &str) -> &str {
    let is_other = |c: char| !(c.is_alphanumeric() || c == '-');
    word.split(is_other).next().unwrap()
}

/// The program itself, and all of its subcommands at every level.
pub fn all() -> Vec<Shown> {
    let mut found = Vec::new();
    let mut open = vec![Vec::<String>::new()];
    while let Some(words) = open.pop() {
        let help = gleaner(Path::new("."), &format!("{} --help", words.join(" "))).expect(0);
        let shown = Shown {
            words,
            help: help.out,
        };
        for name in shown.subcommands() {
            open.push([shown.words.clone(), vec![name]].concat());
        }
        found.push(shown);
    }
    assert!(found.len() > 40, "{} commands", found.len());
    found
}
