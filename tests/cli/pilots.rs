//! Tests `gleaner pilots` from the command line.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Run, dataset, gleaner};

/// The results of a command as JSON.
fn results(line: &str) -> Value {
    let run = gleaner(&dataset(), &format!("pilots {line} --json --quiet")).expect(0);
    serde_json::from_str(&run.out).unwrap()
}

fn number(of: &Value, pointer: &str) -> f64 {
    let value = of.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no number at {pointer}"))
}

#[test]
fn all_three_models_are_always_shown_with_the_caution() {
    for line in ["--lengths 2,8,32", "--best 2 --grid 5"] {
        let run = gleaner(&dataset(), &format!("pilots idle.csv {line} --quiet")).expect(0);
        for model in ["fits", "kept", "lost"] {
            let row = run.out.lines().find(|row| row.starts_with(model));
            assert!(
                row.is_some_and(|row| row.contains('%')),
                "{model}:\n{}",
                run.out
            );
        }
        assert!(run.out.contains("fits is optimistic"), "{}", run.out);
        assert!(
            run.out.contains("no pilot is ever preempted"),
            "{}",
            run.out
        );
    }
}

#[test]
fn shares_add_up_to_the_idle_node_time() {
    let found = results("idle.csv --lengths 2,8,32");
    let sum = |pointer: &str, names: &[&str]| -> f64 {
        names
            .iter()
            .map(|name| number(&found, &format!("{pointer}/{name}")))
            .sum()
    };
    let four = [
        "ready_share",
        "startup_share",
        "delay_share",
        "unused_share",
    ];
    for (pointer, names) in [
        ("/ladders/0/fits", &four[..]),
        ("/ladders/0/lost", &four[..]),
        ("/kept", &four[..3]),
    ] {
        assert!((sum(pointer, names) - 1.0).abs() < 1e-12, "{pointer}");
    }
    assert_eq!(
        found["ladders"][0]["lengths_min"],
        serde_json::json!([2, 8, 32])
    );
    assert_eq!(found["grid"], Value::Null);
    let idle = number(&found, "/fragments/sum_s");
    assert!(
        (number(&found, "/idle_node_seconds") - idle).abs() < number(&found, "/fragments/count")
    );
}

#[test]
fn more_wall_times_are_never_worse() {
    let found = results("idle.csv --best 4 --grid 2 --delay 0");
    let ladders = found["ladders"].as_array().unwrap();
    assert_eq!(ladders.len(), 4);
    let mut before = 0.0;
    for (ladder, most) in ladders.iter().zip(1..) {
        let ready = number(ladder, "/fits/ready_share");
        assert!(ready >= before && ladder["lengths_min"].as_array().unwrap().len() <= most);
        assert_eq!(number(ladder, "/bound_share"), ready);
        before = ready;
        // The ladder gives the same results if it is passed with --lengths.
        let minutes = ladder["lengths_min"].as_array().unwrap();
        let minutes: Vec<String> = minutes.iter().map(ToString::to_string).collect();
        let same = results(&format!(
            "idle.csv --lengths {} --delay 0",
            minutes.join(",")
        ));
        assert_eq!(same["ladders"][0]["fits"], ladder["fits"]);
        assert_eq!(same["ladders"][0]["lost"], ladder["lost"]);
    }
    let every = number(&found, "/every_length/lost/ready_share");
    assert!(
        ladders
            .iter()
            .all(|ladder| number(ladder, "/lost/ready_share") <= every)
    );
}

/// The value that follows a label in a command's output.
fn fact<'o>(out: &'o str, label: &str) -> &'o str {
    let line = out.lines().find_map(|line| line.strip_prefix(label));
    line.unwrap_or_else(|| panic!("no {label} in {out}")).trim()
}

#[test]
fn a_plan_that_was_printed_can_be_evaluated() {
    let day = ["--to 2026-01-02T00:00:00", "--from 2026-01-02T00:00:00"];
    let line = format!("pilots idle.csv --lengths 2,8,32 --quiet {}", day[0]);
    let first = gleaner(&dataset(), &line).expect(0);
    assert!(first.out.contains("with --plan"), "{}", first.out);
    let (plan, _) = fact(&first.out, "plan for lost").split_once(' ').unwrap();
    // On the part of the log for which the plan was chosen, `--plan` gives the same result as the search for the best
    // plan.
    let found = results(&format!("idle.csv --lengths 2,8,32 {}", day[0]));
    let given = results(&format!("idle.csv --plan {plan} {}", day[0]));
    assert_eq!(given["ladders"][0]["lost"], found["ladders"][0]["lost"]);
    assert_eq!(given["kept"], found["kept"]);
    assert_eq!(given["is_plan_given"], true);
    // On another part of the log, the plan is no better than the best plan with the same wall times.
    let best = results(&format!("idle.csv --lengths 2,8,32 {}", day[1]));
    let other = results(&format!("idle.csv --plan {plan} {}", day[1]));
    let share = |of: &Value| number(of, "/ladders/0/lost/ready_share");
    assert!(share(&other) > 0.0 && share(&other) <= share(&best));
    let line = format!("pilots idle.csv --plan {plan} --quiet");
    let text = gleaner(&dataset(), &line).expect(0);
    assert!(!text.out.contains("chosen with hindsight"), "{}", text.out);
}

