//! Tests the pages and pictures of `gleaner explain`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{data, explain};
use crate::browser;

/// Writes the page and the pictures of a model, and returns the page's path.
fn draw(directory: &Path, kind: &str, more: &[&str]) -> PathBuf {
    let page = directory.join(format!("{kind}.html"));
    let pictures = directory.join(kind);
    let (page_arg, pictures) = (page.to_str().unwrap(), pictures.to_str().unwrap());
    let out = ["-o", page_arg, "--svg", pictures, "--png", pictures];
    let run = explain(kind, &[&out, more].concat()).expect(0);
    assert_eq!(run.out, "");
    page
}

/// Names of the SVG files in a directory, without the extension. Asserts that there is a PNG file for each of them.
fn pictures(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "svg"))
        .inspect(|path| assert!(path.with_extension("png").exists()))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Asserts that a directory's SVG files are well-formed XML, with Python's XML parser. Prints a note if Python is not
/// installed.
fn well_formed(directory: &Path) {
    let script = "import glob, sys, xml.dom.minidom as d\n\
                  for f in glob.glob(sys.argv[1] + '/*.svg'): d.parse(f)";
    let mut python = Command::new("python3");
    match python.args(["-c", script]).arg(directory).output() {
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(_) => eprintln!("skipped: python3 is not installed"),
    }
}

#[test]
fn all_models_have_pages_and_pictures() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let data = data();
    let one = ["--row", "3", "--data", &data];
    let pages = ["workload", "throughput", "packing"].map(|kind| draw(path, kind, &one));
    for kind in ["workload", "throughput", "packing"] {
        well_formed(&path.join(kind));
    }
    let drawn = pictures(&path.join("workload"));
    let count = |start: &str| drawn.iter().filter(|name| name.starts_with(start)).count();
    assert_eq!((count("shape-"), count("pair-")), (8, 4), "{drawn:?}");
    assert_eq!((count("importances-duration"), count("prediction")), (1, 1));
    let drawn = pictures(&path.join("throughput"));
    for name in ["importances-jobs", "importances-gpus", "prediction"] {
        assert!(drawn.iter().any(|drawn| drawn == name), "{drawn:?}");
    }
    assert_eq!(pictures(&path.join("packing")), ["importances"]);
    browser::check(&pages);
}

#[test]
fn only_requested_terms_are_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let more = ["--term", "hour", "--term", "user"];
    draw(directory.path(), "workload", &more);
    let drawn = pictures(&directory.path().join("workload"));
    assert_eq!(drawn, ["importances-duration", "shape-hour", "shape-user"]);
}
