//! Tests that files written by `torch.save` are read, and that damaged or dangerous files are
//! rejected.

use std::io::{Cursor, Read, Write};

use gleaner_driple::dataset::Example;
use gleaner_driple::torch::{Tensor, TorchError, Values, dataset, tensors};
use proptest::prelude::*;

const DATA: [&[u8]; 2] = [
    include_bytes!("../fixtures/torch_data_zip.bin"),
    include_bytes!("../fixtures/torch_data_legacy.bin"),
];
const STATE: [&[u8]; 2] = [
    include_bytes!("../fixtures/torch_state_zip.bin"),
    include_bytes!("../fixtures/torch_state_legacy.bin"),
];

/// An example of the fixtures: a path of `nodes` nodes. Features and labels are ascending
/// sequences.
fn example(graph: usize, nodes: usize, base: f32) -> Example {
    let feature = |node, at| base + ((graph * nodes + node) * 3 + at) as f32;
    let mut example = Example {
        name: String::new(),
        graph: gleaner_driple::graph::GroupedGraph::default(),
        labels: std::array::from_fn(|label| -base + (graph * 12 + label) as f32 / 4.0),
    };
    let features = (0..nodes).map(|node| std::array::from_fn(|at| feature(node, at)));
    example.graph.features = features.collect();
    example.graph.edges = (1..nodes as u32).map(|node| (node - 1, node)).collect();
    example
}

// The values follow the formulas in fixtures/torch_fixtures.py.
#[test]
fn published_data_sets_are_read_in_both_forms() {
    for bytes in DATA {
        let data = dataset(bytes).unwrap();
        let first = vec![example(0, 3, 0.5), example(1, 3, 0.5)];
        assert_eq!(data.train, [first, vec![example(0, 2, 8.0)]]);
        assert_eq!(data.val, [[example(0, 3, 16.0)]]);
        assert!(data.test.is_empty());
    }
}

// The values follow the formulas in fixtures/torch_fixtures.py. Batch normalisation starts with the
// values 1, 0, 0, 1 and 0.
#[test]
fn weights_are_read_in_both_forms() {
    let of = |shape: &[usize], values| Tensor {
        shape: shape.to_vec(),
        values,
    };
    let bits = || of(&[2], Values::I64(vec![0, 1]));
    let turned = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11].map(|value| value as f32);
    let expected = [
        ("state_dict.weight", of(&[2], Values::F64(vec![1.0; 2]))),
        ("state_dict.bias", of(&[2], Values::F64(vec![0.0; 2]))),
        (
            "state_dict.running_mean",
            of(&[2], Values::F64(vec![0.0; 2])),
        ),
        (
            "state_dict.running_var",
            of(&[2], Values::F64(vec![1.0; 2])),
        ),
        (
            "state_dict.num_batches_tracked",
            of(&[], Values::I64(vec![0])),
        ),
        (
            "state_dict.turned",
            of(&[4, 3], Values::F32(turned.to_vec())),
        ),
        (
            "state_dict.row",
            of(&[4], Values::F32(vec![4.0, 5.0, 6.0, 7.0])),
        ),
        ("state_dict.half", of(&[2], Values::F32(vec![1.5, -0.25]))),
        ("state_dict.brain", of(&[2], Values::F32(vec![1.5, -3.0]))),
        ("state_dict.bool", bits()),
        ("state_dict.uint8", bits()),
        ("state_dict.int8", bits()),
        ("state_dict.int16", bits()),
        ("state_dict.int32", bits()),
        ("state_dict.parameter", of(&[], Values::F32(vec![2.5]))),
        ("state_dict.none", of(&[0, 3], Values::F32(vec![]))),
        ("7.0", of(&[1], Values::F32(vec![1.0]))),
    ];
    for bytes in STATE {
        let found = tensors(bytes).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(&expected) {
            assert_eq!((found.0.as_str(), &found.1), (expected.0, &expected.1));
        }
    }
}

