//! Calls of Slurm's programs.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use gleaner_core::error::{Error, Result};
use gleaner_core::words::printable;

/// What to do without Slurm.
const WITHOUT: &str = "on another batch system, or without one, run the parts of the sweep yourself \
                       (gleaner sweep PLAN --out DIR --part I/N) and then collect (--collect): \
                       docs/CLUSTER.md";

/// Calls one of Slurm's programs and returns what it printed.
///
/// # Errors
/// [`Error::Usage`] if there is no such program; [`Error::Run`] with its message if it fails.
pub(super) fn call(name: &str, arguments: &[impl AsRef<OsStr>]) -> Result<String> {
    let mut command = Command::new(name);
    // Long lists of array tasks are not to be cut.
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env("SLURM_BITSTR_LEN", "0");
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::Usage(format!(
            "--slurm needs Slurm, but there is no program {name} in PATH; {WITHOUT}"
        )),
        _ => Error::Run(format!("{name}: {error}")),
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let said = lines.join("; ");
        return Err(Error::Run(format!(
            "{name}: {}: {}",
            output.status,
            printable(&said)
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
