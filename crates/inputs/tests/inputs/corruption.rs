//! Tests that truncated and changed files of every format are either read or reported as faults with a message. No file
//! causes a panic, a hang or a large allocation.
//!
//! To run a longer test by hand: `GLEANER_CORRUPTIONS=20000 cargo test --release --test inputs corruption`.

use std::path::{Path, PathBuf};

use gleaner_domain::UnknownNodes;
use gleaner_domain::Unobserved;
use gleaner_domain::results::{Column, Table};
use gleaner_domain::{
    Change, Cluster, EventLogBuilder, Local, NodeClasses, Trace, Utc, VirtualCluster,
};
use gleaner_inputs::node_classes;
use gleaner_inputs::write::events::{Layout, write};
use gleaner_inputs::{events, jobs, tasks};
use gleaner_io::table::WriteTable;
use gleaner_logs::polls;
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Options};
use gleaner_logs::spot;
use gleaner_runs::prepared::{write_cluster, write_jobs};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use super::support::fixture;

/// A small valid file, and the function that reads it.
#[derive(Clone)]
struct Sample {
    name: String,
    bytes: Vec<u8>,
    read: fn(&Path) -> gleaner_domain::Result<()>,
}

fn read_events(path: &Path) -> gleaner_domain::Result<()> {
    events::read(path).map(drop)
}

/// Reads the classes of the nodes n1 and n2.
fn read_classes(path: &Path) -> gleaner_domain::Result<()> {
    let choice = node_classes::Choice {
        features: &["old".to_owned()],
        resource: Some("gputype"),
    };
    let nodes = ["n1", "n2"].map(str::to_owned);
    node_classes::read(path, &choice, &nodes).map(drop)
}

fn read_tasks(path: &Path) -> gleaner_domain::Result<()> {
    tasks::read(path, None, false).map(drop)
}

fn read_bounds(path: &Path) -> gleaner_domain::Result<()> {
    tasks::read(path, Some(&fixture("pickle/curves-2.2.3-p5.pkl")), false).map(drop)
}

fn read_curves(path: &Path) -> gleaner_domain::Result<()> {
    let bounds = path.with_file_name("bounds.pkl");
    if !bounds.exists() {
        std::fs::write(&bounds, self::bounds().bytes).unwrap();
    }
    tasks::read(&bounds, Some(path), false).map(drop)
}

fn read_cluster(path: &Path) -> gleaner_domain::Result<()> {
    jobs::cluster::read(path, 8).map(drop)
}

fn read_trace(path: &Path) -> gleaner_domain::Result<()> {
    let cluster = Cluster {
        vcs: vec![VirtualCluster {
            name: "a".to_owned(),
            nodes: 2,
        }],
        gpus_per_node: 8,
    };
    let all = jobs::trace::read(path, &cluster, jobs::trace::Options::default());
    let sound = jobs::trace::Options {
        skip_invalid: true,
        ..jobs::trace::Options::default()
    };
    // If a trace can be read without `skip_invalid`, it can also be read with `skip_invalid`.
    assert!(all.is_err() || jobs::trace::read(path, &cluster, sound).is_ok());
    all.map(drop)
}

fn read_profiles(path: &Path) -> gleaner_domain::Result<()> {
    jobs::profiles::read(path).map(drop)
}

fn read_pairs(path: &Path) -> gleaner_domain::Result<()> {
    jobs::colocate::read(path).map(drop)
}

fn read_forecast(path: &Path) -> gleaner_domain::Result<()> {
    jobs::forecast::read(path, 0).map(drop)
}

/// Reads a scheduler's log up to its last event.
fn ingest(path: &Path, format: Format) -> gleaner_domain::Result<()> {
    let holds = scheduler::read(&[path.to_owned()], &Options::new(format), &Unobserved)?;
    holds.sweep(UnknownNodes::Deal, |_| Ok(())).map(drop)
}

fn read_slurm(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Slurm)
}

fn read_pbs(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Pbs)
}

fn read_cobalt(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Cobalt)
}

