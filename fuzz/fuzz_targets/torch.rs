//! Any input is either rejected with a fault or read as tensors or a data set that PyTorch saved.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_driple::torch::tensors(bytes);
    let _ = gleaner_driple::torch::dataset(bytes);
});
