//! Tests `gleaner synth graphs` and `gleaner driple build`.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::support::{BUILD, gleaner, graphs, jobs, json, read};

fn build(here: &Path, more: &str, code: i32) -> crate::runs::Run {
    gleaner(here, &format!("{BUILD} {more}")).expect(code)
}

#[test]
fn the_same_jobs_make_the_same_bytes() {
    let (first, second) = (jobs(), jobs());
    let (a, b) = (first.path(), second.path());
    for folder in ["jobs/graphs", "jobs/onnx"] {
        let (ours, theirs) = (graphs(&a.join(folder)), graphs(&b.join(folder)));
        assert_eq!(ours.len(), 24);
        for (one, other) in ours.iter().zip(&theirs) {
            assert_eq!(one.file_name(), other.file_name());
            assert_eq!(fs::read(one).unwrap(), fs::read(other).unwrap());
        }
    }
    build(a, "--threads 1 -o data.safetensors", 0);
    build(b, "--threads 3 -o data.safetensors", 0);
    let bytes = |here: &Path| fs::read(here.join("data.safetensors")).unwrap();
    assert_eq!(bytes(a), bytes(b));
    let again = gleaner(a, "synth graphs --count 2 -o jobs").expect(2);
    again.says(&["already contains graphs", "name another directory"]);
    gleaner(a, "synth graphs --setup Abacus -o other")
        .expect(2)
        .says(&["2080Ti", "TitanRTX"]);
}

// Of 24 jobs, 14 are used for training, 5 for validation and 5 for testing. Over the operations of the training set,
// the frequencies sum to 1.
#[test]
fn jobs_are_split_and_the_manifest_records_it() {
    let directory = jobs();
    let here = directory.path();
    let run = build(here, "-o data.safetensors --json", 0);
    let summary = json(&run.out);
    assert_eq!(
        (&summary["train"], &summary["val"]),
        (&14.into(), &5.into())
    );
    assert_eq!(summary["test"], 5);
    assert_eq!(summary["without_frequency"].as_object().unwrap().len(), 0);
    let (data, manifest) = read(here, "data.safetensors");
    let sizes: Vec<usize> = data.train.iter().map(Vec::len).collect();
    assert_eq!(sizes, [8, 6]);
    let frequencies = manifest.frequencies.unwrap();
    assert!((frequencies.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(manifest.grouping.unwrap().groups, 20);
    let groups = data
        .train
        .iter()
        .flatten()
        .map(|example| example.graph.len());
    assert!(groups.eq(std::iter::repeat_n(20, 14)));
    // The labels equal the values in the table.
    let example = &data.test[0][0];
    let table = fs::read_to_string(here.join("jobs/measured.csv")).unwrap();
    let rows = table
        .lines()
        .filter(|line| line.starts_with(&example.name.replace('_', ",")));
    let values = rows.flat_map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        [7, 8, 9].map(|at| cells[at].parse::<f32>().unwrap())
    });
    assert_eq!(values.collect::<Vec<_>>(), example.labels);
    // A data set has frequencies only for types of operations that occur in its training set, so a smaller training set
    // covers fewer types.
    let run = build(here, "-o few.safetensors --jobs 3 --json", 0);
    let summary = json(&run.out);
    assert_eq!(summary["train"], 1);
    assert_eq!(summary["left_out"].as_array().unwrap().len(), 21);
    assert!(!summary["without_frequency"].as_object().unwrap().is_empty());
}

#[test]
fn frequencies_can_be_given() {
    let directory = jobs();
    let here = directory.path();
    fs::write(here.join("f.csv"), "MatMul,0.25\n").unwrap();
    let run = build(here, "--frequencies f.csv -o data.safetensors", 0);
    assert!(run.out.contains("operations without a frequency: ") && run.out.contains("Conv2D "));
    let (data, _) = read(here, "data.safetensors");
    let features = data
        .train
        .iter()
        .flatten()
        .flat_map(|example| &example.graph.features);
    assert!(features.clone().all(|row| row[2] % 0.25 == 0.0));
    assert!(features.clone().any(|row| row[2] > 0.0));
    fs::write(here.join("f.csv"), "MatMul,2\n").unwrap();
    build(here, "--frequencies f.csv -o data.safetensors", 3).says(&["f.csv: line 1: \"2\""]);
}