fn read_djc(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Djc)
}

fn read_swf(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Swf)
}

/// Reads polls up to their last event.
fn read_polls(path: &Path) -> gleaner_domain::Result<()> {
    let log = polls::read(&[path.to_owned()], &polls::Options::default(), &Unobserved)?;
    log.sweep(|_, _| Ok(())).map(drop)
}

/// Reads a trace of spot instances up to its last event.
fn read_spot(path: &Path) -> gleaner_domain::Result<()> {
    let log = spot::read(&[path.to_owned()], &spot::Options::default(), &Unobserved)?;
    log.sweep(|_, _| Ok(())).map(drop)
}

fn read_table(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Table)
}

/// Reads a members table, which lists the nodes of jobs, together with a table of jobs.
fn read_members(path: &Path) -> gleaner_domain::Result<()> {
    let table = scheduler::TableOptions {
        members: Some(path.to_owned()),
        ..scheduler::TableOptions::default()
    };
    let options = Options {
        table,
        ..Options::new(Format::Table)
    };
    scheduler::read(&[log("table.csv")], &options, &Unobserved).map(drop)
}

/// Reads a table of outages together with job records.
fn read_outages(path: &Path) -> gleaner_domain::Result<()> {
    let options = Options {
        outages: Some(path.to_owned()),
        ..Options::new(Format::Djc)
    };
    scheduler::read(&[log("djc-locations.csv")], &options, &Unobserved).map(drop)
}

fn read_slurm_events(path: &Path) -> gleaner_domain::Result<()> {
    scheduler::read_events_only(path, &std::fs::read(path).unwrap()).map(drop)
}

fn read_nodes(path: &Path) -> gleaner_domain::Result<()> {
    scheduler::read_nodes(path, &std::fs::read(path).unwrap()).map(drop)
}

/// Reads a trace of a GPU cluster. The files written from it must yield the same trace when they are read for a
/// simulation.
fn prepare(files: &[PathBuf], format: gleaner_traces::Format) -> gleaner_domain::Result<()> {
    let prepared = gleaner_traces::read(files, &gleaner_traces::Options::new(format), &Unobserved)?;
    let folder = tempfile::tempdir().unwrap();
    let [trace, vcs] = ["jobs.csv", "vcs.csv"].map(|name| folder.path().join(name));
    write_jobs(&prepared.trace, &prepared.cluster, &trace).unwrap();
    write_cluster(&prepared.cluster, &vcs).unwrap();
    let cluster = jobs::cluster::read(&vcs, prepared.cluster.gpus_per_node).unwrap();
    let trace = jobs::trace::read(&trace, &cluster.value, jobs::trace::Options::default()).unwrap();
    assert_eq!(trace.value.trace, prepared.trace);
    Ok(())
}

fn read_philly(path: &Path) -> gleaner_domain::Result<()> {
    let events = ingest(path, Format::Philly);
    let jobs = prepare(&[path.to_owned()], gleaner_traces::Format::Philly);
    events.and(jobs)
}

fn read_pai_jobs(path: &Path) -> gleaner_domain::Result<()> {
    prepare(
        &[path.to_owned(), log("pai_task_table.csv")],
        gleaner_traces::Format::Pai,
    )
}

fn read_pai_tasks(path: &Path) -> gleaner_domain::Result<()> {
    prepare(
        &[log("pai_job_table.csv"), path.to_owned()],
        gleaner_traces::Format::Pai,
    )
}

fn read_batsim(path: &Path) -> gleaner_domain::Result<()> {
    prepare(&[path.to_owned()], gleaner_traces::Format::Batsim)
}

fn read_helios(path: &Path) -> gleaner_domain::Result<()> {
    prepare(&[path.to_owned()], gleaner_traces::Format::Helios)
}

