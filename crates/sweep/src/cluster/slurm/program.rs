//! Runs Slurm commands.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::printable;

/// Advice for users of systems without Slurm.
const WITHOUT: &str = "on another batch system, or without one, run the parts of the sweep yourself \
                       (gleaner sweep PLAN --out DIR --part I/N), and then collect the results \
                       (--collect), as described in docs/CLUSTER.md";

/// Runs a Slurm command, such as `squeue`, and returns its standard output.
///
/// # Errors
/// [`Error::Usage`] if the command is not in PATH. [`Error::Run`] if the command cannot be started or fails. If it
/// fails, the message contains its standard error.
pub(super) fn call(name: &str, arguments: &[impl AsRef<OsStr>]) -> Result<String> {
    let mut command = Command::new(name);
    // By default, Slurm truncates long lists of array tasks. SLURM_BITSTR_LEN=0 prevents this.
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env("SLURM_BITSTR_LEN", "0");
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::Usage(format!(
            "--slurm needs Slurm, but the program {name} is not in PATH; {WITHOUT}"
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
