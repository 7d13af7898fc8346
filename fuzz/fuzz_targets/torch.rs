//! Any input is either read as tensors that PyTorch saved or rejected with a fault.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_driple::torch::tensors(bytes);
    let _ = gleaner_driple::torch::dataset(bytes);
});
