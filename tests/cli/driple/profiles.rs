//! Tests `gleaner driple profiles`, and the graphs that `gleaner synth graphs --for` generates for a trace's workloads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gleaner_domain::Unobserved;
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::{Graph, METRICS};
use gleaner_driple::group::{self, Devices, Settings};
use gleaner_driple::inspector::{self, Card, Inspector};
use gleaner_driple::model::{Architecture, Convolution, Depth, Inputs, Network};
use gleaner_driple::read::{self, Format};
use gleaner_driple::train::Scale;
use tempfile::TempDir;

use crate::runs::gleaner;

/// A directory with a trace in `trace`, and graphs of its workloads in `workloads`.
fn cluster() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    gleaner(
        at,
        "synth jobs --vcs 2 --nodes 6 --days 2 --load 1.3 --seed 5 -o trace",
    )
    .expect(0);
    gleaner(at, "synth graphs --for trace --seed 2 -o workloads").expect(0);
    directory
}

type Row = BTreeMap<String, String>;

fn rows(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

fn graph(at: &Path, row: &Row) -> Graph {
    let bytes = fs::read(at.join("workloads").join(&row["graph"])).unwrap();
    read::graph(bytes, Format::GraphDefText).unwrap()
}

/// For each metric, the value that corresponds to a predicted share of 1.
const SCALE: [f64; METRICS] = [4.0, 2.0, 60.0, 1.0, 3.0, 90.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// A model with random weights. Its predictions are near half of `SCALE`.
fn model(at: &Path, change: impl Fn(&mut Card)) -> Inspector {
    let table = rows(&at.join("workloads/workloads.csv"));
    let graphs: Vec<Graph> = table.iter().take(6).map(|row| graph(at, row)).collect();
    let frequencies = Frequencies::of_graphs(&graphs, Devices::Gpu);
    let settings = Settings {
        groups: 20,
        ..Settings::default()
    };
    let grouped: Vec<_> = graphs
        .iter()
        .map(|graph| group::group(graph, &frequencies, &settings).unwrap().graph)
        .collect();
    let architecture = Architecture {
        hidden: 8,
        depth: Depth::Fixed(1),
        ..Architecture::new(Convolution::Gcn)
    };
    let (network, mut parameters) = Network::new::<f32>(architecture, 3);
    network.begin_at(&mut parameters, &[0.5; METRICS]);
    let mut card = Card {
        architecture,
        inputs: Inputs::standard(&grouped),
        scale: Some(Scale(SCALE)),
        grouping: Some(settings),
        frequencies: Some(frequencies),
        provenance: None,
    };
    change(&mut card);
    let inspector = Inspector {
        card,
        network,
        parameters,
    };
    fs::write(
        at.join("model.safetensors"),
        inspector::write(&inspector).unwrap(),
    )
    .unwrap();
    inspector
}

const PROFILES: &str = "driple profiles --model model.safetensors --jobs workloads/workloads.csv";

// A predicted profile contains averages: peak · active / (idle + active), computed from the model's predictions for the
// graph.
#[test]
fn profiles_are_averages_of_predictions() {
    let directory = cluster();
    let at = directory.path();
    let inspector = model(at, |_| ());
    gleaner(at, &format!("{PROFILES} -o predicted.csv")).expect(0);
    let predicted = rows(&at.join("predicted.csv"));
    assert_eq!(predicted.len(), 40);
    let card = &inspector.card;
    let (frequencies, settings) = (
        card.frequencies.as_ref().unwrap(),
        card.grouping.as_ref().unwrap(),
    );
    let mut different = 0;
    for row in rows(&at.join("workloads/workloads.csv")).iter().take(8) {
        let same = |found: &&Row| {
            ["model", "dataset", "batchsize", "amp"]
                .iter()
                .all(|name| found[*name] == row[*name])
        };
        let found = predicted.iter().find(same).unwrap();
        assert_eq!(
            [&found["speed"], &found["label"], &found["source"]],
            ["", "", "predicted"]
        );
        let grouped = group::group(&graph(at, row), frequencies, settings)
            .unwrap()
            .graph;
        let metrics = inspector.predict(&[&grouped], &Unobserved).unwrap()[0].unwrap();
        for (name, first) in [("gmem_util", 0), ("gpu_util", 3)] {
            let [idle, active] = [0, 1].map(|place: usize| metrics[first + place].max(0.0));
            let peak = metrics[first + 2].clamp(0.0, 100.0);
            let average = if idle + active > 0.0 {
                peak * active / (idle + active)
            } else {
                0.0
            };
            let told = number(found, name);
            assert!((told - average).abs() < 0.002, "{name}: {told}, {average}");
            different += usize::from((average - 50.0).abs() > 1e-3);
        }
        let elements: f64 = grouped
            .features
            .iter()
            .map(|group| f64::from(group[0]))
            .sum();
        let held = 2000.0 + elements / 2.0 * 4.0 / 1_048_576.0;
        assert!(
            (number(found, "gmem") - held.min(24_576.0)).abs() < 0.01,
            "{found:?}"
        );
    }
    assert!(different > 8);
}

#[test]
fn memory_can_be_that_of_the_peak_and_never_exceeds_a_gpus() {
    let directory = cluster();
    let at = directory.path();
    model(at, |_| ());
    let held = |more: &str| {
        let run = gleaner(at, &format!("{PROFILES} {more} -o predicted.parquet")).expect(0);
        gleaner(at, &format!("{PROFILES} {more} -o predicted.csv")).expect(0);
        let rows = rows(&at.join("predicted.csv"));
        let held: Vec<f64> = rows.iter().map(|row| number(row, "gmem")).collect();
        (held, run.err)
    };
    let (small, said) = held("--gpu-memory 2100");
    assert!(
        small.iter().all(|&held| held <= 2100.0) && small.contains(&2100.0),
        "{small:?}"
    );
    assert!(
        said.contains("were clipped to the possible range"),
        "{said}"
    );
    let (once, _) = held("--memory peak --gpu-memory 10000");
    let (twice, _) = held("--memory peak --gpu-memory 20000");
    for (once, twice) in once.iter().zip(&twice) {
        assert!((twice - 2.0 * once).abs() < 0.01, "{once}, {twice}");
    }
    assert!(once.iter().all(|&held| (0.0..10_000.0).contains(&held)));
    for wrong in ["0", "-1", "nan", "many"] {
        gleaner(at, &format!("{PROFILES} --gpu-memory={wrong} -o p.csv")).expect(2);
    }
}

#[test]
fn workloads_can_be_parsed_from_the_names_of_graphs() {
    let directory = cluster();
    let at = directory.path();
    model(at, |_| ());
    gleaner(at, &format!("{PROFILES} -o by-table.csv")).expect(0);
    let by_table = rows(&at.join("by-table.csv"));
    let table = rows(&at.join("workloads/workloads.csv"));
    let plain = table.iter().find(|row| row["amp"] == "0").unwrap();
    let mixed = table
        .iter()
        .find(|row| row["amp"] == "1" && row["model"] != plain["model"])
        .unwrap();
    fs::create_dir(at.join("few")).unwrap();
    let copy = |row: &Row, name: &str| {
        fs::copy(
            at.join("workloads").join(&row["graph"]),
            at.join("few").join(name),
        )
        .unwrap();
    };
    let name = |row: &Row, hyper: &str| {
        format!(
            "V100_{}_{}_Sync_{hyper}_w0.pbtxt",
            row["dataset"], row["model"]
        )
    };
    copy(
        plain,
        &name(plain, &format!("lr0.1-b{}", plain["batchsize"])),
    );
    copy(mixed, &name(mixed, &format!("{}-amp", mixed["batchsize"])));
    gleaner(
        at,
        "driple profiles --model model.safetensors --graphs few -o by-name.csv",
    )
    .expect(0);
    let by_name = rows(&at.join("by-name.csv"));
    assert_eq!(by_name.len(), 2);
    assert!(
        by_name.iter().all(|row| by_table.contains(row)),
        "{by_name:?}"
    );
    copy(plain, &name(plain, "sgd"));
    copy(plain, &name(plain, &format!("{}-adam", plain["batchsize"])));
    copy(plain, "plain.pbtxt");
    let run = gleaner(
        at,
        "driple profiles --model model.safetensors --graphs few -o p.csv",
    )
    .expect(3);
    run.says(&[
        "3 faults",
        "has no batch size",
        "which is also the workload of few/",
        "expected 6",
        "--jobs",
    ]);
}

#[test]
fn faults_name_the_file_and_a_remedy() {
    let directory = cluster();
    let at = directory.path();
    model(at, |card| card.scale = None);
    let run = gleaner(at, &format!("{PROFILES} -o p.csv")).expect(3);
    run.says(&[
        "model.safetensors",
        "the units of its predictions",
        "--scale-of",
    ]);
    model(at, |card| card.grouping = None);
    gleaner(at, &format!("{PROFILES} -o p.csv"))
        .expect(3)
        .says(&["the settings for grouping"]);
    model(at, |_| ());
    gleaner(at, &format!("{PROFILES} -o p.txt"))
        .expect(2)
        .says(&[".csv or .parquet"]);
    gleaner(at, "driple profiles --model model.safetensors -o p.csv").expect(2);
    let line =
        "driple profiles --model workloads/workloads.csv --jobs workloads/workloads.csv -o p.csv";
    gleaner(at, line).expect(3);
    fs::write(at.join("workloads/bad.pbtxt"), "node { name: \"a\" ").unwrap();
    fs::write(
        at.join("workloads/few.pbtxt"),
        "node { name: \"a\" op: \"Relu\" device: \"GPU\" }",
    )
    .unwrap();
    let table = "graph,model,dataset,batchsize,amp\nbad.pbtxt,A,d,1,0\nfew.pbtxt,B,d,1,0\n";
    fs::write(at.join("workloads/two.csv"), table).unwrap();
    let run = gleaner(
        at,
        &PROFILES
            .replace("workloads.csv", "two.csv")
            .replace("profiles", "profiles -o p.csv"),
    );
    run.expect(3)
        .says(&["2 faults", "workloads/bad.pbtxt", "workloads/few.pbtxt"]);
    assert!(!at.join("p.csv").exists());
}

#[test]
fn every_workload_of_a_trace_has_a_graph_that_is_about_as_busy() {
    let directory = cluster();
    let at = directory.path();
    let table = rows(&at.join("workloads/workloads.csv"));
    let measured = rows(&at.join("trace/single_data.csv"));
    assert_eq!(table.len(), 40);
    let mut figures = BTreeMap::new();
    for row in rows(&at.join("workloads/measured.csv")) {
        if row["Resource"] == "GPU util" {
            let [idle, active, peak] = ["avg Idle time", "avg Active time", "avg Peak consumption"]
                .map(|name| number(&row, name));
            figures.insert(row["Job Name"].clone(), peak * active / (idle + active));
        }
    }
    let mut close = 0;
    for row in &table {
        let same = |found: &&Row| {
            ["model", "dataset", "batchsize", "amp"]
                .iter()
                .all(|name| found[*name] == row[*name])
        };
        let wanted = number(measured.iter().find(same).unwrap(), "gpu_util");
        let job = row["graph"]
            .trim_end_matches(".pbtxt")
            .rsplit('_')
            .next()
            .unwrap();
        close += usize::from((figures[job] - wanted).abs() < 0.15 * wanted + 2.0);
    }
    assert!(close >= 26, "{close} of 40");
    // No graphs can be generated for a trace that does not state the workloads of its jobs.
    let jobs = at.join("trace/jobs.csv");
    let text = fs::read_to_string(&jobs).unwrap();
    let silent = |line: &str| line.split(',').take(9).collect::<Vec<_>>().join(",") + "\n";
    fs::write(&jobs, text.lines().map(silent).collect::<String>()).unwrap();
    let run = gleaner(at, "synth graphs --for trace -o none").expect(2);
    run.says(&["no job states its workload"]);
    gleaner(at, "synth graphs --for nowhere -o none").expect(1);
}

/// Reads the example of `workloads.csv` in dataset/README.md.
#[test]
fn the_documented_table_of_workloads_is_read() {
    let documented = gleaner_testing::workspace().join("dataset/README.md");
    let text = fs::read_to_string(documented).unwrap();
    let (_, block) = text.split_once("\n```csv workloads\n").unwrap();
    let (table, _) = block.split_once("```").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir(at.join("graphs")).unwrap();
    fs::write(at.join("workloads.csv"), table).unwrap();
    for name in ["glyphnet.pbtxt", "pixelvae.pbtxt.gz"] {
        fs::write(at.join("graphs").join(name), "").unwrap();
    }
    let graphs = gleaner_inputs::jobs::graphs::read(&at.join("workloads.csv"))
        .unwrap()
        .value;
    let models: Vec<&str> = graphs
        .keys()
        .map(|workload| workload.model.as_str())
        .collect();
    assert_eq!(models, ["GlyphNet", "PixelVAE"]);
    assert!(
        graphs
            .values()
            .all(|file| file.starts_with(at.join("graphs")))
    );
}

/// Runs all commands from sample graphs to a simulation.
#[test]
fn a_simulation_runs_on_what_a_trained_model_predicts() {
    let directory = cluster();
    let at = directory.path();
    for line in [
        "synth graphs --count 20 --seed 1 -o jobs",
        "driple build --graphs jobs/graphs --measured jobs/measured.csv --groups 30 -o data.safetensors",
        "driple train --data data.safetensors --depth 1 --epochs 40 -o model.safetensors",
        &format!("{PROFILES} -o predicted.csv"),
        "train packing --data trace --out models",
        "predict models/packing.json --profiles predicted.csv -o scored.csv",
        "simulate --data trace --policy lucid --profiler off --check --csv --out measured",
        "simulate --data trace --policy lucid --profiler off --check --csv --profiles scored.csv --out predicted",
    ] {
        gleaner(at, line).expect(0);
    }
    let table = |out: &str| fs::read_to_string(at.join(out).join("lucid_jobs.csv")).unwrap();
    assert_ne!(table("measured"), table("predicted"));
    let info = fs::read_to_string(at.join("predicted/run.json")).unwrap();
    assert!(
        info.contains("scored.csv") && !info.contains("models/packing.json"),
        "{info}"
    );
    let scores = |name: &str| -> Vec<String> {
        let mut rows = rows(&at.join(name));
        let key =
            |row: &Row| ["model", "dataset", "batchsize", "amp"].map(|name| row[name].clone());
        rows.sort_by_key(key);
        rows.iter().map(|row| row["label"].clone()).collect()
    };
    let (measured, predicted) = (scores("trace/single_data.csv"), scores("scored.csv"));
    let equal = measured
        .iter()
        .zip(&predicted)
        .filter(|(a, b)| a == b)
        .count();
    // There are three possible scores, so about a third of the 40 predicted scores would be right by chance.
    assert!((18..40).contains(&equal), "{equal} of 40: {predicted:?}");
}
