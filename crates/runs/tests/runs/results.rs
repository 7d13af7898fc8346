//! Tests of the tables of delays by which policies are compared.

use std::fs;

use gleaner_document::Block;
use gleaner_domain::results::simulate::PolicyFigures;
use gleaner_runs::simulate;
use gleaner_runs::simulate::{Interval, SimulatedTrace};
use gleaner_simulate::metrics::summarise;
use serde_json::{Value, json};

use super::support::{finish, run_dir, small_run};

fn metrics() -> PolicyFigures {
    let (trace, cluster, run) = small_run();
    summarise(&trace, &cluster, &run)
}

// The three jobs have completion times of 55, 520 and 520 s, and queuing times of 5, 20 and 40 s.
#[test]
fn figures_of_three_jobs() {
    let m = metrics();
    assert_eq!(m.all.jobs, 3);
    assert_eq!(m.all.avg_jct_s, 1095.0 / 3.0);
    assert_eq!(m.all.avg_queue_s, 65.0 / 3.0);
    assert!((m.all.p999_queue_s - (20.0 + 20.0 * 0.998)).abs() < 1e-9);
    assert_eq!((m.makespan_s, m.checkpoints), (540, 2));
    assert_eq!(m.gpu_utilisation, 8300.0 / (40.0 * 540.0));
    assert_eq!(m.small.unwrap().avg_jct_s, 287.5);
    assert_eq!(m.large.unwrap().avg_queue_s, 20.0);
}

// The utilisation is the busy GPU-seconds divided by the GPU-seconds of all GPUs available to the
// policy.
#[test]
fn nodes_that_the_profiler_adds_count_in_the_utilisation() {
    let (trace, cluster, mut run) = small_run();
    run.profiler.as_mut().unwrap().extra_gpus = 16;
    let m = summarise(&trace, &cluster, &run);
    assert_eq!(m.gpus, 56);
    assert_eq!(m.gpu_utilisation, 8300.0 / (56.0 * 540.0));
}

// Golden value: the summary that programs read.
#[test]
fn the_summary_for_programs() {
    let m = metrics();
    let (trace, ..) = small_run();
    let summary = simulate::summary(
        &trace,
        &[("lucid", &m), ("lucid_corrected", &m)],
        Interval::default(),
    );
    let summary = serde_json::to_value(summary).unwrap();
    let policies = summary["policies"].as_object().unwrap();
    assert_eq!(
        policies.keys().collect::<Vec<_>>(),
        ["lucid", "lucid_corrected"]
    );
    let lucid = &policies["lucid"];
    let fields: Vec<_> = lucid.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        [
            "avg_jct_s",
            "avg_queue_s",
            "p999_queue_s",
            "jobs",
            "makespan_s",
            "gpus",
            "in_use_while_arriving",
            "warm_up_until",
            "gpu_utilisation",
            "checkpoints",
            "profiled_jobs",
            "early_starts",
            "durations",
            "estimates",
            "estimate_rank_correlation",
            "corrected",
            "small",
            "large",
            "vcs"
        ]
    );
    assert_eq!(
        lucid["vcs"],
        json!({
            "big": {"avg_jct_s": 520.0, "avg_queue_s": 20.0, "p999_queue_s": 20.0, "jobs": 1},
            "small": {"avg_jct_s": 287.5, "avg_queue_s": 22.5, "p999_queue_s": 39.965, "jobs": 2},
        })
    );
    assert_eq!(lucid["large"]["jobs"], 1);
    assert_eq!(lucid["gpus"], 40);
    assert_eq!(summary["seq_step_s"], 60);
    assert_eq!(summary["first_submission"], 100);
    assert_eq!(summary["last_submission"], 120);
    assert_eq!(summary["placement_affects_speed"], false);
}

/// The output of `gleaner simulate` for these policies.
fn printed(entries: &[(&str, &PolicyFigures)]) -> String {
    let mut blocks = simulate::compared(entries, false);
    let by_cluster = simulate::by_cluster(simulate::Figure::AverageJct, entries);
    blocks.push(Block::Grid(by_cluster));
    gleaner_document::text(&blocks)
}

