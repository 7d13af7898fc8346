//! Any bytes are a table of jobs, or a fault; and what is one can be simulated.
#![no_main]

mod prepared;

use gleaner::ingest::gpu::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| prepared::check(&[bytes], Format::Slurm));
