//! A small assembler for pickles. Except for [`pickle`], every function returns
//! the instructions that push one value.

const MULTIARRAY: &str = "numpy.core.multiarray";

/// A complete pickle in protocol 4 that contains `value`.
pub fn pickle(value: &[u8]) -> Vec<u8> {
    [b"\x80\x04", value, b"."].concat()
}

pub fn none() -> Vec<u8> {
    b"N".to_vec()
}

pub fn boolean(value: bool) -> Vec<u8> {
    vec![if value { 0x88 } else { 0x89 }]
}

pub fn int(value: i32) -> Vec<u8> {
    [b"J", value.to_le_bytes().as_slice()].concat()
}

pub fn long(value: i64) -> Vec<u8> {
    [b"\x8a\x08", value.to_le_bytes().as_slice()].concat()
}

pub fn float(value: f64) -> Vec<u8> {
    [b"G", value.to_be_bytes().as_slice()].concat()
}

pub fn text(value: &str) -> Vec<u8> {
    let len = (value.len() as u32).to_le_bytes();
    [b"X", len.as_slice(), value.as_bytes()].concat()
}

pub fn bytes(value: &[u8]) -> Vec<u8> {
    let len = (value.len() as u32).to_le_bytes();
    [b"B", len.as_slice(), value].concat()
}

pub fn tuple(members: &[Vec<u8>]) -> Vec<u8> {
    [b"(", members.concat().as_slice(), b"t"].concat()
}

pub fn list(members: &[Vec<u8>]) -> Vec<u8> {
    [b"](", members.concat().as_slice(), b"e"].concat()
}

pub fn dict(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let entries: Vec<u8> = entries
        .iter()
        .flat_map(|(key, value)| [text(key), value.clone()].concat())
        .collect();
    [b"}(", entries.as_slice(), b"u"].concat()
}

pub fn class(module: &str, name: &str) -> Vec<u8> {
    format!("c{module}\n{name}\n").into_bytes()
}

pub fn call(class: Vec<u8>, args: &[Vec<u8>]) -> Vec<u8> {
    [class, tuple(args), b"R".to_vec()].concat()
}

/// An object of `class` with the state `state`.
pub fn object(class: Vec<u8>, state: Vec<u8>) -> Vec<u8> {
    [class, b")\x81".to_vec(), state, b"b".to_vec()].concat()
}

/// Pushes the value, and stores it under `index` for [`shared`].
pub fn keep(index: u32, value: Vec<u8>) -> Vec<u8> {
    [value, b"r".to_vec(), index.to_le_bytes().to_vec()].concat()
}

/// The value that was stored under `index`.
pub fn shared(index: u32) -> Vec<u8> {
    [b"j", index.to_le_bytes().as_slice()].concat()
}

/// Bytes in the encoding of protocol 2.
pub fn encoded(value: &str, codec: &str) -> Vec<u8> {
    call(class("_codecs", "encode"), &[text(value), text(codec)])
}

pub fn dtype(code: &str, order: &str) -> Vec<u8> {
    let made = call(
        class("numpy", "dtype"),
        &[text(code), boolean(false), boolean(true)],
    );
    let rest = [none(), none(), none(), int(-1), int(-1), int(0)];
    let state = [&[int(3), text(order)], rest.as_slice()].concat();
    [made, tuple(&state), b"b".to_vec()].concat()
}

/// A numpy array with this shape, item type, order and data.
pub fn array(shape: Vec<u8>, dtype: Vec<u8>, fortran: bool, data: Vec<u8>) -> Vec<u8> {
    let made = call(
        class(MULTIARRAY, "_reconstruct"),
        &[class("numpy", "ndarray"), tuple(&[int(0)]), bytes(b"b")],
    );
    let state = tuple(&[int(1), shape, dtype, boolean(fortran), data]);
    [made, state, b"b".to_vec()].concat()
}

/// A numpy array of objects.
pub fn objects(shape: &[i32], members: &[Vec<u8>]) -> Vec<u8> {
    let shape: Vec<_> = shape.iter().map(|&size| int(size)).collect();
    array(tuple(&shape), dtype("O8", "|"), false, list(members))
}

/// A matrix of 8-bit integers.
pub fn bytes_matrix(columns: i32, rows: i32, data: &[u8]) -> Vec<u8> {
    let shape = tuple(&[int(columns), int(rows)]);
    array(shape, dtype("i1", "|"), false, bytes(data))
}

/// An index whose labels are objects.
pub fn index(labels: &[Vec<u8>]) -> Vec<u8> {
    index_of(objects(&[labels.len() as i32], labels))
}

/// An index with the labels in `array`.
pub fn index_of(array: Vec<u8>) -> Vec<u8> {
    let base = "pandas.core.indexes.base";
    let state = dict(&[("data", array), ("name", none())]);
    call(class(base, "_new_Index"), &[class(base, "Index"), state])
}

/// A `RangeIndex`.
pub fn range(start: i64, stop: i64, step: i64) -> Vec<u8> {
    let state = dict(&[
        ("start", long(start)),
        ("stop", long(stop)),
        ("step", long(step)),
    ]);
    call(
        class("pandas.core.indexes.base", "_new_Index"),
        &[class("pandas.core.indexes.range", "RangeIndex"), state],
    )
}

pub fn slice(start: i32, stop: i32, step: i32) -> Vec<u8> {
    call(
        class("builtins", "slice"),
        &[int(start), int(stop), int(step)],
    )
}

/// A block of columns.
pub fn block(values: Vec<u8>, placement: Vec<u8>) -> Vec<u8> {
    call(
        class("pandas._libs.internals", "_unpickle_block"),
        &[values, placement, int(2)],
    )
}

/// A complete pickle of a `DataFrame` in the layout of pandas 2.
pub fn frame(columns: Vec<u8>, rows: Vec<u8>, blocks: &[Vec<u8>]) -> Vec<u8> {
    let manager = call(
        class("pandas.core.internals.managers", "BlockManager"),
        &[tuple(blocks), list(&[columns, rows])],
    );
    let state = dict(&[("_mgr", manager), ("_typ", text("dataframe"))]);
    pickle(&object(class("pandas.core.frame", "DataFrame"), state))
}
