use super::sample::{at, outcome, replay, trial};
use super::*;
use crate::figure::{Curve, Figure, Marks, Scale, Shape};
use crate::{Grid, html, image};
use gleaner_domain::results::search::{Losses, RungRow, SearchRow, TrialRow, TrialState};
use gleaner_runs::read::ReplayRun;

fn one(result: &ReplayRun) -> Named<'_> {
    Named { name: "a", result }
}

fn figures(section: &Section) -> Vec<&Figure> {
    let figures = section.blocks.iter().filter_map(|block| match block {
        Block::Figure(figure) => Some(figure.as_ref()),
        _ => None,
    });
    figures.collect()
}

fn grids(section: &Section) -> Vec<&Grid> {
    let grids = section.blocks.iter().filter_map(|block| match block {
        Block::Grid(grid) | Block::Folded(grid) => Some(grid),
        _ => None,
    });
    grids.collect()
}

fn curves(figure: &Figure) -> &[Curve] {
    match &figure.marks {
        Marks::Curves(curves) => curves,
        _ => panic!("no curves"),
    }
}

// Derived by hand from the outcome's trials.
#[test]
fn the_best_loss_falls_with_each_better_trial() {
    let run = replay(Some(outcome()));
    let section = section(&[one(&run)]).unwrap();
    let best = figures(&section)[0];
    let [curve] = curves(best) else {
        panic!("expected one curve");
    };
    assert_eq!(curve.points, [(1.0, 0.5), (3.0, 0.25), (5.0, 0.25)]);
    assert_eq!(
        (curve.name.as_str(), curve.shape),
        ("Best loss", Shape::Stairs)
    );
    assert_eq!(curve.labels[0], "trial 0, loss 0.5000, after 1.000 h");
    assert_eq!(curve.labels[1], "trial 4, loss 0.2500, after 3.000 h");
    assert_eq!(curve.labels[2], curve.labels[1]);
    assert_eq!(
        (best.x.title.as_str(), &best.x.scale),
        ("hours since the first event", &Scale::Linear)
    );
    let told = "trial 4 with 0.2500 at resource 9, 3.000 h after the first event";
    assert!(best.text.contains(told), "{}", best.text);
    let row = ["a", "4", "net", "2026-01-01 03:00", "3.000 h", "0.2500"];
    assert_eq!(best.numbers.rows[1], row);
}

