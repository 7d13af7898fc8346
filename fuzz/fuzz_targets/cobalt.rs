//! Any input is either rejected with a fault or read as a log whose events can all be generated.
#![no_main]

use std::path::Path;

use gleaner_domain::UnknownNodes;
use gleaner_logs::scheduler::{Format, Input, Options, read_inputs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let input = Input::new(Path::new("log"), bytes);
    if let Ok(holds) = read_inputs([input], &Options::new(Format::Cobalt)) {
        holds
            .sweep(UnknownNodes::Deal, |_| Ok(()))
            .expect("all events of the log can be generated");
    }
});
