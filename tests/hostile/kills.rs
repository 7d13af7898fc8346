//! Kills runs at various times. Afterwards, the run directory must contain exactly one run, or be marked as unfinished.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{State, attack, bounded, files, samples, state};

/// Starts the command `line`, and kills it after the time `after`.
fn kill(at: &Path, line: &str, after: Duration) {
    let mut child = bounded(at, line).spawn().unwrap();
    thread::sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
}

/// Returns `count` times at which to kill the command `line`, spread over its duration. The command is run once to
/// measure this duration.
fn moments(at: &Path, line: &str, count: u32) -> impl Iterator<Item = Duration> + use<> {
    let clock = Instant::now();
    assert_eq!(attack(at, line).code, 0, "{line}");
    let step = clock.elapsed() / count;
    (0..count).map(move |moment| step * moment)
}

#[test]
fn a_kill_leaves_one_run_or_an_unfinished_one() {
    let directory = samples();
    let at = directory.path();
    attack(at, "synth events --nodes 100 --days 20 -o long.gev");
    let replay = |t_fwd: u32| {
        format!(
            "replay --events long.gev --tasks tasks.toml --repeat-tasks --t-fwd {t_fwd} --quiet --out run"
        )
    };
    let mut met = [0, 0];
    for (moment, t_fwd) in moments(at, &replay(30), 120).zip([600, 30].into_iter().cycle()) {
        kill(at, &replay(t_fwd), moment);
        let (place, code) = match state(&at.join("run")) {
            State::Fresh => panic!("the previous run is gone"),
            State::Unfinished => (0, 3),
            State::Whole => (1, 0),
        };
        met[place] += 1;
        if met[place] < 5 {
            assert_eq!(attack(at, "report run -o page.html").code, code);
        }
    }
    eprintln!(
        "{} kills left an unfinished run, {} a whole one",
        met[0], met[1]
    );
    assert_eq!(attack(at, &replay(30)).code, 0);
    assert_eq!(state(&at.join("run")), State::Whole);
    // A completed run removes the temporary files of killed runs.
    let left = files(&at.join("run"));
    assert!(left.iter().all(|name| !name.ends_with(".part")), "{left:?}");
}

#[test]
fn a_kill_in_a_new_directory_does_not_block_the_next_run() {
    let directory = samples();
    let at = directory.path();
    let line = "replay --events idle.csv --tasks tasks.toml --quiet --out fresh";
    for moment in moments(at, line, 40) {
        let _ = fs::remove_dir_all(at.join("fresh"));
        kill(at, line, moment);
        assert_eq!(attack(at, line).code, 0);
        assert_eq!(state(&at.join("fresh")), State::Whole);
    }
}

#[test]
fn a_killed_sweep_continues() {
    let directory = samples();
    let at = directory.path();
    let line = "sweep sweep.toml --quiet --jobs 1 --out swept";
    let again = "sweep sweep.toml --quiet --jobs 1 --out again";
    for moment in moments(at, again, 30) {
        kill(at, line, moment);
    }
    assert_eq!(attack(at, line).code, 0);
    let table = |run: &str| fs::read(at.join(run).join("sweep.csv")).unwrap();
    assert!(table("swept") == table("again"));
}

/// After a kill, each output file is either complete or unchanged.
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
        let moments = moments(at, make, 25);
        let whole = fs::read(at.join(file)).unwrap();
        for moment in moments {
            fs::write(at.join(file), "as it was before").unwrap();
            kill(at, make, moment);
            let found = fs::read(at.join(file)).unwrap();
            // Pages differ from each other, because they contain the time at which they were written.
            let is_page = file.ends_with(".html") && found.ends_with(b"</html>\n");
            let sound = found == whole || found == b"as it was before" || is_page;
            assert!(sound, "{make}: {} of {} bytes", found.len(), whole.len());
        }
    }
}