/// Reads a machine list together with a sample of jobs.
fn with_machines(
    path: &Path,
    jobs: &[&str],
    format: gleaner_traces::Format,
) -> gleaner_domain::Result<()> {
    let files: Vec<PathBuf> = jobs.iter().map(|name| log(name)).collect();
    let machines = Some(path.to_owned());
    let options = gleaner_traces::Options::new(format);
    gleaner_traces::read(
        &files,
        &gleaner_traces::Options {
            machines,
            ..options
        },
        &Unobserved,
    )
    .map(drop)
}

fn read_philly_machines(path: &Path) -> gleaner_domain::Result<()> {
    with_machines(path, &["philly-jobs.json"], gleaner_traces::Format::Philly)
}

fn read_pai_machines(path: &Path) -> gleaner_domain::Result<()> {
    let tables = ["pai_job_table.csv", "pai_task_table.csv"];
    with_machines(path, &tables, gleaner_traces::Format::Pai)
}

fn read_helios_gpus(path: &Path) -> gleaner_domain::Result<()> {
    with_machines(path, &["helios.csv"], gleaner_traces::Format::Helios)
}

/// The path of a file in `dataset/logs`.
fn log(name: &str) -> PathBuf {
    let folder = gleaner_testing::workspace().join("dataset/logs");
    folder.join(name)
}

/// Inputs of `gleaner ingest`. The readers of these files tolerate damage to most lines.
fn scheduler_logs() -> Vec<Sample> {
    let sample = |name: &str, read| Sample {
        name: name.to_owned(),
        bytes: std::fs::read(log(name)).unwrap(),
        read,
    };
    vec![
        sample("sacct.txt", read_slurm),
        sample("sacctmgr-events.txt", read_slurm_events),
        sample("scontrol-nodes.txt", read_nodes),
        sample("sinfo.txt", read_nodes),
        sample("pbs.txt", read_pbs),
        sample("cobalt.log", read_cobalt),
        sample("djc.csv", read_djc),
        sample("djc-locations.csv", read_djc),
        sample("workload.swf", read_swf),
        sample("sinfo-polls.txt", read_polls),
        sample("whisk-polls.txt", read_polls),
        sample("spot-named.csv", read_spot),
        sample("spot-counts.csv", read_spot),
        sample("spot-dated.txt", read_spot),
        sample("table.csv", read_table),
        text_of(
            "members.csv",
            read_members,
            "job_id,node\n1,t1\n1,t2\n2,\"t3\"\n",
        ),
        text_of(
            "status.csv",
            read_outages,
            "START_TIMESTAMP,END_TIMESTAMP,IS_ALL_MACHINE_DOWN\n2026-01-01 08:30:00,,1\n",
        ),
        sample("philly-jobs.json", read_philly),
        sample("philly-machines.csv", read_philly_machines),
        sample("pai_job_table.csv", read_pai_jobs),
        sample("pai_task_table.csv", read_pai_tasks),
        sample("pai_machine_spec.csv", read_pai_machines),
        sample("batsim.json", read_batsim),
        sample("helios.csv", read_helios),
        sample("helios-gpus.csv", read_helios_gpus),
        gzipped(sample("sacct.txt", read_slurm)),
    ]
}

fn read_estimates(path: &Path) -> gleaner_domain::Result<()> {
    jobs::estimates::read(path, &Trace::default()).map(drop)
}

/// A trace written by this program.
fn trace_parquet() -> Sample {
    let times = [1_585_699_203, 1_585_699_205].map(Local::from_seconds);
    let table = Table {
        name: "jobs",
        columns: vec![
            ("job_id", Column::Integers(vec![7, 8])),
            ("vc", Column::Texts(vec!["a".into(), "a".into()])),
            ("gpu_num", Column::Floats(vec![Some(8.0), Some(1.0)])),
            ("submit_time", Column::EveryTime(times.to_vec())),
            ("duration", Column::Integers(vec![97, 1])),
        ],
    };
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    Sample {
        name: "jobs.parquet".to_owned(),
        bytes,
        read: read_trace,
    }
}

