//! The `gleaner` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gleaner::cli::main(std::env::args_os()))
}
