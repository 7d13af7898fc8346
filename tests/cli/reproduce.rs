//! Tests `gleaner reproduce` from the command line.

use std::fs;
use std::path::PathBuf;

use crate::browser;
use crate::runs::gleaner;
use crate::support::json;

/// Environment variable that, if set, makes the test write the document instead of comparing it.
const WRITE: &str = "WRITE_DOCS";

/// The directory of published data; `None`, with a message on stderr, if it is missing.
fn data() -> Option<PathBuf> {
    let folders = [
        "lucid/venus_sept",
        "bftrainer",
        "driple",
        "machines/whisk",
        "classes",
    ];
    let found = folders.map(gleaner_testing::shared);
    found.iter().all(Option::is_some).then(|| {
        let root = gleaner_testing::workspace().join("../shared/data");
        root.canonicalize().unwrap()
    })
}

#[test]
fn the_files_that_are_needed_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let listed = |system: &str| {
        gleaner(at, &format!("reproduce {system} --list"))
            .expect(0)
            .out
    };
    let [lucid, sysu, all] = ["lucid", "sysu", "all"].map(listed);
    assert_eq!(gleaner(at, "reproduce --list").expect(0).out, all);
    gleaner(at, "reproduce --data . -o o")
        .expect(2)
        .says(&["<SYSTEM>"]);
    assert!(lucid.contains("lucid/venus_sept/jobs.csv\n"), "{lucid}");
    assert!(lucid.contains("duration_estimate_lgb.csv"), "{lucid}");
    assert!(!sysu.contains("duration_estimate_lgb.csv"), "{sysu}");
    for system in ["lucid", "sysu", "bftrainer", "driple", "hpcwhisk", "sia"] {
        let lines = listed(system);
        // A file that two systems need is listed once.
        let files: Vec<_> = lines
            .lines()
            .filter(|line| !line.starts_with(' '))
            .collect();
        assert!(!files.is_empty(), "{system}");
        for file in files {
            let found = all.lines().filter(|line| *line == file).count();
            assert_eq!(found, 1, "{system}: {file}");
        }
    }
    fs::create_dir(at.join("bftrainer")).unwrap();
    fs::write(at.join("bftrainer/problems.jsonl"), "").unwrap();
    let told = gleaner(at, "reproduce bftrainer --list --data .")
        .expect(0)
        .out;
    assert!(
        told.contains("there    bftrainer/problems.jsonl\n"),
        "{told}"
    );
    assert!(
        told.contains("missing  bftrainer/ndstat-10sdn6-evt.tar.gz\n"),
        "{told}"
    );
}

#[test]
fn all_missing_files_are_named_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir_all(at.join("driple")).unwrap();
    fs::write(at.join("driple/gcn_forward.json"), "{}").unwrap();
    let run = gleaner(at, "reproduce driple --data . -o made").expect(3);
    for name in ["pretrained_gcn", "synth_dataset", "synth_gcn_h64_init"] {
        assert!(
            run.err
                .contains(&format!("driple/{name}.safetensors: found no such file")),
            "{}",
            run.err
        );
    }
    assert!(!run.err.contains("gcn_forward.json"), "{}", run.err);
    assert!(run.err.contains("--data"), "{}", run.err);
    assert!(!at.join("made").exists());
}

#[test]
fn faulty_files_are_faults_of_theirs() {
    let Some(data) = data() else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir_all(at.join("driple")).unwrap();
    for name in ["pretrained_gcn", "synth_dataset", "synth_gcn_h64_init"] {
        let file = format!("driple/{name}.safetensors");
        fs::copy(data.join(&file), at.join(&file)).unwrap();
    }
    let graphs = [
        ("no JSON", "gcn_forward.json: found expected ident"),
        (
            r#"{"graphs": [{"adj": [[0, 1], [1]], "x": [[1, 2, 3], [1, 2, 3]]}]}"#,
            "a graph (index 0) whose adj is not a square matrix",
        ),
        (r#"{"graphs": []}"#, "graph 0, 8 nodes"),
    ];
    for (text, told) in graphs {
        fs::write(at.join("driple/gcn_forward.json"), text).unwrap();
        let run = gleaner(at, "reproduce driple --data . -o made").expect(3);
        assert!(run.err.contains(told), "{}", run.err);
    }
}

#[test]
fn a_system_and_a_place_for_it_are_needed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for line in [
        "reproduce",
        "reproduce gavel --list",
        "reproduce lucid",
        "reproduce lucid --data .",
        "reproduce lucid -o made",
        "reproduce sia -o made --solvers equal-share",
    ] {
        gleaner(at, line).expect(2);
    }
}

