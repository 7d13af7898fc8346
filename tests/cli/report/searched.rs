//! Tests pages about replays that ran searches.

use std::path::Path;

use gleaner_domain::Local;

use super::support::{Figures, assert_near, column, gleaner, json, numbers, page, searches};

/// Converts a column of times to hours since the first event of the run, rounded to four decimals like the times in
/// figures. An empty cell becomes `None`.
fn hours(run: &Path, table: &str, name: &str) -> Vec<Option<f64>> {
    let summary = json(&run.join("summary.json"));
    let first: Local = summary["from"].as_str().unwrap().parse().unwrap();
    let hours = |cell: String| {
        let time: Local = cell.parse().ok()?;
        Some((time.seconds_since(first) / 3600.0 * 1e4).round() / 1e4)
    };
    column(&run.join(table), name)
        .into_iter()
        .map(hours)
        .collect()
}

#[test]
fn the_best_loss_is_that_of_the_finished_trials() {
    let directory = searches();
    let run = directory.path().join("found");
    let figures = Figures::of(&page(directory.path(), "found"));
    let ends = hours(&run, "trials.csv", "end");
    let (states, losses) = (
        column(&run.join("trials.csv"), "state"),
        column(&run.join("trials.csv"), "loss"),
    );
    let finished = (0..ends.len()).filter(|&trial| states[trial] == "finished");
    let finished: Vec<(f64, f64)> = finished
        .map(|trial| (ends[trial].unwrap(), losses[trial].parse().unwrap()))
        .collect();
    let (x, y) = figures.curve("best-loss", "Best loss");
    let first = finished.iter().map(|trial| trial.0);
    assert_near(x[0], first.fold(f64::INFINITY, f64::min));
    for (at, found) in x.iter().zip(&y) {
        let by_then = finished.iter().filter(|trial| trial.0 <= at + 1e-6);
        let least = by_then.map(|trial| trial.1).fold(f64::INFINITY, f64::min);
        assert_near(*found, least);
    }
    let summary = json(&run.join("summary.json"));
    assert_near(y[y.len() - 1], summary["best_loss"].as_f64().unwrap());
}

#[test]
fn rungs_count_the_trials_that_reached_them() {
    let directory = searches();
    let run = directory.path().join("found");
    let figures = Figures::of(&page(directory.path(), "found"));
    let times = hours(&run, "search.csv", "time");
    let events = column(&run.join("search.csv"), "event");
    let resources = numbers(&run.join("search.csv"), "resource");
    for resource in [1.0, 3.0, 9.0, 27.0] {
        let (x, y) = figures.curve("rungs-found", &format!("Resource {resource}"));
        assert_eq!((x[0], y[0]), (0.0, 0.0));
        for (at, found) in x.iter().zip(&y) {
            let reached = (0..events.len()).filter(|&row| {
                let is_there = events[row] == "reached" && resources[row] == resource;
                is_there && times[row].unwrap() <= at + 1e-6
            });
            assert_eq!(*found, reached.count() as f64);
        }
    }
}

#[test]
fn a_page_of_one_search_names_its_figures_and_tables() {
    let directory = searches();
    let path = directory.path();
    let page = page(path, "found");
    let ids = Figures::of(&page);
    let ids = ids.ids();
    assert_eq!(ids[ids.len() - 2..], ["best-loss", "rungs-found"]);
    for told in [
        "Best loss so far",
        "Trials at each rung",
        "Figures of the search",
        "asha",
        "of the work done",
        ">Rungs<",
    ] {
        assert!(page.contains(told), "{told}");
    }
    assert!(!page.contains("<img"));
    gleaner(path, "report found --svg pictures --png pictures").expect(0);
    for id in ["best-loss", "rungs-found"] {
        for kind in ["svg", "png"] {
            assert!(path.join(format!("pictures/{id}.{kind}")).exists());
        }
    }
}

#[test]
fn a_replay_without_a_search_is_left_out() {
    let directory = searches();
    let page = page(directory.path(), "plain found");
    assert!(page.contains("Search of found") && page.contains("Replay plain"));
    let figures = Figures::of(&page);
    let best = figures.get("best-loss")["marks"].as_array().unwrap();
    assert_eq!(best.len(), 1);
    assert_eq!(
        (&best[0]["name"], &best[0]["colour"]),
        (&"found".into(), &1.into())
    );
    assert!(!figures.ids().contains(&"rungs-plain"));
}
