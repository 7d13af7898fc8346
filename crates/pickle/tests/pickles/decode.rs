//! Decodes files written by Python; see fixtures/generate.py.

use gleaner_pickle::{Body, Budget, Call, Value, decode};

type Pickle<'a> = gleaner_pickle::Pickle<'a, &'static str>;
type Data<'a> = Value<'a, &'static str>;

/// The same object in protocols 2 to 5.
const OBJECTS: [&[u8]; 4] = [
    include_bytes!("../fixtures/objects-p2.pkl"),
    include_bytes!("../fixtures/objects-p3.pkl"),
    include_bytes!("../fixtures/objects-p4.pkl"),
    include_bytes!("../fixtures/objects-p5.pkl"),
];

fn global(module: &str, name: &str) -> Option<&'static str> {
    Some(match (module, name) {
        ("shapes", "Point") => "Point",
        ("shapes", "Circle") => "Circle",
        ("collections", "OrderedDict") => "OrderedDict",
        _ => return None,
    })
}

fn read(bytes: &[u8]) -> Pickle<'_> {
    decode(bytes, &[], global).unwrap()
}

/// The value in the format of Python's `repr`. `inside` lists the containers that contain the
/// value.
fn repr<'a>(pickle: &Pickle<'a>, value: Data<'a>, inside: &[Data<'a>]) -> String {
    let inside = &[inside, &[value]].concat();
    let shown = |values: &[Data<'a>]| {
        let shown: Vec<String> = values.iter().map(|&v| repr(pickle, v, inside)).collect();
        shown.join(", ")
    };
    match value {
        Value::Int(value) => value.to_string(),
        Value::Long(bytes) => {
            let mut wide = [0; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            i128::from_le_bytes(wide).to_string()
        }
        Value::Float(value) => format!("{value:?}"),
        Value::Text(text) => format!("'{text}'"),
        Value::Node(_) if inside[..inside.len() - 1].contains(&value) => "[...]".to_owned(),
        Value::Node(_) => match pickle.body(value).unwrap() {
            Body::Tuple(items) if items.len() == 1 => format!("({},)", shown(items)),
            Body::Tuple(items) => format!("({})", shown(items)),
            Body::List(items) => format!("[{}]", shown(items)),
            Body::Dict(entries) => {
                let entries = entries.iter().map(|&(key, value)| {
                    let [key, value] = [key, value].map(|v| repr(pickle, v, inside));
                    format!("{key}: {value}")
                });
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            other => panic!("{other:?}"),
        },
        plain => pickle.describe(plain),
    }
}

fn call<'p, 'a>(pickle: &'p Pickle<'a>, value: Data<'a>) -> &'p Call<'a, &'static str> {
    match pickle.body(value).unwrap() {
        Body::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn plain_values_and_containers_are_as_python_shows_them() {
    let ints = "[0, 255, 256, 65535, 65536, -1, 2147483648, -9223372036854775808, \
                9223372036854775807, 9223372036854775808]";
    let expected = format!(
        "{{'none': None, 'truth': [True, False], 'float': [1.5, -0.25], 'ints': {ints}, \
         'texts': ['', '\u{fc}\u{4e2d}', '{}'], \
         'tuples': [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], \
         'containers': [[], {{}}, [[]], {{1: {{2: 3}}}}], -1: 'a number as a key', \
         'own': [[...]]}}",
        "long".repeat(100)
    );
    for bytes in OBJECTS {
        let pickle = read(bytes);
        let plain = pickle.items(pickle.root).unwrap()[0];
        assert_eq!(repr(&pickle, plain, &[]), expected);
        assert_eq!(pickle.length, bytes.len());
    }
}

#[test]
fn calls_are_recorded_and_shared_objects_stay_shared() {
    for bytes in OBJECTS {
        let pickle = read(bytes);
        let &[_, point, circle, ordered, outside, shared] = pickle.items(pickle.root).unwrap()
        else {
            panic!("{pickle:?}");
        };
        assert_eq!(repr(&pickle, shared, &[]), "['shared']");

        let point = call(&pickle, point);
        assert_eq!(point.callee, Value::Global("Point"));
        assert_eq!(pickle.items(point.args).unwrap(), [Value::Int(1), shared]);
        assert_eq!(point.state, None);

        let circle = call(&pickle, circle);
        assert_eq!(circle.callee, Value::Global("Circle"));
        assert_eq!(repr(&pickle, circle.args, &[]), "()");
        let state = repr(&pickle, circle.state.unwrap(), &[]);
        assert_eq!(state, "{'radius': 2}");

        let ordered = call(&pickle, ordered);
        assert_eq!(ordered.callee, Value::Global("OrderedDict"));
        let [a, b] = ["a", "b"].map(Value::Text);
        assert_eq!(ordered.entries, [(a, Value::Int(1)), (b, shared)]);

        let Some(&Body::Persistent(id)) = pickle.body(outside) else {
            panic!("{outside:?}");
        };
        assert_eq!(repr(&pickle, id, &[]), "('outside', 7)");
    }
}

#[test]
fn nodes_record_their_offset_in_the_pickle() {
    let pickle = read(b"\x80\x02]K\x01\x85a.");
    let places: Vec<usize> = pickle.nodes.iter().map(|node| node.at).collect();
    assert_eq!(places, [2, 5]);
}

/// Tests instructions that Python 3 no longer writes, and the variants of instructions for large
/// objects.
#[test]
fn other_forms_of_texts_and_bytes_are_read() {
    let root = |instructions: &[u8]| {
        let bytes = [b"\x80\x04", instructions, b"."].concat();
        let pickle = decode(&bytes, &[], global).unwrap();
        match pickle.root {
            Value::Text(text) => text.as_bytes().to_vec(),
            Value::Bytes(bytes) => [b"bytes ", bytes].concat(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(root(b"U\x02ab"), b"ab");
    assert_eq!(root(b"T\x02\x00\x00\x00ab"), b"ab");
    assert_eq!(root(b"U\x01\xff"), b"bytes \xff");
    assert_eq!(root(b"C\x02ab"), b"bytes ab");
    assert_eq!(root(b"B\x02\x00\x00\x00ab"), b"bytes ab");
    assert_eq!(root(b"\x8e\x02\0\0\0\0\0\0\0ab"), b"bytes ab");
    assert_eq!(root(b"\x96\x02\0\0\0\0\0\0\0ab"), b"bytes ab");
    assert_eq!(root(b"\x8d\x02\0\0\0\0\0\0\0ab"), b"ab");
}

#[test]
fn integers_of_any_length_are_read() {
    let root = |bytes: &'static [u8]| decode(bytes, &[], global).unwrap().root;
    assert_eq!(root(b"\x80\x02\x8a\x00."), Value::Int(0));
    assert_eq!(root(b"\x80\x02\x8a\x01\x80."), Value::Int(-128));
    assert_eq!(root(b"\x80\x02\x8a\x02\xff\x00."), Value::Int(255));
    let pickle = read(b"\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\x01.");
    assert_eq!(pickle.root, Value::Long(&[0, 0, 0, 0, 0, 0, 0, 0, 1]));
}

#[test]
fn memo_numbers_may_start_at_1() {
    let pickle = read(b"\x80\x02(K\x07q\x01K\x08q\x02h\x01h\x02t.");
    assert_eq!(repr(&pickle, pickle.root, &[]), "(7, 8, 7, 8)");
    let pickle = read(b"\x80\x04(K\x07\x94K\x08\x94h\x00h\x01t.");
    assert_eq!(repr(&pickle, pickle.root, &[]), "(7, 8, 7, 8)");
}

#[test]
fn a_function_that_a_call_returns_may_be_called() {
    let pickle = read(b"\x80\x02cshapes\nPoint\n)R)R.");
    let outer = call(&pickle, pickle.root);
    assert_eq!(call(&pickle, outer.callee).callee, Value::Global("Point"));
}

#[test]
fn bytes_after_the_pickle_are_not_read() {
    let bytes = b"\x80\x02K\x01.\x80\x02K\x02.";
    let first = read(bytes);
    assert_eq!((first.root, first.length), (Value::Int(1), 5));
    let second = read(&bytes[first.length..]);
    assert_eq!((second.root, second.length), (Value::Int(2), 5));
}

#[test]
fn a_budget_can_be_spent_once() {
    let budget = Budget::new(100);
    assert_eq!(budget.spend(10, 6), Some(()));
    assert_eq!(budget.spend(41, 1), None);
    assert_eq!(budget.spend(usize::MAX, 2), None);
    assert_eq!(budget.spend(4, 10), Some(()));
    assert_eq!(budget.spend(1, 1), None);
    assert_eq!(budget.limit(), 100);
}
