//! Tests short input that requests large tables.

use std::fmt::Write;
use std::fs;

use crate::support::{attack, json, samples};

// The attack: 60 jobs of a billion seconds each filled a table with a row per minute.
#[test]
fn long_jobs_do_not_make_endless_tables() {
    let directory = samples();
    let at = directory.path();
    let mut jobs = "job_id,vc,gpu_num,submit_time,duration\n".to_owned();
    for job in 0..60 {
        writeln!(jobs, "{job},a,8,0,1000000000").unwrap();
    }
    fs::write(at.join("long.csv"), jobs).unwrap();
    fs::write(at.join("many.csv"), "0,4294967295\n").unwrap();
    fs::write(at.join("vcs.csv"), "vc,num\na,1\n").unwrap();
    let line = "simulate --trace long.csv --cluster vcs.csv --estimates oracle";
    let found = attack(at, &format!("{line} --policy qssf,easy --json"));
    assert_eq!(found.code, 0, "{}", found.err);
    let found = attack(
        at,
        &format!("{line} --policy fifo,sjf,srtf,tiresias --check --out run"),
    );
    assert_eq!(found.code, 0, "{}", found.err);
    // 60 jobs of 1e9 s under four policies take 4e9 minutes, but the tables are allowed to have at
    // most 120 million rows.
    let words = "with a row every minute, they would have 4.0e9 rows";
    assert!(found.err.contains(words), "{}", found.err);
    assert_eq!(json(&at.join("run/summary.json"))["seq_step_s"], 3600);
    attack(at, &format!("{line} --policy fifo --idle-events idle.gev"));
    assert_eq!(attack(at, "report run -o page.html").code, 0);
    assert!(
        fs::read_to_string(at.join("page.html"))
            .unwrap()
            .contains("100.0 %")
    );
}

// The attack: 160 lists of 262,144 nodes, in a file of 2.4 KB. Memory and time must depend only on the number of
// distinct nodes.
#[test]
fn lists_of_nodes_cost_only_their_distinct_nodes() {
    let directory = samples();
    let at = directory.path();
    let head = "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n";
    let rows = |list: fn(u32) -> String| {
        let mut text = head.to_owned();
        for job in 0..160 {
            let times = format!(
                "2026-01-01T00:00:00|2026-01-01T01:{:02}:00|2026-01-01T02:{:02}:00",
                job % 60,
                job % 60
            );
            writeln!(text, "{job}|COMPLETED|{times}|262144|{}", list(job)).unwrap();
        }
        text
    };
    fs::write(at.join("same.txt"), rows(|_| "n[000000-262143]".to_owned())).unwrap();
    fs::write(
        at.join("other.txt"),
        rows(|job| format!("n{job}x[000000-262143]")),
    )
    .unwrap();
    fs::write(
        at.join("nested.txt"),
        rows(|job| format!("r[1-512]c{job}[1-512]")),
    )
    .unwrap();
    for name in ["same", "other", "nested"] {
        attack(at, &format!("ingest slurm {name}.txt -o {name}.gev"));
    }
}

// Tables for these numbers of nodes would need more memory than is available.
#[test]
fn unbounded_counts_are_refused() {
    let directory = samples();
    let at = directory.path();
    fs::write(
        at.join("many.swf"),
        "; MaxNodes: 4294967295\n1 0 0 10 4294967295 -1 -1 4294967295 10 -1 1 1 1 1 1 1 -1 -1\n",
    )
    .unwrap();
    fs::write(at.join("many.csv"), "0,4294967295\n").unwrap();
    fs::write(at.join("vcs.csv"), "vc,num\na,4294967295\n").unwrap();
    fs::write(
        at.join("vast.csv"),
        "job_id,vc,gpu_num,submit_time,duration\n1,a,4294967295,0,10\n",
    )
    .unwrap();
    for line in [
        "ingest swf many.swf -o x.gev",
        "ingest spot many.csv -o x.gev",
        "ingest batsim logs/batsim.json --node-count 4294967295 -o x.csv",
        "simulate --trace vast.csv --cluster vcs.csv --policy fifo",
        "simulate --trace vast.csv --cluster vcs.csv --policy fifo --gpus-per-node 4294967295",
        "synth events --nodes 4294967295 -o x.csv",
        "synth events --days 1e300 -o x.csv",
        "synth tasks --count 4294967295 -o x.toml",
        "synth jobs --vcs 4294967295 -o made",
        "synth slurm --nodes 4294967295 -o x.txt",
        "synth graphs --count 4294967295 -o made",
        "replay --events idle.csv --tasks tasks.toml --max-tasks 18446744073709551615",
        "replay --events idle.csv --tasks tasks.toml --skip-rows 18446744073709551615",
        "compare --problems problems.jsonl --time-limit 1e300",
        "sweep sweep.toml --dry-run --jobs 1000000000000",
    ] {
        attack(at, line);
    }
}
