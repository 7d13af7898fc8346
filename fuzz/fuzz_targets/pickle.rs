//! Any bytes are a pickle or a fault, and a pickle is a table or a fault.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_pickle::decode(bytes, &[], |_, _| Some(()));
    let _ = gleaner_inputs::pickle::read_frame(bytes);
});
