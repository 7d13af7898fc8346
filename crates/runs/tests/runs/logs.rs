//! Tests of the logs in the format of Lucid's simulator (the original).

use std::fs;

use gleaner_domain::inputs::{Packing, PackingTable};
use gleaner_domain::results::policy_run::{PolicyRun, ProfilerRun};
use gleaner_domain::results::schedule::{JobOutcome, Schedule};
use gleaner_domain::{Job, Trace, Usage, Workload};
use gleaner_runs::simulate;
use gleaner_runs::simulate::{Interval, SimulatedTrace};
use tempfile::TempDir;

use super::support::{cluster, finish, job, outcome, run_dir, samples, small_run, vc_run};

fn write(
    trace: &Trace,
    vcs: &[(&str, u32)],
    run: &PolicyRun,
    packing: Option<&dyn Packing>,
) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dir = run_dir(folder.path());
    let cluster = cluster(vcs);
    let simulated = SimulatedTrace {
        trace,
        cluster: &cluster,
        placer: "consolidate",
        csv: false,
        interval: Interval::default(),
    };
    simulate::write_logs(&dir, simulated, run, packing).unwrap();
    finish(dir);
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join("logs").join(name)).unwrap()
}

const HEADER: &str = "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,\
    dataset,model,batchsize,amp,speed,gpu_util,gmem_util,gmem,remain,start_time,end_time,\
    ckpt_times,queue,jct,status,nodes,priority,random,profiled,profqueue,toskip,exclusive,\
    rate,sharescore,Tcolocate,Tdelocate\n";

/// Two jobs of the virtual cluster vcvlY: one job ended in the profiler, and the other
/// continued after its profiling.
fn two_jobs() -> (Trace, PackingTable, [JobOutcome; 2]) {
    let workload = |model: &str, dataset: &str| Workload {
        model: model.to_owned(),
        dataset: dataset.to_owned(),
        batch_size: 32,
        amp: false,
    };
    let usage = |speed, gpu_util, gmem_util, gmem| Usage {
        speed,
        gpu_util,
        gmem_util,
        gmem,
    };
    let submitted = |id, state: &str, submit, duration, workload, usage| Job {
        user: "uruNe".to_owned(),
        cpus: 24.0,
        state: state.to_owned(),
        workload: Some(workload),
        usage,
        ..job(id, 0, 8, submit, duration)
    };
    let tiny = usage(814.137, 24.5, 3.0, 2308.0);
    let long = usage(16.292, 12.828, 0.0, 2059.0);
    let trace = Trace {
        jobs: vec![
            submitted("800724", "CANCELLED", 15_335_905, 202, 1, long),
            submitted("800731", "CANCELLED", 15_336_108, 183, 0, tiny),
        ],
        workloads: vec![
            workload("EfficientNet", "CIFAR-10"),
            workload("TD3", "BipedalWalker"),
        ],
        origin: None,
        known: Vec::new(),
    };
    let packing = PackingTable {
        scores: vec![Some(1), Some(0)],
        ..PackingTable::default()
    };
    let on = |node, priority, outcome| JobOutcome {
        nodes: vec![(node, 0xff)],
        priority,
        ..outcome
    };
    let went_on = on(0, Some(4808.0), outcome(15_335_905, 15_336_108, 0));
    let finished = on(1, None, outcome(15_336_305, 15_336_488, 197));
    (trace, packing, [went_on, finished])
}

// Golden value: two lines of a log that the original wrote.
#[test]
fn a_log_as_the_original_writes_it() {
    let (trace, packing, [went_on, finished]) = two_jobs();
    let profiled = vec![outcome(15_335_905, 15_336_105, 0), finished];
    let run = PolicyRun {
        policy: "lucid",
        vcs: vec![vc_run(0, &[0], vec![went_on])],
        profiler: Some(ProfilerRun {
            jobs: vec![0, 1],
            schedule: Schedule {
                jobs: profiled,
                ..Schedule::default()
            },
            limit: 200,
            extra_gpus: 0,
        }),
    };
    let folder = write(&trace, &[("vcvlY", 2)], &run, Some(&packing));
    let expected = HEADER.to_owned()
        + "800724,uruNe,vcvlY,,8,24,CANCELLED,15335905,202,BipedalWalker,TD3,32,0,16.292,12.828,\
           0.0,2059.0,0,15335905.0,15336108.0,0,0.0,203.0,end,\"[{0: [0, 1, 2, 3, 4, 5, 6, 7]}]\",\
           4808,0,1,0.0,0,1,1,0.0,0,0\n"
        + "800731,uruNe,vcvlY,,8,24,CANCELLED,15336108,183,CIFAR-10,EfficientNet,32,0,814.137,24.5,\
           3.0,2308.0,0,15336305.0,15336488.0,0,197.0,380.0,end,\
           \"[{1: [0, 1, 2, 3, 4, 5, 6, 7]}]\",-1,0,1,197.0,1,1,1,,0,0\n";
    assert_eq!(
        read(&folder, "vcvlY/lucid_consolidate_vcvlY_log.csv"),
        expected
    );
    assert_eq!(read(&folder, "all/lucid_consolidate_all_log.csv"), expected);
}

