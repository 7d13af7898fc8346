//! Any input is either read as a trace or rejected with a fault. A trace that was read can be
//! written and read again.
#![no_main]

mod prepared;

use gleaner_traces::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| prepared::check(&[bytes], Format::Batsim));
