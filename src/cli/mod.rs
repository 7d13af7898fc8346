//! The command line: one file a subcommand, arguments in, exit code out.

pub mod check;
pub mod compare;
mod completions;
mod convert;
mod driple;
pub mod ingest;
pub mod inspect;
mod interrupt;
mod man;
mod models;
mod original;
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

use clap::{CommandFactory, Parser, Subcommand};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::{printable_json, printable_lines, shortened_lines};

/// What elastic deep-learning training could harvest from a supercomputer's idle nodes.
#[derive(Debug, Parser)]
#[command(
    name = "gleaner",
    version,
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  gleaner replay            lists what a replay needs, and how to generate inputs
  gleaner COMMAND --help    describes a command, with examples

Exit codes:
  0    done
  1    the run failed
  2    wrong usage
  3    invalid input data
  129  hung up (SIGHUP)
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)"
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
    Compare(compare::Args),
    Inspect(inspect::Args),
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

/// Runs the command line and returns its exit code; errors go to stderr.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match original::translate(arguments.into_iter().collect()) {
        Ok(arguments) => arguments,
        Err(error) => return complain(&error),
    };
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            show_usage(&error);
            return error.exit_code() as u8;
        }
    };
    if let Err(error) = interrupt::watch() {
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
        // The reader of our output had enough, as in `gleaner solve … | head`.
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

/// The command line, for what describes it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Joins a command's examples with an explanation of the terms in its summary.
fn explained(examples: &str, terms: &[(impl Display, &str)]) -> String {
    let of = |(word, meaning): &(_, &str)| format!("\n  {word}: {meaning}");
    let lines: String = terms.iter().map(of).collect();
    format!("{examples}\n\nTerms of the summary:{lines}")
}

/// Prints a text for people to stdout; nothing in it, as names of a file, steers the terminal.
fn print(text: &str) -> Result<()> {
    write_to_stdout(printable_lines(text).as_bytes())
}

/// Prints JSON to stdout; what would steer a terminal is escaped as JSON does.
fn print_json(text: &str) -> Result<()> {
    write_to_stdout(printable_json(text).as_bytes())
}

fn write_to_stdout(text: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)
        .and_then(|()| out.flush())
        .map_err(|e| Error::io("write to", "stdout", e))
}

/// Prints remarks to stderr, a line each.
fn remark(notes: &[String]) {
    notes.iter().for_each(say);
}

/// Prints help to stdout, or errors in the arguments to stderr.
fn show_usage(error: &clap::Error) {
    let text = error.render().to_string();
    // Help is long, but contains no user input.
    let is_plain = !error.use_stderr() || shortened_lines(&text) == text;
    // If printing fails here, there is nowhere left to report it.
    let _ = if is_plain {
        error.print()
    } else {
        write!(std::io::stderr(), "{}", shortened_lines(&text))
    };
}

/// Prints to stderr; nothing in it steers the terminal.
fn say(text: impl Display) {
    let text = text.to_string();
    // Nothing is left to report to where even this cannot be printed.
    let _ = writeln!(std::io::stderr(), "gleaner: {}", shortened_lines(&text));
}
