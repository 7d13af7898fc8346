//! Tests that wrong usage of `gleaner simulate` is rejected with exit code 2 and a helpful message.

use crate::support::{cluster, gleaner};

#[test]
fn simulate_without_arguments_explains_what_it_needs() {
    let directory = cluster();
    let run = gleaner(directory.path(), "simulate").expect(2);
    run.says(&[
        "--trace",
        "--cluster",
        "--data DIR",
        "gleaner synth jobs -o",
    ]);
}

#[test]
fn wrong_arguments_are_named() {
    let directory = cluster();
    let at = directory.path();
    for (arguments, words) in [
        ("--policy best", &["\"best\"", "tiresias", "EASY"][..]),
        (
            "--policy fifo --placer best",
            &["--placer", "consolidate-first"],
        ),
        (
            "--policy lucid --without sense",
            &["--without", "packing, throughput, estimate"],
        ),
        (
            "--policy fifo,sjf --idle-events x.csv",
            &["--idle-events", "single policy"],
        ),
        ("--policy fifo --idle-events x.txt", &["x.txt", ".gev"]),
        (
            "--policy fifo --out trace",
            &["--out trace", "no earlier run"],
        ),
        ("--policy fifo --jobs 0", &["--jobs"]),
        (
            "--policy fifo --gpus-per-node 65",
            &["--gpus-per-node", "expected 1 to 64"],
        ),
        (
            "--policy fifo --from 2020-09-01",
            &["seconds", "2020-09-01"],
        ),
        ("--policy fifo --sweep", &["--sweep", "--policy"]),
        ("--policy qssf --estimates inf", &["--estimates", "inf"]),
        (
            "--policy easy --estimates 1e19",
            &["--estimates is 1e19", "-1e12 to 1e12"],
        ),
    ] {
        let line = format!("simulate --data trace {arguments}");
        gleaner(at, &line).expect(2).says(words);
    }
}

#[test]
fn invalid_profiler_options_are_reported() {
    let directory = cluster();
    let at = directory.path();
    for (arguments, words) in [
        ("--profiler 120", &["--profiler", "200,2,4"][..]),
        ("--profiler 120,1,16", &["16 GPUs", "8 GPUs", "factor"]),
        ("--profiler 120,1,4 --lend mars=1", &["--lend", "\"mars\""]),
        ("--profiler 120,1,4 --lend vc3", &["--lend", "VC=NODES"]),
        (
            "--profiler 120,1,4 --lend vc3=2",
            &["vc3", "all of its 2 nodes"],
        ),
        (
            "--profiler 120,1,4 --elastic mars",
            &["--elastic", "\"mars\""],
        ),
    ] {
        let line = format!("simulate --data trace --policy lucid {arguments}");
        gleaner(at, &line).expect(2).says(words);
    }
}

#[test]
fn options_of_missing_files_are_named() {
    let directory = cluster();
    let at = directory.path();
    let files = "--trace trace/jobs.csv --cluster trace/vc_config.csv";
    let profiled = "--profiles trace/single_data.csv --estimates oracle";
    for (arguments, words) in [
        ("--trace trace/jobs.csv".to_owned(), &["--cluster FILE"][..]),
        (
            files.to_owned(),
            &["lucid needs --profiles", "--policy fifo"],
        ),
        (
            format!("{files} --policy qssf"),
            &["qssf needs", "--estimates", "oracle"],
        ),
        (
            format!("{files} --policy easy"),
            &["easy needs", "--estimates"],
        ),
        (
            format!("{files} --policy lucid {profiled}"),
            &["lucid needs --colocate"],
        ),
        (
            format!(
                "{files} --policy lucid {profiled} --colocate trace/colocate_info.csv \
                 --profiler 120,1,4 --elastic vc1"
            ),
            &["--elastic", "--forecast"],
        ),
        (
            format!("{files} --policy qssf --estimates histroy"),
            &["--estimates: found histroy, which is not a file", "history"],
        ),
        (
            format!(
                "{files} --policy lucid {profiled} --colocate trace/colocate_info.csv --forecast abc"
            ),
            &["--forecast: found abc, expected a file or a number"],
        ),
        ("--data trace/..".to_owned(), &["found no jobs.csv"]),
        ("--preset venus-sept".to_owned(), &["--data"]),
        (
            "--preset venus-sept --data trace/..".to_owned(),
            &["found no jobs.csv"],
        ),
        ("-e Mars -t trace".to_owned(), &["\"Mars\"", "Venus_Sept"]),
        ("-e Venus_Sept".to_owned(), &["--trace-dir"]),
    ] {
        gleaner(at, &format!("simulate {arguments}"))
            .expect(2)
            .says(words);
    }
    // A missing directory is reported in the same way as by other commands.
    for line in ["--data nowhere", "--preset venus-sept --data nowhere"] {
        let run = gleaner(at, &format!("simulate {line} --policy fifo")).expect(1);
        run.says(&["cannot read nowhere"]);
    }
}

#[test]
fn a_nonexistent_file_exits_with_1() {
    let directory = cluster();
    let at = directory.path();
    for arguments in [
        "--trace none.csv --policy fifo",
        "--estimates none.csv --policy qssf",
        "--policy fifo --idle-events none/idle.csv",
    ] {
        let line = format!("simulate --data trace {arguments}");
        gleaner(at, &line).expect(1).says(&["none", "cannot"]);
    }
}
