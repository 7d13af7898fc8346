//! Ends a program if this process dies without ending it, for example after SIGKILL.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The watcher's shell script. The script reads two lines: the program's process group, and a word once the
/// program has ended. If the script's input is closed before the second line, this process has died, because no other
/// process holds the pipe open. The watcher then kills the program and everything that it started.
///
/// `$1` is the folder of the control group, or empty. `$2` is the marker entry in the program's environment. On systems
/// without `/proc`, environments cannot be searched.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r group
read -r word && exit
[ -n "$1" ] && echo 1 > "$1/cgroup.kill"
[ -n "$group" ] && kill -s KILL -- "-$group"
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    found=
    for file in $(grep -lsF -- "$2" /proc/[0-9]*/environ); do
        process=${file#/proc/}
        kill -s KILL "${process%/environ}" && found=1
    done
    [ -n "$found" ] || break
done
for round in 1 2 3 4 5 6 7 8 9 10; do
    [ -d "$1" ] || break
    rmdir "$1" || sleep 0.1
done
"#;

/// The shell's search path for `grep`, `rmdir` and `sleep`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A process that waits for this process to end. If a watcher is dropped without [`Watcher::dismiss`], it kills
/// the program.
#[derive(Debug)]
pub(crate) struct Watcher(Option<Child>);

impl Watcher {
    /// Starts the watcher of a program that has not started yet. If the watcher fails to start, the
    /// program runs unwatched.
    pub fn start(mark: &str, cgroup: Option<&Path>) -> Self {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "gleaner-watcher"])
            .arg(cgroup.unwrap_or(Path::new("")))
            .arg(mark)
            .env_clear()
            .env("PATH", PATH)
            .current_dir("/")
            // Ctrl-C and a closing terminal send signals to the process group of this process. These
            // signals must not reach the watcher.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Watcher(command.spawn().ok())
    }

    /// Sends the program's process group to the watcher.
    pub fn watch(&mut self, group: u32) {
        self.write(&format!("{group}\n"));
    }

    /// Ends the watcher. Call this after the program and everything that it started have ended.
    pub fn dismiss(&mut self) {
        // Write two lines, because the script reads the first line as the process group if no
        // program was started.
        self.write("ended\nended\n");
        if let Some(mut child) = self.0.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    fn write(&mut self, lines: &str) {
        let input = self.0.as_mut().and_then(|child| child.stdin.as_mut());
        // Ignore errors: if the watcher is gone, no process reads these lines.
        let _ = input.map(|input| input.write_all(lines.as_bytes()));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
