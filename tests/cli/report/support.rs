//! Creates runs on small samples, and reads the contents of report pages.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use gleaner_domain::Digest;
use serde_json::Value;
use tempfile::TempDir;

pub use crate::runs::{Run, gleaner};

/// A name that is markup in HTML and SVG, unless it is escaped.
pub const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&amp;";

pub fn dataset(name: &str) -> PathBuf {
    gleaner_testing::workspace().join("dataset").join(name)
}

/// A directory with two replays of the samples, one with a short window in `short` and one with a long window in
/// `long`. The first task has a hostile name.
pub fn replays() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::copy(dataset("idle.csv"), path.join("idle.csv")).unwrap();
    let tasks = fs::read_to_string(dataset("tasks.toml")).unwrap();
    let name = HOSTILE.replace('"', "\\\"");
    let tasks = tasks.replace("\"task0000\"", &format!("\"{name}\""));
    fs::write(path.join("tasks.toml"), tasks).unwrap();
    for (out, window) in [("short", 10), ("long", 300)] {
        let line = format!(
            "replay --events idle.csv --tasks tasks.toml --t-fwd {window} --max-tasks 8 --out {out}"
        );
        gleaner(path, &line).expect(0);
    }
    directory
}

/// A directory with a replay of the sample search in `found`, and a replay of tasks without a
/// search in `plain`. One task of the search has a hostile name.
pub fn searches() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for name in ["idle.csv", "tasks.toml"] {
        fs::copy(dataset(name), path.join(name)).unwrap();
    }
    let search = fs::read_to_string(dataset("search.toml")).unwrap();
    let name = HOSTILE.replace('"', "\\\"");
    let hostile = search.replace("name = \"resnet18\"", &format!("name = \"{name}\""));
    assert_ne!(search, hostile);
    fs::write(path.join("search.toml"), hostile).unwrap();
    for line in [
        "--tasks search.toml --completion-events --objective trial --out found",
        "--tasks tasks.toml --out plain",
    ] {
        gleaner(path, &format!("replay --events idle.csv {line}")).expect(0);
    }
    directory
}

/// A directory with a simulation `sim` of 400 generated jobs in two virtual clusters.
pub fn simulation() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("vc.csv"), ",num\nvcA,2\nvcB,1\n").unwrap();
    let mut jobs = String::from("job_id,user,vc,gpu_num,submit_time,duration,state\n");
    for job in 0..400u32 {
        let vc = if job % 3 == 0 { "vcB" } else { "vcA" };
        let gpus = [1, 2, 4, 8][(job % 4) as usize];
        let (submit, duration) = (3_600 + 90 * job, 30 + (job * 7919) % 4_000);
        jobs += &format!(
            "{job},u{},{vc},{gpus},{submit},{duration},COMPLETED\n",
            job % 5
        );
    }
    fs::write(path.join("jobs.csv"), jobs).unwrap();
    let line = "simulate --trace jobs.csv --cluster vc.csv --policy fifo,sjf,srtf --csv --out sim";
    gleaner(path, line).expect(0);
    directory
}

/// A directory with two simulations of the sample cluster. In `extra`, Lucid's profiler has an additional node. In
/// `lent`, a virtual cluster lends the profiler a node.
pub fn profiled() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let cluster = dataset("cluster");
    for (out, lend) in [("extra", ""), ("lent", "--lend auto")] {
        let line = format!(
            "simulate --data {} --policy fifo,lucid --profiler 120,1,4 {lend} --csv --out {out}",
            cluster.display()
        );
        gleaner(directory.path(), &line).expect(0);
    }
    directory
}

/// Creates a directory with the 24 replays of the sample plan, in `swept`. The replays use all nodes,
/// so all tasks finish and all settings do the same work.
pub fn sweep() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["idle.csv", "tasks.toml"] {
        fs::copy(dataset(name), directory.path().join(name)).unwrap();
    }
    let plan = fs::read_to_string(dataset("sweep.toml")).unwrap();
    let lines = plan.lines().filter(|line| !line.starts_with("window"));
    let plan: Vec<&str> = lines.collect();
    fs::write(directory.path().join("sweep.toml"), plan.join("\n")).unwrap();
    gleaner(directory.path(), "sweep sweep.toml --out swept").expect(0);
    directory
}

