//! Outputs of the published pre-trained network on fixed graphs.

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::model::{Architecture, Convolution, Inputs, Network, Weights, set_weights};
use gleaner_driple::nn::{Parameters, Tape};
use gleaner_io::source::Source;
use serde::Deserialize;

use super::weights;
use crate::files::Data;
use crate::filled::Values;
use crate::{Part, failed};

/// The contents of the file with the graphs.
#[derive(Debug, Deserialize)]
struct File {
    graphs: Vec<Drawn>,
}

/// A graph: its adjacency matrix, and the features of its nodes.
#[derive(Debug, Deserialize)]
struct Drawn {
    adj: Vec<Vec<f64>>,
    x: Vec<[f32; 3]>,
}

impl Drawn {
    /// The graph; `None` unless the matrix is square with one row for each node.
    fn graph(&self) -> Option<GroupedGraph> {
        let nodes = self.x.len();
        let is_square = self.adj.len() == nodes && self.adj.iter().all(|row| row.len() == nodes);
        let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
        is_square.then(|| GroupedGraph {
            features: self.x.clone(),
            edges: pairs
                .filter(|&(a, b)| self.adj[a][b] != 0.0)
                .map(|(a, b)| (a as u32, b as u32))
                .collect(),
        })
    }
}

/// Applies the network with the published weights to the graphs, in double precision.
pub fn add(part: &mut Part<'_>, data: Data<'_>) -> Result<()> {
    let (network, parameters) = network(&weights(part, data, "pretrained_gcn.safetensors")?)?;
    let path = data.file("driple/gcn_forward.json");
    let source = Source::open(&path)?;
    part.sources.push(source.id().clone());
    let expected = "graphs with adj, a square matrix, and x, three numbers per node";
    let fault = |found: String| Error::from(Fault::of(&path, found, expected));
    let file: File =
        serde_json::from_slice(&source.read_all()?).map_err(|e| fault(e.to_string()))?;
    let mut ours = Values::default();
    for (place, drawn) in file.graphs.iter().enumerate() {
        let graph = drawn.graph().ok_or_else(|| {
            fault(format!(
                "a graph (index {place}) whose adj is not a square matrix with one row per node"
            ))
        })?;
        let layout = network.lay_out([&graph], &Inputs::Raw);
        let mut tape = Tape::without_gradients(&parameters);
        let output = network.apply(&mut tape, &layout);
        let outputs: Vec<f64> = tape.value(output).iter().copied().collect();
        let mean = outputs.iter().sum::<f64>() / outputs.len() as f64;
        let row = format!("graph {place}, {} nodes", drawn.x.len());
        ours.set(&row, "mean of the 12 outputs", mean);
    }
    part.add("driple-outputs", &ours)?;
    Ok(())
}

/// The original's network with these weights.
fn network(weights: &Weights) -> Result<(Network, Parameters<f64>)> {
    let (network, mut parameters) = Network::new(Architecture::original(Convolution::Gcn), 0);
    set_weights(&mut parameters, weights).map_err(failed)?;
    Ok((network, parameters))
}
