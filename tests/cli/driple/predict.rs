//! Tests `gleaner driple predict`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use gleaner_driple::dataset::METRIC_NAMES;

use super::support::{change_model, command, gleaner, graphs, json, numbers, set_bias, trained};

fn predict(here: &Path, more: &str, code: i32) -> crate::runs::Run {
    gleaner(
        here,
        &format!("driple predict --model model.safetensors {more}"),
    )
    .expect(code)
}

#[test]
fn graphs_are_predicted_as_those_of_the_data_set() {
    let directory = trained();
    let here = directory.path();
    let test = json(&predict(here, "--data data.safetensors --part test --json", 0).out);
    let test = test.as_array().unwrap();
    assert_eq!(test.len(), 5);
    for row in test {
        let job = row["job"].as_str().unwrap();
        let run = predict(here, &format!("jobs/graphs/{job}.pbtxt --json"), 0);
        let alone = &json(&run.out)[0];
        assert_eq!(
            (&alone["job"], row.as_object().unwrap().len()),
            (&row["job"], 13)
        );
        for metric in METRIC_NAMES {
            let (told, wanted) = (
                alone[metric].as_f64().unwrap(),
                row[metric].as_f64().unwrap(),
            );
            // The network computes several graphs in a single matrix, so its rounding errors differ from those for one
            // graph.
            assert!(
                (told - wanted).abs() <= 1e-5 * wanted.abs(),
                "{told} {wanted}"
            );
        }
    }
    let run = predict(here, "jobs/graphs -o p.csv", 0).says(&["p.csv: 24 jobs"]);
    assert_eq!(run.out, "");
    let table = fs::read_to_string(here.join("p.csv")).unwrap();
    assert!(
        table.starts_with(
            "job,gpu_mem_util.idle,gpu_mem_util.active,gpu_mem_util.peak,gpu_util.idle"
        )
    );
    assert_eq!(table.lines().count(), 25);
    predict(here, "jobs/graphs -o p.parquet", 0);
    assert!(
        fs::read(here.join("p.parquet"))
            .unwrap()
            .starts_with(b"PAR1")
    );
    let run = predict(here, "--data data.safetensors", 0);
    assert!(
        run.out.starts_with("metric ") && run.out.contains("net_tx.peak"),
        "{}",
        run.out
    );
}

#[test]
fn faulty_graphs_and_wrong_usage_are_reported() {
    let directory = trained();
    let here = directory.path();
    fs::write(
        here.join("a.pbtxt"),
        "node {\n  name: \"a\"\n  name: 1\n  op: \"Add\"\n}\n",
    )
    .unwrap();
    fs::write(here.join("b.pb"), "no protobuf").unwrap();
    fs::write(here.join("c.txt"), "").unwrap();
    let run = predict(here, "a.pbtxt b.pb c.txt jobs/graphs", 3)
        .says(&["3 faults", "a.pbtxt: line 1: node 1"]);
    run.says(&[
        "b.pb: this is not a TensorFlow GraphDef",
        "c.txt: found an unknown extension",
    ]);
    predict(here, "none.pbtxt", 1).says(&["cannot read none.pbtxt"]);
    predict(here, "", 2);
    predict(here, "jobs/graphs --data data.safetensors", 2);
    predict(here, "jobs/graphs -o p.txt", 2).says(&[".csv or .parquet"]);
    predict(here, "jobs/graphs --groups 30", 2).says(&["graphs of 20 groups"]);
    predict(here, "jobs/graphs --frequencies f.csv", 2)
        .says(&["the model contains the frequencies"]);
    predict(here, "--data model.safetensors", 3)
        .says(&["found a trained model, expected a data set"]);
    // Operation types that do not occur in the training set are reported.
    let unseen = fs::read_to_string(&graphs(&here.join("jobs/graphs"))[0]).unwrap();
    fs::write(
        here.join("d.pbtxt"),
        unseen.replace("\"MatMul\"", "\"Quantum\""),
    )
    .unwrap();
    predict(here, "d.pbtxt", 0).says(&[
        "d: ",
        "types that were not in the training data of the model: Quantum",
    ]);
    let line = "driple predict --model data.safetensors jobs/graphs";
    gleaner(here, line)
        .expect(3)
        .says(&["found a data set, expected a trained model"]);
}

