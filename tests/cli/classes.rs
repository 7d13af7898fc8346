//! Tests the option `--classes`, which assigns nodes to classes, in replays, inspections, sweeps, ingest and generated
//! logs.

use std::fs;
use std::path::Path;

use crate::support::{dataset, gleaner, json, logs, samples};

const REPLAY: &str = "replay --events idle.csv --tasks tasks.toml --t-fwd 120";

/// A directory with the samples, including `classes.toml`, which contains the classes of the nodes.
fn samples_with_classes() -> tempfile::TempDir {
    let directory = samples();
    let sample = dataset().join("classes.toml");
    fs::copy(sample, directory.path().join("classes.toml")).unwrap();
    directory
}

/// The cells of the column `class` of a log, without empty cells.
fn class_column(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time,node,state,class"));
    let cells = lines.map(|line| line.rsplit(',').next().unwrap().to_owned());
    cells.filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn generated_classes_survive_conversions() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let classes = "--classes v100=3,a100=2 --days 1";
    gleaner(at, &format!("synth events {classes} -o a.csv")).expect(0);
    gleaner(at, "synth events --nodes 5 --days 1 -o plain.csv").expect(0);
    assert_eq!(
        class_column(&at.join("a.csv")),
        ["v100", "v100", "v100", "a100", "a100"]
    );
    // Classes survive conversions, and do not change the idle fragments.
    gleaner(at, "convert a.csv -o a.gev").expect(0);
    gleaner(at, "convert a.gev -o a.parquet").expect(0);
    gleaner(at, "convert a.parquet -o b.csv").expect(0);
    assert_eq!(
        fs::read(at.join("a.csv")).unwrap(),
        fs::read(at.join("b.csv")).unwrap()
    );
    let run = gleaner(at, "convert a.csv -o wide.csv --layout wide").expect(0);
    run.says(&["wide CSV cannot store the classes"]);
    gleaner(at, "convert wide.csv -o c.csv").expect(0);
    assert_eq!(
        fs::read(at.join("c.csv")).unwrap(),
        fs::read(at.join("plain.csv")).unwrap()
    );
    for wrong in ["v100", "v100=", "v100=0", "=3", "v100=3 --nodes 3"] {
        gleaner(at, &format!("synth events --classes {wrong} -o x.csv")).expect(2);
    }
}

#[test]
fn a_replay_reads_classes_and_lists_their_file() {
    let directory = samples_with_classes();
    let at = directory.path();
    let run = gleaner(at, &format!("{REPLAY} --classes classes.toml --out run")).expect(0);
    assert!(!run.err.contains("classes.toml"), "{}", run.err);
    let info = json(&at.join("run/run.json"));
    assert_eq!(info["arguments"]["classes"], "classes.toml");
    assert!(info["arguments"].get("class_feature").is_none());
    let inputs = info["inputs"].as_array().unwrap();
    assert!(inputs.iter().any(|input| input["path"] == "classes.toml"));
    gleaner(at, "check run").expect(0);
    gleaner(at, &format!("{REPLAY} --class-feature x")).expect(2);
    gleaner(at, &format!("{REPLAY} --classes none.toml")).expect(1);
    fs::write(at.join("few.csv"), "node,class\nn00,a\nother,b\n").unwrap();
    for command in [REPLAY, "inspect idle.csv"] {
        let run = gleaner(at, &format!("{command} --classes few.csv")).expect(3);
        run.says(&["few.csv: found no class for the log's node \"n01\" and 98 more nodes"]);
    }
    // Without `--classes`, run.json does not mention classes.
    gleaner(at, &format!("{REPLAY} --out plain")).expect(0);
    let info = json(&at.join("plain/run.json"));
    assert!(info["arguments"].get("classes").is_none());
}

