//! Tests attention between neighbours on an example computed by hand.

use gleaner_driple::graph::GroupedGraph;
use gleaner_driple::nn::{Activation, Attention, Block, Parameters, Tape};
use ndarray::array;

// The graph is a path of three nodes. The head has width 2 and a = [1, -1, 0.5, 2].
#[test]
fn weights_of_neighbours_sum_to_one_and_scores_are_of_node_and_neighbour() {
    let graph = GroupedGraph {
        features: vec![[0.0; 3]; 3],
        edges: vec![(0, 1), (1, 2)],
    };
    let block = Block::<f64>::new(&[&graph]);
    let attention = Attention::neighbours(&block);
    let mut parameters = Parameters::new();
    let vector = parameters.add("a".to_owned(), &[4, 1], array![[1.0, -1.0, 0.5, 2.0]]);
    let mut tape = Tape::without_gradients(&parameters);
    let values = tape.input(array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    let output = tape.attend(values, vector, &attention, Activation::Leaky(1.0));

    // Node 0 attends to itself with score 1 + 0.5 and to node 1 with 1 + 2.
    let (own, next) = (1.5_f64.exp(), 3.0_f64.exp());
    let first = [own / (own + next), next / (own + next)];
    // Node 1 attends to node 0 with score -1 + 0.5, to itself with -1 + 2, and to node 2 with -1 +
    // 2.5. A negative score is divided by five.
    let scores = [(-0.1_f64).exp(), 1.0_f64.exp(), 1.5_f64.exp()];
    let sum: f64 = scores.iter().sum();
    let second = [(scores[0] + scores[2]) / sum, (scores[1] + scores[2]) / sum];
    // Node 2 attends to node 1 with score 0 + 2 and to itself with 0 + 2.5.
    let (next, own) = (2.0_f64.exp(), 2.5_f64.exp());
    let third = [own / (own + next), 1.0];
    let wanted = [first, second, third];
    for (row, wanted) in tape.value(output).rows().into_iter().zip(wanted) {
        for (found, wanted) in row.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }
    assert_eq!(parameters.find("a").unwrap(), vector);
}
