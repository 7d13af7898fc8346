//! Tests that data sets can be written to safetensors files and read back, and that invalid files
//! are rejected.

use gleaner_driple::dataset::file::{LeftOut, Manifest, Source, read, write};
use gleaner_driple::dataset::{Dataset, DatasetError, Example, split};
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::group;
use proptest::prelude::*;
use safetensors::tensor::{Dtype, TensorView};

fn example(name: &str, nodes: u32) -> Example {
    let edges = (1..nodes).map(|b| (b / 2, b)).filter(|(a, b)| a < b);
    Example {
        name: name.to_owned(),
        graph: GroupedGraph {
            features: (0..nodes).map(|n| [n as f32 * 1e9, 1.5, -0.25]).collect(),
            edges: {
                let mut edges: Vec<_> = edges.collect();
                edges.sort_unstable();
                edges
            },
        },
        labels: std::array::from_fn(|label| label as f32 + nodes as f32),
    }
}

fn mixed() -> Dataset {
    Dataset {
        train: vec![
            vec![example("a", 3), example("b", 3)],
            vec![
                example("c", 5),
                example("d", 5),
                example("e", 2),
                example("f", 5),
            ],
        ],
        val: Vec::new(),
        test: vec![vec![example("g", 1)]],
    }
}

fn manifest() -> Manifest {
    Manifest {
        grouping: Some(group::Settings::default()),
        split: Some(split::Settings::default()),
        frequencies: Some(Frequencies::from_csv(b"Add,0.016373439\nMul,0.1").unwrap()),
        measurements: Some("perf.csv".to_owned()),
        sources: vec![Source {
            job: "a".to_owned(),
            file: "a.pbtxt".to_owned(),
            report: group::Report {
                nodes: 7,
                without_frequency: [("Odd".to_owned(), 2)].into(),
                ..group::Report::default()
            },
        }],
        left_out: vec![LeftOut {
            job: "z".to_owned(),
            reason: "no rows".to_owned(),
        }],
    }
}

#[test]
fn a_data_set_is_read_as_it_was_written() {
    let bytes = write(&mixed(), &manifest()).unwrap();
    assert_eq!(read(&bytes).unwrap(), (mixed(), manifest()));
}

#[test]
fn only_batches_of_unequal_graphs_are_written_in_runs() {
    let bytes = write(&mixed(), &manifest()).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names();
    names.retain(|name| name.ends_with("adj"));
    names.sort_unstable();
    let expected = [
        "test.0.adj",
        "train.0.adj",
        "train.1.0.adj",
        "train.1.1.adj",
        "train.1.2.adj",
    ];
    assert_eq!(names, expected);
    assert_eq!(file.tensor("train.1.0.adj").unwrap().shape(), [2, 5, 5]);
}

// The parts of the reference file have 240, 80 and 80 graphs in batches of 32. The last batch of
// each part has 16 graphs.
#[test]
fn the_reference_data_set_is_read_and_written_again() {
    let Some(bytes) = crate::support::reference("synth_dataset.safetensors") else {
        return;
    };
    let (data, manifest) = read(&bytes).unwrap();
    assert_eq!(manifest, Manifest::default());
    let sizes = |batches: &[Vec<Example>]| batches.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(&data.train), [32, 32, 32, 32, 32, 32, 32, 16]);
    assert_eq!(sizes(&data.val), [32, 32, 16]);
    assert_eq!(sizes(&data.test), [32, 32, 16]);
    assert!(
        data.train[7]
            .iter()
            .all(|example| example.graph.len() == 40)
    );
    let again = write(&data, &manifest).unwrap();
    let old = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let new = safetensors::SafeTensors::deserialize(&again).unwrap();
    assert_eq!(old.len(), new.len());
    for (name, tensor) in old.tensors() {
        assert_eq!(new.tensor(&name).unwrap(), tensor, "{name}");
    }
}

