//! Kills the processes that a program has started outside its own process group.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Maximum number of scans of all processes. One scan is not enough, because a process can start other processes before
/// it is killed.
const ROUNDS: usize = 20;

/// Kills every process whose environment contains `entry`, such as `NAME=value`. Works only on systems
/// that let a process read the environments of other processes (Linux).
pub(crate) fn kill_marked(entry: &str) {
    for _ in 0..ROUNDS {
        if !kill_once(entry) {
            return;
        }
    }
}

/// Scans all processes once. Returns whether it found a process with the entry.
fn kill_once(entry: &str) -> bool {
    let mut found = false;
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.parse().ok())
            .and_then(Pid::from_raw);
        // The environment of a process that has ended is empty.
        let (Some(pid), Ok(environment)) = (pid, fs::read(process.path().join("environ"))) else {
            continue;
        };
        let mut entries = environment.split(|&byte| byte == 0);
        if entries.any(|found| found == entry.as_bytes()) {
            found |= kill_process(pid, Signal::KILL).is_ok();
        }
    }
    found
}
