//! Tests pickles that are damaged, or that were crafted to run code or to exhaust memory.

use gleaner_pickle::{Body, Pickle, PickleError, Problem, Value, decode, opcode};
use proptest::prelude::*;

const OBJECTS: [&[u8]; 2] = [
    include_bytes!("../fixtures/objects-p2.pkl"),
    include_bytes!("../fixtures/objects-p4.pkl"),
];

/// Decodes a pickle that may use names from the modules `shapes` and `collections`.
fn read(bytes: &[u8]) -> Result<Pickle<'_, ()>, PickleError> {
    decode(bytes, &[], |module, _| {
        matches!(module, "shapes" | "collections").then_some(())
    })
}

/// The problem reported for a pickle with these instructions.
fn problem(instructions: &[u8]) -> Problem {
    read(&[b"\x80\x04", instructions].concat())
        .unwrap_err()
        .problem
}

#[test]
fn names_outside_the_list_are_refused() {
    let error = read(b"\x80\x02]cposix\nsystem\n.").unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 3: posix.system is not among the names accepted here; nothing was executed"
    );
    let of_stack = problem(b"\x8c\x08builtins\x8c\x04eval\x93.");
    assert!(matches!(of_stack, Problem::Global { name, .. } if name == "eval"));
    let long = [
        b"X\xe8\x03\0\0",
        vec![b'a'; 1000].as_slice(),
        b"\x8c\x02a\x07\x93.",
    ]
    .concat();
    let Problem::Global { module, name } = problem(&long) else {
        panic!("another problem");
    };
    assert_eq!((module.len(), name.as_str()), (83, "a\\u{7}"));
}

#[test]
fn instructions_can_be_refused() {
    let bytes = b"\x80\x02]Q.";
    assert!(read(bytes).is_ok());
    let error = decode(bytes, &[opcode::BINPERSID], |_, _| Some(())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 3: instruction 0x51 (BINPERSID) is not accepted; nothing was executed"
    );
}

#[test]
fn instructions_that_are_not_decoded_are_named() {
    for (code, expected) in [
        (b'0', "POP"),
        (b'2', "DUP"),
        (b'i', "INST"),
        (b'o', "OBJ"),
        (b'I', "INT"),
        (b'P', "PERSID"),
        (0x82, "EXT1"),
        (0x8b, "LONG4"),
        (0x8f, "EMPTY_SET"),
        (0x92, "NEWOBJ_EX"),
        (0x97, "NEXT_BUFFER"),
        (0xff, "unknown"),
    ] {
        let expected = Problem::Instruction {
            code,
            name: expected,
        };
        assert_eq!(problem(&[code, b'.']), expected);
    }
}

#[test]
fn other_protocols_and_other_files_are_refused() {
    for bytes in [b"".as_slice(), b"(dp0\n.", b"\x1f\x8b\x08", b"time,a,b\n"] {
        let problem = read(bytes).unwrap_err().problem;
        assert!(matches!(problem, Problem::NotAPickle { .. }), "{problem}");
    }
    for protocol in [0, 1, 6, 255] {
        let error = read(&[0x80, protocol, b'N', b'.']).unwrap_err();
        assert_eq!(error.problem, Problem::Protocol(protocol));
    }
}

#[test]
fn a_broken_stack_is_refused() {
    let broken: [(&[u8], &str, &str); 25] = [
        (b".", "STOP", "an operand"),
        (b"NN.", "STOP", "a single value on the stack"),
        (b"(N.", "STOP", "a single value on the stack"),
        (b"t.", "TUPLE", "an open mark"),
        (b"\x85.", "TUPLE1", "more operands"),
        (b"N(\x85.", "TUPLE1", "more operands"),
        (b"a.", "APPEND", "an operand"),
        (b"]a.", "APPEND", "an operand"),
        (b"NNa.", "APPEND", "a list"),
        (b"}K\x01a.", "APPEND", "a list"),
        (b"N(e.", "APPENDS", "a list"),
        (b"]K\x01s.", "SETITEM", "an operand"),
        (b"NNNs.", "SETITEM", "a dict or object"),
        (b"](K\x01K\x01u.", "SETITEMS", "a dict or object"),
        (b"}(Nu.", "SETITEMS", "a value for each key"),
        (b"h\x07.", "BINGET", "a memoized value"),
        (b"\x94.", "MEMOIZE", "an operand"),
        (b"Nq\x05.", "BINPUT", "consecutive memo numbers"),
        (b"N)R.", "REDUCE", "a class or function"),
        (b"cshapes\nPoint\n)R)\x81.", "NEWOBJ", "a class or function"),
        (b"cshapes\nPoint\nNR.", "REDUCE", "a tuple of arguments"),
        (b"NN\x93.", "STACK_GLOBAL", "two texts"),
        (b"]Nb.", "BUILD", "an object"),
        (b"cshapes\nPoint\n)RNbNb.", "BUILD", "a new object"),
        (b"\x8c\x01\xff.", "SHORT_BINUNICODE", "text in UTF-8"),
    ];
    for (instructions, in_instruction, needed) in broken {
        match problem(instructions) {
            Problem::Malformed {
                instruction,
                expected,
                ..
            } => assert_eq!((instruction, expected), (in_instruction, needed)),
            other => panic!("{in_instruction}: {other}"),
        }
    }
}

