//! Tests the option `--topology` in replays, comparisons and sweeps.

use std::fs;
use std::path::Path;

use crate::support::{dataset, gleaner, json, samples, stable_files};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml --t-fwd 120";

/// Writes a topology in which the nodes of the sample log alternate between two switches.
fn write_topology(directory: &Path) {
    let list = |start: usize| -> String {
        let names: Vec<String> = (start..100)
            .step_by(2)
            .map(|n| format!("n{n:02}"))
            .collect();
        names.join(",")
    };
    let text = format!(
        "# two switches\nSwitchName=top Switches=odd,even\nSwitchName=odd Nodes={}\n\
         SwitchName=even \\\n  Nodes={}\n",
        list(1),
        list(0)
    );
    fs::write(directory.join("net.conf"), text).unwrap();
}

#[test]
fn a_topology_takes_the_place_of_names() {
    let directory = samples();
    let at = directory.path();
    write_topology(at);
    let run = gleaner(at, &format!("{REPLAY} --topology net.conf --out net")).expect(0);
    assert!(!run.err.contains("net.conf"), "{}", run.err);
    gleaner(at, &format!("{REPLAY} --out names")).expect(0);
    assert_ne!(
        stable_files(&at.join("net")),
        stable_files(&at.join("names"))
    );
    let info = json(&at.join("net/run.json"));
    assert_eq!(info["arguments"]["topology"], "net.conf");
    assert_eq!(info["inputs"][2]["path"], "net.conf");
    gleaner(at, "check net").expect(0);

    // In the format that `scontrol` prints, the topology leads to the same results.
    let text = fs::read_to_string(at.join("net.conf")).unwrap();
    let printed = text
        .replace("\\\n", "")
        .replace("Nodes=", "Level=0 LinkSpeed=1 Nodes=")
        .replace("Switches=", "Level=1 LinkSpeed=1 Nodes=n[00-99] Switches=");
    fs::write(at.join("printed.txt"), printed).unwrap();
    gleaner(
        at,
        &format!("{REPLAY} --topology printed.txt --out printed"),
    )
    .expect(0);
    assert_eq!(
        stable_files(&at.join("net")),
        stable_files(&at.join("printed"))
    );

    let lone = "--node-choice learned --topology net.conf --json --quiet";
    gleaner(at, &format!("{REPLAY} {lone}")).expect(0);
}

#[test]
fn what_a_topology_leaves_open_is_said() {
    let directory = samples();
    let at = directory.path();
    fs::write(at.join("part.conf"), "BlockName=b Nodes=n[10-19],login1\n").unwrap();
    let run = gleaner(at, &format!("{REPLAY} --topology part.conf")).expect(0);
    run.says(&["90 of 100 nodes are not in part.conf: they are placed last, by name"]);

    // If the topology has no effect, its file is not even read.
    let run = gleaner(
        at,
        &format!("{REPLAY} --node-choice arrival --topology none.conf"),
    )
    .expect(0);
    run.says(&["--topology has no effect: the rule arrival uses no order of nodes"]);
    let run = gleaner(at, &format!("{REPLAY} --scripted x --topology part.conf")).expect(2);
    run.says(&["--topology"]);
}

#[test]
fn an_invalid_topology_exits_with_3_and_names_the_place() {
    let directory = samples();
    let at = directory.path();
    for (text, words) in [
        (
            "SwitchName=s0 Nodes=x[0-3]\n",
            "4 nodes such as x0, but no node of the log",
        ),
        ("SwitchName=s0 Nodes=n[0\n", "net.conf, line 1, Nodes"),
    ] {
        fs::write(at.join("net.conf"), text).unwrap();
        for command in [REPLAY, "compare --events idle.csv --tasks tasks.toml"] {
            let run = gleaner(at, &format!("{command} --topology net.conf")).expect(3);
            run.says(&[words, "expected"]);
        }
    }
    gleaner(at, &format!("{REPLAY} --topology none.conf")).expect(1);
}

/// The cells of a column of `sweep.csv`.
fn column(at: &Path, out: &str, name: &str) -> Vec<String> {
    let table = fs::read_to_string(at.join(out).join("sweep.csv")).unwrap();
    let mut rows = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let place = rows
        .next()
        .unwrap()
        .iter()
        .position(|c| *c == name)
        .unwrap();
    rows.map(|row| row[place].to_owned()).collect()
}

#[test]
fn a_plan_names_a_topology_beside_it() {
    let directory = samples();
    let at = directory.path();
    let plans = at.join("plans");
    fs::create_dir(&plans).unwrap();
    for name in ["idle.csv", "tasks.toml"] {
        fs::copy(dataset().join(name), plans.join(name)).unwrap();
    }
    write_topology(&plans);
    let plan = "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\nt_fwd = 120\n\
                node_choice = ['arrival', 'blocks']\n";
    fs::write(plans.join("names.toml"), plan).unwrap();
    fs::write(
        plans.join("net.toml"),
        format!("{plan}topology = 'net.conf'\n"),
    )
    .unwrap();
    for name in ["names", "net"] {
        gleaner(at, &format!("sweep plans/{name}.toml --out {name}")).expect(0);
    }
    let [names, net] = ["names", "net"].map(|out| column(at, out, "preemption_loss"));
    assert_eq!(names[0], net[0]);
    assert_ne!(names[1], net[1]);
    let single = format!("{REPLAY} --topology plans/net.conf --json --quiet");
    let single: serde_json::Value =
        serde_json::from_str(&gleaner(at, &single).expect(0).out).unwrap();
    assert_eq!(
        net[1].parse::<f64>().unwrap(),
        single["preemption_loss"].as_f64().unwrap()
    );

    // Results are stored under a digest of their inputs, so a changed topology leads to new runs.
    fs::write(plans.join("net.conf"), "BlockName=b Nodes=n[00-49]\n").unwrap();
    let run = gleaner(at, "sweep plans/net.toml --out net").expect(0);
    run.says(&["50 of 100 nodes are not in plans/net.conf"]);
    assert_ne!(net[1], column(at, "net", "preemption_loss")[1]);

    fs::write(
        plans.join("arrival.toml"),
        plan.replace(", 'blocks'", "") + "topology = 'none.conf'\n",
    )
    .unwrap();
    let run = gleaner(at, "sweep plans/arrival.toml --out arrival").expect(0);
    run.says(&["topology has no effect: the rule arrival uses no order of nodes"]);
    fs::write(plans.join("net.conf"), "BlockName=b Nodes=x\n").unwrap();
    let run = gleaner(at, "sweep plans/net.toml --out other").expect(3);
    run.says(&["1 node such as x, but no node of the log"]);
}
