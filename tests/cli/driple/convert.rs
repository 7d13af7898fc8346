//! Tests `gleaner driple convert`.

use std::fs;

use gleaner_driple::inspector;
use gleaner_driple::model::{Convolution, Depth, weights};

use super::support::{gleaner, json, read, trained};

fn torch(name: &str) -> Vec<u8> {
    let folder = gleaner_testing::workspace().join("crates/driple/tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn models_and_weights_are_converted_into_each_other() {
    let directory = trained();
    let here = directory.path();
    let convert = |line: &str, code| gleaner(here, &format!("driple convert {line}")).expect(code);
    let line =
        "driple train --data data.safetensors --network gin --compat --hidden 8 --epochs 1 -q -o o";
    gleaner(here, line).expect(0);
    convert("o --weights -o w", 0).says(&["only the weights of the model"]);
    convert("w --depth 5 --scale-of data.safetensors -o again", 0);
    let model = |name: &str| inspector::read(&fs::read(here.join(name)).unwrap()).unwrap();
    let (old, new) = (model("o"), model("again"));
    assert_eq!(weights(&old.parameters), weights(&new.parameters));
    assert_eq!(new.card.architecture.convolution, Convolution::Gin);
    assert_eq!(new.card.architecture.depth, Depth::Fixed(5));
    assert_eq!(new.card.scale, old.card.scale);
    assert_eq!(new.card.frequencies, old.card.frequencies);
    convert("o -o x", 2).says(&["is already a model", "--weights"]);
    convert("o --depth half --scale-of data.safetensors -o x", 2).says(&["its own depth"]);
    convert("w --weights -o x", 2).says(&["already contains plain weights"]);
    convert("data.safetensors --weights -o x", 2).says(&["is a data set"]);
    convert("data.safetensors -o copy", 0);
    assert_eq!(read(here, "copy"), read(here, "data.safetensors"));
    convert("none -o x", 1).says(&["cannot read none"]);
    fs::write(
        here.join("text"),
        "not tensors at all, but long enough to look at",
    )
    .unwrap();
    convert("text -o x", 3).says(&["text: this is neither a safetensors file"]);
    assert!(!here.join("x").exists());
}

// The expected values come from the formulas in crates/driple/tests/fixtures/torch_fixtures.py.
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
        // A model can also be trained on PyTorch's own file, without a conversion.
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
