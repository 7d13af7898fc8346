//! Tests that pages work in a browser.

use super::support::{inspected, page, replays, searches, simulation, sweep};
use crate::browser::check;

#[test]
fn pages_work_in_a_browser() {
    let (replays, simulation, sweep) = (replays(), simulation(), sweep());
    page(replays.path(), "short long");
    page(simulation.path(), "sim");
    page(sweep.path(), "swept");
    let (inspected, searches) = (inspected(), searches());
    page(searches.path(), "found plain");
    let directories = [&replays, &simulation, &sweep, &inspected, &searches];
    check(&directories.map(|directory| directory.path().join("page.html")));
}
