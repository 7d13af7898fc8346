//! Helpers for the tests: handmade runs, and functions that read Parquet files as rows of strings.

use std::path::Path;

use gleaner_domain::results::policy_run::{PolicyRun, ProfilerRun, VcRun};
use gleaner_domain::results::run::Seconds;
use gleaner_domain::results::schedule::{JobOutcome, Samples, Schedule, State};
use gleaner_domain::{Cluster, Job, Trace, Usage, VirtualCluster, Workload};
use gleaner_io::table::WriteTable;
use gleaner_runs::run::{End, RunDir};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// An open run directory.
pub fn run_dir(path: &Path) -> RunDir {
    RunDir::open(path, "simulate", &serde_json::Value::Null).unwrap()
}

/// Moves the written files into place.
pub fn finish(dir: RunDir) {
    let end = End {
        sources: &[],
        complete: true,
        seconds: Seconds::default(),
    };
    dir.finish(&end).unwrap();
}

/// A cluster of virtual clusters with these numbers of nodes. Each node has eight GPUs.
pub fn cluster(vcs: &[(&str, u32)]) -> Cluster {
    let vc = |&(name, nodes): &(&str, u32)| VirtualCluster {
        name: name.to_owned(),
        nodes,
    };
    Cluster {
        vcs: vcs.iter().map(vc).collect(),
        gpus_per_node: 8,
    }
}

pub fn job(id: &str, vc: usize, gpus: u32, submit: i64, duration: i64) -> Job {
    Job {
        id: id.to_owned(),
        user: "someone".to_owned(),
        vc,
        name: String::new(),
        gpus,
        cpus: 8.0,
        state: "COMPLETED".to_owned(),
        submit,
        duration,
        workload: None,
        usage: Usage::default(),
    }
}

/// The outcome of a job that started at `start` and ended at `end` on one GPU of node 0, after
/// waiting for `queue` seconds.
pub fn outcome(start: i64, end: i64, queue: i64) -> JobOutcome {
    JobOutcome {
        start,
        end,
        queue,
        checkpoints: 0,
        nodes: vec![(0, 1)],
        priority: None,
        remain: 0.0,
        speed: 1.0,
        exclusive: true,
        colocated: 0,
        delocated: 0,
    }
}

pub fn vc_run(vc: usize, jobs: &[usize], outcomes: Vec<JobOutcome>) -> VcRun {
    VcRun {
        vc,
        jobs: jobs.to_vec(),
        schedule: Schedule {
            jobs: outcomes,
            ..Schedule::default()
        },
    }
}

/// Samples of a virtual cluster with 16 GPUs, from second 60. In the first sample, all GPUs are idle; in the other two
/// samples, 7 GPUs are held.
pub fn samples() -> Vec<Samples> {
    let idle = State {
        total_gpus: 16,
        idle_gpus: 16,
        nodes: 2,
        ..State::default()
    };
    let held = State {
        idle_gpus: 9,
        pending_gpus: 12,
        running_jobs: 2,
        pending_jobs: 3,
        pending_small_jobs: 1,
        single_nodes: 1,
        shared_nodes: 1,
        gpu_util: 20.25,
        gmem: 1353.0,
        gpu_util_active: 40.5,
        gmem_active: 2706.0,
        ..idle
    };
    let run = |first, count, state| Samples {
        first,
        count,
        state,
    };
    vec![run(60, 1, idle), run(120, 2, held)]
}

/// Three jobs: job 7 ends in the profiler, job 8 is large, and job 9 is profiled, waits, and
/// then continues.
pub fn small_run() -> (Trace, Cluster, PolicyRun) {
    let workload = Workload {
        model: "ResNet18".to_owned(),
        dataset: "CIFAR-10".to_owned(),
        batch_size: 64,
        amp: true,
    };
    let mut jobs = vec![
        job("7", 1, 2, 100, 50),
        job("8", 0, 16, 110, 500),
        job("9", 1, 1, 120, 300),
    ];
    jobs[2].workload = Some(0);
    let trace = Trace {
        jobs,
        workloads: vec![workload],
        origin: None,
        known: Vec::new(),
    };
    let mut large = outcome(130, 630, 20);
    large.nodes = vec![(0, 0xff), (9999, 0xff)];
    large.priority = Some(8000.0);
    let mut shared = outcome(330, 640, 40);
    shared.checkpoints = 2;
    let mut vcs = vec![vc_run(0, &[1], vec![large]), vc_run(1, &[2], vec![shared])];
    for vc in &mut vcs {
        vc.schedule.samples = samples();
        vc.schedule.busy_gpu_seconds = 4000;
    }
    let mut profiler = vc_run(
        0,
        &[0, 2],
        vec![outcome(105, 155, 5), outcome(130, 330, 10)],
    );
    profiler.schedule.samples = samples();
    profiler.schedule.scaling = vec![(110, 1), (300, -1)];
    profiler.schedule.busy_gpu_seconds = 300;
    let run = PolicyRun {
        policy: "lucid",
        vcs,
        profiler: Some(ProfilerRun {
            jobs: profiler.jobs,
            schedule: profiler.schedule,
            limit: 200,
            extra_gpus: 0,
        }),
    };
    (trace, cluster(&[("big", 4), ("small", 1)]), run)
}

/// A Parquet file's columns, and its rows of cells.
pub struct Content {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Field>>,
}

impl Content {
    pub fn of(bytes: Vec<u8>) -> Self {
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let schema = file.metadata().file_metadata().schema_descr().columns();
        let columns = schema.iter().map(|c| c.name().to_owned()).collect();
        let rows = file.get_row_iter(None).unwrap();
        let cells = |row: parquet::record::Row| row.into_columns().into_iter().map(|c| c.1);
        let rows = rows.map(|row| cells(row.unwrap()).collect()).collect();
        Content { columns, rows }
    }

    /// A column's cells.
    pub fn column(&self, name: &str) -> impl Iterator<Item = &Field> {
        let at = self.columns.iter().position(|column| column == name);
        let at = at.unwrap();
        self.rows.iter().map(move |row| &row[at])
    }

    /// A numeric column, of integers or floats.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.column(name).map(number).collect()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let text = |cell: &Field| match cell {
            Field::Str(text) => text.clone(),
            other => panic!("{other} is not text"),
        };
        self.column(name).map(text).collect()
    }
}

fn number(cell: &Field) -> f64 {
    match cell {
        Field::Long(n) => *n as f64,
        Field::Double(x) => *x,
        Field::Null => f64::NAN,
        other => panic!("{other} is not a number"),
    }
}

/// A table's Parquet file, read back.
pub fn written(table: &gleaner_domain::results::Table<'_>) -> Content {
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    Content::of(bytes)
}

/// A table as CSV.
pub fn csv(table: &gleaner_domain::results::Table<'_>) -> String {
    let mut bytes = Vec::new();
    table.write_csv(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
