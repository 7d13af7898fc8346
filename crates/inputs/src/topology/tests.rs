//! Tests the order of the nodes in both formats, the messages for faults, random trees and random
//! text.

use proptest::prelude::*;

use super::*;
use gleaner_domain::error::Error;

/// The names of the nodes in order, separated by spaces, or the faults of the topology.
fn order(text: &str) -> std::result::Result<String, String> {
    match parse(Path::new("net"), text.as_bytes()) {
        Ok(order) => Ok(order.names().join(" ")),
        Err(Error::Data(faults)) => Err(faults.to_string()),
        Err(error) => panic!("{error}"),
    }
}

// A topology.conf that Slurm 22.05.8 accepts, and the output of its `scontrol show topology`.
const CONF: &str = "\
# comment \\
switchname=top Switches=mid,s2
SwitchName=mid switches=s[1,0] LinkSpeed=50

SwitchName=s0 Nodes=n[0-2],m1 # end
SwitchName = s1 Nodes = n[3-5], \\
   LinkSpeed=3
SwitchName=s2 No\\
des=n[12-17,6-11],m[4,2-3]
# comment \\";
const PRINTED: &str = "\
SwitchName=top Level=2 LinkSpeed=1 Nodes=m[1-4],n[0-17] Switches=mid,s2
SwitchName=mid Level=1 LinkSpeed=50 Nodes=m1,n[0-5] Switches=s[1,0]
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-2],m1
SwitchName=s1 Level=0 LinkSpeed=3 Nodes=n[3-5],
SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[12-17,6-11],m[4,2-3]
";

#[test]
fn a_tree_is_read_depth_first_from_both_formats() {
    let expected = "n3 n4 n5 n0 n1 n2 m1 n12 n13 n14 n15 n16 n17 n6 n7 n8 n9 n10 n11 m4 m2 m3";
    assert_eq!(order(CONF).unwrap(), expected);
    assert_eq!(order(PRINTED).unwrap(), expected);
    assert_eq!(order(&PRINTED.replace('\n', "\r\n")).unwrap(), expected);
}

#[test]
fn blocks_are_read_in_the_order_of_the_file() {
    let conf = "BlockName=b2 Nodes=n[5-6]\nBLOCKNAME=b1 nodes=n[01-02]\nBlockSizes=2,4\n";
    assert_eq!(order(conf).unwrap(), "n5 n6 n01 n02");
    let printed = "\
BlockName=b2 BlockIndex=0 Nodes=n[5-6] BlockSize=2
BlockName=b1 BlockIndex=1 Nodes=n[01-02] BlockSize=2
BlockName=b3 BlockIndex=2 Nodes= BlockSize=2
BlockName=b4 BlockIndex=3 BlockSize=2
AggregatedBlock=b[1-2] BlockIndex=4 Nodes=n[01-02,5-6] BlockSize=4
";
    assert_eq!(order(printed).unwrap(), "n5 n6 n01 n02");
}

