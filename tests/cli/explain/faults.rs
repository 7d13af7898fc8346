//! Tests that `gleaner explain` rejects invalid requests, and files that do not contain a model.

use super::support::{data, explain, model, run};

#[test]
fn unknown_terms_are_refused_and_known_ones_listed() {
    let told = explain("workload", &["--term", "moon"]).expect(2);
    told.says(&["\"moon\"", "user", "gpu_num", " & "]);
    let told = explain("packing", &["--term", "amp"]).expect(2);
    told.says(&["decision tree"]);
}

#[test]
fn rows_and_jobs_must_exist() {
    let data = data();
    for row in ["0", "401", "18446744073709551615"] {
        let told = explain("workload", &["--row", row, "--data", &data]).expect(2);
        told.says(&["--row", "400 jobs"]);
    }
    let told = explain("packing", &["--row", "41", "--data", &data]).expect(2);
    told.says(&["40 profiles"]);
    let told = explain("throughput", &["--row", "100000", "--data", &data]).expect(2);
    told.says(&["intervals"]);
    let told = explain("workload", &["--job", "moon", "--data", &data]).expect(2);
    told.says(&["\"moon\"", "400", "\"1\""]);
    explain("workload", &["--row", "1", "--job", "1"]).expect(2);
    explain("workload", &["--row", "x"]).expect(2);
}

#[test]
fn options_must_fit_the_model_and_each_other() {
    let data = data();
    let told = explain("workload", &["--row", "1"]).expect(2);
    told.says(&["--data DIR"]);
    let told = explain("workload", &["--data", &data]).expect(2);
    told.says(&["--row", "--job"]);
    let told = explain("workload", &["--label", "gpus"]).expect(2);
    told.says(&["--label", "workload"]);
    let told = explain("throughput", &["--job", "1", "--data", &data]).expect(2);
    told.says(&["--job", "--row"]);
    explain("throughput", &["--label", "duration"]).expect(2);
}

#[test]
fn a_file_that_is_not_a_model_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.json");
    let file = path.to_str().unwrap();
    run(&["explain", file]).expect(1).says(&["model.json"]);
    let whole = std::fs::read_to_string(model("workload")).unwrap();
    for text in ["", "{}", "[1, 2]", "time,node\n", &whole[..whole.len() / 2]] {
        std::fs::write(&path, text).unwrap();
        run(&["explain", file]).expect(3).says(&["model.json"]);
    }
    let told = explain("packing", &["-o", "missing/page.html"]).expect(1);
    told.says(&["missing/page.html"]);
}
