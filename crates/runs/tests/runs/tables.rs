//! Tests of the tables of jobs and states.

use std::fs;

use gleaner_domain::Trace;
use gleaner_domain::results::schedule::{Samples, State};
use gleaner_domain::results::{Column, Table};
use gleaner_runs::simulate;
use gleaner_runs::simulate::{Interval, SimulatedTrace};
use proptest::prelude::*;

use super::support::{csv, finish, run_dir, small_run, vc_run, written};

#[test]
fn jobs_in_the_traces_order() {
    let (trace, cluster, run) = small_run();
    let rows = simulate::job_rows(&trace, &cluster, &run);
    let table = Table::of("lucid_jobs", &rows);
    let expected = "\
job_id,vc,gpu_num,submit_time,duration,start_time,end_time,queue,jct,ckpt_times,nodes
7,small,2,100,50,105,155,5,55,0,[{0: [0]}]
8,big,16,110,500,130,630,20,520,0,\"[{0: [0, 1, 2, 3, 4, 5, 6, 7]}, {9999: [0, 1, 2, 3, 4, 5, 6, 7]}]\"
9,small,1,120,300,330,640,40,520,2,[{0: [0]}]
";
    assert_eq!(csv(&table), expected);
}

#[test]
fn ids_are_texts_unless_all_are_plain_numbers() {
    let (mut trace, cluster, run) = small_run();
    let kind = |trace: &Trace| {
        let rows = simulate::job_rows(trace, &cluster, &run);
        let table = Table::of("t", &rows);
        match &table.columns[0].1 {
            Column::Whole(ids) => format!("{ids:?}"),
            Column::Texts(ids) => format!("{ids:?}"),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kind(&trace), "[7, 8, 9]");
    for odd in ["007", "+7", "7a", "", "99999999999999999999"] {
        odd.clone_into(&mut trace.jobs[0].id);
        assert_eq!(kind(&trace), format!("[{odd:?}, \"8\", \"9\"]"));
    }
}

#[test]
fn states_of_all_virtual_clusters() {
    let (_, _, run) = small_run();
    let table = simulate::seq("lucid_seq", &run, &["big", "small"], Interval::default());
    let rows = |vc| {
        format!(
            "{vc},60,16,16,0,0,0,0,2,0,0,0,0,0,0,0\n\
             {vc},120,16,9,12,2,3,1,2,1,1,20.25,1353,40.5,2706,0.438\n\
             {vc},180,16,9,12,2,3,1,2,1,1,20.25,1353,40.5,2706,0.438\n"
        )
    };
    let header = "vc,time,total_gpu_num,idle_gpu_num,pending_gpu_num,running_gpujob_num,\
                  pending_gpujob_num,pending_job_num_less_8,total_node_num,\
                  consolidate_node_num,shared_node_num,sm_util,gmem_util,sm_util_active,\
                  gmem_util_active,gpu_utilization\n";
    assert_eq!(
        csv(&table),
        header.to_owned() + &rows("big") + &rows("small")
    );
}

#[test]
fn the_profilers_tables() {
    let (mut trace, _, run) = small_run();
    let profiler = run.profiler.unwrap();
    trace.jobs[0].duration = 201;
    let expected = "\
job_id,start_time,end_time,profiled,profqueue,toskip,nodes
7,105,155,1,5,0,[{0: [0]}]
8,,,0,0,0,[]
9,130,330,1,10,0,[{0: [0]}]
";
    assert_eq!(
        csv(&Table::of(
            "p",
            &simulate::profiler_job_rows(&trace, &profiler)
        )),
        expected
    );
    trace.jobs[0].duration = 200;
    let ended = written(&Table::of(
        "p",
        &simulate::profiler_job_rows(&trace, &profiler),
    ))
    .numbers("toskip");
    assert_eq!(ended, [1.0, 0.0, 0.0]);
    let steps = csv(&Table::of("s", &simulate::scaling_rows(&profiler)));
    assert_eq!(steps, "time,scaling_num\n110,1\n300,-1\n");
    let states = csv(&simulate::profiler_seq(&profiler, Interval::default()));
    let last = "180,16,9,12,2,3,1,2,1,1,0.438";
    assert_eq!(states.lines().last().unwrap(), last);
}

// As in numpy, ties are rounded to even.
#[test]
fn utilisation_to_three_decimals() {
    let share = |total_gpus, idle_gpus| {
        let state = State {
            total_gpus,
            idle_gpus,
            ..State::default()
        };
        let mut vc = vc_run(0, &[], vec![]);
        vc.schedule.samples.push(Samples {
            first: 0,
            count: 1,
            state,
        });
        let run = gleaner_domain::results::policy_run::PolicyRun {
            policy: "fifo",
            vcs: vec![vc],
            profiler: None,
        };
        written(&simulate::seq("s", &run, &["vc"], Interval::default())).numbers("gpu_utilization")
            [0]
    };
    assert_eq!(share(16, 15), 0.062);
    assert_eq!(share(16, 13), 0.188);
    assert_eq!(share(3, 1), 0.667);
    assert!(share(0, 0).is_nan());
}

#[test]
fn empty_tables_can_be_read() {
    let (trace, cluster, mut run) = small_run();
    run.vcs
        .iter_mut()
        .for_each(|vc| vc.schedule.samples.clear());
    let profiler = run.profiler.as_mut().unwrap();
    profiler.schedule.scaling.clear();
    let seq = written(&simulate::seq(
        "s",
        &run,
        &["big", "small"],
        Interval::default(),
    ));
    assert_eq!((seq.columns.len(), seq.rows.len()), (16, 0));
    let scaling = written(&Table::of(
        "s",
        &simulate::scaling_rows(run.profiler.as_ref().unwrap()),
    ));
    assert_eq!((scaling.columns.len(), scaling.rows.len()), (2, 0));
    run.vcs.clear();
    run.profiler = None;
    let jobs = written(&Table::of("j", &simulate::job_rows(&trace, &cluster, &run)));
    assert_eq!((jobs.columns.len(), jobs.rows.len()), (11, 0));
}

#[test]
fn csv_of_the_tables_is_written_when_asked_for() {
    let (trace, cluster, run) = small_run();
    for csv in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let dir = run_dir(folder.path());
        let simulated = SimulatedTrace {
            trace: &trace,
            cluster: &cluster,
            placer: "consolidate",
            csv,
            interval: Interval::default(),
        };
        simulate::write_run(&dir, simulated, &run).unwrap();
        simulate::write_profiler(&dir, simulated, run.profiler.as_ref().unwrap()).unwrap();
        finish(dir);
        let names = [
            "lucid_jobs",
            "lucid_seq",
            "lucid_runs",
            "profiler_jobs",
            "profiler_seq",
            "profiler_scaling",
        ];
        for name in names {
            assert!(
                folder.path().join(format!("{name}.parquet")).is_file(),
                "{name}"
            );
            assert_eq!(
                folder.path().join(format!("{name}.csv")).is_file(),
                csv,
                "{name}"
            );
        }
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1 + names.len() * (1 + usize::from(csv)),
            "these tables and run.json"
        );
    }
}

