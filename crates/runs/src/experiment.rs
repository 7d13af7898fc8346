//! Writes a generated experiment as the files that `gleaner simulate` reads. Names in generated experiments never need
//! quotes in CSV.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Job, Usage, Workload};
use gleaner_io::files::{self, AtomicFile};
use gleaner_synth::jobs::SynthExperiment;

/// Writes the contents of one file.
type Fill = fn(&SynthExperiment, &mut AtomicFile) -> io::Result<()>;

/// Names of the files, and the functions that write their contents.
const FILES: [(&str, Fill); 6] = [
    ("jobs.csv", jobs),
    ("vc_config.csv", cluster),
    ("single_data.csv", profiles),
    ("colocate_info.csv", pairs),
    ("throughput_pred.csv", forecast),
    ("duration_estimate.csv", estimates),
];

/// Writes all files of an experiment into a directory, which is created if it is missing.
///
/// # Errors
/// A file cannot be written.
pub fn write(experiment: &SynthExperiment, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(|e| Error::io("create", directory, e))?;
    for (name, fill) in FILES {
        files::write(&directory.join(name), |out| fill(experiment, out))?;
    }
    Ok(())
}

fn jobs(experiment: &SynthExperiment, out: &mut AtomicFile) -> io::Result<()> {
    writeln!(
        out,
        "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,\
         dataset,model,batchsize,amp,speed,gpu_util,gmem_util,gmem"
    )?;
    for (job, _) in experiment.jobs() {
        let vc = &experiment.cluster.vcs[job.vc].name;
        let Job {
            id,
            user,
            name,
            gpus,
            cpus,
            state,
            submit,
            duration,
            ..
        } = &job;
        write!(
            out,
            "{id},{user},{vc},{name},{gpus},{cpus},{state},{submit},{duration},"
        )?;
        if let Some(workload) = job.workload {
            write_workload(&experiment.profiles[workload].0, out)?;
        }
        writeln!(out, ",{}", usage(job.usage))?;
    }
    Ok(())
}

fn cluster(experiment: &SynthExperiment, out: &mut AtomicFile) -> io::Result<()> {
    writeln!(out, "vc,num")?;
    let mut vcs = experiment.cluster.vcs.iter();
    vcs.try_for_each(|vc| writeln!(out, "{},{}", vc.name, vc.nodes))
}

fn profiles(experiment: &SynthExperiment, out: &mut AtomicFile) -> io::Result<()> {
    writeln!(
        out,
        "dataset,model,batchsize,amp,speed,gpu_util,gmem_util,gmem,label"
    )?;
    for (workload, profile) in &experiment.profiles {
        write_workload(workload, out)?;
        write!(out, ",{},", usage(profile.usage))?;
        match profile.score {
            Some(score) => writeln!(out, "{score}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

fn pairs(experiment: &SynthExperiment, out: &mut AtomicFile) -> io::Result<()> {
    writeln!(
        out,
        "dataset1,model1,batchsize1,amp1,speed1,dataset2,model2,batchsize2,amp2,speed2,\
         gpu_util,gmem"
    )?;
    for (first, second, pair) in &experiment.pairs {
        write_workload(&experiment.profiles[*first].0, out)?;
        write!(out, ",{},", pair.speeds.0)?;
        write_workload(&experiment.profiles[*second].0, out)?;
        writeln!(out, ",{},{},{}", pair.speeds.1, pair.gpu_util, pair.gmem)?;
    }
    Ok(())
}

fn forecast(experiment: &SynthExperiment, out: &mut AtomicFile) -> io::Result<()> {
    writeln!(
        out,
        "time,submit_gpu_job,submit_gpu_num,pred_gpu_job,pred_gpu_num"
    )?;
    let mut intervals = experiment.forecast.iter();
    intervals.try_for_each(|interval| {
        writeln!(
            out,
            "{},{},{},{},{}",
            interval.time,
            interval.jobs,
            interval.gpus,
            interval.forecast_jobs,
            interval.forecast_gpus
        )
    })
}

fn estimates(experiment: &SynthExperiment, out: &mut AtomicFile) -> io::Result<()> {
    writeln!(out, "job_id,priority")?;
    let mut jobs = experiment.jobs();
    jobs.try_for_each(|(job, estimate)| writeln!(out, "{},{estimate}", job.id))
}

fn write_workload(workload: &Workload, out: &mut impl Write) -> io::Result<()> {
    let Workload {
        model,
        dataset,
        batch_size,
        amp,
    } = workload;
    write!(out, "{dataset},{model},{batch_size},{}", u8::from(*amp))
}

fn usage(usage: Usage) -> String {
    let Usage {
        speed,
        gpu_util,
        gmem_util,
        gmem,
    } = usage;
    format!("{speed},{gpu_util},{gmem_util},{gmem}")
}