#[test]
fn data_sets_and_weights_are_distinguished() {
    let fault = |bytes| dataset(bytes).unwrap_err().to_string();
    assert!(
        fault(STATE[0]).starts_with("the saved object is a dict, expected a tuple of adjacencies")
    );
    assert_eq!(tensors(DATA[1]).unwrap().len(), 9);
    assert!(fault(b"\x93NUMPY").starts_with("this is not a file written by torch.save"));
    assert!(fault(b"").contains("with []"));
}

#[test]
fn files_cut_short_are_refused_at_every_byte() {
    for bytes in DATA.into_iter().chain(STATE) {
        for length in 0..bytes.len() {
            assert!(tensors(&bytes[..length]).is_err(), "{length} bytes");
            assert!(dataset(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}

/// A legacy file that holds `pickle` but no values.
fn legacy(pickle: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.".to_vec();
    bytes.extend(b"\x80\x02}X\x0d\x00\x00\x00little_endian\x88s.");
    bytes.extend(pickle);
    bytes.extend(b"\x80\x02].");
    bytes
}

fn refused(pickle: &[u8]) -> String {
    let bytes = legacy(pickle);
    assert!(dataset(&bytes).is_err());
    tensors(&bytes).unwrap_err().to_string()
}

#[test]
fn files_that_would_run_code_are_refused() {
    let system = b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.";
    let error = refused(system);
    assert!(error.starts_with("the saved object, byte 2: os.system is not among the names"));
    assert!(refused(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.").contains("builtins.eval is not"));
    assert!(refused(b"\x80\x02ctorch\nload\n.").contains("torch.load is not"));
    assert!(refused(b"\x80\x02ctorch\nsystem\x07\n.").contains("torch.system\\u{7} is not"));
    // The opcodes INST, OBJ, NEWOBJ and NEWOBJ_EX, extension codes, and bytes objects are always
    // rejected.
    let codes = [b'i', b'o', 0x81, 0x92, 0x82, b'P', b'l', b'd', b'0', b'I'];
    for code in codes.into_iter().chain(*b"BC\x8e\x96") {
        let error = refused(&[0x80, 2, b'(', code, b'o', b's', b'\n', b'.']);
        let expected = format!("the saved object, byte 3: instruction 0x{code:02x} (");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains("is not accepted; nothing was executed; save only tensors"));
    }
}

#[test]
fn calls_other_than_to_make_tensors_are_refused() {
    let error = refused(b"\x80\x02ctorch\nFloatStorage\nK\x05\x85R.");
    assert!(error.contains("a call's target is not a function"));
    let error = refused(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nK\x05\x85R.");
    assert!(error.contains("a tensor has too few parts"));
    let error = refused(b"\x80\x02ccollections\nOrderedDict\nK\x05\x85R.");
    assert!(error.contains("a call's target is not a function"));
    let error = refused(b"\x80\x02ccollections\nOrderedDict\n)R]b.");
    assert!(error.starts_with("the file is a dict without tensors"));
    assert!(refused(b"\x80\x02]]b.").contains("instruction BUILD needs an object, found a list"));
}

#[test]
fn broken_pickles_are_refused() {
    let problem = |pickle: &[u8]| refused(pickle);
    assert_eq!(
        problem(b"\x80\x02]](K\x01K\x01u."),
        "the saved object, byte 9: instruction SETITEMS needs a dict or object, found a list of 0; \
         the file is truncated or damaged: copy or save it again"
    );
    assert!(problem(b"\x80\x02X\xff\xff\xff\xffabc.").contains("4294967295 more bytes"));
    assert!(problem(b"\x80\x01N.").contains("protocol 1"));
    assert!(problem(b"N.").contains("not a pickle of protocol 2 to 5"));
    assert!(problem(b"\x80\x02\x8a\x09aaaaaaaaa.").contains("more than 64 bits"));
    assert!(problem(b"\x80\x02U\x01\xff.").contains("not UTF-8"));
    assert!(problem(b"\x80\x02(K\x01tQ.").contains("does not refer to a storage"));
}

/// The instructions that push an empty tensor.
fn tensor() -> Vec<u8> {
    let storage = b"(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x00tQ".as_slice();
    let call = [b"ctorch._utils\n_rebuild_tensor_v2\n(", storage];
    [call.concat().as_slice(), b"K\x00K\x00\x85K\x01\x85\x89]tR"].concat()
}

#[test]
fn tensors_have_no_attributes_and_parameters_do_not_nest() {
    let with = |end: &[u8]| refused(&[b"\x80\x02", tensor().as_slice(), end].concat());
    assert!(with(b"}b.").contains("a tensor has attributes or entries"));
    assert!(with(b"NNs.").contains("a tensor has attributes or entries"));
    let parameter = b"ctorch._utils\n_rebuild_parameter\n";
    let parameter_of = |inner: &[u8]| [parameter, inner, b"\x89]\x87R"].concat();
    // Nested parameters are rejected, so that reading them does not recurse.
    let twice = parameter_of(&parameter_of(&tensor()));
    let twice = [b"\x80\x02", twice.as_slice(), b"."].concat();
    assert!(refused(&twice).contains("a parameter has no tensor"));
    // An object that cannot be read is rejected even if nothing refers to it.
    let unused = b"\x80\x02ccollections\nOrderedDict\n)R]cos\nsystem\n";
    assert!(refused(&[unused.as_slice(), b")Rab."].concat()).contains("os.system"));
    let unused = b"\x80\x02ccollections\nOrderedDict\n)R]ctorch\nFloatStorage\n)Rab.";
    assert!(refused(unused).contains("a call's target is not a function"));
}

// In the first file, a dict contains itself. In the second file, each of forty lists contains the previous list twice.
#[test]
fn objects_that_refer_to_themselves_or_multiply_are_refused() {
    assert!(matches!(
        tensors(&legacy(b"\x80\x02}q\x00X\x00\x00\x00\x00h\x00s.")),
        Err(TorchError::Large { .. })
    ));
    let mut doubled = b"\x80\x02(]q\x00".to_vec();
    for level in 1..=40 {
        doubled.extend([
            b']',
            b'q',
            level,
            b'(',
            b'h',
            level - 1,
            b'h',
            level - 1,
            b'e',
        ]);
    }
    doubled.extend(b"t.");
    assert!(matches!(
        tensors(&legacy(&doubled)),
        Err(TorchError::Large { .. })
    ));
}

/// Replaces the bytes `from` in a fixture with the bytes `to`, which must have the same length.
fn changed(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from);
    let mut bytes = bytes.to_vec();
    bytes[at.unwrap()..][..from.len()].copy_from_slice(to);
    bytes
}

#[test]
fn tensors_beyond_their_storage_are_refused() {
    // The start of a tensor's arguments: offset 0 and shape (2, 3, 3).
    let shape = b"QK\x00K\x02K\x03K\x03\x87";
    for to in [b"QK\x01K\x02K\x03K\x03\x87", b"QK\x00K\x03K\x03K\x03\x87"] {
        let error = dataset(&changed(DATA[1], shape, to))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("adjacency of batch train 0: it reaches beyond"),
            "{error}"
        );
    }
    let strided = changed(DATA[1], b"K\x09K\x03K\x01\x87", b"K\x09K\x09K\x09\x87");
    assert!(
        dataset(&strided)
            .unwrap_err()
            .to_string()
            .contains("reaches beyond its storage")
    );
    let fewer = changed(DATA[1], shape, b"QK\x00K\x02K\x03K\x01\x87");
    let error = dataset(&fewer).unwrap_err().to_string();
    assert!(
        error.starts_with("batch train 0: the adjacencies have the shape [2, 3, 1]"),
        "{error}"
    );
}

#[test]
fn values_that_do_not_fit_their_storage_are_refused() {
    let other = changed(DATA[1], b"torch\nFloatStorage", b"torch\nHalfStorage\n");
    assert!(dataset(&other).is_err());
    let zip = changed(
        DATA[0],
        b"torch\nFloatStorage\nq",
        b"torch\nShortStorage\nq",
    );
    let error = dataset(&zip).unwrap_err().to_string();
    assert!(
        error.contains("Invalid checksum") || error.contains("hecksum"),
        "{error}"
    );
}

/// The data fixture in zip format, with some of its files changed. `change` receives a file's name
/// and bytes. If it returns `None`, the file is removed.
fn rewritten(change: impl Fn(&str, Vec<u8>) -> Option<(String, Vec<u8>)>) -> Vec<u8> {
    let mut old = zip::ZipArchive::new(Cursor::new(DATA[0])).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let options = options.compression_method(zip::CompressionMethod::Stored);
    for index in 0..old.len() {
        let mut file = old.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        if let Some((name, bytes)) = change(&name, bytes) {
            new.start_file(name, options).unwrap();
            new.write_all(&bytes).unwrap();
        }
    }
    new.finish().unwrap().into_inner()
}

#[test]
fn archives_may_have_any_folder_and_lack_the_byteorder_file() {
    let renamed = rewritten(|name, bytes| {
        let name = name.replace("torch_data_zip", "archive");
        (!name.ends_with("byteorder")).then_some((name, bytes))
    });
    assert_eq!(dataset(&renamed), dataset(DATA[0]));
}

#[test]
fn archives_that_are_not_as_torch_saves_them_are_refused() {
    let fault = |bytes: Vec<u8>| dataset(&bytes).unwrap_err().to_string();
    let order = rewritten(|name, bytes| {
        let big = name.ends_with("byteorder").then(|| b"big".to_vec());
        Some((name.to_owned(), big.unwrap_or(bytes)))
    });
    assert!(fault(order).contains("its values are stored in big-endian order"));
    let lacking = |name: &str, bytes| (!name.ends_with("data/3")).then(|| (name.to_owned(), bytes));
    assert!(fault(rewritten(lacking)).contains("torch_data_zip/data/3: specified file not found"));
    let values = rewritten(|name, mut bytes| {
        bytes.resize(bytes.len() + 4 * usize::from(name.ends_with("data/0")), 0);
        Some((name.to_owned(), bytes))
    });
    assert!(fault(values).contains("storage \"0\": found 76 bytes, expected 72"));
    let unnamed = rewritten(|name, bytes| Some((name.replace("data.pkl", "data"), bytes)));
    assert!(fault(unnamed).contains("it has 0 folders that contain data.pkl"));
    // Changes the compression method to 8 (deflate), in the first local header and in the first
    // entry of the zip directory.
    let mut compressed = DATA[0].to_vec();
    let headers = [b"PK\x03\x04", b"PK\x01\x02"].map(|start| {
        let mut starts = compressed.windows(4);
        starts.position(|window| window == start).unwrap()
    });
    compressed[headers[0] + 8] = 8;
    compressed[headers[1] + 10] = 8;
    let error = fault(compressed);
    assert!(
        error.starts_with("the zip archive was not written by torch.save: torch_data_zip/data.pkl")
    );
    assert!(error.contains("ompress"), "{error}");
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2000))]

    #[test]
    fn damaged_files_do_not_panic(
        which in 0usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = [DATA[0], DATA[1], STATE[0], STATE[1]][which].to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = (dataset(&bytes), tensors(&bytes));
    }

    #[test]
    fn random_pickles_do_not_panic(
        codes in prop::collection::vec(prop::sample::select(
            b"N\x88\x89KMJGXU()t\x85\x86\x87]ae}subhqjrR\x93Q\x94\x00\x01\x02".to_vec()), 0..60),
    ) {
        let mut pickle = b"\x80\x02".to_vec();
        pickle.extend(codes);
        pickle.push(b'.');
        let _ = (dataset(&legacy(&pickle)), tensors(&legacy(&pickle)));
    }
}
