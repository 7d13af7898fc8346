//! Tests `gleaner ingest slurm --jobs`, and the messages that other commands print for a scheduler's log.

use std::fs;

use crate::support::{dataset, gleaner, json, logs, with_stdin};

#[test]
fn events_and_jobs_come_from_one_table() {
    let directory = logs();
    let at = directory.path();
    let line = "ingest slurm sacct-gpus.txt -o log.gev --jobs jobs.csv --gpus-per-node 4";
    let run = gleaner(at, line).expect(0).says(&[
        "wrote log.gev\n",
        "wrote jobs.csv and vc_config.csv\n",
        "clusters  2, of 3 nodes of 4 GPUs",
    ]);
    let command = run
        .err
        .lines()
        .find_map(|line| line.strip_prefix("gleaner: gleaner "));
    gleaner(
        at,
        &format!("{} --check", command.unwrap().replace("fifo,srtf", "fifo")),
    )
    .expect(0);
    let summary = json(&at.join("run/summary.json"));
    assert_eq!(summary["policies"]["fifo"]["jobs"], 3);
    let events = fs::read(at.join("log.gev")).unwrap();
    let jobs = fs::read(at.join("jobs.csv")).unwrap();
    // Each output has the same bytes if it is the only output of a command, even if the command reads the log from
    // stdin.
    gleaner(at, "ingest slurm sacct-gpus.txt -o alone.gev").expect(0);
    assert!(fs::read(at.join("alone.gev")).unwrap() == events);
    let text = fs::read_to_string(at.join("sacct-gpus.txt")).unwrap();
    with_stdin(at, "ingest slurm - --jobs alone.csv", &text).expect(0);
    assert!(fs::read(at.join("alone.csv")).unwrap() == jobs);
    gleaner(at, "ingest slurm sacct-gpus.txt --jobs by.csv --vc account").expect(0);
    let clusters = fs::read_to_string(at.join("by_vc_config.csv")).unwrap();
    assert_eq!(clusters, "vc,num\nbio,1\nphysics,1\n");
}

#[test]
fn conflicting_options_are_reported() {
    let directory = logs();
    let at = directory.path();
    for (line, code, words) in [
        ("sacct-gpus.txt", 2, "--output <FILE>|--jobs <FILE>"),
        ("- -o a.gev --jobs a.csv", 2, "stdin can be read only once"),
        (
            "sacct-gpus.txt --jobs a.csv --from 2026-01-01",
            2,
            "apply only to an event log",
        ),
        (
            "sacct-gpus.txt -o a.gev --gpus-per-node 4",
            2,
            "apply only to jobs",
        ),
        (
            "sacct-gpus.txt --jobs a.txt",
            2,
            "expected a name ending in .csv or .parquet",
        ),
        (
            "sacct.txt --jobs a.csv",
            3,
            "AllocTRES: found no such column",
        ),
    ] {
        gleaner(at, &format!("ingest slurm {line}"))
            .expect(code)
            .says(&[words]);
        assert!(!at.join("a.csv").exists(), "{line}");
    }
}

#[test]
fn two_outputs_are_written_or_none() {
    let directory = logs();
    let at = directory.path();
    // An event log can be derived from this file, but the file lacks a column that the table of jobs needs.
    let refused = gleaner(at, "ingest slurm sacct.txt -o a.gev --jobs a.csv").expect(3);
    refused.says(&["AllocTRES"]);
    let refused = gleaner(at, "ingest slurm sacct-gpus.txt -o a.gev --jobs a.txt").expect(2);
    refused.says(&["expected a name ending in .csv or .parquet"]);
    for name in ["a.gev", "a.csv", "a_vc_config.csv"] {
        assert!(!at.join(name).exists(), "{name}");
    }
}

#[test]
fn nodes_are_a_list_or_a_file() {
    let directory = logs();
    let at = directory.path();
    fs::write(at.join("nodes.txt"), "n[01-02]\n").unwrap();
    gleaner(at, "ingest slurm sacct.txt --nodes nodes.txt -o file.csv").expect(0);
    let list = gleaner(at, "ingest slurm sacct.txt --nodes n[01-02] -o list.csv").expect(0);
    assert_eq!(
        fs::read(at.join("file.csv")).unwrap(),
        fs::read(at.join("list.csv")).unwrap()
    );
    // The log names nodes that are missing from the list. This is not an error, because the user chose the list.
    list.says(&["with nodes that are missing from the list of nodes (the others are used); first sacct.txt, line "]);
    gleaner(
        at,
        "ingest slurm sacct.txt --nodes n[01-02] --strict -o list.csv",
    )
    .expect(0);
    let missing = gleaner(at, "ingest slurm sacct.txt --nodes nodes -o a.csv").expect(1);
    missing.says(&["cannot read nodes: No such file"]);
    let wrong = gleaner(at, "ingest slurm sacct.txt --nodes n[01- -o a.csv").expect(3);
    wrong.says(&["--nodes", "n[01-"]);
}

