//! The command line. The arguments of each subcommand, and the function that runs it, are in a separate file.

pub mod check;
pub mod compare;
mod completions;
mod convert;
mod driple;
#[cfg(feature = "harvest")]
mod harvest;
pub mod ingest;
pub mod inspect;
mod interrupt;
mod man;
mod models;
mod original;
mod pilots;
mod profile;
mod progress;
pub mod replay;
mod report;
mod reproduce;
pub mod simulate;
pub mod solve;
mod solver_check;
pub mod sweep;
mod synth;
mod terminal;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::{printable_json, printable_lines, shortened_lines};

/// Replay the idle nodes of supercomputers, and simulate GPU clusters.
#[derive(Debug, Parser)]
#[command(
    name = "gleaner",
    version,
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    before_help = "\
Example:
  gleaner replay --events dataset/idle.csv --tasks dataset/tasks.toml",
    after_help = "\
Exit codes:
  0 done, 1 the run failed, 2 wrong usage, 3 invalid input data,
  129 hung up (SIGHUP), 130 interrupted (Ctrl-C), 143 terminated (SIGTERM)"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ingest(ingest::Args),
    Replay(Box<replay::Args>),
    Simulate(Box<simulate::Args>),
    Solve(solve::Args),
    SolverCheck(solver_check::Args),
    Check(check::Args),
    Compare(Box<compare::Args>),
    Inspect(inspect::Args),
    Pilots(pilots::Args),
    #[cfg(feature = "harvest")]
    Harvest(harvest::Args),
    Train(models::train::Args),
    Predict(models::predict::Args),
    Evaluate(models::evaluate::Args),
    Explain(models::explain::Args),
    Driple(driple::Args),
    Profile(profile::Args),
    Sweep(sweep::Args),
    Convert(convert::Args),
    Report(report::Args),
    Reproduce(reproduce::Args),
    Synth(synth::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Whether the command handles signals itself. Programs that run for days do so.
    fn handles_signals(&self) -> bool {
        #[cfg(feature = "harvest")]
        if let Command::Harvest(args) = self {
            return args.handles_signals();
        }
        false
    }
}

/// Runs the command line and returns its exit code. Errors are printed to stderr.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match original::translate(arguments.into_iter().collect()) {
        Ok(arguments) => arguments,
        Err(error) => return complain(&error),
    };
    let matches = command().try_get_matches_from(arguments);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            show_usage(&error);
            return error.exit_code() as u8;
        }
    };
    if !cli.command.handles_signals()
        && let Err(error) = interrupt::watch()
    {
        return complain(&error);
    }
    let result = match cli.command {
        Command::Ingest(args) => ingest::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::SolverCheck(args) => solver_check::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Pilots(args) => pilots::run(&args),
        #[cfg(feature = "harvest")]
        Command::Harvest(args) => harvest::run(&args),
        Command::Train(args) => models::train::run(&args),
        Command::Predict(args) => models::predict::run(&args),
        Command::Evaluate(args) => models::evaluate::run(&args),
        Command::Explain(args) => models::explain::run(&args),
        Command::Driple(args) => driple::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Synth(args) => synth::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match result {
        Ok(()) => 0,
        // The program that reads the output has closed the pipe, as `head` does in `gleaner solve … | head`.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => 0,
        Err(error) => complain(&error),
    }
}

fn complain(error: &Error) -> u8 {
    say(error);
    match error {
        Error::Interrupted | Error::Stopped => interrupt::interrupted(),
        _ => error.exit_code(),
    }
}

/// The command line as a clap command. The help of a command begins with its purpose and examples.
pub fn command() -> clap::Command {
    let command = arranged(Cli::command());
    let template = grouped(&command);
    command.help_template(template)
}