/// Values with the lengths of their runs. Neighbouring runs often have the same value.
fn any_runs() -> impl Strategy<Value = Vec<(i64, u32)>> {
    let value = prop_oneof![0i64..3, Just(i64::MIN), any::<i64>()];
    let count = prop_oneof![0u32..4, 100u32..70_000];
    prop::collection::vec((value, count), 0..300)
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(256, 40))]

    // A column written as runs is read back like a column written row by row.
    #[test]
    fn runs_are_read_back_as_rows(runs in any_runs()) {
        let rows: Vec<i64> = runs
            .iter()
            .flat_map(|&(value, count)| std::iter::repeat_n(value, count as usize % 1000))
            .collect();
        let counted = || runs.iter().map(|&(value, count)| (value, count % 1000));
        let names = ["", "b", "naïve"];
        let table = Table {
            name: "t",
            columns: vec![
                ("whole", Column::Whole(rows.clone())),
                ("runs", Column::RepeatedIntegers(counted().map(|(v, c)| (v as u64, c)).collect())),
                ("floats", Column::RepeatedFloats(counted().map(|(v, c)| (v as f64, c)).collect())),
                ("names", Column::RepeatedNames {
                    names: names.to_vec(),
                    indices: counted().map(|(v, c)| (v.rem_euclid(3) as u32, c)).collect(),
                }),
            ],
        };
        let content = written(&table);
        let expected: Vec<f64> = rows.iter().map(|&value| value as f64).collect();
        prop_assert_eq!(content.numbers("whole"), expected.clone());
        prop_assert_eq!(content.numbers("runs"), expected.clone());
        prop_assert_eq!(content.numbers("floats"), expected);
        let expected: Vec<_> = rows.iter().map(|v| names[v.rem_euclid(3) as usize]).collect();
        prop_assert_eq!(content.texts("names"), expected);
    }
}
