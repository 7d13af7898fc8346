//! Pages in a browser: scripts/check-report.py, which says what it checks.

use std::path::Path;
use std::process::Command;

use crate::support::{page, replays, simulation};

/// What the script ends with where there is no Chromium.
const SKIPPED: i32 = 77;

#[test]
fn pages_work_in_a_browser() {
    let (replays, simulation) = (replays(), simulation());
    page(replays.path(), "short long");
    page(simulation.path(), "sim");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/check-report.py");
    let pages = [&replays, &simulation].map(|directory| directory.path().join("page.html"));
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
