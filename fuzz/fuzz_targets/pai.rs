//! Any two tables, parted by an empty line, are a trace, or a fault; and what is a trace can
//! be simulated.
#![no_main]

mod prepared;

use gleaner::ingest::gpu::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (first, second) = bytes.split_at(end.unwrap_or(bytes.len()));
    prepared::check(&[first, second], Format::Pai);
});
