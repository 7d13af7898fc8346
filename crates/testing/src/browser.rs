//! Runs scripts that check pages in a browser.

use std::ffi::OsStr;
use std::process::Command;

use crate::workspace;

/// Exit code of the scripts if there is no Chromium.
const SKIPPED: i32 = 77;

/// Runs a script in `scripts/` that checks pages in headless Chromium, and asserts that the script succeeds. If
/// Chromium or Python is not installed, skips the check and prints a note.
///
/// # Panics
/// If the script finds a fault.
pub fn check_in_browser(script: &str, arguments: &[impl AsRef<OsStr>]) {
    let script = workspace().join("scripts").join(script);
    let Ok(output) = Command::new("python3").arg(script).args(arguments).output() else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    let reported = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(SKIPPED) => eprintln!("{reported}"),
        code => assert_eq!(
            code,
            Some(0),
            "{reported}\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}
