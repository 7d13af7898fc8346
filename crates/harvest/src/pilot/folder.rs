//! The temporary folder of a run on this node, with the socket for reports and the host discovery script.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use gleaner_process::{SocketFolder, SocketFolders};

/// Prefix of the folders' names.
const PREFIX: &str = "gleaner-harvest-";

/// Name of the socket.
const SOCKET: &str = "progress";

/// The folder of a run. Dropping this value removes the folder.
#[derive(Debug)]
pub(super) struct RunFolder(SocketFolder);

impl RunFolder {
    /// Creates a folder.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create() -> io::Result<Self> {
        let (folder, ()) = folders().create(|folder| folder.metadata().map(drop))?;
        Ok(RunFolder(folder))
    }

    /// Path of the socket for reports.
    pub fn socket(&self) -> PathBuf {
        self.0.path().join(SOCKET)
    }

    /// Path of the host discovery script.
    pub fn hosts(&self) -> PathBuf {
        self.0.path().join("hosts")
    }

    /// Writes the host discovery script: an executable file that prints a line `host:slots` for each node. The script
    /// is replaced atomically, so a program that executes it gets either the old nodes or the new ones.
    ///
    /// # Errors
    /// The script cannot be written, or the name of a node is not a valid host name.
    pub fn write_hosts(&self, nodes: &[String], slots: u32) -> io::Result<()> {
        let mut script = "#!/bin/sh\ncat <<'END'\n".to_owned();
        for node in nodes {
            if !is_host_name(node) {
                let why = format!("found {node:?} as the name of a node, expected a host name");
                return Err(io::Error::new(ErrorKind::InvalidInput, why));
            }
            script.push_str(&format!("{node}:{slots}\n"));
        }
        script.push_str("END\n");
        let temporary = self.0.path().join("hosts.part");
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(0o700);
        options.open(&temporary)?.write_all(script.as_bytes())?;
        fs::rename(temporary, self.hosts())
    }
}

/// Whether a name contains only characters that are allowed in host names, and is not `END`, which would end the
/// here-document of the script.
pub(crate) fn is_host_name(name: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=253).contains(&name.len()) && name != "END" && name.chars().all(is_safe)
}

fn folders() -> SocketFolders {
    SocketFolders::new(PREFIX, SOCKET)
}

/// Removes the folders of pilots that were killed.
pub(super) fn remove_leftovers() {
    folders().remove_leftovers();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    // The contract of Horovod's host discovery script: an executable file that prints `host:slots` lines.
    #[test]
    fn the_script_prints_the_current_nodes() {
        let folder = RunFolder::create().unwrap();
        let mode = folder.0.path().metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        let printed = || {
            let output = Command::new(folder.hosts()).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        };
        folder.write_hosts(&strings(&["n1", "n2.site"]), 4).unwrap();
        assert_eq!(printed(), "n1:4\nn2.site:4\n");
        folder.write_hosts(&strings(&["n3"]), 1).unwrap();
        assert_eq!(printed(), "n3:1\n");
        for wrong in ["", "END", "a b", "$(id)", "a\nEND\nid", "a:1"] {
            assert!(
                folder.write_hosts(&strings(&[wrong]), 1).is_err(),
                "{wrong:?}"
            );
        }
        assert_eq!(printed(), "n3:1\n");
    }
}
