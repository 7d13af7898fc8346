//! Checks pages in a browser with scripts/check-report.py, which describes its checks.

use std::path::PathBuf;
use std::process::Command;

/// The script's exit code if there is no Chromium.
const SKIPPED: i32 = 77;

/// Asserts that pages work in headless Chromium. Prints a note if Chromium or Python is not installed.
pub fn check(pages: &[PathBuf]) {
    let script = gleaner_testing::workspace().join("scripts/check-report.py");
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
