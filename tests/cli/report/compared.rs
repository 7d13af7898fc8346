//! Tests the report pages that compare solvers.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::support::{Figures, assert_near, column, dataset, gleaner, json, numbers, page, sign};

/// Name under which the tables list a solver program. The program reports two plans, 20 ms apart, and then the best
/// plan.
const STEPS: &str = "exec:steps.py";

/// Compares solvers on the sample problems, and writes the comparison to `compared` in a new temporary directory. With
/// Python, the comparison includes a solver program. Also returns whether Python is installed.
fn comparison(solvers: &str) -> (TempDir, bool) {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    for from in [
        "solvers/python/dp.py",
        "crates/exec-solver/tests/programs/steps.py",
        "crates/exec-solver/tests/programs/bad.py",
    ] {
        let from = gleaner_testing::workspace().join(from);
        fs::copy(&from, at.join(from.file_name().unwrap())).unwrap();
    }
    for (name, words) in [
        ("steps", "\"steps.py\""),
        ("claims", "\"bad.py\", \"claims\""),
    ] {
        let text = format!("command = [\"python3\", {words}]\n");
        fs::write(at.join(format!("{name}.toml")), text).unwrap();
    }
    fs::copy(dataset("problems.jsonl"), at.join("problems.jsonl")).unwrap();
    let program = if has_python {
        "--program exec:steps.toml"
    } else {
        eprintln!("without a program: python3 is not installed");
        ""
    };
    let line = format!(
        "compare --problems problems.jsonl --solvers {solvers} {program} --out compared --quiet"
    );
    gleaner(at, &line).expect(0);
    (directory, has_python)
}

/// A row of the table `incumbents`: problem, solver, time in seconds, gap.
type Found = (String, String, f64, f64);

fn incumbents(run: &Path) -> Vec<Found> {
    let file = run.join("incumbents.csv");
    let texts = column(&file, "problem")
        .into_iter()
        .zip(column(&file, "solver"));
    let values = numbers(&file, "after_us")
        .into_iter()
        .zip(numbers(&file, "gap"));
    let rows = texts.zip(values);
    rows.map(|((problem, solver), (after, gap))| (problem, solver, after / 1e6, gap))
        .collect()
}

/// The mean, over all problems, of a solver's gaps at the time `seconds`. The gap of a problem is the gap of the best
/// plan found by then, or 1 if there is no plan yet.
fn mean_gap(found: &[Found], problems: &[String], solver: &str, seconds: f64) -> f64 {
    let gap = |problem: &String| {
        let known = found
            .iter()
            .filter(|row| row.0 == *problem && row.1 == solver && row.2 <= seconds);
        known.map(|row| row.3).fold(1.0, f64::min)
    };
    problems.iter().map(gap).sum::<f64>() / problems.len() as f64
}

#[test]
fn the_gap_over_time_is_that_of_the_plans_on_the_way() {
    let (directory, has_python) = comparison("exact,equal-share");
    let run = directory.path().join("compared");
    let found = incumbents(&run);
    let mut problems = column(&run.join("answers.csv"), "problem");
    problems.dedup();
    let page = page(directory.path(), "compared");
    let figures = Figures::of(&page);
    assert_eq!(figures.ids(), ["gap-compared"]);
    assert_eq!(figures.get("gap-compared")["x"]["scale"], "duration");
    let solvers = if has_python {
        vec!["exact", "equal-share", STEPS]
    } else {
        vec!["exact", "equal-share"]
    };
    for solver in solvers {
        let (x, y) = figures.curve("gap-compared", solver);
        assert_eq!(y[0], 1.0);
        // The times of the curve's points are rounded, so the gaps are compared midway between two points.
        for place in 0..x.len() - 1 {
            let middle = (x[place] * x[place + 1]).sqrt();
            if x[place] * (1.0 + 1e-5) < middle {
                assert_near(y[place], mean_gap(&found, &problems, solver, middle));
            }
        }
        assert_near(
            y[y.len() - 1],
            mean_gap(&found, &problems, solver, f64::MAX),
        );
    }
    for told in [
        "Solvers compared",
        "12 problems",
        "number of decisions with a proven optimal plan",
        "first plan",
    ] {
        assert!(page.contains(told), "{told}");
    }
    assert_eq!(page.contains("called optimal"), has_python);
    gleaner(directory.path(), "report compared --svg out --png out").expect(0);
    let svg = fs::read_to_string(directory.path().join("out/gap-compared.svg")).unwrap();
    assert!(svg.contains("equal-share") && svg.contains(" ms"));
    gleaner(directory.path(), "check compared").expect(0);
}