const FAULTY: &str = "node {\n  name: \"a\"\n  name: 1\n  op: \"Add\"\n}\n";

#[test]
fn graphs_of_a_directory_that_cannot_be_predicted_are_listed() {
    let directory = trained();
    let here = directory.path();
    let sound = predict(here, "jobs/graphs -o sound.csv", 0);
    assert_eq!(sound.err.lines().count(), 1, "{}", sound.err);
    let mixed = here.join("jobs/graphs");
    fs::write(mixed.join("a.pbtxt"), FAULTY).unwrap();
    fs::write(mixed.join("b.pb"), "no protobuf").unwrap();
    fs::write(mixed.join("c.onnx.gz"), b"\x1f\x8b\x08 cut").unwrap();
    fs::write(mixed.join("notes.txt"), "not looked at").unwrap();
    fs::create_dir(mixed.join("more.pbtxt")).unwrap();
    let run = predict(here, "jobs/graphs -o mixed.csv", 0).says(&[
        "left out: 3 of 27 graphs: 3 faults",
        "a.pbtxt: line 1: node 1",
        "b.pb: this is not a TensorFlow GraphDef",
        "c.onnx.gz",
        "mixed.csv: 24 jobs",
    ]);
    assert!(!run.err.contains("notes.txt"), "{}", run.err);
    let table = |name: &str| fs::read(here.join(name)).unwrap();
    assert_eq!(table("mixed.csv"), table("sound.csv"));
    let run = predict(here, "jobs/graphs --json", 0).says(&["3 of 27"]);
    assert_eq!(json(&run.out).as_array().unwrap().len(), 24);
    // A faulty graph that is named on the command line is an error.
    let run = predict(here, "jobs/graphs jobs/graphs/a.pbtxt -o none.csv", 3);
    run.says(&["a.pbtxt: line 1: node 1"]);
    // A directory without a valid graph is also an error.
    fs::create_dir(here.join("faulty")).unwrap();
    for name in ["a.pbtxt", "b.pbtxt"] {
        fs::write(here.join("faulty").join(name), FAULTY).unwrap();
    }
    predict(here, "faulty -o none.csv", 3).says(&["2 faults", "faulty/a.pbtxt", "faulty/b.pbtxt"]);
    assert!(!here.join("none.csv").exists());
}

#[test]
fn predictions_below_zero_are_zero_for_users() {
    let directory = trained();
    let here = directory.path();
    let run = predict(here, "--data data.safetensors --json", 0);
    assert!(!run.err.contains("below zero"), "{}", run.err);
    change_model(here, |inspector| set_bias(inspector, -100.0));
    let run = predict(here, "--data data.safetensors --json", 0);
    let run = run.says(&["60 of 60 predictions are negative and set to 0"]);
    for row in json(&run.out).as_array().unwrap() {
        for metric in METRIC_NAMES {
            assert_eq!(row[metric].as_f64(), Some(0.0), "{row}");
        }
    }
    let run = predict(here, "--data data.safetensors", 0);
    let cells: Vec<&str> = run
        .out
        .lines()
        .flat_map(|line| line.split_whitespace().last())
        .collect();
    assert_eq!(
        cells.iter().filter(|cell| **cell == "0").count(),
        60,
        "{}",
        run.out
    );
    // If all predictions are zero, the mean absolute error is the mean of the measured values.
    let line = "driple evaluate --model model.safetensors --data data.safetensors --json";
    let scores = json(&gleaner(here, line).expect(0).out);
    let relative = numbers(&scores["scores"][0]["relative"]);
    assert!(relative.iter().all(|share| (share - 1.0).abs() < 1e-12));
    // A model whose predictions are not finite must not be reported as a model that predicts zeros.
    change_model(here, |inspector| set_bias(inspector, f32::MAX));
    let scale = "--data data.safetensors";
    predict(here, scale, 0);
    change_model(here, |inspector| {
        inspector.card.scale.as_mut().unwrap().0.fill(f64::MAX);
    });
    predict(here, scale, 3).says(&["5 faults", "values that are not finite"]);
}

