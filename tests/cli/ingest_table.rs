//! Tests the output of `gleaner ingest table`, and the inputs that it rejects.

use std::fs;

use crate::support::{gleaner, logs};

#[test]
fn the_list_needs_no_file_and_a_log_needs_an_output() {
    let directory = logs();
    let at = directory.path();
    let list = gleaner(at, "ingest table --list").expect(0).out;
    for part in [
        "polaris",
        "560 nodes",
        "--members worker.csv --machine lingjun -o lingjun.gev",
    ] {
        assert!(list.contains(part), "{list}");
    }
    gleaner(at, "ingest table").expect(2).says(&["<FILE>"]);
    let refused = gleaner(at, "ingest table table.csv").expect(2);
    refused.says(&["nothing to write: name an event log with -o"]);
    let refused = gleaner(at, "ingest table table.csv --machine summit -o o.gev").expect(2);
    refused.says(&["lassen", "polaris"]);
    let refused = gleaner(at, "ingest table table.csv --columns x=y -o o.gev").expect(2);
    refused.says(&["expected ROLE=NAME"]);
}

#[test]
fn a_table_becomes_an_event_log() {
    let directory = logs();
    let at = directory.path();
    let said = gleaner(at, "ingest table table.csv --timezone UTC -o o.csv").expect(0);
    said.says(&[
        "columns: start start_time, end end_time, submit submit_time, nodes nodes, count num_nodes, state state",
        "used      4 jobs",
        "1 that never started",
    ]);
    let events = fs::read_to_string(at.join("o.csv")).unwrap();
    assert!(
        events.starts_with("time,node,state\n2026-01-01 08:00:00"),
        "{events}"
    );
    let said = gleaner(at, "ingest table table.csv --state COMPLETED -o o.csv").expect(0);
    said.says(&[
        "only selected jobs are used",
        "2 of other partitions or states",
    ]);
    let wrong = gleaner(at, "ingest slurm sacct.txt --partition a -o o.csv").expect(3);
    wrong.says(&["the column Partition", "sacct"]);
    let wrong = gleaner(at, "ingest table table.csv --gpu -o o.csv").expect(2);
    wrong.says(&["--nodes"]);
    gleaner(
        at,
        "ingest slurm sacct.txt --nodes scontrol-nodes.txt --gpu -o o.csv",
    )
    .expect(3);
}
