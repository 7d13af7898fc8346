//! Helpers that read traces of GPU clusters and format jobs as short strings.

use std::path::{Path, PathBuf};

use gleaner_domain::Result;
use gleaner_logs::scheduler::Input;
use gleaner_traces::{Format, Options, Prepared};

/// A file of `dataset/logs`.
pub fn file(name: &str) -> PathBuf {
    gleaner_testing::workspace().join("dataset/logs").join(name)
}

/// The text of a file of `dataset/logs`.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

/// Reads a trace whose files have these contents.
pub fn prepare(files: &[&str], options: &Options) -> Result<Prepared> {
    let inputs = files
        .iter()
        .map(|file| Input::new(Path::new("log"), file.as_bytes()));
    gleaner_traces::read_inputs(inputs, options)
}

/// The contents of the sample files of a format.
pub fn samples(format: Format) -> Vec<String> {
    let names: &[_] = match format {
        Format::Philly => &["philly-jobs.json"],
        Format::Pai => &["pai_job_table.csv", "pai_task_table.csv"],
        Format::Batsim => &["batsim.json"],
        Format::Helios => &["helios.csv"],
        Format::Gavel => &["gavel.trace"],
        Format::Slurm => &["sacct-gpus.txt"],
    };
    names.iter().map(|name| text(name)).collect()
}

/// Reads the sample files of a format.
pub fn sample(options: &Options) -> Prepared {
    let files = samples(options.format);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    prepare(&files, options).unwrap()
}

/// The jobs as `id user vc gpus cpus state submit duration`.
pub fn jobs(prepared: &Prepared) -> Vec<String> {
    let vcs = &prepared.cluster.vcs;
    let jobs = prepared.trace.jobs.iter();
    jobs.map(|job| {
        let vc = &vcs[job.vc].name;
        format!(
            "{} {} {vc} {} {} {} {} {}",
            job.id, job.user, job.gpus, job.cpus, job.state, job.submit, job.duration
        )
    })
    .collect()
}

/// The virtual clusters as `name nodes`.
pub fn vcs(prepared: &Prepared) -> Vec<String> {
    let vcs = prepared.cluster.vcs.iter();
    vcs.map(|vc| format!("{} {}", vc.name, vc.nodes)).collect()
}
