//! Any input is either rejected with a fault or read as a trace of spot instances, from which all events of the log can
//! be generated.
#![no_main]

use std::path::Path;

use gleaner_logs::spot::{Options, read_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(log) = read_bytes(Path::new("log"), bytes, &Options::default()) {
        log.sweep(|_, _| Ok(()))
            .expect("all events of the log can be generated");
    }
});