#[test]
fn an_inspection_shows_each_class() {
    let directory = samples_with_classes();
    let at = directory.path();
    let run = gleaner(at, "inspect idle.csv --classes classes.toml").expect(0);
    assert!(
        run.out.lines().all(|line| line.chars().count() <= 110),
        "{}",
        run.out
    );
    for word in ["Idle node-time by class", "v100", "a100", "h100"] {
        assert!(run.out.contains(word), "{}", run.out);
    }
    let run = gleaner(at, "inspect idle.csv --classes classes.toml --json").expect(0);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let classes = found["classes"].as_array().unwrap();
    let nodes: Vec<_> = classes
        .iter()
        .map(|class| class["nodes"].as_u64())
        .collect();
    assert_eq!(nodes, [Some(60), Some(30), Some(10)]);
    let sum: f64 = classes
        .iter()
        .map(|class| class["idle_node_seconds"].as_f64().unwrap())
        .sum();
    assert!((sum / found["idle_node_seconds"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    gleaner(at, "inspect idle.csv --classes classes.toml -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("Idle node-time by class"));
    // There is no table by class if all selected nodes are in one class, or if the log has no classes.
    for line in ["idle.csv --classes classes.toml --nodes 20", "idle.csv"] {
        let run = gleaner(at, &format!("inspect {line}")).expect(0);
        assert!(!run.out.contains("by class"), "{}", run.out);
        let run = gleaner(at, &format!("inspect {line} --json")).expect(0);
        assert!(!run.out.contains("\"classes\""), "{}", run.out);
    }
}

#[test]
fn ingest_writes_classes_into_the_log() {
    let directory = logs();
    let at = directory.path();
    let text = "default = 'cpu'\n[[class]]\nname = 'a100'\npattern = '[13]$'\n";
    fs::write(at.join("classes.toml"), text).unwrap();
    let nodes: Vec<String> = (1..=5)
        .map(|node| format!("NodeName=n0{node} Gres=gpu:v{}:4", node % 2))
        .collect();
    fs::write(at.join("scontrol.txt"), nodes.join("\n")).unwrap();
    for (line, classes) in [
        (
            "slurm sacct.txt --nodes n[01-05] --classes scontrol.txt",
            "v1 v0 v1 v0 v1",
        ),
        (
            "slurm sacct.txt --nodes n[01-05] --classes classes.toml",
            "a100 cpu a100 cpu cpu",
        ),
        (
            "spot spot-named.csv --classes classes.toml",
            "a100 cpu a100 cpu",
        ),
        ("sinfo sinfo-polls.txt --classes classes.toml", ""),
        ("philly philly-jobs.json --classes classes.toml", ""),
    ] {
        let of = |name: &str| gleaner(at, &format!("ingest {line} -o {name}")).expect(0);
        of("x.gev");
        gleaner(at, "convert x.gev -o converted.csv").expect(0);
        let found = class_column(&at.join("converted.csv"));
        assert!(!found.is_empty(), "{line}");
        if !classes.is_empty() {
            assert_eq!(found.join(" "), classes, "{line}");
        }
    }
    let run = gleaner(
        at,
        "ingest slurm sacct.txt --jobs jobs.csv --classes classes.toml",
    )
    .expect(2);
    run.says(&["--classes apply only to an event log"]);
    fs::write(at.join("few.csv"), "node,class\nn01,a\n").unwrap();
    let run = gleaner(at, "ingest slurm sacct.txt --classes few.csv -o no.gev").expect(3);
    run.says(&["few.csv", "no class for the log's node"]);
    assert!(!at.join("no.gev").exists());
}

#[test]
fn a_plan_names_classes_beside_it() {
    let directory = samples();
    let at = directory.path();
    let plans = at.join("plans");
    fs::create_dir(&plans).unwrap();
    for name in ["idle.csv", "tasks.toml", "classes.toml"] {
        fs::copy(dataset().join(name), plans.join(name)).unwrap();
    }
    let plan = "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\nt_fwd = [60, 120]\nwindow = { nodes = 20 }\n";
    fs::write(
        plans.join("p.toml"),
        format!("{plan}classes = 'classes.toml'\n"),
    )
    .unwrap();
    gleaner(at, "sweep plans/p.toml --out swept").expect(0);
    let info = json(&at.join("swept/run.json"));
    let inputs = info["inputs"].as_array().unwrap();
    assert!(
        inputs
            .iter()
            .any(|input| input["path"] == "plans/classes.toml"),
        "{inputs:?}"
    );
    gleaner(at, "check swept").expect(0);
}
