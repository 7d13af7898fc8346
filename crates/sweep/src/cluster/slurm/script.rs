//! The scripts that jobs run.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Result};

use crate::cluster::{Batch, BatchFolder};

/// The command line with which jobs run gleaner.
#[derive(Debug, Clone)]
pub struct Call {
    /// The `gleaner` program.
    pub program: PathBuf,
    /// The folder in which the program runs.
    pub folder: PathBuf,
    /// The plan, relative to that folder.
    pub plan: PathBuf,
    /// The directory of the sweep, relative to that folder.
    pub out: PathBuf,
    /// Options for all jobs, which determine how the log is cut.
    pub cut: Vec<String>,
    /// Options for the job that collects results, which affect the tables.
    pub collecting: Vec<String>,
}

impl Call {
    /// The script of an array task. Its argument is the number of parts in the arrays that precede the task's array.
    pub(super) fn part(&self, batches: &BatchFolder, batch: &Batch) -> Result<Vec<u8>> {
        // `exec` replaces the shell with gleaner, so that Slurm's signals reach gleaner.
        let mut script = self.head()?;
        script.extend(b" --part \"$((SLURM_ARRAY_TASK_ID + $1 + 1))/");
        script.extend(batch.parts.to_string().as_bytes());
        script.extend(
            b"\" --jobs \"${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}\" --quiet --batch ",
        );
        script.extend(batch.name.as_bytes());
        script.extend(b" --dealt ");
        script.extend(quoted(&batches.deal(&batch.name))?);
        script.push(b'\n');
        Ok(script)
    }

    /// The script of the job that collects results.
    pub(super) fn collect(&self, batch: &Batch) -> Result<Vec<u8>> {
        let mut script = self.head()?;
        script.extend(b" --collect --quiet --batch ");
        script.extend(batch.name.as_bytes());
        script.extend(words(&self.collecting)?);
        script.push(b'\n');
        Ok(script)
    }

    fn head(&self) -> Result<Vec<u8>> {
        let mut script = b"#!/bin/sh\n# Written by gleaner sweep --slurm.\ncd ".to_vec();
        script.extend(quoted(&self.folder)?);
        script.extend(b" || exit 1\nexec ");
        script.extend(quoted(&self.program)?);
        script.extend(b" sweep ");
        script.extend(quoted(&self.plan)?);
        script.extend(b" --out ");
        script.extend(quoted(&self.out)?);
        script.extend(words(&self.cut)?);
        Ok(script)
    }
}

/// Options as words of a shell command, each after a space.
fn words(options: &[String]) -> Result<Vec<u8>> {
    let mut words = Vec::new();
    for option in options {
        words.push(b' ');
        words.extend(quoted(Path::new(option))?);
    }
    Ok(words)
}

/// Quotes a path as one word of a shell command.
fn quoted(path: &Path) -> Result<Vec<u8>> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.contains(&b'\0') || bytes.contains(&b'\n') {
        let shown = path.display();
        return Err(Error::Usage(format!(
            "{shown}: --slurm does not accept paths with line breaks"
        )));
    }
    let mut word = b"'".to_vec();
    for &byte in bytes {
        match byte {
            b'\'' => word.extend(br"'\''"),
            byte => word.push(byte),
        }
    }
    word.push(b'\'');
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_a_quoted_path_as_it_is() {
        for path in [
            "plain",
            "with space",
            "it's $HOME `id` \"x\" \\ *",
            "-n",
            "ü%a",
        ] {
            let mut line = b"printf %s ".to_vec();
            line.extend(quoted(Path::new(path)).unwrap());
            let line = String::from_utf8(line).unwrap();
            let output = Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), path);
        }
        assert!(quoted(Path::new("a\nb")).is_err());
    }

    #[test]
    fn all_jobs_cut_the_log_and_only_the_collecting_job_chooses_the_best() {
        let call = Call {
            program: "gleaner".into(),
            folder: "/".into(),
            plan: "plan.toml".into(),
            out: "swept".into(),
            cut: vec!["--windows".into(), "5".into()],
            collecting: vec!["--best".into(), "efficiency".into()],
        };
        let head = String::from_utf8(call.head().unwrap()).unwrap();
        assert!(
            head.ends_with("sweep 'plan.toml' --out 'swept' '--windows' '5'"),
            "{head}"
        );
    }
}
