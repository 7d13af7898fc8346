//! Any input is either read as an inspector, a checkpoint or weights, or rejected with a fault. An
//! inspector that was read can make predictions.
#![no_main]

use gleaner_domain::Unobserved;
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::model::{Depth, read_weights};
use gleaner_driple::{inspector, train};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let graph = GroupedGraph {
        features: vec![[1.0, 2.0, 0.1]; 3],
        edges: vec![(0, 1), (1, 2)],
    };
    if let Ok(inspector) = inspector::read(bytes) {
        assert!(inspector.predict(&[&graph], &Unobserved).unwrap()[0].is_some());
    }
    if let Ok(weights) = read_weights(bytes) {
        let _ = inspector::converted(weights, Depth::Fixed(1));
    }
    let _ = train::checkpoint::read(bytes);
});