/// Updates the digests in `run.json` to match the current files of a run, and removes the entries of missing files.
/// An attack could produce such a run, but an accident could not.
pub fn sign(run: &Path) {
    let path = run.join("run.json");
    let mut info = json(&path);
    let files = info["files"].as_array_mut().unwrap();
    files.retain_mut(|file| {
        let Ok(bytes) = fs::read(run.join(file["path"].as_str().unwrap())) else {
            return false;
        };
        file["bytes"] = bytes.len().into();
        file["sha256"] = Digest::of(&bytes).to_string().into();
        true
    });
    fs::write(&path, serde_json::to_vec_pretty(&info).unwrap()).unwrap();
}

/// A directory with `page.html`, the page of `gleaner inspect` about the sample log and the sample tasks.
pub fn inspected() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let (log, tasks) = (dataset("idle.csv"), dataset("tasks.toml"));
    let line = format!(
        "inspect {} --tasks {} -o page.html",
        log.display(),
        tasks.display()
    );
    let run = gleaner(directory.path(), &line).expect(0);
    assert_eq!(run.out, "");
    directory
}

/// Writes a report page about runs, and returns its content.
pub fn page(directory: &Path, runs: &str) -> String {
    gleaner(directory, &format!("report {runs} -o page.html")).expect(0);
    fs::read_to_string(directory.join("page.html")).unwrap()
}

/// The text in a compressed element of a page.
pub fn packed(page: &str, id: &str) -> String {
    let opening = format!("id=\"{id}\">");
    let start = page.rfind(&opening).unwrap() + opening.len();
    let end = start + page[start..].find("</script>").unwrap();
    let bytes = STANDARD.decode(&page[start..end]).unwrap();
    let mut text = String::new();
    GzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// The figures of a page, as the page's script reads them.
pub struct Figures(Vec<Value>);

impl Figures {
    pub fn of(page: &str) -> Self {
        Figures(serde_json::from_str(&packed(page, "figures")).unwrap())
    }

    pub fn ids(&self) -> Vec<&str> {
        self.0.iter().map(|f| f["id"].as_str().unwrap()).collect()
    }

    #[track_caller]
    pub fn get(&self, id: &str) -> &Value {
        self.0.iter().find(|figure| figure["id"] == id).unwrap()
    }

    /// The x and y values of the curve with this name.
    #[track_caller]
    pub fn curve(&self, id: &str, name: &str) -> (Vec<f64>, Vec<f64>) {
        let curves = self.get(id)["marks"].as_array().unwrap();
        let place = curves.iter().position(|c| c["name"] == name).unwrap();
        // A curve without x values shares the x values of the previous curve.
        let x = curves[..=place].iter().rev().find(|c| !c["x"].is_null());
        (steps(&x.unwrap()["x"]), floats(&curves[place]["y"]))
    }
}

pub fn floats(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Decodes numbers that a page stores as the first number and the differences between neighbours.
pub fn steps(value: &Value) -> Vec<f64> {
    let mut numbers = vec![value["first"].as_f64().unwrap()];
    for step in floats(&value["steps"]) {
        numbers.push(numbers[numbers.len() - 1] + step);
    }
    numbers
}

/// The cells in the column `name` of a CSV table.
pub fn column(path: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let place = reader.headers().unwrap().iter().position(|h| h == name);
    let rows = reader
        .records()
        .map(|row| row.unwrap()[place.unwrap()].to_owned());
    rows.collect()
}

/// The numbers in the column `name` of a CSV table.
pub fn numbers(path: &Path, name: &str) -> Vec<f64> {
    let cells = column(path, name);
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

/// The content of a JSON file.
pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[track_caller]
pub fn assert_near(found: f64, expected: f64) {
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(error < 1e-6, "found {found}, expected {expected}");
}