/// A Parquet table of jobs.
fn jobs_table() -> Sample {
    let times = |starts: [i64; 2]| starts.map(Local::from_seconds).to_vec();
    let table = Table {
        name: "table",
        columns: vec![
            (
                "start_time",
                Column::EveryTime(times([1_767_254_400, 1_767_255_000])),
            ),
            (
                "end_time",
                Column::EveryTime(times([1_767_258_000, 1_767_258_600])),
            ),
            ("nodes_used", Column::Integers(vec![2, 1])),
            (
                "nodelist",
                Column::Texts(vec!["t[1-2]".into(), "t3".into()]),
            ),
        ],
    };
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    Sample {
        name: "table.parquet".to_owned(),
        bytes,
        read: read_table,
    }
}

/// A pickle of tasks whose maximum number of nodes is 4, which is the last point of the curves.
fn bounds() -> Sample {
    let mut sample = from_fixture("pickle/tasks-2.2.3-p5.pkl", read_bounds);
    let pair = |first: u64, second: u64| [first.to_le_bytes(), second.to_le_bytes()].concat();
    let at = sample
        .bytes
        .windows(16)
        .position(|found| found == pair(64, 32))
        .unwrap();
    sample.bytes[at..at + 16].copy_from_slice(&pair(4, 3));
    sample
}

fn from_fixture(name: &str, read: fn(&Path) -> gleaner_domain::Result<()>) -> Sample {
    let path = fixture(name);
    Sample {
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        bytes: std::fs::read(path).unwrap(),
        read,
    }
}

/// A log written by this program.
fn written(name: &str, layout: Layout) -> Sample {
    written_with(name, layout, None)
}

/// A log with classes of nodes, written by this program.
fn written_with_classes(name: &str, layout: Layout) -> Sample {
    let classes = NodeClasses::of_names(["v100", "a100", "a100", "v100", "h100"]);
    written_with(name, layout, classes)
}

fn written_with(name: &str, layout: Layout, classes: Option<NodeClasses>) -> Sample {
    let mut log = EventLogBuilder::new((0..5).map(|n| format!("node{n}")).collect());
    let mut idle = [false; 5];
    for row in 0..12usize {
        let node = row * 7 % 5;
        idle[node] = !idle[node];
        let time = Utc::from_seconds(1_612_915_732 + 61 * row as i64);
        log.push_row(time, [Change::new(node as u32, idle[node])]);
    }
    log.set_classes(classes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&log.finish().unwrap(), &path, layout, None).unwrap();
    Sample {
        name: name.to_owned(),
        bytes: std::fs::read(path).unwrap(),
        read: read_events,
    }
}

fn text(name: &str, text: &str) -> Sample {
    text_of(name, read_tasks, text)
}

fn text_of(name: &str, read: fn(&Path) -> gleaner_domain::Result<()>, text: &str) -> Sample {
    Sample {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
        read,
    }
}

/// Classes of nodes in every format.
fn classes() -> Vec<Sample> {
    [
        (
            "classes.toml",
            "default = \"cpu\"\n[[class]]\nname = \"a\"\nnodes = \"n[1-3]\"\n[[class]]\nname = \"b\"\npattern = '^n\\d+$'\n",
        ),
        ("classes.csv", "node,class\nn1,a\nn2,b\n"),
        (
            "scontrol.txt",
            "NodeName=n1 Gres=gpu:a100:4(S:0)\nNodeName=n2 AvailableFeatures=old,ib Gres=gpu:4\n",
        ),
        (
            "sinfo-nodes.txt",
            "NODELIST GRES AVAIL_FEATURES\nn1 gpu:a100:4 ib\nn2 gpu:4 old\n",
        ),
        (
            "pbsnodes.txt",
            "n1\n  resources_available.gputype = a\nn2\n  resources_available.gputype = b\n",
        ),
    ]
    .map(|(name, text)| text_of(name, read_classes, text))
    .to_vec()
}

