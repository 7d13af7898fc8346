//! Tests the readers of node classes.

use gleaner_domain::NodeClasses;
use gleaner_inputs::node_classes::{Choice, read};

use super::support::{assert_has, fault_of, file};

const TOML: &str = r#"
default = "cpu"
[[class]]
name = "a100"
nodes = "a[001-003],b7"
[[class]]
name = "v100"
pattern = '^g\d+$'
[[class]]
name = "h100"
nodes = "a001,h1"
"#;

const SCONTROL: &str = "\
NodeName=a1 Arch=x86_64 CoresPerSocket=32
   AvailableFeatures=big,ib ActiveFeatures=big,ib
   Gres=gpu:a100:4(S:0,2)
   Reason=Gres=gpu:wrong:1 [root@2026-01-01T11:10:00]

NodeName=a2 Arch=x86_64 AvailableFeatures=v100,ib ActiveFeatures=v100 Gres=gpu:4 NodeAddr=a2
NodeName=c1 Arch=x86_64
   AvailableFeatures=skylake,ib
   Gres=(null)
";

const SINFO: &str = "\
NODELIST GRES AVAIL_FEATURES
a1 gpu:a100:4 big,ib
a1 gpu:a100:4 big,ib
a2 gpu:4 v100,ib
c1 (null) skylake,ib
";

const PBSNODES: &str = "\
a1
     Mom = a1.cluster
     state = free
     resources_available.gputype = a100
     resources_available.host = a1
a2
     Mom = a2.cluster
     resources_available.gputype = v100
     comment = a = b
";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Reads the classes of `nodes` from a file with this name and text. Also returns the notes.
fn classes(
    (name, text): (&str, &str),
    choice: &Choice<'_>,
    nodes: &[&str],
) -> gleaner_domain::Result<(Vec<String>, Vec<String>)> {
    let (_folder, path) = file(name, text);
    let read = read(&path, choice, &names(nodes))?;
    assert_eq!(read.sources[0].path, path);
    let classes = &read.value;
    let first = NodeClasses::of_names((0..nodes.len()).map(|node| {
        let class = classes.of(node as u32);
        classes.names()[class].as_str()
    }));
    assert_eq!(first.as_ref(), Some(classes), "not in the order of nodes");
    let class = |node: u32| classes.names()[classes.of(node)].clone();
    Ok(((0..nodes.len() as u32).map(class).collect(), read.notes))
}

/// Like [`classes`], but returns only the classes. Asserts that the file was read without errors or notes.
fn plain(file: (&str, &str), choice: &Choice<'_>, nodes: &[&str]) -> Vec<String> {
    let (classes, notes) = classes(file, choice, nodes).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    classes
}

fn fault(text: &str, choice: &Choice<'_>, nodes: &[&str]) -> String {
    fault_of(classes(("classes", text), choice, nodes))
}

#[test]
fn the_first_rule_of_a_toml_file_wins() {
    let nodes = ["g12", "a001", "b7", "h1", "g12x", "a004"];
    let found = plain(("x.toml", TOML), &Choice::default(), &nodes);
    assert_eq!(found, ["v100", "a100", "a100", "h100", "cpu", "cpu"]);
    // The format is detected without the extension.
    assert_eq!(found, plain(("classes", TOML), &Choice::default(), &nodes));
    let (found, notes) = classes(("x.toml", TOML), &Choice::default(), &["a001", "n1"]).unwrap();
    assert_eq!(found, ["a100", "cpu"]);
    assert_eq!(notes.len(), 1);
    assert_has(
        &notes[0],
        &["x.toml: the log has no nodes of the classes v100, h100"],
    );
}

#[test]
fn a_table_names_every_node() {
    let text = "rack,node,class\n1,a,v100\n2,b,\"a,100\"\n1,a,later\n3,elsewhere,v100\n";
    let (found, notes) = classes(("x.csv", text), &Choice::default(), &["b", "a"]).unwrap();
    assert_eq!(found, ["a,100", "v100"]);
    assert_has(&notes[0], &["no node of class later"]);
    let message = fault_of(classes(
        ("x.csv", text),
        &Choice::default(),
        &["b", "c", "d", "e"],
    ));
    assert_has(
        &message,
        &[
            "x.csv: found no class for the log's node \"c\" and 2 more nodes, expected a class for every node of the log; add a row",
        ],
    );
    let message = fault("node,class\na,\n,v100\nb\n", &Choice::default(), &["a"]);
    assert_has(&message, &["line 2, class", "line 3, node", "line 4"]);
}

#[test]
fn slurm_states_the_types_of_gpus_and_features() {
    let features = names(&["v100", "skylake", "big"]);
    let choice = Choice {
        features: &features,
        ..Choice::default()
    };
    for text in [SCONTROL, SINFO] {
        let file = ("nodes.txt", text);
        assert_eq!(
            plain(file, &choice, &["c1", "a1", "a2"]),
            ["skylake", "a100", "v100"]
        );
        assert_eq!(plain(file, &Choice::default(), &["a1"]), ["a100"]);
        let message = fault_of(classes(file, &Choice::default(), &["a1", "a2"]));
        assert_has(
            &message,
            &["no class for the log's node \"a2\",", "--class-feature"],
        );
    }
    let one = names(&["ib"]);
    let choice = Choice {
        features: &one,
        ..choice
    };
    assert_eq!(
        plain(("n", SINFO), &choice, &["a2", "c1", "a1"])[..],
        ["ib", "ib", "a100"]
    );
    let message = fault(
        "NODELIST GRES AVAIL_FEATURES\na1 gpu:a100:4\n",
        &choice,
        &["a1"],
    );
    assert_has(&message, &["line 2: found 2 words, expected at least 3"]);
}

