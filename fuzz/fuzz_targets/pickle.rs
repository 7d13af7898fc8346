//! Any input is either decoded as a pickle or rejected with a fault. A decoded pickle is either
//! read as a table or rejected with a fault.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_pickle::decode(bytes, &[], |_, _| Some(()));
    let _ = gleaner_pandas::read_frame(bytes);
});