/// Inputs of a simulation, as CSV.
fn tables() -> Vec<Sample> {
    let pair = "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2,\
                gpu_util,gmem\nVGG,x,64,0,0.98,LSTM,x,64,1,1.03,64.7,5106\n";
    vec![
        text_of("vc_config.csv", read_cluster, ",num\nx,9\ny,5\n"),
        text_of(
            "jobs.csv",
            read_trace,
            "job_id,vc,gpu_num,submit_time,duration,model,dataset,batchsize,amp,speed\n\
             7,a,8,13219203,97,VGG,x,64,1,4038.5\n8,a,1,13219204,1,,,,,\n",
        ),
        text_of(
            "log.csv",
            read_trace,
            "job_id,vc,gpu_num,submit_time,duration\n7,a,8,2020-04-01 00:00:03,97\n\
             8,b,1,2020-04-01 00:00:04,1\n9,a,0,2020-04-01 00:00:04,1\n",
        ),
        text_of(
            "single_data.csv",
            read_profiles,
            "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n\
             VGG,x,64,0,84.8,99.6,62.4,20162.0,2\n",
        ),
        text_of("colocate_info.csv", read_pairs, pair),
        text_of(
            "throughput_pred.csv",
            read_forecast,
            "time,pred_gpu_job,pred_gpu_num\n2020-09-01 00:00:00,5.4,28.8\n2020-09-01 00:10:00,5,3\n",
        ),
        text_of("estimates.csv", read_estimates, "job_id,priority\n7,10.5\n"),
    ]
}

fn gzipped(sample: Sample) -> Sample {
    use std::io::Write;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(&sample.bytes).unwrap();
    Sample {
        name: format!("{}.gz", sample.name),
        bytes: out.finish().unwrap(),
        ..sample
    }
}

/// Files for which the readers must reject every prefix.
fn strict() -> Vec<Sample> {
    vec![
        from_fixture("pickle/events-2.2.3-p4.pkl", read_events),
        from_fixture("pickle/events-1.5.3-p2.pkl", read_events),
        gzipped(from_fixture("pickle/events-3.1.1-p5.pkl", read_events)),
        bounds(),
        from_fixture("pickle/curves-2.2.3-p5.pkl", read_curves),
        from_fixture("parquet/wide-pandas-snappy.parquet", read_events),
        from_fixture("parquet/wide-pandas-gzip.parquet", read_events),
        from_fixture("parquet/wide-pandas-lz4.parquet", read_events),
        from_fixture("parquet/wide-fastparquet.parquet", read_events),
        from_fixture("parquet/wide-polars-bool.parquet", read_events),
        from_fixture("parquet/wide-pyarrow-v2-float.parquet", read_events),
        from_fixture("parquet/long-pandas-category.parquet", read_events),
        from_fixture("parquet/long-polars-text.parquet", read_events),
        from_fixture("parquet/long-pyarrow-delta-text.parquet", read_events),
        from_fixture("parquet/tasks-pandas-lists.parquet", read_tasks),
        from_fixture("parquet/tasks-polars-lists.parquet", read_tasks),
        written("ours-long.parquet", Layout::Long),
        written("ours-wide.parquet", Layout::Wide),
        written("ours.gev", Layout::Long),
        written_with_classes("classes-long.parquet", Layout::Long),
        written_with_classes("classes-wide.parquet", Layout::Wide),
        written_with_classes("classes.gev", Layout::Long),
        gzipped(written("ours-long.csv", Layout::Long)),
        trace_parquet(),
        jobs_table(),
    ]
}