#[test]
fn wrong_usage_is_refused_with_a_remedy() {
    for (line, words) in [
        ("idle.csv", &["--lengths 2,4,8", "--best 6"][..]),
        ("idle.csv --lengths 2 --best 1", &["--best"]),
        ("idle.csv --lengths 2 --plan 2", &["--plan"]),
        ("idle.csv --plan 4x0", &["MINUTESxTIMES"]),
        ("idle.csv --plan 2,1x3 --startup 60", &["--startup is 60 s"]),
        ("idle.csv --lengths 2,2", &["--lengths lists 2 min twice"]),
        ("idle.csv --lengths 0", &["at least 1"]),
        (
            "idle.csv --lengths 1 --startup 60",
            &["--startup is 60 s", "1 min"],
        ),
        (
            "idle.csv --best 1 --longest 5 --grid 6",
            &["--grid 6", "--longest 5"],
        ),
        ("idle.csv --best 1 --longest 100000000", &["too"]),
        ("idle.csv --lengths 2 --grid 2", &["--best"]),
        ("idle.csv --best 65", &["1 to 64"]),
    ] {
        let run: Run = gleaner(&dataset(), &format!("pilots {line}"));
        run.expect(2).says(words);
    }
    gleaner(&dataset(), "pilots missing.csv --lengths 2").expect(1);
}

#[test]
fn a_log_without_long_fragments_has_no_ladder() {
    let directory = tempfile::tempdir().unwrap();
    let log = "time,node,state\n0,a,1\n30,a,0\n60,b,0\n";
    fs::write(directory.path().join("short.csv"), log).unwrap();
    let run = gleaner(directory.path(), "pilots short.csv --best 2 --quiet").expect(0);
    assert!(run.out.contains("none"), "{}", run.out);
}

// The signal is sent after 2 s. At that time, the search for ladders of up to 30 wall times is usually still running.
#[test]
fn a_stopped_search_shows_the_ladders_found() {
    let mut line = crate::support::command(&dataset(), "pilots idle.csv --best 30 --json --quiet");
    let program = line
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let kill = Command::new("kill")
        .args(["-INT", &program.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let run = Run::from(program.wait_with_output().unwrap());
    // On a fast machine, the search may finish before the signal.
    if run.code == Some(0) {
        return;
    }
    let run = run.expect(130).says(&["interrupted"]);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["complete"], false);
    let ladders = found["ladders"].as_array().unwrap();
    assert!(!ladders.is_empty());
    for ladder in ladders {
        assert!(number(ladder, "/bound_share") >= number(ladder, "/fits/ready_share"));
    }
}

#[test]
fn the_page_has_the_figures() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.html");
    let line = format!(
        "pilots idle.csv --best 3 --grid 5 --quiet -o {}",
        page.display()
    );
    gleaner(&dataset(), &line).expect(0);
    crate::browser::check(std::slice::from_ref(&page));
    let page = fs::read_to_string(page).unwrap();
    for words in [
        "Ready share by number of wall times",
        "Idle fragments by length",
        "Plan for lost",
        "fits is optimistic",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn every_field_of_the_json_is_documented() {
    let document =
        fs::read_to_string(gleaner_testing::workspace().join("docs/OUTPUTS.md")).unwrap();
    let (_, section) = document.split_once("# gleaner pilots --json").unwrap();
    let section = section.split("\n# ").next().unwrap();
    let found = results("idle.csv --best 1 --grid 10");
    let mut names: Vec<&String> = found.as_object().unwrap().keys().collect();
    let ladder = &found["ladders"][0];
    for of in [
        &found["grid"],
        &found["kept"],
        ladder,
        &ladder["fits"],
        &ladder["lost"],
    ] {
        names.extend(of.as_object().unwrap().keys());
    }
    names.extend(ladder["lost"]["plan"][0].as_object().unwrap().keys());
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
}

/// The path of the event log derived from HPC-Whisk's polls, and the reference numbers for this log.
fn whisk() -> Option<(String, Value)> {
    let log = gleaner_testing::shared("machines/whisk/17-march-expected.csv")?;
    let reference = gleaner_testing::shared("machines/whisk/reference.json")?;
    let reference = serde_json::from_slice(&fs::read(reference).unwrap()).unwrap();
    Some((log.canonicalize().unwrap().display().to_string(), reference))
}

#[test]
fn figures_of_a_real_day_are_the_reference_numbers() {
    let Some((log, reference)) = whisk() else {
        return;
    };
    let reference = &reference["pilots_in_seconds"];
    for delay in [0, 10] {
        let expected = &reference[format!("delay_{delay}_s")];
        let a1 = results(&format!(
            "{log} --lengths 2,4,6,8,14,22,34,56,90 --delay {delay}"
        ));
        assert_eq!(a1["idle_node_seconds"], reference["idle_node_s"]);
        assert_eq!(a1["fragments"]["count"], reference["fragments"]);
        let fits = &a1["ladders"][0]["fits"];
        assert_eq!(fits["ready_s"], expected["ladders"]["A1"]["ready_s"]);
        assert_eq!(fits["ready_share"], expected["ladders"]["A1"]["share"]);
        assert_eq!(fits["pilots"], expected["ladders"]["A1"]["pilots"]);
        let lost = &reference["age_aware_lost"][format!("A1, delay {delay} s")];
        assert_eq!(a1["ladders"][0]["lost"]["ready_share"], lost["share"]);
        if delay == 0 {
            assert_eq!(a1["kept"]["ready_share"], reference["kept_share"]);
        }
        let even = results(&format!("{log} --best 9 --grid 2 --delay {delay}"));
        let expected = expected["best_even_minutes_to_120"].as_array().unwrap();
        for (ladder, expected) in even["ladders"].as_array().unwrap().iter().zip(expected) {
            assert_eq!(ladder["fits"]["ready_s"], expected["ready"]);
            assert_eq!(ladder["fits"]["ready_share"], expected["share"]);
            assert_eq!(ladder["bound_share"], expected["share"]);
        }
    }
}
