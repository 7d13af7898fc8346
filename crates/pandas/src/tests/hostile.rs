//! Tests files that try to run code or to exhaust memory or time, and files that are simply broken.

use std::path::Path;

use super::super::{PickleError, Problem, read_frame};
use super::asm::*;
use super::{HOSTILE, tables};

fn refusal(bytes: &[u8]) -> PickleError {
    match read_frame(bytes) {
        Ok(_) => panic!("the file was read"),
        Err(error) => error,
    }
}

fn refused_name(bytes: &[u8]) -> String {
    match refusal(bytes).problem {
        Problem::Global { name, .. } => name,
        other => panic!("refused for another reason: {other}"),
    }
}

#[test]
fn runs_nothing_and_names_what_it_refuses() {
    let names = HOSTILE.iter().map(|(_, bytes)| refused_name(bytes));
    assert!(names.eq(["posix.system", "builtins.eval"]));
    assert!(!Path::new("pickle-was-executed").exists());
}

#[test]
fn runs_no_code_hidden_in_a_table() {
    let marker = std::env::temp_dir().join(format!("pickle-marker-{}", std::process::id()));
    let command = text(&format!("touch {}", marker.display()));
    for (module, name) in [
        ("os", "system"),
        ("posix", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("builtins", "exec"),
        ("__builtin__", "eval"),
        ("numpy.testing._private.utils", "runstring"),
        ("pandas", "read_pickle"),
        ("pandas.core.frame", "DataFrame.to_csv"),
        ("pandas.tseries.offsets", "np.os.system"),
    ] {
        let hidden = call(class(module, name), std::slice::from_ref(&command));
        let file = frame(index(&[hidden]), range(0, 0, 1), &[]);
        assert_eq!(refused_name(&file), format!("{module}.{name}"));
    }
    assert!(!marker.exists());
}

#[test]
fn the_message_says_that_nothing_was_executed() {
    let message = refusal(HOSTILE[0].1).to_string();
    assert!(
        message.contains(
            "posix.system is not among the classes that a table of numbers needs; nothing was executed"
        ),
        "{message}"
    );
    assert!(message.starts_with("byte "), "{message}");
}

#[test]
fn allows_two_functions_for_one_use_each() {
    let getattr = |object, name| call(class("builtins", "getattr"), &[object, text(name)]);
    let reached = getattr(class("pandas.core.frame", "DataFrame"), "to_pickle");
    assert_eq!(refused_name(&pickle(&reached)), "builtins.getattr");
    let zone = getattr(class("zoneinfo", "ZoneInfo"), "__class__");
    assert_eq!(refused_name(&pickle(&zone)), "builtins.getattr");
    let partial = call(class("functools", "partial"), &[class("numpy", "dtype")]);
    assert_eq!(refused_name(&pickle(&partial)), "functools.partial");
}

#[test]
fn refuses_references_outside_the_file() {
    let outside = [
        b"\x80\x04Pid\n.".as_slice(),
        b"\x80\x04K\x01Q.",
        b"\x80\x04\x82\x01.",
        b"\x80\x04\x83\x01\x01.",
        b"\x80\x04\x84\x01\x01\x01\x01.",
        b"\x80\x05\x97.",
        b"\x80\x05\x98.",
    ];
    for bytes in outside {
        assert!(
            matches!(refusal(bytes).problem, Problem::Outside(_)),
            "{bytes:x?}"
        );
    }
}

/// Tests that messages tell the user what to do. Decoding errors are tested in gleaner-pickle.
#[test]
fn reports_a_remedy_for_other_files() {
    let text = |bytes| refusal(bytes).to_string();
    for (bytes, problem, remedy) in [
        (
            b"".as_slice(),
            "not a pickle of protocol 2 to 5",
            "write it again with df.to_pickle(path, protocol=4)",
        ),
        (
            b"(dp0\n.",
            "not a pickle of protocol 2 to 5",
            "write it again with df.to_pickle(path, protocol=4)",
        ),
        (
            b"\x1f\x8b\x08",
            "not a pickle of protocol 2 to 5",
            "write it again with df.to_pickle(path, protocol=4)",
        ),
        (
            b"time,a,b\n",
            "not a pickle of protocol 2 to 5",
            "write it again with df.to_pickle(path, protocol=4)",
        ),
        (
            b"\x80\x01N.",
            "protocol 1 is not supported",
            "df.to_pickle(path, protocol=4)",
        ),
        (
            b"\x80\x06N.",
            "protocol 6 is not supported",
            "df.to_pickle(path, protocol=4)",
        ),
        (
            b"\x80\x02I1\n.",
            "(INT) is not accepted",
            "df.to_pickle(path, protocol=4)",
        ),
        (
            b"\x80\x04]NNs.",
            "instruction SETITEM needs",
            "damaged: copy or write it again",
        ),
        (
            b"\x80\x04X\xff\xff\xff\xff",
            "4294967295 more bytes",
            "copy or write it again",
        ),
    ] {
        let text = text(bytes);
        assert!(text.contains(problem) && text.ends_with(remedy), "{text}");
    }
}

#[test]
fn refuses_objects_other_than_tables() {
    for value in [
        none(),
        int(1),
        text("x"),
        list(&[]),
        dict(&[]),
        dtype("i1", "|"),
    ] {
        assert!(matches!(
            refusal(&pickle(&value)).problem,
            Problem::Unexpected { .. }
        ));
    }
    assert_eq!(refusal(b"\x80\x04N.N.").problem, Problem::TrailingBytes(2));
}

#[test]
fn refuses_calls_that_tables_do_not_contain() {
    let series = class("pandas.core.series", "Series");
    let called = call(series, &[]);
    let of_object = call(called.clone(), &[]);
    let filled = [called, b"NNs".to_vec()].concat();
    for value in [of_object, filled] {
        // The call is also rejected if nothing refers to the object.
        let unused = frame(
            index(&[list(std::slice::from_ref(&value))]),
            range(0, 0, 1),
            &[],
        );
        for file in [pickle(&value), unused] {
            let problem = refusal(&file).problem;
            assert!(matches!(problem, Problem::Malformed(_)), "{problem}");
        }
    }
}

#[test]
fn every_prefix_is_an_error() {
    for (name, bytes) in tables() {
        for end in 0..bytes.len() {
            assert!(
                read_frame(&bytes[..end]).is_err(),
                "{name}: first {end} bytes"
            );
        }
    }
}

#[test]
fn a_shape_must_fit_its_data() {
    let with_shape = |shape: Vec<u8>| {
        let values = array(shape, dtype("f8", "<"), false, bytes(&[0; 8]));
        frame(
            index(&[text("a")]),
            range(0, 1, 1),
            &[block(values, slice(0, 1, 1))],
        )
    };
    assert!(read_frame(&with_shape(tuple(&[int(1), int(1)]))).is_ok());
    let huge = 1 << 62;
    for shape in [
        tuple(&[int(1), int(2)]),
        tuple(&[int(0), int(1)]),
        tuple(&[long(huge), long(huge)]),
        tuple(&[long(huge), long(4)]),
        tuple(&[long(-1), long(-1)]),
        tuple(&[int(1), int(1), int(1)]),
        tuple(&[]),
        int(1),
    ] {
        refusal(&with_shape(shape));
    }
}

#[test]
fn ranges_are_bounded_by_the_file() {
    let huge = 1 << 62;
    let limited = |bytes: &[u8]| matches!(refusal(bytes).problem, Problem::Limit { .. });
    assert!(limited(&frame(index(&[]), range(0, huge, 1), &[])));
    assert!(limited(&frame(range(0, huge, 1), index(&[]), &[])));
    assert!(limited(&frame(
        index(&[]),
        range(i64::MIN, i64::MAX, 1),
        &[]
    )));
    assert!(limited(&frame(
        index(&[]),
        range(i64::MAX, i64::MIN, -1),
        &[]
    )));
    refusal(&frame(index(&[]), range(0, 4, 0), &[]));
    let empty = frame(index(&[]), range(0, i64::MIN, 1), &[]);
    assert_eq!(read_frame(&empty).unwrap().rows(), 0);
}

#[test]
fn values_that_contain_themselves_are_refused() {
    // A list that is its own member, as a cell.
    let own_member = [keep(0, b"]".to_vec()), shared(0), b"a".to_vec()].concat();
    let cells = objects(&[1, 1], &[own_member]);
    let file = frame(
        index(&[text("a")]),
        range(0, 1, 1),
        &[block(cells, slice(0, 1, 1))],
    );
    let read = read_frame(&file).unwrap();
    assert!(read.column_lists("a").is_err());

    // An array object that wraps itself.
    let wrapped = [
        class("pandas.core.arrays.datetimes", "DatetimeArray"),
        b")\x81r\x00\x00\x00\x00}".to_vec(),
        text("_data"),
        shared(0),
        b"sb".to_vec(),
    ]
    .concat();
    let problem = refusal(&frame(index(&[]), index_of(wrapped), &[])).problem;
    assert!(matches!(problem, Problem::Unexpected { .. }), "{problem}");
}

#[test]
fn an_array_in_its_own_cells_is_not_followed() {
    let made = call(
        class("numpy.core.multiarray", "_reconstruct"),
        &[class("numpy", "ndarray"), tuple(&[int(0)]), bytes(b"b")],
    );
    let members = list(&[shared(0)]);
    let shape = tuple(&[int(1), int(1)]);
    let state = tuple(&[int(1), shape, dtype("O8", "|"), boolean(false), members]);
    let cells = [keep(0, made), state, b"b".to_vec()].concat();
    let file = frame(
        index(&[text("a")]),
        range(0, 1, 1),
        &[block(cells, slice(0, 1, 1))],
    );
    let read = read_frame(&file).unwrap();
    assert!(read.column_f64("a").is_err());
}

#[test]
fn shared_values_are_not_expanded_without_limit() {
    // 2,000 columns that share 20,000 cells: 40 million cells in 150 KB.
    let columns = 2_000;
    let names: Vec<_> = (0..columns).map(|i| text(&format!("c{i}"))).collect();
    let cells = objects(&[1, 20_000], &vec![none(); 20_000]);
    let mut blocks = vec![block(keep(0, cells), slice(0, 1, 1))];
    blocks.extend((1..columns).map(|i| block(shared(0), slice(i, i + 1, 1))));
    let file = frame(index(&names), range(0, 20_000, 1), &blocks);
    assert!(matches!(refusal(&file).problem, Problem::Limit { .. }));
}

#[test]
fn lists_nested_by_reference_stay_small() {
    // Each list contains the previous list ten times: 10^20 numbers if expanded.
    let mut lists = keep(0, list(&vec![int(1); 10]));
    for depth in 1..20 {
        let members: Vec<_> = (0..10).map(|_| shared(depth - 1)).collect();
        lists = list(&[lists, keep(depth, list(&members))]);
    }
    let cells = objects(&[1, 2], &[lists, shared(19)]);
    let file = frame(
        index(&[text("a")]),
        range(0, 2, 1),
        &[block(cells, slice(0, 1, 1))],
    );
    assert!(read_frame(&file).unwrap().column_lists("a").is_err());
}

#[test]
fn deep_nesting_does_not_recurse() {
    let depth = 500_000;
    let nested = [vec![b']'; depth], vec![b'a'; depth - 1]].concat();
    let cells = objects(&[1, 1], &[nested]);
    let file = frame(
        index(&[text("a")]),
        range(0, 1, 1),
        &[block(cells, slice(0, 1, 1))],
    );
    assert!(read_frame(&file).unwrap().column_lists("a").is_err());
    let tuples = [b")".to_vec(), vec![0x85; depth]].concat();
    refusal(&pickle(&tuples));
}

#[test]
fn too_many_values_are_refused() {
    let many = [vec![b'('], vec![b'N'; 1 << 24], vec![b't']].concat();
    assert!(matches!(
        refusal(&pickle(&many)).problem,
        Problem::Limit { .. }
    ));
    let marks = vec![b'('; 1 << 24];
    assert!(matches!(
        refusal(&pickle(&marks)).problem,
        Problem::Limit { .. }
    ));
    let memo = [vec![b'N'], vec![0x94; 1 << 24]].concat();
    assert!(matches!(
        refusal(&pickle(&memo)).problem,
        Problem::Limit { .. }
    ));
}
