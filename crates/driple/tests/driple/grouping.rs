//! Tests that groups equal the communities that networkx finds, and that groups partition the
//! operations of a graph.

use crate::support::reference;
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::{Graph, Node, Shape};
use gleaner_driple::group::{Adjacency, Devices, Settings, communities, group};
use gleaner_driple::random::PythonRandom;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    python_shuffle_20_seed42: Vec<u32>,
    python_next_choices_of_range5: Vec<u32>,
    graphs: Vec<ReferenceGraph>,
}

#[derive(Deserialize)]
struct ReferenceGraph {
    n: usize,
    k: usize,
    edges: Vec<(u32, u32)>,
    communities: Vec<Vec<u32>>,
}

/// The vertices of each community, in ascending order.
fn members(of: impl IntoIterator<Item = Option<u32>>, count: usize) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); count];
    for (vertex, community) in of.into_iter().enumerate() {
        if let Some(community) = community {
            members[community as usize].push(vertex as u32);
        }
    }
    members
}

// Golden values: CPython and networkx 2.5.1 and 3.6.1.
#[test]
fn draws_and_communities_are_those_of_python() {
    let Some(bytes) = reference("asyn_fluidc.json") else {
        return;
    };
    let reference: Reference = serde_json::from_slice(&bytes).unwrap();
    let mut random = PythonRandom::new(42);
    let mut items: Vec<u32> = (0..20).collect();
    random.shuffle(&mut items);
    assert_eq!(items, reference.python_shuffle_20_seed42);
    let mut choice = || *random.choice(&[0, 1, 2, 3, 4]).unwrap();
    let choices: Vec<u32> = (0..10).map(|_| choice()).collect();
    assert_eq!(choices, reference.python_next_choices_of_range5);

    assert_eq!(reference.graphs.len(), 5);
    for graph in reference.graphs {
        let found = communities(&Adjacency::new(graph.n, &graph.edges), graph.k, 42, 100);
        let members = members(found.of.into_iter().map(Some), graph.k);
        let mut expected = graph.communities;
        expected.iter_mut().for_each(|one| one.sort_unstable());
        assert_eq!(members, expected, "n = {}, k = {}", graph.n, graph.k);
    }
}

#[derive(Deserialize)]
struct Pipeline {
    ops: usize,
    groups: usize,
    seed: u64,
    edges: Vec<(usize, usize)>,
    communities: Vec<Vec<u32>>,
}

/// A graph of `ops` operations on a GPU. For each edge `(a, b)`, operation `a` is an input of
/// operation `b`.
fn graph(ops: usize, edges: &[(usize, usize)]) -> Graph {
    let node = |op: usize| Node {
        name: format!("op{op}"),
        op: ["MatMul", "Add", "Relu"][op % 3].to_owned(),
        device: "/device:GPU:0".to_owned(),
        inputs: Vec::new(),
        shape: Shape::Dimensions(vec![Some(op as u64), Some(3)]),
    };
    let mut nodes: Vec<Node> = (0..ops).map(node).collect();
    for &(source, op) in edges {
        nodes[op].inputs.push(format!("op{source}:0"));
    }
    Graph { nodes }
}

fn frequencies() -> Frequencies {
    Frequencies::from_csv(b"MatMul,0.5\nAdd,0.25\n").unwrap()
}

// Golden values: networkx 3.6.1 with the published builder's steps, for graphs with parallel edges,
// self-loops, isolated operations and several components. The edges of each operation are
// consecutive, as in graph files.
#[test]
fn cleaned_graphs_are_grouped_as_by_the_published_builder() {
    let text = include_str!("../fixtures/networkx_groups.json");
    let pipelines: Vec<Pipeline> = serde_json::from_str(text).unwrap();
    assert_eq!(pipelines.len(), 5);
    for case in pipelines {
        let settings = Settings {
            groups: case.groups,
            seed: case.seed,
            ..Settings::default()
        };
        let grouping = group(&graph(case.ops, &case.edges), &frequencies(), &settings).unwrap();
        let members = members(grouping.groups, case.groups);
        assert_eq!(members, case.communities, "{} operations", case.ops);
    }
}

// The graph is a chain of three operations and an isolated operation. The chain becomes a single
// group.
#[test]
fn features_are_sums_over_the_operations_of_a_group() {
    let settings = Settings {
        groups: 1,
        ..Settings::default()
    };
    let mut chain = graph(4, &[(0, 1), (1, 2)]);
    chain.nodes[0].shape = Shape::Dimensions(vec![None, Some(7)]);
    chain.nodes[1].shape = Shape::Unknown;
    chain.nodes[2].shape = Shape::Dimensions(vec![Some(5), Some(3)]);
    let grouping = group(&chain, &frequencies(), &settings).unwrap();
    assert_eq!(grouping.graph.features, [[22.0, 3.0, 0.75]]);
    assert_eq!(grouping.graph.edges, []);
    assert_eq!(grouping.groups, [Some(0), Some(0), Some(0), None]);
    let report = grouping.report;
    assert_eq!((report.nodes, report.on_gpus, report.grouped), (4, 4, 3));
    assert_eq!((report.isolated, report.in_smaller_components), (1, 0));
    assert_eq!((report.unknown_shapes, report.unknown_dimensions), (1, 1));
    let lacking: Vec<_> = report.without_frequency.into_iter().collect();
    assert_eq!(lacking, [("Relu".to_owned(), 1)]);
}