#[test]
fn averages_over_nothing_are_null() {
    let (trace, mut cluster, run) = small_run();
    cluster.vcs.push(gleaner_domain::VirtualCluster {
        name: "unused".to_owned(),
        nodes: 0,
    });
    let mut m = summarise(&trace, &cluster, &run);
    m.large = None;
    let summary = simulate::summary(&trace, &[("fifo", &m)], Interval::default());
    let summary = serde_json::to_value(summary).unwrap();
    assert_eq!(summary["policies"]["fifo"]["vcs"]["unused"], Value::Null);
    let table = simulate::averages(simulate::Figure::AverageJct, "random", &[("fifo", &m)]);
    let table = String::from_utf8(table.unwrap()).unwrap();
    assert_eq!(
        table,
        ",fifo_random\nbig,520\nsmall,287\nunused,\nall,365\n"
    );
    let text = printed(&[("fifo", &m)]);
    assert!(text.contains("\nunused               –\n"), "{text}");
}

#[test]
fn result_tables_are_written() {
    let m = metrics();
    let folder = tempfile::tempdir().unwrap();
    let dir = run_dir(folder.path());
    let (trace, cluster, _) = small_run();
    let simulated = SimulatedTrace {
        trace: &trace,
        cluster: &cluster,
        placer: "consolidateFirst",
        csv: false,
        interval: Interval::default(),
    };
    simulate::write_results(&dir, simulated, &[("fifo", &m), ("lucid", &m)]).unwrap();
    finish(dir);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let header = ",fifo_consolidateFirst,lucid_consolidateFirst\n";
    assert_eq!(
        read("jct_avg.csv"),
        format!("{header}big,520,520\nsmall,287,287\nall,365,365\n")
    );
    assert_eq!(
        read("que_avg.csv"),
        format!("{header}big,20,20\nsmall,22,22\nall,21,21\n")
    );
    assert_eq!(
        read("que_p999.csv"),
        format!("{header}big,20,20\nsmall,39,39\nall,39,39\n")
    );
    assert!(read("summary.json").contains("\"avg_jct_s\": 365.0"));
}

// Golden value: the printed text.
#[test]
fn the_summary_for_people() {
    let m = metrics();
    let expected = "\
All jobs
policy           average JCT (h)  average queuing (h)  99.9 % queuing (h)  makespan (h)  checkpoints
fifo                       0.101                0.006               0.011         0.150            2
lucid_corrected            0.101                0.006               0.011         0.150            2

GPU time in use, and what each policy knows about the jobs' durations
policy           GPUs  while jobs arrive  over the makespan  durations  rank correlation
fifo               40              0.0 %             38.4 %  not known                 –
lucid_corrected    40              0.0 %             38.4 %  not known                 –

Placement affects only which jobs fit, not how fast they run. Placers are therefore not compared.

Delays of small jobs, with up to 8 GPUs (2), and of large jobs (1), in hours
policy           small JCT  small queuing  small 99.9 %  large JCT  large queuing  large 99.9 %
fifo                 0.080          0.006         0.011      0.144          0.006         0.006
lucid_corrected      0.080          0.006         0.011      0.144          0.006         0.006

Average JCT (h) by virtual cluster
virtual cluster   fifo  lucid_corrected
big              0.144            0.144
small            0.080            0.080
all              0.101            0.101
";
    assert_eq!(printed(&[("fifo", &m), ("lucid_corrected", &m)]), expected);
}

#[test]
fn control_characters_in_names_are_replaced() {
    let mut m = metrics();
    m.vcs.0[0].0 = "big\x1b[2J\u{202e}".to_owned();
    let text = printed(&[("fifo", &m)]);
    assert!(text.contains("\nbig\u{fffd}[2J\u{fffd} "), "{text}");
}

#[test]
fn lines_stay_within_a_hundred_characters() {
    let m = metrics();
    let names: Vec<_> = (0..20).map(|i| format!("lucid_corrected{i}")).collect();
    let entries: Vec<_> = names.iter().map(|name| (&name[..15], &m)).collect();
    let text = printed(&entries);
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert_eq!(text.matches("\nall ").count(), 4);
    // Without policies, only titles, headers and the note on placement remain.
    assert_eq!(printed(&[]).lines().count(), 14);
}