// The program reports a plan, waits 20 ms, reports another plan, waits again, and answers.
#[test]
fn plans_of_a_program_are_in_the_tables_when_they_came() {
    let (directory, true) = comparison("exact") else {
        return;
    };
    let run = directory.path().join("compared");
    let found = incumbents(&run);
    let answers = run.join("answers.csv");
    let rows = column(&answers, "problem")
        .into_iter()
        .zip(column(&answers, "solver"));
    let firsts = rows.zip(numbers(&answers, "first_incumbent_us"));
    let (mut all, mut plans) = (Vec::new(), Vec::new());
    for ((problem, solver), first) in firsts {
        let of: Vec<&Found> = found
            .iter()
            .filter(|f| f.0 == problem && f.1 == solver)
            .collect();
        assert_near(of[0].2, first / 1e6);
        assert!(
            of.windows(2)
                .all(|pair| pair[0].2 <= pair[1].2 && pair[0].3 > pair[1].3)
        );
        assert_near(of[of.len() - 1].3, 0.0);
        if solver == STEPS {
            // If only one task runs in the optimal plan, the program's first two plans are equal, so only two
            // improvements are listed.
            let sent = if of.len() == 3 {
                vec![0.0, 0.02, 0.04]
            } else {
                vec![0.0, 0.04]
            };
            assert!(of.iter().zip(sent).all(|(found, sent)| found.2 >= sent));
            plans.push(of.len());
            all.push(first);
        }
    }
    assert!(
        plans.iter().all(|count| [2, 3].contains(count)) && plans.contains(&3),
        "{plans:?}"
    );
    all.sort_by(f64::total_cmp);
    let solvers = run.join("solvers.csv");
    let text = fs::read_to_string(&solvers).unwrap();
    assert!(
        text.lines()
            .next()
            .unwrap()
            .ends_with(",median_us,p99_us,first_incumbent_us")
    );
    // The median of 12 values by nearest rank is the sixth value.
    assert_near(numbers(&solvers, "first_incumbent_us")[1], all[5]);
    let tally = json(&run.join("programs.json"));
    assert_eq!(tally[0]["confirmed"], tally[0]["problems"]);
}

#[test]
fn faults_of_programs_are_told_on_the_page() {
    let (directory, true) = comparison("exact") else {
        return;
    };
    let at = directory.path();
    let programs =
        "--program exec:claims.toml --program exec:claims.toml --program exec:steps.toml";
    let line = format!("compare --problems problems.jsonl --solvers exact {programs} --out faulty");
    gleaner(at, &line).expect(0).says(&["wrong"]);
    let names = column(&at.join("faulty/solvers.csv"), "solver");
    assert_eq!(names, ["exact", "exec:claims", "exec:claims (2)", STEPS]);
    let page = page(at, "faulty");
    assert!(
        page.contains("Faults: the solver claims was asked"),
        "no faults"
    );
    let names = page.matches("exec:claims (2)").count();
    assert!(names >= 3, "{names}");
    let line = format!("{line} --strict");
    gleaner(at, &line).expect(1).says(&["wrong"]);
}

#[test]
fn damaged_and_changed_tables_are_refused() {
    let (directory, _) = comparison("exact,equal-share");
    let at = directory.path();
    gleaner(
        at,
        "compare --problems problems.jsonl --solvers equal-share --out other",
    )
    .expect(0);
    let run = at.join("compared");
    let refused = |file: &str, says: &[&str]| {
        let report = gleaner(at, "report compared -o page.html");
        assert!(!at.join("page.html").exists());
        report.expect(3).says(&[&[file], says].concat());
    };
    for file in ["incumbents.parquet", "answers.parquet", "solvers.parquet"] {
        let (path, sound) = (run.join(file), fs::read(run.join(file)).unwrap());
        let description = fs::read(run.join("run.json")).unwrap();
        fs::copy(at.join("other").join(file), &path).unwrap();
        refused(
            file,
            &["content that does not match run.json", "repeat the run"],
        );
        for kept in [0, 7, sound.len() / 2, sound.len() - 1] {
            fs::write(&path, &sound[..kept]).unwrap();
            sign(&run);
            refused(file, &[]);
        }
        fs::remove_file(&path).unwrap();
        refused(file, &["no file"]);
        fs::write(&path, sound).unwrap();
        fs::write(run.join("run.json"), description).unwrap();
    }
    // `run.json` lists these files with their digests, but the files belong to another run or contain a different
    // table.
    fs::copy(
        at.join("other/solvers.parquet"),
        run.join("solvers.parquet"),
    )
    .unwrap();
    sign(&run);
    refused(
        "answers.parquet",
        &["solver", "a solver listed in solvers.parquet"],
    );
    fs::copy(run.join("incumbents.parquet"), run.join("solvers.parquet")).unwrap();
    sign(&run);
    refused("solvers.parquet", &["no such column"]);
}
