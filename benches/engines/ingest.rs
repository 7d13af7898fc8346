//! Measures the speed, in bytes per second, at which generated `sacct` output is converted to the events of idle nodes.

use std::path::Path;

use criterion::{Criterion, Throughput};
use gleaner_domain::{UnknownNodes, Unobserved};
use gleaner_inputs::write::schedule::{ScheduleWriter, Scheduler, Target, names};
use gleaner_logs::scheduler::{Format, Input, Options, Summary, read_inputs};
use gleaner_synth::schedule::{ScheduleOptions, generate};

/// The name by which messages refer to the `sacct` output.
const NAME: &str = "sacct.txt";

pub fn benches(criterion: &mut Criterion) {
    let (text, jobs) = sacct();
    let mut group = super::group(criterion, "ingest");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(format!("slurm/{jobs} jobs"), |bench| {
        bench.iter(|| ingest(&text));
    });
    group.finish();
}

/// Generates `sacct` output of 500 nodes over 36 days, and returns it with its number of jobs
/// (about 50,000).
fn sacct() -> (Vec<u8>, u64) {
    let options = ScheduleOptions {
        nodes: 500,
        days: 36.0,
        start: 1_767_225_600,
        idle_share: 0.07,
        runtime: 7200.0,
        job_nodes: 4.0,
        jobs_per_outage: 0,
        seed: 1,
    };
    let mut text = Vec::new();
    let log = Target {
        out: &mut text,
        path: NAME.into(),
    };
    let (nodes, span) = (names(options.nodes), options.span().unwrap());
    let writer = ScheduleWriter::new(Scheduler::Slurm, nodes, log, None, None, span);
    let mut writer = writer.unwrap();
    generate(&options, &mut writer, &Unobserved).unwrap();
    let jobs = writer.jobs;
    writer.finish().unwrap();
    (text, jobs)
}

fn ingest(text: &[u8]) -> Summary {
    let input = Input::new(Path::new(NAME), text);
    let holds = read_inputs([input], &Options::new(Format::Slurm)).unwrap();
    holds.sweep(UnknownNodes::Deal, |_| Ok(())).unwrap()
}
