//! Kills at any moment: a directory holds one run, or says that it is unfinished.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::{State, attack, bounded, files, samples, state};

/// Starts `line`, and kills it after so many microseconds.
fn kill(at: &Path, line: &str, after: u64) {
    let mut child = bounded(at, line).spawn().unwrap();
    thread::sleep(Duration::from_micros(after));
    let _ = child.kill();
    child.wait().unwrap();
}

/// Kills `line` at 60 moments over some 200 ms, and looks at the directory each time.
fn kill_over_and_over(at: &Path, run: &str, line: &str, mut look: impl FnMut(State)) {
    for moment in 0..60 {
        kill(at, line, moment * moment * 60);
        look(state(&at.join(run)));
    }
}

#[test]
fn a_kill_leaves_one_run_or_an_unfinished_one() {
    let directory = samples();
    let at = directory.path();
    attack(at, "synth events --nodes 300 --days 20 -o long.gev");
    let replay = |t_fwd: u32| {
        format!(
            "replay --events long.gev --tasks tasks.toml --repeat-tasks --t-fwd {t_fwd} --quiet --out run"
        )
    };
    assert_eq!(attack(at, &replay(30)).code, 0);
    kill_over_and_over(at, "run", &replay(600), |found| match found {
        State::Fresh => panic!("the run before is gone"),
        State::Unfinished => assert_eq!(attack(at, "report run -o page.html").code, 3),
        State::Whole => assert_eq!(attack(at, "report run -o page.html").code, 0),
    });
    assert_eq!(attack(at, &replay(30)).code, 0);
    assert_eq!(state(&at.join("run")), State::Whole);
    // Leftovers of kills are gone.
    assert!(
        files(&at.join("run"))
            .iter()
            .all(|name| !name.starts_with('.'))
    );
}

#[test]
fn a_kill_on_a_fresh_directory_does_not_refuse_the_next_run() {
    let directory = samples();
    let at = directory.path();
    let line = "replay --events idle.csv --tasks tasks.toml --quiet --out fresh";
    for moment in 0..40 {
        let _ = fs::remove_dir_all(at.join("fresh"));
        kill(at, line, moment * 1_000);
        assert_eq!(attack(at, line).code, 0);
        assert_eq!(state(&at.join("fresh")), State::Whole);
    }
}

#[test]
fn a_killed_sweep_goes_on() {
    let directory = samples();
    let at = directory.path();
    let line = "sweep sweep.toml --quiet --jobs 1 --out swept";
    for moment in 0..30 {
        kill(at, line, moment * 4_000);
    }
    assert_eq!(attack(at, line).code, 0);
    assert_eq!(attack(at, "sweep sweep.toml --quiet --out again").code, 0);
    let table = |run: &str| fs::read(at.join(run).join("sweep.csv")).unwrap();
    assert!(table("swept") == table("again"));
}

/// Files are there whole, or as they were before.
#[test]
fn a_kill_leaves_no_half_file() {
    let directory = samples();
    let at = directory.path();
    attack(at, "synth events --nodes 200 --days 20 -o other.gev");
    for (make, file) in [
        ("convert other.gev -o out.csv", "out.csv"),
        ("convert other.gev -o out.parquet", "out.parquet"),
        ("ingest slurm logs/sacct.txt -o out.gev", "out.gev"),
        ("synth slurm --days 3 -o out.txt", "out.txt"),
        ("inspect other.gev -o out.html", "out.html"),
    ] {
        assert_eq!(attack(at, make).code, 0, "{make}");
        let whole = fs::read(at.join(file)).unwrap();
        for moment in 0..25 {
            fs::write(at.join(file), "as it was before").unwrap();
            kill(at, make, moment * 3_000);
            let found = fs::read(at.join(file)).unwrap();
            // Pages tell when they were made.
            let is_page = file.ends_with(".html") && found.ends_with(b"</html>\n");
            let sound = found == whole || found == b"as it was before" || is_page;
            assert!(sound, "{make}: {} of {} bytes", found.len(), whole.len());
        }
    }
}
