//! Any bytes are tensors that PyTorch saved, or a fault.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = gleaner_driple::torch::tensors(bytes);
    let _ = gleaner_driple::torch::dataset(bytes);
});
