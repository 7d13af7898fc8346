//! Tests of `gleaner harvest` with real processes of the daemon, the pilots and the tasks. The pilots are Slurm jobs in
//! the module `slurm`, and local processes in all other modules.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod classes;
mod datagrams;
mod docs;
mod page;
mod pytorch;
mod searches;
mod slurm;
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use support::{Harvest, gleaner};

#[test]
fn tasks_are_trained_and_everything_ends() {
    let mut harvest = Harvest::start(3);
    assert_eq!(
        harvest.submit(&[("a", 1, 2, 300), ("b", 1, 3, 300)]),
        "submitted 2 tasks: a, b\n"
    );
    let twice = harvest.failure(&["submit", harvest.path("tasks.toml").to_str().unwrap()]);
    assert!(
        twice.contains("another task or search has this name"),
        "{twice}"
    );
    harvest.await_state("a", "finished");
    harvest.await_state("b", "finished");
    assert_eq!(harvest.task_field("a", "done"), 300.0);
    assert!(harvest.text(&["tasks"]).contains("100.0 % of 300"));
    let text = harvest.text(&["status"]);
    assert!(text.ends_with("2 tasks finished\n"), "{text}");
    let over = harvest.failure(&["cancel", "a"]);
    assert!(over.contains("already finished"), "{over}");
    let unknown = harvest.failure(&["cancel", "$(x)"]);
    assert!(unknown.contains("there is no task or search"), "{unknown}");
    let recording = harvest.path("recording");
    let output = harvest.run(&["status", "--record", recording.to_str().unwrap()]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(err.contains("all match the recording"), "{err}");
    let replayed = gleaner_inputs::events::read(&recording.join("events.csv"));
    let idle = replayed.unwrap().value.idle_node_seconds();
    let used = replay_script(&recording);
    assert!(0.0 < used && used <= idle, "{used} of {idle}");
    let page = harvest.path("page.html");
    harvest.text(&["status", "--page", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains("\"name\":\"a\""));
    harvest.text(&["stop"]);
    assert!(harvest.await_end(), "{}", harvest.log());
    assert!(harvest.processes().is_empty());
}

/// Runs the commands of docs/HARVEST.md that replay a recording, whose folder must be called `recording`. Returns the
/// node-seconds that tasks held in the replay.
fn replay_script(recording: &Path) -> f64 {
    let folder = recording.parent().unwrap();
    let commands = docs::blocks("sh recording").concat().replace("\\\n", " ");
    for command in commands.lines() {
        let words: Vec<&str> = command.split_whitespace().collect();
        if words[..2] == ["gleaner", "harvest"] {
            // This command writes the recording, which already exists.
            continue;
        }
        let output = Command::new(env!("CARGO_BIN_EXE_gleaner"))
            .current_dir(folder)
            .args(&words[1..])
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {err}");
    }
    let summary = fs::read(folder.join("accounts/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["solver"], "scripted");
    summary["used_node_seconds"].as_f64().unwrap()
}

#[test]
fn cancelled_and_stopped_tasks_leave_no_processes() {
    let mut harvest = Harvest::start(2);
    harvest.submit(&[("long", 1, 2, 1_000_000), ("other", 1, 2, 1_000_000)]);
    harvest.wait("work", |harvest| harvest.steps() > 3);
    assert_eq!(harvest.text(&["cancel", "long"]), "cancelled long\n");
    harvest.await_state("long", "cancelled");
    harvest.wait("the other task on both nodes", |harvest| {
        harvest.task_field("other", "running") == 2
    });
    harvest.text(&["drain"]);
    assert_eq!(harvest.status()["mode"], "draining");
    let draining = harvest.failure(&["submit", harvest.path("tasks.toml").to_str().unwrap()]);
    assert!(draining.contains("draining"), "{draining}");
    harvest.text(&["drain", "--off"]);
    harvest.text(&["stop", "--now"]);
    assert!(harvest.await_end(), "{}", harvest.log());
    assert!(harvest.processes().is_empty());
    // Tasks that have not ended continue when the daemon starts again.
    harvest.serve();
    assert_eq!(harvest.task_field("long", "state"), "cancelled");
    let steps = harvest.steps();
    harvest.wait("more work", |harvest| harvest.steps() > steps);
}

#[test]
fn tasks_go_on_while_the_daemon_is_killed() {
    let mut harvest = Harvest::start(2);
    harvest.submit(&[("steady", 2, 2, 1500)]);
    harvest.wait("work", |harvest| harvest.steps() > 6);
    for _ in 0..2 {
        harvest.kill_daemon();
        let steps = harvest.steps();
        sleep(Duration::from_secs(1));
        assert!(harvest.steps() > steps + 4, "the task has stopped");
        harvest.serve();
    }
    let state = harvest.task_field("steady", "state");
    assert!(state == "active" || state == "finished", "{state}");
    harvest.await_state("steady", "finished");
    // The task was never restarted.
    assert_eq!(harvest.task_field("steady", "generation"), 1);
    assert_eq!(harvest.task_field("steady", "done"), 1500.0);
}

#[test]
fn a_group_uses_no_more_nodes_than_its_maximum() {
    let mut harvest = Harvest::start(3);
    let task = |name: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\nmin_nodes = 1\nmax_nodes = 1\nrescale_up = 1\nrescale_down = 1\n\
             command = [\"sleep\", \"1000\"]\n"
        )
    };
    let group = "[[group]]\nname = \"pair\"\ntasks = [\"a\", \"b\"]\nmax_nodes = 1\n";
    harvest.submit_text(&format!("{}{}{}{group}", task("a"), task("b"), task("c")));
    let running = |harvest: &Harvest, name: &str| {
        let running = harvest.task_field(name, "running");
        running.as_u64().unwrap()
    };
    harvest.wait("three nodes", |harvest| {
        harvest.status()["nodes"].as_array().unwrap().len() == 3
    });
    harvest.wait("the other task", |harvest| running(harvest, "c") == 1);
    harvest.wait("one task of the group", |harvest| {
        running(harvest, "a") + running(harvest, "b") == 1
    });
    let (first, second) = if running(&harvest, "a") == 1 {
        ("a", "b")
    } else {
        ("b", "a")
    };
    harvest.kill_daemon();
    harvest.serve();
    assert_eq!(
        harvest.task_field(second, "groups"),
        serde_json::json!(["pair"])
    );
    assert_eq!(running(&harvest, second), 0);
    harvest.text(&["cancel", first]);
    harvest.wait("the rest of the group", |harvest| {
        running(harvest, second) == 1
    });
    let recording = harvest.path("recording");
    harvest.text(&["status", "--record", recording.to_str().unwrap()]);
    replay_script(&recording);
    harvest.text(&["stop", "--now"]);
    assert!(harvest.await_end(), "{}", harvest.log());
}

#[test]
fn a_dry_run_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("harvest.toml");
    let state = folder.path().join("state");
    fs::write(&config, "backend = \"local\"\nladder = [[90, 3], [5, 1]]\n").unwrap();
    let output = gleaner(&["serve", "--dry-run", "--config"])
        .arg(&config)
        .arg("--state")
        .arg(&state)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("3 pilots of 90 min"), "{text}");
    assert!(text.contains("harvest pilot"), "{text}");
    assert!(!state.exists());
}

#[test]
fn a_second_daemon_and_other_settings_are_refused() {
    let mut harvest = Harvest::start(1);
    let serve = |harvest: &Harvest| {
        let config = harvest.path("harvest.toml");
        harvest.failure(&["serve", "--config", config.to_str().unwrap()])
    };
    assert!(serve(&harvest).contains("another daemon uses"));
    harvest.text(&["stop"]);
    assert!(harvest.await_end());
    let none = harvest.failure(&["status"]);
    assert!(none.contains("gleaner harvest serve"), "{none}");
    let config = fs::read_to_string(harvest.path("harvest.toml")).unwrap();
    fs::write(
        harvest.path("harvest.toml"),
        format!("max_tasks = 3\n{config}"),
    )
    .unwrap();
    let other = serve(&harvest);
    assert!(
        other.contains("max_tasks 10, now 3") && other.contains("--state"),
        "{other}"
    );
    let changed = format!("max_pilots = 3\n{config}");
    fs::write(harvest.path("harvest.toml"), changed).unwrap();
    harvest.serve();
    let log = harvest.log();
    assert!(
        log.contains("changed setting: max_pilots 16, now 3"),
        "{log}"
    );
}

#[test]
fn replica_groups_of_torchft_continue_without_the_first_node() {
    let harvest = Harvest::start(3);
    let script =
        "echo $$ $GLEANER_NODE_RANK $GLEANER_NODES >> $GLEANER_CHECKPOINT/started; exec sleep 1000";
    harvest.submit_text(&format!(
        "[[task]]\nname = \"groups\"\nmin_nodes = 1\nmax_nodes = 3\nrescale_up = 1\nrescale_down = 1\n\
         launch = \"torchft\"\ncommand = [\"sh\", \"-c\", {script:?}]\n"
    ));
    let started = harvest.state().join("tasks/groups/started");
    // The rank, the process and the node of each group that was started.
    let groups = || -> Vec<(usize, u32, String)> {
        let text = fs::read_to_string(&started).unwrap_or_default();
        let group = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let rank = words[1].parse().unwrap();
            let node = words[2].split(',').nth(rank).unwrap();
            (rank, words[0].parse().unwrap(), node.to_owned())
        };
        let mut groups: Vec<_> = text.lines().map(group).collect();
        groups.sort();
        groups
    };
    harvest.wait("group on each node", |_| groups().len() == 3);
    let (before, first) = (groups(), groups()[0].2.clone());
    harvest.signal_pilot(&first, "-KILL");
    harvest.wait("new group on the first node", |_| {
        groups().iter().filter(|group| group.2 == first).count() == 2
    });
    assert_eq!(groups().len(), 4);
    // A process that has ended but still has an entry in /proc has an empty command line.
    let lives =
        |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
    for (_, pid, node) in before {
        assert_eq!(lives(pid), node != first, "{node}\n{}", harvest.log());
    }
    assert_eq!(harvest.task_field("groups", "generation"), 1);
}
