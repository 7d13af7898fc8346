//! Tests sweeps that run as job arrays. Tasks, the controller and the submitting process are killed, a node goes down,
//! and runs fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::cluster::{Cluster, count_squeue, wait_until};

/// Minimum time in seconds between two calls to `squeue` in these sweeps.
const INTERVAL: f64 = 0.5;

/// Writes the samples, and a plan with `runs` seeds, to the cluster's directory.
fn prepare(cluster: &Cluster, runs: usize, more: &str) {
    let dataset = gleaner_testing::workspace().join("dataset");
    for name in ["idle.csv", "tasks.toml"] {
        fs::copy(dataset.join(name), cluster.work().join(name)).unwrap();
    }
    let seeds: Vec<usize> = (0..runs).collect();
    let plan = format!(
        "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\nt_fwd = 240\nmax_tasks = 10\n\
         seed = {seeds:?}\n{more}"
    );
    fs::write(cluster.work().join("plan.toml"), plan).unwrap();
}

/// The command `gleaner sweep plan.toml --out OUT LINE`, whose calls to `squeue` are logged in the file `calls`.
fn sweep(cluster: &Cluster, out: &str, line: &str, calls: &str) -> Command {
    let mut command = cluster.command(env!("CARGO_BIN_EXE_gleaner"));
    command.args(["sweep", "plan.toml", "--out", out, "--quiet"]);
    command.args(line.split_whitespace());
    count_squeue(&mut command, &cluster.work().join(calls));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn slurm(cluster: &Cluster, out: &str, line: &str, calls: &str) -> Command {
    let line = format!("--slurm --interval {INTERVAL} {line}");
    sweep(cluster, out, &line, calls)
}

#[track_caller]
fn expect(output: Output, code: i32) -> (String, String) {
    let texts = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let [out, err] = texts;
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
    (out, err)
}

/// The tables of a sweep.
fn tables(cluster: &Cluster, out: &str) -> Vec<Vec<u8>> {
    let names = ["sweep.csv", "sweep.parquet", "settings.csv", "summary.json"];
    let read = |name| fs::read(cluster.work().join(out).join(name)).unwrap();
    names.into_iter().map(read).collect()
}

fn results(cluster: &Cluster, out: &str) -> usize {
    gleaner_testing::results(&cluster.work().join(out))
}

/// Number of restarts of runs, according to run.json.
fn begun_again(cluster: &Cluster, out: &str) -> u64 {
    let text = fs::read_to_string(cluster.work().join(out).join("run.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["runs_begun_again"].as_u64().unwrap()
}

/// The running tasks, as JOB_TASK, by node.
fn running(cluster: &Cluster) -> BTreeMap<String, Vec<String>> {
    let text = cluster.run("squeue --noheader --array --states=running --format=%N|%i");
    let mut by_node = BTreeMap::<String, Vec<String>>::new();
    for (node, task) in text.lines().filter_map(|line| line.split_once('|')) {
        if task.contains('_') {
            by_node
                .entry(node.to_owned())
                .or_default()
                .push(task.to_owned());
        }
    }
    by_node
}

/// Times between successive calls to `squeue`, in seconds.
fn gaps(calls: &Path) -> Vec<f64> {
    let text = fs::read_to_string(calls).unwrap();
    let times = text
        .lines()
        .map(|line| line.split(' ').next().unwrap().parse::<f64>().unwrap());
    let times: Vec<f64> = times.collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_sweep_survives_kills_of_all_that_take_part() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    prepare(&cluster, 2000, "check = true\nrepeat_tasks = true\n");
    let mut first = slurm(&cluster, "swept", "--parts 24 --cpus 1", "first")
        .spawn()
        .unwrap();
    wait_until("some runs are done", || results(&cluster, "swept") >= 20);
    // The process that submitted the jobs is killed. Two other processes are started at the same time. They submit
    // nothing.
    kill(&mut first);
    let others = ["second", "third"].map(|calls| {
        slurm(&cluster, "swept", "--parts 24 --cpus 1", calls)
            .spawn()
            .unwrap()
    });
    // One task is killed, and a node with two tasks goes down.
    let tasks = running(&cluster);
    let (node, on_node) = tasks.first_key_value().unwrap();
    let (_, elsewhere) = tasks.last_key_value().unwrap();
    assert!(tasks.len() > 1, "{tasks:?}");
    cluster.run(&format!("scancel --full --signal=KILL {}", elsewhere[0]));
    cluster.set_state(node, "DOWN");
    let before = results(&cluster, "swept");
    wait_until("others go on", || results(&cluster, "swept") > before + 20);
    cluster.set_state(node, "RESUME");
    // The controller is killed, and is restarted a little later.
    let marked = cluster.submit("--hold", "true");
    cluster.wait_until_saved(&marked);
    cluster.kill_controller();
    let before = results(&cluster, "swept");
    wait_until("tasks go on without a controller", || {
        results(&cluster, "swept") > before
    });
    cluster.start_daemon("slurmctld");
    for other in others {
        let (_, err) = expect(other.wait_with_output().unwrap(), 0);
        assert!(err.contains("already waiting or running"), "{err}");
    }
    // Only runs that were in progress were restarted: at most one for each killed task, because a task has one core.
    let lost = 1 + on_node.len() as u64;
    let again = begun_again(&cluster, "swept");
    assert!(
        (1..=lost).contains(&again),
        "{again} runs were restarted, but {lost} tasks were killed"
    );
    assert_eq!(
        gleaner_testing::segments(&cluster.work().join("swept")).len(),
        1
    );
    expect(sweep(&cluster, "alone", "", "none").output().unwrap(), 0);
    assert_eq!(tables(&cluster, "swept"), tables(&cluster, "alone"));
    // The queue was queried at most once per interval, for all arrays together. The tolerance accounts for the run time
    // of the counting script.
    for calls in ["second", "third"] {
        let gaps = gaps(&cluster.work().join(calls));
        assert!(
            gaps.len() > 2 && gaps.iter().skip(1).all(|&gap| gap > 0.8 * INTERVAL),
            "{gaps:?}"
        );
    }
}

#[test]
fn failed_runs_and_refused_parts_are_shown_and_not_tried_again() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    // The second objective is negative for tasks that have waited for 1,000 to 30,000 s, so runs with this objective
    // fail.
    prepare(
        &cluster,
        4,
        "objective = ['throughput', 'rate * (waited - 1000) * (waited - 30000)']\n",
    );
    let (_, err) = expect(
        slurm(&cluster, "swept", "--parts 2", "calls")
            .output()
            .unwrap(),
        1,
    );
    assert!(
        err.contains("4 of 8 runs are not done, of which 4 failed"),
        "{err}"
    );
    assert!(!err.contains("submitted again"), "{err}");
    assert_eq!(results(&cluster, "swept"), 4);
    // If an input changes after the submission, the parts reject it.
    prepare(&cluster, 6, "");
    let detached = slurm(
        &cluster,
        "changed",
        "--parts 2 --detach --sbatch-option=--begin=now+2",
        "calls",
    );
    let (_, err) = expect({ detached }.output().unwrap(), 0);
    assert!(err.contains("the jobs keep running"), "{err}");
    fs::write(cluster.work().join("tasks.toml"), "[[task]]\nname = 1\n").unwrap();
    wait_until("both parts have ended", || {
        let records = gleaner_testing::records(&cluster.work().join("changed"));
        records
            .iter()
            .filter(|json| json.starts_with("{\"ended\":"))
            .count()
            == 2
    });
    wait_until("nothing is in the queue", || {
        cluster
            .run("squeue --noheader --format=%i")
            .trim()
            .is_empty()
    });
    prepare(&cluster, 6, "");
    let (out, _) = expect(
        sweep(&cluster, "changed", "--status", "calls")
            .output()
            .unwrap(),
        0,
    );
    assert!(
        out.contains("missing  6") && out.contains("exit code 3"),
        "{out}"
    );
    assert!(
        out.contains("its log ends:") && out.contains("tasks.toml"),
        "{out}"
    );
    let batches = fs::read_dir(cluster.work().join("changed/batch"))
        .unwrap()
        .count();
    assert_eq!(batches, 1, "nothing was submitted again");
    // A new `--slurm` command submits the missing runs. Then all runs are done.
    expect(
        slurm(&cluster, "changed", "--parts 2", "calls")
            .output()
            .unwrap(),
        0,
    );
}

#[test]
fn what_kills_its_task_is_tried_again_a_stated_number_of_times() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    // A solver that kills gleaner.
    let program = "solver = ['exact', \"exec:sh -c 'kill -9 $PPID'\"]\n";
    prepare(&cluster, 3, program);
    let (_, err) = expect(
        slurm(&cluster, "swept", "--parts 6 --retries 1", "calls")
            .output()
            .unwrap(),
        1,
    );
    assert!(
        err.contains("3 of 6 runs are not done, of which 0 failed"),
        "{err}"
    );
    assert!(
        err.contains("it was killed, its node failed, or it never started"),
        "{err}"
    );
    assert_eq!(results(&cluster, "swept"), 3);
    let batches = fs::read_dir(cluster.work().join("swept/batch"))
        .unwrap()
        .count();
    assert_eq!(batches, 2);
    let records = gleaner_testing::records(&cluster.work().join("swept"));
    let begun = records
        .iter()
        .filter(|json| json.starts_with("{\"begun\":"))
        .count();
    assert_eq!(begun, 3 + 2 * 3);
}

#[test]
fn detached_sweeps_are_collected_and_limits_of_the_cluster_kept() {
    let Some(cluster) = Cluster::start(&["MaxArraySize=3", "MaxJobCount=50"]) else {
        return;
    };
    prepare(&cluster, 40, "");
    let (_, err) = expect(
        slurm(&cluster, "swept", "--parts 50", "calls")
            .output()
            .unwrap(),
        2,
    );
    assert!(
        err.contains("--parts is 50") && err.contains("MaxJobCount"),
        "{err}"
    );
    let line = "--parts 8 --array-limit 1 --detach --best efficiency --time 10 --mem 100M";
    expect(slurm(&cluster, "swept", line, "calls").output().unwrap(), 0);
    wait_until("the tables are there", || {
        cluster.work().join("swept/summary.json").exists()
    });
    wait_until("nothing is in the queue", || {
        cluster
            .run("squeue --noheader --format=%i")
            .trim()
            .is_empty()
    });
    expect(
        sweep(&cluster, "alone", "--best efficiency", "none")
            .output()
            .unwrap(),
        0,
    );
    assert_eq!(tables(&cluster, "swept"), tables(&cluster, "alone"));
    // The batch consists of three arrays and of the job that collects the results.
    let batch = fs::read_dir(cluster.work().join("swept/batch"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let text = fs::read_to_string(batch.path().join("batch.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["jobs"].as_array().unwrap().len(), 4);
    assert_eq!(fs::read_dir(batch.path().join("logs")).unwrap().count(), 9);
    // All runs are done, so the command submits no jobs.
    let (out, _) = expect(
        slurm(&cluster, "swept", "--best efficiency", "calls")
            .output()
            .unwrap(),
        0,
    );
    assert!(out.contains("40, 40 of them already done"), "{out}");
    // If sbatch rejects a submission, the message quotes sbatch.
    let (_, err) = expect(
        slurm(&cluster, "other", "--partition nope", "calls")
            .output()
            .unwrap(),
        1,
    );
    assert!(err.contains("invalid partition specified: nope"), "{err}");
}

/// Slurm announces the end of a time limit with a signal. The test sends this signal itself, because Slurm's shortest
/// time limit is a minute.
#[test]
fn what_tasks_leave_near_their_time_limit_is_done_by_others() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    prepare(&cluster, 600, "check = true\nrepeat_tasks = true\n");
    let line = "--parts 2 --cpus 1 --retries 0";
    let child = slurm(&cluster, "swept", line, "calls").spawn().unwrap();
    wait_until("some runs are done", || results(&cluster, "swept") >= 5);
    for task in running(&cluster).into_values().flatten() {
        cluster.run(&format!("scancel --batch --signal=USR1 {task}"));
    }
    expect(child.wait_with_output().unwrap(), 0);
    let batches = cluster.work().join("swept/batch");
    assert_eq!(fs::read_dir(batches).unwrap().count(), 2);
    // The parts have finished all runs that they began, so no run is restarted.
    assert_eq!(begun_again(&cluster, "swept"), 0);
}

/// Runs the commands of docs/CLUSTER.md in their order on the page.
#[test]
fn the_commands_of_the_page_run() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    prepare(&cluster, 12, "");
    let bin = Path::new(env!("CARGO_BIN_EXE_gleaner")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let examples = gleaner_testing::examples("docs/CLUSTER.md");
    let lines = examples.iter().filter(|example| example.kind == "slurm");
    let lines: Vec<&str> = lines.flat_map(|example| example.text.lines()).collect();
    assert!(lines.len() >= 4);
    for line in lines {
        let mut command = cluster.command("sh");
        let output = command
            .env("PATH", &path)
            .args(["-c", line])
            .output()
            .unwrap();
        expect(output, 0);
    }
    assert_eq!(tables(&cluster, "swept"), tables(&cluster, "again"));
}