#[test]
fn too_few_operations_are_refused_unless_allowed() {
    let few = graph(5, &[(0, 1), (1, 2), (3, 4)]);
    let strict = Settings::default();
    let error = group(&few, &frequencies(), &strict)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("3 connected operations cannot form 100 groups (5 nodes, 5 on GPUs"));
    let lenient = Settings {
        allow_fewer: true,
        ..Settings::default()
    };
    let grouping = group(&few, &frequencies(), &lenient).unwrap();
    assert_eq!(grouping.graph.len(), 3);
    assert_eq!(grouping.graph.edges.len(), 2);
    assert_eq!(grouping.report.in_smaller_components, 2);
    let isolated = graph(2, &[]);
    assert!(group(&isolated, &frequencies(), &lenient).is_err());
    let empty = group(&Graph::default(), &frequencies(), &lenient).unwrap_err();
    assert!(
        empty
            .to_string()
            .starts_with("none of the 0 nodes is on a GPU")
    );
}

#[test]
fn settings_without_groups_or_passes_and_absurd_sizes_are_refused() {
    let mut graph = graph(3, &[(0, 1), (1, 2)]);
    let settings = |groups, passes| Settings {
        groups,
        passes,
        ..Settings::default()
    };
    assert!(group(&graph, &frequencies(), &settings(0, 1)).is_err());
    assert!(group(&graph, &frequencies(), &settings(1, 0)).is_err());
    graph.nodes[1].shape = Shape::Dimensions(vec![Some(u64::MAX), Some(2)]);
    let error = group(&graph, &frequencies(), &settings(1, 1)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("operation \"op1\": its first output would have more than")
    );
}

/// A graph in which the inputs of each operation but the first are one or two of the 50 operations before it.
fn layered(ops: usize) -> Graph {
    let mut random = PythonRandom::new(5);
    let mut edges = Vec::new();
    for op in 1..ops {
        for _ in 0..2 {
            let back = 1 + random.below(op.min(50) as u32) as usize;
            edges.push((op - back, op));
        }
    }
    graph(ops, &edges)
}

#[test]
fn a_hundred_thousand_operations_are_grouped() {
    let graph = layered(100_000);
    let grouping = group(&graph, &frequencies(), &Settings::default()).unwrap();
    assert_eq!(grouping.report.grouped, 100_000);
    assert_eq!(grouping.graph.len(), 100);
}

fn edge_lists() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1usize..60).prop_flat_map(|ops| {
        let edges = prop::collection::vec((0..ops, 0..ops), 0..120);
        (Just(ops), edges)
    })
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn groups_partition_the_kept_operations(
        (ops, edges) in edge_lists(), groups in 1usize..12, seed: u64, passes in 1usize..4,
    ) {
        let settings = Settings {
            groups, seed, passes, allow_fewer: true, devices: Devices::Gpu,
        };
        let graph = graph(ops, &edges);
        let Ok(grouping) = group(&graph, &frequencies(), &settings) else {
            prop_assert!(edges.is_empty());
            return Ok(());
        };
        let report = &grouping.report;
        let dropped = report.isolated + report.in_smaller_components;
        prop_assert_eq!(report.grouped + dropped, ops);
        prop_assert_eq!(grouping.groups.iter().flatten().count(), report.grouped);
        let count = grouping.graph.len();
        prop_assert_eq!(count, groups.min(report.grouped));
        // No group is empty, and together the groups contain every operation exactly once.
        let sizes: Vec<f32> = grouping.graph.features.iter().map(|node| node[1]).collect();
        prop_assert!(sizes.iter().all(|&size| size >= 1.0));
        prop_assert_eq!(sizes.iter().sum::<f32>(), report.grouped as f32);
        prop_assert!(report.passes <= passes);
        // The edges are those between operations of different groups, in ascending order and
        // without duplicates.
        prop_assert!(grouping.graph.edges.windows(2).all(|pair| pair[0] < pair[1]));
        let mut expected = std::collections::BTreeSet::new();
        for &(a, b) in &edges {
            if let (Some(a), Some(b)) = (grouping.groups[a], grouping.groups[b]) && a != b {
                expected.insert((a.min(b), a.max(b)));
            }
        }
        let expected: Vec<_> = expected.into_iter().collect();
        prop_assert_eq!(&grouping.graph.edges, &expected);
        // The kept operations are connected, so the graph of the groups is connected too and has at
        // least `count - 1` edges.
        prop_assert!(expected.len() + 1 >= count);
        let again = group(&graph, &frequencies(), &settings).unwrap();
        prop_assert_eq!(again, grouping);
    }
}
