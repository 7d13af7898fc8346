//! Any input is either rejected with a fault or read both as a trace and as an event log. A trace that was read can be
//! written and read again.
#![no_main]

mod prepared;

use std::path::Path;

use gleaner_domain::UnknownNodes;
use gleaner_logs::scheduler::{Format, Input, Options, read_inputs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    prepared::check(&[bytes], gleaner_traces::Format::Philly);
    let input = Input::new(Path::new("log"), bytes);
    if let Ok(holds) = read_inputs([input], &Options::new(Format::Philly)) {
        holds
            .sweep(UnknownNodes::Deal, |_| Ok(()))
            .expect("all events of the log can be generated");
    }
});
