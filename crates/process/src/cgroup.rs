//! Control groups, version 2: a group contains a program and all processes that the program starts, however it starts
//! them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The shell command that starts a program in a group. The shell enters the group and then becomes the program. Every
/// process that the program starts is therefore in the group.
const ENTER: &str = "echo $$ > \"$0\" && exec \"$@\"";

/// Prefix of the names of groups.
const PREFIX: &str = "gleaner-";

/// Maximum number of attempts to remove a group. Removal fails until the processes of the group are gone.
const ATTEMPTS: u32 = 200;
/// Time between two attempts.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);

/// The cgroup directory in which groups can be created.
#[derive(Debug, Clone)]
pub struct Cgroups {
    folder: PathBuf,
}

impl Cgroups {
    /// Finds the cgroup directory for new groups. Returns `None` if this system has no control groups, or if this
    /// process is not allowed to write to its own group. Only the first call searches.
    pub fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Cgroups>> = OnceLock::new();
        FOUND.get_or_init(Cgroups::look).as_ref()
    }

    fn look() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let folder = mount_point(&mounts)?.join(own_path(&own)?);
        let cgroups = Cgroups { folder };
        cgroups.remove_leftovers();
        // Create and enter a group, to find out whether programs are allowed to enter groups.
        let group = cgroups.create().ok()?;
        let status = group.command("true", &[]).status().ok()?;
        (status.success() && group.cpu().is_some()).then_some(cgroups)
    }

    /// Removes the groups of programs that were killed, and kills the processes that they left behind.
    fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let own = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            let Some((pid, _)) = own.and_then(|own| own.split_once('-')) else {
                continue;
            };
            if !Path::new("/proc").join(pid).exists() {
                drop(Cgroup { path: entry.path() });
            }
        }
    }

    /// Creates a group.
    ///
    /// # Errors
    /// The system cannot create the group, or does not allow this process to create it.
    pub fn create(&self) -> io::Result<Cgroup> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let path = self.folder.join(name);
        fs::create_dir(&path)?;
        Ok(Cgroup { path })
    }
}

/// The mount point of version 2 control groups.
fn mount_point(mounts: &str) -> Option<&Path> {
    let mount = mounts.lines().find(|line| {
        let after = line.split_once(" - ").map(|(_, after)| after);
        after.is_some_and(|after| after.starts_with("cgroup2 "))
    })?;
    mount.split(' ').nth(4).map(Path::new)
}

/// The path of this process's own group below the mount point.
fn own_path(groups: &str) -> Option<&str> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(own)
}

/// A control group. Dropping this value kills the group's processes and removes the group.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// The command that starts a program in the group.
    pub fn command(&self, program: &str, arguments: &[String]) -> Command {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", ENTER])
            .arg(self.path.join("cgroup.procs"))
            .arg(program)
            .args(arguments);
        command
    }

    /// CPU time of the group's processes, including those that have ended.
    pub fn cpu(&self) -> Option<Duration> {
        let text = fs::read_to_string(self.path.join("cpu.stat")).ok()?;
        let usage = text
            .lines()
            .find_map(|line| line.strip_prefix("usage_usec "))?;
        usage.trim().parse().ok().map(Duration::from_micros)
    }

    /// Process ids of the group's processes.
    pub fn processes(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Directory of the group.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Kills all processes of the control group at `folder`.
pub(crate) fn kill(folder: &Path) {
    // Systems before Linux 5.14 lack this file, so the caller also kills processes by other means.
    let _ = fs::write(folder.join("cgroup.kill"), "1");
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        kill(&self.path);
        for _ in 0..ATTEMPTS {
            if fs::remove_dir(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            thread::sleep(BETWEEN_ATTEMPTS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_point_of_version_2_is_found() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n\
                      31 23 0:27 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw\n";
        assert_eq!(
            mount_point(mounts),
            Some(Path::new("/sys/fs/cgroup/unified"))
        );
        assert_eq!(mount_point("30 23 0:26 / / rw - ext4 /dev/sda rw\n"), None);
        assert_eq!(
            own_path("4:memory:/x\n0::/user.slice/a\n"),
            Some("user.slice/a")
        );
        assert_eq!(own_path("4:memory:/x\n"), None);
    }

    #[test]
    fn what_a_program_starts_is_in_its_group_and_ends_with_it() {
        let Some(cgroups) = Cgroups::find() else {
            eprintln!("skipped: this process cannot write to a cgroup of version 2");
            return;
        };
        let group = cgroups.create().unwrap();
        let words = ["-c".to_owned(), "sleep 60 & sleep 60".to_owned()];
        let mut child = group.command("sh", &words).spawn().unwrap();
        while group.processes().len() < 3 {
            thread::sleep(Duration::from_millis(5));
        }
        let path = group.path.clone();
        drop(group);
        child.wait().unwrap();
        assert!(!path.exists());
    }
}