#[test]
fn what_is_not_the_table_of_sacct_gets_one_answer() {
    let directory = logs();
    let at = directory.path();
    let table = fs::read_to_string(at.join("sacct.txt")).unwrap();
    let (_, rows) = table.split_once('\n').unwrap();
    for (text, found, hint) in [
        (
            rows.to_owned(),
            "found a row of values, ",
            "(run sacct without -n)",
        ),
        (
            format!("sacct: error: no connection\n{table}"),
            "found another line, ",
            "remove the lines above",
        ),
        (
            "{\n  \"jobs\": []\n}\n".to_owned(),
            "found JSON, ",
            "(run sacct without --json)",
        ),
    ] {
        fs::write(at.join("wrong.txt"), text).unwrap();
        for output in ["-o a.gev", "--jobs a.csv"] {
            let refused = gleaner(at, &format!("ingest slurm wrong.txt {output}")).expect(3);
            assert_eq!(
                refused.err.matches("wrong.txt").count(),
                1,
                "{}",
                refused.err
            );
            refused.says(&["wrong.txt, line 1: ", found, hint, "sacct -a -X -P -D"]);
        }
    }
}

#[test]
fn lines_of_overlapping_files_count_once() {
    let directory = logs();
    let at = directory.path();
    let table = fs::read_to_string(at.join("sacct.txt")).unwrap();
    let lines = table.lines().count() - 1;
    fs::copy(at.join("sacct.txt"), at.join("again.txt")).unwrap();
    let once = gleaner(at, "ingest slurm sacct.txt -o once.csv")
        .expect(0)
        .err;
    let both = gleaner(at, "ingest slurm sacct.txt again.txt -o both.csv")
        .expect(0)
        .err;
    assert_eq!(
        fs::read(at.join("once.csv")).unwrap(),
        fs::read(at.join("both.csv")).unwrap()
    );
    assert!(
        both.contains(&format!("left out  {lines} that repeat an earlier line")),
        "{both}"
    );
    // The printed texts differ only in their lines about the input, the output and the repeated lines.
    let rest = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("read ") && !line.contains("wrote "));
        lines
            .filter(|line| !line.contains("repeat an"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rest(&once), rest(&both));
}

#[test]
fn aligned_columns_are_refused_as_bars_are_expected() {
    let directory = logs();
    let at = directory.path();
    let aligned = "JobIDRaw          State               Start                 End        NodeList \n\
                   ------------ ---------- ------------------- ------------------- --------------- \n\
                   101           COMPLETED 2026-01-01T08:00:00 2026-01-01T09:00:00        n[01-02] \n";
    fs::write(at.join("aligned.txt"), aligned).unwrap();
    let events = "       Cluster        NodeName           TimeStart             TimeEnd  State\n";
    fs::write(at.join("events.txt"), events).unwrap();
    for (line, command) in [
        ("slurm aligned.txt -o a.gev", "sacct -a -X -P"),
        ("slurm aligned.txt --jobs a.csv", "sacct -a -X -P"),
        (
            "slurm sacct.txt --events events.txt -o a.gev",
            "sacctmgr -P",
        ),
    ] {
        gleaner(at, &format!("ingest {line}")).expect(3).says(&[
            "line 1: found columns aligned with spaces",
            "as Slurm's commands write them with -P",
            command,
        ]);
    }
}

#[test]
fn logs_of_schedulers_are_not_read_as_event_logs() {
    let directory = logs();
    let at = directory.path();
    fs::copy(dataset().join("tasks.toml"), at.join("tasks.toml")).unwrap();
    fs::copy(dataset().join("cluster/jobs.csv"), at.join("jobs.csv")).unwrap();
    for (name, command) in [
        ("sacct.txt", "`gleaner ingest slurm sacct.txt -o log.gev`"),
        (
            "sacctmgr-events.txt",
            "with --events, together with the table of jobs",
        ),
        (
            "scontrol-nodes.txt",
            "with --nodes, together with the scheduler's log",
        ),
        ("pbs.txt", "`gleaner ingest pbs pbs.txt -o log.gev`"),
        (
            "cobalt.log",
            "`gleaner ingest cobalt cobalt.log -o log.gev`",
        ),
        (
            "workload.swf",
            "`gleaner ingest swf workload.swf -o log.gev`",
        ),
        ("djc.csv", "`gleaner ingest djc djc.csv -o log.gev`"),
        (
            "philly-jobs.json",
            "`gleaner ingest philly philly-jobs.json -o log.gev`",
        ),
        (
            "batsim.json",
            "`gleaner ingest batsim batsim.json -o jobs.csv`",
        ),
        (
            "gavel.trace",
            "`gleaner ingest gavel gavel.trace -o jobs.csv`",
        ),
        (
            "helios.csv",
            "`gleaner ingest helios helios.csv -o jobs.csv`",
        ),
        ("jobs.csv", "--idle-events log.csv"),
    ] {
        for line in [
            format!("inspect {name}"),
            format!("convert {name} -o a.csv"),
            format!("replay --events {name} --tasks tasks.toml --t-fwd 60"),
        ] {
            let run = gleaner(at, &line).expect(3);
            run.says(&[
                name,
                "expected an event log: which nodes are idle, by time",
                command,
            ]);
        }
    }
    let text = fs::read(at.join("sacct.txt")).unwrap();
    fs::write(
        at.join("sacct.txt.zst"),
        zstd::encode_all(&text[..], 1).unwrap(),
    )
    .unwrap();
    gleaner(at, "inspect sacct.txt.zst")
        .expect(3)
        .says(&["gleaner ingest slurm sacct.txt.zst"]);
    let aligned = "JobID   State   Start   End   NodeList\n101   RUNNING   x   y   z\n";
    with_stdin(at, "inspect -", aligned)
        .expect(3)
        .says(&["gleaner ingest slurm - -o"]);
}
