//! Any bytes are a trace, or a fault; and what is a trace can be simulated.
#![no_main]

mod prepared;

use gleaner::ingest::gpu::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| prepared::check(&[bytes], Format::Batsim));