#[test]
fn onnx_graph_defs_and_compressed_files_can_be_mixed() {
    let directory = jobs();
    let here = directory.path();
    let mixed = here.join("mixed");
    fs::create_dir(&mixed).unwrap();
    for (at, file) in graphs(&here.join("jobs/graphs")).iter().enumerate() {
        let name = file.file_name().unwrap().to_str().unwrap();
        let onnx = here.join("jobs/onnx").join(name.replace(".pbtxt", ".onnx"));
        match at % 3 {
            0 => drop(fs::copy(&onnx, mixed.join(onnx.file_name().unwrap())).unwrap()),
            1 => drop(fs::copy(file, mixed.join(name)).unwrap()),
            _ => {
                let packed = fs::File::create(mixed.join(format!("{name}.gz"))).unwrap();
                let mut out = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
                out.write_all(&fs::read(file).unwrap()).unwrap();
                out.finish().unwrap();
            }
        }
    }
    fs::write(mixed.join("notes.txt"), "no graph").unwrap();
    let line =
        "driple build --graphs mixed --measured jobs/measured.csv --groups 20 -o data.safetensors";
    gleaner(here, line).expect(0);
    let (data, manifest) = read(here, "data.safetensors");
    assert_eq!(data.train.iter().flatten().count(), 14);
    for ending in [".onnx", ".pbtxt", ".pbtxt.gz"] {
        assert_eq!(
            manifest
                .sources
                .iter()
                .filter(|s| s.file.ends_with(ending))
                .count(),
            8
        );
    }
    let both = "driple build --graphs jobs/graphs jobs/onnx --measured jobs/measured.csv -o d";
    gleaner(here, both).expect(3).says(&[
        "24 faults",
        "two graphs of job V100_",
        "remove or rename one of the graphs",
    ]);
}

#[test]
fn all_faulty_graphs_are_reported_and_can_be_left_out() {
    let directory = jobs();
    let here = directory.path();
    let files = graphs(&here.join("jobs/graphs"));
    fs::write(&files[3], "node {\n  name: \"a\"\n  op:\n}\n").unwrap();
    fs::write(&files[5], "node {\n  name: \"x\"\n  device: \"GPU\"\n}\n").unwrap();
    fs::write(
        &files[7],
        "node { name: \"x\" op: \"Add\" device: \"GPU\" }\n",
    )
    .unwrap();
    let names: Vec<&str> = [3, 5, 7]
        .map(|at| files[at].file_name().unwrap().to_str().unwrap())
        .to_vec();
    let run = build(here, "-o data.safetensors", 3);
    let run = run.says(&[
        "3 faults in the input",
        "line 4: expected a value",
        "cannot form 20 groups",
    ]);
    run.says(&names)
        .says(&["line 1: node 1 `x`: it has no `op`"]);
    assert!(!here.join("data.safetensors").exists());
    let run = build(here, "--skip-faulty --json -o data.safetensors", 0);
    let summary = json(&run.out);
    let left_out = summary["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 3);
    assert!(names.iter().all(|name| run.out.contains(name)));
    // The data set is the same as one that is built without the three faulty files.
    names
        .iter()
        .for_each(|name| fs::remove_file(here.join("jobs/graphs").join(name)).unwrap());
    build(here, "-o without.safetensors", 0);
    assert_eq!(
        read(here, "data.safetensors").0,
        read(here, "without.safetensors").0
    );
}

#[test]
fn jobs_without_measurements_are_named() {
    let directory = jobs();
    let here = directory.path();
    let table = fs::read_to_string(here.join("jobs/measured.csv")).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    // One job lacks the first of its four rows, and another job has no rows.
    let kept = [&rows[..1], &rows[2..5], &rows[9..]].concat().join("\n");
    fs::write(here.join("jobs/measured.csv"), kept).unwrap();
    fs::write(here.join("jobs/graphs/short_name.pbtxt"), "").unwrap();
    let run = build(here, "-o data.safetensors", 0);
    for words in [
        "3 jobs left out",
        "one row for each of",
        "no rows for this job",
        "has 2 fields",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    fs::write(here.join("jobs/measured.csv"), rows[0]).unwrap();
    build(here, "-o data.safetensors", 3)
        .says(&["measured.csv", "no measurements for the 25 jobs"]);
}

#[test]
fn wrong_usage_is_reported() {
    let directory = jobs();
    let here = directory.path();
    build(here, "--jobs 1 -o d", 3).says(&["none for training", "provide more graphs"]);
    build(here, "--batch 0 -o d", 2);
    gleaner(
        here,
        &format!("{BUILD} --drop-remainder -o d").replace("--batch 8", "--batch 32"),
    )
    .expect(3)
    .says(&["smaller batches"]);
    fs::create_dir(here.join("empty")).unwrap();
    let line = "driple build --graphs empty --measured jobs/measured.csv -o d";
    gleaner(here, line)
        .expect(3)
        .says(&["empty: found no graph"]);
    let line = "driple build --graphs jobs/graphs --measured none.csv -o d";
    gleaner(here, line)
        .expect(1)
        .says(&["cannot read none.csv"]);
    let line = "driple build --graphs none.pbtxt --measured jobs/measured.csv -o d";
    gleaner(here, line)
        .expect(3)
        .says(&["no measurements for the 1 jobs"]);
    fs::write(here.join("m.csv"), "GPU,Model\n").unwrap();
    let line = "driple build --graphs jobs/graphs --measured m.csv -o d";
    gleaner(here, line)
        .expect(3)
        .says(&["m.csv: line 1: missing columns"]);
    assert!(!here.join("d").exists());
}