/// The order of the help sections. By default, clap begins with the text of `before_help`. In this program, that text
/// contains the examples, which belong after the purpose of the command.
const ORDER: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The commands, grouped by purpose, as `gleaner --help` lists them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Idle nodes of a supercomputer",
        &[
            "ingest",
            "inspect",
            "convert",
            "replay",
            "pilots",
            #[cfg(feature = "harvest")]
            "harvest",
        ],
    ),
    (
        "Schedulers of GPU clusters, and their models",
        &[
            "simulate", "train", "predict", "evaluate", "explain", "driple", "profile",
        ],
    ),
    ("Runs", &["sweep", "check", "report", "reproduce"]),
    ("Solvers", &["solve", "compare", "solver-check"]),
    ("Sample data and set-up", &["synth", "completions", "man"]),
];

/// Sets the order of the help sections for a command and all its subcommands.
fn arranged(command: clap::Command) -> clap::Command {
    command.mut_subcommands(arranged).help_template(ORDER)
}

/// The help template of the whole program, with its commands grouped by purpose.
fn grouped(command: &clap::Command) -> String {
    let about = |name: &str| {
        let found = command.get_subcommands().find(|sub| sub.get_name() == name);
        found
            .and_then(clap::Command::get_about)
            .map(ToString::to_string)
    };
    let line = |name: &&str| format!("\n  {name:<14}{}", about(name).unwrap_or_default());
    let groups = GROUPS.iter().map(|(title, names)| {
        let lines: String = names.iter().map(line).collect();
        format!("{title}:{lines}\n\n")
    });
    let groups: String = groups.collect();
    let listed = format!("{groups}Options:\n{{options}}");
    ORDER.replace("{all-args}", &listed)
}

/// Formats the explanations of the terms in the summary of a command.
fn explained(terms: &[(impl Display, &str)]) -> String {
    let of = |(word, meaning): &(_, &str)| format!("\n  {word}: {meaning}");
    let lines: String = terms.iter().map(of).collect();
    format!("Terms of the summary:{lines}")
}

/// Prints text for people to stdout. Control characters, such as those in file names, are escaped.
fn print(text: &str) -> Result<()> {
    write_to_stdout(printable_lines(text).as_bytes())
}

/// Prints JSON to stdout. Control characters are escaped as JSON requires.
fn print_json(text: &str) -> Result<()> {
    write_to_stdout(printable_json(text).as_bytes())
}

fn write_to_stdout(text: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)
        .and_then(|()| out.flush())
        .map_err(|e| Error::io("write to", "stdout", e))
}

/// Prints notes to stderr, one per line.
fn remark(notes: &[String]) {
    notes.iter().for_each(say);
}

/// Prints help to stdout, or errors in the arguments to stderr.
fn show_usage(error: &clap::Error) {
    let text = error.render().to_string();
    // Help is printed in full: although it is long, it contains no user input.
    let is_plain = !error.use_stderr() || shortened_lines(&text) == text;
    // If printing fails here, there is no way to report the failure.
    let _ = if is_plain {
        error.print()
    } else {
        write!(std::io::stderr(), "{}", shortened_lines(&text))
    };
}

/// Prints to stderr. Control characters are escaped.
fn say(text: impl Display) {
    let text = text.to_string();
    // If printing fails here, there is no way to report the failure.
    let _ = writeln!(std::io::stderr(), "gleaner: {}", shortened_lines(&text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_command_in_one_screen() {
        let mut command = command();
        let names = command.get_subcommands().map(clap::Command::get_name);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        names.sort();
        listed.sort_unstable();
        assert_eq!(names, listed);
        let help = command.render_help().to_string();
        assert!(help.lines().count() <= 50, "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
    }

    #[test]
    fn every_help_begins_with_the_purpose_and_an_example() {
        fn check(command: &mut clap::Command) {
            let help = command.render_long_help().to_string();
            let (purpose, rest) = help.split_once("\n\n").unwrap_or_default();
            assert!(!purpose.contains("Usage:"), "{help}");
            let (before, _) = rest.split_once("Usage:").unwrap_or_default();
            assert!(before.contains("Example"), "{help}");
            let below = command.get_subcommands_mut();
            below.filter(|sub| sub.get_name() != "help").for_each(check);
        }
        check(&mut command());
    }
}
