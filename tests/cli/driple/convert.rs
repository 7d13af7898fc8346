//! `gleaner driple convert`.

use std::fs;
use std::io::{Cursor, Read, Write};

use gleaner_driple::dataset::file::{self, Manifest};
use gleaner_driple::dataset::{Dataset, Example};
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::inspector;
use gleaner_driple::model::{Convolution, Depth, weights};
use serde_json::Value;

use super::support::{gleaner, json, numbers, read, trained};
use gleaner_testing::shared;

fn torch(name: &str) -> Vec<u8> {
    let folder = gleaner_testing::workspace().join("crates/driple/tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

fn graph(drawn: &Value) -> GroupedGraph {
    let nodes = drawn["n"].as_u64().unwrap() as usize;
    let adjacency = numbers(&drawn["adj"]);
    let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    let edges = pairs.filter(|(a, b)| adjacency[a * nodes + b] != 0.0);
    let features = numbers(&drawn["x"]);
    let rows = features.as_chunks::<3>().0.iter();
    GroupedGraph {
        features: rows.map(|row| row.map(|value| value as f32)).collect(),
        edges: edges.map(|(a, b)| (a as u32, b as u32)).collect(),
    }
}

// Golden values: outputs of the published weights, computed by the original's code in double
// precision.
#[test]
fn published_weights_predict_as_the_original() {
    let names = ["pretrained_gcn.safetensors", "gcn_forward.json"];
    let [Some(published), Some(forward)] = names.map(|name| shared(&format!("driple/{name}")))
    else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let line = format!("driple convert {} -o gcn.safetensors", published.display());
    gleaner(here, &line)
        .expect(0)
        .says(&["shares of each metric's highest value", "a trained model"]);
    let forward = json(&fs::read_to_string(forward).unwrap());
    let example = |drawn: &Value| Example {
        name: drawn["id"].to_string(),
        graph: graph(drawn),
        labels: [1.0; 12],
    };
    let data = Dataset {
        test: vec![
            forward["graphs"]
                .as_array()
                .unwrap()
                .iter()
                .map(example)
                .collect(),
        ],
        ..Dataset::default()
    };
    fs::write(
        here.join("data"),
        file::write(&data, &Manifest::default()).unwrap(),
    )
    .unwrap();
    let run = gleaner(
        here,
        "driple predict --model gcn.safetensors --data data --json",
    )
    .expect(0);
    let rows = json(&run.out);
    let outputs = forward["outputs"].as_array().unwrap();
    assert_eq!(rows.as_array().unwrap().len(), outputs.len());
    for (row, output) in rows.as_array().unwrap().iter().zip(outputs) {
        assert_eq!(row["job"], output["id"].to_string());
        let lost = output["max_abs_f32_minus_f64"].as_f64().unwrap();
        let told = row.as_object().unwrap().values().skip(1).flat_map(numbers);
        for (told, wanted) in told.zip(numbers(&output["out_f64"])) {
            let allowed = 1e-4 * wanted.abs() + 4.0 * lost;
            assert!(
                (told - wanted).abs() <= allowed,
                "graph {}: {told} {wanted}",
                row["job"]
            );
        }
    }
}

#[test]
fn models_and_weights_are_converted_into_each_other() {
    let directory = trained();
    let here = directory.path();
    let convert = |line: &str, code| gleaner(here, &format!("driple convert {line}")).expect(code);
    let line =
        "driple train --data data.safetensors --network gin --compat --hidden 8 --epochs 1 -q -o o";
    gleaner(here, line).expect(0);
    convert("o --weights -o w", 0).says(&["the weights of the model alone"]);
    convert("w --depth 5 --scale-of data.safetensors -o again", 0);
    let model = |name: &str| inspector::read(&fs::read(here.join(name)).unwrap()).unwrap();
    let (old, new) = (model("o"), model("again"));
    assert_eq!(weights(&old.parameters), weights(&new.parameters));
    assert_eq!(new.card.architecture.convolution, Convolution::Gin);
    assert_eq!(new.card.architecture.depth, Depth::Fixed(5));
    assert_eq!(new.card.scale, old.card.scale);
    assert_eq!(new.card.frequencies, old.card.frequencies);
    convert("o -o x", 2).says(&["is a model already", "--weights"]);
    convert("o --depth half --scale-of data.safetensors -o x", 2).says(&["its own depth"]);
    convert("w --weights -o x", 2).says(&["plain weights already"]);
    convert("data.safetensors --weights -o x", 2).says(&["is a data set"]);
    convert("data.safetensors -o copy", 0);
    assert_eq!(read(here, "copy"), read(here, "data.safetensors"));
    convert("none -o x", 1).says(&["cannot read none"]);
    assert!(!here.join("x").exists());
}

// The expected values are those of the formulas in crates/driple/tests/fixtures/torch_fixtures.py.
#[test]
fn data_sets_of_torch_are_converted() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    for name in ["torch_data_zip.bin", "torch_data_legacy.bin"] {
        fs::write(here.join("d.pkl"), torch(name)).unwrap();
        gleaner(here, "driple convert d.pkl -o d.safetensors")
            .expect(0)
            .says(&["a data set"]);
        let (data, _) = read(here, "d.safetensors");
        assert_eq!(data.train[0][1].graph.edges, [(0, 1), (1, 2)]);
        assert_eq!(data.train[0][1].labels[0], 2.5);
        assert_eq!(
            (data.train.len(), data.val.len(), data.test.len()),
            (2, 1, 0)
        );
        // They can also be used for training as they are.
        let line = "driple train --data d.pkl --hidden 8 --depth 2 --epochs 1 -q -o m";
        gleaner(here, line).expect(0);
        let run = gleaner(
            here,
            "driple predict --model m --data d.pkl --part train --json",
        )
        .expect(0);
        assert_eq!(json(&run.out)[2]["job"], "train.1.0");
        gleaner(here, "driple predict --model m --data d.pkl")
            .expect(3)
            .says(&["no jobs in this part"]);
    }
    for name in ["torch_state_zip.bin", "torch_state_legacy.bin"] {
        fs::write(here.join("s.pth"), torch(name)).unwrap();
        let run = gleaner(here, "driple convert s.pth -o x").expect(3);
        run.says(&["s.pth: no graph convolution has these weights"]);
    }
    assert!(!here.join("x").exists());
}

#[test]
fn nothing_in_a_file_is_executed() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    // A valid data file whose pickle is replaced by a malicious one.
    let evil = b"\x80\x02cposix\nsystem\nX\x0c\x00\x00\x00touch hacked\x85R.";
    let mut good = zip::ZipArchive::new(Cursor::new(torch("torch_data_zip.bin"))).unwrap();
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..good.len() {
        let mut file = good.by_index(at).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let name = file.name().unwrap().into_owned();
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        out.start_file(&name, stored).unwrap();
        out.write_all(if name.ends_with("data.pkl") {
            evil
        } else {
            &bytes
        })
        .unwrap();
    }
    fs::write(here.join("evil.pkl"), out.finish().unwrap().into_inner()).unwrap();
    for line in [
        "convert evil.pkl -o x",
        "train --data evil.pkl -o x",
        "predict --model evil.pkl a.pbtxt",
    ] {
        let run = gleaner(here, &format!("driple {line}")).expect(3);
        run.says(&["evil.pkl: ", "posix", "nothing was executed"]);
    }
    assert!(!here.join("hacked").exists() && !here.join("x").exists());
    fs::write(
        here.join("text"),
        "not tensors at all, but long enough to look at",
    )
    .unwrap();
    gleaner(here, "driple convert text -o x")
        .expect(3)
        .says(&["text: this is neither a safetensors file"]);
}