// There is no profiler, and one of the jobs shared its GPUs.
#[test]
fn a_log_of_a_shared_job() {
    let (trace, packing, [mut went_on, other]) = two_jobs();
    went_on.remain = -0.25;
    went_on.speed = 0.75;
    went_on.exclusive = false;
    went_on.colocated = 15_335_905;
    let run = PolicyRun {
        policy: "lucid",
        vcs: vec![vc_run(0, &[0, 1], vec![went_on, other])],
        profiler: None,
    };
    let folder = write(&trace, &[("vcvlY", 2)], &run, Some(&packing));
    let log = read(&folder, "vcvlY/lucid_consolidate_vcvlY_log.csv");
    let mut lines = log.lines().skip(1);
    let first = lines.next().unwrap();
    assert!(first.contains(",2059.0,-0.25,15335905.0,"), "{first}");
    assert!(
        first.ends_with(",4808,0,0,0,0,0,0.75,0,15335905.0,0"),
        "{first}"
    );
    let second = lines.next().unwrap();
    assert!(second.ends_with(",-1,0,0,0,0,1,1.0,1,0.0,0"), "{second}");
}

#[test]
fn values_that_a_trace_lacks_are_left_empty() {
    let (mut trace, _, run) = small_run();
    trace.jobs[0].cpus = 0.5;
    let folder = write(&trace, &[("big", 4), ("small", 1)], &run, None);
    let log = read(&folder, "all/lucid_consolidate_all_log.csv");
    let first = log.lines().nth(1).unwrap();
    let expected = "7,someone,small,,2,0.5,COMPLETED,100,50,,,,,0.0,0.0,0.0,0.0,0,105.0,155.0,\
                    0,5.0,55.0,end,[{0: [0]}],-1,0,1,5.0,1,1,1,,0,0";
    assert_eq!(first, expected);
    let log = read(&folder, "big/lucid_consolidate_big_log.csv");
    assert!(
        log.contains("\n8,someone,big,,16,8,COMPLETED,110,500,,,"),
        "{log}"
    );
}

const SEQ_HEADER: &str = "time,total_gpu_num,idle_gpu_num,pending_gpu_num,running_gpujob_num,\
    pending_gpujob_num,pending_job_num_less_8,total_node_num,consolidate_node_num,\
    shared_node_num,sm_util,gmem_util,sm_util_active,gmem_util_active,gpu_utilization\n";

// The expected rows have the original's number formats.
#[test]
fn states_as_the_original_writes_them() {
    let (trace, _, mut run) = small_run();
    run.vcs[1].schedule.samples.pop();
    let folder = write(&trace, &[("big", 4), ("small", 1)], &run, None);
    let held = "16,9,12,2,3,1,2,1,1,20.25,1353.0,40.5,2706.0,0.438";
    let idle = "60.0,16,16,0,0,0,0,2,0,0,0.0,0.0,0.0,0.0,0.0\n";
    assert_eq!(
        read(&folder, "big/lucid_consolidate_big_seq.csv"),
        format!("{SEQ_HEADER}{idle}120.0,{held}\n180.0,{held}\n")
    );
    assert_eq!(
        read(&folder, "small/lucid_consolidate_small_seq.csv"),
        format!("{SEQ_HEADER}{idle}")
    );
    let all = read(&folder, "all/lucid_consolidate_all_seq.csv");
    assert_eq!(
        all,
        format!("{SEQ_HEADER}60,32,32,0,0,0,0,4,0,0,0,0,0,0,0.0\n")
    );
    run.vcs[1].schedule.samples = samples();
    let folder = write(&trace, &[("big", 4), ("small", 1)], &run, None);
    let all = read(&folder, "all/lucid_consolidate_all_seq.csv");
    assert!(
        all.ends_with("\n180,32,18,24,4,6,2,4,2,2,20,1353,40,2706,0.438\n"),
        "{all}"
    );
}

#[test]
fn the_states_of_a_single_virtual_cluster_are_those_of_all() {
    let (trace, _, mut run) = small_run();
    run.vcs.pop();
    let folder = write(&trace, &[("big", 4), ("small", 1)], &run, None);
    assert_eq!(
        read(&folder, "all/lucid_consolidate_all_seq.csv"),
        read(&folder, "big/lucid_consolidate_big_seq.csv")
    );
}

#[test]
fn names_that_are_paths_or_all_are_refused() {
    let (trace, _, run) = small_run();
    for name in ["", ".", "..", "a/b", "/etc", "../up", "all", "a/"] {
        let folder = tempfile::tempdir().unwrap();
        let dir = run_dir(folder.path());
        let cluster = cluster(&[(name, 4), ("small", 1)]);
        let simulated = SimulatedTrace {
            trace: &trace,
            cluster: &cluster,
            placer: "random",
            csv: false,
            interval: Interval::default(),
        };
        let error = simulate::write_logs(&dir, simulated, &run, None).unwrap_err();
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
    }
}
