//! Pages in a browser: scripts/check-report.py, which says what it checks.

use std::path::Path;
use std::process::Command;

use crate::support::{inspected, page, replays, simulation, sweep};

/// What the script ends with where there is no Chromium.
const SKIPPED: i32 = 77;

#[test]
fn pages_work_in_a_browser() {
    let (replays, simulation, sweep) = (replays(), simulation(), sweep());
    page(replays.path(), "short long");
    page(simulation.path(), "sim");
    page(sweep.path(), "swept");
    let inspected = inspected();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/check-report.py");
    let directories = [&replays, &simulation, &sweep, &inspected];
    let pages = directories.map(|directory| directory.path().join("page.html"));
    let Ok(output) = Command::new("python3").arg(script).args(pages).output() else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(SKIPPED) => eprintln!("{told}"),
        code => assert_eq!(
            code,
            Some(0),
            "{told}\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}
