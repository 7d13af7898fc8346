//! Any input is either read as a data set of graphs or rejected with a fault. A data set that was
//! read can be written and read again.
#![no_main]

use gleaner_driple::dataset::file::{read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((data, manifest)) = read(bytes) {
        let written = write(&data, &manifest).expect("the data that were read can be written");
        assert_eq!(
            read(&written).expect("the written data can be read"),
            (data, manifest)
        );
    }
});