/// Text files. A prefix of such a file can itself be a valid file.
fn lenient() -> Vec<Sample> {
    let mut samples = vec![
        written("long.csv", Layout::Long),
        written("wide.csv", Layout::Wide),
        written_with_classes("classes.csv", Layout::Long),
        text(
            "tasks.toml",
            "[curve.c]\nnodes = [0, 4]\nprogress = [0, 3.5]\n[[task]]\nname = \"a\"\nmin_nodes = 1\n\
             max_nodes = 4\nrescale_up = 1\nrescale_down = 2\nwork = 1e3\ncurve = \"c\"\n",
        ),
        text(
            "tasks.json",
            r#"{"task": [{"name": "a", "submit": 5, "min_nodes": 1, "max_nodes": 4, "rescale_up": 1,
            "rescale_down": 2, "work": 1e3, "curve": {"nodes": [0, 4], "progress": [0, 3.5]}}]}"#,
        ),
        text(
            "tasks.csv",
            "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress\n\
             a,1,4,1,2,1e3,0;4,0;3.5\nb,1,4,1,2,1e3,0 4,0 3.5\n",
        ),
        text(
            "class-tasks.toml",
            "[curve.c]\nv = { nodes = [0, 4], progress = [0, 3.5] }\na = { nodes = [0, 2], progress = [0, 5] }\n\
             [[task]]\nname = \"a\"\nmin_nodes = 1\nmax_nodes = { v = 4, a = 2 }\nrescale_up = 1\n\
             rescale_down = 2\nmove = 4\ncounts = \"points\"\nwork = 1e3\ncurve = \"c\"\n",
        ),
        text(
            "class-tasks.csv",
            "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress,speed\n\
             a,1,4,1,2,1e3,0;4,0;3.5,v=1;a=2.4\n",
        ),
    ];
    samples.extend(tables());
    samples.extend(classes());
    samples.extend(scheduler_logs());
    samples
}

/// Reads the bytes as a file with the sample's name, and returns whether they are valid.
fn is_sound(folder: &TempDir, sample: &Sample, bytes: &[u8]) -> bool {
    let path = folder.path().join(&sample.name);
    // Overwriting a file makes some file systems flush it to disk first.
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, bytes).unwrap();
    let outcome = (sample.read)(&path);
    if let Err(error) = &outcome {
        assert_eq!(error.exit_code(), 3, "{}: {error}", sample.name);
        assert!(!error.to_string().is_empty());
    }
    outcome.is_ok()
}

/// Makes up to four changes, each of which flips a bit, or replaces, removes or repeats a byte.
fn corrupt(rng: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..6) {
            0 => bytes[at] = 0xff,
            1 => bytes[at] = 0,
            2 => bytes[at] ^= 1 << rng.random_range(0..8),
            3 => bytes[at] = rng.random(),
            4 if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => bytes.insert(at, bytes[at]),
        }
    }
}

#[test]
fn the_samples_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    for sample in strict().iter().chain(&lenient()) {
        // The reader does not support the encoding of this file, but prefixes of the file are still useful samples.
        let refused = sample.name.contains("delta-text");
        assert_eq!(
            is_sound(&folder, sample, &sample.bytes),
            !refused,
            "{}",
            sample.name
        );
    }
}

#[test]
fn every_prefix_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    // Pickles are excluded, because the tests of the pickle reader truncate them in memory.
    let is_pickle = |sample: &Sample| sample.name.contains(".pkl");
    for sample in strict().into_iter().filter(|sample| !is_pickle(sample)) {
        for length in 0..sample.bytes.len() {
            let sound = is_sound(&folder, &sample, &sample.bytes[..length]);
            assert!(!sound, "{} cut to {length} bytes was read", sample.name);
        }
    }
}

#[test]
fn every_prefix_of_a_text_is_a_fault_or_a_shorter_file() {
    let folder = tempfile::tempdir().unwrap();
    for sample in lenient() {
        for length in 0..sample.bytes.len() {
            is_sound(&folder, &sample, &sample.bytes[..length]);
        }
    }
}

#[test]
fn changed_bytes_are_a_fault_or_read() {
    let count = std::env::var("GLEANER_CORRUPTIONS")
        .ok()
        .and_then(|n| n.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    for sample in strict().iter().chain(&lenient()) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut faults = 0;
        let count: usize = count.unwrap_or(200);
        for _ in 0..count {
            let mut bytes = sample.bytes.clone();
            corrupt(&mut rng, &mut bytes);
            faults += usize::from(!is_sound(&folder, sample, &bytes));
        }
        eprintln!("{}: {faults} faults in {count} changed files", sample.name);
        let tolerant = scheduler_logs().iter().any(|log| log.name == sample.name);
        assert!(faults > 0 || tolerant, "{}", sample.name);
    }
}
