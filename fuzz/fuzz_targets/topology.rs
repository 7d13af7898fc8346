//! Any input is either read as a topology or rejected with a fault.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_inputs::topology::parse(Path::new("topology"), bytes);
});
