//! Checks that any input is either read as a trace or rejected with a fault, and that a trace that was read can be
//! written and read again.
#![allow(dead_code, reason = "each target uses only some of these functions")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gleaner_inputs::jobs::{cluster, trace};
use gleaner_traces::{Format, Options, read_inputs};
use gleaner_logs::scheduler::Input;
use gleaner_runs::prepared::{write_cluster, write_jobs};

/// The files to which traces are written. Every process has its own files.
static FILES: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("gleaner-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for traces");
    ["jobs.csv", "vcs.csv"].map(|name| folder.join(name))
});

/// Reads a trace with the default options. If it is valid, writes it and reads it again.
pub fn check(files: &[&[u8]], format: Format) {
    check_with(files, &Options::new(format));
}

/// Same as [`check`], but with the given options.
pub fn check_with(files: &[&[u8]], options: &Options) {
    let inputs = files.iter().map(|file| Input::new(Path::new("log"), *file));
    let Ok(prepared) = read_inputs(inputs, options) else {
        return;
    };
    let [jobs, vcs] = &*FILES;
    write_jobs(&prepared.trace, &prepared.cluster, jobs).expect("jobs can be written");
    write_cluster(&prepared.cluster, vcs).expect("virtual clusters can be written");
    let cluster = cluster::read(vcs, prepared.cluster.gpus_per_node).expect("clusters can be read");
    let read = trace::read(jobs, &cluster.value, trace::Options::default());
    let read = read.expect("jobs can be read").value.trace;
    assert_eq!(read.jobs.len(), prepared.trace.jobs.len());
}
