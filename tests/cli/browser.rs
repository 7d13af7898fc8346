//! Checks pages in a browser with the script scripts/check-report.py. The script describes its checks.

use std::path::PathBuf;

/// Asserts that pages work in headless Chromium. Prints a note if Chromium or Python is not installed.
pub fn check(pages: &[PathBuf]) {
    gleaner_testing::check_in_browser("check-report.py", pages);
}