/// Inputs can be pipes, which can be read only once.
#[test]
fn models_graphs_and_data_come_from_pipes() {
    let directory = trained();
    let here = directory.path();
    let graph = fs::read_dir(here.join("jobs/graphs")).unwrap().next();
    let graph = graph.unwrap().unwrap().path();
    fs::copy(&graph, here.join("g.pbtxt")).unwrap();
    fs::create_dir(here.join("pipes")).unwrap();
    let piped = ["model.safetensors", "g.pbtxt", "data.safetensors"];
    let writers = piped.map(|name| {
        let (from, to) = (here.join(name), here.join("pipes").join(name));
        let made = Command::new("mkfifo").arg(&to).status().unwrap();
        assert!(made.success());
        thread::spawn(move || fs::copy(from, to).unwrap())
    });
    let wanted = predict(here, "g.pbtxt --json", 0).out;
    let line = "driple predict --model pipes/model.safetensors pipes/g.pbtxt --json";
    assert_eq!(gleaner(here, line).expect(0).out, wanted);
    let wanted = predict(here, "--data data.safetensors --json", 0).out;
    let run = predict(here, "--data pipes/data.safetensors --json", 0);
    assert_eq!(run.out, wanted);
    for writer in writers {
        writer.join().unwrap();
    }
    let line = "driple predict --model - g.pbtxt --json";
    let model = fs::File::open(here.join("model.safetensors")).unwrap();
    let output = command(here, line).stdin(model).output().unwrap();
    assert!(output.status.success());
    let nothing = command(here, line).stdin(Stdio::null()).output().unwrap();
    assert_eq!(nothing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("-: "));
}

#[test]
fn published_weights_need_units_grouping_and_frequencies() {
    let directory = trained();
    let here = directory.path();
    gleaner(
        here,
        "driple convert model.safetensors --weights -o w.safetensors",
    )
    .expect(0);
    let line = "driple predict --model w.safetensors jobs/graphs";
    gleaner(here, line)
        .expect(3)
        .says(&["gleaner driple convert"]);
    let line =
        "driple train --data data.safetensors --compat --hidden 8 --epochs 1 -q -o o.safetensors";
    gleaner(here, line).expect(0);
    gleaner(
        here,
        "driple convert o.safetensors --weights -o w.safetensors",
    )
    .expect(0);
    gleaner(here, "driple convert w.safetensors -o bare.safetensors")
        .expect(0)
        .says(&["shares of"]);
    let bare = "driple predict --model bare.safetensors jobs/graphs --json";
    gleaner(here, bare)
        .expect(2)
        .says(&["--frequencies FILE", "convert --scale-of DATA"]);
    fs::write(here.join("f.csv"), "MatMul,0.5\nConv2D,0.5\n").unwrap();
    let run = gleaner(here, &format!("{bare} --frequencies f.csv --groups 20")).expect(0);
    let run = run.says(&["does not contain the units"]);
    assert_eq!(json(&run.out).as_array().unwrap().len(), 24);
    gleaner(here, &format!("{bare} --frequencies f.csv --fewer-groups"))
        .expect(0)
        .says(&["100 groups"]);
    // The weights, together with the units, grouping and frequencies of the data set, restore the same model.
    let line = "driple convert w.safetensors --scale-of data.safetensors -o full.safetensors";
    gleaner(here, line).expect(0);
    let row = |model: &str| {
        let line = format!("driple predict --model {model} --data data.safetensors --json");
        let out = json(&gleaner(here, &line).expect(0).out);
        let values = out.as_array().unwrap().iter();
        values
            .flat_map(|row| row.as_object().unwrap().values().skip(1).flat_map(numbers))
            .collect()
    };
    let (a, b): (Vec<f64>, Vec<f64>) = (row("o.safetensors"), row("full.safetensors"));
    assert_eq!(a, b);
}