#[test]
fn pbs_states_a_resource() {
    for resource in ["gputype", "resources_available.gputype"] {
        let choice = Choice {
            resource: Some(resource),
            ..Choice::default()
        };
        assert_eq!(
            plain(("n.txt", PBSNODES), &choice, &["a2", "a1"]),
            ["v100", "a100"]
        );
        let message = fault(PBSNODES, &choice, &["a1", "a3"]);
        assert_has(&message, &["no class for the log's node \"a3\",", resource]);
    }
    let message = fault(PBSNODES, &Choice::default(), &["a1"]);
    assert_has(&message, &["found a list of PBS nodes", "--class-resource"]);
    let choice = Choice {
        resource: Some("gpu"),
        ..Choice::default()
    };
    let message = fault(PBSNODES, &choice, &["a1"]);
    assert_has(
        &message,
        &["no node with the resource gpu", "gputype, host"],
    );
    let (_, notes) = classes(("x.toml", TOML), &choice, &["a001", "g1", "h1", "c"]).unwrap();
    assert_has(&notes[0], &["--class-resource has no effect"]);
}

#[test]
fn faults_of_toml_name_the_line() {
    let text = "default = \"\"\n[[class]]\nname = \"a\"\n[[class]]\nname = \"\"\nnodes = \"n1\"\n\
                [[class]]\nname = \"b\"\nnodes = \"n[1-\"\n[[class]]\nname = \"c\"\npattern = \"(n1\"\n\
                [[class]]\nname = \"d\"\npattern = \"x\"\nnodes = \"n1\"\n";
    let message = fault(text, &Choice::default(), &["n1"]);
    assert_has(
        &message,
        &[
            "5 faults",
            "line 1, default: found nothing",
            "line 2: found neither nodes nor pattern",
            "line 4, name: found nothing",
            "line 9, nodes: found \"n[1-\" (brackets that do not match), expected a list of nodes such as",
            "line 12, pattern: found \"(n1\" (unclosed group), expected a regular expression",
            "line 13: found both nodes and pattern",
        ][1..],
    );
    for (text, parts) in [
        ("[[class]]\nname = 3\n", ["line 2", "[[class]] with a name"]),
        ("[[class]]\nnodes = \"a\"\n", ["line 1", "name"]),
        (
            "[[class]]\nname = \"a\"\nnode = \"a\"\n",
            ["line 3", "node"],
        ),
        (
            "# nothing\n",
            ["found no [[class]] and no default", "[[class]] with a name"],
        ),
        (
            "a1 gpu:a100:4\n",
            ["found \"a1 gpu", "classes of nodes: TOML"],
        ),
        ("{}", ["a file in another format", "pbsnodes"]),
        ("", ["found nothing", "TOML"]),
    ] {
        assert_has(&fault(text, &Choice::default(), &["a"]), &parts);
    }
}

#[test]
fn large_rules_are_refused() {
    let rule = |key: &str, value: &str| {
        let text = format!("[[class]]\nname = \"a\"\n{key} = '{value}'\n");
        fault(&text, &Choice::default(), &["n1"])
    };
    assert_has(
        &rule("pattern", "((a{100}){100}){100}"),
        &["it needs more than 64 KiB when compiled"],
    );
    assert_has(
        &rule("pattern", &"a".repeat(20_000)),
        &["a pattern of 20000 bytes"],
    );
    assert_has(&rule("pattern", &"(".repeat(5_000)), &["line 3, pattern"]);
    let many = "[[class]]\nname = \"a\"\npattern = \"x\"\n".repeat(1 << 16);
    let message = fault(&many, &Choice::default(), &["n1"]);
    assert_has(
        &message,
        &["line 3003, pattern: found too many patterns, expected at most 1000"],
    );
    assert_has(&rule("nodes", "n[1-999999]"), &["more than 262,144 hosts"]);
    let four = "[[class]]\nname = \"a\"\nnodes = \"n[1-262144]\"\n".repeat(5);
    let message = fault(&four, &Choice::default(), &["n1"]);
    assert_has(
        &message,
        &["line 15, nodes: found more than 1,048,576 names in all lists"],
    );
    let many: String = (0..1 << 16).map(|class| format!("n1,c{class}\n")).collect();
    let message = fault(&format!("node,class\n{many}"), &Choice::default(), &["n1"]);
    assert_has(
        &message,
        &["line 1002: found too many classes, expected at most 1000 classes"],
    );
    let many: String = (0..1 << 16)
        .map(|class| format!("NodeName=n1 Gres=gpu:c{class}:1\n"))
        .collect();
    assert_has(
        &fault(&many, &Choice::default(), &["n1"]),
        &["line 1001", "at most 1000 classes"],
    );
}
