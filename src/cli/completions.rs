//! `gleaner completions`: prints completion scripts for shells.

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::{Shell, generate};

use super::{command, write_to_stdout};
use gleaner_domain::error::Result;

/// Print the completion script for a shell.
///
/// `make install` installs the scripts in the folders in which the shells look for them. docs/INSTALL.md lists these
/// folders.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    source <(gleaner completions bash)\n  \
    gleaner completions fish > ~/.config/fish/completions/gleaner.fish")]
pub struct Args {
    /// The shell that reads the script.
    #[arg(value_name = "SHELL", value_parser = shells())]
    shell: Shell,
}

/// The shells whose scripts are tested.
fn shells() -> impl TypedValueParser<Value = Shell> {
    PossibleValuesParser::new(["bash", "zsh", "fish"]).try_map(|name| name.parse::<Shell>())
}

/// Runs the subcommand.
///
/// # Errors
/// The script cannot be written to stdout.
pub fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut command(), "gleaner", &mut script);
    write_to_stdout(&script)
}
