//! Any input is either read as a table of jobs or rejected with a fault. Jobs that were read can be
//! written as a trace and read again.
#![no_main]

mod prepared;

use gleaner_traces::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| prepared::check(&[bytes], Format::Slurm));
