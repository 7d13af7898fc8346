//! Tests a daemon with nodes of two classes.

use std::fs;

use crate::replay_script;
use crate::support::Harvest;

/// The settings of a daemon for nodes of the classes slow and fast. `classes` states how nodes get their classes.
fn config(classes: &str) -> String {
    format!(
        "backend = \"local\"\nt_fwd = 20\nladder = [[60, 2]]\ngrace = 2\nlead = 2\nsilence = 4\nlease = 20\n\
         retry = 0.5\npoll = 0.5\nclasses = [\"slow\", \"fast\"]\n{classes}\n"
    )
}

/// The script of a task: `worker.sh STARTS WORK`. It counts to WORK, faster on nodes of the class `fast`, and appends
/// each start to the file STARTS.
const WORKER: &str = r#"#!/bin/sh
echo $GLEANER_TASK $GLEANER_NODES $GLEANER_CLASS >> "$1"
trap 'exit 143' TERM
step=10
[ "$GLEANER_CLASS" = fast ] && step=30
[ -e count ] && count=$(cat count) || count=0
while [ $count -lt $2 ]; do
    sleep 0.2 &
    wait $!
    count=$((count + step))
    echo $count > count.new && mv count.new count
    echo "gleaner-progress {\"done\": $count}"
done
"#;

/// A task for one node. When the worker starts, it appends the name and the class of its node to a log.
fn task(harvest: &Harvest, name: &str, work: u32, speed: &str) -> String {
    let (worker, starts) = (harvest.path("worker.sh"), harvest.path("starts.log"));
    fs::write(&worker, WORKER).unwrap();
    format!(
        "[[task]]\nname = \"{name}\"\nmin_nodes = 1\nmax_nodes = 1\nrescale_up = 1\nrescale_down = 1\nwork = {work}\n\
         speed = {speed}\ncommand = [\"sh\", {worker:?}, {starts:?}, \"{work}\"]\n"
    )
}

/// The node and the class for each start of a task.
fn starts(harvest: &Harvest, name: &str) -> Vec<(String, String)> {
    let log = fs::read_to_string(harvest.path("starts.log")).unwrap();
    let words = log.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let own = words.filter(|words| words[0] == name);
    own.map(|words| (words[1].to_owned(), words[2].to_owned()))
        .collect()
}

// `picky` can use only the fast node. Until it has finished, `able` runs on the slow node, because the two tasks
// together do more work than `able` alone on the fast node. Then `able` moves to the fast node.
#[test]
fn tasks_get_the_nodes_of_the_class_that_is_best_for_all() {
    let mut harvest =
        Harvest::with_config(|_| config("[local]\nnodes = 2\nclasses = [\"slow\", \"fast\"]"));
    let picky = task(&harvest, "picky", 900, "{ fast = 1000 }");
    let able = task(&harvest, "able", 2000, "{ fast = 1.3, slow = 1 }");
    harvest.submit_text(&(picky + &able));
    harvest.await_state("picky", "finished");
    // Pilots hold both nodes until all tasks have finished.
    harvest.wait("both nodes", |harvest| {
        let text = harvest.text(&["status"]);
        text.contains("slow: 1 held") && text.contains("fast: 1 held")
    });
    assert_eq!(harvest.status()["nodes"][0]["class"], "slow");
    harvest.await_state("able", "finished");
    let (slow, fast) = (("local1", "slow"), ("local2", "fast"));
    let pair = |(node, class): (&str, &str)| (node.to_owned(), class.to_owned());
    assert!(
        starts(&harvest, "picky")
            .iter()
            .all(|start| *start == pair(fast))
    );
    let able = starts(&harvest, "able");
    assert!(able.contains(&pair(slow)), "{able:?}");
    assert_eq!(able.last(), Some(&pair(fast)), "{}", harvest.log());
    let metrics = harvest.http("GET", "/metrics", "127.0.0.1");
    assert!(
        metrics.contains("gleaner_nodes_held{class=\"fast\"} "),
        "{metrics}"
    );
    let recording = harvest.path("recording");
    harvest.text(&["status", "--record", recording.to_str().unwrap()]);
    let log = gleaner_inputs::events::read(&recording.join("events.csv"));
    let log = log.unwrap().value;
    assert_eq!(log.classes().unwrap().sizes(), [1, 1]);
    let used = replay_script(&recording);
    assert!(0.0 < used && used <= log.idle_node_seconds(), "{used}");
    harvest.text(&["stop"]);
    assert!(harvest.await_end(), "{}", harvest.log());
}

#[test]
fn a_node_with_an_unknown_class_is_not_used() {
    let program = "class = [\"printf\", \"wrong\"]\n[local]\nnodes = 1";
    let mut harvest = Harvest::with_config(|_| config(program));
    let unknown = harvest.path("unknown.toml");
    fs::write(&unknown, task(&harvest, "a", 100, "{ other = 1 }")).unwrap();
    let refused = harvest.failure(&["submit", unknown.to_str().unwrap()]);
    assert!(
        refused.contains("expected at least one of the classes slow, fast"),
        "{refused}"
    );
    harvest.submit_text(&task(&harvest, "a", 100, "{ slow = 1 }"));
    let expected = "node local1 cannot be used, because its pilot reports the class \"wrong\", expected one of slow, fast";
    harvest.wait("a refused node", |harvest| harvest.log().contains(expected));
    assert!(harvest.status()["nodes"].as_array().unwrap().is_empty());
    harvest.text(&["stop", "--now"]);
    assert!(harvest.await_end(), "{}", harvest.log());
}
