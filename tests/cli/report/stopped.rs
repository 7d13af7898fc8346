//! Tests reports that are stopped while pages are created.

use gleaner_domain::Error;
use gleaner_report::{SweepChoice, of_runs};
use gleaner_runs::read;
use gleaner_testing::StopAtCheck;

use super::support::replays;

#[test]
fn a_stop_ends_a_page_before_any_section() {
    let directory = replays();
    let runs = ["short", "long"].map(|name| read::read(&directory.path().join(name)).unwrap());
    // The page has three sections: a comparison of both runs, and a section for each run. The stop flag is checked
    // before each of them.
    for at in 1..=3 {
        let stopped = of_runs(&runs, &SweepChoice::default(), &StopAtCheck::new(at));
        assert!(matches!(stopped, Err(Error::Stopped)), "{at}");
    }
    of_runs(&runs, &SweepChoice::default(), &StopAtCheck::new(4)).unwrap();
}
