//! Tests with generated schedules: the events read from a log must equal the events from which the
//! log was generated.

use std::path::{Path, PathBuf};

use gleaner_domain::{UnknownNodes, Unobserved};
use gleaner_inputs::write::events::EventWriter;
use gleaner_inputs::write::schedule::{ScheduleWriter, Scheduler, Target, names};
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Options};
use gleaner_synth::schedule::{ScheduleOptions, generate};

const START: i64 = 1_767_225_600;
const DAYS: i64 = 7;

/// Writes a schedule of 60 nodes and returns its log and its table of outages.
fn write(scheduler: Scheduler, truth: &Path, seed: u64) -> (Vec<u8>, Vec<u8>) {
    let options = ScheduleOptions {
        nodes: 60,
        days: DAYS as f64,
        start: START,
        idle_share: 0.1,
        runtime: 3600.0,
        job_nodes: 3.0,
        jobs_per_outage: if scheduler == Scheduler::Slurm { 40 } else { 0 },
        seed,
    };
    let nodes = names(options.nodes);
    let (mut log, mut outages) = (Vec::new(), Vec::new());
    let target = |out| Target {
        out,
        path: PathBuf::from("log"),
    };
    let truth = EventWriter::create(truth, &nodes).unwrap();
    let mut writer = ScheduleWriter::new(
        scheduler,
        nodes,
        target(&mut log),
        Some(target(&mut outages)),
        Some(truth),
        (START, START + DAYS * 86_400),
    )
    .unwrap();
    generate(&options, &mut writer, &Unobserved).unwrap();
    writer.finish().unwrap();
    (log, outages)
}

fn ingest(folder: &Path, format: Format, segment: usize) -> Vec<u8> {
    let options = Options {
        nodes: Some(folder.join("nodes")),
        events: (format == Format::Slurm).then(|| folder.join("outages")),
        from: Some(START.to_string()),
        to: Some((START + DAYS * 86_400).to_string()),
        segment,
        ..Options::new(format)
    };
    let holds = scheduler::read(&[folder.join("log")], &options, &Unobserved).unwrap();
    let path = folder.join("read.csv");
    let mut writer = EventWriter::create(&path, holds.nodes()).unwrap();
    let summary = holds
        .sweep(UnknownNodes::Deal, |event| {
            writer.push(event.time, event.changes, None)
        })
        .unwrap();
    writer.finish(None).unwrap();
    assert!(summary.log_counts.jobs > 1_000, "{summary}");
    assert!(
        summary
            .log_counts
            .found
            .keys()
            .all(|reason| !reason.is_fault()),
        "{summary}"
    );
    std::fs::read(path).unwrap()
}

#[test]
fn the_log_equals_the_truth_in_memory_and_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("nodes"), names(60).join("\n")).unwrap();
    for (scheduler, format) in [
        (Scheduler::Slurm, Format::Slurm),
        (Scheduler::Pbs, Format::Pbs),
        (Scheduler::Swf, Format::Swf),
    ] {
        for seed in 0..3 {
            let (log, outages) = write(scheduler, &path("truth.csv"), seed);
            assert!(scheduler != Scheduler::Slurm || outages.len() > 500);
            std::fs::write(path("log"), log).unwrap();
            std::fs::write(path("outages"), outages).unwrap();
            let truth = std::fs::read(path("truth.csv")).unwrap();
            let read = ingest(folder.path(), format, Options::SEGMENT);
            assert!(read == truth, "{scheduler:?}, seed {seed}");
            assert!(
                ingest(folder.path(), format, 100) == truth,
                "{scheduler:?} from disk"
            );
        }
    }
}
