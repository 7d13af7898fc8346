//! Any input is either read as a list of nodes or rejected with a fault.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_logs::scheduler::read_nodes(Path::new("nodes"), bytes);
});