#[test]
fn messages_name_offset_instruction_expected_and_found() {
    let error = read(b"\x80\x02]](K\x01K\x02u.").unwrap_err().to_string();
    let expected = "byte 9: instruction SETITEMS needs a dict or object, found a list of 0";
    assert_eq!(error, expected);
    let error = read(b"\x80\x02]X\xff\xff\xff\xffabc.").unwrap_err();
    let expected =
        "byte 3: instruction BINUNICODE needs 4294967295 more bytes, but only 4 are left";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn stated_lengths_are_checked_against_the_file() {
    let lengths: [&[u8]; 8] = [
        b"X\xff\xff\xff\xff",
        b"B\xff\xff\xff\xff",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x96\x00\x00\x00\x00\x00\x00\x00\x80",
        b"\x95\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x8a\xff",
        b"cnumpy",
    ];
    for instructions in lengths {
        let problem = problem(instructions);
        assert!(matches!(problem, Problem::Truncated { .. }), "{problem}");
    }
    let long_name = [b"c", vec![b'a'; 1000].as_slice()].concat();
    assert!(problem(&long_name).to_string().contains("a shorter name"));
    // The instruction stores a value under the memo number 4,294,967,295, but no memo of that size may be allocated.
    assert!(problem(b"Nr\xff\xff\xff\xff.").to_string().contains("memo"));
}

#[test]
fn every_prefix_is_an_error() {
    for bytes in OBJECTS {
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "first {end} bytes");
        }
    }
}

#[test]
fn too_many_values_are_refused() {
    const MANY: usize = 1 << 24;
    for (start, repeated, end) in [("(", b'N', "t."), ("", b'(', "."), ("", b']', ".")] {
        let many = [start.as_bytes(), &vec![repeated; MANY], end.as_bytes()].concat();
        assert!(matches!(problem(&many), Problem::Limit { .. }));
    }
    let memo = [b"N", vec![0x94; MANY].as_slice()].concat();
    assert!(matches!(problem(&memo), Problem::Limit { .. }));
}

#[test]
fn deep_nesting_does_not_recurse() {
    let depth = 500_000;
    let lists = [vec![b']'; depth], vec![b'a'; depth - 1], vec![b'.']].concat();
    let bytes = [b"\x80\x04", lists.as_slice()].concat();
    let pickle = read(&bytes).unwrap();
    assert_eq!(pickle.nodes.len(), depth);
    assert_eq!(pickle.describe(pickle.root), "a list of 1");
    let tuples = [b"\x80\x04)", vec![0x85; depth].as_slice(), b"."].concat();
    assert_eq!(read(&tuples).unwrap().nodes.len(), depth + 1);
}

/// Checks the properties on which readers of a graph rely. All node numbers are valid. The members of a tuple come
/// before the tuple, and the parts of a call come before the call.
fn check(pickle: &Pickle<'_, ()>) {
    let number = |value: Value<'_, ()>| match value {
        Value::Node(number) => number as usize,
        _ => 0,
    };
    let count = pickle.nodes.len();
    assert!(number(pickle.root) < count.max(1));
    for (own, node) in pickle.nodes.iter().enumerate() {
        match &node.body {
            Body::Tuple(items) => assert!(items.iter().all(|&item| number(item) < own.max(1))),
            Body::List(items) => assert!(items.iter().all(|&item| number(item) < count)),
            Body::Dict(entries) => {
                let all = entries
                    .iter()
                    .all(|&(key, value)| number(key) < count && number(value) < count);
                assert!(all);
            }
            Body::Call(call) => {
                assert!(matches!(pickle.body(call.args), Some(Body::Tuple(_))));
                assert!(number(call.args) < own && number(call.callee) < own);
            }
            Body::Persistent(id) => assert!(number(*id) < own.max(1)),
        }
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2_000))]

    #[test]
    fn damaged_files_do_not_panic(
        which in 0..OBJECTS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = OBJECTS[which].to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(pickle) = read(&bytes) {
            check(&pickle);
        }
    }

    #[test]
    fn any_instructions_give_a_sound_graph(
        codes in prop::collection::vec(prop::sample::select(
            b"N\x88KMJGXU()t\x85\x86\x87]ae}subhqR\x81\x93Q\x94\x00\x01\x02".to_vec()), 0..60),
    ) {
        let bytes = [b"\x80\x04(cshapes\nPoint\n", codes.as_slice(), b"t."].concat();
        if let Ok(pickle) = read(&bytes) {
            check(&pickle);
        }
    }
}
