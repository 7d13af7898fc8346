//! Tests jobs on a real Slurm cluster of four nodes, which scripts/slurm.sh starts on this host. Each test has its own
//! cluster, because tests kill parts of their clusters, and a cluster starts in less than a second.
//!
//! If Slurm is not installed, the tests report that they are skipped, or fail if `GLEANER_NEED_SLURM` is set.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster;
mod sweeps;

use std::fs;
use std::path::Path;
use std::process::Command;

use cluster::{Cluster, script, wait_until};

/// The script of a task with the index N. It creates the file `started.N`, waits for the file `go`, and then writes the
/// number of its restarts to `done.N`.
const GATED: &str = "touch started.$SLURM_ARRAY_TASK_ID
while [ ! -e go ]; do sleep 0.1; done
echo ${SLURM_RESTART_COUNT:-0} > done.$SLURM_ARRAY_TASK_ID";

/// Submits 8 tasks with the script [`GATED`], one for each CPU of the cluster, and waits until all of them run.
fn running_array(cluster: &Cluster) -> String {
    let array = cluster.submit("--array=0-7", GATED);
    wait_until("all tasks run", || {
        count(&cluster.work(), "started.") == 8 && cluster.count(&array, "RUNNING") == 8
    });
    array
}

/// Creates the file `go`, and waits until all tasks are done. Returns the number of restarts of each task.
fn finish(cluster: &Cluster, array: &str) -> Vec<u32> {
    fs::write(cluster.work().join("go"), "").unwrap();
    wait_until("all tasks are done", || {
        cluster.count(array, "COMPLETED") == 8
    });
    let result = |index| cluster.work().join(format!("done.{index}"));
    (0..8)
        .map(|index| fs::read_to_string(result(index)).unwrap())
        .map(|text| text.trim().parse().unwrap())
        .collect()
}

/// Number of files whose names begin with `prefix`.
fn count(directory: &Path, prefix: &str) -> usize {
    fs::read_dir(directory)
        .unwrap()
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_str().unwrap().starts_with(prefix)
        })
        .count()
}

#[test]
fn tasks_of_a_node_that_goes_down_start_again() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let array = running_array(&cluster);
    cluster.set_state("n2", "DOWN");
    // Both tasks of node n2 are requeued and must wait, because no other node has a free CPU.
    wait_until("two tasks wait", || cluster.count(&array, "PENDING") == 2);
    cluster.set_state("n2", "RESUME");
    wait_until("all tasks run", || cluster.count(&array, "RUNNING") == 8);
    let mut restarts = finish(&cluster, &array);
    restarts.sort_unstable();
    assert_eq!(restarts, [0, 0, 0, 0, 0, 0, 1, 1]);
}

#[test]
fn tasks_outlive_the_controller() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let array = running_array(&cluster);
    cluster.wait_until_saved(&array);
    cluster.kill_controller();
    assert!(!cluster.command("squeue").output().unwrap().status.success());
    // The tasks end while no controller is running.
    fs::write(cluster.work().join("go"), "").unwrap();
    wait_until("all results", || count(&cluster.work(), "done.") == 8);
    cluster.start_daemon("slurmctld");
    assert_eq!(finish(&cluster, &array), [0; 8]);
}

#[test]
fn settings_replace_lines_of_the_configuration() {
    let Some(cluster) = Cluster::start(&["MaxArraySize=11"]) else {
        return;
    };
    // Indices must be below MaxArraySize (see slurm.conf(5)).
    cluster.submit("--array=0-10", "true");
    let mut command = cluster.command("sbatch");
    let refused = command
        .args(["--array=0-11", "--wrap=true"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(err.contains("Invalid job array specification"), "{err}");
}

#[test]
fn calls_of_squeue_are_counted() {
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let calls = cluster.work().join("calls");
    for arguments in [vec!["--noheader"], vec!["--jobs", "99"]] {
        let direct = cluster.command("squeue").args(&arguments).output().unwrap();
        let mut command = cluster.command("squeue");
        cluster::count_squeue(&mut command, &calls);
        assert_eq!(command.args(&arguments).output().unwrap(), direct);
    }
    let text = fs::read_to_string(calls).unwrap();
    let calls: Vec<_> = text
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    assert_eq!([calls[0].1, calls[1].1], ["--noheader", "--jobs 99"]);
    assert!(calls[0].0.parse::<f64>().unwrap() <= calls[1].0.parse().unwrap());
}

#[test]
fn a_cluster_ends_with_its_owner() {
    let Some(other) = Cluster::start(&[]) else {
        return;
    };
    let mut owner = Command::new("sleep").arg("1000").spawn().unwrap();
    let directory = other.work().join("second");
    let mut start = script();
    start.args(["start", "--owner", &owner.id().to_string()]);
    assert!(start.arg(&directory).status().unwrap().success());
    let pid = fs::read_to_string(directory.join("n1.pid")).unwrap();
    let daemon = Path::new("/proc").join(pid.trim()).join("exe");
    assert!(fs::read_link(&daemon).is_ok());

    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_until("the cluster is gone", || !directory.exists());
    // Once a process has exited, its link `/proc/PID/exe` cannot be read, even if its parent has not reaped it yet.
    assert!(fs::read_link(&daemon).is_err());
    // The other cluster still runs jobs.
    other.submit("--wait", "true");
}
