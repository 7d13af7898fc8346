//! Any input is either read as a computational graph or rejected with a fault. A graph that was
//! read can be grouped, unless it is too small.
#![no_main]

use gleaner_driple::features::Frequencies;
use gleaner_driple::group::{Settings, group};
use gleaner_driple::read::{Format, graph};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::GraphDefText, Format::GraphDef, Format::Onnx] {
        if let Ok(graph) = graph(bytes.to_vec(), format) {
            let settings = Settings {
                groups: 5,
                allow_fewer: true,
                ..Settings::default()
            };
            if let Ok(grouping) = group(&graph, &Frequencies::default(), &settings) {
                assert_eq!(grouping.groups.len(), graph.nodes.len());
                assert!(!grouping.graph.is_empty());
            }
        }
    }
});