/// A file of one batch, which tests modify.
struct File {
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
    manifest: Option<String>,
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

impl File {
    fn new() -> Self {
        let mut file = File {
            tensors: Vec::new(),
            manifest: None,
        };
        file.add("train.0.adj", Dtype::U8, &[1, 2, 2], vec![0, 1, 1, 0]);
        file.add("train.0.x", Dtype::F32, &[1, 2, 3], floats(&[1.0; 6]));
        file.add("train.0.y", Dtype::F32, &[1, 12], floats(&[2.0; 12]));
        file
    }

    fn add(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) {
        self.tensors.retain(|tensor| tensor.0 != name);
        self.tensors
            .push((name.to_owned(), dtype, shape.to_vec(), bytes));
    }

    fn read(&self) -> Result<(Dataset, Manifest), DatasetError> {
        let views = self.tensors.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes).unwrap();
            (name, view)
        });
        let metadata = self.manifest.clone();
        let metadata = metadata.map(|text| [("gleaner".to_owned(), text)].into_iter().collect());
        read(&safetensors::serialize(views, metadata).unwrap())
    }

    fn fault(&self) -> String {
        self.read().unwrap_err().to_string()
    }
}

#[test]
fn adjacencies_may_be_floats() {
    let mut file = File::new();
    let bytes = floats(&[0.0, 1.0, 1.0, 0.0]);
    file.add("train.0.adj", Dtype::F32, &[1, 2, 2], bytes);
    let (data, _) = file.read().unwrap();
    assert_eq!(data.train[0][0].graph.edges, [(0, 1)]);
    assert_eq!(data, File::new().read().unwrap().0);
}

#[test]
fn tensors_of_other_types_shapes_and_names_are_refused() {
    let mut file = File::new();
    file.add("train.0.x", Dtype::F64, &[1, 2, 3], vec![0; 48]);
    assert!(
        file.fault()
            .starts_with("tensor \"train.0.x\" is of type F64, expected F32")
    );
    file.add("train.0.x", Dtype::F32, &[1, 3, 2], vec![0; 24]);
    assert!(
        file.fault()
            .starts_with("batch train.0: the features have the shape [1, 3, 2]")
    );
    file = File::new();
    file.add("extra", Dtype::U8, &[1], vec![0]);
    assert!(file.fault().starts_with("tensor \"extra\" is not part"));
    file = File::new();
    file.add("train.0.0.y", Dtype::F32, &[1, 12], vec![0; 48]);
    assert!(
        file.fault()
            .contains("\"train.0.0.y\" and \"train.0.y\" denote the same")
    );
}

#[test]
fn missing_tensors_and_batches_are_named() {
    let mut file = File::new();
    file.tensors.pop();
    assert!(file.fault().starts_with("tensor \"train.0.y\" is missing"));
    file = File::new();
    file.add("val.1.adj", Dtype::U8, &[1, 1, 1], vec![0]);
    assert!(file.fault().starts_with("tensor \"val.0.adj\" is missing"));
    file = File::new();
    file.add("train.0.2.adj", Dtype::U8, &[1, 1, 1], vec![0]);
    assert!(
        file.fault()
            .starts_with("tensor \"train.0.1.adj\" is missing")
    );
    file.tensors.clear();
    assert!(file.fault().starts_with("there are no batches"));
    let last = format!("train.{}.adj", usize::MAX);
    file.add(&last, Dtype::U8, &[1, 1, 1], vec![0]);
    assert!(
        file.fault()
            .starts_with("tensor \"train.0.adj\" is missing")
    );
}

#[test]
fn the_maximum_must_match_the_labels() {
    let mut file = File::new();
    file.add("y_train_max", Dtype::F32, &[12], floats(&[2.0; 12]));
    assert!(file.read().is_ok());
    file.add("y_train_max", Dtype::F32, &[12], floats(&[3.0; 12]));
    assert!(
        file.fault()
            .starts_with("y_train_max[0] is 3, but the largest")
    );
    file.add("y_train_max", Dtype::F32, &[3], floats(&[2.0; 3]));
    assert!(file.fault().contains("shape [3], expected [12]"));
}

