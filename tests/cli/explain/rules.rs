//! Tests explanations of estimators that are not explainable boosting machines.

use serde_json::Value;

use super::support::{assert_near, data, explain, json, list, number};

/// The id of the first job of user u0202 in the sample cluster. The user's later jobs have the same name.
const JOB: &str = "1";

#[test]
fn a_rule_reports_what_it_has_learnt_and_has_no_terms() {
    let told = explain("workload", &["--estimator", "history"]).expect(0);
    for words in [
        "workload (user's history)",
        "400 jobs of",
        "--estimator ebm",
        "Best by rank correlation",
    ] {
        assert!(told.out.contains(words), "{words} in:\n{}", told.out);
    }
    assert!(!told.out.contains("The machine for"), "{}", told.out);
    let told = explain("workload", &["--estimator", "median", "--term", "hour"]).expect(2);
    told.says(&["the estimator median has no terms", "--estimator ebm"]);
    let told = explain("packing", &["--estimator", "median"]).expect(2);
    told.says(&["--estimator is for workload models", "packing"]);
    explain("workload", &["--estimator", "moon"]).expect(2);
    let of = |name: &str| json("workload", &["--estimator", name]);
    let found = of("history");
    assert_eq!(found["estimator"]["name"], "history");
    assert_eq!(found["estimator"]["chosen"], "ebm");
    assert_eq!(list(&found, "machines").len(), 0);
    assert_eq!(list(&found["estimator"]["trial"], "scores").len(), 5);
    assert_eq!(of("ebm-seconds")["machines"][0]["unit"], "seconds");
    assert_eq!(json("packing", &[])["estimator"], Value::Null);
}

// The expected estimate is computed from the table: the mean over the sample's jobs with the same user, name and number
// of GPUs.
#[test]
fn a_history_names_the_jobs_it_averages() {
    let mut reader = csv::Reader::from_path(format!("{}/jobs.csv", data())).unwrap();
    let jobs: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let first = &jobs[0];
    let alike = |job: &&csv::StringRecord| [1, 3, 4].iter().all(|&k| job[k] == first[k]);
    let seconds: Vec<f64> = jobs
        .iter()
        .filter(alike)
        .map(|job| job[8].parse().unwrap())
        .collect();
    assert!(seconds.len() > 1);
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;

    let asked = ["--estimator", "history", "--job", JOB, "--data", &data()];
    let told = &json("workload", &asked)["prediction"];
    assert_near(number(told, "seconds"), mean);
    assert_eq!(number(told, "jobs"), seconds.len() as f64);
    let words = format!(
        "user {}, {} GPU, name {:?}",
        &first[1], &first[4], &first[3]
    );
    assert_eq!(told["alike"], words);
    let text = explain("workload", &asked).expect(0).out;
    let line = format!("(the mean of {} past jobs: {words})", seconds.len());
    assert!(text.contains(&line), "{line} in:\n{text}");
    assert!(text.contains(&format!("duration estimated for job 1  {mean:.0} s")));
}

#[test]
fn a_rule_has_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.html");
    let path = page.to_str().unwrap();
    let job = ["--job", JOB, "--data", &data(), "-o", path];
    for (estimator, words) in [("history", "past jobs"), ("mean", "s for every job")] {
        let told = explain(
            "workload",
            &[&["--estimator", estimator][..], &job].concat(),
        );
        told.expect(0).says(&[&format!("{path}: the page")]);
        let html = std::fs::read_to_string(&page).unwrap();
        for words in [words, "Estimators on the", "has no terms"] {
            assert!(html.contains(words), "{estimator}: {words}");
        }
    }
}
