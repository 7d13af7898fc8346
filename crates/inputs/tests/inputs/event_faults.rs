//! Tests that faults in event logs are reported with the place, the value found and the value expected.

use gleaner_domain::error::MAX_FAULTS;

use super::support::{assert_has, fault_of, read_text};

#[test]
fn all_faults_of_a_wide_csv_are_gathered() {
    let text = "time,a,b,a,\n2,0,1,0,0\n1,0,7,0,0\nsoon,0,0,0,0\n3,0,0\n4,0,0,x,\n";
    assert_has(
        &fault_of(read_text("log.csv", text)),
        &[
            "8 faults in the input",
            "node column 2 (counting from 0): found \"a\", also the name of node column 0",
            "node column 3 (counting from 0): found no name",
            "line 3, b: found \"7\", expected 0 (busy) or 1 (idle)",
            "line 3, time: found 1970-01-01 00:00:01, expected 1970-01-01 00:00:02 (the previous row) or later; sort",
            "line 4, time: found \"soon\", expected a time such as",
            "line 5: found 3 fields, expected 5, as in the header",
            "line 6, a: found \"x\"",
        ],
    );
}

#[test]
fn all_faults_of_a_long_csv_are_gathered() {
    let text = "time,node,state\n2,a,1\n2,a,0\n1,b,1\n3,,1\n4,c,2\n5,c\n,,\n";
    assert_has(
        &fault_of(read_text("log.csv", text)),
        &[
            "line 3, state: found two states of \"a\" at 1970-01-01 00:00:02",
            "line 4, time: found 1970-01-01 00:00:01",
            "line 5, node: found nothing",
            "line 6, state: found \"2\", expected 0 (busy) or 1 (idle)",
            "line 7: found 2 fields",
            "line 8, time: found nothing",
        ],
    );
    let message = fault_of(read_text("log.csv", "time,node,state,rack\n1,a,1,r\n"));
    assert_has(
        &message,
        &["line 1: found the columns time, node, state, rack"],
    );
}

#[test]
fn contradictory_and_missing_classes_are_faults() {
    let text = "class,time,node,state\nv100,1,a,1\n,1,b,1\na100,1,c,1\na100,2,a,0\nv100,2,a,0\nx,3,,\n,3,d,1\n";
    assert_has(
        &fault_of(read_text("log.csv", text)),
        &[
            "3 faults",
            "line 5, class: found \"a100\" for node \"a\", but \"v100\" in line 2, expected one class for each node",
            "line 7, class: found \"x\", expected an empty cell",
            "line 3, class: found no class for node \"b\" and 1 more node, expected a class for every node",
            "remove the column and set the classes with --classes",
        ],
    );
    let too_many: String = (0..1001)
        .map(|node| format!("1,n{node},1,c{node}\n"))
        .collect();
    let message = fault_of(read_text(
        "log.csv",
        format!("time,node,state,class\n{too_many}"),
    ));
    assert_has(
        &message,
        &["line 1002, class: found too many classes, expected at most 1000 classes"],
    );
}

#[test]
fn classes_are_in_the_order_of_their_first_node() {
    let text = "time,node,state,class\n1,a,1,\n1,b,0,v100\n2,,,\n2,a,0,a100\n2,b,1,v100\n";
    let log = read_text("log.csv", text).unwrap();
    let classes = log.classes().unwrap();
    assert_eq!(classes.names(), ["a100", "v100"]);
    assert_eq!(classes.of_nodes(), [0, 1]);
    let without = read_text("log.csv", "time,node,state,class\n1,a,1,\n2,a,0,\n").unwrap();
    assert_eq!(without.classes(), None);
    // In wide CSV, a column named `class` is a node.
    let wide = read_text("log.csv", "time,class\n1,1\n2,0\n").unwrap();
    assert_eq!(
        (wide.nodes(), wide.classes()),
        (&["class".to_owned()][..], None)
    );
}

#[test]
fn a_file_full_of_faults_ends_early() {
    let text = format!("time,a\n{}", "1,x\n".repeat(3 * MAX_FAULTS));
    let message = fault_of(read_text("log.csv", text));
    assert_has(
        &message,
        &[&format!("at least {MAX_FAULTS} faults"), "and 980 more"],
    );
}

#[test]
fn empty_logs_are_refused() {
    for (name, text, found) in [
        ("log.csv", "", "no header line"),
        ("log.csv", "time,a\n", "no rows"),
        ("log.csv", "time\n1\n", "no nodes"),
        ("log.csv", "time,node,state\n1,,\n", "no nodes"),
        ("log.parquet", "", "no PAR1 signature"),
        ("log.gev", "", "no .gev signature"),
        ("log.pkl", "", "cannot be read"),
        ("log.pkl.gz", "", "cannot be read"),
    ] {
        assert_has(&fault_of(read_text(name, text)), &[found]);
    }
}

#[test]
fn a_file_of_tasks_is_not_read_as_a_log() {
    let message = fault_of(read_text("tasks.toml", "[[task]]\nname = 'a'\n"));
    assert_has(&message, &["expected an event log"]);
}

#[test]
fn times_come_as_texts_or_seconds() {
    let seconds = read_text("a.csv", "when,a\n1612915732,1\n1612915732.5,0\n").unwrap();
    let texts = "when,a\n2021-02-10 00:08:52,1\n2021-02-10T00:08:52.5,0\n";
    assert_eq!(read_text("b.csv", texts).unwrap(), seconds);
}

#[test]
fn a_missing_file_is_not_a_fault_of_data() {
    let error = gleaner_inputs::events::read("no/such/file".as_ref()).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert_has(&error.to_string(), &["cannot read no/such/file"]);
}

#[test]
fn an_endless_line_is_refused() {
    use std::io::Write;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(&vec![0; 65 << 20]).unwrap();
    let message = fault_of(read_text("log.csv.gz", out.finish().unwrap()));
    assert_has(&message, &["a line of more than 64 MiB"]);
}
