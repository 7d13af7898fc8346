//! Translates the flags of the original replayer.

use std::ffi::OsString;

use gleaner_domain::NodeRule;
use gleaner_domain::error::{Error, Result};
use gleaner_setup::replay::t_fwd::ORIGINAL;

/// Flags of the original, each with the flag of this program that has the same meaning.
const RENAMED: [(&str, &str); 8] = [
    ("-Tfwd", "--t-fwd"),
    ("-optTL", "--time-limit"),
    ("-ndmap", "--events"),
    ("-bdfn", "--tasks"),
    ("-scfn", "--curves"),
    ("-nis", "--first-node"),
    ("-nN", "--nodes"),
    ("-maxJ", "--max-tasks"),
];

/// Replaces the original's single-dash flags after `replay` with this program's flags. If any such flag is given, the
/// original's defaults apply to the forward window, the choice of nodes, completion events and the end of the log.
///
/// # Errors
/// The value of a switch is neither yes nor no.
pub fn translate(arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    if arguments.get(1).is_none_or(|command| command != "replay") {
        return Ok(arguments);
    }
    let mut out = Vec::with_capacity(arguments.len());
    let mut is_original = false;
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let (flag, mut value) = split(&argument);
        if let Some((_, name)) = RENAMED.iter().find(|(old, _)| *old == flag) {
            is_original = true;
            out.push(name.into());
            out.extend(value);
            continue;
        }
        if !matches!(flag.as_str(), "-mip" | "-print" | "-name") {
            out.push(argument);
            continue;
        }
        is_original = true;
        value = value.or_else(|| rest.next());
        let value = value.ok_or_else(|| Error::Usage(format!("{flag} needs a value")))?;
        match flag.as_str() {
            "-mip" if !yes(&flag, &value)? => out.extend(["--solver".into(), "equal-share".into()]),
            "-print" if !yes(&flag, &value)? => out.push("--quiet".into()),
            "-name" => {
                let mut directory = value;
                directory.push("-itrOut");
                out.extend(["--out".into(), directory]);
            }
            _ => {}
        }
    }
    if is_original {
        add_defaults(&mut out);
    }
    Ok(out)
}

/// Adds options for the fixed behaviour of the original, unless the arguments contain them.
fn add_defaults(arguments: &mut Vec<OsString>) {
    let mut add = |flags: &[&str], words: &[&str]| {
        let is_named = |argument: &OsString| flags.contains(&split(argument).0.as_str());
        if !arguments.iter().any(is_named) {
            arguments.extend(words.iter().map(OsString::from));
        }
    };
    let rule = NodeRule::Arrival.to_string();
    add(&["--t-fwd"], &["--t-fwd", &ORIGINAL.to_string()]);
    add(&["--node-choice"], &["--node-choice", &rule]);
    let completions = ["--no-completion-events", "--completion-events"];
    add(&completions, &completions[..1]);
    add(&["--drop-end-row"], &["--drop-end-row"]);
}

/// Splits `-flag=value` into flag and value. Any other text is returned as a flag without a value.
fn split(argument: &OsString) -> (String, Option<OsString>) {
    let text = argument.to_string_lossy();
    match text.split_once('=') {
        Some((flag, value)) => (flag.to_string(), Some(value.into())),
        None => (text.into_owned(), None),
    }
}

fn yes(flag: &str, value: &OsString) -> Result<bool> {
    match value.to_string_lossy().to_lowercase().as_str() {
        "yes" | "true" | "t" | "y" | "1" => Ok(true),
        "no" | "false" | "f" | "n" | "0" => Ok(false),
        other => Err(Error::Usage(format!("{flag} is {other}, expected 1 or 0"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Vec<OsString> {
        translate(line.split(' ').map(OsString::from).collect()).unwrap()
    }

    #[test]
    fn the_originals_flags_are_known_in_replay() {
        let ours = translated(
            "gleaner replay --events a --tasks b --curves c --t-fwd 60 --nodes=5 --first-node 2 \
             --max-tasks 7 --time-limit 3 --solver equal-share --quiet --out x-itrOut --node-choice arrival --no-completion-events --drop-end-row",
        );
        let mut theirs = translated(
            "gleaner replay -ndmap a -bdfn b -scfn c -Tfwd 60 -nN 5 -nis 2 -maxJ 7 -optTL=3 \
             -mip 0 -print false -name x",
        );
        // clap does not distinguish --nodes=5 from --nodes 5.
        let at = theirs.iter().position(|a| a == "--nodes").unwrap();
        theirs.splice(at..at + 2, ["--nodes=5".into()]);
        assert_eq!(theirs, ours);
        assert_eq!(
            translated("gleaner replay -mip 1 -print 1"),
            [
                "gleaner",
                "replay",
                "--t-fwd",
                "10",
                "--node-choice",
                "arrival",
                "--no-completion-events",
                "--drop-end-row"
            ]
        );
        assert_eq!(
            translated(
                "gleaner replay -nN 5 --t-fwd=auto --node-choice blocks --completion-events \
                 --drop-end-row"
            ),
            [
                "gleaner",
                "replay",
                "--nodes",
                "5",
                "--t-fwd=auto",
                "--node-choice",
                "blocks",
                "--completion-events",
                "--drop-end-row"
            ]
        );
        assert_eq!(
            translated("gleaner replay --nodes 5"),
            ["gleaner", "replay", "--nodes", "5"]
        );
    }

    #[test]
    fn other_commands_are_left_alone() {
        assert_eq!(
            translated("gleaner solve -name x"),
            ["gleaner", "solve", "-name", "x"]
        );
    }

    #[test]
    fn a_switch_requires_yes_or_no() {
        assert!(
            translate(
                ["gleaner", "replay", "-mip", "maybe"]
                    .map(OsString::from)
                    .into()
            )
            .is_err()
        );
        assert!(translate(["gleaner", "replay", "-name"].map(OsString::from).into()).is_err());
    }
}