// Derived by hand from the outcome's events.
#[test]
fn trials_are_counted_at_each_rung() {
    let run = replay(Some(outcome()));
    let section = section(&[one(&run)]).unwrap();
    let [low, high] = curves(figures(&section)[1]) else {
        panic!("expected two curves");
    };
    assert_eq!(
        (low.name.as_str(), high.name.as_str()),
        ("Resource 3", "Resource 9")
    );
    let at = [0.0, 0.5, 1.0, 1.5, 5.0];
    let counts = |curve: &Curve| curve.points.iter().map(|p| p.1).collect::<Vec<_>>();
    for curve in [low, high] {
        assert!(curve.points.iter().map(|point| point.0).eq(at));
    }
    assert_eq!(counts(low), [0.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(counts(high), [0.0, 0.0, 1.0, 1.0, 1.0]);
    let rungs = grids(&section)[1];
    assert_eq!(rungs.rows[0], ["3", "3", "0.500 h", "0.500 h", "0.8750"]);
    assert_eq!(rungs.rows[1], ["9", "1", "1.000 h", "1.000 h", "0.5000"]);
}

// Derived by hand from the summary: 1 of the 6 trials is neither stopped nor finished (6 − 1 − 4), and 50 of the 200
// units of work are wasted.
#[test]
fn figures_of_searches_are_compared_with_the_first() {
    let (with, without) = (replay(Some(outcome())), replay(None));
    let mut better = replay(Some(outcome()));
    better.summary.best_loss = Some(0.2);
    let runs = [("b", &without), ("a", &with), ("c", &better)];
    let runs = runs.map(|(name, result)| Named { name, result });
    let section = section(&runs).unwrap();
    assert_eq!(section.title, "Searches side by side");
    let grid = grids(&section)[0];
    let heads: Vec<&str> = grid.heads.iter().map(|head| head.name.as_str()).collect();
    assert_eq!(heads, ["figure", "a", "c", "change"]);
    let row = |name: &str| {
        grid.rows
            .iter()
            .find(|row| row[0].starts_with(name))
            .unwrap()
    };
    assert_eq!(row("algorithm")[1..], ["asha", "asha", "–"]);
    assert_eq!(row("  in progress")[1..], ["1", "1", "same"]);
    assert_eq!(row("best loss")[1..], ["0.2500", "0.2000", "−20.0 %"]);
    assert_eq!(row("  wasted share")[1], "25.0 % of the work done");
    let [best, first, second] = figures(&section)[..] else {
        panic!("expected three figures");
    };
    assert_eq!(
        (first.id.as_str(), second.id.as_str()),
        ("rungs-a", "rungs-c")
    );
    // Each run has the same colour as in the other figures of the page.
    let shown = curves(best)
        .iter()
        .map(|curve| (curve.name.as_str(), curve.colour));
    let expected = [("a", Colour::Series(1)), ("c", Colour::Series(2))];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// The outcome with a second loss for the trials that reached the last rung.
fn with_two_losses() -> SearchOutcome {
    let mut outcome = outcome();
    for (trial, latency) in [(0, 1.0), (1, 2.0), (3, 3.0), (4, 4.0)] {
        let row: &mut TrialRow = &mut outcome.trials[trial];
        let error = row.loss.unwrap();
        row.losses = Losses(vec![
            ("error".to_owned(), error),
            ("latency".to_owned(), latency),
        ]);
    }
    outcome
}

// Derived by hand: trial 0 (0.5, 1) dominates trial 1 (0.75, 2), but neither trial 3 (0.375, 3) nor trial 4 (0.25, 4).
#[test]
fn the_front_is_drawn_after_each_quarter_of_the_trials() {
    let run = replay(Some(with_two_losses()));
    let section = section(&[one(&run)]).unwrap();
    let front = figures(&section)[1];
    assert_eq!(front.title, "Front over time: error and latency");
    assert_eq!(
        (front.x.title.as_str(), front.y.title.as_str()),
        ("error", "latency")
    );
    let shown = curves(front).iter();
    let shown: Vec<_> = shown
        .map(|curve| (curve.name.as_str(), &curve.points[..]))
        .collect();
    assert_eq!(
        shown,
        [
            ("Other finished trials", &[(0.75, 2.0)][..]),
            ("After 1 trial, 1.000 h", &[(0.5, 1.0)][..]),
            ("After 2 trials, 2.000 h", &[(0.5, 1.0)][..]),
            ("After 3 trials, 3.000 h", &[(0.375, 3.0), (0.5, 1.0)][..]),
            (
                "After 4 trials, 3.000 h",
                &[(0.25, 4.0), (0.375, 3.0), (0.5, 1.0)][..]
            ),
        ]
    );
    assert!(
        front
            .text
            .contains("the front contains 3 of these 4 trials"),
        "{}",
        front.text
    );
    let row = ["4", "net", "0.2500", "4.000", "3.000 h", ""];
    assert_eq!(front.numbers.rows[0], row);
    assert!(image::svg(front).unwrap().contains("latency"));
}

#[test]
fn three_losses_give_two_figures_of_points() {
    let mut outcome = with_two_losses();
    for trial in &mut outcome.trials {
        if !trial.losses.0.is_empty() {
            trial.losses.0.push(("size".to_owned(), 7.0));
        }
    }
    let run = replay(Some(outcome));
    let section = section(&[one(&run)]).unwrap();
    let [_, latency, size, _] = figures(&section)[..] else {
        panic!("expected four figures");
    };
    assert_eq!(
        (latency.id.as_str(), size.id.as_str()),
        ("front-1-a", "front-2-a")
    );
    assert_eq!(size.y.title, "size");
    assert!(
        curves(size)
            .iter()
            .all(|curve| curve.shape == Shape::Points)
    );
}

#[test]
fn no_search_gives_no_section() {
    let run = replay(None);
    assert!(section(&[one(&run)]).is_none());
    assert!(section(&[one(&run), one(&run)]).is_none());
}

#[test]
fn searches_without_results_are_told_in_words() {
    let nothing = SearchOutcome {
        events: Vec::new(),
        trials: vec![trial(0, TrialState::Training, None, None)],
        rungs: Vec::new(),
    };
    let run = replay(Some(nothing));
    let section = section(&[one(&run)]).unwrap();
    assert!(figures(&section).is_empty());
    let notes = section
        .blocks
        .iter()
        .filter(|block| matches!(block, Block::Note(_)));
    assert_eq!(notes.count(), 2);
}

// The search has more rungs than there are colours, and more trials than the figure has points.
#[test]
fn a_large_search_is_thinned() {
    let trials = 100_000;
    let mut large = outcome();
    large.rungs = (0..20)
        .map(|rung| RungRow {
            resource: 2f64.powi(rung),
            ..large.rungs[0]
        })
        .collect();
    let template = large.events[0].clone();
    let event = |number: u32| SearchRow {
        time: at(0).plus_seconds(f64::from(number) * 0.15),
        trial: number,
        resource: 1.0,
        ..template.clone()
    };
    large.events = (0..trials).map(event).collect();
    // Each trial is better than all earlier trials.
    let finished = (0..trials).map(|number| {
        let loss = 1.0 / (1.0 + f64::from(number));
        TrialRow {
            end: Some(at(0).plus_seconds(f64::from(number) * 0.15)),
            ..trial(number, TrialState::Finished, None, Some(loss))
        }
    });
    large.trials = finished.collect();
    let run = replay(Some(large));
    let section = section(&[one(&run)]).unwrap();
    let [best, rungs] = figures(&section)[..] else {
        panic!("expected two figures");
    };
    let names: Vec<&str> = curves(rungs).iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"Resource 1"));
    assert_eq!(names.last(), Some(&"Resource 524,288"));
    assert_eq!(names.len(), 7);
    assert!(rungs.text.contains("7 of the 20 rungs"));
    let first = &curves(rungs)[0].points;
    assert!(first.len() < 30_003 && first.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
    assert_eq!(first.last(), Some(&(5.0, f64::from(trials))));
    assert!(curves(best)[0].labels.is_empty());
    assert_eq!(best.numbers.rows.len(), 100);
    for figure in [best, rungs] {
        assert!(image::svg(figure).unwrap().len() < 1_000_000);
    }
    let report = crate::Document {
        title: String::new(),
        lead: String::new(),
        sections: vec![section],
    };
    assert!(html::page(&report).unwrap().len() < 4_000_000);
}

#[test]
fn pictures_of_searches_can_be_drawn() {
    let run = replay(Some(outcome()));
    let section = section(&[one(&run)]).unwrap();
    let [best, rungs] = figures(&section)[..] else {
        panic!("expected two figures");
    };
    // The curve has a dot for each improvement, but no dot at its end.
    let dots = image::svg(best).unwrap().matches("<circle").count();
    assert_eq!(dots, 2);
    assert!(image::svg(rungs).unwrap().contains("Resource 9"));
}