/// Compares the reproduced values of HPC-Whisk with independently computed reference numbers.
#[test]
fn figures_of_hpcwhisk_have_all_their_digits() {
    let Some(data) = data() else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let reference = json(&data.join("machines/whisk/reference.json"));
    std::os::unix::fs::symlink(data, at.join("data")).unwrap();
    gleaner(at, "reproduce hpcwhisk --data data -o made --quiet").expect(0);
    let counts = json(&at.join("made/summary.json"));
    let verdicts = counts.as_object().unwrap().iter();
    for (verdict, count) in verdicts.filter(|(verdict, _)| *verdict != "no published value") {
        assert_eq!(*count == 0, verdict != "equal", "{count} values: {verdict}");
    }
    let rows = fs::read(at.join("made/reproduced.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(&rows[..]);
    let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
    let value = |artifact: &str, row: &str, column: &str| -> f64 {
        let of = |record: &&csv::StringRecord| {
            &record[1] == artifact && record[2] == *row && record[3] == *column
        };
        let found = rows.iter().find(of);
        let found = found.unwrap_or_else(|| panic!("no {artifact}, {row}, {column}"));
        found[7].parse().unwrap()
    };
    let in_polls = reference["pilots_simulated_in_polls"]["ladders"].as_object();
    for (name, ladder) in in_polls.unwrap() {
        let share = value("hpcwhisk-ladders", name, "ready share");
        assert_eq!(share, ladder["ready_share"].as_f64().unwrap(), "{name}");
    }
    let in_seconds = &reference["pilots_in_seconds"];
    for delay in [0, 10] {
        let ladders = in_seconds[format!("delay_{delay}_s")]["ladders"].as_object();
        for (name, ladder) in ladders.unwrap() {
            let share = value(
                "hpcwhisk-models",
                &format!("{name}, delay {delay} s"),
                "fits",
            );
            assert_eq!(share, ladder["share"].as_f64().unwrap(), "{name}");
        }
    }
    let bests = [
        (
            "hpcwhisk-best-polls",
            &reference["best_ladders_in_polls"]["ladders"],
        ),
        (
            "hpcwhisk-best-seconds",
            &in_seconds["delay_0_s"]["best_every_minute_to_120"],
        ),
    ];
    for (artifact, expected) in bests {
        let ours = rows.iter().filter(|record| &record[1] == artifact);
        let ours: Vec<f64> = ours.map(|record| record[7].parse().unwrap()).collect();
        let expected = expected.as_array().unwrap().iter();
        let expected: Vec<f64> = expected
            .map(|best| best["share"].as_f64().unwrap())
            .collect();
        assert_eq!(ours, expected, "{artifact}");
    }
}

/// The exact solver finds the recorded optimum of each of Sia's problems.
#[test]
fn problems_of_sia_are_solved_to_their_optima() {
    let Some(data) = data() else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::os::unix::fs::symlink(data, at.join("data")).unwrap();
    let line = "reproduce sia --data data -o made --quiet --solvers exact";
    let run = gleaner(at, line).expect(0);
    assert!(run.out.contains("90 of 90"), "{}", run.out);
    let counts = json(&at.join("made/summary.json"));
    assert_eq!(
        (&counts["equal"], &counts["differs"]),
        (&6.into(), &0.into())
    );
    let times = json(&at.join("made/solvers.json"));
    let times = times.as_array().unwrap();
    assert_eq!(times.len(), 4);
    for row in &times[..2] {
        assert_eq!((&row["proven"], &row["problems"]), (&90.into(), &90.into()));
        assert!(row["deviation"].as_f64().unwrap() < 1e-9, "{row}");
        assert!(row["total_seconds"].as_f64() > row["max_seconds"].as_f64());
        assert!(row["mean_ratio"].is_null());
    }
}

/// Without the published data, scheduling rounds are drawn at random. If the build includes HiGHS or CBC, one of them
/// confirms the exact solver's objectives.
#[test]
fn rounds_are_drawn_without_data() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let run = gleaner(at, "reproduce sia -o made --quiet").expect(0);
    assert!(run.err.contains("drawn at random"), "{}", run.err);
    let document = fs::read_to_string(at.join("made/reproduced.md")).unwrap();
    assert!(document.contains("do not come from Sia"), "{document}");
    assert!(!document.contains("siasosp23"), "{document}");
    let times = json(&at.join("made/solvers.json"));
    let has_other = cfg!(any(feature = "highs", feature = "cbc"));
    for row in times.as_array().unwrap() {
        assert_eq!(row["proven"], row["problems"], "{row}");
        assert_eq!(row["deviation"].is_null(), !has_other, "{row}");
        assert!(row["deviation"].as_f64().unwrap_or(0.0) < 1e-7, "{row}");
        let is_exact = row["solver"] == "exact";
        assert_eq!(row["least_ratio"].is_null(), is_exact, "{row}");
    }
    let sources = json(&at.join("made/run.json"))["inputs"].clone();
    assert_eq!(sources, serde_json::json!([]));
}

// docs/REPRODUCED.md equals the document of a new run, byte for byte, so it contains the values that the program
// computes.
#[test]
fn the_document_is_that_of_a_fresh_run() {
    let Some(data) = data() else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::os::unix::fs::symlink(data, at.join("data")).unwrap();
    let run = gleaner(
        at,
        "reproduce all --data data -o made --quiet --solvers exact",
    )
    .expect(0);
    assert!(
        run.out.contains("tables and figures reproduced"),
        "{}",
        run.out
    );
    let made = at.join("made");
    let fresh = fs::read_to_string(made.join("reproduced.md")).unwrap();
    let kept = gleaner_testing::workspace().join("docs/REPRODUCED.md");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&kept, &fresh).unwrap();
    }
    let kept = fs::read_to_string(kept).unwrap();
    let differs = kept.lines().zip(fresh.lines()).find(|(a, b)| a != b);
    assert!(
        kept == fresh,
        "docs/REPRODUCED.md, {differs:?}: write it by {WRITE}=1 cargo test --test cli reproduce"
    );
    // For each of these policies, all 15 reproduced values equal the published values to the second.
    for policy in ["FIFO", "SJF", "SRTF", "QSSF", "Tiresias"] {
        let line = format!("| {policy} | 15 | 15 | 0 |\n");
        assert!(fresh.contains(&line), "{line}");
    }
    let counts = json(&made.join("summary.json"));
    let rows = fs::read_to_string(made.join("reproduced.csv")).unwrap();
    let equal = rows.lines().filter(|line| line.contains(",equal,")).count();
    assert_eq!(counts["equal"], equal);
    let inputs = json(&made.join("run.json"))["inputs"]
        .as_array()
        .unwrap()
        .len();
    assert!(inputs > 20, "{inputs}");
    browser::check(&[made.join("reproduce.html")]);
}
