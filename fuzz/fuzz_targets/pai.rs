//! Any two tables, separated by an empty line, are either read as a trace or rejected with a fault.
//! A trace that was read can be written and read again.
#![no_main]

mod prepared;

use gleaner_traces::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (first, second) = bytes.split_at(end.unwrap_or(bytes.len()));
    prepared::check(&[first, second], Format::Pai);
});