#[test]
fn the_manifest_must_match_the_data() {
    let data = File::new().read().unwrap().0;
    let bytes = write(&data, &Manifest::default()).unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let good = header.metadata().as_ref().unwrap()["gleaner"].clone();
    let with = |from: &str, to: &str| {
        let mut file = File::new();
        assert!(good.contains(from), "{good}");
        file.manifest = Some(good.replace(from, to));
        file
    };
    assert!(with("\"train\"", "\"train\"").read().is_ok());
    assert!(
        with("\"version\":1", "\"version\":2")
            .fault()
            .contains("version 2, but the latest supported version is 1")
    );
    assert!(
        with("\"train\":1", "\"train\":2")
            .fault()
            .contains("train has [1] graphs")
    );
    assert!(
        with("[[\"\"]]", "[[]]")
            .fault()
            .contains("train does not have exactly one job for each")
    );
    assert!(
        with("gpu_util.idle", "x")
            .fault()
            .contains("the labels are")
    );
    assert!(
        with("\"frequencies\":null", "\"frequencies\":{\"Add\":7}")
            .fault()
            .contains("Add is 7")
    );
    assert!(with("{", "").fault().contains("is invalid"));
}

#[test]
fn invalid_data_are_not_written() {
    let fault = |change: fn(&mut Dataset)| {
        let mut data = mixed();
        change(&mut data);
        write(&data, &manifest()).unwrap_err().to_string()
    };
    assert_eq!(
        fault(|data| data.train[1][2].graph.edges.push((1, 2))),
        "train, batch 1, graph 2: an edge does not lead from a node to a later node"
    );
    assert!(
        fault(|data| data.train[0][0].graph.edges.push((0, 1))).contains("not in ascending order")
    );
    assert!(fault(|data| data.test[0][0].labels[3] = f32::NAN).contains("a label is not finite"));
    assert!(fault(|data| data.test[0][0].graph.features[0][0] = f32::INFINITY).contains("feature"));
    assert!(fault(|data| data.test[0][0].graph = GroupedGraph::default()).contains("no nodes"));
    assert!(fault(|data| data.test[0].clear()).contains("batch 0 of test has no graphs"));
    assert!(fault(|data| *data = Dataset::default()).contains("no batches"));
}

#[test]
fn files_cut_short_are_refused() {
    let bytes = write(&mixed(), &manifest()).unwrap();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length} bytes");
    }
}

fn batches() -> impl Strategy<Value = Vec<Vec<Example>>> {
    let example = (1usize..6, "[a-z\"é]{0,4}").prop_flat_map(|(nodes, name)| {
        let features = prop::collection::vec(prop::array::uniform3(-1e30f32..1e30), nodes);
        let edges = prop::collection::btree_set((0..nodes as u32, 0..nodes as u32), 0..8);
        (
            Just(name),
            features,
            edges,
            prop::array::uniform12(-1e3f32..1e3),
        )
    });
    let example = example.prop_map(|(name, features, edges, labels)| Example {
        name,
        graph: GroupedGraph {
            features,
            edges: edges.into_iter().filter(|(a, b)| a < b).collect(),
        },
        labels,
    });
    prop::collection::vec(prop::collection::vec(example, 1..5), 0..3)
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn all_data_are_read_as_they_were_written(
        first in batches(), val in batches(), test in batches(),
    ) {
        let mut train = first;
        train.push(vec![example("one", 2)]);
        let data = Dataset { train, val, test };
        let bytes = write(&data, &manifest()).unwrap();
        prop_assert_eq!(read(&bytes).unwrap(), (data, manifest()));
    }

    #[test]
    fn damaged_files_do_not_panic(at: prop::sample::Index, byte: u8) {
        let mut bytes = write(&mixed(), &manifest()).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}