#[test]
fn small_oddities_that_slurm_accepts_are_read() {
    for (text, expected) in [
        ("SwitchName=\"s0\" Nodes=\"n[0-1]\"LinkSpeed=1", "n0 n1"),
        ("SwitchName=s0 \\ \n Nodes=n0", "n0"),
        // A switch that is below two other switches, and a switch that is listed twice below the
        // same switch.
        (
            "SwitchName=s0 Nodes=n0\nSwitchName=s1 Nodes=n1\nSwitchName=a Switches=s1,s1\n\
             SwitchName=b Switches=s0,s1\nSwitchName=top Switches=b,a",
            "n0 n1",
        ),
        // Several trees, and a switch and a block with the same name.
        (
            "SwitchName=a Nodes=n1\nBlockName=a Nodes=n2\nSwitchName=b Switches=(null) Nodes=n0",
            "n1 n2 n0",
        ),
    ] {
        assert_eq!(order(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn every_fault_is_reported_with_its_line() {
    let long = "n".repeat(1025);
    for (text, expected) in [
        (
            "",
            "net: found no switch and no block, expected lines such as",
        ),
        ("# nothing\n\n", "net: found no switch and no block"),
        (
            "\nFoo=1 SwitchName=s0",
            "net, line 2: found \"Foo=1 SwitchName=s0\", expected lines such",
        ),
        (
            "No topology here",
            "net, line 1: found \"No topology here\", expected lines",
        ),
        (
            "SwitchName=s0 Nodes=n0, n1",
            "net, line 1: found \"n1\", expected lines",
        ),
        (
            "SwitchName=s0 Nodes=\"n0",
            "net, line 1: found \"\\\"n0\", expected lines",
        ),
        ("SwitchName= Nodes=n0", "net, line 1: found no name"),
        ("SwitchName=s0 a b=n0", "net, line 1: found \"a b=n0\""),
        (
            "SwitchName=s0 Node=n0",
            "net, line 1, Nodes: found \"s0\" without Nodes= or Switches=, expected Nodes= or Switches=",
        ),
        (
            "SwitchName=s0 Nodes=a nodes=b",
            "net, line 1, Nodes: found the field a second time, expected once per line",
        ),
        (
            "SwitchName=s0 BlockName=b Nodes=a",
            "net, line 1, SwitchName or BlockName: found the field a second time",
        ),
        (
            "SwitchName=s0 \\\n\\\n Nodes=n[1\n",
            "net, line 1, Nodes: found \"n[1\" (brackets that do not match), expected a list of nodes such as n[0-17]",
        ),
        (
            "BlockName=s0 Nodes=n[3-1]",
            "net, line 1, Nodes: found \"n[3-1]\" (a bracket that contains something other than numbers",
        ),
        (
            "BlockName=s0 Nodes=a,,b",
            "net, line 1, Nodes: found \"a,,b\" (an empty name)",
        ),
        (
            "BlockName=s0 Nodes=n[0-999999999]",
            "(more than 262,144 hosts)",
        ),
        (
            &format!("BlockName=s0 Nodes={long}"),
            "(a name of more than 1,024 bytes or 32 brackets)",
        ),
        (
            "SwitchName=s0 Nodes=a\nSwitchName=t Switches=s[0-3]",
            "net, line 2, Switches: found s1, and 2 more, expected switches that have a line of their own",
        ),
        (
            "BlockName=s0 Nodes=a\nSwitchName=t Switches=s0",
            "net, line 2, Switches: found s0, expected switches",
        ),
        (
            "SwitchName=t Switches=s[",
            "net, line 1, Switches: found \"s[\" (brackets that do not match), expected a list of switches",
        ),
        (
            "SwitchName=t Switches=t",
            "net, line 1, Switches: found t, which is above this switch, expected a tree",
        ),
        (
            "SwitchName=s0 Nodes=n[0-3]\n\nSwitchName=s1 Nodes=m,n[2-9]",
            "net, line 3, Nodes: found n2, which is also on line 1, and 1 more, expected each node only once",
        ),
        (
            "BlockName=b Nodes=n1,n1",
            "net, line 1, Nodes: found n1, which is also on line 1, expected each node only once",
        ),
        (
            "BlockName=b Nodes=n1\nBlockName=b Nodes=n2",
            "net, line 2: found b again, after line 1, expected one line for each name",
        ),
    ] {
        let faults = order(text).unwrap_err();
        assert!(faults.contains(expected), "{text}: {faults}");
    }
}

#[test]
fn circles_are_found_wherever_they_are() {
    // A cycle below a root, a cycle without a root, and a cycle above a switch that is listed
    // first.
    for (text, line) in [
        (
            "SwitchName=top Switches=a\nSwitchName=a Switches=b\nSwitchName=b Switches=c,a\nSwitchName=c Nodes=n",
            3,
        ),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a", 2),
        (
            "SwitchName=s Nodes=n\nSwitchName=a Switches=b,s\nSwitchName=b Switches=a",
            3,
        ),
    ] {
        let faults = order(text).unwrap_err();
        let expected = format!("net, line {line}, Switches: found a, which is above this switch");
        assert!(faults.contains(&expected), "{text}: {faults}");
    }
}

#[test]
fn long_chains_and_long_lists_are_bounded() {
    let chain: String = (0..100_000)
        .map(|i| format!("SwitchName=s{i} Switches=s{}\n", i + 1))
        .collect();
    assert_eq!(
        order(&format!("{chain}SwitchName=s100000 Nodes=n")).as_deref(),
        Ok("n")
    );
    // Each list has the maximum number of names.
    let lists = |stem: &str, count: usize| -> String {
        (0..count)
            .map(|i| format!("BlockName=b{i} Nodes={stem}{i}x[0-262143]\n"))
            .collect()
    };
    let faults = order(&lists("n", 6)).unwrap_err();
    assert!(
        faults.contains("line 5, Nodes: found more than 1,048,576 names in all lists"),
        "{faults}"
    );
    let faults = order(&lists(&"n".repeat(1000), 1)).unwrap_err();
    assert!(
        faults.contains("found more than 64 MiB of names"),
        "{faults}"
    );
    let many = "SwitchName=t Switches=x\n".repeat(10_000);
    assert!(
        order(&many)
            .unwrap_err()
            .starts_with("at least 1000 faults")
    );
}

/// A random tree, in which each switch has nodes or is above other switches.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(Vec<u16>),
    Inner(Vec<Tree>),
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop::collection::vec(0u16..2000, 0..5).prop_map(Tree::Leaf);
    leaf.prop_recursive(5, 60, 4, |below| {
        prop::collection::vec(below, 1..5).prop_map(Tree::Inner)
    })
}

impl Tree {
    /// Makes the nodes of all leaves distinct.
    fn number(&mut self, next: &mut u16) {
        match self {
            Tree::Leaf(nodes) => nodes.iter_mut().for_each(|node| {
                *node = *next ^ 5;
                *next += 1;
            }),
            Tree::Inner(below) => below.iter_mut().for_each(|tree| tree.number(next)),
        }
    }

    /// The order according to its recursive definition: the nodes of the first switch below, then
    /// the nodes of the next switch, and so on.
    fn depth_first(&self) -> Vec<String> {
        match self {
            Tree::Leaf(nodes) => nodes.iter().map(|node| format!("n{node}")).collect(),
            Tree::Inner(below) => below.iter().flat_map(Tree::depth_first).collect(),
        }
    }

    /// Adds the lines of this switch and of the switches below it, and returns the switch's name.
    fn write(&self, printed: bool, lines: &mut Vec<String>) -> String {
        let (names, mut line) = match self {
            Tree::Leaf(_) => (Vec::new(), String::new()),
            Tree::Inner(below) => {
                let names = below.iter().map(|tree| tree.write(printed, lines));
                let names: Vec<String> = names.collect();
                let list = format!(" Switches={}", names.join(","));
                (names, list)
            }
        };
        if printed || names.is_empty() {
            let mut nodes = self.depth_first();
            if !names.is_empty() {
                // `scontrol` sorts the nodes of a switch that is above other switches.
                nodes.sort();
            }
            line = format!(" Nodes={}{line}", nodes.join(","));
        }
        let name = format!("s{}", lines.len());
        let level = if printed { " Level=7 LinkSpeed=1" } else { "" };
        lines.push(format!("SwitchName={name}{level}{line}"));
        name
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    // The expected order comes from `Tree::depth_first`, which implements the recursive definition.
    #[test]
    fn random_trees_are_read_depth_first(
        mut forest in prop::collection::vec(trees(), 1..4),
        printed in any::<bool>(),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let mut next = 0;
        forest.iter_mut().for_each(|tree| tree.number(&mut next));
        let mut lines = Vec::new();
        for tree in &forest {
            tree.write(printed, &mut lines);
        }
        let expected: Vec<String> = forest.iter().flat_map(Tree::depth_first).collect();
        // The order of the lines affects only the order in which the trees are visited.
        let roots: Vec<usize> = (0..lines.len())
            .filter(|at| {
                let name = format!("s{at}");
                !lines.iter().any(|line| {
                    let list = line.split_once("Switches=").map_or("", |(_, list)| list);
                    list.split(',').any(|below| below == name)
                })
            })
            .collect();
        prop_assert_eq!(roots.len(), forest.len());
        let turn = shuffled.index(lines.len());
        let moved: Vec<String> = (0..lines.len())
            .filter(|at| !roots.contains(at))
            .map(|at| lines[at].clone())
            .collect();
        let split = turn.min(moved.len());
        let kept = roots.iter().map(|&at| lines[at].clone());
        let all: Vec<String> = moved[split..].iter().cloned()
            .chain(kept)
            .chain(moved[..split].iter().cloned())
            .collect();
        for lines in [&lines, &all] {
            let text = lines.join("\n");
            let found = order(&text);
            prop_assert_eq!(found.as_deref(), Ok(&*expected.join(" ")), "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(
        words in prop::collection::vec(
            prop_oneof![
                3 => prop::sample::select(vec![
                    "SwitchName=", "BlockName=", "Nodes=", "Switches=", "Level=0", "BlockSizes=",
                    "s0", "s1", "s[0-1]", "n[0-3]", "n1", "n[", ",", "=", "\"", "#", "\\", "\n", " ",
                    "\\\n", "\r\n", "é", "(null)",
                ])
                .prop_map(str::to_owned),
                1 => any::<String>(),
            ],
            0..40,
        ),
    ) {
        let _ = order(&words.concat());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(Path::new("net"), &bytes);
    }
}
