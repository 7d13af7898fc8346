//! Tests searches of a running daemon, among them the example of docs/HARVEST.md.

use std::fs;
use std::process::Command;

use gleaner_harvest::core::SearchSubmission;
use gleaner_harvest::task_file;
use gleaner_search::{Next, Search, Value};
use gleaner_testing::workspace;
use serde_json::Value as Json;

use crate::docs::blocks;
use crate::support::Harvest;

/// The example search of docs/HARVEST.md, with the path of the script in this repository.
fn example() -> String {
    let mut files = blocks("toml").into_iter();
    let text = files.find(|text| text.contains("[search]")).unwrap();
    let script = workspace().join("docs/harvest/trial.py");
    text.replace("/home/me/trial.py", script.to_str().unwrap())
}

/// The loss that the script reports after `epochs` epochs. Each step of gradient descent multiplies the distance to the
/// target by 1 - 2 · lr.
fn loss(search: &SearchSubmission, trial: u32, epochs: f64) -> f64 {
    let Value::Number(rate) = search.space.draw(search.seed, trial)["lr"] else {
        panic!("lr is a number");
    };
    (3.0 * (1.0 - 2.0 * rate).powf(epochs)).powi(2)
}

/// The names of the tasks of the search, in order, and the best trial.
fn expected(search: &SearchSubmission) -> (Vec<String>, u32) {
    let mut twin = Search::new(search.plan.clone()).unwrap();
    let mut names = Vec::new();
    while let Next::Job(job) = twin.next() {
        names.push(format!(
            "{}#{}.{}",
            search.tasks[0].name, job.trial, job.rung
        ));
        let loss = loss(search, job.trial, job.to);
        twin.report(job.trial, loss).unwrap();
    }
    (names, twin.best().unwrap().0)
}

#[test]
fn the_best_trials_are_promoted() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    // Only one task is active at a time, so the order of the trials depends only on their losses.
    let mut harvest = Harvest::with_config(|_| {
        "backend = \"local\"\nt_fwd = 20\nladder = [[60, 1]]\nmax_tasks = 1\ngrace = 2\nlead = 2\nsilence = 4\n\
         lease = 20\nretry = 0.5\npoll = 0.5\n[local]\nnodes = 1\n"
            .to_owned()
    });
    let text = example();
    let submitted = harvest.submit_text(&text);
    assert_eq!(submitted, "submitted search tuning: 6 trials of model\n");
    let search = task_file::read(&harvest.path("tasks.toml")).unwrap().search;
    let search = search.unwrap();
    let state = |harvest: &Harvest| harvest.status()["searches"][0]["state"].clone();
    harvest.wait("two trials", |harvest| {
        harvest.status()["searches"][0]["started"].as_u64() >= Some(2)
    });
    harvest.kill_daemon();
    harvest.serve();
    harvest.wait("the end of the search", |harvest| state(harvest) == "over");
    let (names, best) = expected(&search);
    let status = harvest.status();
    let tasks = status["tasks"].as_array().unwrap();
    let found: Vec<&str> = tasks
        .iter()
        .filter_map(|task| task["name"].as_str())
        .collect();
    assert_eq!(found, names, "{}", harvest.log());
    assert!(tasks.iter().all(|task| task["state"] == "finished"));
    let found = &status["searches"][0];
    assert_eq!(
        (&found["started"], &found["trials"]),
        (&Json::from(6), &Json::from(6))
    );
    assert_eq!(found["best"]["trial"], best, "{found}");
    let near = loss(&search, best, search.plan.max_resource);
    let found = found["best"]["loss"].as_f64().unwrap();
    assert!(
        (found - near).abs() <= 1e-9 * near.max(1e-9),
        "{found}, expected {near}"
    );
    // The best trial, which was promoted, has continued from the checkpoints of the lower rungs.
    let state = harvest
        .state()
        .join(format!("tasks/model/{best}/state.json"));
    let state: Json = serde_json::from_slice(&fs::read(state).unwrap()).unwrap();
    assert_eq!(state["epoch"], search.plan.max_resource as u64);
    assert!(
        harvest
            .text(&["status"])
            .contains("tuning (asha, over): 6 of 6 trials started")
    );
    let over = harvest.failure(&["cancel", "tuning"]);
    assert!(over.contains("already over"), "{over}");
    let recording = harvest.path("recording");
    let output = harvest.run(&["status", "--record", recording.to_str().unwrap()]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("all match the recording"), "{err}");
}

#[test]
fn a_cancelled_search_ends_its_trials() {
    let harvest = Harvest::start(2);
    let text = "[search]\nalgorithm = \"random\"\ntrials = 20\nmax_resource = 1\n[[task]]\nname = \"slow\"\n\
                min_nodes = 1\nmax_nodes = 1\nrescale_up = 0\nrescale_down = 0\nwork = 1\n\
                command = [\"sleep\", \"600\"]\n";
    harvest.submit_text(text);
    harvest.wait("two trials that run", |harvest| {
        let status = harvest.status();
        let running = status["tasks"].as_array().unwrap().iter();
        running.filter(|task| task["running"] == 1).count() == 2
    });
    assert_eq!(harvest.text(&["cancel", "slow"]), "cancelled slow\n");
    harvest.wait("the end of all runs", |harvest| {
        let status = harvest.status();
        let mut tasks = status["tasks"].as_array().unwrap().iter();
        tasks.all(|task| task["state"] == "cancelled" && task["running"] == 0)
    });
    let status = harvest.status();
    assert_eq!(status["searches"][0]["state"], "cancelled");
    // At most 10 tasks are waiting or active at a time, so the other 10 trials never started.
    assert_eq!(status["searches"][0]["started"], 10);
}
